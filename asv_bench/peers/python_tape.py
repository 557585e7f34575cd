"""A tape in about a hundred lines of pure Python, as a careful programmer writes it without a tool."""

import math
from typing import Any

from asv_bench.peers.leaves import leaves, rebuilt, total
from asv_bench.peers.tool import Derivative, Tool, scalars_only
from asv_bench.programs.program import Program


class Tape:
    """Flat lists of parents and partials; a record has one or two parents, with -1 for none."""

    def __init__(self) -> None:
        self.parents: list[tuple[int, int]] = []
        self.partials: list[tuple[float, float]] = []

    def record(self, value: float, i: int, a: float, j: int = -1, b: float = 0.0) -> "Variable":
        """Append one record."""
        self.parents.append((i, j))
        self.partials.append((a, b))
        return Variable(value, len(self.parents) - 1, self)

    def resolve(self, last: int) -> list[float]:
        """Return the cotangents of all records."""
        cotangents = [0.0] * len(self.parents)
        cotangents[last] = 1.0
        for index in range(last, -1, -1):
            ct = cotangents[index]
            if ct:
                (i, j), (a, b) = self.parents[index], self.partials[index]
                if i >= 0:
                    cotangents[i] += a * ct
                if j >= 0:
                    cotangents[j] += b * ct
        return cotangents


class Variable:
    """A float with its position on the tape."""

    __slots__ = ("index", "tape", "value")

    def __init__(self, value: float, index: int, tape: Tape) -> None:
        self.value, self.index, self.tape = value, index, tape

    def __add__(self, other: Any) -> "Variable":
        if isinstance(other, Variable):
            return self.tape.record(self.value + other.value, self.index, 1.0, other.index, 1.0)
        return self.tape.record(self.value + other, self.index, 1.0)

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Variable":
        if isinstance(other, Variable):
            return self.tape.record(self.value - other.value, self.index, 1.0, other.index, -1.0)
        return self.tape.record(self.value - other, self.index, 1.0)

    def __rsub__(self, other: float) -> "Variable":
        return self.tape.record(other - self.value, self.index, -1.0)

    def __mul__(self, other: Any) -> "Variable":
        if isinstance(other, Variable):
            return self.tape.record(self.value * other.value, self.index, other.value, other.index, self.value)
        return self.tape.record(self.value * other, self.index, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> "Variable":
        if isinstance(other, Variable):
            value = self.value / other.value
            return self.tape.record(value, self.index, 1.0 / other.value, other.index, -value / other.value)
        return self.tape.record(self.value / other, self.index, 1.0 / other)

    def __rtruediv__(self, other: float) -> "Variable":
        value = other / self.value
        return self.tape.record(value, self.index, -value / self.value)

    def __neg__(self) -> "Variable":
        return self.tape.record(-self.value, self.index, -1.0)

    def __gt__(self, other: Any) -> bool:
        return self.value > (other.value if isinstance(other, Variable) else other)

    def __lt__(self, other: Any) -> bool:
        return self.value < (other.value if isinstance(other, Variable) else other)


def sin(x: Any) -> Any:
    """Return the sine."""
    return x.tape.record(math.sin(x.value), x.index, math.cos(x.value)) if isinstance(x, Variable) else math.sin(x)


def exp(x: Any) -> Any:
    """Return the exponential."""
    if not isinstance(x, Variable):
        return math.exp(x)
    value = math.exp(x.value)
    return x.tape.record(value, x.index, value)


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent."""
    if not isinstance(x, Variable):
        return math.tanh(x)
    value = math.tanh(x.value)
    return x.tape.record(value, x.index, 1.0 - value * value)


class Functions:
    """The functions of `math` that the programs use."""

    sin, exp, tanh = staticmethod(sin), staticmethod(exp), staticmethod(tanh)


def prepare(program: Program, size: int) -> Derivative:
    """Record on a fresh tape and resolve it."""
    run, primals = program.problem(size, Functions)
    numbers = leaves(primals)

    def derivative() -> tuple[float, list[Any]]:
        tape = Tape()
        inputs = [tape.record(number, -1, 0.0) for number in numbers]
        value = total(run(*rebuilt(primals, inputs)))
        return value.value, tape.resolve(value.index)[: len(inputs)]

    return derivative


TOOLS = (Tool("Python tape", prepare, scalars_only),)
