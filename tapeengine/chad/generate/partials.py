"""Partial derivatives of scalar operations, written as operations on the operands (the opcode table's expressions)."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tapeengine.chad.generate.builder import Builder
from tapeengine.chad.generate.values import NotGenerated
from tapeengine.chad.imperative import Const, Operand, Ref
from tapeengine.chad.primitives import DISCRETE
from tapeengine.reference.ops import BINARY, OPERATIONS

__all__ = ["partial"]


def partial(b: Builder, op: str, which: int, args: Sequence[Operand], out: Ref) -> Operand | None:
    """Write the partial derivative of an operation; None where it is identically zero."""
    if op in DISCRETE:
        return None
    if op not in OPERATIONS:
        raise NotGenerated(f"{op} has no partial derivatives")
    expression = OPERATIONS[op].partials[which]
    if isinstance(expression, ast.Constant) and expression.value == 0:
        return None
    return _written(b, expression, dict(zip("ab", args, strict=False)) | {"v": out})


def _written(b: Builder, expression: ast.expr, names: Mapping[str, Operand]) -> Operand:
    match expression:
        case ast.Name(id=name):
            return names[name]
        case ast.Constant(value=number):
            return Const(float(number))  # type: ignore[arg-type]
        case ast.UnaryOp(operand=ast.Constant(value=number)):
            return Const(-float(number))  # type: ignore[arg-type]
        case ast.UnaryOp(operand=operand):
            return b.emit("neg", (_written(b, operand, names),))
        case ast.BinOp(left=left, op=op, right=right):
            return b.emit(BINARY[type(op)], (_written(b, left, names), _written(b, right, names)))
        case ast.Call(func=ast.Name(id=name), args=args):
            return b.emit(name, [_written(b, arg, names) for arg in args])
    raise ValueError(f"{ast.unparse(expression)} is not an expression of the opcode table")
