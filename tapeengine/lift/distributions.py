"""The top-level names of the distribution that a package belongs to."""

from __future__ import annotations

import importlib.metadata
import os
from functools import cache
from importlib.machinery import ModuleSpec


@cache
def top_level_names(root: str) -> frozenset[str]:
    """The top-level names of a package's distribution; none if no distribution has installed it."""
    try:
        found = importlib.metadata.distribution(root)
    except (importlib.metadata.PackageNotFoundError, ValueError):
        return _searched(root)
    names = (found.read_text("top_level.txt") or "").split()
    if not names:
        files = found.files or ()
        names = [file.parts[0].removesuffix(".py") for file in files if file.suffix == ".py"]
    return frozenset({*names, root}) if root in names else _searched(root)


def _searched(root: str) -> frozenset[str]:
    """The same for a package whose distribution has another name."""
    owners = _owners()
    mine = set(owners.get(root, ()))
    return frozenset(name for name, distributions in owners.items() if mine & set(distributions))


@cache
def _owners() -> dict[str, list[str]]:
    return dict(importlib.metadata.packages_distributions())


def folder(spec: ModuleSpec) -> str:
    """The folder of the import path that contains a top-level module."""
    places = spec.submodule_search_locations
    place = next(iter(places), None) if places is not None else spec.origin
    return os.path.dirname(os.path.abspath(place)) if place else ""
