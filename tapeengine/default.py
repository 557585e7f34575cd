"""The engine of the module-level functions, for what lies below the package's `__init__`, which makes it."""

import sys
from typing import Any

__all__ = ["default_engine"]


def default_engine() -> Any:
    """Return the default engine. The package has been imported: this module is a part of it."""
    return sys.modules["tapeengine"].default_engine()
