"""The import hook: a name that begins with a world's prefix denotes the twin of the module named after it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from .._core.tape.tape import outside
from ..errors import TWINS
from .bytecode import kept_code
from .rewrite import compiled
from .worlds import World, find_original, world_named

if TYPE_CHECKING:
    from importlib.metadata import Distribution


def install() -> None:
    """Add the finder to the import system."""
    if not any(isinstance(finder, TwinFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, TwinFinder())  # first, since other finders would find the source through a path


class TwinFinder(MetaPathFinder):
    """Finds twins through their originals."""

    def find_spec(self, fullname: str, path: Any, target: ModuleType | None = None) -> ModuleSpec | None:
        """The twin's spec, with the locations of the original's spec."""
        if not fullname.startswith(TWINS):
            return None
        world, _, name = fullname.removeprefix(TWINS).partition(".")
        if not name:
            return ModuleSpec(fullname, None, is_package=True)
        spec = find_original(name, path if "." in name else None)
        return None if spec is None else twin_spec(fullname, TwinLoader(world_named(world), spec), spec)

    @classmethod
    def find_distributions(cls, context: Any = None) -> list[Distribution]:
        """The original's distribution for a twin that asks for its own by ``__name__``."""
        if context is None or not (context.name or "").startswith(TWINS):
            return []
        from importlib.metadata import Distribution

        return [Distribution.from_name(context.name.removeprefix(TWINS).partition(".")[2])]


def twin_spec(fullname: str, loader: TwinLoader, spec: ModuleSpec) -> ModuleSpec:
    """A copy of a spec under another name."""
    places: Sequence[str] | None = spec.submodule_search_locations
    found = ModuleSpec(fullname, loader, origin=spec.origin, is_package=places is not None)
    if places is not None:
        found.submodule_search_locations = list(places)
    found.has_location = spec.has_location
    found.cached = spec.cached
    return found


class TwinLoader(Loader):
    """Executes the code of a module with the bindings of a world."""

    def __init__(self, world: World, spec: ModuleSpec) -> None:
        self.world, self.spec = world, spec
        self.loader: Any = spec.loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return None, so that Python creates the module."""
        return None

    def exec_module(self, module: ModuleType) -> None:
        """Execute the source again; C code is shared with the original."""
        if self.loader is None:
            return
        code = None if isinstance(self.loader, ExtensionFileLoader) else self.get_code(module.__name__)
        if code is None:
            shared = vars(importlib.import_module(self.spec.name))
            module.__dict__.update({name: value for name, value in shared.items() if name not in module.__dict__})
        else:
            module.__dict__["__builtins__"] = self.world.builtins
            outside(exec, code, module.__dict__)  # a module's content outlives the trace during which it is imported

    def get_code(self, name: str) -> CodeType | None:
        """The original's code; code of a changed tree only where bindings of names do not suffice."""
        place = self.spec.origin
        if place is not None and place.endswith(".py"):
            return kept_code(place, self.made_code)
        return self.made_code()

    def made_code(self) -> CodeType | None:
        """Compile the code, if it is not cached."""
        place = self.spec.origin
        if place is not None and place.endswith(".py"):
            changed = compiled(self.get_data(place), place)
            if changed is not None:
                return changed
        if hasattr(self.loader, "get_code"):
            found: CodeType | None = self.loader.get_code(self.spec.name)
            return found
        return None if place is None else compile(self.get_data(place), place, "exec", dont_inherit=True)

    def get_source(self, name: str) -> str | None:
        """The original's source."""
        found: str | None = self.loader.get_source(self.spec.name) if hasattr(self.loader, "get_source") else None
        return found

    def get_data(self, path: str) -> bytes:
        """The content of a file of the package."""
        found: bytes = self.loader.get_data(path) if hasattr(self.loader, "get_data") else Path(path).read_bytes()
        return found

    def get_filename(self, name: str) -> str:
        """The original's file."""
        return self.spec.origin or ""

    def is_package(self, name: str) -> bool:
        """Whether it is a package."""
        return self.spec.submodule_search_locations is not None

    def get_resource_reader(self, name: str) -> Any:
        """The reader for data files of the package."""
        reader = getattr(self.loader, "get_resource_reader", None)
        return None if reader is None else reader(self.spec.name)
