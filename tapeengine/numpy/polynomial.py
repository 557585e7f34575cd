"""numpy.polynomial, for programs that are differentiated.

numpy's modules are Python code on arrays. They run here once more, with `tapeengine.numpy` in place of numpy.
"""

from __future__ import annotations

import builtins
import importlib.util
import sys
from functools import partial, wraps
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from numpy import isfinite

from .._core.arrays.array import Array
from .._core.sweeps.trace import value_of
from .._core.tape.tape import outside
from ._twins import twin_of

THEIRS = "numpy.polynomial"
#: The modules of series, and how the names of their functions begin.
SERIES = {"polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "laguerre": "lag"}
SERIES |= {"hermite": "herm", "hermite_e": "herme"}
MODULES = ("polyutils", "_polybase", *SERIES)


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
    return FunctionType(function.__code__, {**function.__globals__, **names}, None, function.__defaults__)


def with_zeros(theirs: Any, whole: Any) -> Any:
    """A function of series with numpy's value, and the derivatives of the same function of whole series.

    numpy leaves out zeros at the end of series and of sums, also within a product, where they are no last coefficients:
    those of `legmul([0, 1], c)` are 0 times `c` plus others.
    """

    def called(series: list[Any], *options: Any) -> Any:
        found = whole(*series, *options)
        if not isinstance(found, Array) or not isfinite(value_of(found)).all():  # where 0 times a coefficient is no 0
            return theirs(*series, *options)
        value = theirs(*map(value_of, series), *options)
        found = found[: len(value)]
        return value - (value_of(found) - found)  # so that a zero keeps its sign

    return called


def keep_zeros(found: dict[str, Any]) -> None:
    """Give sums, differences, products and powers of series the derivatives by coefficients that are 0."""
    utilities = found["polyutils"]
    read = partial(utilities.as_series, trim=False)
    names: dict[str, Any] = {"as_series": read, "trimseq": lambda series: series}
    held = SimpleNamespace(**{**vars(utilities), **names})
    held._add, held._sub, held._pow = (changed(getattr(utilities, x), **names) for x in ("_add", "_sub", "_pow"))
    for name in ("_add", "_sub"):
        theirs = vars(utilities)[name]
        vars(utilities)[name] = of_two(theirs, with_zeros(theirs, vars(held)[name]), read)
    for module, start in SERIES.items():
        multiply, power = (vars(found[module])[start + rest] for rest in ("mul", "pow"))
        by_x = changed(vars(found[module])[f"{start}mulx"], pu=held)
        parts = {f"{start}add": held._add, f"{start}sub": held._sub, f"{start}mulx": by_x}
        whole = changed(multiply, pu=held, **parts)
        of_powers = with_zeros(power, changed(power, pu=held, **{f"{start}mul": whole}))
        vars(found[module])[f"{start}mul"] = of_two(multiply, with_zeros(multiply, whole), read)
        vars(found[module])[f"{start}pow"] = of_one(power, of_powers, read)


def of_two(theirs: Any, called: Any, read: Any) -> Any:
    """A function of two series with numpy's name and parameters."""
    return wraps(theirs)(lambda c1, c2: called([read([c])[0] for c in (c1, c2)]))


def of_one(theirs: Any, called: Any, read: Any) -> Any:
    """The same of a series and two whole numbers."""
    return wraps(theirs)(lambda c, pow, maxpower=theirs.__defaults__[0]: called(read([c]), pow, maxpower))


def classes() -> dict[str, Any]:
    """The classes of series by name, and the modules."""
    found: dict[str, Any] = {name: twin(name) for name in MODULES}
    keep_zeros(found)
    for name in ("Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre"):
        module = {"HermiteE": "hermite_e"}.get(name, name.lower())
        found[name] = made = getattr(found[module], name)
        for operation in ("_mul", "_pow"):
            setattr(made, operation, staticmethod(getattr(found[module], getattr(made, operation).__name__)))
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
