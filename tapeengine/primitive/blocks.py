"""Forward rules for a block of tangents at once: a Jacobian sweeps many of them over one run of a program.

The tangents of a block lie along a new first axis, and so do the results. A `Rule` may have a second form for blocks,
``Rule(function, names, block=...)``: it is called as ``block(tangents, *kept)`` with the values that the rule keeps,
and in a variadic primitive as ``block([tangents of each argument], spaces, *statics)``. Blocks are plain numpy arrays,
so a block form may call numpy itself. Without one the engine calls the rule on a block and checks the result, at about
twice the cost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .spaces import Space

__all__ = ["aligned", "inner_axes", "scaled_block", "scaling_block"]


def aligned(tangents: Any, axes: int) -> Any:
    """Give the entries of a block `axes` axes, with leading unit axes as in broadcasting.

    Parameters
    ----------
    tangents : numpy.ndarray of shape (columns, ...)
        The block.
    axes : int
        The number of axes that each entry gets; entries with more axes are unchanged.
    """
    missing = axes + 1 - tangents.ndim
    return tangents if missing <= 0 else tangents.reshape(tangents.shape[:1] + (1,) * missing + tangents.shape[1:])


def inner_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return the axes of a block for the axes `axis` (None: all) of its entries, which have `ndim` axes."""
    if axis is None or not ndim:
        return tuple(range(1, ndim + 1))
    chosen = axis if isinstance(axis, tuple) else (axis,)
    return tuple(one % ndim + 1 for one in chosen)


def scaled_block(tangents: Any, partial: Any, space: Space, selects: bool = False) -> Any:
    """Multiply the entries of a block by a partial derivative, and broadcast them to the space of the output.

    A zero tangent gives zero, even where the partial is infinite or NaN; so does a zero partial if `selects` is true.

    Parameters
    ----------
    tangents : numpy.ndarray of shape (columns, ...)
    partial : float or numpy.ndarray
    space : Space
        The output's space.
    selects : bool
        Whether the partial only selects elements.
    """
    tangents = aligned(tangents, len(space.shape))
    with np.errstate(invalid="ignore", over="ignore"):
        product = np.multiply(tangents, partial)
    if not np.isfinite(np.sum(product)):
        nothing = np.equal(tangents, 0) | (np.equal(partial, 0) & selects)
        product = np.where(nothing, np.zeros((), product.dtype), product)
    return fitted(product, space)


def fitted(values: Any, space: Space) -> Any:
    """Broadcast the entries of a block to a space, in its dtype."""
    if np.iscomplexobj(values) and not space.is_complex:
        values = values.real
    shape = (len(values), *space.shape)
    values = values.astype(space.dtype, copy=False)
    return values if values.shape == shape else np.array(np.broadcast_to(values, shape))


def scaling_block(partial: Callable[..., Any], selects: bool = False) -> Callable[..., Any]:
    """Return the block form of an elementwise rule ``(t, out_space, *kept)`` from its partial derivative."""

    def block(tangents: Any, space: Space, *kept: Any) -> Any:
        return scaled_block(tangents, partial(*kept), space, selects)

    return block
