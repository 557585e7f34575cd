"""The scalar operations that `math` lacks, as functions that printed derivatives import."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .operations import OPERATIONS_BY_NAME


def __getattr__(name: str) -> Callable[..., Any]:
    if name in OPERATIONS_BY_NAME:
        return OPERATIONS_BY_NAME[name].compute
    raise AttributeError(name)
