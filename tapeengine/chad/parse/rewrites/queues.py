"""Lists that lose first elements in a loop: ``xs.pop(0)``, ``del xs[0]``, ``xs = xs[1:]``.

Such a list keeps its elements, and a variable counts those that it has lost, so that losing one takes constant time.
The list as Python has it is the rest, ``xs[start:]``: what only reads it gets that, and before any other use the list
becomes its rest.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator
from typing import Any

from ..analyses.aliases import changes
from ..analyses.ownership import READING
from ..names.uses import OWN, assigned, inner_nodes, parameters
from .by_cells import PLACES, placed

Statements = list[ast.stmt]
#: The functions that keep nothing of a list, and the methods that leave the places of its elements.
READERS = READING - {OWN}
ADDING = ("append", "extend")
MEASURES = ("index", "count", "copy")


def with_starts(tree: ast.FunctionDef, fresh: Callable[[str], str], is_array: Callable[[str], bool]) -> ast.FunctionDef:
    """Rewrite a function with the lists that lose first elements; `is_array` is asked of its parameters."""
    for owner in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
        given = [a.arg for a in parameters(owner.args)]
        for name, is_cut in dict.fromkeys(losing(owner)):
            is_known = name in assigned(owner.body) or (name in given and (owner is not tree or is_array(name)))
            if is_known and is_alone(owner, name):
                queue = Queue(name, fresh(f"{name}_start"), owner, name in given)
                if queue.cuts or not is_cut:
                    queue.rewrite(owner)
    return tree


def losing(function: ast.FunctionDef) -> Iterator[tuple[str, bool]]:
    """Go through the names of lists that lose first elements in a loop, and whether they are cut."""
    for loop in (n for n in inner_nodes(function.body) if isinstance(n, ast.For | ast.While)):
        for s in inner_nodes(loop.body):
            if isinstance(s, ast.Assign | ast.Expr) and (name := popped(s.value)):
                yield name, False
            elif not isinstance(loop, ast.For) or isinstance(loop.iter, ast.Call):  # other loops may be unrolled
                yield from ((name, True) for pair in pairs(s) if (name := cut(*pair)))


def popped(value: ast.expr | None) -> str:
    """Give the name of a list of which an expression takes the first element."""
    match value:
        case ast.Call(ast.Attribute(ast.Name(name), "pop"), [ast.Constant(value=place)]) if type(place) is int:
            return "" if place else name
    return ""


def pairs(s: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """Give the targets of an assignment with the expressions of their values."""
    match s:
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
            return list(zip(targets, values, strict=True))
        case ast.Assign([target], value):
            return [(target, value)]
    return []


def cut(target: ast.expr, value: ast.expr) -> str:
    """Give the name of ``xs = xs[1:]``, with any positive number."""
    match target, value:
        case ast.Name(name), ast.Subscript(ast.Name(of), ast.Slice(ast.Constant(int(n)), None, None)) if n > 0:
            return name if of == name else ""
    return ""


def is_alone(function: ast.FunctionDef, name: str) -> bool:
    """Tell whether a variable is no dict, gets its values from assignments alone, and is used in no local function."""
    inner = [n for n in ast.walk(function) if isinstance(n, ast.FunctionDef | ast.Lambda) and n is not function]
    captured = {n.id for f in inner for n in ast.walk(f) if isinstance(n, ast.Name)}
    others = (n.target for n in ast.walk(function) if isinstance(n, ast.For | ast.comprehension | ast.NamedExpr))
    captured.update(n.id for target in others for n in ast.walk(target) if isinstance(n, ast.Name))
    values = [v for s in ast.walk(function) for t, v in pairs(s) if isinstance(t, ast.Name) and t.id == name]
    return name not in captured and not any("Dict" in ast.dump(v) or "'dict'" in ast.dump(v) for v in values)


class Queue(ast.NodeTransformer):
    """Rewrites the statements of a function for one of its lists.

    While a statement is read: what stands before it and after it, and whether it uses the list itself.
    """

    def __init__(self, name: str, start: str, owner: ast.FunctionDef, is_given: bool) -> None:
        self.names = {"_": name, "start": start}
        self.name, self.is_given = name, is_given
        self.before: Statements = []
        self.after: Statements = []
        self.is_whole = self.was_whole = False
        self.is_changed = any(n == name for s in owner.body for n, _ in changes(s))
        self.cuts = not self.is_changed
        if self.is_changed and not is_given:  # the list that is cut is a new one, which nothing else may notice
            self.rewrite(copy.deepcopy(owner))
            self.cuts = not self.was_whole

    def text(self, text: str, at: ast.AST, **parts: ast.expr) -> Statements:
        """Write statements at the place of a node; ``_`` and ``start`` stand for the list and its start."""
        body = [placed(s, at) for s in ast.parse(text).body]
        for n in (n for s in body for n in ast.walk(s) if isinstance(n, ast.Name)):
            n.id = self.names.get(n.id, n.id)
        return [Put(parts).visit(s) for s in body]

    def expression(self, text: str, at: ast.AST, **parts: ast.expr) -> Any:
        """Write an expression in the same way."""
        return self.text(text, at, **parts)[0].value  # type: ignore[attr-defined]

    def rewrite(self, function: ast.FunctionDef) -> None:
        """Rewrite the function; a parameter has lost nothing when it begins."""
        first = self.text("start = 0", function.body[0]) if self.is_given else []
        function.body = [*first, *self.block(function.body)]

    def block(self, statements: Statements) -> Statements:
        """Write statements."""
        return [made for s in statements for made in self.statement(s)]

    def statement(self, s: ast.stmt) -> Statements:
        """Write a statement, and what the list needs before and after it."""
        if isinstance(s, ast.FunctionDef):
            return [s]
        for field in ("body", "orelse", "finalbody"):
            if hasattr(s, field):
                setattr(s, field, self.block(getattr(s, field)))
        self.before, self.after, self.is_whole = [], [], False
        self.parts(s)
        self.was_whole = self.was_whole or self.is_whole
        if self.is_whole and isinstance(s, ast.While):
            leave: Any = self.text("if not _: break", s)[0]
            leave.test.operand, s.test = s.test, ast.copy_location(ast.Constant(True), s.test)
            s.body = [*self.of_rest(s), leave, *s.body]
            return [s]
        return [*(self.of_rest(s) if self.is_whole else ()), *self.before, s, *self.after]

    def of_rest(self, at: ast.AST) -> Statements:
        """Make the list its rest."""
        if not self.is_changed:
            return self.text("_ = _[start:]\nstart = 0", at)
        found: Any = self.text("_.clear(start)\nstart = 0", at)
        found[0].value.args[0].is_start = True
        return found  # type: ignore[no-any-return]

    def parts(self, s: Any) -> None:
        """Write the parts of a statement."""
        own = [value for target, value in pairs(s) if self.cuts and cut(target, value) == self.name]
        if self.name in assigned([s]) and not (own or isinstance(s, ast.AugAssign | ast.If | ast.For | ast.While)):
            self.after += self.text("start = 0", s)
        targets = [*getattr(s, "targets", ()), *filter(None, [getattr(s, "target", None)])]
        if isinstance(s, ast.If | ast.While | ast.Assert):
            s.test = self.truth(s.test)
        if isinstance(s, ast.For) and not any(n == self.name for inner in s.body for n, _ in changes(inner)):
            s.iter = self.rest(s.iter)
        for field, value in ast.iter_fields(s):
            if isinstance(value, ast.expr) and field != "target":
                setattr(s, field, self.visit(value))
        for target in targets:
            self.target(target, s)
        for value in own:
            self.cut(s, value)

    def cut(self, s: Any, value: Any) -> None:
        """Write ``xs = xs[1:]`` as a change of the start."""
        more = self.expression("min(start + n, len(_))", value, n=value.slice.lower)
        target = self.text("start = 0", value)[0].targets[0]  # type: ignore[attr-defined]
        if s.value is value:
            s.targets, s.value = [target], more
        else:
            k = s.value.elts.index(value)
            s.targets[0].elts[k], s.value.elts[k] = target, more

    def target(self, node: Any, s: ast.stmt) -> None:
        """Write an assignment to an element at its place in memory; one to several elements is one to the rest."""
        match node:
            case ast.Tuple(elts=elts) | ast.List(elts=elts):
                for each in elts:
                    self.target(each, s)
            case ast.Starred(value=value) | ast.Attribute(value=value):
                self.target(value, s)
            case ast.Subscript(value=value, slice=index):
                node.slice = self.visit(index)
                if not isinstance(value, ast.Name):
                    self.target(value, s)
                elif value.id == self.name and (place := self.place(index)):
                    node.slice = place
                elif value.id == self.name:
                    self.is_whole = True

    # ------------------------------------------------------------ expressions

    def rest(self, node: ast.expr) -> ast.expr:
        """Write the list as its rest; leave any other expression."""
        if not isinstance(node, ast.Name) or node.id != self.name:
            return node
        found = self.expression("_[start:]", node)
        found.is_rest = True
        return found  # type: ignore[no-any-return]

    def place(self, index: ast.expr) -> ast.expr | None:
        """Give the place of an element in memory; None for an index that may be that of several."""
        text = ast.unparse(index)
        if text.isdigit():
            return self.expression("start + i", index, i=index)  # type: ignore[no-any-return]
        from_end = "i + len(_) if i + len(_) >= start else len(_)"
        if text.startswith("-") and text[1:].isdigit():
            return self.expression(from_end, index, i=index)  # type: ignore[no-any-return]
        if not self.is_changed or not all(isinstance(n, PLACES) for n in ast.walk(index)):
            return None
        return self.expression(f"start + i if i >= 0 else {from_end}", index, i=index)  # type: ignore[no-any-return]

    def truth(self, node: ast.expr) -> ast.expr:
        """Write a condition, which arrays are not."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            node.operand = self.truth(node.operand)
        elif isinstance(node, ast.BoolOp):
            node.values = [self.truth(value) for value in node.values]
        elif isinstance(node, ast.Name) and node.id == self.name:
            found = self.expression("_ and len(_) > start" if not self.is_changed else "len(_) > start", node)
            found.is_rest = True
            return found  # type: ignore[no-any-return]
        return node

    def visit(self, node: ast.AST) -> Any:
        """Leave what is written for the list."""
        return node if hasattr(node, "is_rest") else super().visit(node)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Note a use of the list for which there is no rule."""
        self.is_whole = self.is_whole or (node.id == self.name and isinstance(node.ctx, ast.Load))
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """Read an element, or a part of the rest."""
        node.slice = self.visit(node.slice)
        if isinstance(node.value, ast.Name) and node.value.id == self.name and (place := self.place(node.slice)):
            node.slice = place
            return node
        node.value = self.visit(self.rest(node.value))
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Test the rest."""
        node.test = self.truth(node.test)
        return self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        """Go through the rest."""
        node.iter, node.ifs = self.rest(node.iter), [self.truth(test) for test in node.ifs]
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Change the list, or read its rest."""
        match node:
            case ast.Call(ast.Attribute(ast.Name(self.name) as whole, attr), args):
                if popped(node) == self.name:
                    node.args[:] = [self.expression("start", node)]
                    node.args[0].is_start = True  # type: ignore[attr-defined]
                    self.after += self.text("start += 1", node)
                elif attr == "pop" and (not args or ast.unparse(args[0]) == "-1"):
                    self.before += self.text("if len(_) <= start: raise IndexError", node)
                elif attr in MEASURES:
                    node.func.value = self.rest(whole)  # type: ignore[attr-defined]
                elif attr not in ADDING:
                    self.is_whole = True
                node.args, node.keywords = list(map(self.visit, args)), list(map(self.visit, node.keywords))
                return node
            case ast.Call(ast.Name("len"), [ast.Name(self.name)]):
                found = self.expression("len(_) - start", node)
                found.is_rest = True
                return found  # type: ignore[no-any-return]
            case ast.Call(ast.Name(name) | ast.Attribute(attr=name)) if name in READERS:
                node.args = list(map(self.rest, node.args))
        return self.generic_visit(node)


class Put(ast.NodeTransformer):
    """Puts copies of expressions where names stand for them."""

    def __init__(self, parts: dict[str, ast.expr]) -> None:
        self.parts = parts

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Write a name, or the expression."""
        return copy.deepcopy(self.parts.get(node.id, node))
