"""Existence of derivatives at repeated eigenvalues or singular values.

Any basis of the eigenspace of a repeated eigenvalue consists of eigenvectors. A perturbation of the matrix, P in that
basis, selects a basis and splits the eigenvalue into the eigenvalues of P. So a function of the eigenvalues alone has a
derivative if its partials are equal within each group of equal eigenvalues. A function that also uses the vectors has
one if it does not depend on the basis, but its partials in one basis determine the derivative only if they are the same
in every basis: multiples of the identity. All other cases are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine._core.sweeps.trace import value_of
from tapeengine.errors import UnsupportedError
from tapeengine.primitive.builders import discrete

from .values import is_traced

_ROUNDING = 16  # in units of n eps: how far apart LAPACK puts eigenvalues that are equal


def plain(x: Any) -> Any:
    """Return a value without its traces."""
    while is_traced(x):
        x = value_of(x)
    return numpy.asarray(x)


def decided(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of plain values an operation without derivatives; decorates.

    A recording of a staged program then checks the result, where it would check all values that `plain` reads.
    """
    operation = discrete(f"numpy.linalg.{function.__name__}", function)
    return wraps(function)(lambda *values: operation(*values))


@decided
def repeated(w: Any) -> Any:
    """Return which pairs of values, sorted or not, are equal up to rounding; the diagonal is included."""
    scale = numpy.max(numpy.abs(w), axis=-1, keepdims=True, initial=0.0)[..., None]
    return numpy.abs(w[..., None, :] - w[..., :, None]) <= _ROUNDING * w.shape[-1] * numpy.finfo(w.dtype).eps * scale


def gaps(w: Any, equal: Any) -> Any:
    """Return 1 / (w[j] - w[i]), and 0 for equal pairs."""
    difference = np.expand_dims(w, -2) - np.expand_dims(w, -1)
    return np.where(equal, 0.0, 1.0 / np.where(equal, 1.0, difference))


def groups(equal: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield the index of each matrix in a stack and the positions of each group of at least two equal values."""
    if equal.sum() == equal.shape[-1] * numpy.prod(equal.shape[:-2], dtype=int):
        return
    for index in numpy.ndindex(equal.shape[:-2]):
        rows = equal[index]
        for first in range(rows.shape[0]):
            if rows[first].sum() > 1 and not rows[first, :first].any():
                yield index, numpy.flatnonzero(rows[first])


def check_equal(name: str, values: str, ct: Any, equal: Any) -> None:
    """Refuse different cotangents for equal values: sorting them or selecting one of them has no derivative."""
    for index, places in groups(equal):
        ct = plain(ct)
        if not _is_multiple_of_identity(numpy.diag(ct[index][places]), numpy.abs(ct[index]).max()):
            raise UnsupportedError(
                f"{name}: {len(places)} {values} are equal, but the program treats them differently, for example "
                f"by selecting one of them. That has no derivative; use functions that are symmetric in equal {values}"
            )


def used(ct: Any, turned: Any) -> tuple[Any, ...]:
    """Return the partials `turned` of vectors, or nothing if the program does not use them.

    The sweep then gives a cotangent that is one zero in all places.
    """
    return () if type(ct) is numpy.ndarray and not any(ct.strides) else (turned,)


def check_same_in_every_basis(name: str, values: str, advice: str, parts: Any, equal: Any) -> None:
    """Refuse partials, in the basis of the vectors, that do not determine the derivative at repeated values.

    `parts` are matrices: the partials of the values on a diagonal, and those of the vectors. In each group of equal
    values, either all must be zero, or all must be multiples of the identity other than zero. If the program does not
    use the vectors (`used`), the partials of the values alone decide.
    """
    for index, places in groups(equal):
        plains = [plain(part) for part in parts]
        blocks = [part[index][numpy.ix_(places, places)] for part in plains]
        zero = [not block.any() for block in blocks]
        scales = [numpy.abs(part[index]).max() for part in plains]
        if all(zero) or (not any(zero) and all(map(_is_multiple_of_identity, blocks, scales))):
            continue
        raise UnsupportedError(
            f"{name}: {len(places)} {values} are equal, so their vectors are an arbitrary basis, and the "
            f"derivative of functions of {values} and vectors is not determined by its partials in one "
            f"basis. {advice}"
        )


def _is_multiple_of_identity(block: Any, scale: float) -> bool:
    middle = numpy.trace(block) / len(block)
    return bool(numpy.abs(block - middle * numpy.eye(len(block))).max() <= 1e-10 * scale)


def split(p: Any, dw: Any, equal: Any, descending: bool = False) -> Any:
    """Return the directional derivatives `dw` of eigenvalues; for equal ones they are eigenvalues of `p`'s blocks."""
    for index, places in groups(equal):
        parts = np.linalg.eigvalsh(p[(*index, *numpy.ix_(places, places))])
        dw = np.copy(dw)
        dw[(*index, places)] = parts[::-1] if descending else parts
    return dw
