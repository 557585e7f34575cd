"""The names of this package's modules: their own, those whose rule is SciPy's own code, and SciPy's other ones."""

from collections.abc import Callable
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

import numpy

from tapeengine_scipy._own_code import NAMES, rule
from tapeengine_scipy._passing import around, passed

#: Functions and classes that raise an error of their own for traced values, which does not say why.
_UNCLEAR = {
    "scipy.differentiate": "derivative hessian jacobian",
    "scipy.integrate": "complex_ode nsum ode tanhsinh",
    "scipy.linalg": "ldl matrix_balance",
    "scipy.ndimage": """
        binary_closing binary_dilation binary_erosion binary_fill_holes binary_hit_or_miss binary_opening
        binary_propagation
    """,
    "scipy.optimize": "brute direct line_search lsq_linear milp",
    "scipy.optimize.elementwise": "bracket_minimum bracket_root find_minimum find_root",
    "scipy.sparse": "kron kronsum tril triu",
    "scipy.stats": """
        Binomial Normal Uniform truncate
        ansari binned_statistic bws_test cramervonmises_2samp epps_singleton_2samp fligner
        kruskal logrank mannwhitneyu median_test mode siegelslopes tukey_hsd
    """,
}


def _lifted_names(path: str) -> list[str]:
    """The names of SciPy's module at `path` that are this package's in lifted code.

    These are those with rules, and functions, classes and objects, such as distributions, whose own errors are unclear.
    """
    ours, theirs = import_module(f"tapeengine_{path}"), import_module(path)
    plain = (type, ModuleType, FunctionType, numpy.ufunc)
    objects = (name for name, value in vars(theirs).items() if callable(value) and not isinstance(value, plain))
    found = dict.fromkeys([*getattr(ours, "__all__", dir(ours)), *_UNCLEAR.get(path, "").split(), *objects])
    return [name for name in found if hasattr(theirs, name)]


def names_of(path: str, here: dict[str, Any] | None = None) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for the counterpart of SciPy's module at `path`.

    The functions whose rule is SciPy's own code go to its namespace `here`, which has an ``__all__``.
    """
    if here is not None:
        found = {name: rule(f"{path}.{name}") for name in NAMES[path].split()}
        here.update(found)
        here["__all__"].extend(found)

    def get(name: str) -> Any:
        if name == "__lifted__":
            return _lifted_names(path)
        if name == "__around__":
            return around
        if name.startswith("__"):
            raise AttributeError(name)
        return passed(getattr(import_module(path), name), f"{path}.{name}")

    def names() -> list[str]:
        module = import_module(path)
        return sorted({*getattr(module, "__all__", dir(module))})

    return get, names
