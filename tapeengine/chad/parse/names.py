"""Which names statements assign and use, and whether they return."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["Jumps", "assigned", "bound_by", "ends", "jumps", "renaming", "uses"]


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
        if isinstance(node, ast.MatchAs) and node.name is not None:
            found.append(node.name)
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.For):
            targets = [node.target]
        names = (n for t in targets for n in ast.walk(t) if isinstance(n, ast.Name))
        found += [n.id for n in names if isinstance(n.ctx, ast.Store)]
    return list(dict.fromkeys(found))


def bound_by(pattern: ast.pattern) -> list[str]:
    """Give the names that a pattern binds."""
    return [node.name for node in ast.walk(pattern) if isinstance(node, ast.MatchAs) and node.name is not None]


@dataclass(frozen=True)
class Jumps:
    """How statements may leave the block that they stand in, other than at its end."""

    returns: bool = False
    breaks: bool = False
    continues: bool = False

    def __bool__(self) -> bool:
        return self.returns or self.breaks or self.continues


def ends(statements: Sequence[ast.stmt]) -> bool:
    r"""Tell whether statements may reach their end, as those do not that raise.

    Examples
    --------
    >>> ends(ast.parse("if x:\n    raise ValueError\nelse:\n    assert y").body), ends(ast.parse("raise E").body)
    (True, False)
    """
    match statements:
        case [*_, ast.Raise()]:
            return False
        case [*_, ast.If(body=body, orelse=orelse)]:
            return ends(body) or ends(orelse)
    return True


def jumps(statements: Sequence[ast.stmt]) -> Jumps:
    r"""Tell how statements may leave their block; break and continue count for the loop around them.

    Examples
    --------
    >>> jumps(ast.parse("for x in xs:\n    if x: break\n    else: return 1").body)
    Jumps(returns=True, breaks=False, continues=False)
    """
    returned = any(isinstance(node, ast.Return) for node in _walk(statements))
    kinds = {type(node) for node in _outside_loops(statements)}
    return Jumps(returned, ast.Break in kinds, ast.Continue in kinds)


def _outside_loops(statements: Sequence[ast.AST]) -> Iterator[ast.AST]:
    for statement in statements:
        yield statement
        if not isinstance(statement, ast.FunctionDef | ast.Lambda | ast.For | ast.While):
            yield from _outside_loops(list(ast.iter_child_nodes(statement)))


def uses(statements: Sequence[ast.AST]) -> list[str]:
    """Give the names that statements read, in order, also those read inside functions."""
    nodes = (node for statement in statements for node in ast.walk(statement))
    return list(dict.fromkeys(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)))


def renaming(statement: ast.stmt) -> tuple[str, str] | None:
    """Give both names of ``a = b``; None for another statement.

    Examples
    --------
    >>> renaming(ast.parse("a = b").body[0]), renaming(ast.parse("a = b + 1").body[0])
    (('a', 'b'), None)
    """
    match statement:
        case ast.Assign(targets=[ast.Name(target)], value=ast.Name(value)):
            return target, value
        case ast.AnnAssign(target=ast.Name(target), value=ast.Name(value)):
            return target, value
    return None
