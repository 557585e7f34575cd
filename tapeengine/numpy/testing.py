"""numpy.testing, for programs that are differentiated: assertions compare values."""

from __future__ import annotations

import functools
from typing import Any

import numpy.testing as _testing

from ..duals.dispatch import as_number as _as_number
from ..duals.foreign import replaced as _replaced


def _on_values(function: Any) -> Any:
    @functools.wraps(function)
    def called(*args: Any, **options: Any) -> Any:
        return function(*_replaced(_as_number, args), **_replaced(_as_number, options))

    return called


def __getattr__(name: str) -> Any:
    value = getattr(_testing, name)
    if name.startswith("assert_") or name in ("print_assert_equal", "rundocs"):
        value = _on_values(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return dir(_testing)
