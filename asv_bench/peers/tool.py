"""The record that describes how one tool differentiates the benchmark programs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from asv_bench.programs.program import Program

Derivative = Callable[[], tuple[float, list[Any]]]


class NotExpressible(Exception):
    """The tool has no idiom for this program; the message gives the reason."""


def anything(program: Program) -> str | None:
    """Refuse no program in advance."""
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
        Tool and idiom, as shown in tables and pictures.
    prepare
        ``prepare(program, size)`` returns a thunk that returns the value and the cotangents of all leaves, in order.
        Its own work (tracing, building a graph) counts towards the time to the first derivative.
    refusal
        ``refusal(program)`` says why the tool cannot run a program, if that is known without trying.
    """

    name: str
    prepare: Callable[[Program, int], Derivative]
    refusal: Callable[[Program], str | None] = anything
