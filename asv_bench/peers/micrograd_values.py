"""micrograd: scalars with closures, and only arithmetic."""

from typing import Any

from micrograd.engine import Value

from asv_bench.peers.leaves import leaves, rebuilt, total
from asv_bench.peers.tool import Derivative, NotExpressible, Tool, scalars_only
from asv_bench.programs.program import Program


def is_greater(self: Any, other: Any) -> bool:
    """Compare by value."""
    return bool(self.data > getattr(other, "data", other))


def is_less(self: Any, other: Any) -> bool:
    """Compare by value."""
    return bool(self.data < getattr(other, "data", other))


# micrograd has no comparisons, and the programs branch on values.
Value.__gt__, Value.__lt__ = is_greater, is_less


class Arithmetic:
    """The functions of `math` in micrograd, of which there are none."""


def prepare(program: Program, size: int) -> Derivative:
    """Build the graph and walk it back."""
    run, primals = program.problem(size, Arithmetic)
    numbers = leaves(primals)

    def derivative() -> tuple[float, list[Any]]:
        inputs = [Value(number) for number in numbers]
        try:
            value = total(run(*rebuilt(primals, inputs)))
        except AttributeError as error:
            raise NotExpressible(f"micrograd has no {error.name}") from error
        value.backward()
        return value.data, [variable.grad for variable in inputs]

    return derivative


TOOLS = (Tool("micrograd", prepare, scalars_only),)
