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
from tapeengine_scipy.special.gamma import gamma

__all__ = ["gamma"]

__getattr__, __dir__ = names_of(
    "scipy.special",
    globals(),
    {
        "bessel": "i0 i0e i1 i1e iv ive j0 j1 jn jv k0 k1 kn kv y0 y1 yn yv",
        "chances": "chdtr chdtrc chdtri fdtr fdtrc fdtri gdtr gdtrc owens_t pdtr pdtrc stdtrit",
        "elementary": """
            boxcox boxcox1p cbrt cosdg cosm1 cotdg erfi exp2 exp10 expm1 exprel huber hyp0f1 hyperu inv_boxcox
            inv_boxcox1p kl_div log1p pseudo_huber sindg tandg wrightomega
        """,
        "elliptic": "ellipe ellipk hyp2f1",
        "entropy": "entr expit log_expit logit rel_entr sinc xlog1py xlogy",
        "errorfunctions": "erf erfc erfcinv erfcx erfinv log_ndtr ndtr ndtri",
        "exponential": "exp1 expi expn spence",
        "faddeeva": "dawsn voigt_profile wofz",
        "gamma": "beta betaln digamma gammaln gammasgn loggamma polygamma psi rgamma zeta",
        "incomplete": "betainc betaincc gammainc gammaincc",
        "inverses": "betainccinv betaincinv gammainccinv gammaincinv",
        "lambert": "lambertw",
        "pairs": "airy fresnel shichi sici",
        "polynomials": """
            eval_chebyt eval_chebyu eval_gegenbauer eval_genlaguerre eval_hermite eval_hermitenorm eval_jacobi
            eval_laguerre eval_legendre
        """,
        "reductions": "logsumexp",
        "student": "stdtr",
    },
)
