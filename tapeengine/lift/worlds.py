"""Worlds: sets of packages that are lifted together, and import statements in their modules."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import cache, cached_property
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..errors import TWINS
from ..naming import named_like
from .classes import build_class, builtin_names
from .distributions import folder, top_level_names
from .modules import stand_in_module, with_stand_ins
from .operands import operand_names
from .stores import written_names

#: Packages that are never lifted implicitly: the engine, and those with stand-ins.
NEVER = {"tapeengine", "tapeengine_primitives", "tapeengine_scipy", "numpy", "scipy"}
#: What joins the names of roots: packages execute texts in which they import their own modules.
JOINED = "__and__"
#: C modules for which a module of the standard library has a fallback in Python.
ACCELERATORS = {"statistics": "_statistics"}


def names_of_code() -> dict[str, Any]:
    """The builtin names of changed code."""
    return {**builtin_names(), **written_names(), **operand_names(), "__build_class__": build_class}


class World:
    """Packages (roots) whose modules are imported again under a prefix, so that they refer to each other's twins."""

    def __init__(self, name: str) -> None:
        self.roots = frozenset(name.split(JOINED))
        self.prefix = f"{TWINS}{name}."
        self.missing = {ACCELERATORS[root] for root in self.roots if root in ACCELERATORS}
        self._owned: dict[str, bool] = {root: root != "tapeengine" for root in self.roots}

    @cached_property
    def builtins(self) -> dict[str, Any]:
        """The builtin names of the world's modules."""
        return {**names_of_code(), "__import__": self.import_statement}

    @cached_property
    def _siblings(self) -> set[str]:
        """The other top-level names of the roots' distributions."""
        return {name for root in self.roots for name in top_level_names(root)}

    @cached_property
    def _folders(self) -> set[str]:
        """The folders of roots without a distribution: modules beside them belong to the same project."""
        specs = [find_original(root, None) for root in self.roots if not top_level_names(root)]
        return {folder(spec) for spec in specs if spec is not None}

    def owns(self, name: str) -> bool:
        """Whether a module with that name is lifted in this world."""
        root = name.partition(".")[0]
        found = self._owned.get(root)
        if found is None:
            found = self._owned[root] = self._belongs(root)
        return found

    def _belongs(self, root: str) -> bool:
        if root in sys.stdlib_module_names or root in NEVER:
            return False
        if root in self._siblings:
            return True
        spec = find_original(root, None) if self._folders else None
        return spec is not None and folder(spec) in self._folders

    def module(self, name: str) -> ModuleType:
        """The twin of a module."""
        return importlib.import_module(self.prefix + name)

    def import_statement(
        self,
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        """`__import__` in this world."""
        if level:
            return builtins.__import__(name, globals, locals, fromlist, level)
        top, _, rest = name.partition(".")
        if top in self.seen and not (rest and fromlist):
            builtins.__import__(name)
            return self.seen[top]
        module = stand_in_module(name)
        if module is not None:
            if fromlist:  # these may be submodules, which nothing has imported yet
                builtins.__import__(name, globals, locals, fromlist, 0)
            return module if fromlist else stand_in_module(name.partition(".")[0])
        if name in self.missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if not self.owns(name):
            module = builtins.__import__(name, globals, locals, fromlist, 0)
            return with_stand_ins(module, tuple(fromlist)) if fromlist else stand_in_module(top) or module
        found = builtins.__import__(self.prefix + name, globals, locals, fromlist or ("__name__",), 0)
        return found if fromlist else sys.modules[self.prefix + name.partition(".")[0]]

    @cached_property
    def seen(self) -> dict[str, ModuleType]:
        """The modules that find other modules by their names."""
        return {
            "importlib": Seen(importlib, import_module=self.import_module),
            "sys": Seen(sys, modules=Modules(self)),
        }

    def import_module(self, name: str, package: str | None = None) -> ModuleType:
        """`importlib.import_module` in this world."""
        if name.startswith("."):
            if package is None or package.startswith(self.prefix):
                return importlib.import_module(name, package)
            name = importlib.util.resolve_name(name, package)
        found = self.import_statement(name, fromlist=("__name__",))
        assert isinstance(found, ModuleType)
        return found


named_like(World.import_statement, builtins.__import__)


class Seen(ModuleType):
    """A module with some names replaced, which reads and writes all others in the module itself."""

    def __init__(self, module: ModuleType, **names: Any) -> None:
        super().__init__(module.__name__, module.__doc__)
        vars(self).update(names, __wrapped__=module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.__wrapped__, name, value)


class Modules(MutableMapping[str, Any]):
    """`sys.modules` in a world: twins stand under the names of their originals."""

    def __init__(self, world: World) -> None:
        self.world = world

    def named(self, name: str) -> str:
        """The name of the module that stands under a name."""
        return self.world.prefix + name if self.world.owns(name) and name != "__main__" else name

    def __getitem__(self, name: str) -> Any:
        named = self.named(name)
        if named == name:
            return (name in sys.modules and stand_in_module(name)) or sys.modules[name]
        if named not in sys.modules and name in sys.modules:
            self.world.module(name)
        return sys.modules[named]

    def __setitem__(self, name: str, module: Any) -> None:
        sys.modules[self.named(name)] = module

    def __delitem__(self, name: str) -> None:
        del sys.modules[self.named(name)]

    def __iter__(self) -> Iterator[str]:
        return (name.removeprefix(self.world.prefix) for name in list(sys.modules) if self.named(name) == name)

    def __len__(self) -> int:
        return sum(1 for _ in self)


@cache
def world_named(name: str) -> World:
    """The world with the given roots, sorted and joined."""
    return World(name)


def world_of(module: str, also: Iterable[str] = ()) -> World:
    """The world of a module's package and of further ones."""
    roots = {name.partition(".")[0] for name in (module, *also)}
    return world_named(JOINED.join(sorted(roots)))


def find_original(name: str, path: Any) -> ModuleSpec | None:
    """The spec of a module under its own name; the module is not imported."""
    for finder in sys.meta_path:
        find: Any = None if getattr(finder, "finds_twins", False) else getattr(finder, "find_spec", None)
        if find is None:
            continue
        try:
            spec = find(name, path, None)
        except KeyError:  # a package without an __init__.py asks for its parent
            importlib.import_module(name.rpartition(".")[0])
            spec = find(name, path, None)
        if spec is not None:
            found: ModuleSpec = spec
            return found
    return None
