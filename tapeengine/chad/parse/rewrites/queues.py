"""Lists that lose first elements in a loop: ``xs.pop(0)``, ``del xs[0]``, ``xs = xs[1:]``.

Such a list keeps its elements, and a variable counts those that it has lost, so that losing one takes constant time.
The list as Python has it is the rest, ``xs[start:]``. A list that is used in other ways than those here stays as it is.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...language.nodes import Transformer, every_node
from ..analyses.aliases import changes
from ..analyses.ownership import READING
from ..analyses.rectangles import PLACES
from ..names import syntax
from ..names.uses import OWN, assigned, inner_nodes, pairs, parameters


class NoQueue(Exception):
    """A use of the list for which there is no rule."""


def with_starts(tree: ast.FunctionDef, fresh: Callable[[str], str], is_array: Callable[[str], bool]) -> ast.FunctionDef:
    """Rewrite a function with the lists that lose first elements; `is_array` is asked of its parameters."""
    for owner in [n for n in every_node(tree) if isinstance(n, ast.FunctionDef)]:
        given = [a.arg for a in parameters(owner.args)]
        for name in dict.fromkeys(losing(owner)):
            if name in assigned(owner.body) or (name in given and (owner is not tree or is_array(name))):
                try:
                    queue = Queue(name, fresh(f"{name}_start"), owner, name in given)
                    owner.body = queue.block(copy.deepcopy(owner.body), queue.first)
                except NoQueue:
                    continue
    return tree


def losing(function: ast.FunctionDef) -> Iterator[str]:
    """Go through the names of lists that lose first elements in a loop."""
    for loop in (n for n in inner_nodes(function.body) if isinstance(n, ast.For | ast.While)):
        for s in inner_nodes(loop.body):
            if isinstance(s, ast.Assign | ast.Expr):
                yield popped(s.value)
            if isinstance(loop, ast.While) or isinstance(loop.iter, ast.Call):  # other loops may be unrolled
                yield from (cut(*pair) for pair in pairs(s))


def popped(value: ast.expr) -> str:
    """Give the name of the list whose first element an expression takes."""
    match value:
        case ast.Call(ast.Attribute(ast.Name(name), "pop"), [ast.Constant(value=place)]) if type(place) is int:
            return "" if place else name
    return ""


def cut(target: ast.expr, value: ast.expr) -> str:
    """Give the name of ``xs = xs[1:]``, with any positive number."""
    match target, value:
        case ast.Name(name), ast.Subscript(ast.Name(of), ast.Slice(ast.Constant(int(n)), None, None)) if n > 0:
            return name if of == name else ""
    return ""


class Queue(Transformer):
    """Rewrites the statements of a function for one of its lists.

    * `first`: what stands at the beginning of the function.
    * `after`: what stands after the statement that is read.
    """

    def __init__(self, name: str, start: str, owner: ast.FunctionDef, is_given: bool) -> None:
        self.names: dict[str, str] = {"_": name, "start": start}
        self.name, self.after, self.binds = name, list[ast.stmt](), False
        self.is_changed = any(n == name for s in owner.body for n, _ in changes(s))
        self.cuts = not (self.is_changed and is_given)  # a part of an argument is a list of the program's own
        self.first = self.text("start = 0", owner.body[0]) if is_given else []

    def text(self, text: str, at: ast.AST, **parts: ast.expr) -> list[Any]:
        """Write statements at the place of a node; ``_`` and ``start`` stand for the list and its start."""
        return syntax.statements(text, at, **self.names, **parts)

    def expression(self, text: str, at: ast.AST, **parts: ast.expr) -> Any:
        """Write an expression in the same way, which is complete."""
        found = self.text(text, at, **parts)[0].value
        found.is_written = True
        return found

    def block(self, statements: list[ast.stmt], found: list[ast.stmt]) -> list[ast.stmt]:
        """Write statements after others."""
        for s in statements:
            for field in ("body", "orelse"):
                if not isinstance(s, ast.FunctionDef) and hasattr(s, field):
                    setattr(s, field, self.block(getattr(s, field), []))
            self.after = []
            self.statement(s)
            found += [s, *self.after]
        return found

    def statement(self, s: Any) -> None:
        """Write the parts of a statement."""
        own = [value for target, value in pairs(s) if self.cuts and cut(target, value) == self.name]
        self.binds = isinstance(s, ast.Assign | ast.AnnAssign)
        if isinstance(s, ast.FunctionDef):
            self.nowhere(s)
        elif self.binds and self.name in assigned([s]) and not own:
            if re.search("Dict|'dict'", ast.dump(s)):  # of which ``pop(0)`` takes a key
                raise NoQueue
            self.after += self.text("start = 0", s)
        if isinstance(s, ast.Return) and s.value:
            s.value = self.rest(s.value)
        if isinstance(s, ast.For) and not any(n == self.name for inner in s.body for n, _ in changes(inner)):
            s.iter = self.rest(s.iter)
        if isinstance(s, ast.If | ast.While):
            s.test = self.truth(s.test)
        for field, value in ast.iter_fields(s):
            if field == "targets":
                s.targets = list(map(self.visit, value))
            elif isinstance(value, ast.expr):
                setattr(s, field, self.visit(value))
        for value in own:
            self.cut(s, value)

    def nowhere(self, node: ast.AST) -> None:
        """Take only what does not name the list."""
        if any(isinstance(n, ast.Name) and n.id == self.name for n in every_node(node)):
            raise NoQueue

    def cut(self, s: Any, value: Any) -> None:
        """Write ``xs = xs[1:]`` as a change of the start."""
        more = self.expression("min(start + n, len(_))", value, n=value.slice.lower)
        target = self.text("start = 0", value)[0].targets[0]
        if s.value is value:
            s.targets, s.value = [target], more
        else:
            k = s.value.elts.index(value)
            s.targets[0].elts[k], s.value.elts[k] = target, more

    # ------------------------------------------------------------ expressions

    def is_list(self, node: ast.expr) -> bool:
        """Tell whether an expression is the list."""
        return isinstance(node, ast.Name) and node.id == self.name

    def rest(self, node: ast.expr) -> Any:
        """Replace the list by its rest; leave any other expression unchanged."""
        return self.expression("_[start:]", node) if self.is_list(node) else node

    def truth(self, node: ast.expr) -> Any:
        """Write a condition, which arrays are not."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self.truth(node.operand)
        elif isinstance(node, ast.BoolOp):
            node.values = list(map(self.truth, node.values))
        text = "len(_) > start" if self.is_changed else "_ and len(_) > start"
        return self.expression(text, node) if self.is_list(node) else node

    def place(self, index: ast.expr) -> ast.expr | None:
        """Give the place of an element in memory; None for an index that may be that of several."""
        try:
            is_first = ast.literal_eval(index) >= 0
        except (ValueError, TypeError):
            is_first = None
            if not self.is_changed or not all(isinstance(n, PLACES) for n in every_node(index)):
                return None
        from_end = "(i + len(_) if i + len(_) >= start else len(_))"
        text = {True: "start + i", False: from_end, None: f"start + i if i >= 0 else {from_end}"}[is_first]
        return self.expression(text, index, i=index)  # type: ignore[no-any-return]

    def visit(self, node: ast.AST) -> Any:
        """Write an expression."""
        if hasattr(node, "is_written"):
            return node
        for field in OPERANDS.get(type(node), ()):
            value = getattr(node, field)
            setattr(node, field, list(map(self.rest, value)) if isinstance(value, list) else self.rest(value))
        return super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Refuse a use for which there is no rule."""
        if node.id == self.name and not (self.binds and isinstance(node.ctx, ast.Store)):
            raise NoQueue
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        """Leave functions, which run later."""
        self.nowhere(node)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Test the rest."""
        node.test = self.truth(node.test)
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Read or assign an element of the list, or read a part of the rest."""
        node.slice = self.visit(node.slice)
        place = self.place(node.slice) if self.is_list(node.value) else None
        if place:
            node.slice = place
            return node
        node.value = self.visit(node.value if isinstance(node.ctx, ast.Store) else self.rest(node.value))
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Change the list, or read its rest."""
        match node:
            case ast.Call(ast.Name("len"), [ast.Name(self.name)]):
                return self.expression("len(_) - start", node)  # type: ignore[no-any-return]
            case ast.Call(ast.Attribute(ast.Name(self.name), "pop"), [ast.Constant(0)]):
                node.args = [self.expression("start", node)]
                node.args[0].is_start = True  # type: ignore[attr-defined]
                self.after += self.text("start += 1", node)
                return node
            case ast.Call(ast.Attribute(ast.Name(self.name), attr), args) if attr in ENDS and not (
                args and attr == "pop"
            ):
                self.after += self.text("if len(_) < start: raise IndexError", node) if attr == "pop" else []
                node.args = list(map(self.visit, args))
                return node
            case ast.Call(ast.Name(name) | ast.Attribute(attr=name)) if name in READING and name != OWN:
                node.args = list(map(self.rest, node.args))
        return self.generic_visit(node)


#: The methods that change the end of a list.
ENDS = ("append", "extend", "pop")
#: The parts of expressions that read a list and do not keep it.
OPERANDS: Mapping[type, tuple[str, ...]] = {
    ast.BinOp: ("left", "right"),
    ast.Compare: ("left", "comparators"),
    ast.comprehension: ("iter",),
    ast.Starred: ("value",),
}
