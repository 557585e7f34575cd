"""Numbers that are told apart by their classes and bits: 0.0 is not -0.0, 1 is not True, and a NaN is itself."""

from __future__ import annotations

import struct
from typing import Any


def bits_of(value: Any, is_real: bool = False) -> Any:
    """Give what a number is told apart by; an integer that stands for a float, by its bits as a float."""
    if isinstance(value, float) or (is_real and value is not None):
        return struct.pack("d", value)
    return type(value), value
