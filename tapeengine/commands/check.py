"""The command ``check``: compares the derivative of a program with differences, and its rules with each other."""

from __future__ import annotations

import argparse

from ..testing import report_vjp
from .target import add_target, read_target

HELP = "check the derivative of a function: value, adjoint, differences, second order"
EXAMPLE = "python -m tapeengine check model.py:loss x0 '[1.0, 2.0]'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's own options."""
    add_target(parser)
    parser.add_argument("--seed", type=int, default=0, help="the seed for tangents and cotangents (0)")
    parser.add_argument("--order", type=int, default=2, choices=(1, 2), help="the highest order that is checked (2)")


def run(options: argparse.Namespace) -> int:
    """Print a table of the checks; the exit status is 1 if one of them fails."""
    target = read_target(options)
    report = report_vjp(target.program, *target.primals, seed=options.seed, order=options.order)
    print(report.table())
    return 1 if report.failures else 0
