"""The scalar operations: values and partials by the rows of the opcode table, and the discrete operations.

    d_i op (x1, ..., xn) (z)  =  z * (partial of op with respect to x_i)

The operations are those whose rows, and the rows that their partials call, use no base functions except those of
Python's `math`, which agree with C's.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from types import MappingProxyType

from .._core.tape.table import OPS, Op, interpret, parse

ROWS: Mapping[str, Op] = MappingProxyType({row.name: row for row in OPS})
ARITHMETIC: Mapping[str, Callable[..., float]] = MappingProxyType(
    {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv, "neg": operator.neg}
)
#: Operations without derivatives, by their names in terms.
DISCRETE: Mapping[str, Callable[..., object]] = MappingProxyType(
    {name: getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")}
    | {"not": operator.not_, "iadd": operator.add, "isub": operator.sub, "imul": operator.mul, "real": float}
)


def value(name: str, *operands: float) -> float:
    """The value of an operation."""
    if name in ARITHMETIC:
        return ARITHMETIC[name](*operands)
    return interpret(parse(row_of(name).value), dict(zip("ab", operands, strict=False)).__getitem__, float, base)


def partial(name: str, which: int, operands: tuple[float, ...]) -> float:
    """The partial of an operation with respect to its operand number ``which``."""
    row = row_of(name)
    names = dict(zip("ab", operands, strict=False)) | {"v": value(name, *operands)}
    return interpret(parse((row.da, row.db)[which]), names.__getitem__, float, value)


def row_of(name: str) -> Op:
    """The row of an operation, or an error that names it."""
    if name not in ROWS:
        raise ValueError(f"{name} is no operation of the opcode table")
    return ROWS[name]


def base(name: str, *operands: float) -> float:
    """A base function of a value expression, or an operator."""
    if name in ARITHMETIC:
        return ARITHMETIC[name](*operands)
    if name == "base_sign":
        return float((operands[0] > 0) - (operands[0] < 0))
    if not hasattr(math, name):
        raise ValueError(f"the ladder has no {name}: write the program with other operations")
    return float(getattr(math, name)(*operands))
