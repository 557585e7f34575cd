"""numpy.lib, for programs that are differentiated."""

from __future__ import annotations

from typing import Any

import numpy as _numpy

from . import stride_tricks as stride_tricks


def __getattr__(name: str) -> Any:
    return getattr(_numpy.lib, name)


def __dir__() -> list[str]:
    return dir(_numpy.lib)
