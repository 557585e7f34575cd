"""tapeengine's CHAD frontend: the program in its typed language, transformed once."""

from typing import Any

import tapeengine as te
from asv_bench.peers.tool import Derivative, Tool
from asv_bench.programs.program import Program
from asv_bench.programs.typed_twins import TWINS
from asv_bench.targets.ratios import ones_like
from tapeengine import chad

# Once in a process, like other tools, which load their operations when they are imported.
te.default_engine()


def prepare(program: Program, size: int) -> Derivative:
    """Transform the typed program and differentiate it by `te.vjp`, with cotangents for constants as well."""
    twin = TWINS[program.name]
    arguments = twin.arguments(program.inputs(size))
    typed = chad.Program(twin.program.function)

    def derivative() -> tuple[float, list[Any]]:
        value, backpropagator = te.vjp(typed, *arguments)
        return value, backpropagator(ones_like(value))[: program.active]

    return derivative


def not_typed(program: Program) -> str | None:
    """Refuse the programs without a typed twin."""
    return None if program.name in TWINS else "was not written in the typed language"


TOOLS = (Tool("te.program", prepare, not_typed),)
