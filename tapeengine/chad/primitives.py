"""Scalar operations of terms: their values, and their partial derivatives as terms.

An operation is a record of `tapeengine.chad.intermediate.operations`. The partials of real ones are rows of the opcode
table; integer and boolean ones are discrete.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from ..reference.ops import OPERATIONS
from .intermediate.operations import LOOPS, OPERATIONS_BY_NAME
from .terms import Op, Term, lit

#: Real operations: those of the opcode table, and numpy's functions, with the derivatives of these.
REAL: frozenset[str] = frozenset((*OPERATIONS, *LOOPS))


#: Discrete operations.
DISCRETE: frozenset[str] = frozenset(OPERATIONS_BY_NAME).difference(REAL)


def evaluate_op(op: str, args: Sequence[Any]) -> Any:
    """Compute an operation; real ones as C does, so that a pole is an infinity and not an error."""
    return OPERATIONS_BY_NAME[op].compute(*args)


def partial(t: Op, which: int, args: Sequence[Term], out: Term) -> Term | None:
    """Give the partial derivative of an operation with respect to one argument, None if it is identically zero.

    Parameters
    ----------
    t : Op
        The operation.
    which : int
        The index of the argument.
    args, out : Term
        What has the values of the arguments and of the operation.
    """
    if t.op in DISCRETE:
        return None
    if t.op == "div" and which == 1 and t.args[0] == lit(1.0):  # of 1 / b: a product, and no second division
        return Op("neg", (Op("mul", (out, out)),))
    expression = OPERATIONS[LOOPS.get(t.op, t.op)].partials[which]
    if isinstance(expression, ast.Constant) and expression.value == 0:
        return None
    names = {LOOPS[name]: name for name in (*LOOPS, t.op)} if t.op in LOOPS else {}
    return _term(expression, {**names, **dict(zip("ab", args, strict=False)), "v": out})


_BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div"}


def _term(expression: ast.expr, names: Mapping[str, Any]) -> Term:
    match expression:
        case ast.Name(id=name):
            return names[name]  # type: ignore[no-any-return]
        case ast.Constant(value=number):
            return lit(float(number))  # type: ignore[arg-type]
        case ast.UnaryOp(operand=ast.Constant(value=number)):
            return lit(-float(number))  # type: ignore[arg-type]
        case ast.UnaryOp(operand=operand):
            return Op("neg", (_term(operand, names),))
        case ast.BinOp(left=left, op=op, right=right):
            return Op(_BINARY[type(op)], (_term(left, names), _term(right, names)))
        case ast.Call(func=ast.Name(id=name), args=args):
            return Op(names.get(name, name), tuple(_term(arg, names) for arg in args))
    raise ValueError(f"{ast.unparse(expression)} is not an expression of the opcode table")
