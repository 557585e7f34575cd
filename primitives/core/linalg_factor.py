"""Cholesky, QR and singular value decompositions; all functions accept stacks of matrices.

numpy's cholesky reads one triangle of its argument, so the cotangent lies in that triangle. The factors of complex
matrices have free phases; derivatives are for the phases that keep the diagonal of R real (qr) and V fixed (svd).
"""

from __future__ import annotations

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.duals.creation import plain as untraced
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Sample, patterns
from tapeengine.primitive.builders import scale, unbroadcast

from .linalg_eigen import along, gradient
from .linalg_repeated import check_equal, check_same_in_every_basis, gaps, groups, plain, repeated, split, used
from .linalg_solve import LSTSQ, conj_transpose, fold, in_one_precision, lstsq_rank, on_diagonal, regular, unfold
from .products import conjugated, swapped
from .ufuncs import of_names
from .values import as_array, dtype_of, is_complex, is_traced, shape_of

QRResult = type(numpy.linalg.qr(numpy.eye(1)))
SVDResult = type(numpy.linalg.svd(numpy.eye(1)))


def _half(x: Any) -> Any:
    """Return the lower triangle with half of the diagonal."""
    return np.tril(x) - 0.5 * on_diagonal(np.diagonal(x, 0, -2, -1))


def _by_lu(factor: Any, b: Any, transposed: bool) -> Any:
    return np.linalg.solve(swapped(factor) if transposed else factor, b)


def cholesky_rules(solved: Any = _by_lu) -> dict[str, Any]:
    """Return the rules of a Cholesky factor; `solved` solves systems with a lower triangle, or its transpose."""

    def vjp(ct: Any, out: Any, a_space: Any, upper: bool) -> Any:
        """W = L^-T half(L^T ct) conj(L)^-1, folded into the triangle that was read."""
        factor, ct = (conj_transpose(out), conj_transpose(ct)) if upper else (out, ct)
        left = solved(factor, _half(np.matmul(swapped(factor), ct)), True)
        whole = swapped(solved(conjugated(factor), swapped(left), True))
        return unbroadcast(fold(whole, lower=not upper), a_space)

    def jvp(t: Any, out: Any, out_space: Any, upper: bool) -> Any:
        """dL = L half(L^-1 dA L^-H), where half takes the lower triangle and half of the diagonal."""
        factor = conj_transpose(out) if upper else out
        left = solved(factor, unfold(t, lower=not upper), False)
        inner = conj_transpose(solved(factor, conj_transpose(left), False))
        change = np.matmul(factor, _half(inner))
        return unbroadcast(conj_transpose(change) if upper else change, out_space)

    return {"vjp": {"a": vjp}, "jvp": {"a": jvp}, "pattern": patterns.core}


def _positive(upper: bool, *shape: int, dtype: Any = numpy.float64) -> Any:
    def draw(generator: numpy.random.Generator) -> Sample:
        a = regular(*shape, dtype=dtype)(generator).args[0]
        return Sample((a @ a.conj().swapaxes(-1, -2),), {"upper": upper})

    return draw


CHOLESKY = Primitive(
    "numpy.linalg.cholesky",
    lambda a, *, upper=False: numpy.linalg.cholesky(a, upper=upper),
    **cholesky_rules(),
    samples=lambda: (
        *(_positive(upper, *shape) for upper in (False, True) for shape in ((3, 3), (2, 3, 3))),
        _positive(False, 2, 2, dtype=numpy.float32),
        _positive(False, 3, 3, dtype=complex),
        _positive(True, 3, 3, dtype=complex),
        _positive(False, 0, 2, 2),
    ),
    doc="L with A = L L^H; dL = L half(L^-1 dA L^-H); the cotangent lies in the triangle that is read",
)


def cholesky(a: Any, /, *, upper: bool = False) -> Any:
    """Return the Cholesky factor; see `numpy.linalg.cholesky`."""
    return CHOLESKY(as_array(a), upper=upper)


def _turn(m: Any) -> Any:
    """Return the antihermitian part of Q^H dQ: strict lower triangle, and i times the imaginary diagonal."""
    strict = np.tril(m, -1)
    turn = strict - conj_transpose(strict)
    return turn + 1j * on_diagonal(np.imag(np.diagonal(m, 0, -2, -1))) if is_complex(m) else turn


def _right_solved(b: Any, r: Any, transposed: bool) -> Any:
    return swapped(np.linalg.solve(r if transposed else swapped(r), swapped(b)))


def _qr_jvp(t: Any, a: Any, out: Any, solved: Any) -> Any:
    """With M = Q^H dA R^-1 and its turn W: dQ = Q (W - M) + dA R^-1 and dR = (M - W) R.

    Of a wide matrix that is so for the first square part; the other columns of R are Q^H A.
    """
    q, r = out
    rows = q.shape[-1]
    change = solved(t[..., :rows], r[..., :rows], False)
    m = np.matmul(conj_transpose(q), change)
    rest = _turn(m) - m
    dq, dr = np.matmul(q, rest) + change, -np.matmul(rest, r[..., :rows])
    if r.shape[-1] > rows:
        others = conj_transpose(dq) @ a[..., rows:] + conj_transpose(q) @ t[..., rows:]
        dr = np.concatenate((dr, others), axis=-1)
    return QRResult(dq, dr)


def _qr_vjp(ct: Any, a: Any, out: Any, solved: Any) -> Any:
    """The transpose of `_qr_jvp`."""
    q, r = out
    rows = q.shape[-1]
    if r.shape[-1] > rows:
        others = ct[1][..., rows:]
        square = ct[0] + conjugated(a[..., rows:]) @ conj_transpose(others), ct[1][..., :rows]
        first = _square_qr_vjp(square, q, r[..., :rows], solved)
        return np.concatenate((first, conjugated(q) @ others), axis=-1)
    return _square_qr_vjp(ct, q, r, solved)


def _square_qr_vjp(ct: Any, q: Any, r: Any, solved: Any) -> Any:
    weight = np.matmul(swapped(q), ct[0]) - np.matmul(ct[1], swapped(r))
    strict = np.tril(weight - conj_transpose(weight), -1)
    if is_complex(weight):
        strict = strict + 1j * on_diagonal(np.imag(np.diagonal(weight, 0, -2, -1)))
    inner = ct[0] + np.matmul(conjugated(q), strict - weight)
    return solved(inner, r, True)


def _check_independent(r: Any) -> None:
    """Refuse a triangle of less than full rank, up to rounding, whatever the lengths of its columns."""
    lengths = numpy.linalg.norm(r, axis=-2, keepdims=True)
    r = r / numpy.maximum(lengths, numpy.finfo(r.dtype).tiny)
    columns, eps = r.shape[-1], numpy.finfo(r.dtype).eps
    nearly = numpy.any(abs(numpy.diagonal(r, 0, -2, -1)) < eps**0.25)  # only then a singular value is that small
    if nearly and numpy.any(numpy.linalg.matrix_rank(numpy.nan_to_num(r), rtol=4 * columns * eps) < columns):
        raise UnsupportedError("qr has no derivative where the columns are linearly dependent")


def qr_rules(right_solved: Any = _right_solved) -> dict[str, Any]:
    """Return the rules of QR."""

    def solved(b: Any, r: Any, transposed: bool) -> Any:
        _check_independent(plain(r))
        return right_solved(b, r, transposed)

    def vjp(ct: Any, a: Any, out: Any, a_space: Any) -> Any:
        return unbroadcast(_qr_vjp(ct, a, out, solved), a_space)

    def jvp(t: Any, a: Any, out: Any, out_space: Any) -> Any:
        return _qr_jvp(t, a, out, solved)

    return {"vjp": {"a": vjp}, "jvp": {"a": jvp}, "pattern": patterns.core}


QR = Primitive(
    "numpy.linalg.qr",
    lambda a: numpy.linalg.qr(a),
    **qr_rules(),
    samples=lambda: (
        regular(3, 3),
        regular(4, 2),
        regular(2, 3, 2),
        regular(2, 4),
        regular(3, 2, dtype=numpy.float32),
        regular(3, 2, dtype=complex),
        regular(2, 3, dtype=complex),
    ),
    doc="reduced QR of a matrix of full rank; a wide one is factorised by its first square part",
)


def parted_qr(q: Any, r: Any) -> Any:
    """The reduced decomposition of a complete one of a tall matrix, and the Q of that."""
    k = r.shape[-1]
    return q[..., :k], r[..., :k, :], q


def complete(q: Any, r: Any, whole: Any) -> Any:
    """The decomposition that `parted_qr` splits."""
    *stack, rows, columns = shape_of(r)
    below = numpy.zeros((*stack, shape_of(q)[-2] - rows, columns), dtype_of(r))
    return whole, np.concatenate([r, below], axis=-2)


def qr(a: Any, mode: str = "reduced") -> Any:
    """Return the QR decomposition; see `numpy.linalg.qr`. A wide matrix is factorised by its leading square block."""
    a = as_array(a)
    rows, columns = shape_of(a)[-2:]
    if mode not in ("reduced", "r", "complete"):
        raise UnsupportedError(f"numpy.linalg.qr has no derivative in mode {mode!r}; use mode='reduced'")
    if mode == "complete" and rows > columns:
        return QRResult(*complete(*QR_COMPLETE(a)))
    q, r = QR(a)
    return r if mode == "r" else QRResult(q, r)


_ADVICE = "Use svdvals for what needs no vectors, or functions of the matrix itself (inv, pinv, polar)"


def _squared_gaps(s: Any, equal: Any) -> Any:
    """Return 1 / (s[j]^2 - s[i]^2), without cancellation, and 0 where the two are equal."""
    total = np.expand_dims(s, -2) + np.expand_dims(s, -1)
    return gaps(s, equal) / np.where(equal, 1.0, total)


def _outside(u: Any, x: Any) -> Any:
    """Return (I - U U^H) x."""
    return x - u @ (conj_transpose(u) @ x)


def svd_rules(name: str) -> dict[str, Any]:
    """Return the rules of a reduced singular value decomposition; `name` is for errors."""

    def jvp(t: Any, a: Any, out: Any, out_space: Any) -> Any:
        """With P = U^H dA V and F[i,j] = 1/(s[j]^2 - s[i]^2): dS = Re diag(P), dV = V (F (S P + P^H S)),
        dU = U (F (P S + S P^H) + i Im diag(P)/S), and the parts outside of the spaces of U and V.
        """
        u, s, vh = out
        v, row = conj_transpose(vh), np.expand_dims(s, -2)
        p, equal = conj_transpose(u) @ t @ v, repeated(s)
        check_same_in_every_basis(name, "singular values", _ADVICE, (p,), equal)
        f = _squared_gaps(s, equal)
        column = np.expand_dims(s, -1)
        turn_u = scale(p * row + column * conj_transpose(p), f)
        turn_v = scale(column * p + conj_transpose(p) * row, f)
        if is_complex(a):
            turn_u = turn_u + 1j * on_diagonal(scale(np.imag(np.diagonal(p, 0, -2, -1)), 1 / s))
        du, dv = u @ turn_u, v @ turn_v
        if a.shape[-2] > a.shape[-1]:
            du = du + scale(_outside(u, t @ v), 1 / row)
        if a.shape[-1] > a.shape[-2]:
            dv = dv + scale(_outside(v, conj_transpose(t) @ u), 1 / row)
        return SVDResult(du, unbroadcast(np.real(np.diagonal(p, 0, -2, -1)), out_space.spaces[1]), conj_transpose(dv))

    def vjp(ct: Any, a: Any, out: Any, a_space: Any) -> Any:
        """The transpose of `jvp`."""
        u, s, vh = out
        v, row = conj_transpose(vh), np.expand_dims(s, -2)
        column, equal = np.expand_dims(s, -1), repeated(s)
        ct_u, ct_v = ct[0], conj_transpose(ct[2])
        first, second, f = swapped(u) @ ct_u, swapped(v) @ ct_v, _squared_gaps(s, equal)
        vectors = ct[0] if used(ct[0], ()) else ct[2]
        parts = (on_diagonal(ct[1]), *used(vectors, first + second))
        check_same_in_every_basis(name, "singular values", _ADVICE, parts, equal)
        left, right = scale(first, f), scale(second, f)
        inner = on_diagonal(ct[1]) + (left + conj_transpose(left)) * row + column * (right + conj_transpose(right))
        if is_complex(a):
            inner = inner + 1j * on_diagonal(scale(np.imag(np.diagonal(first, 0, -2, -1)), 1 / s))
        total = conjugated(u) @ inner @ swapped(v)
        if a_space.shape[-2] > a_space.shape[-1]:
            total = total + conjugated(_outside(u, conjugated(scale(ct_u, 1 / row)))) @ swapped(v)
        if a_space.shape[-1] > a_space.shape[-2]:
            total = total + conj_transpose(conjugated(_outside(v, conjugated(scale(ct_v, 1 / row)))) @ swapped(u))
        return unbroadcast(total, a_space)

    return {"vjp": {"a": vjp}, "jvp": {"a": jvp}, "pattern": patterns.core}


SVD = Primitive(
    "numpy.linalg.svd",
    lambda a: numpy.linalg.svd(a, full_matrices=False),
    **svd_rules("numpy.linalg.svd"),
    samples=lambda: (
        regular(3, 3),
        regular(4, 2),
        regular(2, 2, 3),
        regular(3, 2, dtype=numpy.float32),
    ),
    doc="reduced singular value decomposition with distinct singular values",
)


def parted(u: Any, s: Any, vh: Any) -> Any:
    """The reduced decomposition of one with square U and V, and the one of U and V^H that it has a part of."""
    k = s.shape[-1]
    return u[..., :k], s, vh[..., :k, :], vh if u.shape[-1] == k else u


def full(u: Any, s: Any, vh: Any, whole: Any) -> Any:
    """The decomposition that `parted` splits."""
    return SVDResult(u, s, whole) if shape_of(u)[-2] == shape_of(u)[-1] else SVDResult(whole, s, vh)


def full_rules(name: str, reduced: dict[str, Any], instead: str) -> dict[str, Any]:
    """Return the rules of a decomposition in parts, the last of which is a factor whose last vectors complete a basis.

    From U^H U = 1 follows dU2 = -U1 dU1^H U2 up to a turn of U2, which LAPACK chooses; likewise for V of a wide matrix.
    """

    def undetermined(a: Any, what: str) -> str:
        return (
            f"{name} of {a.shape[-2]} x {a.shape[-1]} matrices: the last vectors of the full matrices are an arbitrary "
            f"basis, so {what}; pass {instead}"
        )

    def jvp(t: Any, a: Any, out: Any, out_space: Any) -> Any:
        """The last vectors have no tangent if they can turn; the sweep refuses their use."""
        *parts, whole = out
        k, tall = parts[0].shape[-1], a.shape[-2] > a.shape[-1]
        changes = reduced["jvp"]["a"](t, a, parts, out_space)
        if whole.shape[-1] > k + 1 or is_complex(a):
            return *changes, undetermined(a, "they have no tangents")
        main, change, rest = (
            (parts[0], changes[0], whole[..., k:]) if tall else map(swapped, (parts[2], changes[2], whole[..., k:, :]))
        )
        last = -main @ (conj_transpose(change) @ rest)
        return *changes, np.concatenate((change, last), -1) if tall else swapped(np.concatenate((change, last), -1))

    def vjp(ct: Any, a: Any, out: Any, a_space: Any) -> Any:
        """The transpose of `jvp`, if the function does not depend on the turn of the last vectors."""
        *parts, whole = out
        *cts, given = ct
        if used(given, ()):
            k, at = parts[0].shape[-1], 0 if a_space.shape[-2] > a_space.shape[-1] else 2
            main, x, ct_x = (parts[0], whole, given) if at == 0 else map(conj_transpose, (parts[2], whole, given))
            turn = plain(swapped(x[..., k:]) @ ct_x[..., k:])
            if numpy.abs(turn - conj_transpose(turn)).max(initial=0.0) > 1e-10 * numpy.abs(turn).max(initial=0.0):
                raise UnsupportedError(undetermined(a_space, "this use has no derivative"))
            first = ct_x[..., :k]
            if is_traced(given) or ct_x[..., k:].any():
                first = first - conjugated(x[..., k:] @ swapped(ct_x[..., k:]) @ main)
            cts[at] = cts[at] + (conj_transpose(first) if at else first)
        return reduced["vjp"]["a"](cts, a, parts, a_space)

    return {"vjp": {"a": vjp}, "jvp": {"a": jvp}, "pattern": patterns.core}


def full_svd_rules(name: str) -> dict[str, Any]:
    """Return the rules of the parts of a decomposition with square U and V."""
    return full_rules(name, svd_rules(name), "full_matrices=False")


QR_COMPLETE = Primitive(
    "numpy.linalg.qr_complete",
    lambda a: parted_qr(*numpy.linalg.qr(a, "complete")),
    **full_rules("numpy.linalg.qr", qr_rules(), "mode='reduced'"),
    samples=lambda: (regular(4, 3), regular(2, 3, 2)),
    doc="Q is square, for functions that do not depend on the last columns' basis",
)

SVD_FULL = Primitive(
    "numpy.linalg.svd_full",
    lambda a: parted(*numpy.linalg.svd(a)),
    **full_svd_rules("numpy.linalg.svd"),
    samples=lambda: (regular(4, 3), regular(2, 2, 3)),
    doc="U and V are square, for functions that do not depend on the last vectors' basis",
)


def _gradient(ct: Any, a: Any, lower: bool) -> Any:
    u, _, vh = SVD(a)
    return conjugated(u) @ (np.expand_dims(ct, -1) * conjugated(vh))


def _tangent(t_ct: Any, t: Any, ct: Any, a: Any, lower: bool) -> Any:
    u, s, vh = SVD(a)
    u, x, v = along(u, s, conj_transpose(vh), t, ct, t_ct, True)
    each, vh = np.expand_dims(ct / s, -2), conj_transpose(v)
    outer = (_outside(u, t @ v) * each) @ vh + (u * each) @ conj_transpose(_outside(v, conj_transpose(t) @ u))
    return conjugated(u @ x @ vh + outer)


GRADIENT = gradient("numpy.linalg.svdvals_gradient", _gradient, _tangent, regular(4, 3))


def svdvals_rules(name: str) -> dict[str, Any]:
    """Return the rules of singular values; `name` is for errors."""

    def vjp(ct: Any, a: Any, out: Any, a_space: Any) -> Any:
        """The vectors are recomputed as functions of A, so that a second derivative includes them."""
        equal, s = repeated(out), plain(out)
        check_equal(name, "singular values", ct, equal)
        found = GRADIENT if any(groups(equal)) and s.min() > 1e-10 * s.max() else _gradient
        return unbroadcast(found(ct, a, lower=True), a_space)

    def jvp(t: Any, a: Any, out: Any, out_space: Any) -> Any:
        u, _, vh = SVD(a)
        p = conj_transpose(u) @ t @ conj_transpose(vh)
        ds = np.real(np.diagonal(p, 0, -2, -1))
        return unbroadcast(split(0.5 * (p + conj_transpose(p)), ds, repeated(out), descending=True), out_space)

    return {"vjp": {"a": vjp}, "jvp": {"a": jvp}, "pattern": patterns.core}


SVDVALS = Primitive(
    "numpy.linalg.svdvals",
    lambda a: numpy.linalg.svd(a, compute_uv=False),
    **svdvals_rules("numpy.linalg.svdvals"),
    samples=lambda: (regular(3, 3), regular(4, 2), regular(2, 2, 3), regular(3, 2, dtype=complex)),
    doc="singular values; dA = conj(U) ct conj(V^H); equal ones need equal cotangents",
)


LSTSQ_SINGULAR = Primitive(
    "numpy.linalg.lstsq.singular_values",
    lambda a: numpy.linalg.lstsq(a, numpy.zeros(a.shape[0], a.dtype))[3],
    **svdvals_rules("numpy.linalg.lstsq"),
    samples=lambda: (regular(3, 3), regular(4, 2)),
    doc="singular values as LAPACK's least squares round them; the rules are those of svdvals",
)


def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Any, Any, Any, Any]:
    """Solve a least-squares problem; see `numpy.linalg.lstsq`. Differentiable in both arguments, at constant rank."""
    a, b = in_one_precision(as_array(a), as_array(b))
    cutoff = untraced(rcond)
    x, squares = LSTSQ(a, b, rcond=cutoff)
    return x, squares, lstsq_rank(a, rcond=cutoff), LSTSQ_SINGULAR(a)


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """Return the singular value decomposition; see `numpy.linalg.svd`.

    The singular values always have derivatives, and the vectors where they are determined. The last ones of a matrix
    that is not square are determined if there is one of them, real; others only as the space that they span.
    """
    a = as_array(a)
    if hermitian:
        return _hermitian_svd(a) if compute_uv else np.flip(np.sort(np.abs(np.linalg.eigvalsh(a)), axis=-1), -1)
    if not compute_uv:
        return SVDVALS(a)
    rows, columns = shape_of(a)[-2:]
    if full_matrices and rows != columns:
        return full(*SVD_FULL(a))
    return SVD(a)


def _hermitian_svd(a: Any) -> Any:
    w, u = np.linalg.eigh(a)
    order = numpy.flip(np.argsort(np.abs(w), axis=-1), -1)
    sign = np.take_along_axis(np.sign(w), order, axis=-1)
    s = np.take_along_axis(np.abs(w), order, axis=-1)
    u = np.take_along_axis(u, order[..., None, :], axis=-1)
    return SVDResult(u, s, conj_transpose(u * np.expand_dims(sign, -2)))


RULES = of_names(vars(), numpy.linalg)
