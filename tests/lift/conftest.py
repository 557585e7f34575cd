"""Packages of a few lines, written for single tests."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Write modules into a folder of the import path: ``package({"name": source, "pkg/mod": source})``."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(sources: dict[str, str | bytes]) -> None:
        for name, source in sources.items():
            path = (tmp_path / name).with_suffix(".py")
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(source.encode() if isinstance(source, str) else source)

    yield write
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]
