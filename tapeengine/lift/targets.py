"""The targets of `te.lift` (a module, its name, a function or a class), and how to find their twins."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from functools import cache
from importlib.machinery import SourceFileLoader
from types import FunctionType, MethodType, ModuleType
from typing import Any

from ..errors import TWINS, UnsupportedError
from ..naming import attribute_of, reached
from .functions import Relinked, remade, viewed
from .modules import replaced_object, stand_in_module
from .worlds import NEVER, World, find_original, world_of


def twin_of(target: Any, also: Iterable[str] = ()) -> Any:
    """See `tapeengine.lift.lift`."""
    also = tuple(also) if isinstance(also, Iterable) and not isinstance(also, str) else (also,)
    for name in (*also, target if isinstance(target, str) else "."):
        if not isinstance(name, str) or not name:
            raise UnsupportedError(f"{name!r} is no name of a module: write te.lift('package.module')")
    if isinstance(target, str):
        return named(target, also)
    if isinstance(target, ModuleType):
        return target if target.__name__.startswith(TWINS) else named(target.__name__, also)
    if (attribute_of(target, "__module__") or "").startswith(TWINS):
        return target
    replaced = replaced_object(target)
    if replaced is not target:
        return replaced
    return in_module(target, also)


def lift_again(target: Any, also: tuple[str, ...]) -> Any:
    """Lift a function again; called when it is unpickled."""
    return twin_of(target, also)


def named(name: str, also: tuple[str, ...]) -> Any:
    """The twin of a module, or of an object in one, by name."""
    found = stand_in_module(name)
    if found is not None:
        return found
    if name == "__main__":
        raise UnsupportedError("__main__ cannot be imported again; lift its functions: f = tapeengine.lift(f)")
    world = world_of(name, also)
    try:
        return world.module(name)
    except ModuleNotFoundError as error:
        above, _, last = name.rpartition(".")
        if not above or error.name != world.prefix + name:
            raise without_prefix(error, world) from None
        owner = named(above, also)
        if not hasattr(owner, last):
            raise without_prefix(error, world) from None
        return getattr(owner, last)


def without_prefix(error: ModuleNotFoundError, world: World) -> ModuleNotFoundError:
    """The error with the module name that the user gave."""
    name = (error.name or "").removeprefix(world.prefix)
    return ModuleNotFoundError(f"No module named {name!r}", name=name)


def in_module(target: Any, also: tuple[str, ...]) -> Any:
    """The twin of an object: the same name in its module's twin, or its own code with other bindings."""
    if isinstance(target, MethodType):
        return bound(target, also)
    if isinstance(target, functools.partial):
        return functools.partial(twin_of(target.func, also), *target.args, **target.keywords)
    made = remade(target, lambda value: twin_of(value, also) if callable(value) else value)
    if made is not None:
        return made
    module, name = attribute_of(target, "__module__"), attribute_of(target, "__qualname__")
    module = "__main__" if module is None and isinstance(target, FunctionType) else module
    if name is None and callable(target):
        return viewed(target, twin_of(type(target), also))
    if module is None or name is None:
        raise UnsupportedError(f"{target!r} is no module, function or class that can be lifted")
    if is_importable(module) and reached(sys.modules[module], name) is target:
        found = reached(world_of(module, also).module(module), name)
        if found is not None:
            return found
    function = target
    while not isinstance(function, (FunctionType, type)) or is_of_the_engine(function):
        function = attribute_of(function, "__wrapped__")
        if function is None:
            raise UnsupportedError(f"{target!r} is C code, which cannot be lifted; a plugin can provide a rule for it")
    names = function.__globals__ if isinstance(function, FunctionType) else vars(sys.modules[module])
    if names is vars(functools) and hasattr(function, "registry"):  # of functools.singledispatch
        names = function.registry[object].__globals__
    linked = relinked(names, also)
    if isinstance(target, FunctionType):
        return linked.entry(target, also)
    return linked.twin(target)


def is_of_the_engine(function: Any) -> bool:
    """Whether a function is one that the engine has put around the program's function."""
    names = getattr(function, "__globals__", {})
    return hasattr(function, "__wrapped__") and names.get("__name__", "").partition(".")[0] in NEVER


def bound(method: MethodType, also: tuple[str, ...]) -> Any:
    """The twin of a bound method: its class's twin, bound to the same attributes."""
    owner = method.__self__
    if isinstance(owner, type):
        return getattr(twin_of(owner, also), method.__name__)
    return getattr(viewed(owner, twin_of(type(owner), also)), method.__name__)


def is_importable(module: str) -> bool:
    """Whether a module can be imported again."""
    there = sys.modules.get(module)
    spec = getattr(there, "__spec__", None)
    if there is None or module == "__main__" or spec is None or spec.origin is None:
        return False
    above = getattr(sys.modules.get(module.rpartition(".")[0]), "__path__", None)
    try:
        found = find_original(module, above)
    except (ImportError, ValueError):
        return False
    # A module may have been made from a file that no import finds.
    return found is not None and found.origin == spec.origin and isinstance(spec.loader, SourceFileLoader)


class Namespaces:
    """The twins of namespaces that cannot be imported again."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, tuple[str, ...]], Relinked] = {}

    def find(self, names: dict[str, Any], also: tuple[str, ...]) -> Relinked:
        """The twins of one namespace."""
        key = id(names), also
        found = self.known.get(key)
        if found is None or found.there is not names:
            module = names.get("__name__") or "__main__"
            found = self.known[key] = Relinked(names, world_of(module, also), lift_again)
        return found


@cache
def namespaces() -> Namespaces:
    """The twins made in this process."""
    return Namespaces()


def relinked(names: dict[str, Any], also: tuple[str, ...]) -> Relinked:
    """The twins of a namespace's objects."""
    return namespaces().find(names, also)
