"""The opcode table, interpreted: the value and the partials of each scalar operation.

The rows are those of `tapeengine._core.tape.table`, from which the core's C code is generated. An `Algebra` interprets
the expressions: over floats (`Numbers`) or over scalars recorded on a tape (`nested.Recorder`).
"""

import ast
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol, TypeVar

from .._core.tape import table
from .._core.tape.table import OPS, Op, parse
from .functions import FUNCTIONS, divide

T = TypeVar("T")
ARITHMETIC: Mapping[str, Callable[[float, float], float]] = MappingProxyType(
    {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "div": divide}
)


class Operation(NamedTuple):
    """One row of the table with its expressions parsed; `partials` has one entry for each operand.

    Where `selects` is true, the partial only selects the operand.
    """

    name: str
    value: ast.expr
    partials: tuple[ast.expr, ...]
    is_discrete: bool
    selects: tuple[bool, ...]


class Algebra(Protocol[T]):
    """The domain in which an expression is evaluated."""

    def constant(self, number: float) -> T:
        """A number in the expression."""
        ...

    def apply(self, name: str, *operands: T) -> T:
        """Apply the opcode or base function `name` to operands."""
        ...


class Numbers:
    """Expressions over floats."""

    def constant(self, number: float) -> float:
        """The number itself."""
        return number

    def apply(self, name: str, *operands: float) -> float:
        """The value of an opcode, by its row, or of a base function."""
        if name == "neg":
            return -operands[0]
        if name in ARITHMETIC:
            return ARITHMETIC[name](*operands)
        return value(name, *operands) if name in OPERATIONS else FUNCTIONS[name](*operands)


class BaseFunctions(Numbers):
    """Value expressions: every call is to a base function, even if an opcode has the same name."""

    def apply(self, name: str, *operands: float) -> float:
        """A base function's value."""
        return FUNCTIONS[name](*operands) if name in FUNCTIONS else super().apply(name, *operands)


def interpret(term: ast.expr, names: Mapping[str, T], algebra: Algebra[T]) -> T:
    """Evaluate an expression whose variables are `names`."""
    return table.interpret(term, names.__getitem__, algebra.constant, algebra.apply)


def operation(row: Op) -> Operation:
    """One row, parsed."""
    texts = [partial for partial in (row.da, row.db) if partial]
    partials = tuple(parse(partial) for partial in texts)
    return Operation(row.name, parse(row.value), partials, all(partial == "0" for partial in texts), row.selects)


#: The table by opcode.
OPERATIONS: Mapping[str, Operation] = MappingProxyType({row.name: operation(row) for row in OPS})


def value(name: str, *operands: float) -> float:
    """The value of an operation as C computes it: an infinity or a NaN is no error."""
    return interpret(OPERATIONS[name].value, dict(zip("ab", operands, strict=False)), BaseFunctions())


def partial(name: str, which: int, operands: tuple[float, ...], result: float) -> float:
    """The partial of an operation with respect to its operand number `which`, given its value `result`."""
    a, b, *_ = (*operands, 0.0)
    return interpret(OPERATIONS[name].partials[which], {"a": a, "b": b, "v": result}, Numbers())
