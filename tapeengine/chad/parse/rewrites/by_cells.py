"""Rows of grids that are replaced, ``m[i] = [...]``, and swapped, ``m[i], m[p] = m[p], m[i]``, element by element.

A grid is one array of its elements (`tapeengine.chad.parse.operations.grids`), so a row is replaced by a loop over
these. The row must be one that nothing else holds, and of the same size.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from ...language.nodes import Transformer, every_node
from ..analyses.rectangles import PLACES, bound, indices, is_fresh_row

Node = TypeVar("Node", bound=ast.AST)

REPLACED = """
{row} = None
if len({row}) != len({m}[{i}]):
    raise ValueError
for {k} in range(len({row})):
    {m}[{i}][{k}] = {row}[{k}]
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

    def replaced(self, node: ast.Assign, target: ast.Subscript) -> list[ast.AST]:
        """Write ``m[i] = row`` as a loop."""
        row, k = self.fresh("row"), self.fresh("k")
        made = ast.parse(REPLACED.format(row=row, k=k, m=ast.unparse(target.value), i=ast.unparse(target.slice))).body
        made[0].value = node.value  # type: ignore[attr-defined]
        return [placed(s, node, node.value) for s in made]

    def permuted(self, node: ast.Assign, targets: list[ast.expr], values: list[ast.expr]) -> ast.AST:
        """Write ``m[i], m[p] = m[p], m[i]`` as a loop."""
        k = self.fresh("k")
        left, right = (", ".join(f"{ast.unparse(row)}[{k}]" for row in rows) for rows in (targets, values))
        over = ast.unparse(targets[0])
        return placed(ast.parse(f"for {k} in range(len({over})):\n    {left} = {right}").body[0], node)


def placed(made: Node, node: ast.AST, kept: ast.AST | None = None) -> Node:
    """Give new nodes the source position of the node that they replace."""
    own = set(every_node(kept)) if kept else set()
    for inner in every_node(made):
        if inner not in own and "lineno" in inner._attributes:
            ast.copy_location(inner, node)
    return made


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
