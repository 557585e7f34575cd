"""Functions that SciPy writes in Python on functions with rules: their rule is SciPy's own code on traced values."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from tapeengine_scipy._passing import beside, find

#: The names of these functions in SciPy's modules.
NAMES = {
    "scipy.fft": "fftshift ifftshift",
    "scipy.integrate": "cumulative_simpson cumulative_trapezoid romb trapezoid",
    "scipy.interpolate": "barycentric_interpolate krogh_interpolate pchip_interpolate splantider splder splev splint",
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
        bilinear bilinear_zpk bode butter cheby1 cheby2 chirp coherence cont2discrete convolve2d correlate2d csd
        cspline1d cspline1d_eval czt dbode decimate deconvolve detrend dfreqresp dimpulse dlsim dstep envelope filtfilt
        firwin firwin2 freqresp freqs freqs_zpk freqz freqz_sos freqz_zpk gammatone gauss_spline gausspulse group_delay
        hilbert hilbert2 iircomb iirfilter iirnotch iirpeak impulse invres invresz istft lfilter_zi lfiltic lombscargle
        lp2bp lp2bp_zpk lp2bs lp2bs_zpk lp2hp lp2hp_zpk lp2lp lp2lp_zpk lsim medfilt minimum_phase normalize oaconvolve
        order_filter periodogram qspline1d qspline1d_eval resample savgol_coeffs savgol_filter sos2tf sos2zpk
        sosfilt_zi sosfiltfilt sosfreqz spectrogram ss2tf ss2zpk step stft tf2sos tf2ss tf2zpk vectorstrength welch
        wiener zoom_fft zpk2sos zpk2ss zpk2tf
    """,
    "scipy.spatial": "geometric_slerp minkowski_distance procrustes",
    "scipy.spatial.distance": """
        braycurtis canberra chebyshev cityblock correlation cosine euclidean jensenshannon mahalanobis minkowski
        seuclidean sqeuclidean
    """,
    "scipy.special": "log_softmax multigammaln softmax",
    "scipy.stats": """
        boxcox boxcox_llf circmean circstd circvar describe differential_entropy energy_distance entropy
        expectile gmean gstd gzscore hmean iqr kstat kstatvar kurtosis linregress median_abs_deviation moment
        pearsonr pmean sem skew tmean trim_mean tsem tstd ttest_1samp ttest_ind ttest_rel tvar variation
        wasserstein_distance yeojohnson yeojohnson_llf zmap zscore
    """,
}


class SignatureOf:
    """Stands for SciPy's function, which is imported when its signature is asked for."""

    def __init__(self, path: str) -> None:
        self._path = path

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

    returns = "what SciPy's own code computes, also of traced values"
    return _at(path, called, SignatureOf(path), returns=returns, **options)


def with_signature(path: str, function: Callable[..., Any], returns: str, **options: Any) -> Callable[..., Any]:
    """Return the function at `path` with SciPy's signature; `function` gets all of its arguments by name.

    `options` are those of `beside`.
    """
    theirs = SignatureOf(path)

    def called(*args: Any, **keywords: Any) -> Any:
        bound = theirs.__signature__.bind(*args, **keywords)
        bound.apply_defaults()
        return function(**bound.arguments)

    return _at(path, called, theirs, returns=returns, **options)


@cache
def _signature(path: str) -> inspect.Signature:
    return inspect.signature(find(path))


def _at(path: str, called: Any, theirs: SignatureOf, **options: Any) -> Callable[..., Any]:
    called.__wrapped__, called.__module__ = theirs, f"tapeengine_{path.rpartition('.')[0]}"
    return beside(path, **options)(called)
