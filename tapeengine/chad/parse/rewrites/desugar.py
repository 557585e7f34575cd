"""Statements that are written with others: ``else`` on a loop, ``try``, names bound and lists popped in an expression.

A ``try`` is its body: where a run of that raises, the plain function runs on dual numbers, with its handlers.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeGuard

from ...language.nodes import Transformer, child_nodes, every_node
from ...language.traverse import Names
from ..analyses.ownership import READING, VIEWS
from ..names.syntax import load, statements
from ..names.uses import assigned, handed, jumps, read_by
from .procedures import Changed, Of, Procedures, given_to

Statements = list[ast.stmt]
#: Stands for the lists that a called function may read.
CALLED = " called"
#: Expressions that evaluate some of their parts conditionally or repeatedly.
SOMETIMES = (ast.BoolOp, ast.IfExp, ast.Lambda, ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)


class Plain(Transformer):
    """Rewrites a function without ``else`` on loops, ``try`` and ``:=``. The parser refuses what it leaves."""

    def __init__(self, tree: ast.FunctionDef, *outer: Any) -> None:
        self.names = Names(n.id for n in every_node(tree) if isinstance(n, ast.Name))
        self.procedures = Procedures(tree, *outer)
        self.reads = read_by(tree)

    def plain(self, tree: ast.FunctionDef) -> ast.FunctionDef:
        """Rewrite the whole function; refuse calls that change variables if Python's order would be lost."""
        self.generic_visit(tree)
        for node in every_node(tree):
            if self.procedures.of(node):
                raise OutOfOrder(node)
        return tree

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        """Keep the defaults in variables."""
        self.generic_visit(node)
        return [*getattr(node, "before", ()), node]

    def visit_For(self, node: ast.For) -> Any:
        """Move the ``else`` block of a loop after the loop."""
        bound, node.iter = self.hoisted(node.iter)
        self.generic_visit(node)
        return [*bound, *self.without_else(node)]

    def visit_While(self, node: ast.While) -> Any:
        """Turn a test that binds names into a ``break`` at the beginning of each step, after which ``else`` runs."""
        bound, test = self.hoisted(node.test)
        self.generic_visit(node)
        found = self.without_else(node)
        if bound:
            leave = ast.copy_location(ast.If(opposite(test), [ast.copy_location(ast.Break(), test)], []), test)
            node.body = [*bound, leave, *node.body]
            node.test = ast.copy_location(ast.Constant(True), test)
        return found

    def without_else(self, node: ast.For | ast.While) -> Statements:
        """Give the loop followed by its ``else`` block, which runs under an ``if`` where the loop may break."""
        orelse, node.orelse = node.orelse, []
        if not orelse or not jumps(node.body).breaks:
            return [node, *orelse]
        name = self.names("is_left")
        node.body = Left(name).visited(node.body)
        after = ast.copy_location(ast.If(opposite(load(name, orelse[0])), orelse, []), orelse[0])
        return [assignment(name, ast.Constant(False), node), node, after]

    def visit_Try(self, node: ast.Try) -> Any:
        """Leave the handlers to the plain function; what `finally` says follows, and stands before each jump."""
        self.generic_visit(node)
        leaving = Finally(node.finalbody, self.names) if node.finalbody else None
        body = [*node.body, *node.orelse]
        return [*(leaving.visited(body) if leaving else body), *node.finalbody]

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """Bind the names of the value before it, unless the target is an element: that is read first, as a name is."""
        if not isinstance(node.target, ast.Name):
            return node
        made, name = self.of_value(node), node.target.id
        before = made[:-1] if isinstance(made, list) else []
        if any(name in handed(s) for s in before) and name in self.procedures.declared:
            raise OutOfOrder(next(n for s in before for n in every_node(s) if hasattr(n, "is_handing")))
        if not any(name in assigned([s]) and name not in handed(s) for s in before):
            return made
        old = self.names("old")
        node.target = ast.copy_location(ast.Name(old, ast.Store()), node)
        kept, back = (assignment(to, ast.Name(of, ast.Load()), node) for to, of in ((old, name), (name, old)))
        return [kept, *before, node, back]

    def visit_If(self, node: Any) -> Any:
        """Bind the names of a test before it."""
        bound, node.test = self.hoisted(node.test)
        self.generic_visit(node)
        return [*bound, node]

    visit_Assert = visit_If

    def visit_Delete(self, node: ast.Delete) -> Any:
        """Write ``del xs[i]`` as ``xs.pop(i)``, and ``del xs[i:j]`` as ``xs[i:j] = xs[:0]``, of lists."""
        made: Statements = []
        for target in node.targets:
            match target:
                case ast.Subscript(value=ast.Name(id=xs), slice=ast.Slice(step=None)):
                    cut: Any = statements(f"_ = {xs}[:0]", node)[0]
                    target.ctx, cut.targets, target.is_cut = ast.Store(), [target], True  # type: ignore[attr-defined]
                    made.append(cut)
                case ast.Subscript(value=ast.Name(id=xs), slice=index) if not isinstance(index, ast.Slice | ast.Tuple):
                    made += statements(f"{xs}.pop({ast.unparse(index)})", node)
                case _:
                    return node
        return made

    def of_value(self, node: Any) -> Any:
        """Bind the names of a statement's expression before it."""
        if node.value is None or (is_pop(node.value) and isinstance(node, ast.Assign | ast.Expr)):
            return node
        bound, node.value = self.hoisted(node.value)
        return bound if bound and isinstance(node, ast.Expr) and isinstance(node.value, ast.Name) else [*bound, node]

    def hoisted(self, node: ast.expr) -> tuple[Statements, ast.expr]:
        """Give assignments for the names that an expression always binds, and the expression that reads these names.

        A name that the expression also reads before it binds it stays where it is.
        """
        taker = Taker(node, self.names, self.procedures.of, self.reads)
        return taker.bound, taker.visit(node)

    visit_Return = visit_AnnAssign = of_value

    def visit_Expr(self, node: ast.Expr) -> Any:
        """Write ``rows[i].append(x)`` as ``rows[i] = rows[i] + [x]``, where nothing else may hold the row."""
        match node.value:
            case ast.Call(ast.Attribute(ast.Subscript(ast.Name(), i) as row, "append"), [item], []):
                if not isinstance(i, ast.Slice | ast.Tuple) and not isinstance(item, ast.Starred):
                    return self.with_longer_row(node, row, i, item)
        return self.of_value(node)

    def with_longer_row(self, node: ast.Expr, row: ast.Subscript, index: ast.expr, item: ast.expr) -> Statements:
        """Give the assignment of a row with one more item, after that of a name for its index if calls compute it."""
        before: Statements = []
        if any(isinstance(n, ast.Call | ast.Slice | ast.Tuple) for n in every_node(index)):
            name = self.names("place")
            before = statements(f"{name} = {ast.unparse(index)}", node)
            row.slice = load(name, index)
        place = ast.unparse(row)
        made: Any = statements(f"{place} = {place} + [{ast.unparse(item)}]", node)[0]
        made.targets[0].is_longer_row = True
        return self.visited([*before, made])

    def visit_Assign(self, node: ast.Assign) -> Any:
        """Write ``a = b = v`` as ``a = v`` and ``b = a``, which are names of one object."""
        first, *others = node.targets
        if not others and (parts := one_by_one(node)):
            return parts
        if not others:
            return self.of_value(node)
        name = first.id if isinstance(first, ast.Name) else self.names("value")
        node.targets = [ast.copy_location(ast.Name(name, ast.Store()), node)]
        made = self.of_value(node)
        again = node.value if isinstance(node.value, ast.Constant) else load(name, node)
        rest = others if isinstance(first, ast.Name) else [first, *others]
        return [
            *(made if isinstance(made, list) else [made]),
            *(ast.copy_location(ast.Assign([t], again), node) for t in rest),
        ]

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        """Leave expressions as they are."""
        return node


def one_by_one(node: ast.Assign) -> Statements:
    """Write ``a, b = [], []`` as two statements; nothing for another assignment."""
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            are_names = all(isinstance(t, ast.Name) for t in targets)
            if are_names and all(isinstance(v, ast.Constant) or not getattr(v, "elts", [v]) for v in values):
                pairs = zip(targets, values, strict=True)
                return [ast.copy_location(ast.Assign([t], v), node) for t, v in pairs]
    return []


def assignment(name: str, value: ast.expr, at: ast.AST) -> ast.stmt:
    """Write ``name = value`` at the place of a node; a value that is new gets this place, too."""
    made = ast.Assign([ast.Name(name, ast.Store())], value)
    for part in (made, *made.targets, *(() if hasattr(value, "lineno") else (value,))):
        ast.copy_location(part, at)
    return made


def opposite(test: ast.expr) -> ast.expr:
    """Write ``not test``."""
    return ast.copy_location(ast.UnaryOp(ast.Not(), test), test)


class Left(Transformer):
    """Sets a variable when a loop is left by its own breaks, not by those of inner loops."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Break(self, node: ast.Break) -> Statements:
        """Note it before."""
        return [assignment(self.name, ast.Constant(True), node), node]

    def visit_For(self, node: Any) -> ast.AST:
        """Leave loops and functions as they are."""
        return node  # type: ignore[no-any-return]

    visit_FunctionDef = visit_Lambda = visit_While = visit_For


class Finally(Left):
    """Writes statements before each jump out of a block; the value that is returned is computed before them."""

    def __init__(self, last: Statements, names: Names, in_loop: bool = False) -> None:
        self.last, self.names, self.in_loop = last, names, in_loop

    def before(self, node: ast.stmt) -> Statements:
        """Write the statements before a jump."""
        return [*copy.deepcopy(self.last), node]

    def visit_Return(self, node: ast.Return) -> Statements:
        """Keep the value."""
        if node.value is None:
            return self.before(node)
        name = self.names("result")
        kept = assignment(name, node.value, node)
        node.value = load(name, node)
        return [kept, *self.before(node)]

    def visit_Break(self, node: Any) -> Statements:
        """Write the statements before, unless it leaves only a loop inside the block."""
        return [node] if self.in_loop else self.before(node)

    visit_Continue = visit_Break

    def visit_For(self, node: Any) -> ast.AST:
        """Only returns leave a block from a loop inside it."""
        node.body = Finally(self.last, self.names, in_loop=True).visited(node.body)
        return node  # type: ignore[no-any-return]

    visit_While = visit_For


class OutOfOrder(Exception):
    """A call that changes a variable stands where its changes cannot be followed."""

    def __init__(
        self,
        node: Any,
        why: str = "changes a variable, and is not always called here, or after a use",
        advice: str = "call it in a statement of its own",
    ) -> None:
        super().__init__(f"{ast.unparse(node.func).strip()} {why}")
        self.node, self.advice = node, advice


def is_chain(node: ast.AST) -> TypeGuard[ast.Compare]:
    """Tell whether an expression is a chain of comparisons, which ends at the first that is false."""
    return isinstance(node, ast.Compare) and len(node.ops) > 1


def is_pop(node: ast.AST) -> bool:
    """Tell whether an expression is ``name.pop(...)``."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(), attr="pop")):
            return True
    return False


def binds(node: ast.AST, procedure: Of) -> bool:
    """Tell whether a part of an expression binds a name, changes a list, or calls what changes a variable."""
    return any(isinstance(n, ast.NamedExpr) or is_pop(n) or procedure(n) for n in every_node(node))


def held_besides(call: ast.Call, changed: Changed, reads: Mapping[str, Collection[str]]) -> set[str]:
    """Give the variables that arguments hold or may hold or read, except the arguments that the call changes."""
    own = list(map(id, given_to(call, changed).values()))
    pending: list[ast.AST] = [a for a in (*call.args, *(k.value for k in call.keywords)) if id(a) not in own]
    found: set[str] = set()
    while pending:
        match node := pending.pop():
            case ast.Name(id=name):
                found.update((name, *reads.get(name, ())))
            case ast.Call(func=ast.Name(id="len" | "sum" | "float" | "int")):  # numbers, or new arrays
                continue
            case ast.Subscript(value=ast.Name(), slice=index) if not isinstance(index, ast.Slice):
                pending.append(index)
            case ast.Attribute(ast.Name(), attr) if attr not in VIEWS:  # no array in a record is changed in place
                continue
            case _:
                pending += child_nodes(node)
    return found


def handing(
    call: ast.Call, targets: Sequence[str], changed: Changed, given: Mapping[str, str], in_place: Collection[str]
) -> ast.Assign:
    """Write a call as a statement that assigns its value and the variables that it changes."""

    elts: list[ast.expr] = [ast.copy_location(ast.Name(n, ast.Store()), call) for n in targets]
    for target, name in zip(elts, targets, strict=True):
        target.is_handed = name in in_place  # type: ignore[attr-defined]
    named = dict(zip(given_to(call, changed).values(), given.values(), strict=True))
    args = [load(named[a], call) if a in named else a for a in call.args]
    keywords = [ast.keyword(k.arg, load(named[k.value], call)) if k.value in named else k for k in call.keywords]
    around = [load(n, call) for n in changed.around]
    value = ast.copy_location(ast.Call(load(changed.called, call), [*around, *args], keywords), call)
    value.is_handing = True  # type: ignore[attr-defined]
    return ast.copy_location(ast.Assign([ast.copy_location(ast.Tuple(elts, ast.Store()), call)], value), call)


class Taker(Transformer):
    """Takes names out of an expression in the order in which it binds them."""

    def __init__(
        self,
        node: ast.expr,
        names: Names,
        procedure: Of = lambda node: None,
        reads: Mapping[str, Collection[str]] = MappingProxyType({}),
    ) -> None:
        self.bound: Statements = []
        self.names, self.reads = names, reads
        self.procedure = procedure
        self.seen: set[str] = set()
        self.is_stopped = not binds(node, procedure)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        """Take a name out, unless an earlier part that stays reads it; the name's own value may."""
        was_read = node.target.id in self.seen
        node.value = self.visit(node.value)
        if self.is_stopped or was_read:
            self.is_stopped = True
            return node
        self.bound.append(ast.copy_location(ast.Assign([node.target], node.value), node))
        self.seen.add(node.target.id)
        return load(node.target.id, node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Take a popped element out, unless something before it stays and the list was read there."""
        before = set(self.seen)
        node.args = [self.visit(a) for a in node.args]
        if changed := self.procedure(node):
            node.keywords = [self.visit(k) for k in node.keywords]
            return self.changed(node, changed, before)
        if not is_pop(node) or self.is_stopped or self.seen.intersection((node.func.value.id, CALLED)):  # type: ignore[attr-defined]
            self.is_stopped = self.is_stopped or is_pop(node)
            node.func = self.visit(node.func)
            node.keywords = [self.visit(k) for k in node.keywords]
            if isinstance(node.func, ast.Name) and node.func.id not in READING:
                self.seen.add(CALLED)
            return node
        name = self.names("popped")
        self.bound.append(assignment(name, node, node))
        return load(name, node)

    def changed(self, node: ast.Call, changed: Changed, before: set[str]) -> ast.AST:
        """Take a call out that changes variables, unless an earlier part that stays reads them."""
        has_stars = any(isinstance(a, ast.Starred) for a in node.args) or not all(k.arg for k in node.keywords)
        if changed.given and has_stars:
            raise OutOfOrder(node, "changes its arguments, which are given with a star", "write the arguments out")
        given = {name: self.variable(arg) for name, arg in given_to(node, changed).items()}
        if kept := changed.lasting.intersection(changed.given).difference(given):
            raise OutOfOrder(node, f"changes the default of {min(kept)}, which its next call gets", "give the argument")
        names = [*changed.around, *given.values()]
        in_place = {*given.values(), *changed.in_place.intersection(changed.around)}
        if self.is_stopped or before.intersection((*names, CALLED)):
            raise OutOfOrder(node)
        others = held_besides(node, changed, self.reads).intersection(in_place)
        others.update(set(given.values()).intersection(self.reads.get(changed.called, ())))
        if len(set(names)) < len(names) or others:
            raise OutOfOrder(
                node, "changes a variable that it has under two names", "give it a copy, or each thing once"
            )
        targets = [self.names("result"), *changed.around, *(given.get(n) or self.names(n) for n in changed.given)]
        self.bound.append(handing(node, targets, changed, given, in_place))
        self.seen = {*before, *(given[n] for n in given if n == changed.gives)}  # the arguments are read there
        return ast.copy_location(ast.Name(given.get(changed.gives, targets[0]), ast.Load()), node)

    def variable(self, arg: ast.expr) -> str:
        """Give the name of a variable argument; any other expression is first assigned to a new name."""
        if isinstance(arg, ast.Name):
            return arg.id
        name = self.names("given")
        self.bound.append(assignment(name, arg, arg))
        return name

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """Record the names that are read."""
        self.seen.update((node.id, *self.reads.get(node.id, ())))
        return node

    def visit(self, node: ast.AST) -> Any:
        """Go through parts that are always computed."""
        if isinstance(node, ast.BoolOp) and not self.is_stopped:
            node.values[0] = self.visit(node.values[0])
        elif isinstance(node, ast.IfExp) and not self.is_stopped:
            node.test = self.visit(node.test)
        elif is_chain(node) and not self.is_stopped:
            node.left, node.comparators[0] = self.visit(node.left), self.visit(node.comparators[0])
        elif isinstance(node, ast.ListComp | ast.GeneratorExp) and not self.is_stopped:
            node.generators[0].iter = self.visit(node.generators[0].iter)
        if isinstance(node, SOMETIMES) or is_chain(node):
            for call in (n for n in every_node(node) if isinstance(n, ast.Call) and self.procedure(n)):
                raise OutOfOrder(call)
            self.is_stopped = self.is_stopped or binds(node, self.procedure)
            for name in (n for n in every_node(node) if isinstance(n, ast.Name)):
                self.visit_Name(name)
            return node
        return super().visit(node)


class BoundInside(Transformer):
    """Rewrites comprehensions without ``:=``, unless the name is used outside of them.

    The names become variables of an inner comprehension.
    """

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
        if hasattr(part, "ctx"):
            part.ctx = ast.Load()
    return found
