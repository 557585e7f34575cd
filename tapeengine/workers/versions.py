"""The check that a worker has the same version of the package, and the plugins of the program's engine."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

from ..default import default_engine
from ..errors import WorkerError
from ..primitive.registry import Registry

#: The version of the package, and the name, distribution and version of each plugin.
Stamp = tuple[str, tuple[tuple[str, str, str], ...]]


def stamp_of(registry: Registry) -> Stamp:
    """The versions that an engine uses."""
    origins = [contribution.origin for contribution in registry.contributions]
    return _own_version(), tuple((o.plugin, o.distribution, o.version) for o in origins)


@cache
def _own_version() -> str:
    return version("tapeengine")


def differences(theirs: Stamp, ours: Stamp) -> list[str]:
    """Descriptions of the differences between a worker, whose versions are `ours`, and the program."""
    found = [] if theirs[0] == ours[0] else [f"tapeengine {theirs[0]} in the program and {ours[0]} on the worker"]
    here = {(plugin, distribution): version for plugin, distribution, version in ours[1]}
    for plugin, distribution, wanted in theirs[1]:
        told = f"{distribution} {wanted}".strip()
        has = here.get((plugin, distribution))
        if has is None:
            found.append(f"{told} (plugin {plugin})".strip() + " in the program alone")
        elif has != wanted:
            found.append(f"{told} (plugin {plugin}) in the program and {has} on the worker")
    return found


def check(theirs: Stamp) -> None:
    """Refuse tasks of a program with other versions.

    Raises
    ------
    WorkerError
        With both versions of each difference.
    """
    found = differences(theirs, stamp_of(default_engine().registry))
    if found:
        raise WorkerError(f"a worker cannot run tasks of this program: {'; '.join(found)}. Install the same on both")
