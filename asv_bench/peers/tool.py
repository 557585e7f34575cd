"""The record that describes how one tool differentiates the benchmark programs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from asv_bench.programs.program import Program

__all__ = ["Derivative", "NotExpressible", "Tool", "anything", "scalars_only"]

Derivative = Callable[[], tuple[float, list[Any]]]


class NotExpressible(Exception):
    """The tool has no idiom for this program; the message says why."""


def anything(program: Program) -> str | None:
    """Refuse no program beforehand."""
    return None


def scalars_only(program: Program) -> str | None:
    """Refuse programs on arrays."""
    return "works on scalars alone" if program.flavour == "arrays" else None


@dataclass(frozen=True)
class Tool:
    """One tool in one idiom.

    Attributes
    ----------
    name
        Tool and idiom, as tables and pictures show them.
    prepare
        ``prepare(program, size)`` gives a thunk that returns the value and the cotangents of all leaves, in order.
        What it does itself (tracing, building a graph) counts into the time to the first derivative.
    refusal
        ``refusal(program)`` says why the tool cannot run a program, where that is known without trying.
    """

    name: str
    prepare: Callable[[Program, int], Derivative]
    refusal: Callable[[Program], str | None] = anything
