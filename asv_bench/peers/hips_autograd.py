"""HIPS autograd: numpy with a graph of Python objects."""

from typing import Any

import autograd.numpy as anp
from autograd import value_and_grad
from autograd.core import VJPNode, add_outgrads
from autograd.tracer import new_box, toposort, trace_stack

from asv_bench.peers.leaves import leaves, rebuilt, total
from asv_bench.peers.tool import Derivative, Tool
from asv_bench.programs.program import Program


def prepare(program: Program, size: int) -> Derivative:
    """Use `value_and_grad` over the arrays, or over the scalars one by one."""
    run, primals = program.problem(size, anp, functional=True)
    parts = leaves(primals)
    if program.flavour == "scalars":
        return lambda: scalar_gradient(run, primals, parts)
    count = tuple(range(len(parts)))
    both = value_and_grad(lambda *arrays: total(run(*rebuilt(primals, list(arrays)))), argnum=count)
    return lambda: both(*parts)


def scalar_gradient(run: Any, primals: Any, parts: list[float]) -> tuple[float, list[Any]]:
    """Give every scalar its own root: for a list, `value_and_grad` costs the list's length for each element read."""
    with trace_stack.new_trace() as trace:
        nodes = [VJPNode.new_root() for _ in parts]
        inputs = [new_box(part, trace, node) for part, node in zip(parts, nodes)]
        value = total(run(*rebuilt(primals, inputs)))
    cotangents: dict[Any, Any] = {value._node: (1.0, False)}
    for node in toposort(value._node):
        if not node.parents:
            continue
        for parent, contribution in zip(node.parents, node.vjp(cotangents.pop(node)[0])):
            cotangents[parent] = add_outgrads(cotangents.get(parent), contribution)
    return value._value, [cotangents.get(node, (0.0, False))[0] for node in nodes]


TOOLS = (Tool("autograd", prepare),)
