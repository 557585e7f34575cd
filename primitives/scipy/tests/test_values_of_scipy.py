"""Values of traced calls are SciPy's: container, class, dtype and shape always, and the bits but for what is listed."""

from importlib import import_module
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from cases import calls
from test_options import FUNCTIONS, attempt, identify

import tapeengine as te
import tapeengine.numpy
from tapeengine.errors import TapeEngineError

#: Functions that compute by other operations than SciPy's, or in another order; `docs/scipy.md` lists them.
OTHER_BITS = set(
    "linalg.solve linalg.solve_triangular linalg.cholesky linalg.cho_solve linalg.lu_solve linalg.eigh linalg.eigvalsh "
    "linalg.polar linalg.solve_sylvester linalg.solve_continuous_lyapunov linalg.solve_discrete_lyapunov "
    "linalg.solve_banded linalg.pinv linalg.lstsq linalg.null_space linalg.lu linalg.funm linalg.norm "
    "linalg.solveh_banded fft.fftn fft.fft2 fft.ifftn fft.ifft2 fft.rfftn fft.rfft2 fft.irfftn fft.irfft2 fft.hfftn "
    "fft.hfft2 fft.ihfftn fft.ihfft2 fft.dct fft.idct fft.dst fft.idst fft.dctn fft.idctn fft.dstn fft.idstn "
    "linalg.lu_factor signal.convolve signal.correlate signal.lfilter signal.filtfilt signal.sosfilt "
    "signal.sosfilt_zi signal.sosfiltfilt integrate.simpson interpolate.BSpline interpolate.CubicHermiteSpline "
    "interpolate.CubicSpline interpolate.PchipInterpolator interpolate.RegularGridInterpolator interpolate.interp1d "
    "interpolate.barycentric_interpolate interpolate.interpn interpolate.make_interp_spline "
    "interpolate.pchip_interpolate ndimage.affine_transform ndimage.convolve1d ndimage.correlate1d "
    "ndimage.gaussian_filter ndimage.gaussian_filter1d ndimage.gaussian_gradient_magnitude ndimage.gaussian_laplace "
    "ndimage.laplace ndimage.map_coordinates ndimage.prewitt ndimage.shift ndimage.sobel ndimage.spline_filter "
    "ndimage.uniform_filter ndimage.uniform_filter1d spatial.distance.cdist "
    "spatial.distance.pdist stats.kurtosis stats.skew stats.zscore special.logsumexp".split()
)


def difference(found: Any, wanted: Any, ulps: float = 0) -> str:
    """How a result is not SciPy's; empty if it is."""
    if type(found) is not type(wanted):
        return f"{type(found).__name__} for {type(wanted).__name__}"
    if isinstance(wanted, (tuple, list)):
        parts = (difference(x, y, ulps) for x, y in zip(found, wanted, strict=True))
        return next(filter(None, parts), "")
    a, b = np.asarray(found), np.asarray(wanted)
    if a.dtype != b.dtype or a.shape != b.shape:
        return f"{a.dtype}{a.shape} for {b.dtype}{b.shape}"
    if b.dtype.kind not in "fc" or np.array_equal(a, b, equal_nan=True):
        return "" if b.dtype.kind in "fcOUS" or np.array_equal(a, b) else f"{a} for {b}"
    size = np.abs(b).max(initial=0.0, where=np.isfinite(b))
    close = np.allclose(a, b, rtol=0, atol=ulps * np.finfo(b.dtype).eps * size, equal_nan=True)
    return "" if close else f"bits {np.abs(a - b).max() / (size or 1):.0e}"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_traced_call_has_scipys_value(function: str) -> None:
    wrong, compared = [], 0
    for name, (module, member, case, arguments, options) in calls():
        if name != function:
            continue
        ours, theirs = (getattr(import_module(f"{p}.{module}"), member) for p in ("tapeengine_scipy", "scipy"))
        ours, theirs = (case.wrap(f) if case.wrap else f for f in (ours, theirs))
        wanted, error = attempt(lambda *a, f=theirs, o=options: f(*a, **o), *arguments)
        traced, refusal = attempt(te.vjp, lambda *a, f=ours, o=options: f(*a, **o), *arguments)
        if error is None and refusal is None:
            compared += 1
            told = difference(traced[0], wanted, 200 if name.partition(" ")[0] in OTHER_BITS else 0)
            wrong += [f"{identify((module, member, case, arguments, options))}: {told}"] if told else []
    assert wrong == []
    assert compared


X, V, W = 1.3, np.array([0.5, 1.2, 2.0]), np.array([0.3, 1.2, 0.8, 2.5, 1.9])
#: Programs with a number `x`, three numbers `v` and five `w`, and SciPy or this package as `s`. The number behind "|"
#: says by how many units in the last place they may differ.
PROGRAMS = """
s.integrate.quad(lambda t: np.exp(-x * t * t), 0, 1)
s.integrate.quad(lambda t: np.exp(-v[0] * t * t), 0, 1)
s.integrate.quad(lambda t: np.exp(-x * t * t), -np.inf, np.inf)
s.integrate.quad(lambda t: t * t, 0, x)[0]
s.integrate.solve_ivp(lambda t, y: -x * y, (0, 1), [1.0]).y
s.integrate.odeint(lambda y, t: -x * y, [1.0], np.linspace(0, 1, 4))
*(getattr(s.optimize, n)(lambda t: t * t - x, 0.0, 3.0) for n in ("brentq", "brenth", "bisect", "ridder", "toms748"))
*(s.optimize.root_scalar(lambda t: t * t - x, bracket=(0.0, 3.0), method=m).root for m in ("bisect", "toms748"))
s.optimize.root_scalar(lambda t: t * t - x, x0=1.0, x1=2.0, method="secant").root
s.optimize.root_scalar(lambda t: t * t - x, x0=1.0, fprime=lambda t: 2 * t, method="newton").root
s.optimize.newton(lambda t: t * t - x, 1.0)
s.optimize.newton(lambda t: t * t - v, np.ones(3))
s.optimize.root(lambda t: t * t - v, np.ones(3)).x
s.optimize.fsolve(lambda t: t * t - v, np.ones(3))
s.optimize.minimize_scalar(lambda t: (t - x) ** 2 + x).x
s.optimize.minimize_scalar(lambda t: (t - x) ** 2 + x, method="bounded", bounds=(0, 3)).x
s.optimize.minimize_scalar(lambda t: (t - x) ** 2 + x).fun
s.optimize.minimize_scalar(lambda t: (t - v[0]) ** 2 + v[0], method="bounded", bounds=(0, 3)).fun
s.optimize.linprog(v, A_ub=-np.eye(3), b_ub=-np.ones(3)).fun
s.optimize.linprog(v, A_ub=-np.eye(3), b_ub=-np.ones(3)).x
s.interpolate.CubicSpline(np.arange(5.0), w)(1.3) | 8
s.interpolate.CubicSpline(np.arange(5.0), w).integrate(0, 1.5) | 8
s.interpolate.CubicSpline(np.arange(3.0), v).integrate(0, np.ones(3)[0]) | 8
s.interpolate.PchipInterpolator(np.arange(5.0), w)(np.array([1.3, 2.2])) | 8
s.interpolate.make_interp_spline([0.0, 1.0, 2.0, 3.0, 4.0], w)(1.3) | 8
s.interpolate.CubicHermiteSpline(np.arange(3.0), v, v)(1.3)
s.interpolate.interp1d(np.arange(5.0), w)(1.3)
*(s.interpolate.KroghInterpolator(T, w)(P) for T in NODES)
*(s.interpolate.BarycentricInterpolator(T, w, random_state=1)(P) for T in NODES[:1]) | 256
*(s.interpolate.interp1d(T, V, *o)(q) for T in TIMES for V in HALF(v) for o in KINDS for q in (P, P[0]))
*(s.interpolate.RegularGridInterpolator((T,), V, *o)(q) for T in TIMES for V in HALF(v) for o in GRID for q in QUERY)
*(s.interpolate.RegularGridInterpolator(([1.0], TIMES[0]), v[None], *o)([[1.0, 1.2], [3.0, 0.1]]) for o in GRID)
*(s.interpolate.interpn((TIMES[0], [1.0]), v[:, None], np.array([[1.2, 1.0]]), o[0]) for o in GRID)
s.interpolate.RegularGridInterpolator((np.arange(3.0),), v)([1.3])
s.interpolate.RegularGridInterpolator((np.arange(3.0),), v)([1.3, 0.2])
s.interpolate.RegularGridInterpolator((np.arange(3.0),), v)([[1.3]])
s.interpolate.RegularGridInterpolator((np.arange(3.0), np.arange(3.0)), A * x)([1.3, 0.4])
s.interpolate.RegularGridInterpolator((np.arange(3.0), np.arange(3.0)), A)([x, 0.4])
*(s.special.logsumexp(v + 1j * w[:3] * x, b=c) for c in (w[2:], 1j * w[2:], np.array([1.0, -2.0, 0.0]))) | 8
*(s.special.logsumexp(v[:0], b=c) for c in (1.0, w[:0]))
*(s.stats.multinomial.pmf([3, 3, 0], 6, np.array([0.67, p, 0.0]) * (x / x)) for p in (0.34, 0.33, 0.3)) | 8
s.linalg.norm(v)
*(s.linalg.norm(w * r) for r in (1e200, 1e-200, 1e-320, 5e307)) | 2
*(s.linalg.norm((w * r).astype(np.float32)) for r in (1e20, 1e-30, 1.0)) | 2
s.linalg.norm(w * (1e200 + 1e200j)) | 2
s.linalg.norm(A * x, 1)
s.linalg.norm((A * x).T, np.inf)
s.linalg.norm(A * x)
s.linalg.lstsq(np.ones((3, 1)), v) | 8
s.linalg.lstsq(np.ones((3, 1)), (A * x)[:, :2]) | 8
s.linalg.lstsq((A * x)[:2], v[:2] * 1j) | 8
*(f((A * x)[:0, :0].astype(t)) for f in (s.linalg.eig, s.linalg.eigvals) for t in "fdFD")
s.linalg.svd(np.array([A, A]) * x)
s.linalg.qr(np.array([A, A]) * x)
s.linalg.eigh(np.array([A, A]) * x)
s.linalg.lu(np.array([A, A]) * x) | 8
s.linalg.lu_factor(np.array([A, A]) * x)
*(s.linalg.lu_factor((A * x)[:n, :m]) for n, m in ((3, 2), (2, 3), (1, 3), (3, 1))) | 8
*(s.linalg.lu(v[:1, None] * c) for c in (1.0, 1j))
*(s.linalg.lu((A * x)[:n, :m], p_indices=True) for n, m in ((3, 2), (2, 3), (1, 1))) | 8
s.linalg.solve_continuous_are(np.array([A, -A]) * x, A, A, A) | 8
s.linalg.pinv(A * x, return_rank=True) | 8
*(s.linalg.toeplitz(v[:n], w[:m]) for n, m in ((0, 0), (0, 2), (2, 0)))
s.linalg.schur((A * x)[:0, :0], sort="lhp")
s.linalg.cho_factor(np.array([A, A]) * x) | 8
s.linalg.funm(A * x, np.exp, disp=False) | 100
s.fft.dct(v.astype(np.float32), norm="ortho") | 8
*(getattr(s.ndimage, n)(A * x) for n in ("sobel", "prewitt", "laplace")) | 8
s.ndimage.gaussian_filter(A * x, 1.0) | 8
*(s.signal.lfilter(b[:2] + x, b, t * b[0], zi=b[:2]) for t in TIMES[:2] for b in HALF(v)) | 64
*(s.signal.lfilter_zi(b, b[::-1]) for b in HALF(v)) | 8
s.ndimage.map_coordinates(A * x, [[1.3], [0.4]], order=1) | 8
*(s.spatial.distance.cdist(A * x, A + 1.0, m) for m in ("euclidean", "sqeuclidean", "cityblock", "chebyshev"))
s.special.eval_legendre(2, v, sig="ld->d"), s.special.jv(1, x, sig="dd->d")
s.special.gamma(v, signature=("f", "f"), casting="unsafe"), s.special.gamma(v, sig="D->D") | 8
*(getattr(s.special, n)(v) for n in ("logsumexp", "softmax", "log_softmax"))
*(getattr(getattr(s.stats, d), m)(x) for d in ("norm", "laplace", "cauchy", "expon") for m in METHODS) | 8
*(getattr(getattr(s.stats, d), m)(x, 1.7) for d in ("t", "gamma", "lognorm", "weibull_min") for m in METHODS) | 8
*(getattr(s.stats.laplace, m)(v) for m in ("sf", "logsf", "cdf")) | 8
*(getattr(s.stats.poisson, m)(2, x) for m in ("pmf", "cdf", "logpmf")) | 8
s.stats.multivariate_normal.logpdf(v, np.zeros(3), A) | 30
*(s.stats.binom.pmf(k, 5, x / 3) for k in (0, 2, 7)) | 16
"""
NODES = (np.array([0.0, 0.1, 0.7, 2.0, 2.5]), 10 ** np.arange(5.0), np.array([0.0, 0.0, 0.0, 2.0, 2.0]))
NAMES = ("linear", "slinear", "nearest", "zero", "previous", "next", "nearest-up")
KINDS = [(name, -1, True, False, fill) for name in NAMES for fill in (0.0, "extrapolate")]
GRID = [(name, False, fill) for name in ("linear", "nearest") for fill in (0.0, None)]
TIMES, P = [np.arange(3, dtype=kind) for kind in (float, np.float32, int)], np.array([0.3, 1.9, 0.1, -1.0, 1.0])
HALF = lambda v: (v, v.astype(np.float32))  # noqa: E731
QUERY = [P[:, None], P[:, None].astype(np.float32)]
METHODS = ("pdf", "cdf", "logcdf", "logpdf")
A = np.array([[4.0, 0.5, 0.2], [0.5, 5.0, 0.1], [0.2, 0.1, 3.0]])
SCIPY = {name: import_module(f"scipy.{name}") for name in
         "integrate optimize interpolate linalg fft signal ndimage spatial special stats".split()}  # fmt: skip
OURS = {name: import_module(f"tapeengine_scipy.{name}") for name in SCIPY}


@pytest.mark.parametrize("line", PROGRAMS.strip().splitlines())
def test_a_traced_program_has_scipys_value(line: str) -> None:
    text, _, ulps = line.partition(" | ")

    def program(modules: dict[str, Any], x: Any, v: Any, w: Any, numpy: Any) -> list[Any]:
        names = {"s": SimpleNamespace(**modules), "x": x, "v": v, "w": w, "A": A, "np": numpy, "METHODS": METHODS}
        names |= {
            "NODES": NODES,
            "KINDS": KINDS,
            "GRID": GRID,
            "TIMES": TIMES,
            "P": P,
            "QUERY": QUERY,
            "HALF": HALF,
        }
        return list(eval(f"({text},)", names))

    with np.errstate(all="ignore"):
        wanted = program(SCIPY, X, V, W, np)
        try:
            found = te.vjp(lambda x, v, w: program(OURS, x, v, w, tapeengine.numpy), X, V, W)[0]
        except TapeEngineError as refusal:
            pytest.fail(str(refusal))
    assert difference(found, wanted, float(ulps or 0)) == ""
