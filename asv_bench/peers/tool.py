"""The record that describes how one tool differentiates the benchmark programs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from asv_bench.programs.program import Program

__all__ = ["Derivative", "NotExpressible", "Tool"]

Derivative = Callable[[], tuple[float, list[Any]]]


class NotExpressible(Exception):
    """The tool has no idiom for this program; the message says why."""


@dataclass(frozen=True)
class Tool:
    """One tool in one idiom.

    Attributes
    ----------
    name
        Tool and idiom, as tables and pictures show them.
    package
        The distribution whose version is reported.
    prepare
        ``prepare(program, size)`` gives a thunk that returns the value and the cotangents of all leaves, in order.
        What it does itself (tracing, building a graph) counts into the time to the first derivative.
    rewritten
        Whether the program is another than the one written in Python: scans, symbols, generated code.
    """

    name: str
    package: str
    prepare: Callable[[Program, int], Derivative]
    rewritten: bool = False
