"""Rules that are compositions return numpy's own values, for parameters that the catalogue of calls does not use."""

import itertools
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import UnsupportedError
from tapeengine_primitives import plugin

RULES = plugin.tapeengine_numpy_rules()
G = np.random.default_rng(4)
X, Y = G.normal(size=(3, 4, 5)), G.normal(size=(5, 4, 3))
Z = X + 1j * G.normal(size=X.shape)
MASK = G.random(X.shape) < 0.7
MASK[:, 0] = True
HOLES = np.where(G.random(X.shape) < 0.2, np.nan, X)
HOLES[1, 0] = np.nan
WEIGHTS = G.random(X.shape) + 0.1
KNOTS, HEIGHTS = np.sort(G.normal(size=6)), G.normal(size=6)
POINTS = np.concatenate((3 * G.normal(size=12), KNOTS))
AXES = (None, 1, (0, 2), -1)

Case = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]


def reductions() -> Iterator[Case]:
    plain = (np.sum, np.prod, np.mean, np.max, np.min, np.std, np.var)
    holes = (np.nansum, np.nanprod, np.nanmean, np.nanmax, np.nanmin, np.nanstd, np.nanvar)
    for function, axis, keepdims in itertools.product((*plain, *holes), AXES, (False, True)):
        options: dict[str, Any] = {"axis": axis, "keepdims": keepdims}
        yield function, (HOLES if function in holes else X,), options
        extreme = function in (np.max, np.min, np.nanmax, np.nanmin)
        yield function, (X,), {**options, "where": MASK, **({"initial": 0.3} if extreme else {})}
    for function, axis, where in itertools.product((np.nanmax, np.nanmin), AXES, (True, MASK)):
        yield function, (HOLES,), {"axis": axis, "initial": np.nan, "where": where}
    for function in (np.sum, np.prod):
        yield function, (X,), {"axis": 1, "initial": 2.0}
    for function in (np.std, np.var, np.nanstd, np.nanvar):
        yield function, (X,), {"axis": 0, "ddof": 1}
    for function in (np.sum, np.mean, np.prod):
        yield function, (X.astype(np.float32), 1, np.float64), {}
    yield np.average, (X, 1, WEIGHTS[0, :, 0], True), {}
    yield np.average, (X, (2, 1), WEIGHTS[0].T), {"keepdims": True}
    yield np.average, (X,), {"axis": 0, "returned": True}


def ordering() -> Iterator[Case]:
    continuous = ["linear", "weibull", "hazen", "interpolated_inverted_cdf", "median_unbiased", "normal_unbiased"]
    steps = ["lower", "higher", "nearest", "midpoint", "inverted_cdf", "averaged_inverted_cdf", "closest_observation"]
    for method, axis in itertools.product(continuous + steps, AXES):
        for q in (0.0, 0.3, 1.0, np.array([[0.5, 0.25], [0.75, 1.0]])):
            yield np.quantile, (X, q, axis), {"method": method, "keepdims": True}
    for method, count in itertools.product(continuous + steps, range(1, 8)):
        yield np.percentile, (HEIGHTS[:1].repeat(count) * np.arange(count), np.linspace(0, 100, 17)), {"method": method}
    for axis, values in itertools.product(AXES, (X, HOLES)):
        yield np.median, (values, axis), {"keepdims": True}
    yield np.sort, (X, None), {}
    yield np.partition, (X, 2), {}
    yield np.unique, (np.round(X),), {"return_counts": True, "return_inverse": True, "return_index": True}
    yield np.unique, (np.round(X[:, :2, 0] / 9),), {"axis": 0}


def padding() -> Iterator[Case]:
    modes: list[tuple[str, dict[str, Any]]] = [
        *(("constant", {"constant_values": values}) for values in (0, 2.0, (1, 2), ((1, 2), (3, 4)))),
        *((mode, {}) for mode in ("edge", "reflect", "symmetric", "wrap", "mean", "maximum", "minimum", "median")),
        *((mode, {"reflect_type": "odd"}) for mode in ("reflect", "symmetric")),
        ("maximum", {"stat_length": 2}),
        ("linear_ramp", {"end_values": (1, 2.0)}),
    ]
    for (mode, options), width in itertools.product(modes, (2, (1, 2), ((1, 2), (0, 3)))):
        yield np.pad, (X[0], width, mode), options


def sequences() -> Iterator[Case]:
    for function in (np.cumsum, np.cumprod, np.nancumsum, np.nancumprod):
        yield function, (X,), {}
        yield function, (HOLES if "nan" in function.__name__ else X, -1), {}
    for function in (np.cumulative_sum, np.cumulative_prod):
        yield function, (X,), {"axis": -1, "include_initial": True}
    yield np.diff, (X, 2, 1), {"prepend": 0.0, "append": X[:, :1]}
    yield np.ediff1d, (X, 1.0, [2.0, 3.0]), {}
    yield np.trapezoid, (X, X + 1), {"axis": 1}
    for order in (1, 2):
        yield np.gradient, (X, 0.5, HEIGHTS[:4].cumsum(), 2.0), {"edge_order": order}
    for options in ({}, {"left": 1.0, "right": 2.0}, {"period": 1.5}):
        yield np.interp, (POINTS, KNOTS, HEIGHTS), options
    yield np.interp, (POINTS, [0.5], [2.0]), {}
    yield np.interp, (POINTS, KNOTS, np.where(np.arange(6) % 3, np.inf, HEIGHTS)), {}
    yield np.interp, (np.append(POINTS, np.nan), KNOTS, np.full(6, 2.0)), {}
    yield np.linspace, (1.0, X[0], 7), {"axis": 1, "endpoint": False}
    yield np.linspace, (1.0, 2.0, 5), {"retstep": True}
    yield np.linspace, (1.0, 2.0, 1), {}
    yield np.logspace, (1.0, 2.0, 7), {}
    yield np.geomspace, (1.0, 200.0, 7), {}
    yield np.unwrap, (9 * X,), {"axis": 1, "period": 5.0}
    yield np.vander, (HEIGHTS, 4), {"increasing": True}


def products() -> Iterator[Case]:
    for axes in (0, ([1, 2], [1, 0]), ((2,), (0,))):
        yield np.tensordot, (X, Y, axes), {}
    yield np.cross, (X[0, :, :3], X[0, :, 1:4]), {}
    if np.lib.NumpyVersion(np.__version__) < "2.5.0":  # later ones take vectors of three components alone
        yield np.cross, (X[0, :, :2], X[0, :, 1:3]), {}
        yield np.cross, (X[0, :, :2], X[0, :, :3]), {}
    chain = [G.normal(size=shape) for shape in ((10,), (10, 20), (20, 3), (3, 7), (7,))]
    for part in (chain, chain[1:], chain[1:-1], chain[:-1]):
        yield np.linalg.multi_dot, (part,), {}
    for text in ("iij->j", "ii", "...ij,...kj->...ik", "ij->", "i...->...i"):
        operands = [X[:, :3]] if text == "iij->j" else [X[0, :, :4]] if text == "ii" else [X] * (1 + text.count(","))
        operands = [X[0]] if text == "ij->" else operands
        yield np.einsum, (text, *operands), {}
    yield np.einsum, (X, [Ellipsis, 0], HEIGHTS[:5], [0]), {}
    for (p, q), mode in itertools.product(((5, 3), (3, 5), (4, 2), (2, 5), (6, 4)), ("full", "same", "valid")):
        yield np.correlate, (Z.ravel()[:p], HEIGHTS[:q], mode), {}
        yield np.convolve, (HEIGHTS[:q], Z.ravel()[:p], mode), {}


def selection() -> Iterator[Case]:
    for k in (-2, 0, 1):
        yield np.diag, (HEIGHTS, k), {}
        yield np.diag, (X[0], k), {}
    index = G.integers(0, 3, size=(4, 5))
    yield np.choose, (index + 2, list(X)), {"mode": "wrap"}
    yield np.take, (X, -2, 0), {}
    yield np.take, (X, [100], 1), {"mode": "clip"}
    yield np.delete, (X, [1, 2], 1), {}
    yield np.piecewise, (X, [X < -1, X > 1], [lambda v: v * v, 3.0, lambda v: -v]), {}
    yield np.select, ([X > 1, X < -1], [X, 2 * X], 5.0), {}
    yield np.tile, (X, (2, 1, 1, 3)), {}
    yield np.block, ([1.0, X[0, 0]],), {}
    yield np.block, ([[X[0], X[0]], [X[1], X[1]]],), {}
    yield np.resize, (X, (3, 30)), {}
    yield np.nan_to_num, (np.array([1.0, np.nan, np.inf, -np.inf]), True, 3.0), {"posinf": 9.0}
    yield np.nan_to_num, (np.array([1.0 + 1j, complex(np.nan, np.inf)]),), {}


def transforms() -> Iterator[Case]:
    real = (np.fft.rfft, np.fft.ihfft, np.fft.rfft2, np.fft.rfftn)
    single = (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft, *real[:2])
    several = (np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn, np.fft.irfft2, np.fft.irfftn, *real[2:])
    for function, norm in itertools.product((*single, *several), (None, "ortho", "forward")):
        values = X if function in real else Z
        yield function, (values,), {"norm": norm}
        yield function, ((values, 7, 0, norm) if function in single else (values, (6, 3), (0, 2), norm)), {}


def algebra() -> Iterator[Case]:
    for order, keepdims in itertools.product((None, 0, 1, 2, 3.5, -1, np.inf, -np.inf), (False, True)):
        yield np.linalg.norm, (X, order, 1, keepdims), {}
    for order, keepdims in itertools.product((None, 1, 2, -1, -2, np.inf, -np.inf, "fro", "nuc"), (False, True)):
        yield np.linalg.norm, (X, order, (2, 0), keepdims), {}
        yield np.linalg.matrix_norm, (Z,), {"ord": order, "keepdims": keepdims}
    for order in (None, 1, -2, 2, "fro"):
        yield np.linalg.cond, (X[:, :, :4], order), {}
    for a, b in ((X[0].T, X[0, 0]), (X[0].T, X[0].T), (X[0], X[0, :, 0])):
        yield np.linalg.lstsq, (a, b), {}
    yield np.linalg.tensorinv, (G.normal(size=(4, 6, 8, 3)),), {}
    yield np.linalg.tensorsolve, (G.normal(size=(2, 6, 3)), HEIGHTS), {"axes": (0, 2)}
    yield np.linalg.tensorsolve, (np.zeros((0, 3, 3, 0)), np.zeros((0, 3))), {}
    for power in (-2, 0, 1, 5):
        yield np.linalg.matrix_power, (X[:, :, :4], power), {}
    for a, mode in itertools.product((X[0], X[0].T, Z[0], Z[0].T), ("reduced", "r", "complete")):
        yield np.linalg.qr, (a, mode), {}
    yield np.linalg.pinv, (X[0, :, :4] + X[0, :, :4].T,), {"hermitian": True}


def insertion() -> Iterator[Case]:
    yield np.insert, (X, 1, 9.0), {}
    for place, values, axis in ((1, 9.0, 1), ([1, 3], X[:, :2], 1), (1, X[0], 0), (slice(0, 2), 5.0, 2)):
        yield np.insert, (X, place, values, axis), {}
    yield np.insert, (HEIGHTS, 2, [1.0, 2.0]), {}
    yield np.insert, (HEIGHTS, HEIGHTS > 0, 4.0), {}
    for function in (lambda v: v * 2, np.sum, lambda v: np.outer(v, v), np.diag):
        yield np.apply_along_axis, (function, 1, X), {}
    yield np.bincount, (np.array([1, 4, 1, 1, 0, 2]), HEIGHTS, 7), {}
    yield np.frexp, (X,), {}
    yield np.isin, (HEIGHTS, HEIGHTS[:2]), {}


def moments() -> Iterator[Case]:
    counts = np.arange(1, 6)
    yield np.cov, (X[0],), {}
    yield np.cov, (X[0], X[1]), {"rowvar": False, "bias": True}
    yield np.cov, (Z[0],), {"fweights": counts, "aweights": counts / 3}
    yield np.cov, (HEIGHTS,), {}
    yield np.corrcoef, (HEIGHTS, KNOTS), {}
    for axis in AXES:
        yield np.nanmedian, (HOLES, axis), {"keepdims": True}
        for method in ("linear", "hazen", "lower", "nearest", "midpoint", "averaged_inverted_cdf"):
            yield np.nanquantile, (HOLES, [0.2, 0.7], axis), {"method": method}
            yield np.nanpercentile, (HOLES, 30.0, axis), {"method": method, "keepdims": True}


def polynomials() -> Iterator[Case]:
    yield np.polyadd, (HEIGHTS, KNOTS[:3]), {}
    yield np.polysub, (HEIGHTS[:2], KNOTS), {}
    yield np.polymul, (HEIGHTS, KNOTS), {}
    yield np.polyder, (HEIGHTS, 2), {}
    yield np.polyint, (HEIGHTS,), {}
    yield np.polyint, (HEIGHTS, 2, [1.0, 2.0]), {}
    yield np.polyfit, (KNOTS, HEIGHTS, 2), {}
    yield np.polyfit, (KNOTS, np.stack([HEIGHTS, KNOTS], 1), 2), {"w": np.arange(1.0, 7.0)}


FAMILIES = (
    *(reductions, ordering, padding, sequences, products, selection, transforms, algebra),
    *(insertion, moments, polynomials),
)
CASES = [case for family in FAMILIES for case in family()]


def same(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, (tuple, list)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            same(a, b)
        return
    a, b = np.asarray(ours), np.asarray(theirs)
    assert a.shape == b.shape
    assert a.dtype == b.dtype or a.dtype.kind == b.dtype.kind == "i"
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0].__name__}-{k}" for k, case in enumerate(CASES)])
def test_value(case: Case) -> None:
    function, args, options = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same(RULES[function](*args, **options), function(*args, **options))


def narrow(value: Any) -> Any:
    if isinstance(value, list):
        return [narrow(item) for item in value]
    kind = getattr(getattr(value, "dtype", None), "char", "")
    return value.astype({"d": np.float32, "D": np.complex64}[kind]) if kind in tuple("dD") else value


@pytest.mark.parametrize("case", CASES, ids=[f"{case[0].__name__}-{k}" for k, case in enumerate(CASES)])
def test_single_precision(case: Case) -> None:
    function, args, options = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args, options = tuple(map(narrow, args)), {key: narrow(value) for key, value in options.items()}
        ours, theirs = RULES[function](*args, **options), function(*args, **options)
    several = isinstance(theirs, (tuple, list))
    for a, b in zip(ours, theirs, strict=True) if several else [(ours, theirs)]:
        a, b = np.asarray(a), np.asarray(b)
        assert a.shape == b.shape
        assert a.dtype == b.dtype or a.dtype.kind == b.dtype.kind == "i"
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=1e-4)


@pytest.mark.parametrize("length", [2, 3, 9])
@pytest.mark.parametrize(
    "name", ["arctan2", "divide", "float_power", "fmod", "hypot", "logaddexp2", "power", "subtract"]
)
def test_a_reduction_is_numpys_or_refused(name: str, length: int) -> None:
    """Versions of numpy reduce vectors by powers and arctan2 wrongly on some processors."""
    ufunc = getattr(np, name)
    x = np.random.default_rng(length).uniform(0.2, 1.5, length)
    for data, axis in ((x, 0), (np.stack([x, x / 2]), 1), (np.stack([x, x / 2], 1), 0)):
        try:
            value = te.vjp(lambda x, axis=axis: ufunc.reduce(x, axis=axis), data)[0]
        except UnsupportedError:
            last = np.take(ufunc.accumulate(data, axis=axis), -1, axis)
            assert not np.allclose(ufunc.reduce(data, axis=axis), last)
            continue
        np.testing.assert_allclose(value, ufunc.reduce(data, axis=axis), rtol=1e-12)
