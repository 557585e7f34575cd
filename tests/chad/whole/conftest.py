"""Programs of arrays with 129 numbers run numpy's operations, also where native code is installed."""

import pytest

from tapeengine._core.programs.native import FEW_NUMBERS
from tapeengine.chad.backends import tiers


@pytest.fixture(autouse=True)
def _numpy_from_129_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FEW_COMPILED", "MOST_COMPILED"):
        monkeypatch.setattr(tiers, name, FEW_NUMBERS)
