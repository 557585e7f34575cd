"""The hooks that a plugin may implement. Each returns data; none is called while a program runs.

A plugin is a module (or any object) with functions that are marked by `hookimpl`, in a distribution whose entry point
of the group ``tapeengine`` names that module::

    # pyproject.toml
    [project.entry-points.tapeengine]
    example = "tapeengine_example.plugin"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pluggy

from ..primitive import Primitive

if TYPE_CHECKING:
    from ..structure import Container

__all__ = [
    "hookimpl",
    "hookspec",
    "tapeengine_configure",
    "tapeengine_modules",
    "tapeengine_numpy_rules",
    "tapeengine_primitives",
    "tapeengine_structures",
]

hookspec = pluggy.HookspecMarker("tapeengine")
hookimpl = pluggy.HookimplMarker("tapeengine")


@hookspec
def tapeengine_primitives() -> Iterable[Primitive]:  # type: ignore[empty-body]
    """Return the primitives of this plugin.

    Returns
    -------
    iterable of Primitive
        Their names must differ from those of other plugins' primitives.

    Examples
    --------
    >>> import types
    >>> import numpy as np
    >>> from tapeengine.primitive.builders import elementwise
    >>> from tapeengine.plugins import hookimpl, load_plugins
    >>> from tapeengine.primitive import Sample, uniform
    >>> cube = elementwise(
    ...     "example.cube", lambda x: x**3, lambda x: 3.0 * x**2,
    ...     samples=(Sample((uniform(3),)),), doc="x**3; dx = 3 x**2 ct",
    ... )
    >>> class Plugin:
    ...     @hookimpl
    ...     def tapeengine_primitives(self):
    ...         return [cube]
    >>> load_plugins([Plugin()]).registry["example.cube"](2.0)
    8.0
    """


@hookspec
def tapeengine_numpy_rules() -> Mapping[Callable[..., Any], Callable[..., Any]]:  # type: ignore[empty-body]
    """Map functions of numpy, or of another library, to their replacements for traced values.

    Returns
    -------
    mapping of callable to callable
        The keys are functions that dispatch on their arguments (ufuncs, their methods as ``(numpy.add, "reduce")``,
        and functions of numpy's ``__array_function__`` protocol). A value takes the key's own parameters; it is a
        primitive, or an ordinary function of primitives. A key may also be the name of a module that is slow to
        import, such as ``"scipy.special"``: its value is a function that returns the mapping. It is called once that
        module has been imported and a function without a rule is called.

    Examples
    --------
    >>> import numpy as np
    >>> from tapeengine.primitive.builders import elementwise
    >>> from tapeengine.plugins import hookimpl, load_plugins
    >>> cbrt = elementwise("example.cbrt", np.cbrt, lambda out: 1.0 / (3.0 * out**2), args=("x",))
    >>> class Plugin:
    ...     @hookimpl
    ...     def tapeengine_primitives(self):
    ...         return [cbrt]
    ...     @hookimpl
    ...     def tapeengine_numpy_rules(self):
    ...         return {np.cbrt: cbrt}
    >>> load_plugins([Plugin()]).registry.numpy_rules[np.cbrt] is cbrt
    True
    """


@hookspec
def tapeengine_structures() -> Mapping[type | tuple[str, str], Container]:  # type: ignore[empty-body]
    """Register container classes: how to decompose a value into its children and rebuild it.

    Returns
    -------
    mapping of type to tapeengine.structure.Container
        Named tuples, dataclasses and the standard library's containers are known already. A class that is slow to
        import may be named by library and name: ``("scipy", "OptimizeResult")``.

    Examples
    --------
    >>> from tapeengine.plugins import hookimpl, load_plugins
    >>> from tapeengine.structure import Container
    >>> class Interval:
    ...     def __init__(self, low, high):
    ...         self.low, self.high = low, high
    >>> class Plugin:
    ...     @hookimpl
    ...     def tapeengine_structures(self):
    ...         take = lambda interval: ([interval.low, interval.high], None)
    ...         return {Interval: Container(take, lambda aux, ends: Interval(*ends), lambda aux: [".low", ".high"])}
    >>> [cls.__name__ for cls in load_plugins([Plugin()]).registry.structures]
    ['Interval']
    """


@hookspec
def tapeengine_modules() -> Mapping[str, str]:  # type: ignore[empty-body]
    """Name the modules of a library that have counterparts for traced values, for lifted code.

    Returns
    -------
    mapping of str to str
        Maps the name of a module to the name of the module that replaces it in lifted code.

    Examples
    --------
    >>> from tapeengine.plugins import hookimpl, load_plugins
    >>> class Plugin:
    ...     @hookimpl
    ...     def tapeengine_modules(self):
    ...         return {"example.special": "tapeengine_example.special"}
    >>> load_plugins([Plugin()]).registry.modules["example.special"]
    'tapeengine_example.special'
    """


@hookspec
def tapeengine_configure(engine: Any) -> None:
    """Inspect or change an engine that has just been built with this plugin; called once for each engine.

    Parameters
    ----------
    engine : tapeengine.Engine
        The engine, with its registry.

    Examples
    --------
    >>> from tapeengine.plugins import hookimpl, load_plugins
    >>> class Plugin:
    ...     @hookimpl
    ...     def tapeengine_configure(self, engine):
    ...         print(f"configures {engine}")
    >>> registry = load_plugins([Plugin()]).configure("an engine")
    configures an engine
    """
