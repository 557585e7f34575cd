"""``match`` on numbers and texts: a chain of ``if``, as each value pattern compares and each name is bound."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..types import BOOL, Type
from .state import Parser


def branches(p: Parser, subject: ast.expr, of: Type | None, cases: Sequence[ast.match_case]) -> list[ast.stmt]:
    """Give the statements that a ``match`` on values is short for.

    Parameters
    ----------
    subject : ast.expr
        What is matched: it is read as often as cases need it.
    of : Type, optional
        Its type; None for a text.
    """
    if not cases:
        return []
    case, *others = cases
    at, rest = case.pattern, branches(p, subject, of, others)
    if isinstance(at, ast.MatchAs) and at.pattern is None:
        return [*bound(at, subject), *(case.body if case.guard is None else [when(case.guard, case.body, rest)])]
    test = compared(p, subject, of, at)
    if case.guard is not None:
        test = ast.copy_location(ast.BoolOp(ast.And(), [test, case.guard]), at)
    return [when(test, case.body, rest)]


def bound(at: ast.MatchAs, subject: ast.expr) -> list[ast.stmt]:
    """Write the assignment of a pattern that is a name."""
    if at.name is None:
        return []
    target = ast.copy_location(ast.Name(at.name, ast.Store()), at)
    return [ast.copy_location(ast.Assign([target], subject), at)]


def when(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> ast.stmt:
    """Write ``if test: body else: orelse``."""
    return ast.copy_location(ast.If(test, body, orelse), test)


def compared(p: Parser, subject: ast.expr, of: Type | None, pattern: ast.pattern) -> ast.expr:
    """Write the test of a pattern."""
    match pattern:
        case ast.MatchValue(value=value):
            return ast.copy_location(ast.Compare(subject, [ast.Eq()], [value]), pattern)
        case ast.MatchSingleton(value=value):
            if of != BOOL or value is None:  # a number is neither of the objects True, False and None
                return ast.copy_location(ast.Constant(False), pattern)
            constant = ast.copy_location(ast.Constant(value), pattern)
            return ast.copy_location(ast.Compare(subject, [ast.Eq()], [constant]), pattern)
        case ast.MatchOr(patterns=patterns):
            tests = [compared(p, subject, of, each) for each in patterns]
            return ast.copy_location(ast.BoolOp(ast.Or(), tests), pattern)
    p.error(pattern, "this pattern of a value is not in the language", "write case 1, case 1 | 2, case n or case _")
