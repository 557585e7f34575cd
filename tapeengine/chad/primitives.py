"""Scalar operations: their values, their result types and their partial derivatives as terms.

Real operations and their partials are the rows of the opcode table. Integer and boolean operations are defined here;
they are discrete.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from tapeengine.chad.terms import Op, Term, lit
from tapeengine.chad.types import BOOL, FLOAT, INT, Type
from tapeengine.chad.values import same_size
from tapeengine.reference.ops import OPERATIONS, value

__all__ = ["DISCRETE", "REAL", "evaluate_op", "partial", "result_type"]

#: Real operations of the opcode table.
REAL: frozenset[str] = frozenset(OPERATIONS)


def _divmod_round(x: float) -> int:
    return round(x)


#: Discrete operations: their function and result type.
DISCRETE: Mapping[str, tuple[Callable[..., Any], Type]] = MappingProxyType(
    {
        "lt": (operator.lt, BOOL),
        "le": (operator.le, BOOL),
        "gt": (operator.gt, BOOL),
        "ge": (operator.ge, BOOL),
        "eq": (operator.eq, BOOL),
        "ne": (operator.ne, BOOL),
        "not": (operator.not_, BOOL),
        "and": (operator.and_, BOOL),
        "iadd": (operator.add, INT),
        "isub": (operator.sub, INT),
        "imul": (operator.mul, INT),
        "ineg": (operator.neg, INT),
        "ifloordiv": (operator.floordiv, INT),
        "imod": (operator.mod, INT),
        "ipow": (operator.pow, INT),
        "iabs": (abs, INT),
        "imax": (max, INT),
        "imin": (min, INT),
        "isame": (min, INT),
        "iequal": (same_size, INT),
        "trunc": (int, INT),
        "floor": (math.floor, INT),
        "ceil": (math.ceil, INT),
        "round": (_divmod_round, INT),
        "real": (float, FLOAT),
        "isnan": (math.isnan, BOOL),
        "isfinite": (math.isfinite, BOOL),
    }
)


def result_type(op: str) -> Type:
    """Give the type of an operation's result.

    Examples
    --------
    >>> result_type("mul"), result_type("lt")
    (Float(), Bool())
    """
    return DISCRETE[op][1] if op in DISCRETE else FLOAT


def evaluate_op(op: str, args: Sequence[Any]) -> Any:
    """Compute an operation; real ones as C does, so that a pole is an infinity and not an error.

    Examples
    --------
    >>> evaluate_op("mul", (2.0, 3.0)), evaluate_op("iadd", (2, 3))
    (6.0, 5)
    """
    return DISCRETE[op][0](*args) if op in DISCRETE else value(op, *args)


def partial(op: str, which: int, args: Sequence[Term], out: Term) -> Term | None:
    """Give the partial derivative of an operation with respect to one argument, None if it is identically zero.

    Examples
    --------
    >>> x, y = lit(2.0), lit(3.0)
    >>> partial("mul", 0, (x, y), Op("mul", (x, y))) == y
    True
    """
    if op in DISCRETE:
        return None
    expression = OPERATIONS[op].partials[which]
    if isinstance(expression, ast.Constant) and expression.value == 0:
        return None
    return _term(expression, dict(zip("ab", args, strict=False)) | {"v": out})


_BINARY = MappingProxyType({ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"})


def _term(expression: ast.expr, names: Mapping[str, Term]) -> Term:
    match expression:
        case ast.Name(id=name):
            return names[name]
        case ast.Constant(value=number):
            return lit(float(number))  # type: ignore[arg-type]
        case ast.UnaryOp(operand=ast.Constant(value=number)):
            return lit(-float(number))  # type: ignore[arg-type]
        case ast.UnaryOp(operand=operand):
            return Op("neg", (_term(operand, names),))
        case ast.BinOp(left=left, op=op, right=right):
            return Op(_BINARY[type(op)], (_term(left, names), _term(right, names)))
        case ast.Call(func=ast.Name(id=name), args=args):
            return Op(name, tuple(_term(arg, names) for arg in args))
    raise ValueError(f"{ast.unparse(expression)} is not an expression of the opcode table")
