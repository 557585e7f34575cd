"""What is found under the name of a program: pickles of functions are names."""

import sys
from typing import Any


def found_as(program: Any) -> Any:
    """Return what a program's module holds under the program's name; None if it holds nothing there."""
    module = sys.modules.get(getattr(program, "__module__", None) or "")
    name = getattr(program, "__qualname__", None)
    return reached(module, name) if isinstance(name, str) else None


def reached(module: Any, name: str) -> Any:
    """Return the object with a qualified name in a module; None if there is none."""
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def reduced(made: Any, program: Any, call: Any) -> Any:
    """Return what pickle stores of something made of a program: the name of a decorated function, else a call."""
    return program.__qualname__ if found_as(program) is made else call
