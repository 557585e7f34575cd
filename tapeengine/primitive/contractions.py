"""Sums of products, linear in a cotangent or tangent: a zero element of it contributes exactly zero to the sum.

The other factor may be infinite or NaN there, as masked data often is. Plain arithmetic makes NaN of such a product,
and the sum would then be NaN as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

#: The size of arrays up to which BLAS uses one thread; with more it may wait long for others on a busy machine.
MOST_OF_ONE_THREAD = 10_000


def may_hold_nan(value: Any) -> bool:
    """Whether an array may hold a NaN, in one pass; infinities of complex or opposite numbers look the same."""
    if value.size <= MOST_OF_ONE_THREAD:
        total = np.vdot(value, value)
    else:
        with np.errstate(all="ignore"):
            total = np.add.reduce(value, None)
    return bool(total != total)


def contracting(rule: Callable[..., Any], names: Sequence[str], args: Collection[str]) -> Callable[..., Any]:
    """Make a rule that computes sums of products map zeros of its first parameter to zero contributions.

    Parameters
    ----------
    rule : callable
        ``rule(first, *kept)``, linear in `first`, and in those of the kept values that are arguments.
    names : sequence of str
        The names of what is kept.
    args : collection of str
        The names that are arguments.

    Returns
    -------
    callable
        The same rule, in which zeros of `first` contribute exactly zero to every sum that is finite without them.
    """
    others = [k for k, name in enumerate(names) if name in args]

    def kept_zeros(first: Any, *kept: Any) -> Any:
        value = rule(first, *kept)
        is_clean = not (may_hold_nan(value) if type(value) is np.ndarray else np.any(np.isnan(value)))
        return value if is_clean else _repaired(value, rule, first, kept, others)

    return kept_zeros


def _repaired(value: Any, rule: Any, first: Any, kept: Sequence[Any], others: Sequence[int]) -> Any:
    """The value without the products of zeros; unchanged where other elements met non-finite numbers."""
    finite = {k: np.isfinite(kept[k]) for k in others}
    if all(map(np.all, finite.values())):
        return value

    def applied(t: Any, changed: dict[int, Any]) -> Any:
        with np.errstate(invalid="ignore"):
            return rule(t, *(changed.get(k, part) for k, part in enumerate(kept)))

    def beyond(t: Any, parts: dict[int, Any]) -> Any:
        """The sum over the products with non-finite factors, each of which counts with a weight."""
        return applied(t, parts) - applied(t, {k: finite[k] * part for k, part in parts.items()})

    weights = {k: _weights(kept[k]) for k in others}
    met = beyond(np.not_equal(first, 0.0) * _weights(first), weights)
    clean = applied(first, {k: np.where(finite[k], kept[k], 0.0) for k in others})
    if not np.iscomplexobj(value):
        signed = beyond(_sign(first) * _weights(first), {k: _sign(kept[k]) * weights[k] for k in others})
        value = np.where(np.abs(signed) > np.abs(met) - 0.5, np.copysign(np.inf, signed), value)  # all of one sign
    return np.where(np.abs(met) > 1e-6, value, clean)


def _sign(x: Any) -> Any:
    """The signs of numbers; NaN has none."""
    return np.where(np.isnan(x), 0.0, np.sign(x))


def _weights(x: Any) -> Any:
    """Numbers from 1 to 2 in the shape of an array, such that no signed sum of them vanishes."""
    shape = np.shape(x)
    return 1.0 + (0.6180339887498949 * np.arange(1, np.prod(shape, dtype=int) + 1) ** 1.1).reshape(shape) % 1.0
