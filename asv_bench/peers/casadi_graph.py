"""CasADi: a symbolic graph built beforehand, one symbol for each scalar, and replayed."""

from typing import Any

import casadi
import numpy as np

from asv_bench.peers.leaves import leaves, rebuilt, total
from asv_bench.peers.tool import Derivative, NotExpressible, Tool
from asv_bench.programs.program import Program

__all__ = ["TOOLS"]


def scalar_loop(xp: Any, xs: list[Any]) -> Any:
    """Choose between both branches, for symbols have no truth value."""
    acc = 1.0
    for x in xs:
        sine = casadi.sin(x)
        acc = casadi.if_else(acc > 0, acc * sine + x, acc * x - sine)
    return acc


def relu_network(xp: Any, parameters: Any, inputs: list[Any]) -> Any:
    """Run the network with `fmax` for its ReLU."""
    for depth, (weights, bias) in enumerate(parameters):
        inputs = [start + sum(w * x for w, x in zip(row, inputs)) for row, start in zip(weights, bias)]
        if depth + 1 < len(parameters):
            inputs = [casadi.fmax(x, 0.0) for x in inputs]
    return total(inputs)


REWRITTEN: dict[str, Any] = {"scalar_loop": scalar_loop, "network": relu_network}


def prepare(program: Program, size: int) -> Derivative:
    """Build the graph of value and gradient as a function of all leaves."""
    if program.flavour == "arrays":
        raise NotExpressible("the graph is built from scalars")
    arguments = program.inputs(size)
    primals, constants = arguments[: program.active], arguments[program.active :] if program.active else ()
    parts = leaves(primals)
    symbols = casadi.SX.sym("x", len(parts))
    run = REWRITTEN.get(program.name, program.run)
    try:
        value = total(run(casadi, *rebuilt(primals, casadi.vertsplit(symbols)), *constants))
    except Exception as error:
        raise NotExpressible(str(error).strip().splitlines()[-1]) from error
    function = casadi.Function("f", [symbols], [value, casadi.gradient(value, symbols)])
    numbers = np.array(parts)

    def derivative() -> tuple[float, list[Any]]:
        result, gradient = function(numbers)
        return float(result), [np.asarray(gradient)]

    return derivative


TOOLS = (Tool("CasADi SX", "casadi", prepare, rewritten=True),)
