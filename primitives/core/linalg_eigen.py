"""Eigenvalues and eigenvectors of Hermitian and of general matrices; all functions accept stacks of matrices.

eigh reads one triangle of its argument, so the cotangent lies in that triangle. There are separate primitives for the
eigenvalues alone, because they have derivatives at repeated eigenvalues and eigenvectors do not.
"""

from __future__ import annotations

from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.default import default_engine
from tapeengine.errors import UnsupportedError
from tapeengine.primitive import Primitive, Rule, Sample, patterns
from tapeengine.primitive.builders import scale, unbroadcast

from .linalg_repeated import (
    check_equal,
    check_same_in_every_basis,
    decided,
    gaps,
    groups,
    plain,
    repeated,
    split,
    used,
)
from .linalg_solve import conj_transpose, fold, on_diagonal, regular, unfold
from .products import conjugated, swapped
from .ufuncs import of_names
from .values import as_array, dtype_of

ADVICE = "Use eigvalsh or eigvals for what needs no vectors, or a matrix function (expm, logm, sqrtm, matrix_power)"

EighResult = type(numpy.linalg.eigh(numpy.eye(1)))
EigResult = type(numpy.linalg.eig(numpy.eye(1)))


def _from_basis(inner: Any, v: Any, a_space: Any, lower: bool) -> Any:
    return unbroadcast(fold(conjugated(v) @ inner @ swapped(v), lower), a_space)


def eigh_rules(name: str) -> dict[str, Any]:
    """Return the rules of eigenvalues and vectors of Hermitian matrices; `name` is for errors."""

    def vjp(ct: Any, out: Any, a_space: Any, lower: bool) -> Any:
        """conj(V) (diag(ct_w) + F (V^T ct_v)) V^T with F[i,j] = 1/(w[j] - w[i]), folded into the triangle."""
        w, v = out
        equal, turned, on = repeated(w), swapped(v) @ ct[1], on_diagonal(ct[0])
        check_same_in_every_basis(name, "eigenvalues", ADVICE, (on, *used(ct[1], turned)), equal)
        return _from_basis(on + scale(turned, gaps(w, equal)), v, a_space, lower)

    def jvp(t: Any, out: Any, out_space: Any, lower: bool) -> Any:
        """With P = V^H dA V: dw = diag(P), dV = V (F P)."""
        w, v = out
        p, equal = conj_transpose(v) @ unfold(t, lower) @ v, repeated(w)
        check_same_in_every_basis(name, "eigenvalues", ADVICE, (p,), equal)
        dw = unbroadcast(np.real(np.diagonal(p, 0, -2, -1)), out_space.spaces[0])
        return EighResult(dw, unbroadcast(v @ scale(p, gaps(w, equal)), out_space.spaces[1]))

    return {"vjp": {"a": vjp}, "jvp": {"a": jvp}, "pattern": patterns.core}


def _hermitian(lower: bool, *shape: int, dtype: Any = numpy.float64) -> Any:
    def draw(generator: numpy.random.Generator) -> Sample:
        a = regular(*shape, dtype=dtype)(generator).args[0]
        spread = numpy.diag(numpy.arange(1.0, shape[-1] + 1)).astype(a.dtype)
        return Sample((a + a.conj().swapaxes(-1, -2) + 4 * spread,), {"lower": lower})

    return draw


EIGH = Primitive(
    "numpy.linalg.eigh",
    lambda a, *, lower=True: numpy.linalg.eigh(a, "L" if lower else "U"),
    **eigh_rules("numpy.linalg.eigh"),
    samples=lambda: (
        _hermitian(True, 3, 3),
        _hermitian(False, 3, 3),
        _hermitian(True, 2, 3, 3),
        _hermitian(True, 2, 2, dtype=numpy.float32),
    ),
    doc="eigenvalues and vectors of Hermitian matrices; dA = conj(V) (ct_w + F (V^T ct_v)) V^T",
)


def along(u: Any, w: Any, v: Any, t: Any, ct: Any, t_ct: Any, singular: bool = False) -> tuple[Any, Any, Any]:
    """Return U, X and V such that U X V^H is the tangent of U ct V^H, where equal values have equal `ct`.

    U and V are the vectors that dA selects, in the order of `split`. With P = U^H dA V and H its Hermitian part, X is
    dct + H (ct[j] - ct[i]) / (w[j] - w[i]) + (P - H) (ct[j] + ct[i]) / (w[j] + w[i]); P is H for eigenvalues.
    """
    equal, p = repeated(w), conj_transpose(u) @ t @ v
    turn = 0.0 * p + numpy.eye(p.shape[-1])
    for index, places in groups(equal):
        block = (*index, *numpy.ix_(places, places))
        vectors = np.linalg.eigh(0.5 * (p + conj_transpose(p))[block])[1]
        turn[block] = vectors[:, ::-1] if singular else vectors
    u, v, p = u @ turn, v @ turn, 0.5 * conj_transpose(turn) @ p @ turn
    both = conj_transpose(p)
    column, row = np.expand_dims(ct, -1), np.expand_dims(ct, -2)
    x = on_diagonal(t_ct) + (p + both) * (row - column) * gaps(w, equal)
    if singular:
        x = x + (p - both) * (row + column) / (np.expand_dims(w, -1) + np.expand_dims(w, -2))
    return u, x, v


def gradient(name: str, primal: Any, tangent: Any, matrix: Any) -> Primitive:
    """Return the gradient ``primal(ct, a, lower)`` of a function of values; its tangent needs those of both at once."""

    def joint(tangents: Any, spaces: Any, xs: Any, lower: bool) -> Any:
        return tangent(*[tangents[k] if k in tangents else spaces[k].zeros() for k in (0, 1)], *xs, lower)

    def jvp(t: Any, index: int, *kept: Any) -> Any:
        return joint({index: t}, *kept)

    def vjp(ct: Any, index: int, xs: Any, lower: bool) -> Any:
        return default_engine().vjp(lambda *given: primal(*given, lower), *xs)[1](ct)[index]

    jvp.joint = joint  # type: ignore[attr-defined]
    rules = {"xs": Rule(vjp, ("index", "xs", "lower"))}, {"xs": Rule(jvp, ("index", "xs_spaces", "xs", "lower"))}

    def sample(generator: numpy.random.Generator) -> Sample:
        return Sample((generator.random(3), *matrix(generator).args), {"lower": True})

    doc = "the gradient of a function of equal values"
    return Primitive(name, lambda *xs, lower: primal(*xs, lower), *rules, variadic=True, samples=(sample,), doc=doc)


def _gradient(ct: Any, a: Any, lower: bool) -> Any:
    v = EIGH(a, lower=lower)[1]
    return fold(conjugated(v) @ on_diagonal(ct) @ swapped(v), lower)


def _tangent(t_ct: Any, t: Any, ct: Any, a: Any, lower: bool) -> Any:
    w, v = EIGH(a, lower=lower)
    u, x, v = along(v, w, v, unfold(t, lower), ct, t_ct)
    return fold(conjugated(u @ x @ conj_transpose(v)), lower)


GRADIENT = gradient("numpy.linalg.eigvalsh_gradient", _gradient, _tangent, _hermitian(True, 3, 3))


def eigvalsh_rules(name: str) -> dict[str, Any]:
    """Return the rules of eigenvalues of Hermitian matrices; `name` is for errors."""

    def vjp(ct: Any, a: Any, out: Any, a_space: Any, lower: bool) -> Any:
        """V is recomputed as a function of A, so that a second derivative includes it."""
        equal = repeated(out)
        check_equal(name, "eigenvalues", ct, equal)
        return unbroadcast((GRADIENT if any(groups(equal)) else _gradient)(ct, a, lower=lower), a_space)

    def jvp(t: Any, a: Any, out: Any, out_space: Any, lower: bool) -> Any:
        v = EIGH(a, lower=lower)[1]
        p = conj_transpose(v) @ unfold(t, lower) @ v
        return unbroadcast(split(p, np.real(np.diagonal(p, 0, -2, -1)), repeated(out)), out_space)

    return {"vjp": {"a": vjp}, "jvp": {"a": jvp}, "pattern": patterns.core}


EIGVALSH = Primitive(
    "numpy.linalg.eigvalsh",
    lambda a, *, lower=True: numpy.linalg.eigvalsh(a, "L" if lower else "U"),
    **eigvalsh_rules("numpy.linalg.eigvalsh"),
    samples=lambda: (_hermitian(True, 3, 3), _hermitian(False, 3, 3), _hermitian(True, 2, 3, 3, dtype=complex)),
    doc="eigenvalues of Hermitian matrices; dA = conj(V) ct V^T; equal ones need equal cotangents",
)


def _reads_lower(UPLO: str) -> bool:
    if UPLO.upper() not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return UPLO.upper() == "L"


def eigh(a: Any, UPLO: str = "L") -> Any:
    """Return eigenvalues and eigenvectors of Hermitian matrices; see `numpy.linalg.eigh`."""
    return EIGH(as_array(a), lower=_reads_lower(UPLO))


def eigvalsh(a: Any, UPLO: str = "L") -> Any:
    """Return the eigenvalues of Hermitian matrices; see `numpy.linalg.eigvalsh`."""
    return EIGVALSH(as_array(a), lower=_reads_lower(UPLO))


def _pivots(v: Any) -> Any:
    """Mark the largest element of each eigenvector, which LAPACK makes real."""
    return numpy.arange(v.shape[-2])[:, None] == np.expand_dims(np.argmax(np.abs(v), axis=-2), -2)


def eig_rules(name: str) -> dict[str, Any]:
    """Return the rules of eigenvalues and vectors of length 1; `name` is for errors."""

    def jvp(t: Any, out: Any, out_space: Any) -> Any:
        """With M = V^-1 dA V: dw = diag(M), and dV = V (F M) + V c, where c keeps each vector of length 1 and its
        largest element real.
        """
        w, v = out
        m, equal = np.linalg.solve(v, t @ v), repeated(w)
        check_same_in_every_basis(name, "eigenvalues", ADVICE, (m,), equal)
        raw = v @ scale(m, gaps(w, equal))
        change = raw - v * np.sum(np.real(conjugated(v) * raw), axis=-2, keepdims=True)
        if out_space.is_complex:
            mark = _pivots(v)
            turn = np.sum(np.where(mark, np.imag(raw / np.where(mark, v, 1.0)), 0.0), axis=-2, keepdims=True)
            change = change - 1j * turn * v
        dw = unbroadcast(np.diagonal(m, 0, -2, -1), out_space.spaces[0])
        return EigResult(dw, unbroadcast(change, out_space.spaces[1]))

    def vjp(ct: Any, out: Any, a_space: Any) -> Any:
        """The transpose of `jvp`: V^-T (diag(ct_w) + F (V^T G)) V^T, where G is ct_v without the part removed by c."""
        w, v = out
        along = np.sum(ct[1] * v, axis=-2, keepdims=True)
        g = ct[1] - np.real(along) * conjugated(v)
        if v.dtype.kind == "c":
            mark = _pivots(v)
            g = g + np.where(mark, -1j * np.imag(along) / np.where(mark, v, 1.0), 0.0)
        equal, turned, on = repeated(w), swapped(v) @ g, on_diagonal(ct[0])
        parts = (on, *used(ct[1], swapped(v) @ ct[1]))
        check_same_in_every_basis(name, "eigenvalues", ADVICE, parts, equal)
        return unbroadcast(np.linalg.solve(swapped(v), (on + scale(turned, gaps(w, equal))) @ swapped(v)), a_space)

    return {"vjp": {"a": vjp}, "jvp": {"a": jvp}, "pattern": patterns.core}


def rotation(generator: numpy.random.Generator) -> Sample:
    """Draw a real matrix with complex eigenvalues."""
    return Sample((numpy.array([[0.0, -2.0, 0.3], [1.0, 0.5, 0.1], [0.2, 0.0, 3.0]]) + generator.random((3, 3)) / 10,))


def separated(*shape: int) -> Any:
    """Return a function that draws matrices with separate real eigenvalues."""
    return lambda generator: Sample((numpy.diag([1.0, 4.0, 8.0]) + generator.random(shape) / 2,))


EIG = Primitive(
    "numpy.linalg.eig",
    lambda a: numpy.linalg.eig(a),
    **eig_rules("numpy.linalg.eig"),
    samples=lambda: (separated(2, 3, 3), rotation, regular(3, 3, dtype=complex)),
    doc="eigenvalues and vectors of length 1, at separate eigenvalues",
)


def _vectors(a: Any, w: Any, equal: Any) -> Any:
    """Return the eigenvectors in the order of the eigenvalues; refuse matrices without a basis of eigenvectors."""
    found, v = EIG(a)
    if any(groups(equal)) and numpy.max(numpy.linalg.cond(plain(v))) > 1e10:
        raise UnsupportedError("numpy.linalg.eigvals of a matrix without a basis of eigenvectors has no derivative")
    order = _order_among(found, w)
    return v if order.size == 0 else np.take_along_axis(v, order[..., None, :], -1)


@decided
def _order_among(found: Any, w: Any) -> Any:
    """Return the places of eigenvalues among those found with vectors; empty if these are in the same order."""
    if _are_close(found, w):
        return numpy.empty(0, int)
    order = numpy.abs(w[..., None] - found[..., None, :]).argmin(-1)  # of large matrices it may be another one
    if not _are_close(numpy.take_along_axis(found, order, -1), w) or (numpy.diff(numpy.sort(order)) != 1).any():
        raise UnsupportedError("the eigenvalues of numpy.linalg.eigvals cannot be matched with those of eig; use eig")
    return order


def _are_close(a: Any, b: Any) -> bool:
    return numpy.allclose(a, b, rtol=1e-6, atol=1e-6 * numpy.abs(b).max(initial=0.0))


def eigvals_rules(name: str) -> dict[str, Any]:
    """Return the rules of eigenvalues; `name` is for errors."""

    def jvp(t: Any, a: Any, out: Any, out_space: Any) -> Any:
        equal = repeated(out)
        v = _vectors(a, out, equal)
        m = np.linalg.solve(v, t @ v)
        check_same_in_every_basis(name, "eigenvalues", ADVICE, (m,), equal)
        return unbroadcast(np.diagonal(m, 0, -2, -1), out_space)

    def vjp(ct: Any, a: Any, out: Any, a_space: Any) -> Any:
        equal = repeated(out)
        check_equal(name, "eigenvalues", ct, equal)
        v = _vectors(a, out, equal)
        return unbroadcast(np.linalg.solve(swapped(v), on_diagonal(ct) @ swapped(v)), a_space)

    return {"vjp": {"a": vjp}, "jvp": {"a": jvp}, "pattern": patterns.core}


EIGVALS = Primitive(
    "numpy.linalg.eigvals",
    lambda a: numpy.linalg.eigvals(a),
    **eigvals_rules("numpy.linalg.eigvals"),
    samples=lambda: (separated(2, 3, 3), rotation, regular(3, 3, dtype=complex)),
    doc="eigenvalues; dA = V^-T ct V^T; equal ones need equal cotangents",
)


def eig(a: Any) -> Any:
    """Return eigenvalues and eigenvectors; see `numpy.linalg.eig`."""
    w, v = EIG(as_array(a))
    return EigResult(_as_part(w), _as_part(v))


def eigvals(a: Any) -> Any:
    """Return the eigenvalues; see `numpy.linalg.eigvals`."""
    return _as_part(EIGVALS(as_array(a)))


def _as_part(x: Any) -> Any:
    """Return float64 values with the strides of real parts, as which numpy returns them."""
    return np.repeat(x, 2, axis=-1)[..., ::2] if dtype_of(x) == numpy.float64 else x


RULES = of_names(vars(), numpy.linalg)
