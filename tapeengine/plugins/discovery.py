"""Finds plugins and collects their contributions; a plugin that fails does not affect the others.

pluggy's own loader of entry points stops at the first plugin that cannot be imported. The loop here imports, registers
and calls each plugin separately, and records any exception with the plugin's version.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

import pluggy

from ..errors import RegistryError
from ..primitive import Primitive
from ..primitive.registry import Contribution, Origin, PluginFailure, Registry
from . import hookspecs

GROUP = "tapeengine"
_DISABLE = "TAPEENGINE_DISABLE_PLUGINS"
_FIRST = "tapeengine"


@dataclass(frozen=True)
class PluginRecord:
    """One plugin and what was found about it.

    Attributes
    ----------
    origin : Origin
        Its name, distribution and version.
    hooks : tuple of str
        The hooks that it implements.
    contribution : Contribution or None
        Its contents; None if it failed or is disabled.
    error : str
        Why it cannot be used; empty if it can.
    disabled : bool
        Whether TAPEENGINE_DISABLE_PLUGINS names it.
    plugin : object
        The module or object with the hooks; None if it failed or is disabled.
    lost : tuple of str
        Its entries that an earlier plugin also provides; they are left out.
    """

    origin: Origin
    hooks: tuple[str, ...] = ()
    contribution: Contribution | None = None
    error: str = ""
    disabled: bool = False
    plugin: Any = None
    lost: tuple[str, ...] = ()

    @property
    def failures(self) -> list[PluginFailure]:
        """The failures of this plugin, with reasons."""
        if self.error:
            return [PluginFailure(self.origin, self.error)]
        return [PluginFailure(self.origin, f"without {what}", whole=False) for what in self.lost]


class LoadedPlugins:
    """The plugins of one engine.

    Attributes
    ----------
    records : tuple of PluginRecord
        All plugins that were found, including those that failed or are disabled.
    registry : Registry
        The contents of the others.
    """

    def __init__(
        self, manager: pluggy.PluginManager, records: Iterable[PluginRecord], *, explicit: bool = False
    ) -> None:
        self._manager = manager
        self._explicit = explicit
        self.records = tuple(records)
        failures = [failure for record in self.records for failure in record.failures]
        found = [record.contribution for record in self.records if record.contribution is not None]
        self.registry = Registry(found, failures)

    def configure(self, engine: Any) -> Registry:
        """Call the plugins' `tapeengine_configure` in order, and return the registry with their failures added.

        Raises
        ------
        RegistryError
            If a plugin that was passed explicitly fails.
        """
        failures = []
        for record in self.records:
            if record.contribution is not None and "tapeengine_configure" in record.hooks:
                try:
                    _ask(self._manager, record.plugin, "tapeengine_configure", engine=engine)
                except Exception as error:
                    failures.append(PluginFailure(record.origin, f"its tapeengine_configure raises {_told(error)}"))
        if failures and self._explicit:
            raise RegistryError(str(failures[0]))
        return (
            Registry(self.registry.contributions, (*self.registry.failures, *failures)) if failures else self.registry
        )


def load_plugins(plugins: Sequence[Any] | None = None) -> LoadedPlugins:
    """Find plugins and collect their contributions.

    Parameters
    ----------
    plugins : sequence, optional
        Modules or other objects with hooks, and names of installed plugins. If two of them provide the same primitive
        name, a rule for the same function or the same class, the later one is used. By default all installed plugins
        except those named in the environment variable TAPEENGINE_DISABLE_PLUGINS (by plugin or distribution, separated
        by commas).

    Returns
    -------
    LoadedPlugins
        An installed plugin that fails is in its records and in the registry's failures. So are entries that an earlier
        plugin provides as well; they are left out.

    Raises
    ------
    RegistryError
        If a plugin in `plugins` is not installed or fails.
    """
    manager = pluggy.PluginManager("tapeengine")
    manager.add_hookspecs(hookspecs)
    if plugins is None:
        return LoadedPlugins(manager, _first_wins(_installed(manager)))
    if isinstance(plugins, str) or not isinstance(plugins, Iterable):
        raise RegistryError(f"plugins= takes a list: write plugins=[{plugins!r}]")
    records = [_explicit(manager, plugin) for plugin in plugins]
    for record in records:
        if record.error:
            raise RegistryError(f"{record.origin} failed: {record.error}")
    return LoadedPlugins(manager, _last_wins(records), explicit=True)


def _installed(manager: pluggy.PluginManager) -> list[PluginRecord]:
    named = {name.strip() for name in os.environ.get(_DISABLE, "").split(",") if name.strip()}
    records = []
    for point in sorted(entry_points(group=GROUP), key=_order):
        origin = _origin(point)
        if named & {origin.plugin, origin.distribution}:
            records.append(PluginRecord(origin, disabled=True))
        else:
            records.append(_record(manager, origin, point.load))
    return records


def _order(point: EntryPoint) -> tuple[bool, str, str]:
    """The order of plugins: first-party ones first, then by distribution name, independent of the order on disk."""
    distribution = point.dist.name if point.dist is not None else ""
    return distribution != _FIRST, distribution, point.name


def _origin(point: EntryPoint) -> Origin:
    if point.dist is None:
        return Origin(point.name)
    return Origin(point.name, point.dist.name, point.dist.version)


def _explicit(manager: pluggy.PluginManager, given: Any) -> PluginRecord:
    plugin = given
    if isinstance(plugin, str):
        points = [point for point in entry_points(group=GROUP) if point.name == plugin]
        if not points:
            there = ", ".join(sorted(point.name for point in entry_points(group=GROUP))) or "none"
            raise RegistryError(f"there is no installed plugin {plugin!r}; installed are: {there}")
        return _record(manager, _origin(points[0]), points[0].load)
    name = getattr(plugin, "__name__", type(plugin).__name__)
    if type(plugin).__hash__ is None:  # pluggy needs hashable plugins
        plugin = ModuleType(name)
        plugin.__dict__.update({key: getattr(given, key) for key in dir(given) if not key.startswith("__")})
    return _record(manager, Origin(name), lambda: plugin)


def _record(manager: pluggy.PluginManager, origin: Origin, load: Callable[[], Any]) -> PluginRecord:
    """Import and call one plugin; an exception becomes the record's error."""
    plugin = None
    try:
        plugin = load()
        manager.register(plugin, _free_name(manager, origin))
        hooks = _hooks(manager, plugin)
        return PluginRecord(origin, hooks, _contribution(manager, origin, plugin, hooks), plugin=plugin)
    except (Exception, SystemExit) as error:
        if plugin is not None and manager.is_registered(plugin):
            manager.unregister(plugin)
        return PluginRecord(origin, error=_told(error))


def _free_name(manager: pluggy.PluginManager, origin: Origin) -> str:
    """A unique name for a plugin: two distributions may use the same entry point name."""
    name = f"{origin.distribution}:{origin.plugin}"
    return name if not manager.has_plugin(name) else f"{name}:{len(manager.get_plugins())}"


def _told(error: BaseException) -> str:
    return str(error) if isinstance(error, RegistryError) else f"{type(error).__name__}: {error}"


def _hooks(manager: pluggy.PluginManager, plugin: Any) -> tuple[str, ...]:
    callers = manager.get_hookcallers(plugin) or []
    for caller in callers:
        if caller.spec is None:
            known = ", ".join(name for name in hookspecs.__all__ if name.startswith("tapeengine_"))
            raise RegistryError(f"it implements {caller.name}, which is no hook; there are {known}")
    if not callers:
        raise RegistryError("it implements no hook; mark its functions with tapeengine.plugins.hookimpl")
    return tuple(sorted(caller.name for caller in callers))


def _contribution(manager: pluggy.PluginManager, origin: Origin, plugin: Any, hooks: tuple[str, ...]) -> Contribution:
    found = Contribution(origin)
    if "tapeengine_primitives" in hooks:
        found = replace(found, primitives=_primitives(_ask(manager, plugin, "tapeengine_primitives")))
    if "tapeengine_numpy_rules" in hooks:
        found = replace(found, numpy_rules=_numpy_rules(_ask(manager, plugin, "tapeengine_numpy_rules")))
    if "tapeengine_structures" in hooks:
        found = replace(found, structures=_structures(_ask(manager, plugin, "tapeengine_structures")))
    if "tapeengine_modules" in hooks:
        found = replace(found, modules=_module_names(_ask(manager, plugin, "tapeengine_modules")))
    Registry([found])
    return found


def _ask(manager: pluggy.PluginManager, plugin: Any, hook: str, **parameters: Any) -> Any:
    """Call one hook of one plugin; None where it returns None."""
    others = [other for other in manager.get_plugins() if other is not plugin]
    answers = manager.subset_hook_caller(hook, others)(**parameters)
    return answers[0] if answers else None


def _primitives(answer: Any) -> tuple[Primitive, ...]:
    if not isinstance(answer, Iterable):
        raise RegistryError(f"its tapeengine_primitives returns {_kind(answer)}, not an iterable of Primitive")
    found = tuple(answer)
    for item in found:
        if not isinstance(item, Primitive):
            raise RegistryError(f"its tapeengine_primitives returns {_kind(item)} among its primitives")
    return found


def _numpy_rules(answer: Any) -> Mapping[Any, Any]:
    for function, rule in _mapping("tapeengine_numpy_rules", answer, "functions to rules").items():
        called = function[0] if _is_method(function) else function
        if not (callable(called) or isinstance(function, str)) or not callable(rule):
            raise RegistryError(f"its tapeengine_numpy_rules maps {function!r} to {rule!r}; both must be callable")
    return dict(answer)


def _is_method(key: Any) -> bool:
    """Whether a key names a method of a ufunc, such as ``(numpy.add, "reduce")``."""
    return isinstance(key, tuple) and len(key) == 2 and isinstance(key[1], str)


def _structures(answer: Any) -> Mapping[type, Any]:
    from ..structure import Container

    for kind, container in _mapping("tapeengine_structures", answer, "classes to Container").items():
        if not isinstance(kind, type | tuple) or not isinstance(container, Container):
            raise RegistryError(f"its tapeengine_structures maps {kind!r} to {container!r}, not a class to a Container")
    return dict(answer)


def _module_names(answer: Any) -> Mapping[str, str]:
    for name, counterpart in _mapping("tapeengine_modules", answer, "names of modules").items():
        if not isinstance(name, str) or not isinstance(counterpart, str):
            raise RegistryError(f"its tapeengine_modules maps {name!r} to {counterpart!r}; both must be names")
    return dict(answer)


def _mapping(hook: str, answer: Any, of: str) -> Mapping[Any, Any]:
    if not isinstance(answer, Mapping):
        raise RegistryError(f"its {hook} returns {_kind(answer)}, not a mapping of {of}")
    return answer


def _kind(value: Any) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"


def _first_wins(records: list[PluginRecord]) -> list[PluginRecord]:
    """Leave out of each plugin the entries of earlier plugins; the record lists them, and the rest is used."""
    kept: list[Contribution] = []
    checked = []
    for record in records:
        if record.contribution is not None:
            own, lost = record.contribution.without(kept)
            kept.append(own)
            record = replace(record, contribution=own, lost=tuple(lost))
        checked.append(record)
    return checked


def _last_wins(records: list[PluginRecord]) -> list[PluginRecord]:
    """Leave out of each plugin the entries of later ones: the order of an explicit list is deliberate."""
    later = [[other.contribution for other in records[i + 1 :] if other.contribution] for i in range(len(records))]
    return [
        replace(record, contribution=record.contribution and record.contribution.without(others)[0])
        for record, others in zip(records, later, strict=True)
    ]
