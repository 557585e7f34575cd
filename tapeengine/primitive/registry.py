"""The registry: the primitives, numpy rules and container classes of an engine, and the plugin that provides each.

A `Registry` is a value. It is built once from the contributions of plugins and passed to its users; nothing is
registered globally.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from ..errors import RegistryError
from . import Primitive


@dataclass(frozen=True)
class Origin:
    """The plugin that provides something.

    Attributes
    ----------
    plugin : str
        The name of its entry point, or of the object passed to the engine.
    distribution, version : str
        The installed distribution; empty for an object passed to the engine.
    """

    plugin: str
    distribution: str = ""
    version: str = ""

    def __str__(self) -> str:
        return (
            f"plugin {self.plugin} ({self.distribution} {self.version})"
            if self.distribution
            else f"plugin {self.plugin}"
        )


@dataclass(frozen=True)
class PluginFailure:
    """A plugin that could not be used, completely or in part, and the reason.

    Attributes
    ----------
    origin : Origin
    error : str
        The error that it raised, or the parts that were left out.
    whole : bool
        Whether no part of it is used.
    """

    origin: Origin
    error: str
    whole: bool = True

    def __str__(self) -> str:
        return f"{self.origin} failed: {self.error}" if self.whole else f"{self.origin} is used in part: {self.error}"


@dataclass(frozen=True)
class Contribution:
    """The contents of one plugin.

    Attributes
    ----------
    primitives : tuple of Primitive
    numpy_rules : mapping of callable to callable
        Maps a function or ufunc of numpy or another library to its replacement for traced values.
    structures : mapping of type to Container
        Container classes.
    modules : mapping of str to str
        The modules of a library that have counterparts for traced values.
    """

    origin: Origin
    primitives: tuple[Primitive, ...] = ()
    numpy_rules: Mapping[Any, Callable[..., Any]] = field(default_factory=dict)
    structures: Mapping[Any, Any] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)

    def without(self, others: Sequence[Contribution]) -> tuple[Contribution, list[str]]:
        """Leave out entries that other contributions have as well; also return descriptions of these entries."""
        lost: list[str] = []
        kept: dict[str, Any] = {}
        for part, what in PARTS.items():
            taken = {key: other.origin for other in others for key in other.keyed(part)}
            own = self.keyed(part)
            lost += [f"{what.format(shown(key))}, which {taken[key]} brings" for key in own if key in taken]
            kept[part] = {key: value for key, value in own.items() if key not in taken}
        return replace(self, **kept | {"primitives": tuple(kept["primitives"].values())}), lost

    def keyed(self, part: str) -> Mapping[Any, Any]:
        """One of the four parts as a mapping: primitives by their names."""
        found = getattr(self, part)
        return {primitive.name: primitive for primitive in found} if part == "primitives" else found


#: The parts of a contribution, and the description of an entry of each.
PARTS = MappingProxyType(
    {
        "primitives": "the primitive {}",
        "numpy_rules": "a rule for {}",
        "structures": "the container class {}",
        "modules": "a counterpart of the module {}",
    }
)


class Registry(Mapping[str, Primitive]):
    """The primitives by name, in the order of the plugins.

    Parameters
    ----------
    contributions : iterable of Contribution
        Their keys must not clash.
    failures : iterable of PluginFailure
        Plugins that could not be used; the error for an unknown primitive lists them.

    Attributes
    ----------
    numpy_rules : mapping
        All plugins' numpy rules.
    structures : mapping
        All plugins' container classes.
    modules : mapping
        All plugins' counterparts of modules.
    failures : tuple of PluginFailure

    Raises
    ------
    RegistryError
        If two plugins provide the same primitive name, a rule for the same function or the same container class.
    """

    __slots__ = ("_origins", "_primitives", "contributions", "failures", "modules", "numpy_rules", "structures")

    def __init__(self, contributions: Iterable[Contribution] = (), failures: Iterable[PluginFailure] = ()) -> None:
        self.contributions = tuple(contributions)
        self.failures = tuple(failures)
        for contribution in self.contributions:
            _check_unique(contribution)
        joined = {
            part: _joined(what, [(c.origin, c.keyed(part)) for c in self.contributions]) for part, what in PARTS.items()
        }
        self._primitives: Mapping[str, Primitive]
        self._primitives, self._origins = joined["primitives"]
        self.numpy_rules: Mapping[Any, Callable[..., Any]] = MappingProxyType(joined["numpy_rules"][0])
        self.structures: Mapping[Any, Any] = MappingProxyType(joined["structures"][0])
        self.modules: Mapping[str, str] = MappingProxyType(joined["modules"][0])

    def __getitem__(self, name: str) -> Primitive:
        try:
            return self._primitives[name]
        except KeyError:
            raise RegistryError(self._unknown(name)) from None

    def __contains__(self, name: object) -> bool:
        return name in self._primitives

    def get(self, name: str, default: Any = None) -> Any:
        """Return the primitive of a name, or `default`."""
        return self._primitives.get(name, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._primitives)

    def __len__(self) -> int:
        return len(self._primitives)

    def origin(self, name: str) -> Origin:
        """Return the plugin that provides a primitive."""
        self[name]
        return self._origins[name]

    def __repr__(self) -> str:
        return (
            f"<Registry of {len(self)} primitives from {len(self.contributions)} plugins, {len(self.failures)} failed>"
        )

    def _unknown(self, name: str) -> str:
        near = difflib.get_close_matches(name, self._primitives, n=3)
        lines = [f"there is no primitive {name!r}"]
        if near:
            lines[0] += f"; did you mean {' or '.join(map(repr, near))}?"
        else:
            lines[0] += "; `python -m tapeengine plugins` lists the installed plugins and their primitives"
        return "\n".join([*lines, *map(str, self.failures)])


def shown(key: Any) -> str:
    """A key in the form that messages use."""
    return repr(key) if isinstance(key, str) else getattr(key, "__qualname__", None) or repr(key)


def _check_unique(contribution: Contribution) -> None:
    seen: set[str] = set()
    for primitive in contribution.primitives:
        if primitive.name in seen:
            raise RegistryError(
                f"{contribution.origin} brings two primitives named {primitive.name!r}; rename one of them"
            )
        seen.add(primitive.name)


def _joined(what: str, parts: Sequence[tuple[Origin, Mapping[Any, Any]]]) -> tuple[dict[Any, Any], dict[Any, Origin]]:
    """Join mappings; refuse a key that occurs twice."""
    joined: dict[Any, Any] = {}
    origins: dict[Any, Origin] = {}
    for origin, part in parts:
        for key in part:
            if key in joined:
                raise RegistryError(
                    f"{origins[key]} and {origin} both bring {what.format(shown(key))}; "
                    f"rename one, or leave a plugin out with TAPEENGINE_DISABLE_PLUGINS={origin.plugin}"
                )
            origins[key] = origin
        joined.update(part)
    return joined, origins
