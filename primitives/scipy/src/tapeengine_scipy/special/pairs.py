"""Functions that SciPy computes together: Airy functions, Fresnel integrals, integrals of sines and cosines."""

import math
from collections.abc import Callable
from typing import Any

import scipy

import tapeengine.numpy as np
from tapeengine.duals import offered
from tapeengine.primitive import Primitive
from tapeengine_scipy._build import elementwise
from tapeengine_scipy._callables import holds_traced
from tapeengine_scipy.special.elementary import exprel
from tapeengine_scipy.special.entropy import sinc


def _parts(name: str, slopes: tuple[Callable[..., Any], ...], domain: tuple[float, float]) -> tuple[Primitive, ...]:
    """The records of the results of a ufunc with several, from the derivatives of each."""

    def record(k: int) -> Primitive:
        return elementwise(
            f"scipy.special.{name}_{k}",
            lambda z: getattr(scipy.special, name)(z)[k],
            {"z": slopes[k]},
            {"z": domain},
            f"result {k} of {name}",
        )

    return tuple(map(record, range(len(slopes))))


class Together:
    """A ufunc of SciPy's with several results, each of which has a record."""

    def __init__(self, name: str, records: tuple[Primitive, ...], returns: str) -> None:
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"Return {returns}; see `scipy.special.{name}`."
        self.records = records

    def __call__(self, z: Any, *args: Any, **options: Any) -> Any:
        """Compute the results; a call with options goes to the ufunc, which calls the engine for traced values."""
        if args or options or not holds_traced(z):
            return offered(getattr(scipy.special, self.__name__))(z, *args, **options)
        z = np.array(z) if isinstance(z, (list, tuple)) else z
        return tuple(record(z) for record in self.records)

    def __getattr__(self, name: str) -> Any:
        """Give what the ufunc has besides: ``nin``, ``types``, ..."""
        if name.startswith("__"):  # of an object that is being copied
            raise AttributeError(name)
        return getattr(getattr(scipy.special, self.__name__), name)


def _finite(z: Any) -> Any:
    return np.where(np.isinf(z), 1.0, z)


AIRY = _parts(
    "airy",
    (lambda z: AIRY[1](z), lambda z: z * AIRY[0](z), lambda z: AIRY[3](z), lambda z: z * AIRY[2](z)),
    (-3.0, 2.0),
)
FRESNEL = _parts(
    "fresnel", (lambda z: np.sin(0.5 * math.pi * z * z), lambda z: np.cos(0.5 * math.pi * z * z)), (-2.0, 2.0)
)
SICI = _parts(
    "sici",
    (
        lambda z: np.where(np.isinf(z), 0.0, sinc(_finite(z) / math.pi)),
        lambda z: np.divide(np.cos(_finite(z)), z),
    ),
    (0.3, 4.0),
)
SHICHI = _parts("shichi", (lambda z: (exprel(z) + exprel(-z)) / 2.0, lambda z: np.divide(np.cosh(z), z)), (0.3, 4.0))

airy = Together("airy", AIRY, "the Airy functions Ai, Bi and their derivatives")
fresnel = Together("fresnel", FRESNEL, "the integrals of sin(pi t^2/2) and cos(pi t^2/2)")
sici = Together("sici", SICI, "the integrals of sin(t)/t and cos(t)/t")
shichi = Together("shichi", SHICHI, "the integrals of sinh(t)/t and cosh(t)/t")
