"""Code that all distributions share: location and scale, support, and frozen parameters."""

import functools
from collections.abc import Callable
from importlib import import_module
from inspect import Parameter, Signature
from types import FunctionType
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
    """A distribution with SciPy's name; methods without derivatives, and on plain values, are SciPy's."""

    name = ""

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
        ours = vars(self).get("_standard", {}).get(name)
        if ours is None:
            return super().__getattr__(name)
        return lambda *args: (ours if self._differs(*args) else getattr(self._theirs, name))(*args)

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.name,)


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


def _shapes_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the shape parameters, which follow the argument."""
    return function.__code__.co_varnames[1 : function.__code__.co_argcount]


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


def _mirrored(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda z, *shapes: function(-z, *shapes)


def _mirrored_back(quantile: Callable[..., Any]) -> Callable[..., Any]:
    return lambda q, *shapes: -quantile(q, *shapes)


def _all_positive(*values: Any) -> Any:
    return functools.reduce(lambda ok, value: ok & (value > 0), values, True)


def _in_double(z: Any) -> Any:
    """The argument in double precision, in which SciPy returns all results."""
    return z if z.dtype == float else np.astype(z, numpy.promote_types(z.dtype, float))


def _interior(low: Any, high: Any) -> float:
    """A point within the support."""
    if callable(low) or callable(high):
        return 0.0
    return max(low, 0.0) + 0.5 if high > 0 else high - 0.5


class Continuous(Distribution):
    """A continuous distribution with location and scale.

    `logpdf`, `cdf`, `sf`, `ppf` and `isf` are the standard functions on the support ``[low, high]``, functions of the
    argument and of the shape parameters, which have SciPy's names; `product` is the density as a product of powers, for
    the ends of the support. Without `sf`, the distribution is symmetric around 0; without `cdf`, it has densities only.
    The ends of the support may be functions of the shapes, and 0 is then within. The shapes are positive, or `valid`.
    If the density `decays`, it is 0 at infinity, where the formula, and that of SciPy for others, may give NaN.
    All methods are compositions of primitives.
    """

    def __init__(
        self,
        name: str,
        logpdf: Callable[..., Any],
        cdf: Callable[..., Any] | None = None,
        logcdf: Callable[..., Any] | None = None,
        sf: Callable[..., Any] | None = None,
        logsf: Callable[..., Any] | None = None,
        ppf: Callable[..., Any] | None = None,
        isf: Callable[..., Any] | None = None,
        low: float | Callable[..., Any] = -float("inf"),
        high: float | Callable[..., Any] = float("inf"),
        product: Callable[..., Any] | None = None,
        valid: Callable[..., Any] = _all_positive,
        decays: bool = False,
    ) -> None:
        self.name, self._shapes, self._valid, self._decays = name, _shapes_of(logpdf), valid, decays
        self._standard = {"_logpdf": logpdf, "_pdf": density_of(logpdf, product), "_ppf": ppf, "_isf": isf}
        if ppf and not sf:
            self._standard["_isf"] = _mirrored_back(ppf)
        if cdf:
            upper = sf or _mirrored(cdf)
            logcdf = logcdf or _log_of(cdf, upper)
            logsf = logsf or (_log_of(upper, cdf) if sf else _mirrored(logcdf))
            self._standard |= {"_cdf": cdf, "_logcdf": logcdf, "_sf": upper, "_logsf": logsf}
        self._low, self._high, self._interior = low, high, _interior(low, high)

    def _ends(self, shapes: tuple[Any, ...]) -> tuple[Any, Any]:
        """The ends of the standard support."""
        return tuple(end(*shapes) if callable(end) else end for end in (self._low, self._high))  # type: ignore[return-value]

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
        return where_valid(self._valid(*shapes) & (scale > 0) & ~np.isnan(z), value)[()]

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
        standard = np.vectorize(lambda *shapes: self._own_code("_entropy", shapes))(*parsed[0])
        return self._of_parameters(parsed, standard + np.log(parsed[2]))

    def _of_parameters(self, parsed: Any, value: Any) -> Any:
        return where_valid(self._valid(*parsed[0]) & (parsed[2] > 0), value)[()]

    def _moments(self, shapes: tuple[Any, ...]) -> Any:
        """The mean and the variance of the standard distribution, by SciPy's code."""
        found = self._own_code("_stats", shapes)[:2]
        if found[0] is not None:
            return found
        first, second = (self._own_code("_munp", (order, *shapes)) for order in (1, 2))
        return first, second - first * first

    def _own_code(self, method: str, args: tuple[Any, ...]) -> Any:
        """What a method of SciPy's class computes of traced values."""
        from tapeengine_scipy._bindings import bindings_of

        function = getattr(type(self._theirs), method)
        if method != "_stats" and function is getattr(scipy.stats.rv_continuous, method):  # which integrates
            refuse(f"{self._path}.{'entropy' if method == '_entropy' else 'moment'}")
        return bindings_of(function.__module__).twin(function)(self._theirs, *args)

    def _quantile(self, name: str, q: Any, parsed: Any, at_zero: float, at_one: float) -> Any:
        standard = self._function(name)
        (shapes, loc, scale), q = parsed, _in_double(floating(q))
        within = (q > 0) & (q < 1)
        z = standard(inside(within, q, 0.5), *shapes)
        if not np.all(within):
            z = np.where(within, z, np.where(q == 0, at_zero, np.where(q == 1, at_one, np.nan)))
        return where_valid(self._valid(*shapes) & (scale > 0), z * scale + loc)[()]


class Discrete(Distribution):
    """A distribution on the integers: the logarithm of its mass function, its support, and its valid parameters.

    `product` is the mass function as a product of powers, for the ends of the parameters' ranges; elsewhere it is
    `pmf`.

    The number of events is discrete: derivatives are with respect to the parameters.
    """

    def __init__(
        self,
        name: str,
        logpmf: Callable[..., Any],
        support: Callable[..., Any],
        valid: Callable[..., Any],
        product: Callable[..., Any],
        pmf: Callable[..., Any],
    ) -> None:
        self.name, self._shapes = name, _shapes_of(logpmf)
        self._standard = {"_logpmf": logpmf, "_pmf": density_of(logpmf, product, pmf)}
        self._support, self._valid = support, valid

    def _evaluate(self, function: str, outside: float, k: Any, args: Any, keywords: Any) -> Any:
        given = bound(self._shapes, {"loc": 0}, args, keywords)
        shapes = tuple(floating_real(given[name]) for name in self._shapes)
        k = floating(k) - given["loc"]
        within = (k == np.floor(k)) & self._support(k, *shapes)
        value = self._standard[function](inside(within, k, 1.0), *shapes)
        value = value if np.all(within) else np.where(within, value, outside)
        return where_valid(self._valid(*shapes) & (k == k), value)[()]

    def logpmf(self, k: Any, *args: Any, **keywords: Any) -> Any:
        """Return the logarithm of the probability of `k`."""
        return self._evaluate("_logpmf", -float("inf"), k, args, keywords)

    def pmf(self, k: Any, *args: Any, **keywords: Any) -> Any:
        """Return the probability of `k`."""
        return self._evaluate("_pmf", 0.0, k, args, keywords)
