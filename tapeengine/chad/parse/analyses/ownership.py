"""Find arrays to which only one name refers, so that a change in place is equivalent to rebinding the name.

A variable owns its array if every assignment to it makes a new array, and no use of it stores the array elsewhere: its
elements may be read, and it may be iterated over, measured, summed or returned. It may have another name,
``row = following``, as long as neither is changed before the other is assigned again
(`tapeengine.chad.parse.analyses.aliases`).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeGuard

import numpy

from ...language.nodes import child_nodes, every_node
from ..names.uses import (
    OWN,
    assigned,
    bound,
    defaults,
    exchanged,
    handed,
    is_given_back,
    is_handed,
    pairs,
    parameters,
    passed_on,
    renaming,
    walked,
)
from .aliases import changes
from .liveness import changed_after
from .outputs import is_exact
from .rectangles import changed_part

#: Functions whose result is always a new array.
MAKING = frozenset(
    "list dict array zeros ones full zeros_like ones_like full_like arange linspace replicate cumsum diff sort sorted "
    "concatenate copy eye roll empty empty_like full_like tile pad interp astype logspace".split()
) | {OWN}
#: Functions of numpy, besides ufuncs, whose result is always a new array, or a number.
COMPUTING = frozenset(
    "mean std var sum prod dot outer nansum nanmean median average percentile quantile trapezoid cov corrcoef choose "
    "r_ c_ inner where bincount clip column_stack convolve correlate cross cumprod delete gradient round select "
    "hstack identity insert kron stack take unique vstack amax amin max min nanmax nanmin nanstd nanvar nanprod ptp "
    "tril triu tensordot vander unwrap ediff1d append repeat nancumsum nancumprod nanmedian nanpercentile nanquantile "
    "sinc i0 fix diagflat block dstack resize compress extract norm solve inv cholesky pinv polyval polymul "
    "polyadd".split()
)
#: Methods of arrays that give a new array along an axis, or a number.
ALONG = frozenset("mean std var sum prod max min cumsum cumprod argsort argmax argmin any all".split())
#: Functions that do not store an array argument, and whose result does not share its memory.
READING = MAKING | frozenset(
    "len sum max min any all abs prod mean dot sumprod amax amin sqrt exp log sin cos tanh maximum minimum where "
    "float zip enumerate reversed map filter reduce fold scan gather scatter norm outer inner vdot clip range "
    "tuple fsum round pairwise product combinations chain".split()
)
METHODS = frozenset(
    "append extend insert pop sort reverse clear sum max min mean prod dot cumsum copy index count".split()
)
#: Methods that put their argument, or its elements, into an array.
ADDING = frozenset(("append", "extend", "insert"))


@dataclass(frozen=True)
class Facts:
    """What the text of a function does not say by itself.

    * `is_copy`: whether a slice is a copy; it is asked of slices of, and in, variables that are changed.
    * `is_numpy`: whether a name is numpy's module.
    * `makes_record`: whether a function makes a new record.
    * `is_fresh`: whether the value of a call is a number, or a new array or record; None where the name says it.
    * `only_of_arrays`: whether a method of a name is numpy's.
    * `is_of_record`: whether a method is one of a record's class, of which its name says nothing.
    """

    is_copy: Callable[[ast.expr], bool] = lambda node: False
    is_numpy: Callable[[str], bool] = lambda name: False
    makes_record: Callable[[ast.expr], bool] = lambda function: False
    is_fresh: Callable[[ast.Call], bool | None] = lambda call: None
    only_of_arrays: Callable[[str], bool] = lambda name: False
    is_of_record: Callable[[ast.expr], bool] = lambda method: False


def shared(function: ast.FunctionDef, facts: Facts = Facts()) -> Mapping[str, str | None]:
    """Map each assigned variable to the reason why its array or record may be shared; None if it is not."""
    copied = frozenset(id(node) for node in slices_that_matter(function) if facts.is_copy(node))
    walk = Walk(copied, same(function), facts)
    walk.find_arrays(function)
    for scope in (node for node in every_node(function) if isinstance(node, ast.FunctionDef)):
        given = {a.arg for a in parameters(scope.args)} - set(rebound(scope))
        walk.reasons.update(dict.fromkeys(n for n in bound(scope) if n not in given))
        walk.later = changed_after(scope, changed_in)
        for statement in scope.body:
            walk.statement(statement)
    walk.spread(function)
    return walk.reasons


def kept_in(function: ast.FunctionDef, names: Iterable[str], facts: Facts) -> tuple[Walk, set[str]]:
    """Give which of some names a function may store elsewhere, or has another name for, with what found them."""
    walk = Walk(frozenset(), same(function), facts)
    walk.reasons.update(dict.fromkeys(names))
    for statement in function.body:
        walk.statement(statement)
    walk.spread(function)
    return walk, {name for name in names if walk.reasons.get(name)}


def gives_new(function: ast.FunctionDef, facts: Facts) -> bool:
    """Tell whether a function gives only arrays that numpy or an operator makes, and that nothing else holds."""
    values = [s.value for s in walked(function.body) if isinstance(s, ast.Return) and s.value is not None]
    names = {v.id for v in values if isinstance(v, ast.Name)}
    own = names.intersection(bound(function)).difference(a.arg for a in parameters(function.args))
    walk, kept = kept_in(function, own, facts)
    made = [v for n, v in named_values(function) if n in names] + [v for v in values if not isinstance(v, ast.Name)]
    return names == own - kept and all(isinstance(v, ast.BinOp) or walk.by_numpy(v) for v in made)


def rebound(function: ast.FunctionDef) -> list[str]:
    """Give the parameters that are rebound before they, or other names for them, are changed."""
    names = [a.arg for a in parameters(function.args)]
    lost = fates(function.body, set(names))[1]
    return [name for name in names if name not in lost]


def fates(statements: Sequence[ast.stmt], names: set[str]) -> tuple[set[str], set[str]]:
    """Give which names have another value after statements, and those whose value these may have changed before."""
    gone, lost = set[str](), set[str]()
    for s in statements:
        targets = s.targets if isinstance(s, ast.Assign) else [s.target] if isinstance(s, ast.AnnAssign) else []
        stored = [t.id for t in targets if isinstance(t, ast.Name)]
        gone |= names.intersection(stored if len(stored) == 1 else ()) - lost
        left = names - gone - lost
        if isinstance(s, ast.FunctionDef):
            lost |= left
        elif not isinstance(s, ast.If | ast.For | ast.While):
            inner = [n for n in every_node(s) if isinstance(n, ast.stmt)]
            lost |= left.intersection((*(x for n in inner for x in renaming(n) or ()), *changed_in([s])))
        else:
            parts = [part for part in child_nodes(s) if isinstance(part, ast.expr)]
            lost |= left.intersection(name for part in parts for name, _ in changes(part))
            (first, changed), (second, others) = (fates(block, left - lost) for block in (s.body, s.orelse))
            lost |= changed | others
            gone |= (first & second) - lost if isinstance(s, ast.If) else set()
    return gone, lost


def same(function: ast.FunctionDef) -> Mapping[str, set[str]]:
    """Give for each name that is assigned to another one all names that may refer to its array."""
    found: dict[str, set[str]] = {}
    statements = (s for s in every_node(function) if isinstance(s, ast.stmt))
    for names in filter(None, map(passed_on, statements)):
        joined = set(names).union(*(found.get(name, ()) for name in names))
        found.update(dict.fromkeys(joined, joined))
    return found


def slices_that_matter(function: ast.FunctionDef) -> Iterator[ast.Subscript]:
    """Go through the slices of variables that are changed in place, and those that are assigned to such variables."""
    changed = set(changed_in(function.body))
    nodes = every_node(function)
    statements = [s for s in nodes if isinstance(s, ast.stmt)]
    pairs = [names for s in statements if (names := passed_on(s))]
    for _ in pairs:
        changed.update(name for names in pairs if changed.intersection(names) for name in names)
    operated = {id(part) for node in nodes for part in operands(node)}
    operated.update(id(s.value) for s in statements if copies(s))  # type: ignore[attr-defined]
    for node in nodes:
        if is_slice(node) and isinstance(node.value, ast.Name) and node.value.id in changed:
            if id(node) not in operated:  # an operation makes an array of its own
                yield node
        elif isinstance(node, ast.Assign | ast.AnnAssign) and is_slice(node.value):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if changed.intersection(target.id for target in targets if isinstance(target, ast.Name)):
                yield node.value


def copies(s: ast.stmt) -> bool:
    """Tell whether a statement takes the elements of a slice out: ``xs[1:] = xs[:-1]``, ``xs[1:] += xs[:-1]``."""
    if isinstance(s, ast.AugAssign):
        return True
    targets = [t for t in s.targets if isinstance(t, ast.Subscript)] if isinstance(s, ast.Assign) else []
    if not isinstance(s, ast.Assign) or len(targets) < len(s.targets):
        return False
    if is_slice(s.value) or (isinstance(s.value, ast.Subscript) and isinstance(s.value.slice, ast.Tuple)):
        return all(isinstance(t.slice, ast.Slice | ast.Tuple) for t in targets)
    return all(is_exact(t) for t in targets)


def named_values(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """Go through the assignments to one name, and to several from as many expressions."""
    found = (pair for s in every_node(function) for pair in pairs(s))
    return ((target.id, value) for target, value in found if isinstance(target, ast.Name))


def operands(node: ast.AST) -> list[ast.expr]:
    """Give the operands of an operator."""
    match node:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
    return [node.operand] if isinstance(node, ast.UnaryOp) else []


def is_slice(node: ast.AST | None) -> TypeGuard[ast.Subscript]:
    """Tell whether an expression reads a slice."""
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice) and isinstance(node.ctx, ast.Load)


class Walk:
    """Visits statements and records why arrays may be shared.

    * `copies`: the ids of the slices that are copies.
    * `same`: the names that are assigned to one another.
    * `later`: the names that are changed after each statement of the present scope.
    """

    def __init__(self, copies: frozenset[int], same: Mapping[str, set[str]], facts: Facts) -> None:
        self.copies, self.same, self.facts = copies, same, facts
        self.later: Mapping[ast.stmt, frozenset[str]] = {}
        self.reasons: dict[str, str | None] = {}
        self.arrays: frozenset[str] = frozenset()
        self.functions: frozenset[str] = frozenset()

    def find_arrays(self, function: ast.FunctionDef) -> None:
        """Find the names that only refer to arrays that numpy makes: to assign to parts of one copies the value."""
        stores = [n.id for n in every_node(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        made = [name for name, value in named_values(function) if self.by_numpy(value)]
        given = {a.arg for f in every_node(function) if isinstance(f, ast.FunctionDef) for a in parameters(f.args)}
        self.arrays = frozenset(name for name in made if made.count(name) == stores.count(name)) - given
        written = [name for name, value in named_values(function) if isinstance(value, ast.Lambda)]
        written += [f.name for f in every_node(function) if isinstance(f, ast.FunctionDef)]
        self.functions = frozenset(written) | given

    def stores_elements(self, s: ast.stmt) -> bool:
        """Tell whether a statement stores the elements of its value only, also in parts of arrays of numpy."""
        targets = s.targets if isinstance(s, ast.Assign) else []
        return copies(s) or (bool(targets) and all(changed_part(t) in self.arrays for t in targets))

    def changes_after(self, statement: ast.stmt, name: str) -> bool:
        """Tell whether an array that a statement stores may be changed by one of its names afterwards."""
        later = self.later.get(statement)
        return later is None or not later.isdisjoint(self.same.get(name, {name}))

    def spread(self, function: ast.FunctionDef) -> None:
        """Propagate the reasons for sharing between variables that are assigned to one another."""
        reasons = self.reasons
        statements = [s for s in every_node(function) if isinstance(s, ast.stmt)]
        renamed = [(s, names) for s in statements if (names := renaming(s))]
        swaps = [swap for s in statements if (swap := exchanged(s))]
        for _ in (*renamed, *swaps):
            for swap in swaps:
                unknown = "it may be the same array as another one"
                reasons.update(dict.fromkeys(swap, next(filter(None, (reasons.get(x, unknown) for x in swap)), None)))
            for statement, (target, value) in renamed:
                if value not in reasons:
                    reasons[target] = f"{ast.unparse(statement)} may be the same array"
                elif target in reasons:
                    reasons[target] = reasons[value] = reasons[target] or reasons[value]

    def statement(self, statement: ast.stmt) -> None:
        """Record the effects of a statement on the variables of its scope."""
        if isinstance(statement, ast.FunctionDef):
            for name in changed_in(statement.body):
                if name not in assigned(statement.body):
                    self.reasons[name] = "a local function changes it"
            for default in filter(None, defaults(statement.args)):
                self.expression(default, statement, keeps=True)
            for inner in (
                node for node in every_node(statement) if isinstance(node, ast.stmt) and node is not statement
            ):
                self.uses(inner, keeps=True)
            return
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self.assignment(statement, target, value)
            case ast.AnnAssign(target=target, value=value):
                self.assignment(statement, target, value)
            case ast.For(target=target, iter=over, body=inside):
                for name in (n.id for n in every_node(target) if isinstance(n, ast.Name)):
                    self.reasons[name] = getattr(statement, "against", "it is an element of what a loop runs over")
                for name in set(_run_over(over)).intersection(changed_in(inside)):
                    self.reasons[name] = "the loop around runs over it"
        if not passed_on(statement):
            keeps = isinstance(statement, ast.Assign | ast.AnnAssign) and not self.stores_elements(statement)
            self.uses(statement, keeps=keeps)
        for block in (getattr(statement, "body", []), getattr(statement, "orelse", [])):
            for inner in block:
                self.statement(inner)

    def assignment(self, statement: ast.stmt, target: ast.expr, value: ast.expr | None) -> None:
        """Record what an assignment shares."""
        if exchanged(statement):
            return
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and not stars((target, value)):
            for each, made in zip(target.elts, value.elts, strict=False):
                self.assignment(statement, each, made)
            return
        if isinstance(target, ast.Name) and value is not None and not self.makes(value) and not renaming(statement):
            self.reasons[target.id] = f"{ast.unparse(statement)} may be the same array"
        if isinstance(target, ast.Tuple | ast.List):
            for node in every_node(target):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and not is_handed(node):
                    self.reasons[node.id] = f"{ast.unparse(statement)} may be the same array"

    def makes(self, value: ast.expr) -> bool:
        """Tell whether the value of an expression is a new array, or not an array."""
        match value:
            case ast.IfExp(body=body, orelse=orelse):
                return self.makes(body) and self.makes(orelse)
            case ast.Call(func=ast.Attribute(attr=name)) if name in ALONG and self.facts.only_of_arrays(name):
                return True
            case ast.Call(func=function):
                is_new = self.name_of(value) in MAKING or self.computes(function) or self.facts.makes_record(function)
                return is_new or bool(self.facts.is_fresh(value))
            case ast.Subscript(value=xs, slice=ast.Compare(left=ys)) if ast.unparse(xs) == ast.unparse(ys):
                return True  # elements of an array of numpy
            case ast.Subscript(slice=ast.List()):
                return True
        return id(value) in self.copies or isinstance(
            value,
            ast.List | ast.ListComp | ast.Dict | ast.DictComp | ast.BinOp | ast.Constant | ast.UnaryOp | ast.Compare,
        )

    def name_of(self, call: ast.Call) -> str:
        """Give the name of what is called; an empty one for local functions, parameters and methods of records."""
        if isinstance(call.func, ast.Attribute):
            return "" if self.facts.is_of_record(call.func) else call.func.attr
        name = getattr(call.func, "id", "")
        return "" if name in self.functions else name

    def computes(self, function: ast.expr, names: frozenset[str] = COMPUTING) -> bool:
        """Tell whether a function of numpy makes a new array."""
        if not isinstance(function, ast.Attribute):
            return False
        is_new = function.attr in names or isinstance(getattr(numpy, function.attr, None), numpy.ufunc)
        return is_new and self.facts.is_numpy(ast.unparse(function.value).removesuffix(".linalg"))

    def by_numpy(self, value: ast.expr) -> bool:
        """Tell whether the value of an expression is an array that numpy makes."""
        return isinstance(value, ast.Call) and self.computes(value.func, MAKING | COMPUTING)

    def uses(self, statement: ast.stmt, keeps: bool) -> None:
        """Record the uses of variables in a statement's own expressions that store an array elsewhere."""
        for node in child_nodes(statement):
            if isinstance(node, ast.expr):
                self.expression(node, statement, keeps)

    def expression(self, node: ast.AST, statement: ast.stmt, keeps: bool) -> None:
        """Visit an expression; `keeps` says whether its value is stored in a variable or a container."""
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self.keep(name, statement, keeps and name not in handed(statement) and not is_given_back(node))
            case ast.Call():
                self.call(node, statement, keeps)
            case ast.Subscript(value=value, slice=index) if id(node) in self.copies or is_element(node):
                self.expression(index, statement, keeps=False)
                if not isinstance(value, ast.Name):
                    self.expression(value, statement, keeps)
            case ast.Attribute(value=value, attr=attr):
                self.expression(value, statement, keeps and (attr in VIEWS or not isinstance(value, ast.Name)))
            case ast.BinOp(left=left, right=right):
                for part in (left, right):  # an operation makes an array of its own, and a list with the same elements
                    self.expression(part, statement, keeps and isinstance(part, DISPLAYS))
            case ast.comprehension(target=target, iter=over, ifs=ifs):
                for part in (target, *ifs):
                    self.expression(part, statement, keeps=False)
                self.expression(over, statement, keeps and isinstance(over, DISPLAYS))
            case ast.Starred(value=value):  # its elements are kept
                self.expression(value, statement, keeps and isinstance(value, DISPLAYS))
            case _:
                keeps = isinstance(node, COMPREHENSIONS) or (keeps and isinstance(node, HOLDING))
                for child in child_nodes(node):
                    self.expression(child, statement, keeps)

    def keep(self, name: str, statement: ast.stmt, keeps: bool) -> None:
        """Record that a statement stores the array of a variable, if that changes afterwards."""
        if keeps and self.reasons.get(name, "") is None and self.changes_after(statement, name):
            self.reasons[name] = f"{ast.unparse(statement).splitlines()[0]} may be the same array"

    def call(self, node: ast.Call, statement: ast.stmt, keeps: bool) -> None:
        """Visit a call, whose value may hold the arguments unless the function is known to make something else."""
        function, name = node.func, self.name_of(node)
        is_method = isinstance(function, ast.Attribute)
        adds = is_method and name in ADDING
        reads = name in READING or self.computes(function) or (is_method and name in METHODS)
        reads = reads or (name == "replace" and self.facts.makes_record(function))  # it takes the fields out
        if (is_fresh := self.facts.is_fresh(node)) is not None and not handed(statement):
            reads, keeps = False, keeps and not is_fresh
        gives_one = name in ("max", "min") and len(node.args) > 1
        for arg in node.args:
            is_passed = gives_one or (name in PASSING and (isinstance(arg, DISPLAYS) or passes(arg)))
            self.expression(arg, statement, adds or (keeps and (is_passed or not reads)))
        for keyword in node.keywords:
            self.expression(keyword.value, statement, keeps and (name == "dict" or not reads))
        if not isinstance(function, ast.Name):
            whole = function.value if isinstance(function, ast.Attribute) else function
            self.expression(whole, statement, keeps and not reads)


#: Expressions whose values hold those of their parts.
DISPLAYS = (ast.Tuple, ast.List, ast.Set, ast.Dict)
HOLDING = (*DISPLAYS, ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Lambda, ast.arguments, ast.Subscript, ast.keyword)
COMPREHENSIONS = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
#: Functions that give elements of their arguments back.
PASSING = frozenset(
    "max min next list tuple sorted reversed zip enumerate map filter reduce fold scan chain pairwise product "
    "combinations".split()
)
#: Attributes of an array that share its memory.
VIEWS = frozenset("T mT real imag flat base".split())


def passes(node: ast.expr) -> bool:
    """Tell whether an expression is a call that gives elements of its arguments back: ``reversed([y])``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in PASSING


def is_element(node: ast.Subscript) -> bool:
    """Tell whether the text shows that an index names one element, and no part that shares memory."""
    if isinstance(node.ctx, ast.Store):
        return isinstance(node.value, ast.Name)
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return isinstance(node.value, ast.Name) and not any(
        isinstance(part, ast.Slice) or (isinstance(part, ast.Constant) and part.value in (None, Ellipsis))
        for part in parts
    )


def stars(tuples: Sequence[ast.Tuple]) -> bool:
    """Tell whether tuples have ``*xs`` among their items."""
    return any(isinstance(item, ast.Starred) for whole in tuples for item in whole.elts)


def changed_in(statements: Sequence[ast.stmt]) -> list[str]:
    """Give the names of arrays that statements change in place."""
    return [name for statement in statements for name, _ in changes(statement)]


def _run_over(node: ast.AST) -> list[str]:
    """Give the names whose arrays a loop reads step by step: those of a range, or of a copy, it reads before."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.Call(func=ast.Name(id="range" | "list" | "sorted" | "len")):
            return []
    return [name for child in child_nodes(node) for name in _run_over(child)]
