"""numpy.testing, for programs that are differentiated: assertions compare values."""

from __future__ import annotations

from functools import wraps as _wraps
from typing import Any

import numpy.testing as _testing

from ..duals.dispatch import as_number as _as_number
from ..duals.dispatch import on_values as _on_values
from ..naming import standing_for as _standing_for


def _comparing(value: Any) -> Any:
    name = getattr(value, "__name__", "")
    is_one = name.startswith("assert_") or name in ("print_assert_equal", "rundocs")
    return _wraps(value)(_on_values(value, _as_number)) if is_one else value


__getattr__, __dir__ = _standing_for(_testing, globals(), _comparing)
