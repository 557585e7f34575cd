"""numpy.polynomial, for programs that are differentiated.

numpy's modules are Python code on arrays. They run here once more, with `tapeengine.numpy` in place of numpy.
"""

from __future__ import annotations

import builtins
import importlib.util
import sys
from functools import wraps
from types import FunctionType, ModuleType
from typing import Any

from numpy import copysign, ndarray, zeros

from .._core.arrays.array import Array
from .._core.sweeps.trace import value_of
from .._core.tape.tape import outside
from ._twins import twin_of

THEIRS = "numpy.polynomial"
#: The modules whose products are sums of multiples of a series, and how their names begin.
PRODUCTS = {"hermite": "herm", "hermite_e": "herme", "laguerre": "lag", "legendre": "leg"}
MODULES = ("polyutils", "_polybase", "polynomial", "chebyshev", "hermite", "hermite_e", "laguerre", "legendre")


def imported(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """The import statement for those modules: numpy is `tapeengine.numpy`, and its functions are not dispatched."""
    if name == "numpy" and not level:
        return twin_of("numpy")
    if name == "numpy._core.overrides":
        found = ModuleType(name)
        found.array_function_dispatch = lambda *args, **options: lambda function: function  # type: ignore[attr-defined]
        return found
    return builtins.__import__(name, globals, locals, fromlist, level)


def twin(name: str) -> ModuleType:
    """Execute one of numpy's modules again, with other bindings."""
    spec = importlib.util.find_spec(f"{THEIRS}.{name}")
    assert spec is not None and spec.loader is not None
    module = ModuleType(f"{__name__}.{name}", None)
    module.__package__ = __name__
    module.__file__ = spec.origin
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": imported}
    sys.modules[module.__name__] = module
    code = spec.loader.get_code(spec.name)  # type: ignore[attr-defined]
    outside(exec, code, module.__dict__)  # a module's content outlives the trace during which it is imported
    return module


def changed(function: Any, **names: Any) -> Any:
    """The same code with other bindings of some names."""
    return FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)


def may_end_in_zero(series: Any) -> bool:
    """Whether the last coefficient is 0, or the series is not given as an array."""
    return not isinstance(series, (ndarray, Array)) or series.ndim != 1 or not len(series) or value_of(series[-1]) == 0


def with_zeros(utilities: Any, combine: Any, *factors: float) -> Any:
    """The sum or difference of series with its last zeros, and with the derivatives by those of the series.

    numpy leaves them out, also within a product, where they are no last coefficients: those of `legmul([0, 1], c)` are
    0 times `c` plus others.
    """
    theirs = changed(combine, trimseq=lambda series: series)

    def combined(*series: Any) -> Any:
        if not any(map(may_end_in_zero, series)):
            return theirs(*series)
        wholes = [utilities.as_series([c], trim=False)[0] for c in series]
        found = theirs(*series)
        if missing := max(map(len, wholes)) - len(found):
            found = utilities.np.append(found, zeros(missing, found.dtype))
        for whole, factor in zip(wholes, factors, strict=True):
            held = len(utilities.trimseq(whole))
            if isinstance(whole, Array) and held < len(whole):
                part = found[held : len(whole)]
                sign = 1.0 if part.dtype.kind == "c" else copysign(1.0, part)  # so that a zero keeps its sign
                part[...] = sign * (sign * part + sign * factor * whole[held:])
        return found

    return combined


def without_zeros(utilities: Any, function: Any) -> Any:
    """The function of two series without the last zeros of its result."""
    return wraps(function)(lambda c1, c2: utilities.trimseq(function(c1, c2)))


def keep_zeros(found: dict[str, Any]) -> None:
    """Give sums, differences and products of series the derivatives by coefficients that are 0."""
    utilities = found["polyutils"]
    add = with_zeros(utilities, utilities._add, 1.0, 1.0)
    subtract = with_zeros(utilities, utilities._sub, 1.0, -1.0)
    utilities._add, utilities._sub = without_zeros(utilities, add), without_zeros(utilities, subtract)
    for module, start in PRODUCTS.items():
        name = f"{start}mul"
        whole = changed(getattr(found[module], name), **{f"{start}add": add, f"{start}sub": subtract})
        setattr(found[module], name, without_zeros(utilities, whole))


def classes() -> dict[str, Any]:
    """The classes of series by name, and the modules."""
    found: dict[str, Any] = {name: twin(name) for name in MODULES}
    keep_zeros(found)
    for name in ("Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre"):
        module = {"HermiteE": "hermite_e"}.get(name, name.lower())
        found[name] = made = getattr(found[module], name)
        made._mul = staticmethod(getattr(found[module], made._mul.__name__))
    found["_polybase"].ABCPolyBase.__tapeengine_parts__ = True
    return found


__path__: list[str] = []  # the modules are entries of sys.modules
globals().update(classes())


def set_default_printstyle(style: str) -> None:
    """See `numpy.polynomial.set_default_printstyle`."""
    if style not in ("unicode", "ascii"):
        raise ValueError(f"Unsupported format string '{style}'. Valid options are 'ascii' and 'unicode'")
    globals()["_polybase"].ABCPolyBase._use_unicode = style == "unicode"


__all__ = [
    *("Chebyshev", "Hermite", "HermiteE", "Laguerre", "Legendre", "Polynomial", "chebyshev", "hermite", "hermite_e"),
    *("laguerre", "legendre", "polynomial", "set_default_printstyle"),
]
