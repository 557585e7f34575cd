"""Cofactors of matrices of every rank, which are the partials of the determinant, with derivatives of every order.

A regular matrix has the cofactors det(A) A^-T. Otherwise the singular vectors of the value are constants that make the
matrix nearly diagonal, X = U^H A V. Its large values are eliminated in blocks, the largest first, and those that are
zero up to rounding belong to the last block, in which nothing is divided by a value.
"""

from __future__ import annotations

from typing import Any

import numpy

import tapeengine.numpy as np

from .linalg_repeated import plain
from .products import swapped


def cofactors(a: Any, out: Any) -> Any:
    """Return the cofactors of matrices whose determinants are `out`."""
    inverse = _inverse(a, plain(out))
    if inverse is not None:
        return np.expand_dims(out, (-1, -2)) * swapped(inverse)
    shape = plain(a).shape
    return np.reshape(np.stack([_cofactors_of_one(a[index]) for index in numpy.ndindex(shape[:-2])]), shape)


def _inverse(a: Any, determinants: Any) -> Any:
    """Return the inverses, or None if a matrix is too close to a singular one or its determinant leaves the range."""
    values = plain(a)
    try:
        inverse = np.linalg.inv(a)
    except numpy.linalg.LinAlgError:
        return None
    with numpy.errstate(all="ignore"):
        condition = numpy.linalg.norm(values, axis=(-2, -1)) * numpy.linalg.norm(plain(inverse), axis=(-2, -1))
    lost = (condition * _small(values) > values.shape[-1]) | (determinants == 0) | numpy.isinf(determinants)
    return None if lost.any() and numpy.isfinite(values).all() else inverse


def _small(values: Any) -> Any:
    """Return the ratio of singular values from which on they are eliminated in two blocks."""
    return numpy.finfo(values.dtype).eps ** 0.2


def _cofactors_of_one(a: Any) -> Any:
    """With A = c U X V^H: c^(n-1) det(U V^H) conj(U) adj(X)^T V^T. The power of two c keeps X in range."""
    u, s, vh = numpy.linalg.svd(plain(a))
    scale = numpy.ldexp(s.dtype.type(1), numpy.frexp(s[0])[1] - 1)
    adjugate = _adjugate(u.conj().T @ (a / scale) @ vh.conj().T, s / scale)[1]
    factor = numpy.linalg.det(u) * numpy.linalg.det(vh) * scale ** (len(s) - 1)
    return factor * (u.conj() @ swapped(adjugate) @ vh.conj())


def _adjugate(x: Any, s: Any) -> tuple[Any, Any]:
    """Return determinant and adjugate of a nearly diagonal matrix whose falling values are `s`."""
    if len(s) <= 2 or s[0] <= 16 * len(s) * numpy.finfo(s.dtype).eps:
        return _without_division(x)
    large = int(numpy.count_nonzero(s > _small(s) * s[0]))
    block = x[:large, :large]
    determinant, inverse = np.linalg.det(block), np.linalg.inv(block)
    if large == len(s):
        return determinant, determinant * inverse
    left, right = inverse @ x[:large, large:], x[large:, :large] @ inverse
    rest, inner = _adjugate(x[large:, large:] - right @ x[:large, large:], s[large:])
    upper = np.concatenate([rest * inverse + left @ inner @ right, -left @ inner], axis=1)
    lower = np.concatenate([-inner @ right, inner], axis=1)
    return determinant * rest, determinant * np.concatenate([upper, lower])


def _without_division(x: Any) -> tuple[Any, Any]:
    """Return determinant and adjugate by the recurrence of Faddeev and LeVerrier."""
    extent = plain(x).shape[-1]
    identity = numpy.eye(extent, dtype=x.dtype)
    power, coefficient = identity, -np.trace(x)
    for k in range(2, extent + 1):
        power = x @ power + coefficient * identity
        coefficient = -np.trace(x @ power) / k
    sign = (-1) ** extent
    return sign * coefficient, -sign * power
