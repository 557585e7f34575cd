"""Errors as numpy raises them."""

from __future__ import annotations

from typing import Any

import numpy
from numpy._core import umath

#: The variable that `numpy.errstate` sets, in seven times the time. numpy does not promise to keep it.
MODES: Any = getattr(umath, "_extobj_contextvar", None)
if MODES is None:
    QUIET: Any = {"all": "ignore"}

    def set_reports(modes: Any) -> Any:
        """Set which floating-point errors numpy reports; the result is for `reset_reports`."""
        return numpy.seterr(**modes)

    def reset_reports(before: Any) -> None:
        """Report again what was reported before."""
        numpy.seterr(**before)
else:
    with numpy.errstate(all="ignore"):
        QUIET = MODES.get()
    set_reports, reset_reports = MODES.set, MODES.reset  # in C, so that no signal comes between it and its caller


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
