"""Functions that yield become functions that give a list; a call of one is ``itertools.chain`` of this list.

So it is read as other iterators are. A generator that changes its arguments, or that may not end, stays as it is.
"""

from __future__ import annotations

import ast
import itertools
from typing import Any

from ...language.nodes import Transformer, every_node
from ..names.callees import is_plain
from ..names.outside import named_outside, root
from ..names.per_function import PerFunction
from ..names.syntax import expression, load, statements
from ..names.uses import inner_nodes, jumps
from .procedures import MARK, changed_in_place, copy_of, nonlocals, text_of

#: Statements of generators that are left as they are: with clean-up, or that receive values.
LAZY = (ast.Try, ast.With, ast.Global, ast.Yield, ast.YieldFrom)
#: The name of the list; no name of Python's begins with a space.
FOUND = " found"
#: A run with a loop that gives more elements, and may have no end, is left to the plain function.
MOST = 100_000


def names_in(nodes: list[ast.AST], context: type) -> list[str]:
    """Give the names that are read, or assigned."""
    return [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, context)]


def collect(function: ast.FunctionDef) -> bool:
    """Rewrite a generator, and tell whether that was done."""
    nodes = list(inner_nodes(function.body))
    yields = [n for n in nodes if isinstance(n, ast.Expr) and isinstance(n.value, ast.Yield | ast.YieldFrom)]
    is_lazy = any(isinstance(n, LAZY) and not any(n is s.value for s in yields) for n in nodes)
    loops = [n for n in nodes if isinstance(n, ast.While)]
    is_lazy = is_lazy or any(isinstance(n.test, ast.Constant) and not leaves(n.body) for n in loops)
    changed = {*changed_in_place(function.body), *nonlocals(function)}
    if not yields or is_lazy or not changed.issubset(names_in(nodes, ast.Store)):
        return False
    for s in yields:
        how = "append" if isinstance(s.value, ast.Yield) else "extend"
        value = getattr(s.value, "value", None) or ast.copy_location(ast.Constant(None), s)
        s.value = expression(f"found.{how}(value)", s, found=FOUND, value=value)
    for n in nodes:
        if isinstance(n, ast.Return):
            n.value = load(FOUND, n)
    for n in loops:
        n.body[:0] = statements(f"if len(found) > {MOST}: raise MemoryError", n, found=FOUND)
    first, last = statements("found = []\nreturn found", function, found=FOUND)
    function.body, function.returns = [first, *function.body, last], None
    return True


def leaves(statements: list[ast.stmt]) -> bool:
    """Tell whether the body of a loop may leave it."""
    return jumps(statements).breaks or jumps(statements).returns


@PerFunction
def collected(function: Any) -> Any:
    """Give a function that gives the list of what a generator yields; None for any other function."""
    tree = text_of(function)
    if tree is None or not collect(tree):
        return None
    made = copy_of(function)
    made.rewritten = collect  # type: ignore[attr-defined]
    return made


class Generators(Transformer):
    """Rewrites the calls of local generators and of those outside, which are added to `outer`."""

    def __init__(self, tree: ast.FunctionDef, outer: dict[str, Any]) -> None:
        nodes = every_node(tree)
        inner = [n for n in nodes[1:] if isinstance(n, ast.FunctionDef)]
        args = [n.arg for n in nodes if isinstance(n, ast.arg)]
        self.bound = [*names_in(nodes, ast.Store), *(n.name for n in inner), *args]
        self.local = [n.name for n in inner if self.bound.count(n.name) == 1 and collect(n)]
        self.outer = outer

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Call the function that gives a list."""
        self.generic_visit(node)
        found = None if root(node.func) in self.bound else named_outside(node.func, self.outer)
        if is_plain(found) and (made := collected(found)):
            name = f"{MARK}{ast.unparse(node.func)}"
            self.outer[name], node.func = made, ast.copy_location(ast.Name(name, ast.Load()), node.func)
        elif not isinstance(node.func, ast.Name) or node.func.id not in self.local:
            return node
        self.outer[" itertools"] = itertools
        chain = ast.Attribute(ast.Name(" itertools", ast.Load()), "chain", ast.Load())
        whole = ast.fix_missing_locations(ast.copy_location(ast.Call(chain, [node], []), node))
        node.end_col_offset = (node.end_col_offset or 0) - 1  # the places of the two calls differ
        return whole
