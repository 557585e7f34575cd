"""``nonlocal``: a local function takes the variables that it gives other values, and returns their values, too."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from tapeengine.chad.parse.names import walked

#: The variables that a local function changes, by its name.
Changing = Mapping[str, Sequence[str]]


def without_nonlocals(tree: ast.FunctionDef) -> Changing:
    r"""Rewrite the local functions that change variables around them; calls of them are still to be rewritten.

    Examples
    --------
    >>> text = "def f():\n    c = 0\n    def g(x):\n        nonlocal c\n        c += x\n    g(2)\n    return c"
    >>> tree = ast.parse(text).body[0]
    >>> without_nonlocals(tree)
    {'g': ['c']}
    >>> print(ast.unparse(tree.body[1]))
    def g(c, /, x):
        c += x
        return (None, c)
    """
    found = {}
    for inner in (s for s in walked(tree.body) if isinstance(s, ast.FunctionDef)):
        names = [name for s in inner.body if isinstance(s, ast.Nonlocal) for name in s.names]
        if names:
            found[inner.name] = names
            passed(inner, names)
    return found


def passed(function: ast.FunctionDef, names: Sequence[str]) -> None:
    """Give a function parameters for variables, and their values in its result."""
    function.args.posonlyargs = [*(ast.copy_location(ast.arg(n), function) for n in names), *function.args.posonlyargs]
    function.returns = None
    body = [Returns(names).visit(s) for s in function.body if not isinstance(s, ast.Nonlocal)]
    at_end = ast.copy_location(ast.Return(None), function.body[-1])
    function.body = body if isinstance(body[-1], ast.Return) else [*body, Returns(names).visit(at_end)]


class Returns(ast.NodeTransformer):
    """Adds variables to the results of a function."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names

    def visit_Return(self, node: ast.Return) -> ast.Return:
        """Return a tuple."""
        value = node.value or ast.copy_location(ast.Constant(None), node)
        loads: list[ast.expr] = [ast.copy_location(ast.Name(n, ast.Load()), node) for n in self.names]
        node.value = ast.copy_location(ast.Tuple([value, *loads], ast.Load()), node)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Leave functions inside as they are."""
        return node


def call_with(node: ast.Call, names: Sequence[str], result: str) -> ast.Assign:
    """Write a call as a statement that assigns its result and the variables."""
    given = [ast.copy_location(ast.Name(n, ast.Load()), node) for n in names]
    targets: list[ast.expr] = [ast.copy_location(ast.Name(n, ast.Store()), node) for n in (result, *names)]
    call = ast.copy_location(ast.Call(node.func, [*given, *node.args], node.keywords), node)
    return ast.copy_location(ast.Assign([ast.copy_location(ast.Tuple(targets, ast.Store()), node)], call), node)
