"""`te.lifted`: an import of a package returns the package's twin."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from .targets import twin_of
from .worlds import World, world_of


class Aliases(MetaPathFinder, Loader):
    """Finds the twins of a world under the names of the originals."""

    finds_twins = True

    def __init__(self, world: World) -> None:
        self.world = world
        self.specs: dict[str, Any] = {}

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """A spec for each module of the world."""
        return ModuleSpec(fullname, self) if self.world.owns(fullname) else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The twin, imported now if necessary."""
        module = self.world.module(spec.name)
        self.specs[spec.name] = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: the twin has been executed."""
        module.__spec__ = self.specs[module.__name__.removeprefix(self.world.prefix)]


@contextmanager
def imports_of(package: str, also: Iterable[str]) -> Iterator[ModuleType]:
    """See `tapeengine.lift.lifted`."""
    world = world_of(package, (also,) if isinstance(also, str) else also)
    finder = Aliases(world)
    kept = {name: module for name, module in list(sys.modules.items()) if world.owns(name)}
    for name in kept:
        del sys.modules[name]
    sys.meta_path.insert(0, finder)
    try:
        yield twin_of(package, also)
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in list(sys.modules) if world.owns(name)]:
            del sys.modules[name]
        sys.modules.update(kept)
