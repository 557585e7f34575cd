"""Comparisons of parameters in SciPy's own code, which decide on formulas that a traced parameter does not have.

SciPy computes some numbers apart: ``if a[0] != 1.0`` leaves out a division by 1, and ``if lmb == 0`` is the limit of a
formula. The values agree there, the derivatives in the parameter do not: it would be 0. A traced parameter is therefore
different from 1, for which general formulas hold, and the call is refused where it equals another number.
"""

import ast
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import numpy

from tapeengine.errors import UnsupportedError
from tapeengine.lift.rewrite import changed_code, codes_in, compiled
from tapeengine_scipy._values import is_traced


def equal(a: Any, b: Any, written: bool = True) -> Any:
    """Compare a parameter in SciPy's code with a number that is written there, or with another parameter."""
    found = a == b
    if not (is_traced(a) or is_traced(b)) or numpy.ndim(found) or not found:
        return found
    if written and b == 1:
        return False
    raise UnsupportedError(
        f"SciPy's code has a special case for the value {b} of a parameter, without the derivative by the parameter: "
        "use a nearby number, or pass te.value(...) if it is a constant"
    )


def different(a: Any, b: Any, written: bool = True) -> Any:
    """Compare as `equal` does."""
    return numpy.logical_not(equal(a, b, written))


#: The functions for both comparisons, which changed code calls by these names.
CALLED = {"_equal_": equal, "_different_": different}
_NAMES: dict[type, str] = {ast.Eq: "_equal_", ast.NotEq: "_different_"}


def guarded_code(function: FunctionType) -> CodeType:
    """The code of one of SciPy's functions as lifted code has it, with these comparisons by calls."""
    return changed_code(function, _codes_of)


@cache
def _codes_of(source: str, place: str, flags: int, sparse: bool) -> tuple[tuple[CodeType, CodeType], ...]:
    text = _with_calls(source)
    changed = compiled(text.encode(), place, flags, sparse) or compile(text, place, "exec", flags, True)
    return tuple(zip(codes_in(compile(source, place, "exec", flags, True)), codes_in(changed), strict=True))


def _with_calls(source: str) -> str:
    """The source with calls in the place of comparisons, on the same lines."""
    lines = source.encode().splitlines(keepends=True)
    for node in sorted(_comparisons(ast.parse(source)), key=lambda node: (node.lineno, -node.col_offset)):
        line, (right,) = lines[node.lineno - 1], node.comparators
        start, end = node.col_offset, node.end_col_offset
        given = f"{ast.unparse(node.left)}, {ast.unparse(right)}, {isinstance(right, ast.Constant)}"
        called = f"{_NAMES[type(node.ops[0])]}({given})"
        lines[node.lineno - 1] = line[:start] + called.encode() + line[end:]
    return b"".join(lines).decode()


def _comparisons(tree: ast.AST) -> Iterator[ast.Compare]:
    """Comparisons on one line of a parameter, or of its element, with a number or another one."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            given = function.args
            names = {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
            for node in ast.walk(function):
                if isinstance(node, ast.Compare) and _decides(node, names):
                    yield node


def _decides(node: ast.Compare, names: set[str]) -> bool:
    left, right = node.left, node.comparators[-1]
    left = left.value if isinstance(left, ast.Subscript) and isinstance(left.slice, ast.Constant) else left
    return (
        len(node.ops) == 1
        and type(node.ops[0]) in _NAMES
        and node.lineno == node.end_lineno
        and _is_one_of(left, names)
        and (_is_one_of(right, names) or (isinstance(right, ast.Constant) and type(right.value) in (int, float)))
    )


def _is_one_of(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names
