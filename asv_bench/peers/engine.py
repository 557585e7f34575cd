"""tapeengine itself, on the unchanged program."""

from typing import Any

import tapeengine as te
import tapeengine.math
import tapeengine.numpy
from asv_bench.peers.tool import Derivative, Tool
from asv_bench.programs.program import Program
from asv_bench.targets.ratios import ones_like

# Once in a process, like other tools, which load their operations when they are imported.
te.default_engine()


def prepare(program: Program, size: int) -> Derivative:
    """Differentiate by `te.vjp`."""
    xp: Any = tapeengine.math if program.flavour == "scalars" else tapeengine.numpy
    run, primals = program.problem(size, xp)

    def derivative() -> tuple[float, list[Any]]:
        value, backpropagator = te.vjp(run, *primals)
        return value, backpropagator(ones_like(value))

    return derivative


TOOLS = (Tool("tapeengine", prepare),)
