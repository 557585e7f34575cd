"""Sums of products as numpy writes them best: a sum, a dot or matrix product, or einsum."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["contraction"]

Axes = tuple[str, ...]
LETTERS = "ijklmnopqrstuvwxyzabcdefgh"
CALL = 9
PRODUCT = 5


def contraction(args: Sequence[tuple[str, Axes]], out: Axes) -> tuple[str, int]:
    """Write the sum of a product of one or two arrays over all axes that are not in the result.

    Returns
    -------
    text : str
    precedence : int

    Examples
    --------
    >>> contraction([("a", ("i", "k")), ("b", ("k", "j"))], ("i", "j"))
    ('a @ b', 5)
    >>> contraction([("a", ("i", "k")), ("b", ("j", "k"))], ("j", "i"))
    ('b @ a.T', 5)
    >>> contraction([("ct", ()), ("a", ("i", "j"))], ("j",))
    ('ct * a.sum(0)', 5)
    >>> contraction([("a", ("i", "j"))], ("j",))
    ('a.sum(0)', 9)
    >>> contraction([("a", ("i", "j", "k"))], ("i", "k"))
    ("np.einsum('ijk->ik', a)", 9)
    """
    reduced = [_summed_alone(args, k, out) for k in range(len(args))]
    if len(reduced) == 1:
        return _placed(*reduced[0], out)
    (a, axes_a), (b, axes_b) = reduced
    if not axes_a or not axes_b or axes_a == axes_b == out:
        left, right = (_placed(text, axes, out)[0] if axes else text for text, axes in reduced)
        return f"{left} * {right}", PRODUCT
    both = [x for x in axes_a if x in axes_b]
    summed = [x for x in both if x not in out]
    batch = [x for x in both if x in out]
    free_a = [x for x in axes_a if x not in both]
    free_b = [x for x in axes_b if x not in both]
    if len(summed) == 1 and len(batch) == 0 and len(free_a) <= 1 and len(free_b) <= 1:
        return _matrix_product((a, axes_a), (b, axes_b), summed[0], out)
    if len(summed) == 1 and len(batch) == 1 and len(free_a) == 1 and len(free_b) == 1:
        return _batched((a, axes_a), (b, axes_b), batch[0], summed[0], (free_a[0], free_b[0]), out)
    fast = ", optimize=True" if summed and free_a and free_b else ""
    return _einsum(reduced, out, fast), CALL


def _summed_alone(args: Sequence[tuple[str, Axes]], k: int, out: Axes) -> tuple[str, Axes]:
    """Sum an argument over those axes that only it has.

    ``sum`` is several times slower than einsum where short rows lie behind the axis that it sums over, and as exact:
    it adds in pairs along the last axis alone.
    """
    text, axes = args[k]
    others = {x for j, (_, other) in enumerate(args) if j != k for x in other}
    alone = [d for d, x in enumerate(axes) if x not in out and x not in others]
    if not alone:
        return text, axes
    rest = tuple(x for d, x in enumerate(axes) if d not in alone)
    if len(axes) > 2 and rest and alone[-1] < len(axes) - 1:
        return _einsum([(text, axes)], rest, ""), rest
    dims = "" if not rest else str(alone[0]) if len(alone) == 1 else f"({', '.join(map(str, alone))})"
    return f"{text}.sum({dims})", rest


def _placed(text: str, axes: Axes, out: Axes) -> tuple[str, int]:
    """Bring the dimensions of an array into the order of a result."""
    if axes == out:
        return text, CALL
    if len(axes) == 2:
        return f"{text}.T", CALL
    return f"{text}.transpose({', '.join(str(axes.index(x)) for x in out)})", CALL


def _matrix_product(a: tuple[str, Axes], b: tuple[str, Axes], summed: str, out: Axes) -> tuple[str, int]:
    """Write a product of matrices or vectors."""
    if out and out[0] in b[1]:
        a, b = b, a
    left = a[0] if a[1][-1] == summed else f"{a[0]}.T"
    right = b[0] if b[1][0] == summed else f"{b[0]}.T"
    return f"{left} @ {right}", PRODUCT


def _batched(
    a: tuple[str, Axes], b: tuple[str, Axes], batch: str, summed: str, free: tuple[str, str], out: Axes
) -> tuple[str, int]:
    """Write one product of matrices for each index of an axis."""
    if out.index(free[1]) < out.index(free[0]):
        a, b, free = b, a, (free[1], free[0])
    left, _ = _placed(*a, (batch, free[0], summed))
    right, _ = _placed(*b, (batch, summed, free[1]))
    made = (batch, free[0], free[1])
    if made == out:
        return f"{left} @ {right}", PRODUCT
    order = ", ".join(str(out.index(x)) for x in made)
    return f"ops.products({left}, {right}, ({order}))", CALL


def _einsum(args: Sequence[tuple[str, Axes]], out: Axes, fast: str) -> str:
    """Write an einsum."""
    letters: dict[str, str] = {}
    for _, axes in args:
        for x in axes:
            letters.setdefault(x, LETTERS[len(letters)])
    inputs = ",".join("".join(letters[x] for x in axes) for _, axes in args)
    result = "".join(letters[x] for x in out)
    return f"np.einsum('{inputs}->{result}', {', '.join(text for text, _ in args)}{fast})"
