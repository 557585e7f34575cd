"""Numpy runs programs of arrays, as where no native code is installed."""

import pytest

from tapeengine.chad.run import execute


@pytest.fixture(autouse=True)
def _numpy_from_129_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execute, "is_installed", lambda: False)
