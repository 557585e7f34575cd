"""Plain arrays, and sparse matrices of SciPy, on the left of traced operands.

SciPy's classes take every number for one of theirs, and arrays by their methods, and convert both to plain arrays;
traced operands on the left are asked first. So ``A * s`` becomes ``times(A, s)``, ``A / s`` becomes ``over(A, s)``, and
``A.multiply(x)`` becomes ``method(A, "multiply")(x)``; operators only where the source mentions sparse matrices. With a
traced ``x``, ``A.dot(x)`` of a plain array is a method of its traced copy.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy

import tapeengine.numpy

from .._core.arrays.array import Array, holds_traced, rules_of
from .._core.scalars.scalar import Dual
from ..errors import module_of

#: Names in a source whose operators are changed.
MENTIONED = "sparse"
_TIMES, _OVER, _METHOD = ".times", ".over", ".method"
#: Methods of sparse matrices, and those of plain arrays whose arguments may be traced.
METHODS = ("multiply", "dot", "clip", "searchsorted", "choose", "__array__", "astype")


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
    """``a.multiply``, ``a.dot``, ..., ``a.__array__`` of a traced array, and ``a.astype`` of one of objects."""
    if name == "__array__":
        return partial(tapeengine.numpy.asarray, a) if type(a) is Array else getattr(a, name)
    if name == "astype":
        return partial(converted, a) if type(a) is numpy.ndarray and a.dtype == object else a.astype
    return partial(called, a, name) if type(a) is numpy.ndarray or is_sparse(a) else getattr(a, name)


def called(a: Any, name: str, *args: Any, **options: Any) -> Any:
    """Call a method of a plain array, which becomes a traced one for traced arguments, or of a sparse matrix."""
    if not any(map(holds_traced, (*args, *options.values()))):
        found = getattr(a, name)(*args, **options)  # SciPy does not know sparse matrices with traced entries
        return args[0].multiply(a) if found is NotImplemented and name == "multiply" else found
    if not is_sparse(a):
        return clipped(a, *args, **options) if name == "clip" else getattr(tapeengine.numpy, name)(a, *args, **options)
    x = args[0]
    rule = rules_of(x).of_class((a,))
    return getattr(a, name)(x) if rule is None else rule(getattr(type(a), name), a, x)


def converted(a: Any, dtype: Any, *args: Any, **options: Any) -> Any:
    """``a.astype(dtype)`` of an array of objects."""
    if numpy.dtype(dtype) != object and holds_traced(a.tolist()):
        return tapeengine.numpy.asarray(a, dtype)
    return a.astype(dtype, *args, **options)


def clipped(a: Any, min: Any = None, max: Any = None, *args: Any, **options: Any) -> Any:
    """``a.clip(min, max)``, whose parameters have other names than those of numpy's function."""
    return tapeengine.numpy.clip(a, min, max, *args, **options)


def operand_names() -> dict[str, Any]:
    """The functions that changed code calls."""
    return {_TIMES: times, _OVER: over, _METHOD: method}


def with_operands(tree: ast.Module, sparse: bool) -> ast.Module:
    """Replace methods in a tree by these calls, and operators if it mentions sparse matrices."""
    changed = Operands(sparse).visit(tree)
    assert isinstance(changed, ast.Module)
    return changed


class Operands(ast.NodeTransformer):
    """Replaces operators whose right operand is no constant, and calls of the methods."""

    def __init__(self, sparse: bool) -> None:
        self.operators = {ast.Mult: _TIMES, ast.Div: _OVER} if sparse else {}

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """``a * b`` and ``a / b``."""
        self.generic_visit(node)
        name = self.operators.get(type(node.op))
        if name is None or isinstance(node.left, ast.Constant) or isinstance(node.right, ast.Constant):
            return node
        return made(name, [node.left, node.right], node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``a.multiply(x)``."""
        self.generic_visit(node)
        of = node.func
        if isinstance(of, ast.Attribute) and of.attr in METHODS and getattr(of.value, "id", "") not in ("np", "numpy"):
            node.func = made(_METHOD, [of.value, ast.Constant(of.attr)], of)
        return node


def made(name: str, arguments: list[ast.expr], at: ast.expr) -> ast.expr:
    """A call node, with the location of another expression."""
    call = ast.Call(ast.Name(name, ast.Load()), arguments, [])
    for node in (call, call.func, *arguments):
        if not hasattr(node, "lineno"):
            ast.copy_location(node, at)
    return call
