"""CasADi: a symbolic graph with one symbol for each scalar, built in advance and replayed."""

from functools import reduce
from typing import Any

import casadi
import numpy as np

from asv_bench.peers.leaves import flat, leaves, rebuilt, total
from asv_bench.peers.tool import Derivative, NotExpressible, Tool
from asv_bench.programs.program import Program
from asv_bench.programs.tree import Leaf


def scalar_loop(xp: Any, xs: list[Any]) -> Any:
    """Choose between both branches, because symbols have no truth value."""
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


def softmax_network(xp: Any, parameters: Any, inputs: list[Any]) -> Any:
    """Run the network with `fmax` for its ReLU and its largest output."""
    hidden = inputs
    for weights, bias in parameters:
        sums = (start + sum(w * x for w, x in zip(row, hidden)) for row, start in zip(weights, bias))
        hidden = [casadi.fmax(x, 0.0) for x in sums]
    largest = reduce(casadi.fmax, hidden)
    exponentials = [casadi.exp(x - largest) for x in hidden]
    return total(exponentials) / total(exponentials)


def tree_evaluation(xp: Any, at: Any) -> Any:
    """Choose between both results, because symbols have no truth value."""
    if isinstance(at, Leaf):
        return at.value
    left, right = tree_evaluation(xp, at.left), tree_evaluation(xp, at.right)
    value = at.weight * left + right * right
    return casadi.if_else(value > 1.0, casadi.tanh(value), value)


def index_reads(xp: Any, a: Any) -> Any:
    """Sum the squares of the elements, one by one."""
    return sum(x * x for x in casadi.vertsplit(a))


def recurrence(xp: Any, start: Any, n: int) -> Any:
    """Keep the two last elements."""
    before, last = casadi.vertsplit(start)
    for _ in range(2, n):
        before, last = last, 0.6 * casadi.sin(last) + 0.4 * before
    return last


def unrolled(xp: Any, x: Any, n: int) -> Any:
    """Apply the step to a column of symbols."""
    for _ in range(n):
        x = casadi.sin(x) * 1.1 + 0.1 * x
    return casadi.sum1(x)


def sum_of_product(xp: Any, matrix: Any, other: Any) -> Any:
    """Sum the elements of a product of matrices."""
    return casadi.sum1(casadi.sum2(matrix @ other))


def network_arrays(xp: Any, w1: Any, b1: Any, w2: Any, b2: Any, w3: Any, b3: Any, x: Any) -> Any:
    """Run the network on matrices of symbols."""
    hidden = casadi.fmax(w2 @ casadi.fmax(w1 @ x + b1, 0.0) + b2, 0.0)
    return casadi.sum1(w3 @ hidden + b3)


def lse(xp: Any, x: Any) -> Any:
    """Shift by the largest element."""
    largest = casadi.mmax(x)
    return largest + casadi.log(casadi.sum1(casadi.exp(x - largest)))


REWRITTEN: dict[str, Any] = {
    "scalar_loop": scalar_loop,
    "network": relu_network,
    "network_softmax": softmax_network,
    "tree": tree_evaluation,
    "index_reads": index_reads,
    "recurrence": recurrence,
    "unrolled": unrolled,
    "network_arrays": network_arrays,
    "matvec_arrays": sum_of_product,
    "lse": lse,
}


def symbolic(parts: list[Any], symbols: Any) -> list[Any]:
    """Cut a column of symbols into scalars and matrices of the shapes of `parts`, row by row."""
    starts = np.cumsum([0, *(np.size(part) for part in parts)])
    columns = casadi.vertsplit(symbols, [int(start) for start in starts])
    shapes = [(*np.shape(part), 1, 1)[:2] for part in parts]
    return [casadi.reshape(column, m, n).T for column, (n, m) in zip(columns, shapes)]


def prepare(program: Program, size: int) -> Derivative:
    """Build the graph of value and gradient as a function of all leaves."""
    arguments = program.inputs(size)
    primals, constants = arguments[: program.active], arguments[program.active :] if program.active else ()
    parts = leaves(primals)
    numbers = flat(parts)
    symbols = casadi.SX.sym("x", len(numbers))
    run = REWRITTEN.get(program.name, program.run)
    try:
        value = total(run(casadi, *rebuilt(primals, symbolic(parts, symbols)), *constants))
    except Exception as error:
        raise NotExpressible(str(error).strip().splitlines()[-1]) from error
    function = casadi.Function("f", [symbols], [value, casadi.gradient(value, symbols)])

    def derivative() -> tuple[float, list[Any]]:
        result, gradient = function(numbers)
        return float(result), [np.asarray(gradient)]

    return derivative


def not_scalars(program: Program) -> str | None:
    """Refuse array programs that were not rewritten for matrices of symbols."""
    if program.flavour == "scalars" or program.name in REWRITTEN:
        return None
    if program.name == "matmul":
        return "a graph of 10^9 scalar operations"
    return "has arrays of three axes or gathers, and symbols are scalars in matrices"


TOOLS = (Tool("CasADi SX", prepare, not_scalars),)
