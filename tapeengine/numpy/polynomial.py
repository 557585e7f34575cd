"""numpy.polynomial, for programs that are differentiated.

numpy's modules are Python code on arrays. They run here once more, with `tapeengine.numpy` in place of numpy.
"""

from __future__ import annotations

import builtins
import importlib.util
import sys
from types import ModuleType
from typing import Any

from .._core.tape.tape import outside
from ._twins import twin_of

THEIRS = "numpy.polynomial"
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


def classes() -> dict[str, Any]:
    """The classes of series by name, and the modules."""
    found: dict[str, Any] = {name: twin(name) for name in MODULES}
    for name in ("Polynomial", "Chebyshev", "Legendre", "Hermite", "HermiteE", "Laguerre"):
        module = {"HermiteE": "hermite_e"}.get(name, name.lower())
        found[name] = getattr(found[module], name)
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
