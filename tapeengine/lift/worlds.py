"""Worlds: sets of packages that are lifted together, and import statements in their modules."""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from ..dropped import TWINS
from .classes import build_class, builtin_names
from .distributions import folder, top_level_names
from .modules import stand_in_module, with_stand_ins
from .operands import operand_names
from .stores import written_names

#: Packages that are never lifted implicitly: the engine, and those with stand-ins.
NEVER = {"tapeengine", "tapeengine_primitives", "tapeengine_scipy", "numpy", "scipy"}
#: C modules for which a module of the standard library has a fallback in Python.
ACCELERATORS = {"statistics": "_statistics"}


class World:
    """Packages whose modules are imported again, so that they refer to each other's twins.

    Attributes
    ----------
    roots : frozenset of str
        The top-level names of the packages.
    prefix : str
        The first part of a twin's name; the original's name follows.
    """

    def __init__(self, name: str) -> None:
        self.roots = frozenset(name.split("+"))
        self.prefix = f"{TWINS}{name}."
        self.missing = {ACCELERATORS[root] for root in self.roots if root in ACCELERATORS}
        self._owned: dict[str, bool] = dict.fromkeys(self.roots, True)

    @cached_property
    def builtins(self) -> dict[str, Any]:
        """The builtin names of the world's modules."""
        return {
            **builtin_names(),
            **written_names(),
            **operand_names(),
            "__import__": self.import_statement,
            "__build_class__": build_class,
        }

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
        if name == "importlib":
            return self.importlib
        module = stand_in_module(name)
        if module is not None:
            return module if fromlist else stand_in_module(name.partition(".")[0])
        if name in self.missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        if not self.owns(name):
            module = builtins.__import__(name, globals, locals, fromlist, 0)
            return with_stand_ins(module, tuple(fromlist)) if fromlist else module
        found = builtins.__import__(self.prefix + name, globals, locals, fromlist or ("__name__",), 0)
        return found if fromlist else sys.modules[self.prefix + name.partition(".")[0]]

    @cached_property
    def importlib(self) -> ModuleType:
        """The module `importlib`, with a function that imports into this world."""
        module = ModuleType("importlib", importlib.__doc__)
        module.__dict__.update(vars(importlib), import_module=self.import_module)
        return module

    def import_module(self, name: str, package: str | None = None) -> ModuleType:
        """`importlib.import_module` in this world."""
        if name.startswith("."):
            return importlib.import_module(name, package)
        found = self.import_statement(name, fromlist=("__name__",))
        assert isinstance(found, ModuleType)
        return found


@cache
def world_named(name: str) -> World:
    """The world with the given roots, sorted and joined by +."""
    return World(name)


def world_of(module: str, also: Iterable[str] = ()) -> World:
    """The world of a module's package and of further ones."""
    roots = {name.partition(".")[0] for name in (module, *also)}
    return world_named("+".join(sorted(roots)))


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
