"""Calls that change an array, written as assignments: ``np.exp(x, out=y)`` is ``y[...] = np.exp(x)``, ``y.fill(v)``."""

from __future__ import annotations

import ast
from collections.abc import Callable

from ...language.nodes import Transformer
from ..names.outside import root
from ..names.syntax import expression, statements


class Extreme(ast.operator):
    """Stands for ``np.maximum`` or ``np.minimum`` where Python has operators."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


#: The operators of ufuncs.
OPERATORS = {
    **dict(zip(("add", "subtract", "multiply", "divide"), (ast.Add(), ast.Sub(), ast.Mult(), ast.Div()))),
    **{name: Extreme(name) for name in ("maximum", "minimum")},
}


def is_exact(target: ast.expr) -> bool:
    """Tell whether a part of an array gets a value with as many axes, which is not broadcast."""
    return getattr(target, "is_exact", False)


class Filling(Transformer):
    """Writes calls that change an array as assignments, and ``ys.remove(v)`` by `pop`."""

    def __init__(self, is_numpy: Callable[[str], bool]) -> None:
        self.is_numpy = is_numpy

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """Write a statement."""
        match node.value:
            case ast.Call(func=ast.Attribute(value=ast.Name() as filled, attr="fill"), args=[value], keywords=[]):
                return assigned(node, filled, value)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="remove"), args=[value], keywords=[]):
                return statements("_.pop(_.index(value))", node, _=name, value=value)[0]
            case ast.Call(
                func=ast.Attribute(value=ast.Attribute(attr=name) as ufunc, attr="at"),
                args=[ast.Name() as array, index, value],
                keywords=[],
            ) if name in OPERATORS and self.is_numpy(root(ufunc)):
                target = ast.copy_location(ast.Subscript(array, index, ast.Store()), node)
                target.one_by_one = OPERATORS[name], value  # type: ignore[attr-defined]
                return ast.copy_location(ast.AugAssign(target, OPERATORS[name], value), node)
            case ast.Call(
                func=ast.Attribute(attr="fill_diagonal") as function, args=[ast.Name() as array, value], keywords=[]
            ) if self.is_numpy(root(function)):
                places = expression("np.diag_indices(min(_.shape))", node, np=function.value, _=array.id)
                return assigned(node, ast.copy_location(ast.Subscript(array, places, ast.Load()), node), value)
            case ast.Call(keywords=keywords) as call if self.is_numpy(root(call.func)):
                out = [k.value for k in keywords if k.arg == "out"]
                if len(out) == 1 and isinstance(out[0], ast.Name | ast.Subscript):
                    rest = [k for k in keywords if k.arg != "out"]
                    return assigned(node, out[0], ast.copy_location(ast.Call(call.func, call.args, rest), call))
        return node


def assigned(node: ast.Expr, filled: ast.Name | ast.Subscript, value: ast.expr) -> ast.stmt:
    """Write the assignment."""
    whole, index = (filled.value, filled.slice) if isinstance(filled, ast.Subscript) else (filled, ast.Constant(...))
    target = ast.Subscript(whole, ast.copy_location(index, filled), ast.Store())
    target.is_exact = isinstance(value, ast.Call) and not isinstance(index, ast.Call)  # type: ignore[attr-defined]
    return ast.copy_location(ast.Assign([ast.copy_location(target, filled)], value), node)
