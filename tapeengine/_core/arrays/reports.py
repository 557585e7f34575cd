"""Errors as numpy raises them."""

from __future__ import annotations

from typing import Any

import numpy
from numpy._core.umath import _extobj_contextvar as _REPORTS  # what `numpy.errstate` sets, which takes longer

set_reports, reset_reports = _REPORTS.set, _REPORTS.reset
with numpy.errstate(all="ignore"):
    QUIET = _REPORTS.get()


def errors_stop(filters: list[Any]) -> bool:
    """Whether `numpy.errstate`, or one of the filters of warnings, makes more of an error than a warning."""
    modes: dict[str, Any] = dict(numpy.geterr())
    if any(modes[name] not in ("ignore", "warn") for name in ("divide", "over", "invalid")):
        return True
    return any(action == "error" and issubclass(RuntimeWarning, category) for action, _, category, *_ in filters)


def scalar_item(array: Any, index: Any) -> Any:
    """The item of an array of shape () that stands for a scalar."""
    try:
        return array[index]
    except (IndexError, OverflowError):
        raise IndexError("invalid index to scalar variable.") from None
