"""QR, singular value and polar decompositions of real matrices."""

from typing import Any

import scipy

from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns, uniform
from tapeengine.primitive.builders import decides, unbroadcast
from tapeengine_primitives.linalg_factor import (
    QRResult,
    SVDResult,
    complete,
    full,
    full_rules,
    full_svd_rules,
    parted,
    parted_qr,
    qr_rules,
    svd_rules,
    svdvals_rules,
)
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import beside
from tapeengine_scipy.linalg._batches import over_batches
from tapeengine_scipy.linalg._transpose import conjugate_transpose, is_complex, transpose
from tapeengine_scipy.linalg.solve import _check_finite, solve, solve_triangular, well_conditioned
from tapeengine_scipy.linalg.sylvester import solve_sylvester


def _real_only(name: str, a: Any) -> None:
    if is_complex(a):
        raise UnsupportedError(f"{name} of a complex matrix is not differentiated here; use tapeengine.numpy.linalg")


def _shaped(*shapes: tuple[int, int]) -> tuple[Any, ...]:
    return tuple(lambda generator, shape=shape: Sample((well_conditioned(generator, *shape),)) for shape in shapes)


# ---- QR ------------------------------------------------------------------------------------------


def _right_solved(b: Any, r: Any, transposed: bool) -> Any:
    """Return b r^-1 or b r^-T, by the triangle: LU of all of r would take a sixth longer."""
    return transpose(solve_triangular(r, transpose(b), trans=0 if transposed else 1, check_finite=False))


QR: Primitive = Primitive(
    "scipy.linalg.qr",
    lambda a: QRResult(*scipy.linalg.qr(a, mode="economic", check_finite=False)),
    **qr_rules(_right_solved),
    samples=_shaped((3, 3), (4, 2), (2, 4)),
    doc="A = Q R, economic, with the rules of numpy.linalg.qr",
)

FULL_QR: Primitive = Primitive(
    "scipy.linalg.qr_full",
    lambda a: parted_qr(*scipy.linalg.qr(a, check_finite=False)),
    **full_rules("scipy.linalg.qr", qr_rules(_right_solved), "mode='economic'"),
    samples=_shaped((4, 3), (3, 2)),
    doc="A = Q R, square Q, with the rules of numpy.linalg.qr",
)


@with_signature("scipy.linalg.qr")
@over_batches(2)
def qr(a: Any, mode: str, pivoting: bool, check_finite: bool, **_: Any) -> Any:
    """Return the QR decomposition; see `scipy.linalg.qr`.

    All modes but 'raw' are differentiated. The columns that complete a basis in mode 'full' are arbitrary; only
    functions that do not depend on their choice have derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> q, r = qr(np.array([[3.0], [4.0]]), mode="economic")
    >>> float(abs(r[0, 0]))
    5.0
    """
    _check_finite("qr", check_finite, a)
    if mode not in ("full", "economic", "r", "raw"):
        raise ValueError(f"qr: mode must be 'full', 'r', 'economic' or 'raw', not {mode!r}")
    _real_only("qr", a)
    order = _column_order(a) if pivoting else None
    rest = () if order is None else (order,)
    return *_in_mode(a if order is None else a[:, order], mode), *rest


@decides("scipy.linalg.qr.order", Sample((uniform((2, 2)),)))
def _column_order(a: Any) -> Any:
    """The order of columns of a pivoted decomposition."""
    return scipy.linalg.qr(a, mode="r", pivoting=True, check_finite=False)[1]


def _in_mode(a: Any, mode: str) -> Any:
    if mode == "raw":
        raise UnsupportedError("qr: mode 'raw' is not differentiated; use mode='economic'")
    q, r = parts = QR(a) if mode != "full" or a.shape[0] <= a.shape[1] else complete(*FULL_QR(a))
    if mode == "r":
        return (complete(q, r, q)[1],)
    return parts


# ---- singular values, A = U diag(s) V^T ----------------------------------------------------------


def _svd_primal(a: Any, *, lapack_driver: str = "gesdd") -> Any:
    return SVDResult(*scipy.linalg.svd(a, full_matrices=False, check_finite=False, lapack_driver=lapack_driver))


SVD: Primitive = Primitive(
    "scipy.linalg.svd",
    _svd_primal,
    **svd_rules("scipy.linalg.svd"),
    samples=_shaped((3, 3), (4, 2), (2, 4)),
    doc="A = U diag(s) V^T, thin, with the rules of numpy.linalg.svd",
)


FULL_SVD: Primitive = Primitive(
    "scipy.linalg.svd_full",
    lambda a, *, lapack_driver="gesdd": parted(*scipy.linalg.svd(a, check_finite=False, lapack_driver=lapack_driver)),
    **full_svd_rules("scipy.linalg.svd"),
    samples=_shaped((4, 3), (2, 3)),
    doc="A = U diag(s) V^T, square U and V, with the rules of numpy.linalg.svd",
)


def _svdvals_primal(a: Any, *, lapack_driver: str = "gesdd") -> Any:
    return scipy.linalg.svd(a, compute_uv=False, check_finite=False, lapack_driver=lapack_driver)


SVDVALS: Primitive = Primitive(
    "scipy.linalg.svdvals",
    _svdvals_primal,
    **svdvals_rules("scipy.linalg.svdvals"),
    samples=_shaped((3, 3), (4, 2), (2, 4)),
    doc="singular values; equal ones need equal cotangents",
)


@with_signature("scipy.linalg.svd")
@over_batches(2)
def svd(a: Any, full_matrices: bool, compute_uv: bool, check_finite: bool, lapack_driver: str, **_: Any) -> Any:
    """Return the singular value decomposition; see `scipy.linalg.svd`.

    The last vectors of the full matrices of a matrix that is not square are an arbitrary basis; only functions that do
    not depend on the basis have derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> svd(np.diag([2.0, 3.0]), compute_uv=False)
    array([3., 2.])
    """
    _check_finite("svd", check_finite, a)
    _real_only("svd", a)
    if not compute_uv:
        return SVDVALS(a, lapack_driver=lapack_driver)
    if full_matrices and a.shape[0] != a.shape[1]:
        return tuple(full(*FULL_SVD(a, lapack_driver=lapack_driver)))
    return tuple(SVD(a, lapack_driver=lapack_driver))


# ---- polar decomposition, A = U P; with X = U^T dA, P W + W P = X - X^T, dU = U W + (I - U U^T) dA P^-1, dP = X - W P


def _outside(u: Any, m: Any) -> Any:
    """The part of m outside the span of u's columns, which is zero unless u is tall."""
    return m - u @ (transpose(u) @ m)


def _polar_vjp(ct: Any, out: Any, a_space: Any) -> Any:
    (u, p), (ct_u, ct_p) = out, ct
    rotation = solve_sylvester(p, p, transpose(u) @ ct_u - ct_p @ p)
    full = u @ (rotation - transpose(rotation) + ct_p)
    if a_space.shape[0] > a_space.shape[1]:
        full = full + transpose(solve(p, transpose(_outside(u, ct_u))))
    return unbroadcast(full, a_space)


def _polar_jvp(t: Any, out: Any) -> Any:
    u, p = out
    inner = transpose(u) @ t
    rotation = solve_sylvester(p, p, inner - transpose(inner))
    du = u @ rotation
    if t.shape[0] > t.shape[1]:
        du = du + transpose(solve(p, transpose(_outside(u, t))))
    return du, inner - rotation @ p


POLAR: Primitive = Primitive(
    "scipy.linalg.polar",
    lambda a: tuple(scipy.linalg.polar(a)),
    vjp={"a": _polar_vjp},
    jvp={"a": _polar_jvp},
    samples=_shaped((3, 3), (4, 2)),
    pattern=patterns.core,
    doc="A = U P; with X = U^T dA and P W + W P = X - X^T, dU = U W + (I - U U^T) dA P^-1, dP = X - W P",
)


@beside("scipy.linalg.polar")
@over_batches(2)
def polar(a: Any, side: str = "right") -> Any:
    """Return the polar decomposition; see `scipy.linalg.polar`.

    Differentiable if the Hermitian factor is regular: ``side='right'`` needs at least as many rows as columns,
    ``side='left'`` at most as many.

    Examples
    --------
    >>> import numpy as np
    >>> polar(np.array([[-2.0]]))[1]
    array([[2.]])
    """
    if side not in ("right", "left"):
        raise ValueError(f"polar: side must be 'right' or 'left', not {side!r}")
    _real_only("polar", a)
    tall = a if side == "right" else conjugate_transpose(a)
    if tall.shape[0] < tall.shape[1]:
        raise UnsupportedError(f"polar: side={side!r} has a singular factor for shape {a.shape}; use the other side")
    u, p = POLAR(tall)
    return (u, p) if side == "right" else (conjugate_transpose(u), p)
