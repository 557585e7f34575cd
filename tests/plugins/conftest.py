"""Fake distributions: a module and a dist-info folder on the import path, as an installer would create them."""

import sys
from collections.abc import Callable, Iterator
from importlib import invalidate_caches
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

import pytest

from tapeengine.plugins import discovery

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install a fake distribution: ``install("plugin", source, distribution=..., version=...)``; others are hidden."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(discovery, "entry_points", lambda group: _points(group, tmp_path))
    monkeypatch.delenv("TAPEENGINE_DISABLE_PLUGINS", raising=False)
    before = set(sys.modules)

    def add(plugin: str, source: str, *, distribution: str = "", version: str = "1.0") -> Path:
        distribution = distribution or f"fake-{plugin}"
        module = f"fake_module_{plugin}"
        (tmp_path / f"{module}.py").write_text(source)
        folder = tmp_path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        folder.mkdir(exist_ok=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        with (folder / "entry_points.txt").open("a") as file:
            file.write(f"[tapeengine]\n{plugin} = {module}\n")
        invalidate_caches()
        return tmp_path

    yield add
    for name in set(sys.modules) - before:
        if name.startswith("fake_module_"):
            del sys.modules[name]


def _points(group: str, folder: Path) -> list[EntryPoint]:
    """The entry points of the distributions in a folder."""
    return [p for p in entry_points(group=group) if p.dist is not None and Path(str(p.dist.locate_file(""))) == folder]
