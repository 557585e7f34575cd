"""Orthogonal polynomials in their argument.

The derivative of each family is a polynomial of one degree less, without a division (DLMF 18.9.15 to 18.9.28); the
textbook forms divide by 1 - x^2, and fail at the ends. Degrees and parameters are not differentiated.
"""

from collections.abc import Callable
from typing import Any

import tapeengine.numpy as np
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import ufunc


def _lower(n: Any, slope: Callable[[Any], Any]) -> Any:
    """The slope for the degree n - 1; a polynomial of degree 0 has none."""
    constant = np.equal(n, 0)
    return np.where(constant, 0.0, slope(np.where(constant, 0, n - 1)))


def _family(
    name: str, slope: Callable[..., Any], formula: str, parameters: tuple[str, ...] = (), low: float = -1.0
) -> Primitive:
    """The record of ``scipy.special.<name>(n, *parameters, x)``; `slope` takes the same arguments."""
    domain = {"n": (0, 1, 2, 5)} | dict.fromkeys(parameters, (0.3, 1.5)) | {"x": (low, 1.0)}
    return ufunc(name, {"x": slope}, domain, f"{name}; d/dx = {formula}", " ".join(("n", *parameters)))


eval_legendre: Primitive = _family(
    "eval_legendre",
    lambda n, x: _lower(n, lambda k: (k + 2) / 2 * eval_jacobi(k, 1.0, 1.0, x)),
    "(n+1)/2 P_(n-1)^(1,1)",
)
eval_jacobi: Primitive = _family(
    "eval_jacobi",
    lambda n, alpha, beta, x: _lower(n, lambda k: (k + 2 + alpha + beta) / 2 * eval_jacobi(k, alpha + 1, beta + 1, x)),
    "(n+alpha+beta+1)/2 P_(n-1)^(alpha+1,beta+1)",
    ("alpha", "beta"),
)
eval_gegenbauer: Primitive = _family(
    "eval_gegenbauer",
    lambda n, alpha, x: _lower(n, lambda k: 2 * alpha * eval_gegenbauer(k, alpha + 1, x)),
    "2 alpha C_(n-1)^(alpha+1)",
    ("alpha",),
)
eval_chebyt: Primitive = _family(
    "eval_chebyt", lambda n, x: _lower(n, lambda k: (k + 1) * eval_chebyu(k, x)), "n U_(n-1)"
)
eval_chebyu: Primitive = _family(
    "eval_chebyu", lambda n, x: _lower(n, lambda k: 2 * eval_gegenbauer(k, 2.0, x)), "2 C_(n-1)^(2)"
)
eval_hermite: Primitive = _family(
    "eval_hermite", lambda n, x: _lower(n, lambda k: 2 * (k + 1) * eval_hermite(k, x)), "2n H_(n-1)", low=-2.0
)
eval_hermitenorm: Primitive = _family(
    "eval_hermitenorm", lambda n, x: _lower(n, lambda k: (k + 1) * eval_hermitenorm(k, x)), "n He_(n-1)", low=-2.0
)
eval_genlaguerre: Primitive = _family(
    "eval_genlaguerre",
    lambda n, alpha, x: _lower(n, lambda k: -eval_genlaguerre(k, alpha + 1, x)),
    "-L_(n-1)^(alpha+1)",
    ("alpha",),
    low=0.0,
)
eval_laguerre: Primitive = _family(
    "eval_laguerre", lambda n, x: _lower(n, lambda k: -eval_genlaguerre(k, 1.0, x)), "-L_(n-1)^(1)", low=0.0
)
