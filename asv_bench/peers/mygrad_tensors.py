"""mygrad: numpy with tensors, for scalars and arrays."""

from typing import Any

import mygrad

from asv_bench.peers.leaves import leaves, rebuilt, total
from asv_bench.peers.tool import Derivative, Tool
from asv_bench.programs.program import Program


def prepare(program: Program, size: int) -> Derivative:
    """Build the graph by running the program, and call `backward`."""
    run, primals = program.problem(size, mygrad, functional=True)
    parts = leaves(primals)

    def derivative() -> tuple[float, list[Any]]:
        inputs = [mygrad.tensor(part, dtype=float) for part in parts]
        value = total(run(*rebuilt(primals, inputs)))
        value.backward()
        return value.item(), [part.grad for part in inputs]

    return derivative


TOOLS = (Tool("mygrad", prepare),)
