"""The target of a command: a function in a file, and primals written as text."""

from __future__ import annotations

import argparse
import ast
import inspect
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


class CommandError(Exception):
    """An error in the arguments of a command, printed without a traceback."""


@dataclass(frozen=True)
class Target:
    """A program and its primals."""

    program: Callable[..., Any]
    primals: tuple[Any, ...]


def add_target(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments that `read_target` reads."""
    parser.add_argument("program", metavar="FILE:FUNCTION", help="a Python file and a function in it")
    parser.add_argument(
        "arguments",
        metavar="ARG",
        nargs="*",
        help="the primals, as Python literals such as 1.5 or '[1.0, 2.0]', or names of variables of the file",
    )
    parser.add_argument("--arrays", action="store_true", help="make numpy arrays of the lists among the arguments")


def read_target(options: argparse.Namespace) -> Target:
    """Run the file, find the function, and make the primals.

    Raises
    ------
    CommandError
        If the file or the function does not exist, or the arguments do not fit the function.
    """
    names, program = _function(options.program)
    primals = tuple(primal(text, names, options.arrays) for text in options.arguments)
    try:
        inspect.signature(program).bind(*primals)
    except TypeError as error:
        raise CommandError(f"{options.program} takes {inspect.signature(program)}: {error}") from None
    except ValueError:  # a function without a readable signature: the call raises the error
        pass
    return Target(program, primals)


def _function(place: str) -> tuple[dict[str, Any], Callable[..., Any]]:
    file, colon, name = place.rpartition(":")
    if not colon or not Path(file).is_file():
        raise CommandError(f"expected FILE:FUNCTION with an existing file, not {place!r}")
    names = runpy.run_path(file, run_name=Path(file).stem)
    program = names.get(name)
    if not callable(program):
        own = [key for key, value in names.items() if getattr(value, "__module__", None) == names["__name__"]]
        raise CommandError(f"{file} has no function {name!r}; it has {', '.join(own) or 'none'}")
    return names, program


def primal(text: str, names: dict[str, Any], arrays: bool) -> Any:
    """An argument of the command line: a variable of the file, or a literal; with `arrays`, lists become arrays."""
    if text in names:
        value = names[text]
    else:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            message = f"{text!r} is neither a literal, such as 1.5 or '[1.0, 2.0]', nor a variable of the file"
            raise CommandError(message) from None
    return np.array(value) if arrays and isinstance(value, list) else value
