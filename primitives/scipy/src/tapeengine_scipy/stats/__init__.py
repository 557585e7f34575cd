"""Derivatives of `scipy.stats`: densities, distribution and survival functions, and quantiles of closed form.

Continuous distributions are differentiable in the argument, the shapes, the location and the scale; distributions on
the integers, with logpmf and pmf, in the parameters.

Examples
--------
>>> from tapeengine_scipy import stats
>>> round(float(stats.norm.cdf(1.0, scale=2.0)), 6)
0.691462
"""

from tapeengine_scipy._names import names_of
from tapeengine_scipy.stats.continuous import (
    beta,
    cauchy,
    chi2,
    expon,
    f,
    gamma,
    genextreme,
    gumbel_l,
    gumbel_r,
    halfnorm,
    invgamma,
    laplace,
    logistic,
    lognorm,
    norm,
    pareto,
    rayleigh,
    skewnorm,
    t,
    uniform,
    vonmises,
    weibull_max,
    weibull_min,
)
from tapeengine_scipy.stats.discrete import bernoulli, binom, geom, nbinom, poisson
from tapeengine_scipy.stats.multivariate import dirichlet, multinomial, multivariate_normal, multivariate_t, wishart

__all__ = [
    "bernoulli", "beta", "binom", "cauchy", "chi2", "dirichlet", "expon", "f", "gamma", "genextreme", "geom",
    "gumbel_l", "gumbel_r", "halfnorm", "invgamma", "laplace", "logistic", "lognorm", "multinomial",
    "multivariate_normal", "multivariate_t", "nbinom", "norm", "pareto", "poisson", "rayleigh", "skewnorm", "t",
    "uniform", "vonmises", "weibull_max", "weibull_min", "wishart",
]  # fmt: skip

__getattr__, __dir__ = names_of("scipy.stats", globals())
