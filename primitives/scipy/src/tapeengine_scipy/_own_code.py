"""Functions that SciPy writes in Python on functions with rules: their rule is SciPy's own code on traced values."""

import inspect
from collections.abc import Callable
from functools import cache, update_wrapper
from typing import Any

from tapeengine_scipy._passing import beside, find, theirs_called

#: The names of these functions in SciPy's modules.
NAMES = {
    "scipy.fft": "fftfreq fftshift ifftshift rfftfreq",
    "scipy.integrate": "cumulative_simpson cumulative_trapezoid romb trapezoid",
    "scipy.interpolate": """
        barycentric_interpolate krogh_interpolate lagrange pade pchip_interpolate splantider splder splev splint
    """,
    "scipy.linalg": """
        block_diag companion convolution_matrix coshm cosm eigvals eigvalsh expm_cond expm_frechet fiedler hankel
        khatri_rao leslie orthogonal_procrustes signm sinhm sinm solve_circulant solve_discrete_lyapunov
        subspace_angles svdvals tanhm tanm
    """,
    "scipy.ndimage": """
        affine_transform convolve convolve1d correlate correlate1d gaussian_filter gaussian_filter1d
        gaussian_gradient_magnitude gaussian_laplace laplace map_coordinates maximum_filter maximum_filter1d
        median_filter minimum_filter minimum_filter1d percentile_filter prewitt rank_filter rotate shift sobel
        spline_filter spline_filter1d uniform_filter uniform_filter1d zoom
    """,
    "scipy.optimize": "rosen rosen_der rosen_hess",
    "scipy.signal": """
        abcd_normalize bessel bilinear bilinear_zpk bode butter buttord cheb1ord cheby1 cheby2 chirp coherence
        cont2discrete convolve2d correlate2d csd cspline1d cspline1d_eval czt czt_points dbode decimate deconvolve
        detrend dfreqresp dimpulse dlsim dstep envelope filtfilt firls firwin firwin2 firwin_2d freqresp freqs freqs_zpk
        freqz freqz_sos freqz_zpk gammatone gauss_spline gausspulse get_window group_delay hilbert hilbert2 iircomb
        iirfilter iirnotch iirpeak impulse invres invresz istft kaiser_atten kaiser_beta lfilter_zi lfiltic lombscargle
        lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk lsim medfilt medfilt2d minimum_phase normalize
        oaconvolve order_filter periodogram qspline1d qspline1d_eval resample resample_poly savgol_coeffs savgol_filter
        sawtooth sos2tf sos2zpk sosfilt_zi sosfiltfilt sosfreqz spectrogram square ss2tf ss2zpk step stft sweep_poly
        tf2sos tf2ss tf2zpk vectorstrength welch wiener zoom_fft zpk2sos zpk2ss zpk2tf
    """,
    "scipy.spatial": "distance_matrix geometric_slerp minkowski_distance minkowski_distance_p procrustes",
    "scipy.spatial.distance": """
        braycurtis canberra chebyshev cityblock correlation cosine euclidean jensenshannon mahalanobis minkowski
        seuclidean sqeuclidean
    """,
    "scipy.special": """
        assoc_laguerre comb diric h1vp h2vp ivp jvp kvp log_softmax multigammaln perm softmax softplus spherical_in
        spherical_jn spherical_kn spherical_yn yvp
    """,
    "scipy.stats": """
        alexandergovern bartlett boxcox boxcox_llf chisquare circmean circstd circvar combine_pvalues describe
        differential_entropy directional_stats energy_distance entropy expectile f_oneway false_discovery_control gmean
        gstd gzscore hmean iqr jarque_bera kstat kstatvar kurtosis kurtosistest levene linregress lmoment
        median_abs_deviation moment normaltest obrientransform pearsonr pmean pointbiserialr power_divergence probplot
        quantile scoreatpercentile sem sigmaclip skew skewtest theilslopes tmax tmean tmin trim1 trim_mean trimboth tsem
        tstd ttest_1samp ttest_ind ttest_ind_from_stats ttest_rel tvar variation wasserstein_distance yeojohnson
        yeojohnson_llf zmap zscore
    """,
}


class SignatureOf:
    """Stands for SciPy's function, which is imported when its signature is asked for.

    Like a function it is a descriptor, because doctest runs the examples only of what wraps one.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __get__(self, owner: Any, kind: Any = None) -> "SignatureOf":
        return self

    @property
    def __signature__(self) -> inspect.Signature:
        return _signature(self._path)


def own_code(path: str, *args: Any, **options: Any) -> Any:
    """Return what the code of SciPy's function at `path` computes of traced values."""
    from tapeengine_scipy._bindings import code_of

    return code_of(path)(*args, **options)


def rule(path: str, **options: Any) -> Callable[..., Any]:
    """Return the function whose rule is the code of SciPy's at `path`; `options` are those of `beside`."""

    def called(*args: Any, **keywords: Any) -> Any:
        return own_code(path, *args, **keywords)

    called.__module__ = f"tapeengine_{path.rpartition('.')[0]}"
    returns = "what SciPy's own code computes, also of traced values"
    return beside(path, returns=returns, **options)(_with(SignatureOf(path), called))


def by_name(path: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a function the signature of SciPy's at `path`; it gets all arguments by name."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **keywords: Any) -> Any:
            return function(**_named(path, args, keywords))

        return _with(SignatureOf(path), update_wrapper(called, function))

    return decorate


def with_signature(path: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Mark a function as `beside` does, with its options; its signature is SciPy's (`by_name`)."""
    return lambda function: beside(path, **options)(by_name(path)(function))


@cache
def _signature(path: str) -> inspect.Signature:
    return inspect.signature(find(path))


@cache
def _defaults(path: str) -> tuple[list[str], dict[str, Any]]:
    """The names of the parameters that may be given by place, and the values of those that may be left out."""
    parameters = _signature(path).parameters.values()
    by_place = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    return by_place, {p.name: p.default for p in parameters if p.default is not p.empty}


def _named(path: str, args: Any, keywords: Any) -> Any:
    """All arguments of a function by name; `inspect` binds them if need be, which takes ten times as long."""
    by_place, defaults = _defaults(path)
    placed = dict(zip(by_place, args, strict=False))
    found = {**defaults, **placed, **keywords}
    fits = len(placed) == len(args) and placed.keys().isdisjoint(keywords)
    if fits and found.keys() == _signature(path).parameters.keys():
        return found
    try:
        bound = _signature(path).bind(*args, **keywords)
    except TypeError:
        theirs_called(find(path), args, keywords)  # which raises its own error
        raise
    bound.apply_defaults()
    return bound.arguments


def _with(theirs: SignatureOf, called: Any) -> Any:
    called.__wrapped__ = theirs
    return called
