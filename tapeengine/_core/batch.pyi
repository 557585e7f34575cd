from typing import Any

from tapeengine._core.trace import Backpropagator

def columns(back: Backpropagator, tangents: list[tuple[Any, ...]]) -> list[Any] | None: ...
