"""Derivatives of `scipy.special`: its functions with SciPy's own signatures, for plain and traced values.

The ufuncs of `scipy.special` itself also accept traced values. Import the others (logsumexp, softmax, log_softmax,
polygamma, multigammaln, zeta) from here, since they are ordinary functions there.

Examples
--------
>>> from tapeengine_scipy import special
>>> round(float(special.erf(0.5)), 6)
0.5205
"""

from tapeengine_scipy._names import names_of
from tapeengine_scipy.special.bessel import (
    hankel1,
    hankel2,
    i0,
    i0e,
    i1,
    i1e,
    iv,
    ive,
    j0,
    j1,
    jn,
    jv,
    k0,
    k1,
    kn,
    kv,
    y0,
    y1,
    yn,
    yv,
)
from tapeengine_scipy.special.chances import (
    chdtr,
    chdtrc,
    chdtri,
    fdtr,
    fdtrc,
    fdtri,
    gdtr,
    gdtrc,
    owens_t,
    pdtr,
    pdtrc,
    stdtrit,
)
from tapeengine_scipy.special.elementary import (
    boxcox,
    boxcox1p,
    cbrt,
    cosdg,
    cosm1,
    cotdg,
    erfi,
    exp2,
    exp10,
    expm1,
    exprel,
    huber,
    hyp0f1,
    hyperu,
    inv_boxcox,
    inv_boxcox1p,
    kl_div,
    log1p,
    pseudo_huber,
    sindg,
    tandg,
    wrightomega,
)
from tapeengine_scipy.special.elliptic import ellipe, ellipk, hyp1f1, hyp2f1
from tapeengine_scipy.special.entropy import entr, expit, log_expit, logit, rel_entr, sinc, xlog1py, xlogy
from tapeengine_scipy.special.errorfunctions import erf, erfc, erfcinv, erfcx, erfinv, log_ndtr, ndtr, ndtri
from tapeengine_scipy.special.exponential import exp1, expi, expn, spence
from tapeengine_scipy.special.faddeeva import dawsn, voigt_profile, wofz
from tapeengine_scipy.special.gamma import (
    beta,
    betaln,
    binom,
    digamma,
    gamma,
    gammaln,
    gammasgn,
    loggamma,
    poch,
    polygamma,
    psi,
    rgamma,
    zeta,
)
from tapeengine_scipy.special.incomplete import betainc, betaincc, gammainc, gammaincc
from tapeengine_scipy.special.inverses import betainccinv, betaincinv, gammainccinv, gammaincinv
from tapeengine_scipy.special.lambert import lambertw
from tapeengine_scipy.special.pairs import airy, fresnel, shichi, sici
from tapeengine_scipy.special.polynomials import (
    eval_chebyt,
    eval_chebyu,
    eval_gegenbauer,
    eval_genlaguerre,
    eval_hermite,
    eval_hermitenorm,
    eval_jacobi,
    eval_laguerre,
    eval_legendre,
)
from tapeengine_scipy.special.reductions import logsumexp
from tapeengine_scipy.special.student import stdtr

__all__ = [
    "airy", "beta", "betainc", "betaincc", "betainccinv", "betaincinv", "betaln", "binom", "boxcox", "boxcox1p",
    "cbrt", "chdtr", "chdtrc", "chdtri", "cosdg", "cosm1", "cotdg", "dawsn", "digamma", "ellipe", "ellipk", "entr",
    "erf", "erfc", "erfcinv", "erfcx", "erfi", "erfinv", "eval_chebyt", "eval_chebyu", "eval_gegenbauer",
    "eval_genlaguerre", "eval_hermite", "eval_hermitenorm", "eval_jacobi", "eval_laguerre", "eval_legendre", "exp1",
    "exp2", "exp10", "expi", "expit", "expm1", "expn", "exprel", "fdtr", "fdtrc", "fdtri", "fresnel", "gamma",
    "gammainc", "gammaincc", "gammainccinv", "gammaincinv", "gammaln", "gammasgn", "gdtr", "gdtrc", "hankel1",
    "hankel2", "huber", "hyp0f1", "hyp1f1", "hyp2f1", "hyperu", "i0", "i0e", "i1", "i1e", "inv_boxcox",
    "inv_boxcox1p", "iv", "ive", "j0", "j1", "jn", "jv", "k0", "k1", "kl_div", "kn", "kv", "lambertw", "log1p",
    "log_expit", "log_ndtr", "loggamma", "logit", "logsumexp", "ndtr", "ndtri", "owens_t", "pdtr", "pdtrc", "poch",
    "polygamma", "pseudo_huber", "psi", "rel_entr", "rgamma", "shichi", "sici", "sinc", "sindg", "spence", "stdtr",
    "stdtrit", "tandg", "voigt_profile", "wofz", "wrightomega", "xlog1py", "xlogy", "y0", "y1", "yn", "yv", "zeta",
]  # fmt: skip

__getattr__, __dir__ = names_of("scipy.special", globals())
