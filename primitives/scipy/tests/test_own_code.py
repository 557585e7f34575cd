"""Functions whose rule is SciPy's own code: SciPy's values, classes and shapes, and the derivatives of differences."""

import functools
import inspect
import pickle
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
import scipy.stats

import tapeengine as te
from tapeengine_scipy import stats
from tapeengine_scipy._own_code import NAMES

RNG = np.random.default_rng(0)
X, Y, B = RNG.uniform(0.5, 2.0, 16), RNG.uniform(0.5, 2.0, 16), np.array([1.0, 2.0, 0.5])
M = RNG.normal(size=(3, 3))
WITH_LIMITS = "(lambda r: [r.statistic, *r.confidence_interval()])"
SYSTEM = "(x[:4].reshape(2, 2), x[4:6, None], x[6:8][None], x[8:9][None])"
MATRIX, TALL, OTHER = "x[:9].reshape(3, 3)", "x[:8].reshape(4, 2)", "Y[:8].reshape(4, 2)"
KNOTS = "(np.r_[[0.0] * 4, [1.5, 2.0], [4.0] * 4], np.concatenate([x[:6], np.zeros(4)]), 3)"
IMAGE = "x.reshape(4, 4)"
WINDOWS = """
    f(('kaiser', x[0]), 7), f(('gaussian', x[1]), 6), f(('tukey', x[2] / 3), 9), f(('general_hamming', x[3] / 3), 5),
    f(('chebwin', 40 * x[4]), 8), f(('taylor', 3, 30 * x[5]), 8), f(('general_gaussian', x[6], x[7]), 5, False),
    f(('exponential', None, x[8]), 4), f(x[9], 5), f(('kaiser_bessel_derived', x[9]), 6, False)
"""
FILTER, SECTION = "x[:3], x[3:6]", "np.concatenate([x[:3], [1.0], x[3:5]])[None]"
#: The call of each function f of SciPy, as an expression of a vector x; of other functions it is f(x).
CALLS = {
    "scipy.fft": dict.fromkeys(("fftfreq", "rfftfreq"), "f(5, x[0])"),
    "scipy.integrate": {
        "romb": "f(x[:9])", **dict.fromkeys(("trapezoid", "cumulative_trapezoid"), "f(x, np.cumsum(x))"),
    },
    "scipy.interpolate": {
        name: f"f(np.cumsum(x[:{most}]), x[5:{5 + most}], x[10:15] + 0.5)"
        for name, most in (("barycentric_interpolate", 4), ("krogh_interpolate", 4), ("pchip_interpolate", 5))
    } | {
        "splev": f"[*(f(4 * x - 2, {KNOTS}, 0, e) for e in (0, 1, 3)), f(4 * x - 2, {KNOTS}, 1, 3)]",
        "splint": f"f(x[0], 3 * x[1], {KNOTS})",
        "lagrange": "f(np.arange(4.0), x[:4]).coef", "pade": "[part.coef for part in f(x[:5], 2)]",
        "splder": f"f({KNOTS})[1]", "splantider": f"f({KNOTS})[1]",
    },
    "scipy.ndimage": {
        **dict.fromkeys(("uniform_filter1d", "maximum_filter1d", "minimum_filter1d"), f"f({IMAGE}, 3, axis=0)"),
        **dict.fromkeys(
            ("gaussian_filter", "gaussian_filter1d", "gaussian_laplace", "gaussian_gradient_magnitude"),
            f"f({IMAGE}, x[0], mode='nearest')",
        ),
        **dict.fromkeys("maximum_filter median_filter minimum_filter uniform_filter".split(), f"f({IMAGE}, (3, 2))"),
        **dict.fromkeys(("correlate", "convolve"), f"f({IMAGE}, x[:6].reshape(3, 2))"),
        **dict.fromkeys(("correlate1d", "convolve1d"), f"f({IMAGE}, x[:3])"),
        **dict.fromkeys("laplace prewitt sobel spline_filter spline_filter1d".split(), f"f({IMAGE})"),
        "rank_filter": f"f({IMAGE}, 1, (3, 2))", "percentile_filter": f"f({IMAGE}, 40, (3, 2))",
        "affine_transform": f"f({IMAGE}, x[:4].reshape(2, 2) / 2)",
        "map_coordinates": f"f({IMAGE}, x[:6].reshape(2, 3))",
        "rotate": f"f({IMAGE}, 10 * x[0])", "shift": f"f({IMAGE}, x[:2])", "zoom": f"f({IMAGE}, 1.6)",
    },
    "scipy.optimize": {},
    "scipy.special": {
        "multigammaln": "f(x + 1.0, 3)", "diric": "f(x, 3)",
        **dict.fromkeys("ivp jvp kvp yvp".split(), "[f(1, x), f(2.5, x)]"),
        **dict.fromkeys("h1vp h2vp".split(), "[part(f(1, x)) for part in (np.real, np.imag)]"),
        **dict.fromkeys(
            "spherical_in spherical_jn spherical_kn spherical_yn".split(),
            "[f(n, x, d) for n in (0, 4) for d in (0, 1)]",
        ),
        "assoc_laguerre": "f(x, 3, 1.5)", "perm": "f(5 + x, 3 * x[0])",
        "comb": "[f(5 + x, 3 * x[0]), f(5 + x, 2 * x[0], repetition=True)]",
    },
    "scipy.linalg": {
        "block_diag": f"f({TALL}, x[8:], x[0])", "hankel": "f(x[:4], x[4:10])",
        "khatri_rao": f"f({TALL}, {MATRIX}[:, :2])",
        "solve_discrete_lyapunov": f"f(0.2 * {MATRIX}, x[:9].reshape(3, 3))",
        **dict.fromkeys("coshm cosm expm_cond signm sinhm sinm tanhm tanm".split(), f"f({MATRIX})"),
        **dict.fromkeys(("eigvalsh", "svdvals"), f"f({MATRIX})"), "eigvals": f"np.abs(f({MATRIX}))",
        "convolution_matrix": "f(x, 3)", "leslie": "f(x[:3], x[3:5])", "solve_circulant": "f(x[:4], x[4:8])",
        "expm_frechet": "f(x[:4].reshape(2, 2), x[4:8].reshape(2, 2))",
        "orthogonal_procrustes": f"f({TALL}, {OTHER})", "subspace_angles": f"f({TALL}, {OTHER})",
    },
    "scipy.signal": {
        "convolve2d": "f(x.reshape(4, 4), Y[:6].reshape(2, 3), 'full', 'wrap')",
        "correlate2d": "f(Y[:4].reshape(2, 2), x.reshape(4, 4), 'same', 'symm')",
        "abcd_normalize": "f(x[:4].reshape(2, 2), x[4:6, None], x[6:8][None], x[8:9][None])",
        "bessel": "np.concatenate(f(3, x[0] / 4))", "czt_points": "np.abs(f(5, x[0] * np.exp(0.3j), 1.2 * x[1]))",
        **dict.fromkeys(("buttord", "cheb1ord"), "f(x[0] / 8, x[1] / 2, 3, 20)[1]"),
        "firls": "f(9, [0.0, 0.2, 0.3, 1.0], x[:4], weight=x[4:6])",
        "firwin_2d": "f((3, 5), (('kaiser', x[1]), 'hamming'), fc=x[0] / 4)", "get_window": f"[{WINDOWS}]",
        "kaiser_atten": "f(7, x[0])", "kaiser_beta": "[f(30 * x[0]), f(60.0 + x[1]), f(8 * x[2])]",
        "medfilt2d": f"f({IMAGE}, 3)", "resample_poly": f"[f(x, 3, 2), f({IMAGE}, 1, 2, axis=0, padtype='mean')]",
        **dict.fromkeys(("sawtooth", "square"), "f(3 * x, x[0] / 4)"), "sweep_poly": "f(x, np.poly1d([1.0, 2.0]))",
        "cspline1d": "f(x)", "envelope": "f(x)", "filtfilt": "f(x[:2], x[2:4], x[4:])",
        "lfilter_zi": f"f({FILTER})", "sosfilt_zi": f"f({SECTION})", "sosfiltfilt": f"f({SECTION}, x[:12])",
        "firwin2": "f(9, [0.0, 0.5, 1.0], x[:3])",
        "group_delay": f"f(({FILTER}), 5)", "iirnotch": "f(x[0] / 4, x[1])", "iirpeak": "f(x[0] / 4, x[1])",
        **dict.fromkeys(("step", "impulse"), "f((x[:1], x[1:4]), T=np.linspace(0.0, 1.0, 5))[1]"),
        **dict.fromkeys(("bode", "freqresp"), "np.abs(f((x[:1], x[1:4]), w=[0.1, 1.0])[1])"),
        **dict.fromkeys(("dbode", "dfreqresp"), "np.abs(f((x[:1], x[1:4], 0.1), w=[0.1, 1.0])[1])"),
        **dict.fromkeys(("dstep", "dimpulse"), "f((x[:1], x[1:4], 0.1), n=5)[1][0]"),
        "lsim": f"f({SYSTEM}, x, np.arange(16.0) / 8)[1]", "dlsim": "f((x[:1], x[1:4], 0.1), x[:6])[1]",
        **dict.fromkeys(("freqs_zpk", "freqz_zpk"), "np.abs(f(x[:1], x[1:3], x[3], worN=4)[1])"),
        "freqz_sos": f"np.abs(f({SECTION}, worN=8)[1])", "sos2zpk": f"[np.abs(part) for part in f({SECTION})]",
        **dict.fromkeys(("lp2bp", "lp2bs"), "f(x[:2], x[2:5], x[5], x[6])"),
        **dict.fromkeys(("lp2bp_zpk", "lp2bs_zpk"), "[np.abs(part) for part in f(x[:1], x[1:3], x[3], x[4], x[5])]"),
        **dict.fromkeys(("lp2hp_zpk", "lp2lp_zpk", "bilinear_zpk"), "f(x[:1], -x[1:3], x[3], 9 * x[4])"),
        "butter": "np.concatenate(f(3, x[0] / 4))", "iirfilter": "np.concatenate(f(3, x[0] / 4, btype='low'))",
        "cheby1": "np.concatenate(f(3, x[1], x[0] / 4))", "cheby2": "np.concatenate(f(3, 9 * x[1], x[0] / 4))",
        **dict.fromkeys(("cspline1d_eval", "qspline1d_eval"), "f(x, x[:4])"), "gauss_spline": "f(x, 3)",
        "decimate": "f(np.concatenate([x, x, x]), 2)", "gammatone": "np.concatenate(f(x[0] / 4, 'iir'))",
        "iircomb": "np.concatenate(f(0.25, x[0]))", "invresz": "f(x[:2], x[2:4] / 4, [])", "medfilt": "f(x, 3)",
        "order_filter": "f(x, np.ones(3), 0)", "savgol_coeffs": "f(5, 2, 1, x[0])", "zpk2ss": "f(x[:1], -x[1:3], x[3])",
        "ss2zpk": f"[np.abs(part) for part in f(*{SYSTEM})]",
        "vectorstrength": "f(x, 1.5)[0]",
        **dict.fromkeys(("lp2lp", "lp2hp"), "f(x[:2], x[2:5], x[5])"), "tf2sos": f"f({FILTER})",
        "minimum_phase": "f(x[:9] + 20.0 * (np.arange(9) == 4))",
        "bilinear": "f(x[:2], x[2:5])", "chirp": "f(x, 1.0, 2.0, 3.0)", "coherence": "f(x, Y, nperseg=8)",
        "cont2discrete": f"f({SYSTEM}, 0.1)[:2]", "csd": "np.abs(f(x, Y, nperseg=8)[1])", "czt": "np.abs(f(x))",
        "deconvolve": "f(x, B)", "firwin": "f(5, x[0] / 4)", "freqs": f"np.abs(f({FILTER}, worN=[0.1, 1.0])[1])",
        "freqz": f"np.abs(f({FILTER}, worN=8)[1])", "hilbert": "np.abs(f(x))", "hilbert2": "np.abs(f(x.reshape(4, 4)))",
        "invres": "f(x[:2], x[2:4], [])", "istft": "f(x[:15].reshape(5, 3) + 0j, nperseg=8)",
        "lfiltic": "f(x[:3], x[3:6], x[6:8])",
        "lombscargle": "f(np.arange(16.0), x, [0.5, 1.0])", "normalize": "f(x[:2], x[2:5])", "oaconvolve": "f(x, B)",
        "resample": "f(x, 24)", "savgol_filter": "f(x, 5, 2)", "sos2tf": f"f({SECTION})",
        "sosfreqz": f"np.abs(f({SECTION}, worN=8)[1])",
        "spectrogram": "f(x, nperseg=8)", "stft": "np.abs(f(x, nperseg=8)[2])",
        "welch": "f(x, nperseg=8, detrend='linear')",
        "ss2tf": f"f(*{SYSTEM})", "tf2ss": "f(x[:2], x[2:5])", "tf2zpk": "[np.abs(part) for part in f(x[:3], x[3:6])]",
        "wiener": "f(x, 3)", "zoom_fft": "np.abs(f(x, 0.5))", "zpk2sos": "f([], x[:2], x[2])",
        "zpk2tf": "f(x[:2], x[2:5], x[5])",
    },
    "scipy.spatial": {
        "geometric_slerp": "f([1.0, 0.0], [0.0, 1.0], x / 2)",
        **dict.fromkeys(("minkowski_distance", "minkowski_distance_p"), "f(x, Y, 3)"),
        "distance_matrix": f"f({IMAGE}, Y.reshape(4, 4))",
        "procrustes": f"f({TALL}, {OTHER})",
    },
    "scipy.spatial.distance": {
        **dict.fromkeys(NAMES["scipy.spatial.distance"].split(), "f(x, Y)"),
        "mahalanobis": "f(x[:3], Y[:3], M @ M.T)", "minkowski": "f(x, Y, 3.0, B[:1])", "seuclidean": "f(x, Y, Y)",
    },
    "scipy.stats": {
        "ttest_1samp": WITH_LIMITS + "(f(x, 1.0))", "ttest_rel": WITH_LIMITS + "(f(x, Y))",
        "yeojohnson": "f(x, 0.3)", "yeojohnson_llf": "f(0.3, x)",

        **dict.fromkeys("bartlett f_oneway levene".split(), "[*f(x[:5], x[5:], Y)]"),
        "alexandergovern": "[f(x[:5], x[5:], Y).statistic]",
        **dict.fromkeys(("chisquare", "power_divergence"), "f(x[:4], np.sum(x[:4]) * np.array([0.2, 0.3, 0.4, 0.1]))"),
        "combine_pvalues": "[f(x / 3, method) for method in ('fisher', 'pearson', 'tippett', 'stouffer')]",
        "directional_stats": "f(x.reshape(8, 2)).mean_direction", "false_discovery_control": "f(x / 3)",
        **dict.fromkeys(("kurtosistest", "normaltest"), "f(np.concatenate([x, Y]))"), "obrientransform": "f(x, Y)",
        "pointbiserialr": "f(Y > 1, x).statistic", "probplot": "f(x)[1]", "quantile": "f(x, x[:2] / 3)",
        "scoreatpercentile": "f(x, 30)", "sigmaclip": "f(x, 1.3, 1.3)[0]", "theilslopes": "f(x)[:2]",
        "tmax": "f(x, 1.7)", "tmin": "f(x, 0.7)", **dict.fromkeys(("trim1", "trimboth"), "f(x, 0.1)"),
        "ttest_ind_from_stats": "f(x[0], x[1], 7, x[2], x[3], 9)",
        **dict.fromkeys("energy_distance wasserstein_distance zmap".split(), "f(x, Y)"),
        "boxcox": "f(x, 0.3)", "boxcox_llf": "f(0.3, x)", "describe": "f(x)[2:]", "entropy": "f(x, Y, base=2)",
        "expectile": "f(x, 0.3)",
        "kstat": "f(x, 3)", "moment": "f(x.reshape(4, 4), 3, axis=1)", "pearsonr": WITH_LIMITS + "(f(x, Y))",
        "pmean": "f(x, 2.5, weights=Y)", "trim_mean": "f(x, 0.1)",
        "ttest_ind": WITH_LIMITS + "(f(x, Y))", "linregress": "[f(x, Y).slope, f(x, Y).stderr, f(Y, x).intercept]",
    },
}  # fmt: skip
ALL = [(module, name) for module in NAMES for name in NAMES[module].split()]


def call(package, module, name):
    f = getattr(import_module(module.replace("scipy", package, 1)), name)
    return eval(f"lambda x: {CALLS[module].get(name, 'f(x)')}", {**globals(), "f": f})


def parts(result):
    return [part for item in result for part in parts(item)] if isinstance(result, (list, tuple)) else [result]


def packed(f):
    """The numbers of a result, as a vector."""
    return lambda x: np.concatenate([np.ravel(part) for part in parts(f(x))])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("module", "name"), ALL)
def test_values_classes_and_shapes_are_scipys(module, name):
    wanted = call("scipy", module, name)(X)
    found = te.vjp(call("tapeengine_scipy", module, name), X)[0]
    assert type(found) is type(wanted)
    for ours, theirs in zip(parts(found), parts(wanted), strict=True):
        assert (type(ours), np.shape(ours)) == (type(theirs), np.shape(theirs))
        np.testing.assert_allclose(ours, theirs, rtol=1e-14, atol=1e-14 * np.max(np.abs(theirs), initial=0.0))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("module", "name"), ALL)
def test_derivatives_are_those_of_differences(module, name):
    ours, theirs = (packed(call(package, module, name)) for package in ("tapeengine_scipy", "scipy"))
    direction = np.random.default_rng(1).normal(size=16)
    ends = [theirs(X + step * direction) for step in (2e-5, 1e-5, -1e-5, -2e-5)]
    wanted = (-ends[0] + 8 * ends[1] - 8 * ends[2] + ends[3]) / 12e-5
    value, back = te.vjp(ours, X)
    weights = np.random.default_rng(2).normal(size=value.shape)
    for found, expected in (
        (back(weights)[0] @ direction, weights @ wanted),
        (te.jvp(ours, (X,), (direction,))[1], wanted),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * (1 + np.max(np.abs(wanted))))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("module", "name"), ALL[::4])
def test_replays_and_lifted_code_give_the_same(module, name):
    ours, theirs = (call(package, module, name) for package in ("tapeengine_scipy", "scipy"))
    total = lambda f: lambda x: sum(np.sum(part) for part in parts(f(x)))  # noqa: E731
    staged = te.stage(total(ours))
    for x in (X, X * 1.01, X * 1.02):
        wanted = te.value_and_grad(total(ours))(x)
        np.testing.assert_allclose(te.value_and_grad(staged)(x)[1], wanted[1], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(te.value_and_grad(total(te.lift(theirs)))(x)[1], wanted[1], rtol=1e-9, atol=1e-9)


def test_lists_options_and_errors_are_scipys():
    from scipy import stats as theirs

    from tapeengine_scipy import stats as ours

    assert te.grad(lambda x: ours.gmean([x, 2.0]))(8.0) == pytest.approx(0.25)
    x = np.array([[1.0, 2.0], [3.0, np.nan]])
    for options in ({"axis": None}, {"axis": 1, "keepdims": True}, {"axis": 1, "nan_policy": "omit"}):
        value = te.vjp(functools.partial(ours.hmean, **options), x)[0]
        np.testing.assert_array_equal(value, theirs.hmean(x, **options))
    for package in (theirs, ours):
        with pytest.raises(ValueError, match="nan_policy must be one of"):
            te.vjp(lambda x, package=package: package.hmean(te.value(x) if package is theirs else x, nan_policy="a"), x)


@pytest.mark.parametrize("name", ["convolve2d", "correlate2d"])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("boundary", ["fill", "wrap", "symm"])
@pytest.mark.parametrize(("image", "kernel"), [((4, 5), (2, 3)), ((3, 2), (3, 4)), ((4, 4), (3, 3)), ((5, 3), (4, 2))])
def test_images_with_all_modes_and_boundaries(name, mode, boundary, image, kernel):
    a, b = (np.random.default_rng(k).normal(size=size) for k, size in enumerate((image, kernel)))
    b = b + 1j * np.cos(b) if boundary == "fill" else b
    functions = [getattr(import_module(f"{package}.signal"), name) for package in ("tapeengine_scipy", "scipy")]
    ours, theirs = (lambda a, f=f: f(a, b, mode, boundary, 1.5) for f in functions)
    if mode == "valid" and any(np.diff(np.sign(np.subtract(image, kernel)[np.subtract(image, kernel) != 0]))):
        with pytest.raises(ValueError, match="at least as large"):
            te.vjp(ours, a)
        return
    value, back = te.vjp(ours, a)
    np.testing.assert_allclose(value, theirs(a), rtol=1e-14, atol=1e-14)
    weights = np.random.default_rng(3).normal(size=value.shape).astype(value.dtype)
    zero = theirs(0.0 * a)
    wanted = [np.sum(np.conj(weights) * (theirs(e.reshape(image)) - zero)).real for e in np.eye(a.size)]
    np.testing.assert_allclose(np.ravel(back(weights)[0]), wanted, rtol=1e-12, atol=1e-12)


#: Functions of a parameter that SciPy's code compares with a number, the number, and whether it has the derivative.
COMPARED = {
    "scipy.signal.lfilter_zi": ("np.sum(f([1.0, 0.5], [p, 0.4, 0.3]))", 1.0, True),
    "scipy.signal.lfiltic": ("np.sum(f([1.0, 0.5], [p, 0.4, 0.3], [1.0, 2.0]))", 1.0, True),
    "scipy.signal.lp2hp": ("np.sum(f([1.0, 0.5], [1.0, 0.4, 0.3], p)[1])", 1.0, True),
    "scipy.signal.chirp": ("np.sum(f(X, p, 2.0, 1.0, 'log'))", 1.0, False),
    "scipy.spatial.minkowski_distance": ("f(X, Y, p)", 1.0, True),
    "scipy.stats.iqr": ("f(X, scale=p)", 1.0, True),
    "scipy.stats.pmean": ("f(X, p)", 0.0, False),
    "scipy.stats.boxcox_llf": ("f(p, X)", 0.0, False),
    "scipy.stats.yeojohnson_llf": ("f(p, X - 1.0)", 2.0, False),
}


@pytest.mark.parametrize("path", COMPARED)
def test_parameters_that_scipy_compares_have_their_derivative_or_are_refused(path):
    text, place, is_right = COMPARED[path]
    module, _, name = path.rpartition(".")
    ours, theirs = (
        eval(f"lambda p: {text}", {**globals(), "f": getattr(import_module(package), name)})
        for package in (f"tapeengine_{module}", module)
    )
    if not is_right:
        with pytest.raises(te.errors.UnsupportedError, match="special case for the value"):
            te.grad(ours)(place)
        return
    value, slope = te.value_and_grad(ours)(place)
    assert value == pytest.approx(theirs(place), rel=1e-14)
    assert slope == pytest.approx((theirs(place + 1e-5) - theirs(place - 1e-5)) / 2e-5, rel=1e-8)


def test_iterations_without_a_rule_are_refused():
    with pytest.raises(te.errors.UnsupportedError, match="minimize_scalar: bounds are constants"):
        te.vjp(packed(stats.yeojohnson), X)


def test_the_best_exponent_is_a_minimum_with_a_derivative():
    x, h = np.abs(X) + 0.5, 1e-3
    slopes = [(scipy.stats.boxcox(x + h * e)[1] - scipy.stats.boxcox(x - h * e)[1]) / (2 * h) for e in np.eye(len(x))]
    np.testing.assert_allclose(te.grad(lambda x: stats.boxcox(x)[1])(x), slopes, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("module", NAMES)
def test_they_have_scipys_signatures(module):
    ours = import_module(f"tapeengine_{module}")
    for name in NAMES[module].split():
        theirs = getattr(import_module(module), name)
        assert inspect.signature(getattr(ours, name)) == inspect.signature(theirs), name


def test_code_of_one_module_imports_no_other():
    text = """
import sys, numpy, tapeengine as te
from tapeengine_scipy import linalg
te.grad(lambda a: numpy.sum(linalg.cosm(a)))(numpy.eye(2))
assert not {"scipy.signal", "scipy.stats"}.intersection(sys.modules), sorted(sys.modules)
"""
    subprocess.run([sys.executable, "-c", text], check=True)


@pytest.mark.parametrize("name", ["pearsonr", "ttest_1samp"])
def test_results_that_compute_are_of_scipys_class(name):
    given = (2.0,) if name == "ttest_1samp" else (Y,)
    wanted, found = getattr(scipy.stats, name)(X, *given), []

    def program(x):
        found.append(getattr(stats, name)(x, *given))
        return found[0].statistic

    te.vjp(program, X)
    assert isinstance(found[0], type(wanted)) and type(found[0]).__name__ == type(wanted).__name__
    result = te.vjp(lambda x: getattr(stats, name)(x, *given), X)[0]
    assert isinstance(result, type(wanted)) and vars(result).keys() == vars(wanted).keys()
    if name != "ttest_1samp":  # SciPy's holds a module
        assert type(pickle.loads(pickle.dumps(result))) is type(wanted)
