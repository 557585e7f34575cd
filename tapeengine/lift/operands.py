"""Sparse matrices of SciPy on the left of traced operands, in code that names them.

SciPy's classes take every number for one of theirs, and arrays by their methods, and convert both to plain arrays;
traced operands on the left are asked first. So ``A * s`` becomes ``times(A, s)``, ``A / s`` becomes ``over(A, s)``, and
``A.multiply(x)`` becomes ``method(A, "multiply")(x)``, where the source mentions sparse matrices.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

from .._core.arrays.array import Array
from .._core.arrays.storing import rules_of
from .._core.scalars.scalar import Dual
from ..errors import module_of

#: Names in a source whose operators are changed.
MENTIONED = "sparse"
_TIMES, _OVER, _METHOD = ".times", ".over", ".method"
_METHODS = {"multiply", "dot"}


def is_sparse(a: Any) -> bool:
    """Whether an operand is a SciPy sparse matrix; if it is, SciPy has been imported."""
    return module_of(type(a)).startswith("scipy.sparse.")


def times(a: Any, b: Any) -> Any:
    """``a * b``."""
    return b * a if type(b) is Dual and is_sparse(a) else a * b


def over(a: Any, b: Any) -> Any:
    """``a / b``, with SciPy's division by a number."""
    return 1.0 / b * a if type(b) is Dual and is_sparse(a) else a / b


def method(a: Any, name: str) -> Callable[..., Any]:
    """``a.multiply`` or ``a.dot``."""
    return partial(called, a, name) if is_sparse(a) else getattr(a, name)


def called(a: Any, name: str, x: Any) -> Any:
    """Call a method of a sparse matrix."""
    if type(x) is not Array and type(x) is not Dual:
        found = getattr(a, name)(x)  # SciPy does not know sparse matrices with traced entries
        return x.multiply(a) if found is NotImplemented and name == "multiply" else found
    rule = rules_of(x).of_class((a,))
    return getattr(a, name)(x) if rule is None else rule(getattr(type(a), name), a, x)


def operand_names() -> dict[str, Any]:
    """The functions that changed code calls."""
    return {_TIMES: times, _OVER: over, _METHOD: method}


def with_operands(tree: ast.Module) -> ast.Module:
    """Replace operators and methods in a tree by these calls."""
    changed = Operands().visit(tree)
    assert isinstance(changed, ast.Module)
    return changed


class Operands(ast.NodeTransformer):
    """Replaces operators whose right operand is no constant, and calls of the methods."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """``a * b`` and ``a / b``."""
        self.generic_visit(node)
        name = {ast.Mult: _TIMES, ast.Div: _OVER}.get(type(node.op))
        if name is None or isinstance(node.left, ast.Constant) or isinstance(node.right, ast.Constant):
            return node
        return made(name, [node.left, node.right], node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``a.multiply(x)``."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS and len(node.args) == 1:
            node.func = made(_METHOD, [node.func.value, ast.Constant(node.func.attr)], node.func)
        return node


def made(name: str, arguments: list[ast.expr], at: ast.expr) -> ast.expr:
    """A call node, with the location of another expression."""
    call = ast.Call(ast.Name(name, ast.Load()), arguments, [])
    for node in (call, call.func, *arguments):
        if not hasattr(node, "lineno"):
            ast.copy_location(node, at)
    return call
