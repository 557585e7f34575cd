from typing import Any

from tapeengine._core.array import Array

def add_at(a: Array, index: Any, value: Any) -> None: ...
