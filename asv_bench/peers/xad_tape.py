"""XAD's Python bindings: a C++ tape, one Python object for each scalar."""

from typing import Any

import xad.adj_1st as adjoint
import xad.math

from asv_bench.peers.leaves import leaves, rebuilt, total
from asv_bench.peers.tool import Derivative, Tool, scalars_only
from asv_bench.programs.program import Program


def prepare(program: Program, size: int) -> Derivative:
    """Record on a fresh tape and compute the adjoints."""
    run, primals = program.problem(size, xad.math)
    numbers = leaves(primals)

    def derivative() -> tuple[float, list[Any]]:
        with adjoint.Tape() as tape:
            inputs = [adjoint.Real(number) for number in numbers]
            for variable in inputs:
                tape.registerInput(variable)
            tape.newRecording()
            value = total(run(*rebuilt(primals, inputs)))
            tape.registerOutput(value)
            value.derivative = 1.0
            tape.computeAdjoints()
            return value.value, [variable.derivative for variable in inputs]

    return derivative


TOOLS = (Tool("XAD", prepare, scalars_only),)
