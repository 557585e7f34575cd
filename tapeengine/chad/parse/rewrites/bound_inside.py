"""Names that comprehensions bind with ``:=`` become variables of an inner comprehension."""

from __future__ import annotations

import ast
import copy
from typing import Any

from ...language.nodes import Transformer, every_node
from ...language.traverse import Names
from .desugar import Taker


class BoundInside(Transformer):
    """Rewrites comprehensions without ``:=``, unless the name is used outside of them."""

    def __init__(self, tree: ast.FunctionDef, names: Names) -> None:
        self.tree, self.names = tree, names

    def comprehension(self, node: Any) -> Any:
        """Move the names out of the tests of the last ``for``, then out of the element."""
        self.generic_visit(node)
        bound = {n.target.id for n in every_node(node) if isinstance(n, ast.NamedExpr)}
        if not bound or bound.intersection(self.outside(node)):
            return node
        last = node.generators[-1]
        tests, last.ifs = last.ifs, []
        for part in (part for test in tests for part in conjuncts(test)):
            rest = self.taken(node, part)
            node.generators[-1].ifs.append(rest)
        node.elt = self.taken(node, node.elt)
        return node

    visit_ListComp = visit_GeneratorExp = comprehension

    def outside(self, node: ast.AST) -> set[str]:
        """Give the names that are used outside of a comprehension."""
        inside = set(map(id, every_node(node)))
        return {n.id for n in every_node(self.tree) if isinstance(n, ast.Name) and id(n) not in inside}

    def taken(self, node: Any, part: ast.expr) -> ast.expr:
        """Give a part without ``:=``; an inner comprehension computes the values of its names."""
        taker = Taker(part, self.names)
        rest: ast.expr = taker.visit(part)
        for statement in taker.bound:
            assert isinstance(statement, ast.Assign)
            targets = [g.target for g in node.generators]
            value = ast.Tuple([*map(loaded, targets), statement.value], ast.Load())
            rows = ast.ListComp(value, node.generators)
            target = ast.Tuple([*copy.deepcopy(targets), *statement.targets], ast.Store())
            node.generators = [ast.comprehension(target, rows, [], 0)]
            for made in (value, rows, target):
                ast.copy_location(made, part)
        return rest


def conjuncts(test: ast.expr) -> list[ast.expr]:
    """Give the operands of an ``and``, in their order."""
    return list(test.values) if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def loaded(target: ast.expr) -> ast.expr:
    """Write the target of a loop as an expression."""
    found = copy.deepcopy(target)
    for part in every_node(found):
        if isinstance(part, ast.Name | ast.Tuple | ast.List | ast.Starred):
            part.ctx = ast.Load()
    return found
