"""Code that all distributions share: location and scale, support, and frozen parameters.

The standard functions of a distribution are SciPy's own code on traced values, except those whose derivative is lost
there: where the code has special cases or cancels, or calls a function without a rule.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from importlib import import_module
from inspect import Parameter, Signature
from types import FunctionType, MappingProxyType, MethodType
from typing import Any
from weakref import WeakKeyDictionary

import numpy
import scipy

import tapeengine.numpy as np
from tapeengine.primitive import Primitive, Sample, uniform
from tapeengine.primitive.builders import elementwise
from tapeengine_scipy._callables import holds_traced, plain_values
from tapeengine_scipy._passing import Standing, method_beside, refuse
from tapeengine_scipy._values import floating, floating_real

#: At the location its slope in the scale is 0, which remains 0 beside an infinite density there.
STANDARDISED: Primitive = elementwise(
    "scipy.stats.standardised",
    lambda x, loc, scale: (x - loc) / scale,
    lambda scale: 1.0 / scale,
    lambda scale: -1.0 / scale,
    lambda scale, out: -out / scale,
    selects=True,
    samples=lambda: (Sample((uniform((4,)), uniform(()), uniform((3, 1), 0.5, 2.0))),),
    doc="(x - loc)/scale; d/dscale = -(x - loc)/scale^2",
)

#: SciPy's class of each distribution with fixed parameters, and SciPy's objects of plain ones.
_CLASSES: dict[str, type] = {}
_OBJECTS: WeakKeyDictionary["Frozen", Any] = WeakKeyDictionary()

#: Methods that are functions of the parameters only.
_OF_PARAMETERS = ("entropy", "mean", "median", "std", "var")


class Frozen(Standing):
    """A distribution with fixed parameters, and the distribution's methods."""

    def __init__(self, distribution: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> None:
        self.dist, self.args, self.kwds = distribution, args, keywords
        self._is_traced = holds_traced(args, keywords)
        if not self._is_traced:
            _OBJECTS[self] = self._theirs  # which raises SciPy's errors

    @property
    def _path(self) -> str:  # type: ignore[override]
        return f"scipy.stats.{self.dist.name}"

    @property
    def _theirs(self) -> Any:  # type: ignore[override]
        if self in _OBJECTS:
            return _OBJECTS[self]
        args, keywords = plain_values((self.args, self.kwds))
        return getattr(scipy.stats, self.dist.name)(*args, **keywords)

    @property
    def __class__(self) -> Any:
        """SciPy's class of the distribution with fixed parameters, which takes long to make."""
        name = self.dist.name
        return _CLASSES.get(name) or _CLASSES.setdefault(name, type(self._theirs))

    def __getattr__(self, name: str) -> Any:
        if "dist" not in vars(self) or name.startswith("_") or not hasattr(type(self.dist), name):
            return super().__getattr__(name)

        def called(*given: Any, **keywords: Any) -> Any:
            if not self._differs(*given, *keywords.values()):
                return getattr(self._theirs, name)(*given, **keywords)
            if len(given) + len(keywords) != (name not in _OF_PARAMETERS):
                count = "no arguments" if name in _OF_PARAMETERS else "one argument"
                raise TypeError(f"{name}() of a distribution with fixed parameters takes {count}")
            return getattr(self.dist, name)(*given, *self.args, **self.kwds, **keywords)

        return called


class Distribution(Standing):
    """A distribution with SciPy's name; methods without derivatives, and on plain values, are SciPy's.

    `_standard` has its standard functions by the names of SciPy's methods, as `_logpdf`.
    """

    name = ""
    _standard: Mapping[str, Callable[..., Any]] = MappingProxyType({})

    def __init_subclass__(cls) -> None:
        for name, method in vars(cls).copy().items():
            if isinstance(method, FunctionType) and not name.startswith("_"):
                setattr(cls, name, method_beside(method))

    @property
    def _path(self) -> str:  # type: ignore[override]
        return f"scipy.stats.{self.name}"

    @property
    def _theirs(self) -> Any:  # type: ignore[override]
        return getattr(scipy.stats, self.name)

    def __call__(self, *args: Any, **keywords: Any) -> Frozen:
        """Fix the parameters."""
        return Frozen(self, args, keywords)

    def __getattr__(self, name: str) -> Any:
        ours = self._standard.get(name)
        if ours is None:
            return super().__getattr__(name)
        return lambda *args: (ours if self._differs(*args) else getattr(self._theirs, name))(*args)

    @cached_property
    def _shapes(self) -> tuple[str, ...]:
        """The names of the shape parameters."""
        return tuple((self._theirs.shapes or "").replace(",", " ").split())

    def _own_code(self, method: str, *args: Any, **keywords: Any) -> Any:
        """What a method of SciPy's class computes of traced values."""
        return getattr(_Twin(self._theirs), method)(*args, **keywords)

    def _standard_of(self, names: str, others: dict[str, Any]) -> dict[str, Any]:
        """The standard functions: those of SciPy's own code, by their names, and others."""
        found = {name: partial(self._own_code, f"_{name}") for name in names.split()} | others
        return {f"_{name}": function for name, function in found.items()}

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.name,)


class _Twin:
    """SciPy's distribution with methods for traced values, which call each other."""

    def __init__(self, theirs: Any) -> None:
        self._plain = theirs

    def __getattr__(self, name: str) -> Any:
        from tapeengine_scipy._bindings import bindings_of

        function = getattr(type(self._plain), name, None)
        if not isinstance(function, FunctionType):
            return getattr(self._plain, name)
        return MethodType(bindings_of(function.__module__).twin(function), self)


class OwnDensity(Distribution):
    """A distribution whose density is SciPy's own code."""

    def __init__(self, name: str) -> None:
        self.name = name

    def logpdf(self, *args: Any, **keywords: Any) -> Any:
        """Return the logarithm of the density."""
        return self._own_code("logpdf", *args, **keywords)

    def pdf(self, *args: Any, **keywords: Any) -> Any:
        """Return the density."""
        return self._own_code("pdf", *args, **keywords)


def _named(name: str) -> Any:
    return getattr(import_module("tapeengine_scipy.stats"), name)


def where_valid(valid: Any, value: Any) -> Any:
    """The value; NaN where parameters are outside their ranges, as in SciPy."""
    return value if np.all(valid) else np.where(valid, value, np.nan)


def inside(condition: Any, z: Any, substitute: float) -> Any:
    """The argument, replaced where it is outside the support, so that no derivative there is infinite or NaN."""
    return z if np.all(condition) else np.where(condition, z, substitute)


def bound(shapes: tuple[str, ...], defaults: dict[str, Any], args: Any, keywords: Any) -> dict[str, Any]:
    """The parameters of a call by name, in SciPy's order."""
    given = dict.fromkeys(shapes, Parameter.empty) | defaults
    kind = Parameter.POSITIONAL_OR_KEYWORD
    call = Signature([Parameter(name, kind, default=value) for name, value in given.items()]).bind(*args, **keywords)
    call.apply_defaults()
    return call.arguments


def density_of(
    log: Callable[..., Any], product: Callable[..., Any] | None, usual: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """The exponential of a logarithm, or the function `usual`; a product of powers where the logarithm is -inf.

    The derivatives of the product are finite there.
    """

    def density(z: Any, *shapes: Any) -> Any:
        logarithm = log(z, *shapes)
        at_edge = np.equal(logarithm, -float("inf"))
        value = usual(z, *shapes) if usual else np.exp(logarithm)
        if product is None or not np.any(at_edge):
            return value
        parts = [np.where(at_edge, part, other) for part, other in zip((z, *shapes), (1.0, *(0.5,) * len(shapes)))]
        return np.where(at_edge, product(*parts), value)

    return density


#: Squares of smaller probabilities, which second derivatives of logarithms divide by, are not representable.
_TINY, _ENLARGED = 1e-100, 2.0**600


def _log(probability: Any) -> Any:
    tiny = (probability > 0) & (probability < _TINY)
    if not np.any(tiny):
        return np.log(probability)
    factor = np.where(tiny, _ENLARGED, 1.0)
    return np.log(probability * factor) - np.log(factor)


def _log_of(function: Callable[..., Any], complement: Callable[..., Any]) -> Callable[..., Any]:
    """The logarithm of a probability, computed from the smaller one of it and its complement, as in SciPy."""

    def logarithm(z: Any, *shapes: Any) -> Any:
        probability = function(z, *shapes)
        small = probability < 0.5
        if np.all(small):
            return _log(probability)
        rest = complement(z, *shapes)
        if not np.any(small):
            return np.log1p(-rest)
        return np.where(small, _log(inside(small, probability, 0.5)), np.log1p(-inside(~small, rest, 0.5)))

    return logarithm


def _in_double(z: Any) -> Any:
    """The argument in double precision, in which SciPy returns all results."""
    return z if z.dtype == float else np.astype(z, numpy.promote_types(z.dtype, float))


class Continuous(Distribution):
    """A continuous distribution with location and scale.

    `own` names the standard functions that are SciPy's own code; `others` are functions of the argument and of the
    shape parameters, on the support: logpdf, cdf, logcdf, sf, logsf, ppf and isf. `product` is the density as a product
    of powers, for the ends of the support. `ends` are those of the standard support, if they depend on the shapes, and
    0 is then within. If the density `decays`, it is 0 at infinity, where the formula, and that of SciPy for others, may
    give NaN. All methods are compositions of primitives.
    """

    def __init__(
        self,
        name: str,
        own: str = "",
        product: Callable[..., Any] | None = None,
        ends: Callable[..., Any] | None = None,
        decays: bool = False,
        **others: Callable[..., Any],
    ) -> None:
        self.name, self._support, self._decays = name, ends, decays
        found = self._standard_of(own, others)
        found["_pdf"] = density_of(found["_logpdf"], product)
        if "_cdf" in found:
            found.setdefault("_logcdf", _log_of(found["_cdf"], found["_sf"]))
            found.setdefault("_logsf", _log_of(found["_sf"], found["_cdf"]))
        self._standard = found

    def _ends(self, shapes: tuple[Any, ...]) -> tuple[Any, Any]:
        """The ends of the standard support."""
        return (self._theirs.a, self._theirs.b) if self._support is None else self._support(*shapes)

    @cached_property
    def _interior(self) -> float:
        """A point within the support."""
        if self._support is not None:
            return 0.0
        low, high = self._theirs.a, self._theirs.b
        return max(low, 0.0) + 0.5 if high > 0 else high - 0.5

    def _function(self, name: str) -> Callable[..., Any]:
        """A standard function, if it has a derivative."""
        return self._standard.get(name) or refuse(f"{self._path}.{name[1:]}")

    def _parse(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], Any, Any]:
        given = bound(self._shapes, {"loc": 0.0, "scale": 1.0}, args, keywords)
        values = [floating(value) for value in given.values()]
        return tuple(values[:-2]), values[-2], values[-1]

    def _evaluate(self, function: str, x: Any, parsed: Any, below: float, above: float) -> Any:
        """A function of the standardised argument inside the support, and constants outside."""
        shapes, loc, scale = parsed
        z = _in_double(STANDARDISED(floating(x), loc, scale))
        low, high = self._ends(shapes)
        within = (z >= low) & (z <= high)
        if self._decays or function not in ("_logpdf", "_pdf"):
            within = within & np.isfinite(z)
        value = self._function(function)(inside(within, z, self._interior), *shapes)
        if not np.all(within):
            value = np.where(within, value, np.where(z <= low, below, above))
        return where_valid(self._own_code("_argcheck", *shapes) & (scale > 0) & ~np.isnan(z), value)[()]

    def logpdf(self, x: Any, *args: Any, **keywords: Any) -> Any:
        """Return the logarithm of the density."""
        parsed = self._parse(args, keywords)
        infinite = -float("inf")
        value = self._evaluate("_logpdf", x, parsed, infinite, infinite)
        return value - np.log(inside(value != infinite, parsed[2], 1.0))

    def pdf(self, x: Any, *args: Any, **keywords: Any) -> Any:
        """Return the density."""
        parsed = self._parse(args, keywords)
        return self._evaluate("_pdf", x, parsed, 0.0, 0.0) / parsed[2]

    def cdf(self, x: Any, *args: Any, **keywords: Any) -> Any:
        """Return the distribution function."""
        return self._evaluate("_cdf", x, self._parse(args, keywords), 0.0, 1.0)

    def logcdf(self, x: Any, *args: Any, **keywords: Any) -> Any:
        """Return the logarithm of the distribution function."""
        return self._evaluate("_logcdf", x, self._parse(args, keywords), -float("inf"), 0.0)

    def sf(self, x: Any, *args: Any, **keywords: Any) -> Any:
        """Return the survival function."""
        return self._evaluate("_sf", x, self._parse(args, keywords), 1.0, 0.0)

    def logsf(self, x: Any, *args: Any, **keywords: Any) -> Any:
        """Return the logarithm of the survival function."""
        return self._evaluate("_logsf", x, self._parse(args, keywords), 0.0, -float("inf"))

    def ppf(self, q: Any, *args: Any, **keywords: Any) -> Any:
        """Return the quantile of a probability, where it has a closed form."""
        parsed = self._parse(args, keywords)
        return self._quantile("_ppf", q, parsed, *self._ends(parsed[0]))

    def isf(self, q: Any, *args: Any, **keywords: Any) -> Any:
        """Return the quantile of a probability of the upper tail, where it has a closed form."""
        parsed = self._parse(args, keywords)
        return self._quantile("_isf", q, parsed, *self._ends(parsed[0])[::-1])

    def median(self, *args: Any, **keywords: Any) -> Any:
        """Return the median, where the quantile has a closed form."""
        return self.ppf(0.5, *args, **keywords)

    def interval(self, confidence: Any, *args: Any, **keywords: Any) -> Any:
        """Return the quantiles around the median between which a probability lies."""
        return tuple(self.ppf(0.5 + part * floating(confidence), *args, **keywords) for part in (-0.5, 0.5))

    def mean(self, *args: Any, **keywords: Any) -> Any:
        """Return the expected value."""
        parsed = self._parse(args, keywords)
        return self._of_parameters(parsed, self._moments(parsed[0])[0] * parsed[2] + parsed[1])

    def var(self, *args: Any, **keywords: Any) -> Any:
        """Return the variance."""
        parsed = self._parse(args, keywords)
        return self._of_parameters(parsed, self._moments(parsed[0])[1] * parsed[2] ** 2)

    def std(self, *args: Any, **keywords: Any) -> Any:
        """Return the standard deviation."""
        return np.sqrt(self.var(*args, **keywords))

    def entropy(self, *args: Any, **keywords: Any) -> Any:
        """Return the differential entropy."""
        parsed = self._parse(args, keywords)
        standard = np.vectorize(partial(self._method, "_entropy"))(*parsed[0])
        return self._of_parameters(parsed, standard + np.log(parsed[2]))

    def _of_parameters(self, parsed: Any, value: Any) -> Any:
        return where_valid(self._own_code("_argcheck", *parsed[0]) & (parsed[2] > 0), value)[()]

    def _moments(self, shapes: tuple[Any, ...]) -> Any:
        """The mean and the variance of the standard distribution, by SciPy's code."""
        found = self._own_code("_stats", *shapes)[:2]
        if found[0] is not None:
            return found
        first, second = (self._method("_munp", order, *shapes) for order in (1, 2))
        return first, second - first * first

    def _method(self, name: str, *args: Any) -> Any:
        """What a method of SciPy's class computes, unless it integrates."""
        if getattr(type(self._theirs), name) is getattr(scipy.stats.rv_continuous, name):
            refuse(f"{self._path}.{'entropy' if name == '_entropy' else 'moment'}")
        return self._own_code(name, *args)

    def _quantile(self, name: str, q: Any, parsed: Any, at_zero: float, at_one: float) -> Any:
        standard = self._function(name)
        (shapes, loc, scale), q = parsed, _in_double(floating(q))
        within = (q > 0) & (q < 1)
        z = standard(inside(within, q, 0.5), *shapes)
        if not np.all(within):
            z = np.where(within, z, np.where(q == 0, at_zero, np.where(q == 1, at_one, np.nan)))
        return where_valid(self._own_code("_argcheck", *shapes) & (scale > 0), z * scale + loc)[()]


class Discrete(Distribution):
    """A distribution on the integers.

    `logpmf` is the logarithm of its mass function, by default SciPy's own code; `product` is the mass function as a
    product of powers, for the ends of the parameters' ranges; elsewhere it is `pmf`.

    The number of events is discrete: derivatives are with respect to the parameters.
    """

    def __init__(self, name: str, product: Callable[..., Any], pmf: Callable[..., Any], **others: Any) -> None:
        self.name, self._standard = name, self._standard_of("logpmf", others)
        self._standard["_pmf"] = density_of(self._standard["_logpmf"], product, pmf)

    def _evaluate(self, function: str, outside: float, k: Any, args: Any, keywords: Any) -> Any:
        given = bound(self._shapes, {"loc": 0}, args, keywords)
        shapes = tuple(floating_real(given[name]) for name in self._shapes)
        k = floating(k) - given["loc"]
        low, high = self._own_code("_get_support", *shapes)
        within = (k == np.floor(k)) & (k >= low) & (k <= high)
        value = self._standard[function](inside(within, k, 1.0), *shapes)
        value = value if np.all(within) else np.where(within, value, outside)
        return where_valid(self._own_code("_argcheck", *shapes) & (k == k), value)[()]

    def logpmf(self, k: Any, *args: Any, **keywords: Any) -> Any:
        """Return the logarithm of the probability of `k`."""
        return self._evaluate("_logpmf", -float("inf"), k, args, keywords)

    def pmf(self, k: Any, *args: Any, **keywords: Any) -> Any:
        """Return the probability of `k`."""
        return self._evaluate("_pmf", 0.0, k, args, keywords)
