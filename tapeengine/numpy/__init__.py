"""`import tapeengine.numpy as np`: numpy's functions, for programs and for derivative rules."""

from typing import Any

import numpy as _numpy


def __getattr__(name: str) -> Any:
    return getattr(_numpy, name)
