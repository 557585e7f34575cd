"""Programs as first-time users write them: without knowledge of the engine, with their usual imports.

Each module keeps its programs in `PROGRAMS`, by name, with the numbers at which each is differentiated; `idioms` keeps
short functions of an array and a number in `IDIOMS`.
"""

from collections.abc import Callable
from typing import Any

__all__ = ["keeper"]


def keeper(programs: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]]) -> Callable[..., Any]:
    """Return the decorator with which a module keeps its programs: ``@program(*at)``."""

    def program(*at: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def keep(function: Callable[..., Any]) -> Callable[..., Any]:
            programs[function.__name__] = function, at
            return function

        return keep

    return program
