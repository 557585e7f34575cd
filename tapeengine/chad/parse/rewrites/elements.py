"""Records in a list that change: ``for b in bodies: b.x += b.v * dt``, ``bodies[i].v = 0.0``, ``bodies[i].move(dt)``.

Records are values in a program, so a change of one becomes an assignment to its place in the list. This is Python's
meaning if only the list refers to its records: each is made where it enters the list, before any has a name, and a name
occurs only where the place in the list can replace it.
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import inspect
import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, cast

from ...language.kinds import COMPUTED, NUMBER
from ...language.nodes import Transformer, every_node
from ...language.traverse import Names
from ..analyses.rectangles import one_row
from ..names import syntax
from ..names.outside import named_outside, root
from ..names.scopes import separated
from ..names.syntax import load
from ..names.types import class_fields, has_free_fields
from ..names.uses import assigned, parameters
from .classes import record_of
from .procedures import by_function, handing_back
from .results import Outside

#: The name of the module of `dataclasses.replace`; no name of Python's begins with a space.
MODULE = " dataclasses"
#: For each function that loops run over: the targets of its arguments, of a target and its items.
TARGETS: Mapping[Any, Callable[[Any, list[Any]], list[Any]]] = {
    **dict.fromkeys((zip, itertools.product), lambda target, items: items),
    enumerate: lambda target, items: items[1:],
    reversed: lambda target, items: [target],
    **dict.fromkeys((itertools.combinations, itertools.pairwise), lambda target, items: [items]),
}


class NotAlone(Exception):
    """Something else than the list may refer to a record."""


def with_places(tree: ast.FunctionDef, outer: dict[str, Any]) -> ast.FunctionDef:
    """Rewrite a function that changes records in lists, where this has Python's meaning."""
    nodes = every_node(tree)
    bound = (n for n in nodes if not isinstance(getattr(n, "ctx", n), ast.Load | ast.keyword))
    stored = {getattr(n, "arg", getattr(n, "name", getattr(n, "id", ""))) for n in bound}
    for f in (n for n in nodes[1:] if isinstance(n, ast.FunctionDef)):
        names = {n: x for n, x in outer.items() if n not in stored}
        f.body = with_places(f, names).body
        outer.update({MODULE: dataclasses} if MODULE in names else {})
    nodes = every_node(tree)
    statements = [n for n in nodes if isinstance(n, ast.stmt)]
    makers = [s for s in statements if isinstance(getattr(s, "value", None), ast.List | ast.ListComp)]
    held: dict[str, list[Any]] = {}
    for name, items in map(added, nodes):
        held.setdefault(name, []).extend(items)
    for name in dict.fromkeys(assigned(makers)):
        if not all(record_made(item, outer) for item in held.get(name, [None])):
            continue
        places = Places(tree, outer, name)
        if places.cls and any(map(places.changes, nodes)) and not any(name in getattr(n, "names", ()) for n in nodes):
            try:
                apart, _ = separated(with_own_targets(copy.deepcopy(tree)))
                tree, outer[MODULE] = Places(apart, outer, name).rewritten(apart), dataclasses
            except NotAlone as found:
                what, node = found.args
                places.explain(statements, what, node)
    return tree


def with_own_targets(tree: ast.FunctionDef) -> ast.FunctionDef:
    """Give the variables of loops names of their own, where nothing else uses them: loops over two lists share none."""
    nodes, groups = every_node(tree), dict[str, list[list[ast.Name]]]()
    uses = Counter(
        name for n in nodes for name in (getattr(n, "id", ""), getattr(n, "arg", ""), *getattr(n, "names", ()))
    )
    for loop in (n for n in nodes if isinstance(n, ast.For)):
        inside = dict[str, list[ast.Name]]()
        for n in every_node(loop):
            if isinstance(n, ast.Name):
                inside.setdefault(n.id, []).append(n)
        for name in dict.fromkeys(n.id for n in every_node(loop.target) if isinstance(n, ast.Name)):
            groups.setdefault(name, []).append(inside[name])
    free = Names(uses)
    for name, found in groups.items():
        if sum(map(len, found)) == uses[name]:  # it is not used after a loop, in a loop inside, or by a function
            for group in found[1:]:
                own = free(name)
                for n in group:
                    n.id = own
    return tree


def added(node: Any) -> tuple[str, list[Any]]:
    """Give the name of the list that a statement makes or appends to, and what it puts there; no name for others."""
    match node:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            value = node.value
            return name, value.elts if isinstance(value, ast.List) else [getattr(value, "elt", node)]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=args)):
            return name, args
    return "", []


def record_made(node: Any, outer: dict[str, Any]) -> Any:
    """Give the class of the record that an expression makes, if its names are those outside; None for another one."""
    cls = record_of(outside(node.func, outer)) if isinstance(node, ast.Call) else None
    return cls if has_free_fields(cls) and not hasattr(cls, "__post_init__") else None


def outside(node: ast.expr, outer: dict[str, Any]) -> Any:
    """Give what an expression denotes outside of the function, also a static method of a class."""
    cls = named_outside(node.value, outer) if isinstance(node, ast.Attribute) else None
    if isinstance(cls, type) and isinstance(inspect.getattr_static(cls, node.attr, None), staticmethod):  # type: ignore[attr-defined]
        return getattr(cls, node.attr)  # type: ignore[attr-defined]
    return named_outside(node, outer)


class Places(Transformer):
    """Rewrites what a function does with the records of the list that has a name."""

    def __init__(self, tree: ast.FunctionDef, outer: dict[str, Any], name: str) -> None:
        self.outer, self.name, self.results = outer, name, Outside(outer)
        nodes = every_node(tree)[1:]
        inner = [n for f in nodes if isinstance(f, ast.FunctionDef | ast.Lambda) for n in every_node(f)]
        self.other = {getattr(n, "arg", getattr(n, "name", None)) for n in nodes if not isinstance(n, ast.keyword)}
        self.other.update(n.id for n in inner if isinstance(n, ast.Name))
        self.local = self.other.union(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        self.names = Names(n.id for n in nodes if isinstance(n, ast.Name))
        self.at = {b: self.names(f"{b}_at") for b in dict.fromkeys(b for n in nodes for b in self.bound(n))}
        made = {self.made(e) for found, items in map(added, nodes) if found == name for e in items}
        self.cls: Any = made.pop() if len(made) == 1 else None

    def rewritten(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite the function; it adds records where none has a name that is used afterwards."""
        if not self.other.isdisjoint((self.name, *self.at)):
            raise NotAlone("may use a record in another function", tree)
        body, is_scoped = [], self.is_scoped(tree)
        self.is_open = True
        for s in tree.body:
            inside = [n for n in every_node(s) if not isinstance(n, ast.comprehension)]
            self.is_open = self.is_open and (is_scoped or not any(self.bound(n) or self.changes(n) for n in inside))
            body += self.visited([s])
        tree.body = body
        return tree

    def is_scoped(self, tree: ast.FunctionDef) -> bool:
        """Tell whether names of elements occur only in the loops and comprehensions that bind them."""
        nodes, inside = every_node(tree), set[int]()
        for n in nodes:
            names = [
                b for part in (n, *getattr(n, "generators", ())) for b in self.bound(part) if hasattr(part, "iter")
            ]
            inside.update(id(x) for x in (every_node(n) if names else ()) if getattr(x, "id", "") in names)
        return all(id(n) in inside for n in nodes if getattr(n, "id", "") in self.at)

    def explain(self, statements: list[ast.stmt], what: str, node: Any) -> None:
        """Note in the loops over the list the statement that stands against a change."""
        around = [s for s in statements if s.lineno <= node.lineno <= (s.end_lineno or 0)]
        text = ast.unparse(around[-1]).partition("\n")[0]
        for s in filter(self.bound, statements):
            s.against = f"{text.removesuffix(':')} {what} of {self.name}"  # type: ignore[attr-defined]

    def outside(self, node: ast.expr) -> Any:
        """Give what an expression denotes outside of the function."""
        return None if root(node) in self.local else outside(node, self.outer)

    def made(self, node: Any) -> Any:
        """Give the class of the record that an expression makes; None for another one."""
        is_local = isinstance(node, ast.Call) and root(node.func) in self.local
        return None if is_local else record_made(node, self.outer)

    def bound(self, node: Any) -> list[str]:
        """Give the names that stand for elements after a statement, or in a comprehension."""
        found: list[Any] = []
        match getattr(node, "target", node), getattr(node, "iter", None):
            case ast.Assign(targets=[target], value=value), None:
                values, targets = (getattr(e, "elts", [e]) for e in (value, target))
                are_rows = len(values) == len(targets) and all(one_row(v) == self.name for v in values)
                found = targets if are_rows else []
            case target, ast.expr() as over:
                found = self.elements(target, over)
        return [n.id for n in found if isinstance(n, ast.Name)]

    def elements(self, target: Any, over: ast.expr) -> list[Any]:
        """Give the targets that stand for elements in a loop; a list of targets stands for several elements each."""
        if isinstance(over, ast.Name) and over.id == self.name:
            return target if isinstance(target, list) else [target]
        return [e for part in self.by_argument(target, over) for e in self.elements(*part)]

    def by_argument(self, target: Any, over: ast.expr) -> list[tuple[Any, ast.expr]]:
        """Give the arguments of what a loop runs over with the targets of their elements, None if there is none."""
        if not isinstance(over, ast.Call):
            return []
        found = None if any(k.arg == "repeat" for k in over.keywords) else TARGETS.get(self.outside(over.func))
        targets = found(target, getattr(target, "elts", [])) if found else []
        return list(itertools.zip_longest(targets[: len(over.args)], over.args))

    def over(self, target: Any, node: ast.expr) -> ast.expr:
        """Give what a loop runs over, with places in the place of elements."""
        targets = target if isinstance(target, list) else [target]
        if isinstance(node, ast.Name) and node.id == self.name and all(isinstance(t, ast.Name) for t in targets):
            return syntax.expression(f"range(len({self.name}))", node)
        if isinstance(node, ast.Call) and (parts := self.by_argument(target, node)):
            node.args = [self.over(*part) for part in parts]
            return node
        return self.visit(node)  # type: ignore[no-any-return]

    def is_element(self, node: ast.expr) -> bool:
        """Tell whether an expression stands for an element, at an index that may be computed twice."""
        return one_row(node) == self.name or (isinstance(node, ast.Name) and node.id in self.at)

    def changes(self, node: ast.AST) -> bool:
        """Tell whether a node assigns a field of an element, or calls a method that changes it."""
        match node:
            case ast.Attribute(value=value, ctx=ast.Store()):
                return self.is_element(value)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=value, attr=attr))) if self.is_element(value):
                return handing_back(inspect.getattr_static(self.cls, attr, None)) is not None
        return False

    def place(self, node: ast.expr) -> ast.expr:
        """Give ``list[index]`` for a name of an element; in other expressions than the list, refuse uses of it."""
        if isinstance(node, ast.Name) and node.id in self.at:
            return syntax.expression(f"{self.name}[{self.at[node.id]}]", node)
        if self.is_chosen(node):
            node.keywords[0].value = self.visit(node.keywords[0].value)  # type: ignore[attr-defined]
            return node
        is_own = self.is_element(node) or (isinstance(node, ast.Name) and node.id == self.name)
        return node if is_own else self.visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Refuse any other use of the list or an element."""
        if node.id == self.name or node.id in self.at:
            raise NotAlone("may keep a record", node)
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """Return the list, or a value that does not hold it."""
        node.value = node.value and self.place(node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Read a field, or a property that is a number or a new array."""
        is_property = isinstance(inspect.getattr_static(self.cls, node.attr, None), property)
        is_field = node.attr in (class_fields(self.cls) or ())
        is_field = is_field or (is_property and self.results.only_reads(self.cls, node.attr))
        is_field = is_field and (self.is_element(node.value) or self.is_chosen(node.value))
        node.value = (self.place if is_field else self.visit)(node.value)
        return node

    def is_chosen(self, node: Any) -> bool:
        """Tell whether an expression is the element for which a function of its fields is least or greatest."""
        match node:
            case ast.Call(function, [ast.Name(id=name)], [ast.keyword("key", ast.Lambda() as key)]):
                own, nodes, names = parameters(key.args), every_node(key.body), class_fields(self.cls) or ()
                uses = [n for n in nodes if isinstance(n, ast.Name) and n.id in [a.arg for a in own]]
                fields = [n.value for n in nodes if isinstance(n, ast.Attribute) and n.attr in names]
                return name == self.name and self.outside(function) in (min, max) and all(u in fields for u in uses)
        return False

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Pass the list and elements only to functions and methods that return numbers or new arrays."""
        function, found = node.func, self.outside(node.func)
        is_method = isinstance(function, ast.Attribute) and (
            self.is_element(function.value) or self.is_chosen(function.value)
        )
        of = self.results.of_method(self.cls, function.attr) if is_method else self.results.of_function(found)  # type: ignore[attr-defined]
        reads = found is len or (of[0] in (COMPUTED, NUMBER) and handing_back(found) is None)
        given = self.place if reads else self.visit
        for owner in (function if is_method else node, *node.keywords):
            field = "func" if owner is node else "value"
            setattr(owner, field, (self.visit if owner is node else given)(getattr(owner, field)))
        node.args = [given(a) for a in node.args]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Compare the places of elements that may be the same."""
        match node:
            case ast.Compare(left=ast.Name(id=a), ops=[ast.Is() | ast.IsNot() as op], comparators=[ast.Name(id=b)]):
                if a in self.at and b in self.at:
                    sign = "==" if isinstance(op, ast.Is) else "!="
                    return syntax.expression(f"({self.at[a]} - {self.at[b]}) % len({self.name}) {sign} 0", node)
        return self.generic_visit(node)

    def visit_Assign(self, node: Any) -> Any:
        """Add records, bind a name to a place, or change an element."""
        target = getattr(node, "targets", [getattr(node, "target", getattr(node.value, "func", node))])[0]
        name, items = added(node)
        if name == self.name:
            if not self.is_open or None in map(self.made, items):
                raise NotAlone("may keep a record" if self.is_open else "comes too late for another record", node)
            self.visited([*getattr(node.value, "generators", ()), *items])
            return node
        if names := self.bound(node):
            places, n = [self.at[b] for b in names], f"len({self.name})"
            index = ", ".join(ast.unparse(v.slice) for v in getattr(node.value, "elts", [node.value]))
            text = "\n".join([f"{', '.join(places)} = {index}", *(f"assert -{n} <= {k} < {n}" for k in places)])
            return syntax.statements(text, node)
        return self.changed(node, target) if self.changes(node) or self.changes(target) else self.generic_visit(node)

    visit_AugAssign = visit_AnnAssign = visit_Expr = visit_Assign

    def changed(self, node: Any, target: Any) -> list[ast.AST]:
        """Change a copy of an element, and put it in its place."""
        at, one = ast.unparse(self.place(target.value)), self.names("one")
        target.value = load(one, target)
        if isinstance(node, ast.Expr):
            function = inspect.getattr_static(self.cls, target.attr)
            by_function(cast(ast.Call, node.value), f"{self.cls.__name__}.{target.attr}", function, self.outer)
        first, last = syntax.statements(f"{one} = _.replace({at})\n{at} = {one}", node)
        first.value.func.value.id = MODULE  # type: ignore[attr-defined]
        return [first, self.generic_visit(node), last]

    def visit_For(self, node: Any) -> Any:
        """Run over places."""
        if not self.bound(node):
            return self.generic_visit(node)
        node.iter = self.over(node.target, node.iter)
        for n in every_node(node.target):
            if isinstance(n, ast.Name):
                n.id = self.at.get(n.id, n.id)
        self.is_open, was_open = False, self.is_open  # the list must stay the one that the loop runs over
        for block in ("ifs", "body", "orelse"):
            setattr(node, block, self.visited(getattr(node, block, [])))
        self.is_open = was_open
        return node

    visit_comprehension = visit_For
