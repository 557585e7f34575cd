"""Sums of products that nothing else needs: the products are never laid out as arrays."""

from __future__ import annotations

from collections.abc import Iterable

from tapeengine.chad.generate.liveness import names_of, used
from tapeengine.chad.imperative import Assign, Branch, Loop, Operand, Ref, Statement, renamed

__all__ = ["summed_products"]


def summed_products(block: list[Statement], wanted: Iterable[str]) -> None:
    """Rewrite each sum of a product as a contraction of its two factors, where the product is used in sums alone.

    Parameters
    ----------
    block : list of statements
        Changed in place.
    wanted : iterable of str
        The variables that are used behind the block.

    Examples
    --------
    >>> a, b, ab, s = Ref("a", ("i", "j")), Ref("b", ("j",)), Ref("ab", ("i", "j")), Ref("s", ("j",))
    >>> block = [Assign(ab, "mul", (a, b)), Assign(s, "contract", (ab,))]
    >>> summed_products(block, ["s"])
    >>> [(t.out.name, t.op, [x.name for x in t.args]) for t in block]
    [('s', 'contract', ['a', 'b'])]
    """
    for s in block:
        for inner, needs in _inner(s):
            summed_products(inner, needs)
    products = {s.out.name: s for s in block if isinstance(s, Assign) and s.op == "mul" and len(s.out.axes) > 1}
    others = [s for s in block if _summed(s) not in products]
    for name in [*wanted, *used(others)]:
        products.pop(name, None)
    block[:] = [_fused(s, products) for s in block if not (isinstance(s, Assign) and s.out.name in products)]


def _summed(s: Statement) -> str:
    """Give the name of the one array that a statement sums."""
    match s:
        case Assign(_, "contract", (Ref() as x,)):
            return x.name
    return ""


def _fused(s: Statement, products: dict[str, Assign]) -> Statement:
    """Give a statement with the factors of what it sums in place of the product."""
    made = products.get(_summed(s))
    if made is None or not isinstance(s, Assign):
        return s
    factors = [renamed(x, made.out.axes, s.args[0].axes) for x in made.args]
    return Assign(s.out, s.op, tuple(factors), s.params)


def _inner(s: Statement) -> list[tuple[list[Statement], set[str]]]:
    """Give the blocks inside a statement, each with the names that are used behind it."""
    match s:
        case Loop():
            behind: list[Operand | None] = [s.condition, *(c.last for c in s.carried), *(x for _, x in s.collected)]
            return [(s.body, set(names_of([*behind, *s.keeps])) | set(used(s.test)))]
        case Branch():
            return [
                (s.then, set(names_of([*(j.then for j in s.joined), *s.keeps[0]]))),
                (s.orelse, set(names_of([*(j.orelse for j in s.joined), *s.keeps[1]]))),
            ]
    return []
