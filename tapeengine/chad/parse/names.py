"""Which names statements assign and use, and whether they return."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

__all__ = ["assigned", "returns", "uses"]


def _walk(statements: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Go through statements and what is inside them, but not into functions."""
    for statement in statements:
        yield statement
        if not isinstance(statement, ast.FunctionDef | ast.Lambda):
            yield from _walk(list(ast.iter_child_nodes(statement)))


def assigned(statements: Sequence[ast.stmt]) -> list[str]:
    r"""Give the names that statements assign, in order; not those of comprehensions.

    Examples
    --------
    >>> assigned(ast.parse("x = 1\ny, z = f(x)\nfor i in y: x += 1").body)
    ['x', 'y', 'z', 'i']
    """
    found = []
    for node in _walk(statements):
        if isinstance(node, ast.comprehension):
            continue
        if isinstance(node, ast.FunctionDef):
            found.append(node.name)
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For):
            targets = [node.target]
        found += [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return list(dict.fromkeys(found))


def returns(statements: Sequence[ast.stmt]) -> bool:
    """Tell whether statements have a return in them."""
    return any(isinstance(node, ast.Return) for node in _walk(statements))


def uses(statements: Sequence[ast.AST]) -> list[str]:
    """Give the names that statements read, in order, also those read inside functions."""
    nodes = (node for statement in statements for node in ast.walk(statement))
    return list(dict.fromkeys(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)))
