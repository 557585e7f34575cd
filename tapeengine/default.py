"""The default engine, for modules that the package's `__init__` imports."""

import sys
from typing import Any

__all__ = ["default_engine"]


def default_engine() -> Any:
    """Return the default engine; the package has been imported, because this module is part of it."""
    return sys.modules["tapeengine"].default_engine()
