"""What numpy does with floating-point errors at present."""

from __future__ import annotations

from typing import Any

import numpy


def errors_stop(filters: list[Any]) -> bool:
    """Whether `numpy.errstate`, or one of the filters of warnings, makes more of an error than a warning."""
    modes: dict[str, Any] = dict(numpy.geterr())
    if any(modes[name] not in ("ignore", "warn") for name in ("divide", "over", "invalid")):
        return True
    return any(action == "error" and issubclass(RuntimeWarning, category) for action, _, category, *_ in filters)
