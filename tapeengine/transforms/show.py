"""The command ``python -m tapeengine show FILE:FUNCTION ARGUMENT ...``: a program's tape as a table or a picture."""

from __future__ import annotations

import argparse
import ast
import runpy
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["HELP", "add_arguments", "run"]

HELP = "run a function and show its tape: costs by source line, or a picture"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's own options."""
    parser.add_argument("program", metavar="FILE:FUNCTION", help="a Python file and a function in it")
    parser.add_argument(
        "arguments",
        nargs="*",
        help="the primals, as Python literals such as 1.5 or '[1.0, 2.0]', or names of variables of the file",
    )
    parser.add_argument("--arrays", action="store_true", help="make numpy arrays of the lists among the arguments")
    parser.add_argument("--svg", metavar="FILE", help="write a picture")
    parser.add_argument("--dot", metavar="FILE", help="write a graph for Graphviz")
    parser.add_argument("--lines", type=int, default=20, help="how many source lines the table has (20)")


def run(options: argparse.Namespace) -> int:
    """Run the program, print the table and write the pictures that are asked for."""
    from tapeengine.engine import Engine

    file, colon, name = options.program.rpartition(":")
    if not colon or not Path(file).is_file():
        print(f"show needs FILE:FUNCTION, with a file that is there, not {options.program!r}")
        return 2
    names = runpy.run_path(file)
    if not callable(names.get(name)):
        found = ", ".join(key for key, value in names.items() if callable(value) and not key.startswith("_"))
        print(f"{file} has no function {name!r}; it has {found}")
        return 2
    primals = [primal(text, names, options.arrays) for text in options.arguments]
    view = Engine().tape(names[name], *primals)
    print(view.table(options.lines))
    print("operations: " + ", ".join(f"{operation} {count:,}" for operation, count in view.by_operation.items()))
    if options.svg:
        Path(options.svg).write_text(view.svg(), encoding="utf-8")
    if options.dot:
        Path(options.dot).write_text(view.to_dot(), encoding="utf-8")
    return 0


def primal(text: str, names: dict[str, Any], arrays: bool) -> Any:
    """An argument of the command line: a variable of the file, or a literal; lists as arrays where asked to.

    Examples
    --------
    >>> primal("x0", {"x0": 2.0}, False), primal("[1.0, 2.0]", {}, True)
    (2.0, array([1., 2.]))
    """
    value = names[text] if text in names else ast.literal_eval(text)
    return np.array(value) if arrays and isinstance(value, list) else value
