"""Linear systems, inverses, determinants and pseudo-inverses; all functions accept stacks of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import decides, unbroadcast

from .linalg_cofactors import cofactors
from .linalg_repeated import decided
from .products import conjugated, swapped
from .ufuncs import of_names
from .values import as_array, dtype_of, is_complex, ndim_of, real_dtype, shape_of

SlogdetResult = type(numpy.linalg.slogdet(numpy.eye(1)))


def conj_transpose(a: Any) -> Any:
    """Return the matrices transposed and conjugated."""
    return conjugated(swapped(a))


def fold(g: Any, lower: bool = True) -> Any:
    """Return the cotangent of the triangle from which a Hermitian matrix is built: the transpose of `unfold`."""
    both = g + conj_transpose(g)
    strict = np.tril(both, -1) if lower else np.triu(both, 1)
    return strict + on_diagonal(np.real(np.diagonal(g, 0, -2, -1)))


def unfold(t: Any, lower: bool = True) -> Any:
    """Return the Hermitian matrix with a given triangle; the imaginary part of the diagonal is ignored."""
    strict = np.tril(t, -1) if lower else np.triu(t, 1)
    return strict + conj_transpose(strict) + on_diagonal(np.real(np.diagonal(t, 0, -2, -1)))


def on_diagonal(x: Any) -> Any:
    """Return diagonal matrices from the vectors of the last axis."""
    return numpy.eye(shape_of(x)[-1], dtype=x.dtype) * np.expand_dims(x, -1)


def regular(*shape: int, shift: float = 3.0, dtype: Any = numpy.float64) -> Any:
    """Return a function that draws a well-conditioned sample matrix from a generator."""
    return lambda generator: Sample((_regular(generator, shape, shift, dtype),))


def _regular(generator: numpy.random.Generator, shape: tuple[int, ...], shift: float, dtype: Any) -> Any:
    draw: Any = generator.standard_normal(shape)
    if numpy.dtype(dtype).kind == "c":
        draw = draw + 1j * generator.standard_normal(shape)
    return (draw + shift * numpy.eye(shape[-2], shape[-1])).astype(dtype)


def _square_samples() -> tuple[Any, ...]:
    return (
        regular(3, 3),
        regular(2, 3, 3),
        regular(1, 1),
        regular(0, 2, 2),
        regular(2, 2, dtype=numpy.float32),
        regular(2, 3, 3, dtype=complex),
    )


def _outer(dual: Any, out: Any, vector: bool) -> Any:
    return np.expand_dims(dual, -1) * np.expand_dims(out, -2) if vector else np.matmul(dual, swapped(out))


def _solve_a(ct: Any, a: Any, out: Any, a_space: Any, b_space: Any) -> Any:
    """dA = -(A^-T ct) x^T."""
    return unbroadcast(-_outer(_solved(swapped(a), ct, b_space), out, b_space.ndim == 1), a_space)


def _solved(a: Any, rhs: Any, b_space: Any) -> Any:
    """Solve for a right-hand side with the output's axes: a vector (even for a stack of matrices) or matrices."""
    if b_space.ndim == 1 and ndim_of(rhs) > 1:
        return np.linalg.solve(a, np.expand_dims(rhs, -1))[..., 0]
    return np.linalg.solve(a, rhs)


def _solve_a_jvp(t: Any, a: Any, out: Any, b_space: Any, out_space: Any) -> Any:
    change = np.matmul(t, np.expand_dims(out, -1))[..., 0] if b_space.ndim == 1 else np.matmul(t, out)
    return unbroadcast(-_solved(a, change, b_space), out_space)


def _solve_samples() -> tuple[Any, ...]:
    def system(shape: tuple[int, ...], rhs: tuple[int, ...], dtype: Any = numpy.float64) -> Any:
        return lambda generator: Sample((_regular(generator, shape, 3.0, dtype), uniform(rhs, dtype=dtype)))

    return (
        system((3, 3), (3,)),
        system((3, 3), (3, 2)),
        system((2, 3, 3), (3,)),
        system((2, 3, 3), (3, 2)),
        system((3, 3), (2, 3, 2)),
        system((2, 2), (2,), numpy.float32),
        system((2, 2), (2, 1), complex),
    )


SOLVE = Primitive(
    "numpy.linalg.solve",
    lambda a, b: numpy.linalg.solve(a, b),
    vjp={
        "a": _solve_a,
        "b": lambda ct, a, b_space: unbroadcast(_solved(swapped(a), ct, b_space), b_space),
    },
    jvp={"a": _solve_a_jvp, "b": lambda t, a, out_space: unbroadcast(np.linalg.solve(a, t), out_space)},
    samples=_solve_samples,
    pattern=patterns.solves,
    doc="A^-1 b; db = A^-T ct, dA = -db x^T",
)
INV_RULES: dict[str, Any] = {
    "vjp": {"a": lambda ct, out, a_space: unbroadcast(-swapped(out) @ ct @ swapped(out), a_space)},
    "jvp": {"a": lambda t, out: -(out @ t @ out)},
    "pattern": patterns.core,
}
INV = Primitive(
    "numpy.linalg.inv",
    lambda a: numpy.linalg.inv(a),
    **INV_RULES,
    samples=_square_samples,
    doc="A^-1; dA = -A^-T ct A^-T",
)


DET_RULES: dict[str, Any] = {
    "vjp": {"a": lambda ct, a, out, a_space: unbroadcast(np.expand_dims(ct, (-1, -2)) * cofactors(a, out), a_space)},
    "jvp": {"a": lambda t, a, out, out_space: unbroadcast(np.sum(t * cofactors(a, out), axis=(-2, -1)), out_space)},
    "pattern": patterns.core,
}
DET = Primitive(
    "numpy.linalg.det",
    lambda a: numpy.linalg.det(a),
    **DET_RULES,
    samples=lambda: (
        *_square_samples(),
        Sample((numpy.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]]),)),
    ),
    doc="the determinant; dA = ct det(A) A^-T, by cofactors also where A is singular",
)


def _inverse_transposed(a: Any, out: Any) -> Any:
    """Return A^-T; where a matrix is singular, infinities and NaN, as for the logarithm at 0."""
    if np.all(np.not_equal(out[0], 0)):
        return swapped(np.linalg.inv(a))
    with numpy.errstate(divide="ignore", invalid="ignore"):
        return cofactors(a, out[0]) / np.expand_dims(np.linalg.det(a), (-1, -2))


def _slogdet_vjp(ct: Any, a: Any, out: Any, a_space: Any) -> Any:
    """d log|det| = Re(w) and d sign = i Im(w) sign, with w = tr(A^-1 dA)."""
    weight = ct[1]
    if a_space.is_complex:
        weight = weight - 1j * np.real(1j * ct[0] * out[0])
    return unbroadcast(np.expand_dims(weight, (-1, -2)) * _inverse_transposed(a, out), a_space)


def _slogdet_jvp(t: Any, a: Any, out: Any, out_space: Any) -> Any:
    if np.all(np.not_equal(out[0], 0)):
        change = np.trace(np.linalg.solve(a, t), 0, -2, -1)
    else:
        change = np.sum(_inverse_transposed(a, out) * t, axis=(-2, -1))
    turned = 1j * np.imag(change) * out[0] if is_complex(out[0]) else 0.0 * change
    sign_space, log_space = out_space.spaces
    return SlogdetResult(unbroadcast(turned, sign_space), unbroadcast(np.real(change), log_space))


SLOGDET = Primitive(
    "numpy.linalg.slogdet",
    lambda a: numpy.linalg.slogdet(a),
    vjp={"a": _slogdet_vjp},
    jvp={"a": _slogdet_jvp},
    samples=_square_samples,
    pattern=patterns.core,
    doc="sign and log of the determinant; dA = ct A^-T",
)


def _pinv_cotangent(ct: Any, a: Any, out: Any) -> Any:
    """The transpose of `_pinv_change`, term by term."""
    p = _of_all_ranks(a, out)
    first = -swapped(p) @ ct @ swapped(p)
    rows = conjugated(_beside(a @ p)) @ conj_transpose(ct) @ conjugated(p @ conj_transpose(p))
    columns = conjugated(conj_transpose(p) @ p) @ conj_transpose(ct) @ conjugated(_beside(p @ a))
    return first + rows + columns


@decided
def _drops(a: Any, inverse: Any) -> bool:
    """Whether a pseudo-inverse leaves out singular values that are larger than rounding errors."""
    left_out = numpy.linalg.norm(a - a @ inverse @ a, axis=(-2, -1))
    return bool((left_out > numpy.finfo(a.dtype).eps ** 0.625 * numpy.linalg.norm(a, axis=(-2, -1))).any())


def _of_all_ranks(a: Any, out: Any) -> Any:
    """Return the pseudo-inverse, unless it drops singular values that are larger than rounding errors."""
    if _drops(a, out):
        raise UnsupportedError(
            "a pseudo-inverse or least-squares solution that drops singular values (rcond) has a derivative "
            "only where these are zero up to rounding; write it with numpy.linalg.svd, or lower rcond"
        )
    return out


def _beside(projection: Any) -> Any:
    return numpy.eye(shape_of(projection)[-1], dtype=real_dtype(projection)) - projection


def _pinv_change(t: Any, a: Any, out: Any) -> Any:
    """dP = -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P, at constant rank (Golub and Pereyra)."""
    p, back = _of_all_ranks(a, out), conj_transpose(t)
    return -p @ t @ p + p @ conj_transpose(p) @ back @ _beside(a @ p) + _beside(p @ a) @ back @ conj_transpose(p) @ p


PINV = Primitive(
    "numpy.linalg.pinv",
    lambda a, *, rcond=None, hermitian=False: numpy.linalg.pinv(a, rcond, hermitian),
    vjp={"a": lambda ct, a, out, a_space: unbroadcast(_pinv_cotangent(ct, a, out), a_space)},
    jvp={"a": lambda t, a, out, out_space: unbroadcast(_pinv_change(t, a, out), out_space)},
    samples=lambda: (
        regular(3, 3),
        regular(4, 2),
        regular(2, 2, 4),
        regular(2, 3, dtype=numpy.float32),
        regular(3, 2, dtype=complex),
    ),
    pattern=patterns.core,
    doc="the pseudo-inverse at constant rank",
)


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Any:
    """Return the pseudo-inverse; see `numpy.linalg.pinv`."""
    rcond, a = rtol if rcond is None else rcond, as_array(a)
    return PINV(unfold(a) if hermitian and 0 not in shape_of(a) else a, rcond=rcond, hermitian=bool(hermitian))


def solve(a: Any, b: Any) -> Any:
    """Solve a linear system; see `numpy.linalg.solve`."""
    return SOLVE(as_array(a), as_array(b))


def _cut(a: Any, rcond: Any) -> Any:
    """Return the relative size below which `numpy.linalg.lstsq` treats singular values as zero."""
    eps = numpy.finfo(a.dtype if a.dtype.kind in "fc" else float).eps
    return eps * max(shape_of(a)) if rcond is None else eps if rcond == -1 else rcond


def _columns(b: Any) -> Any:
    return b[:, None] if ndim_of(b) == 1 else b


def _lstsq_jvp_a(t: Any, a: Any, b: Any, out: Any, rcond: Any) -> Any:
    """With P the pseudo-inverse: dx = dP b and d|b - a x|^2 = -2 Re (b - a x)^H da x."""
    p = PINV(a, rcond=_cut(a, rcond))
    return _pinv_change(t, a, p) @ b, _square_change(-(t @ out[0]), a, b, out)


def _lstsq_jvp_b(t: Any, a: Any, b: Any, out: Any, rcond: Any) -> Any:
    return PINV(a, rcond=_cut(a, rcond)) @ t, _square_change(t, a, b, out)


def _square_change(t: Any, a: Any, b: Any, out: Any) -> Any:
    """The change of the sums of squares with the deviation; a change of x has no effect, since x minimises them."""
    x, squares = out
    if not squares.shape[0]:
        return squares
    return 2 * np.sum(np.real(conjugated(_columns(b - a @ x)) * _columns(t)), axis=0)


def _deviation_cotangent(ct: Any, a: Any, b: Any, out: Any) -> Any:
    x, squares = out
    return 2 * ct[1] * conjugated(_columns(b - a @ x)) if squares.shape[0] else None


def _lstsq_vjp_a(ct: Any, a: Any, b: Any, out: Any, a_space: Any, rcond: Any) -> Any:
    p = PINV(a, rcond=_cut(a, rcond))
    found = _pinv_cotangent(_columns(ct[0]) @ swapped(_columns(b)), a, p)
    deviation = _deviation_cotangent(ct, a, b, out)
    return unbroadcast(found if deviation is None else found - deviation @ swapped(_columns(out[0])), a_space)


def _lstsq_vjp_b(ct: Any, a: Any, b: Any, out: Any, b_space: Any, rcond: Any) -> Any:
    found = swapped(PINV(a, rcond=_cut(a, rcond))) @ ct[0]
    deviation = _deviation_cotangent(ct, a, b, out)
    return unbroadcast(found if deviation is None else found + np.reshape(deviation, b_space.shape), b_space)


LSTSQ = Primitive(
    "numpy.linalg.lstsq",
    lambda a, b, *, rcond=None: numpy.linalg.lstsq(a, b, rcond)[:2],
    vjp={"a": _lstsq_vjp_a, "b": _lstsq_vjp_b},
    jvp={"a": _lstsq_jvp_a, "b": _lstsq_jvp_b},
    samples=lambda: (
        Sample((uniform((4, 2)), uniform((4,)))),
        Sample((uniform((3, 2)), uniform((3, 2)))),
        Sample((uniform((2, 3)), uniform((2,)))),
        Sample((uniform((3, 2), dtype=complex), uniform((3,), dtype=complex))),
    ),
    pattern=patterns.core,
    doc="the least-squares solution at constant rank and the sums of squares that it leaves",
)


@decides("numpy.linalg.lstsq.rank", Sample((uniform((3, 2)),), {"rcond": None}))
def lstsq_rank(a: Any, *, rcond: Any) -> Any:
    """The rank with which a least-squares problem is solved."""
    return numpy.linalg.lstsq(a, numpy.zeros(a.shape[0], a.dtype), rcond)[2]


def in_one_precision(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two arrays in the dtype in which LAPACK computes with both."""
    common = numpy.result_type(dtype_of(a), dtype_of(b))
    return tuple(x if dtype_of(x) == common else np.astype(x, common) for x in (a, b))


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """Solve a tensor equation; see `numpy.linalg.tensorsolve`."""
    a, b = as_array(a), as_array(b)
    ndim = ndim_of(a)
    if axes is not None:
        order = list(range(ndim))
        for axis in axes:
            order.remove(axis)
            order.append(axis)
        a = np.transpose(a, order)
    equations, unknown = shape_of(a)[: ndim_of(b)], shape_of(a)[ndim_of(b) :]
    matrix = np.reshape(a, (math.prod(equations), math.prod(unknown)))
    return np.reshape(np.linalg.solve(matrix, np.ravel(b)), unknown)


RULES = {
    **of_names(vars(), numpy.linalg),
    numpy.linalg.inv: INV,
    numpy.linalg.det: DET,
    numpy.linalg.slogdet: SLOGDET,
}
