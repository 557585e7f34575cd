"""Leave out what a program does just before it raises: ``msg = f"x is {x}"`` before ``raise ValueError(msg)``.

A run that raises is made again by the plain function, which does all of it, perhaps more than once. So assignments of
texts and of errors, which have no other effect, need not be in the language.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...language.nodes import every_node
from ..analyses.iterators import blocks

#: Python's functions, and methods of texts, that a text of an error is made with.
PURE = frozenset(
    "str repr format len type round float int abs min max sum sorted list tuple set dict join upper lower".split()
)


def without_tails(tree: ast.FunctionDef) -> ast.FunctionDef:
    """Delete the simple statements before each ``raise`` of a block, but those of names that are read elsewhere."""
    nodes = every_node(tree)
    tails = [tail for block in blocks(nodes) for tail in tails_of(block)]
    if not tails:
        return tree
    inside = {id(n) for block, start, end in tails for s in block[start : end + 1] for n in every_node(s)}
    read = {n.id for n in nodes if isinstance(n, ast.Name) and is_read(n) and id(n) not in inside}
    for block, start, end in reversed(tails):
        if not read & {
            n.id for s in block[start:end] for n in every_node(s) if isinstance(n, ast.Name) and not is_read(n)
        }:
            del block[start:end]
    return tree


def tails_of(block: list[ast.stmt]) -> Iterator[tuple[list[ast.stmt], int, int]]:
    """Give where the simple statements before the first ``raise`` of a block begin and end, if there are any."""
    end = next((k for k, s in enumerate(block) if isinstance(s, ast.Raise)), 0)
    start = end
    while start and is_simple(block[start - 1]):
        start -= 1
    if start < end:
        yield block, start, end


def is_read(name: ast.Name) -> bool:
    """Tell whether a name is read, not bound."""
    return isinstance(name.ctx, ast.Load)


def is_simple(statement: ast.stmt) -> bool:
    """Tell whether a statement does nothing but bind names to values that pure functions and classes of errors make."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    others = (n for n in every_node(statement) if isinstance(n, ast.Call | ast.Yield | ast.YieldFrom | ast.Await))
    return all(isinstance(t, ast.Name) for t in targets) and all(
        isinstance(n, ast.Call) and is_pure(n.func) for n in others
    )


def is_pure(function: ast.expr) -> bool:
    """Tell whether a function is known to have no effect, by its name."""
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    return name in PURE or name.endswith(("Error", "Exception"))
