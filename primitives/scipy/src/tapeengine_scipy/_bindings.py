"""SciPy's own code with other bindings: its names are bound to what they are in lifted code.

Functions with a rule are bound to that rule, numpy to `tapeengine.numpy`, and other functions of SciPy to their own
code in turn, at the first call, for the names that are used.
"""

import sys
from collections.abc import Callable
from functools import cache, reduce
from importlib import import_module
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, NoReturn

import numpy

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine.lift.functions import Relinked
from tapeengine.lift.modules import replaced_object
from tapeengine.lift.worlds import World
from tapeengine_primitives.extremes import within
from tapeengine_scipy._equalities import CALLED, equal, guarded_code
from tapeengine_scipy._passing import Passed, find
from tapeengine_scipy._values import is_traced, of_python, root


class _Windows:
    """Windows along the last axis, which the caller declares writable and does not write to: it takes some of them."""

    def __init__(self, x: Any, window_shape: int, axis: int, writeable: bool) -> None:
        self.x, self.size = x, window_shape

    def __getitem__(self, place: Any) -> Any:
        starts = numpy.arange(self.x.shape[-1] - self.size + 1)[place[1]]
        return self.x[..., starts[:, None] + numpy.arange(self.size)]


def _convolved(in1: Any, in2: Any, flip: int, mode: int, boundary: int, fill: Any) -> Any:
    """What SciPy's compiled code for two dimensions computes: the part of a convolution of the extended image."""
    valid, same = mode == 0, mode == 1
    kind = {0: "constant", 4: "symmetric", 8: "wrap"}[boundary]
    if not valid:
        rest = {"constant_values": fill} if boundary == 0 else {}
        shape, in1 = in1.shape, np.pad(in1, [(size - 1, size - 1) for size in in2.shape], kind, **rest)
    convolve, turned = replaced_object(find("scipy.signal.convolve")), in2 if flip else np.flip(in2)
    found = convolve(in1, turned, mode="valid", method="direct")
    starts = [(size - flip) // 2 for size in in2.shape]
    return found[tuple(slice(i, i + n) for i, n in zip(starts, shape, strict=True))] if same else found


def _trimmed(filt: Any, trim: str) -> Any:
    """The coefficients without zeros at one end, of which traced ones would lose their derivatives."""
    found = np.trim_zeros(filt, trim)
    if is_traced(filt) and len(found) < len(filt):
        raise UnsupportedError("bilinear has no derivative by leading coefficients of 0; leave them out of b and a")
    return found


def _median(image: Any, size: Any) -> Any:
    """SciPy's median of images: that of arrays."""
    return replaced_object(find("scipy.signal.medfilt"))(image, size)


def _yeojohnson(x: Any, lmbda: Any, **options: Any) -> Any:
    """SciPy's transform, whose formulas for parameters near 0 and 2 do not depend on these."""
    _ = equal(lmbda, 0), equal(lmbda, 2)
    return code_of("scipy.stats._morestats._yeojohnson_transform")(x, lmbda, **options)


def _ranked(x: Any, rank: int, size: int, out: Any, mode: int, cval: Any, origin: int) -> None:
    """SciPy's filter of vectors by ranks."""
    find(f"{_FILTERS}.rank_filter")(x, rank, np.ones(size, bool), out, mode, cval, [origin])


def _lengths(x: Any, out: Any, casting: str) -> None:
    """The lengths of gradients; the derivative of a length of 0 is 0."""
    find(f"{_FILTERS}.write")(out, root(x))


def _minimised(method: str) -> Callable[..., Any]:
    """SciPy's function that minimises a function of a number by a method: `minimize_scalar`."""

    def minimum(func: Any, where: Any, args: Any = (), **options: Any) -> Any:
        given = (None, where) if method == "bounded" else (where, None)
        found = find("tapeengine_scipy.optimize.minimize_scalar")(func, *given, args, method, None, options)
        if method == "golden" and numpy.shape(where) == (3,) and all(type(x) in (int, float) for x in where):
            found["x"] = of_python(found["x"])
            found["fun"] = func(found["x"], *(args if isinstance(args, tuple) else (args,)))
        return found

    return minimum


def _memoised(fun: Any) -> NoReturn:
    """SciPy's class of functions that return their derivatives as well, which they keep."""
    raise UnsupportedError("root_scalar: fprime=True is not differentiated; pass the derivative as a function")


class _Changed:
    """A module that is imported, with some names of its own, and those of another module."""

    def __init__(self, module: str, ours: str = "", **names: Any) -> None:
        self.module, self.ours = module, ours
        vars(self).update(names)

    def __getattr__(self, name: str) -> Any:
        own = vars(import_module(self.ours)) if self.ours else {}
        return own[name] if name in own else getattr(replaced_object(sys.modules[self.module]), name)


class _Whole:
    """A polynomial with zeros among its highest coefficients: numpy's class leaves them out of products and sums."""

    def __init__(self, whole: Any) -> None:
        self.whole = np.asarray(whole, float) if isinstance(whole, tuple) else whole

    @property
    def coef(self) -> Any:
        return np.polynomial.polyutils.trimseq(self.whole)

    def __truediv__(self, number: Any) -> "_Whole":
        return _Whole(self.whole / number)

    def __mul__(self, other: Any) -> "_Whole":
        return _Whole(np.convolve(self.whole, other.whole) if isinstance(other, _Whole) else self.whole * other)

    __rmul__ = __mul__

    def __pow__(self, count: int) -> "_Whole":
        return reduce(_Whole.__mul__, [self] * count) if count else _Whole((1.0,))

    def __add__(self, other: Any) -> "_Whole":
        return _Whole(self.whole + other.whole)

    def __radd__(self, zero: int) -> "_Whole":
        return self


#: numpy where a correlation is clipped, of which only rounding errors exceed its limits.
_ROUNDED = _Changed("numpy", clip=within)
_VIEWS = SimpleNamespace(stride_tricks=SimpleNamespace(sliding_window_view=_Windows))
_FILTERS, _SPLINES = "tapeengine_scipy.ndimage.filters", "tapeengine_scipy.ndimage.interpolation"
_SPLINES_OF_KNOTS = "tapeengine_scipy.interpolate.fitpack"
#: Names that stand for something else in modules of SciPy.
_REPLACED: dict[tuple[str, str], Any] = {
    ("scipy.interpolate._fitpack_impl", "dfitpack"): _Changed("scipy.interpolate._dfitpack", _SPLINES_OF_KNOTS),
    ("scipy.ndimage._filters", "_nd_image"): _Changed("scipy.ndimage._nd_image", _FILTERS),
    ("scipy.ndimage._filters", "_rank_filter_1d"): _Changed("scipy.ndimage._rank_filter_1d", rank_filter=_ranked),
    ("scipy.ndimage._filters", "np"): _Changed("numpy", sqrt=_lengths),
    ("scipy.ndimage._interpolation", "_nd_image"): _Changed("scipy.ndimage._nd_image", _SPLINES),
    **{
        ("scipy.optimize._optimize", f"_minimize_scalar_{method}"): _minimised(method)
        for method in ("bounded", "brent", "golden")
    },
    ("scipy.optimize._root_scalar", "MemoizeDer"): _memoised,
    ("scipy.signal._filter_design", "np"): _Changed(
        "numpy", polynomial=SimpleNamespace(Polynomial=_Whole), trim_zeros=_trimmed
    ),
    ("scipy.signal._spectral_py", "np"): _Changed("numpy", lib=_VIEWS),
    ("scipy.signal._signaltools", "_sigtools"): _Changed(
        "scipy.signal._sigtools", _convolve2d=_convolved, _medfilt2d=_median
    ),
    ("scipy.spatial.distance", "np"): _ROUNDED,
    ("scipy.stats._stats_py", "array_namespace"): lambda *arrays: _ROUNDED,
    ("scipy.stats._morestats", "_yeojohnson_transform"): _yeojohnson,
}
#: Classes whose methods compute, and whose instances are no results; and the module of such classes.
_COMPUTING = ("ShortTimeFFT", "CZT", "ZoomFFT", "at", "_NQuad")
#: Classes of results whose methods compute.
_RESULTS, _METHODS = ("PearsonRResult", "TtestResult"), ("confidence_interval",)
_SYSTEMS = "scipy.signal._ltisys"


#: The modules in which SciPy offers numpy's functions, which have their names since numpy 2.
_NAMESPACE = "scipy._lib.array_api_compat."


def _is_of_scipy(module: str) -> bool:
    return module.partition(".")[0] == "scipy"


class _Module(ModuleType):
    """A module of SciPy's, with the counterparts of its names."""

    def __getattr__(self, name: str) -> Any:
        theirs = sys.modules[self.__name__]
        found = bindings_of(self.__name__).twin(getattr(theirs, name))
        setattr(self, name, found)
        return found


@cache
def module_of(name: str) -> ModuleType:
    """Return the counterpart of one of SciPy's modules."""
    return _Module(name)


def _remade(make: Any, *given: Any) -> Any:
    return make(*given)


class Bindings(Relinked):
    """The counterparts of the names in one of SciPy's modules."""

    code_of = staticmethod(guarded_code)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.here.update(CALLED)

    def bind(self, name: str) -> None:
        """Bind a name to its counterpart."""
        super().bind(name)
        self.here[name] = _REPLACED.get((self.there["__name__"], name), self.here[name])

    def make(self, value: Any) -> Any:
        """Make the counterpart of a value; of the functions in SciPy's tables as well."""
        if type(value) is list and value and all(map(callable, value)):
            return [self.twin(function) for function in value]
        if type(value) is dict and value and all(type(held) in (list, tuple) for held in value.values()):
            return {key: self.twin(held) for key, held in value.items()}
        return super().make(value)

    def module(self, value: ModuleType) -> ModuleType:
        """Return the counterpart of a module: of SciPy's, that of its names; of its namespace of arrays, numpy's."""
        if value.__name__.startswith(_NAMESPACE):
            value = sys.modules[value.__name__.removeprefix(_NAMESPACE)]
        return module_of(value.__name__) if _is_of_scipy(value.__name__) else super().module(value)

    def function(self, value: FunctionType) -> Any:
        """Return the rule of a function; without one, its code, which may be a decorator's, with other bindings."""
        found, home = replaced_object(value), value.__globals__.get("__name__", "")
        if found is not value:
            return found
        if home.startswith("scipy.optimize."):  # the steps of an iteration do not have the solution's derivative
            return Passed(value, f"scipy.optimize.{value.__name__}")
        if value.__globals__ is not self.there and _is_of_scipy(home):
            return bindings_of(home).twin(value)
        return super().function(value)

    def class_(self, value: type) -> Any:
        """Return the counterpart of a class that computes; others are as they are: results have SciPy's classes."""
        if value.__name__ in _COMPUTING or (value.__module__ == _SYSTEMS and not issubclass(value, Warning)):
            home = bindings_of(value.__module__)
            return super().class_(value) if home is self else home.twin(value)
        return self._result(value) if value.__name__ in _RESULTS else replaced_object(value)

    def _result(self, value: type) -> Any:
        """Return a subclass of a class of results, whose methods compute with the counterparts of their names."""
        own = {name: super(Bindings, self).function(f) for name, f in vars(value).items() if name in _METHODS}

        def reduced(result: Any, protocol: int) -> Any:
            make, (_, *given), *rest = value.__reduce_ex__(result, 2)
            return (_remade, (make, value, *given), *rest)

        return type(value)(value.__name__, (value,), {"__module__": value.__module__, "__reduce_ex__": reduced, **own})


@cache
def bindings_of(module: str) -> Bindings:
    """Return the bindings of one of SciPy's modules, all of which are of one world."""
    return Bindings(vars(sys.modules[module]), World("tapeengine_scipy"), lambda function, also: function)


@cache
def code_of(path: str) -> Any:
    """Return the code of SciPy's function at `path` with the bindings for traced values."""
    theirs = find(path)
    return Relinked.function(bindings_of(theirs.__globals__["__name__"]), theirs)
