"""Scalar operations of terms: their values, and their partial derivatives as terms.

An operation is a record of `tapeengine.chad.intermediate.operations`. The partials of real ones are rows of the opcode
table; integer and boolean ones are discrete.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from .._core.tape.table import interpret
from ..reference.ops import OPERATIONS
from .intermediate.operations import LOOPS, OPERATIONS_BY_NAME
from .language.terms import Literal, Op, Term, lit

#: Real operations: those of the opcode table, and numpy's functions, with the derivatives of these.
REAL: frozenset[str] = frozenset((*OPERATIONS, *LOOPS))


#: Discrete operations.
DISCRETE: frozenset[str] = frozenset(OPERATIONS_BY_NAME).difference(REAL)


def evaluate_op(op: str, args: Sequence[Any]) -> Any:
    """Compute an operation; real ones as C does, so that a pole is an infinity and not an error."""
    return OPERATIONS_BY_NAME[op].compute(*args)


def partial(t: Op, which: int, args: Sequence[Term], out: Term) -> Term | None:
    """Give the partial derivative of an operation with respect to one argument, None if it is identically zero.

    * `t`: the operation.
    * `which`: the index of the argument.
    * `args`, `out`: what has the values of the arguments and of the operation.
    """
    if t.op in DISCRETE:
        return None
    if t.op == "div" and which == 1 and t.args[0] == lit(1.0):  # of 1 / b: a product, and no second division
        return Op("neg", (Op("mul", (out, out)),))
    if LOOPS.get(t.op) == "pow" and which == 0 and isinstance(t.args[1], Literal) and t.args[1].value not in (0, 2):
        return power_partial(t.op, args[0], float(t.args[1].value))
    expression = OPERATIONS[LOOPS.get(t.op, t.op)].partials[which]
    if isinstance(expression, ast.Constant) and expression.value == 0:
        return None
    names = dict(zip("ab", args, strict=False)) | {"v": out}
    of_numpy = {LOOPS[name]: name for name in (*LOOPS, t.op)} if t.op in LOOPS else {}
    return interpret(expression, names.__getitem__, lit, lambda name, *on: Op(of_numpy.get(name, name), on))


def power_partial(op: str, x: Term, n: float) -> Term:
    """Give the derivative of a power by numpy's loop, by that loop too; squares are products."""
    return Op("mul", (lit(n), Op("mul", (x, x)) if n == 3 else Op(op, (x, lit(n - 1)))))
