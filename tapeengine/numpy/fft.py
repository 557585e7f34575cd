"""numpy.fft, for programs that are differentiated."""

from __future__ import annotations

from typing import Any

import numpy as _numpy

from .._core.arrays.functions import offered as _offered


def __getattr__(name: str) -> Any:
    value = globals()[name] = _offered(getattr(_numpy.fft, name))
    return value


def __dir__() -> list[str]:
    return dir(_numpy.fft)
