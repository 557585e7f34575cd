"""The command ``show``: the tape of a program, as counts and as a picture."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..engine import Engine
from .target import CommandError, add_target, read_target

HELP = "run a function and show its tape: costs by source line, or a picture"
EXAMPLE = "python -m tapeengine show model.py:loss x0 '[1.0, 2.0]' --svg tape.svg"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's own options."""
    add_target(parser)
    parser.add_argument("--svg", metavar="FILE", help="write a picture")
    parser.add_argument("--dot", metavar="FILE", help="write a graph for Graphviz")
    parser.add_argument("--lines", type=int, default=20, help="how many source lines the table has (20)")


def run(options: argparse.Namespace) -> int:
    """Run the program, print the table and write the requested pictures."""
    target = read_target(options)
    view = Engine().tape(target.program, *target.primals)
    print(view.table(options.lines))
    print("operations: " + ", ".join(f"{operation} {count:,}" for operation, count in view.by_operation.items()))
    for file, picture in ((options.svg, view.svg), (options.dot, view.to_dot)):
        if file:
            write(Path(file), picture())
    return 0


def write(path: Path, text: str) -> None:
    """Write a picture."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror}") from None
