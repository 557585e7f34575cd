"""SciPy functions that are compositions: SciPy's values, both directions and second order against differences."""

# ruff: noqa: B023  (closures are called at once)

import numpy
import pytest
import scipy.fft as sf
import scipy.integrate
import scipy.interpolate as si
import scipy.linalg as sl
import scipy.ndimage as sn
import scipy.optimize as so
import scipy.signal as ss
import scipy.sparse as sp
import scipy.spatial.distance as sd
import scipy.stats

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import TapeEngineError
from tapeengine_scipy import fft as F
from tapeengine_scipy import integrate, ndimage, signal, sparse, stats
from tapeengine_scipy import interpolate as I
from tapeengine_scipy import linalg as L
from tapeengine_scipy import optimize as O
from tapeengine_scipy.sparse import linalg as sparse_linalg
from tapeengine_scipy.spatial import distance as D

R = numpy.random.default_rng(0)


def flat(result):
    """The floating numbers of a result, or of a tuple of them, in one vector."""
    parts = [
        np.ravel(np.array(p) if np.ndim(p) == 0 else p)
        for p in (result if isinstance(result, tuple) else (result,))
        if p is not None and not isinstance(p, int)
    ]
    parts = [p for p in parts if p.dtype.kind in "fc"]
    return np.concatenate([np.concatenate([np.real(p), np.imag(p)]) if p.dtype.kind == "c" else p for p in parts])


def check(ours, theirs, args, second=True, step=1e-5, rtol=1e-8):
    __tracebackhide__ = True

    def along(f):
        at = {m: f(*(a + m * step * d for a, d in zip(args, directions, strict=True))) for m in (-2, -1, 1, 2)}
        return (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * step)

    value, back = te.vjp(lambda *a: flat(ours(*a)), *args)
    numpy.testing.assert_allclose(value, flat(theirs(*args)), rtol=1e-9, atol=1e-12)
    directions = tuple(R.normal(size=a.shape) for a in args)
    ct = R.normal(size=value.shape)
    slope = sum((g * d).sum() for g, d in zip(back(ct), directions, strict=True))
    assert slope == pytest.approx(along(lambda *a: flat(theirs(*a))) @ ct, rel=rtol, abs=rtol)

    def forward(*a):
        return te.jvp(lambda *a: flat(ours(*a)), a, directions)[1]

    assert forward(*args) @ ct == pytest.approx(slope, rel=1e-11, abs=1e-11)
    if second:
        found = sum((g * d).sum() for g, d in zip(te.vjp(forward, *args)[1](ct), directions, strict=True))
        assert found == pytest.approx(along(forward) @ ct, rel=10 * rtol, abs=10 * rtol)


def test_linalg():

    A = R.normal(size=(3, 3))
    B = R.normal(size=(5, 3))
    C = R.normal(size=(3, 5))
    S = R.normal(size=(2, 4, 3))
    b = R.normal(size=5)
    N = R.normal(size=(3, 4))
    for o in (None, "fro", "nuc", 2, -2, 1, numpy.inf):
        check(lambda a: L.norm(a, o), lambda a: sl.norm(a, o), (B,))
    check(L.pinv, sl.pinv, (B,))
    check(L.pinv, sl.pinv, (S,))
    check(L.lstsq, sl.lstsq, (B, b))
    check(L.lstsq, sl.lstsq, (C, b[:3]))
    check(L.lstsq, sl.lstsq, (B, R.normal(size=(5, 2))))
    check(L.null_space, sl.null_space, (N,))
    for M in (A, B, C, S):
        check(L.lu, sl.lu, (M,))
    check(lambda a: L.lu(a, permute_l=True), lambda a: sl.lu(a, permute_l=True), (A,))
    check(lambda a: L.lu(a, p_indices=True), lambda a: sl.lu(a, p_indices=True), (A,))
    check(L.schur, sl.schur, (A,))
    check(lambda a: L.schur(a @ a.T + a), lambda a: sl.schur(a @ a.T + a), (A,))
    check(L.schur, sl.schur, (R.normal(size=(2, 4, 4)),))
    check(lambda a: L.funm(a, lambda x: np.exp(x) * x), lambda a: sl.funm(a, lambda x: numpy.exp(x) * x), (A,))
    check(lambda a: L.funm(a + a.T, lambda x: np.sin(x)), lambda a: sl.funm(a + a.T, lambda x: numpy.sin(x)), (A,))
    ab = numpy.array([[0, 0.1, 0.2, 0.3], [4.0, 5, 6, 7]])
    check(L.solveh_banded, sl.solveh_banded, (ab, b[:4]))
    check(
        lambda a, b: L.solveh_banded(a[::-1], b, lower=True),
        lambda a, b: sl.solveh_banded(a[::-1], b, lower=True),
        (ab[:, ::-1].copy(), b[:4]),
    )
    ab3 = numpy.array([[0, 0, 0.1, 0.1, 0.2], [0, 0.1, 0.2, 0.3, 0.4], [4.0, 5, 6, 7, 8]])
    check(L.solveh_banded, sl.solveh_banded, (ab3, R.normal(size=(5, 2))))
    check(L.circulant, sl.circulant, (b,))
    check(L.circulant, sl.circulant, (B,))
    check(L.hankel, sl.hankel, (b, b + 0))
    check(L.hankel, sl.hankel, (b,))


def test_signal():
    b, a = ss.butter(3, 0.3)
    x = R.normal(size=40)
    X = R.normal(size=(2, 40))
    sos = ss.butter(4, 0.2, output="sos")
    for m in ("full", "same", "valid"):
        check(
            lambda u, v: signal.correlate(u, v, m),
            lambda u, v: ss.correlate(u, v, m),
            (R.normal(size=(4, 5)), R.normal(size=(3, 2))),
        )
    check(signal.lfilter_zi, ss.lfilter_zi, (b, a))
    check(signal.filtfilt, ss.filtfilt, (b, a, x))
    for pt in ("odd", "even", "constant", None):
        check(lambda x: signal.filtfilt(b, a, x, padtype=pt), lambda x: ss.filtfilt(b, a, x, padtype=pt), (X,))
    check(
        lambda x: signal.filtfilt(b, a, x, axis=0, padlen=5),
        lambda x: ss.filtfilt(b, a, x, axis=0, padlen=5),
        (X.T.copy(),),
    )
    z = ss.sosfilt_zi(sos)
    m = numpy.ones(6)
    m[3] = 0
    one = 1 - m

    def W(s):
        return s * m + one

    check(lambda s, x: signal.sosfilt(W(s), x), lambda s, x: ss.sosfilt(W(s), x), (sos, X))
    check(lambda s, x, z: signal.sosfilt(W(s), x, zi=z), lambda s, x, z: ss.sosfilt(W(s), x, zi=z), (sos, x, z))
    check(lambda s: signal.sosfilt_zi(W(s)), lambda s: ss.sosfilt_zi(W(s)), (sos,))
    check(lambda s, x: signal.sosfiltfilt(W(s), x), lambda s, x: ss.sosfiltfilt(W(s), x), (sos, X))


def test_fft():
    x = R.normal(size=(3, 4, 5))
    for n in ("dctn", "idctn", "dstn", "idstn"):
        for kw in (
            {},
            {"type": 1},
            {"type": 3, "norm": "ortho"},
            {"s": (3, 6)},
            {"axes": (0, 2)},
            {"s": (2, 3), "axes": (0, 1)},
        ):
            check(lambda x: getattr(F, n)(x, **kw), lambda x: getattr(sf, n)(x, **kw), (x,), second=False)


def test_sparse_operators():
    for kind in (sp.csr_array, sp.csc_array, sp.coo_array, sp.csr_matrix, sp.coo_matrix, sp.dia_array, sp.lil_array):
        A = kind(sp.random_array((4, 3), density=0.6, rng=0))
        E = A.toarray()
        x = R.normal(size=3)
        y = R.normal(size=4)
        X = R.normal(size=(3, 2))
        n = kind.__name__
        check(lambda x: A @ x, lambda x: E @ x, (x,))
        check(lambda x: A @ x, lambda x: E @ x, (X,))
        check(lambda x: x @ A, lambda x: x @ E, (y,))
        check(lambda x: A.T @ x, lambda x: E.T @ x, (y,))
        if "array" in n:
            check(lambda x: (A * x).toarray(), lambda x: E * x, (x,))
            check(lambda x: (x * A).toarray(), lambda x: E * x, (x,))
        else:
            check(lambda x: A * x, lambda x: E @ x, (x,))
        check(
            lambda x: (A * x if "array" in n else sparse.coo_array(A) * x).toarray(),
            lambda x: E * x,
            (R.normal(size=(4, 3)),),
        )
        check(lambda x: A + x, lambda x: E + x, (R.normal(size=(4, 3)),))
        check(lambda x: x - A, lambda x: x - E, (R.normal(size=(4, 3)),))
    A = sp.csr_array(sp.random_array((4, 4), density=0.6, rng=0))
    E = A.toarray()
    k = R.normal(size=4)
    check(lambda k: (sparse.diags(k) @ A).toarray(), lambda k: numpy.diag(k) @ E, (k,))
    check(lambda k: (A @ sparse.diags_array(k)).toarray(), lambda k: E @ numpy.diag(k), (k,))
    check(
        lambda k: sparse.diags([k, k[1:]], [0, 1]) @ A @ sparse.diags(k) @ k,
        lambda k: (numpy.diag(k) + numpy.diag(k[1:], 1)) @ E @ numpy.diag(k) @ k,
        (k,),
    )
    check(lambda k: sparse.csr_array(k[0] * A).multiply(k).toarray(), lambda k: E * k[0] * k, (k,))
    check(lambda k: (A / k[:, None]).toarray(), lambda k: E / k[:, None], (k,))

    check(lambda k: (k[0] * A).toarray(), lambda k: E * k[0], (k,))
    check(
        lambda b: sparse_linalg.spsolve(A + sp.eye_array(4) * 3, b),
        lambda b: numpy.linalg.solve(E + 3 * numpy.eye(4), b),
        (k,),
    )


def test_fits_and_linear_programs():
    t = numpy.linspace(0, 3, 8)
    y = 2 * numpy.exp(-0.7 * t) + 0.05 * R.normal(size=8)
    check(
        lambda y: (
            O.least_squares(lambda x: x[0] * np.exp(-x[1] * t) - y, [1.0, 1.0], xtol=1e-15, ftol=1e-15, gtol=1e-15).x
        ),
        lambda y: (
            so.least_squares(
                lambda x: x[0] * numpy.exp(-x[1] * t) - y, [1.0, 1.0], xtol=1e-15, ftol=1e-15, gtol=1e-15, jac="cs"
            ).x
        ),
        (y,),
        step=1e-3,
        rtol=1e-5,
    )
    check(
        lambda y: (
            O.least_squares(
                lambda x: x[0] * np.exp(-x[1] * t) - y,
                [1.0, 0.4],
                bounds=([0, 0], [9, 0.5]),
                xtol=1e-15,
                ftol=1e-15,
                gtol=1e-15,
            ).x
        ),
        lambda y: (
            so.least_squares(
                lambda x: x[0] * numpy.exp(-x[1] * t) - y,
                [1.0, 0.4],
                bounds=([0, 0], [9, 0.5]),
                xtol=1e-15,
                ftol=1e-15,
                gtol=1e-15,
                jac="cs",
            ).x
        ),
        (y,),
        second=False,
        step=1e-3,
        rtol=1e-5,
    )
    check(
        lambda y: (
            O.least_squares(
                lambda x, y: x[0] * np.exp(-x[1] * t) - y, [1.0, 1.0], args=(y,), xtol=1e-15, ftol=1e-15, gtol=1e-15
            ).cost
        ),
        lambda y: (
            so.least_squares(
                lambda x, y: x[0] * numpy.exp(-x[1] * t) - y,
                [1.0, 1.0],
                args=(y,),
                xtol=1e-15,
                ftol=1e-15,
                gtol=1e-15,
                jac="cs",
            ).cost
        ),
        (y,),
        step=1e-3,
        rtol=1e-5,
    )

    def m(xp):
        return lambda x, a, b: a * xp.exp(-b * x)

    kw = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15, "method": "trf", "p0": [1.0, 1.0]}
    check(
        lambda y, s: O.curve_fit(m(np), t, y, [1.0, 1.0], s),
        lambda y, s: so.curve_fit(
            m(numpy),
            t,
            y,
            sigma=s,
            jac=lambda x, a, b: numpy.stack([numpy.exp(-b * x), -a * x * numpy.exp(-b * x)], 1),
            **kw,
        ),
        (y, numpy.linspace(0.1, 0.2, 8)),
        step=1e-3,
        rtol=1e-4,
    )
    check(
        lambda x, y: O.curve_fit(m(np), x, y, absolute_sigma=True),
        lambda x, y: so.curve_fit(
            m(numpy),
            x,
            y,
            absolute_sigma=True,
            jac=lambda x, a, b: numpy.stack([numpy.exp(-b * x), -a * x * numpy.exp(-b * x)], 1),
            **kw,
        ),
        (t, y),
        step=1e-3,
        rtol=1e-4,
    )
    c = numpy.array([-1.0, -2.0])
    Au = numpy.array([[1.0, 1.0], [1.0, 3.0]])
    bu = numpy.array([4.0, 6.0])
    check(
        lambda c, A, b: (lambda r: (r.x, np.array([r.fun])))(O.linprog(c, A, b)),
        lambda c, A, b: (lambda r: (r.x, numpy.array([r.fun])))(so.linprog(c, A, b)),
        (c, Au, bu),
    )
    check(
        lambda c, A, b: (lambda r: (r.x, np.array([r.fun])))(
            O.linprog(c, A_eq=A[:1], b_eq=b[:1], bounds=[(0, None), (None, 3)])
        ),
        lambda c, A, b: (lambda r: (r.x, numpy.array([r.fun])))(
            so.linprog(c, A_eq=A[:1], b_eq=b[:1], bounds=[(0, None), (None, 3)])
        ),
        (c, Au, bu),
    )


def test_distances():
    X = R.normal(size=(4, 3))
    Y = R.normal(size=(5, 3))
    for k in (
        "euclidean",
        "sqeuclidean",
        "cityblock",
        "chebyshev",
        "minkowski",
        "cosine",
        "correlation",
        "braycurtis",
        "canberra",
    ):
        check(lambda a, b: D.cdist(a, b, k), lambda a, b: sd.cdist(a, b, k), (X, Y))
        check(lambda a: D.pdist(a, k), lambda a: sd.pdist(a, k), (X,), second=False)
    for k in ("seuclidean", "SEuclidean", "mahalanobis"):  # with scales of the points
        check(lambda a, b: D.cdist(a, b, k), lambda a, b: sd.cdist(a, b, k), (X, Y))
        check(lambda a: D.pdist(a, k), lambda a: sd.pdist(a, k), (numpy.concatenate([X, Y[::-1] ** 2]),))
    for call in (D.pdist, lambda a, k: D.cdist(a, a[:0], k)):
        with pytest.raises(ValueError, match="too small"):
            te.grad(lambda a, call=call: np.sum(call(a, "mahalanobis")))(X[:3, :3])
    check(lambda a, b: D.cdist(a, b, "minkowski", p=3), lambda a, b: sd.cdist(a, b, "minkowski", p=3), (X, Y))
    V = numpy.array([1.0, 2, 3])
    check(lambda a, b: D.cdist(a, b, "seuclidean", V=V), lambda a, b: sd.cdist(a, b, "seuclidean", V=V), (X, Y))
    check(
        lambda a, b: D.cdist(a, b, "mahalanobis", VI=numpy.diag(V)),
        lambda a, b: sd.cdist(a, b, "mahalanobis", VI=numpy.diag(V)),
        (X, Y),
    )
    check(
        lambda a, b: D.cdist(a, b, lambda u, v: np.sum((u - v) ** 4)),
        lambda a, b: sd.cdist(a, b, lambda u, v: numpy.sum((u - v) ** 4)),
        (X, Y),
    )
    check(lambda a: D.squareform(D.pdist(a)), lambda a: sd.squareform(sd.pdist(a)), (X,))
    check(
        lambda a: D.squareform(a + a.T - np.diag(np.diag(a + a.T))),
        lambda a: sd.squareform(a + a.T - numpy.diag(numpy.diag(a + a.T))),
        (X[:3],),
    )


def test_ndimage():
    X = R.normal(size=(6, 7))
    W = R.normal(size=(3, 2))
    w = R.normal(size=4)
    for m in ("reflect", "mirror", "nearest", "wrap", "constant", "grid-wrap"):
        check(
            lambda x, w: ndimage.correlate(x, w, mode=m, cval=0.3),
            lambda x, w: sn.correlate(x, w, mode=m, cval=0.3),
            (X, W),
            second=m == "wrap",
        )
        check(
            lambda x, w: ndimage.convolve(x, w, mode=m, origin=(1, 0)),
            lambda x, w: sn.convolve(x, w, mode=m, origin=(1, 0)),
            (X, W),
            second=False,
        )
        check(
            lambda x, w: ndimage.correlate1d(x, w, axis=0, mode=m),
            lambda x, w: sn.correlate1d(x, w, axis=0, mode=m),
            (X, w),
            second=False,
        )
        check(
            lambda x, w: ndimage.convolve1d(x, w, mode=m, origin=1),
            lambda x, w: sn.convolve1d(x, w, mode=m, origin=1),
            (X, w),
            second=False,
        )
        for o in (0, 1, 2, 3):
            check(
                lambda x: ndimage.gaussian_filter1d(x, 1.3, order=o, mode=m),
                lambda x: sn.gaussian_filter1d(x, 1.3, order=o, mode=m),
                (X,),
                second=False,
            )
        check(
            lambda x: ndimage.uniform_filter(x, (3, 4), mode=m),
            lambda x: sn.uniform_filter(x, (3, 4), mode=m),
            (X,),
            second=False,
        )
        for f in ("maximum_filter", "minimum_filter", "median_filter"):
            check(
                lambda x: getattr(ndimage, f)(x, size=3, mode=m),
                lambda x: getattr(sn, f)(x, size=3, mode=m),
                (X,),
                second=False,
            )
    check(
        lambda x, s: ndimage.gaussian_filter(x, s), lambda x, s: sn.gaussian_filter(x, s), (X, numpy.array([0.9, 1.7]))
    )
    for f in ("laplace", "sobel", "prewitt"):
        check(getattr(ndimage, f), getattr(sn, f), (X,))
    for f in ("gaussian_laplace", "gaussian_gradient_magnitude"):
        check(lambda x: getattr(ndimage, f)(x, 1.1), lambda x: getattr(sn, f)(x, 1.1), (X,))
    C = numpy.stack([R.uniform(-3, 9, size=30), R.uniform(-3, 9, size=30)])
    for o in (0, 1, 3):
        for m in ("constant", "grid-constant", "nearest", "reflect", "mirror", "grid-wrap"):
            if o == 3 and m in ("nearest", "grid-constant"):
                continue
            check(
                lambda x, c: ndimage.map_coordinates(x, c, order=o, mode=m, cval=0.3),
                lambda x, c: sn.map_coordinates(x, c, order=o, mode=m, cval=0.3),
                (X, C),
                second=o == 3,
            )
    A = numpy.array([[0.9371, 0.2133], [-0.1072, 1.0931]])
    b = numpy.array([0.3119, 0.7233])
    for o in (1, 3):
        check(
            lambda x, a, b: ndimage.affine_transform(x, a, b, order=o, output_shape=(5, 4)),
            lambda x, a, b: sn.affine_transform(x, a, b, order=o, output_shape=(5, 4)),
            (X, A, b),
        )
        check(lambda x, b: ndimage.shift(x, b, order=o), lambda x, b: sn.shift(x, b, order=o), (X, b))
    check(
        lambda x, b: ndimage.affine_transform(x, b, 1.0, mode="mirror"),
        lambda x, b: sn.affine_transform(x, b, 1.0, mode="mirror"),
        (X, b),
    )
    check(ndimage.spline_filter, sn.spline_filter, (X,))


def test_interpolate():
    x = numpy.array([0, 0.7, 1.5, 2.2, 3.1, 4.0])
    y = numpy.array([0.1, 1.0, 0.8, 0.9, 2.5, 2.2])
    Y = R.normal(size=(6, 2))
    q = numpy.array([-0.2, 0.3, 1.13, 1.9, 2.6, 3.7, 4.3])
    for bc in ("not-a-knot", "natural", "clamped"):
        check(
            lambda x, y, q: I.CubicSpline(x, y, bc_type=bc)(q),
            lambda x, y, q: si.CubicSpline(x, y, bc_type=bc)(q),
            (x, y, q),
            second=False,
        )
        for nu in (1, 2, -1, -2):
            check(
                lambda x, y, q: (
                    I.CubicSpline(x, y, bc_type=bc)(q, nu)
                    if nu > 0
                    else I.CubicSpline(x, y, bc_type=bc).antiderivative(-nu)(q)
                ),
                lambda x, y, q: (
                    si.CubicSpline(x, y, bc_type=bc)(q, nu)
                    if nu > 0
                    else si.CubicSpline(x, y, bc_type=bc).antiderivative(-nu)(q)
                ),
                (x, y, q),
                second=nu == -1,
            )
    check(
        lambda x, y, q: np.array([I.CubicSpline(x, y).integrate(q[0], q[4])]),
        lambda x, y, q: numpy.array([si.CubicSpline(x, y).integrate(q[0], q[4])]),
        (x, y, q),
    )
    check(lambda x, y: I.CubicSpline(x, y - 0.85).roots(), lambda x, y: si.CubicSpline(x, y - 0.85).roots(), (x, y))
    check(lambda x, y: I.CubicSpline(x, y).solve(0.95), lambda x, y: si.CubicSpline(x, y).solve(0.95), (x, y))
    check(lambda x, y: I.CubicSpline(x, y).c, lambda x, y: si.CubicSpline(x, y).c, (x, y))
    check(
        lambda Y: I.CubicSpline(x, Y.T, axis=1)(q.reshape(7, 1)),
        lambda Y: si.CubicSpline(x, Y.T, axis=1)(q.reshape(7, 1)),
        (Y,),
    )
    check(lambda x, y, q: I.PchipInterpolator(x, y)(q), lambda x, y, q: si.PchipInterpolator(x, y)(q), (x, y, q))
    check(lambda x, y: I.PchipInterpolator(x[:2], y[:2])(q), lambda x, y: si.PchipInterpolator(x[:2], y[:2])(q), (x, y))
    check(lambda x, y, q: I.PchipInterpolator(x, y)(q, 1), lambda x, y, q: si.PchipInterpolator(x, y)(q, 1), (x, Y, q))
    check(
        lambda x, y: np.array([I.PchipInterpolator(x, y).integrate(0.2, 3.3)]),
        lambda x, y: numpy.array([si.PchipInterpolator(x, y).integrate(0.2, 3.3)]),
        (x, y),
    )
    check(
        lambda x, y, d: I.CubicHermiteSpline(x, y, d)(q),
        lambda x, y, d: si.CubicHermiteSpline(x, y, d)(q),
        (x, y, y[::-1].copy()),
    )
    t = numpy.array([0, 0, 0, 0, 1, 2, 3, 3, 3, 3.0])
    c = R.normal(size=6)
    check(lambda c, q: I.BSpline(t, c, 3)(q), lambda c, q: si.BSpline(t, c, 3)(q), (c, q))
    knots = numpy.array([-0.1, 0, 0.3, 0.5, 1, 2, 3, 3.2, 3.3, 3.7])
    for use in (lambda s, q: s(q), lambda s, q: s.derivative(2)(q), lambda s, q: s.antiderivative()(q, 1, False)):
        check(
            lambda t, c, q: use(I.BSpline(t, c, 3), q), lambda t, c, q: use(si.BSpline(t, c, 3), q), (knots, c, q[2:5])
        )
    check(lambda c, q: I.BSpline(t, c, 3)(q, 1), lambda c, q: si.BSpline(t, c, 3)(q, 1), (c, q))
    check(lambda c, q: I.BSpline(t, c, 3).derivative()(q), lambda c, q: si.BSpline(t, c, 3).derivative()(q), (c, q))
    check(
        lambda c, q: I.BSpline(t, c, 3).antiderivative()(q),
        lambda c, q: si.BSpline(t, c, 3).antiderivative()(q),
        (c, q),
    )
    check(
        lambda c, q: np.array(
            [I.BSpline(t, c, 3).integrate(q[1], q[3]), I.BSpline(t, c, 3, extrapolate=False).integrate(-1, 2.0)]
        ),
        lambda c, q: numpy.array(
            [si.BSpline(t, c, 3).integrate(q[1], q[3]), si.BSpline(t, c, 3, extrapolate=False).integrate(-1, 2.0)]
        ),
        (c, q),
    )
    check(
        lambda c: I.BSpline(t, c, 3, extrapolate=False)(q[1:4]),
        lambda c: si.BSpline(t, c, 3, extrapolate=False)(q[1:4]),
        (c,),
    )
    check(
        lambda c, q: I.BSpline(t, c, 3, extrapolate="periodic")(q),
        lambda c, q: si.BSpline(t, c, 3, extrapolate="periodic")(q),
        (c, q),
    )
    check(lambda c: I.BSpline(t, c, 3, axis=1)(q), lambda c: si.BSpline(t, c, 3, axis=1)(q), (R.normal(size=(2, 6)),))
    for k in (1, 2, 3, 5):
        check(
            lambda y, q: I.make_interp_spline(x, y, k)(q),
            lambda y, q: si.make_interp_spline(x, y, k)(q),
            (y, q),
            second=k == 3,
        )
    for bc in ("natural", "clamped", ([(1, 0.3)], [(2, 0.1)]), (None, [(1, 0.3), (2, 0.1)])):
        check(
            lambda y: I.make_interp_spline(x, y, 3, bc_type=bc)(q),
            lambda y: si.make_interp_spline(x, y, 3, bc_type=bc)(q),
            (y,),
            second=False,
        )
    check(
        lambda y: I.make_interp_spline(x, y, axis=1)(q), lambda y: si.make_interp_spline(x, y, axis=1)(q), (Y.T.copy(),)
    )
    gx, gy = numpy.array([0, 1.0, 2.5, 3]), numpy.array([1.0, 0.5, 0])
    V = R.normal(size=(4, 3))
    P = numpy.stack([R.uniform(0, 3, 10), R.uniform(0, 1, 10)], 1)
    for m in ("linear", "nearest"):
        check(
            lambda V, P: I.RegularGridInterpolator((gx, gy), V, m)(P),
            lambda V, P: si.RegularGridInterpolator((gx, gy), V, m)(P),
            (V, P),
        )
    check(
        lambda gx, V: I.RegularGridInterpolator((gx, gy), V)(P),
        lambda gx, V: si.RegularGridInterpolator((gx, gy), V)(P),
        (gx, V),
    )
    check(
        lambda V, P: I.RegularGridInterpolator((gx, gy), V, bounds_error=False, fill_value=0.5)(P * 2),
        lambda V, P: si.RegularGridInterpolator((gx, gy), V, bounds_error=False, fill_value=0.5)(P * 2),
        (V, P),
    )
    check(
        lambda V, P: I.RegularGridInterpolator((gx, gy), V, bounds_error=False, fill_value=None)(P * 2),
        lambda V, P: si.RegularGridInterpolator((gx, gy), V, bounds_error=False, fill_value=None)(P * 2),
        (V, P),
    )
    check(
        lambda V, P: I.RegularGridInterpolator((gx, gy), V)((P[:, 0], 0.4)),
        lambda V, P: si.RegularGridInterpolator((gx, gy), V)((P[:, 0], 0.4)),
        (V, P),
    )
    check(
        lambda V, P: I.RegularGridInterpolator((gx, gy), V)(P),
        lambda V, P: si.RegularGridInterpolator((gx, gy), V)(P),
        (R.normal(size=(4, 3, 2)), P),
    )
    check(lambda V, P: I.interpn((gx, gy), V, P), lambda V, P: si.interpn((gx, gy), V, P), (V, P))


def test_events_and_dense_output():
    T = {"rtol": 1e-11, "atol": 1e-12, "method": "DOP853"}

    def ball(solve, xp, p, **kw):
        def hit(t, y):
            return y[0] - p[2]

        hit.terminal = True
        hit.direction = -1
        return solve(
            lambda t, y: (
                xp.stack([y[1], -p[0] + 0 * y[0] - 0.1 * y[1]]) if xp is np else numpy.array([y[1], -p[0] - 0.1 * y[1]])
            ),
            (0, 10.0),
            xp.stack([p[1], p[1] * 0 + 5.0]) if xp is np else numpy.array([p[1], 5.0]),
            events=[hit, lambda t, y: y[1]],
            **kw,
            **T,
        )

    p = numpy.array([9.81, 1.0, 0.2])
    check(
        lambda p: (lambda r: (r.t_events[0], r.t_events[1], r.y_events[0]))(ball(integrate.solve_ivp, np, p)),
        lambda p: (lambda r: (r.t_events[0], r.t_events[1], r.y_events[0]))(ball(scipy.integrate.solve_ivp, numpy, p)),
        (p,),
        step=1e-3,
        rtol=1e-6,
    )
    check(
        lambda p: (lambda r: (r.t[-1:], r.y[:, -1]))(ball(integrate.solve_ivp, np, p)),
        lambda p: (lambda r: (r.t[-1:], r.y[:, -1]))(ball(scipy.integrate.solve_ivp, numpy, p)),
        (p,),
        step=1e-3,
        rtol=1e-6,
    )
    check(
        lambda p: ball(integrate.solve_ivp, np, p, t_eval=numpy.array([0.1, 0.5, 0.9, 3.0])).y,
        lambda p: ball(scipy.integrate.solve_ivp, numpy, p, t_eval=[0.1, 0.5, 0.9, 3.0]).y,
        (p,),
        second=False,
    )
    check(
        lambda p: (lambda r: (r.sol(0.3), r.sol(np.stack([p[2], 0.7, 0.1]))))(
            ball(integrate.solve_ivp, np, p, dense_output=True)
        ),
        lambda p: (lambda r: (r.sol(0.3), r.sol(numpy.stack([p[2], 0.7, 0.1]))))(
            ball(scipy.integrate.solve_ivp, numpy, p, dense_output=True)
        ),
        (p,),
        step=1e-3,
        rtol=1e-6,
    )


def test_krylov():
    A = sp.random_array((6, 6), density=0.4, rng=0).tocsr() + 4 * sp.eye_array(6)
    E = A.toarray()
    b = R.normal(size=6)
    co = A.tocoo()
    for m in ("gmres", "bicgstab"):
        check(lambda b: getattr(sparse_linalg, m)(A, b, rtol=1e-13)[0], lambda b: numpy.linalg.solve(E, b), (b,))
        check(
            lambda d, b: getattr(sparse_linalg, m)(
                sparse.coo_array((d, (co.row, co.col)), shape=(6, 6)), b, rtol=1e-13
            )[0],
            lambda d, b: numpy.linalg.solve(sp.coo_array((d, (co.row, co.col)), shape=(6, 6)).toarray(), b),
            (co.data, b),
        )
        check(
            lambda b: getattr(sparse_linalg, m)(E, b, rtol=1e-13, M=numpy.diag(1 / numpy.diag(E)))[0],
            lambda b: numpy.linalg.solve(E, b),
            (b,),
        )


def test_what_is_refused():
    A, x = sp.csr_array(numpy.eye(3)), numpy.ones(3)
    for program in (
        lambda x: A.multiply(x).sum(),
        lambda x: np.sum(L.null_space(x[None])),
        lambda x: np.sum(L.schur(np.diag(x), output="complex")[0]),
        lambda x: np.sum(L.pinv(np.diag(x * numpy.array([1.0, 1.0, 1e-3])), rtol=0.1)),
        lambda x: np.sum(signal.filtfilt([1.0], [1.0], np.concatenate([x, x, x]), method="gust")),
        lambda x: O.least_squares(lambda p: p - x, x, loss="soft_l1").x.sum(),
        lambda x: O.linprog(x, A_ub=[[1.0, 1.0, 1.0]], b_ub=[0.0]).x.sum(),
        lambda x: np.sum(ndimage.map_coordinates(x, x[None], order=2)),
        lambda x: np.sum(I.RegularGridInterpolator((numpy.arange(3.0),), x, method="slinear")(x[:, None])),
        lambda x: np.sum(D.cdist(x[None], x[None], "jensenshannon")),
    ):
        with pytest.raises(TapeEngineError):
            te.grad(program)(x)


def test_survival_functions():
    x, loc, scale = numpy.array([-3.0, 0.2, 1.7, 9.0]), numpy.array([0.1]), numpy.array([1.3])
    for name in ("norm", "laplace", "cauchy"):
        for method in ("sf", "logsf"):
            ours, theirs = (getattr(getattr(module, name), method) for module in (stats, scipy.stats))
            check(ours, theirs, (x, loc, scale))
    for method in ("sf", "logsf"):
        ours, theirs = (getattr(module.t, method) for module in (stats, scipy.stats))
        check(lambda x, loc: ours(x, 4.0, loc), lambda x, loc: theirs(x, 4.0, loc), (x, loc))
    k = numpy.array([0, 1, 4, -1, 2.5])
    check(lambda mu: stats.poisson.cdf(k, mu), lambda mu: scipy.stats.poisson.cdf(k, mu), (numpy.array([2.3]),))


@pytest.mark.parametrize("metric", sorted(D.METRICS))
def test_distances_of_equal_points(metric):
    """The derivatives of a length of 0 are 0, in both directions and to second order."""
    x = numpy.array([[0.3, 1.2, 0.7], [1.1, 0.4, 0.9]])
    options = {"seuclidean": {"V": numpy.array([1.0, 2.0, 3.0])}, "mahalanobis": {"VI": numpy.diag([1.0, 2.0, 3.0])}}

    def f(y):
        return np.sum(D.cdist(x, y, metric, **options.get(metric, {})) * numpy.array([[1.0, 2.0], [3.0, 4.0]]))

    t = numpy.array([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4]])
    slope = te.grad(f)(x)
    assert numpy.isfinite(slope).all()
    assert te.jvp(f, (x,), (t,))[1] == pytest.approx(np.sum(slope * t), rel=1e-12)
    assert numpy.isfinite(te.hvp(f, (x,), (t,))).all()
