from collections.abc import Callable
from typing import Any

def call(function: Callable[[list[Any]], tuple[list[Any], Any]], leaves: list[Any]) -> list[Any] | None: ...
