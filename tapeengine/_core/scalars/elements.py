"""Traced arrays without axes, which `math` and `cmath` read as numbers."""

from typing import Any


def element(x: Any, kinds: str = "f") -> Any:
    """The element of a traced array without axes of some kinds of dtype; anything else unchanged."""
    is_number = hasattr(x, "__tapeengine_trace__") and getattr(x, "shape", None) == () and x.dtype.kind in kinds
    return x.item() if is_number else x
