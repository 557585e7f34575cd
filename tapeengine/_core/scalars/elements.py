"""Arrays without axes, which `math` and `cmath` read as numbers."""

from typing import Any


def element(x: Any, kinds: str = "f") -> Any:
    """The element of an array without axes of some kinds of dtype; anything else unchanged."""
    return x.item() if getattr(x, "shape", None) == () and x.dtype.kind in kinds else x
