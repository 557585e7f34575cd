"""Rows of grids that are replaced, ``m[i] = [...]``, and swapped, ``m[i], m[p] = m[p], m[i]``, element by element.

A grid is one array of its elements (`tapeengine.chad.parse.operations.grids`), so a row is replaced by a loop over
these. The row must be one that nothing else holds, and of the same size.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from typing import Any

from ...language.nodes import Transformer, every_node
from ..analyses.rectangles import PLACES, bound, indices, is_fresh_row
from ..names.syntax import expression, statements

REPLACED = """
row = value
if len(row) != len(old):
    raise ValueError
for k in range(len(row)):
    old[k] = row[k]
"""


class ByCells(Transformer):
    r"""Rewrites assignments to rows of variables of whose rows elements are changed elsewhere.

    `fresh`: makes a name that the function does not have, from a hint.
    """

    def __init__(self, tree: ast.FunctionDef, fresh: Callable[[str], str]) -> None:
        self.fresh = fresh
        nodes = every_node(tree)
        self.names = {c[0] for n in nodes if isinstance(getattr(n, "ctx", None), ast.Store) and (c := indices(n))}
        makers = [s for s in nodes if isinstance(s, ast.Assign) and self.names.intersection(bound(s))]
        of_arrays = [s for s in makers if not isinstance(s.value, ast.List | ast.ListComp)]
        self.of_lists = self.names.difference(name for s in of_arrays for name in bound(s))

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Rewrite the assignment of a fresh row, and the permutation of rows of lists: rows of arrays are views."""
        match node.targets, node.value:
            case [ast.Subscript() as target], value if row_of(target, self.names) and is_fresh_row(value):
                return self.replaced(node, target)
            case [ast.Tuple(elts=targets)], ast.Tuple(elts=values) if is_permutation(targets, values, self.of_lists):
                return self.permuted(node, targets, values)
        return node

    def replaced(self, node: ast.Assign, target: ast.Subscript) -> list[ast.stmt]:
        """Write ``m[i] = row`` as a loop."""
        old = expression(ast.unparse(target), node)
        return statements(REPLACED, node, row=self.fresh("row"), k=self.fresh("k"), old=old, value=node.value)

    def permuted(self, node: ast.Assign, targets: list[ast.expr], values: list[ast.expr]) -> ast.AST:
        """Write ``m[i], m[p] = m[p], m[i]`` as a loop."""
        k = self.fresh("k")
        left, right = (", ".join(f"{ast.unparse(row)}[{k}]" for row in rows) for rows in (targets, values))
        text = f"for {k} in range(len({ast.unparse(targets[0])})):\n    {left} = {right}"
        return statements(text, node)[0]


def row_of(node: ast.expr, names: Collection[str]) -> bool:
    """Tell whether an expression is a row of one of some variables, at an index that may be computed twice."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=index) if name in names:
            return all(isinstance(n, PLACES) for n in every_node(index))
    return False


def is_permutation(targets: list[ast.expr], values: list[ast.expr], names: Collection[str]) -> bool:
    """Tell whether an assignment permutes rows."""
    texts = [[ast.unparse(e) for e in each] for each in (targets, values)]
    return sorted(texts[0]) == sorted(texts[1]) and all(row_of(e, names) for e in targets)
