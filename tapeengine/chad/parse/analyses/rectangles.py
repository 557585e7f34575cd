"""Which variables are grids: rectangles of numbers, elements of whose rows the program changes.

A variable is one if each assignment to it makes a rectangle with rows of its own, and if nothing holds the grid or one
of its rows while it may still change.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeGuard

from ...language.nodes import child_nodes, every_node
from ..names.uses import OWN, exchanged, handed, is_given_back, is_handed, passed_on, renaming

#: Tells whether a slice is a copy, or whether a copy or the result of an operator is one with its rows.
IsCopy = Callable[[ast.expr], bool]

#: Functions that return numbers or new arrays.
READING = frozenset("len sum max min any all abs float mean prod dot amax amin norm".split()) | {OWN}
#: Functions and methods that give numpy's arrays no view of an argument.
COPYING = READING | frozenset(
    "array copy zeros_like ones_like full_like empty_like outer inner matmul vdot cumsum cumprod diff sort where clip "
    "exp log log1p expm1 sqrt sin cos tan tanh arctan arctan2 maximum minimum sign floor round concatenate vstack "
    "hstack column_stack std var median quantile argmax argmin argsort einsum interp isnan square power add subtract "
    "multiply divide trace eye solve inv det range ndim shape print tolist item".split()
)
#: Attributes of an array that are not views of it.
MEASURES = frozenset("shape size ndim dtype".split())
#: Functions that make a rectangle.
MAKING = frozenset("zeros ones full zeros_like ones_like full_like empty array outer".split())


def never(node: ast.expr) -> bool:
    """Tell that nothing is known of an expression."""
    return False


class Changes:
    """What the statements of a function bind, change in part and mention, by the names of variables: found in one walk.

    * `makers`: the statements that bind a variable.
    * `last`: the last line that changes a part of a variable.
    * `inside`: the variables of which a loop changes a part.
    * `mentions`: the statements whose own expressions have a variable, with these and the loops around them.
    * `renamed`: the names that ``a = b`` gives a variable.
    * `in_functions`: the variables of whose rows functions inside, to which they do not belong, change elements.
    """

    def __init__(self, function: ast.FunctionDef) -> None:
        self.nodes = every_node(function)
        statements = [s for s in self.nodes if isinstance(s, ast.stmt) and s is not function]
        self.given = {a.arg for a in every_node(function.args) if isinstance(a, ast.arg)}
        self.makers: dict[str, list[ast.stmt]] = {}
        self.last: dict[str, int] = {}
        self.mentions: dict[str, list[tuple[ast.stmt, list[ast.expr], tuple[ast.stmt, ...]]]] = {}
        self.renamed: dict[str, list[str]] = {}
        for s in statements:
            for target in own_rows(s):
                target.is_own_row = True  # type: ignore[attr-defined]
            for name in dict.fromkeys(() if exchanged(s) else bound(s)):
                self.makers.setdefault(name, []).append(s)
            if pair := renaming(s):
                self.renamed.setdefault(pair[1], []).append(pair[0])
        for n in self.nodes:
            if name := changed_part(n):
                self.last[name] = max(self.last.get(name, 0), getattr(n, "lineno", 0))
        self.in_functions = {name for s in statements if isinstance(s, ast.FunctionDef) for name in changed_outside(s)}
        loops = (s for s in statements if isinstance(s, ast.For | ast.While))
        self.inside: dict[ast.stmt, set[str]] = {s: set(map(changed_part, every_node(s))) for s in loops}
        self.groups = exchanging(self.nodes)
        self.block(function.body, ())

    def block(self, statements: list[ast.stmt], loops: tuple[ast.stmt, ...]) -> None:
        """Find what the statements of a block mention."""
        for s in statements:
            own = [n for n in child_nodes(s) if isinstance(n, ast.expr)]
            for name in dict.fromkeys(n.id for e in own for n in every_node(e) if isinstance(n, ast.Name)):
                self.mentions.setdefault(name, []).append((s, own, loops))
            inner = (*loops, s) if s in self.inside else loops
            blocks = [b for field in ("body", "orelse") if (b := getattr(s, field, None))]
            for block in (*blocks, *(case.body for case in getattr(s, "cases", []))):
                self.block(block, inner)

    def group(self, name: str) -> Sequence[str]:
        """Give a variable with all that exchange their arrays with it."""
        return self.groups.get(name, [name])


def grids(
    changes: Changes, is_copy: IsCopy = never, is_list: IsCopy = never, is_array: IsCopy = never
) -> Mapping[str, str | None]:
    """For each variable whose rows' elements are changed, say why it is not a grid; None if it is one."""
    nodes = changes.nodes
    stored = [n for n in nodes if isinstance(getattr(n, "ctx", None), ast.Store)]
    counting = frozenset(n.target.id for n in nodes if isinstance(n, ast.For) and isinstance(n.target, ast.Name))

    def grouped(found: Iterable[str]) -> dict[str, Sequence[str]]:
        return {x: group for name in found if name for group in [changes.group(name)] for x in group}

    cells = grouped(map(changed_in_rows, stored))
    rows = grouped(changed_row(n, counting) for n in stored)
    rows = {name: group for name, group in rows.items() if not any(is_listed(changes, x) for x in group)}
    found = {
        name: reason(changes, name, group, is_copy if name in cells else is_array, is_list)
        for name, group in {**cells, **rows}.items()
    }
    return {name: next(filter(None, (found[x] for x in changes.group(name))), None) for name in found}


def exchanging(nodes: Iterable[ast.AST]) -> Mapping[str, Sequence[str]]:
    """Give for each variable that exchanges its array with others, ``a, b = b, a``, all of these."""
    groups: dict[str, list[str]] = {}
    for swap in filter(None, map(exchanged, nodes)):
        joined = list(dict.fromkeys(x for name in swap for x in groups.get(name, [name])))
        groups.update(dict.fromkeys(joined, joined))
    return groups


def is_listed(changes: Changes, name: str) -> bool:
    """Tell whether a variable may be a list."""
    made = [value_for(s, name) for s in changes.makers.get(name, ())]
    return not all(isinstance(value, ast.Call | ast.BinOp) for value in made)


def views(changes: Changes) -> Mapping[str, str]:
    """Give the variables that are changed by assignments to parts, and what may hold a view of a part before."""

    def held(name: str) -> str | None:
        return next((found for each in changes.group(name) for found in holding(changes, name, each)), None)

    return {name: found for name in changes.last if (found := held(name))}


def changed_part(node: ast.AST) -> str:
    """Give the name of the variable that an expression or a statement changes in place, in part or as a whole."""
    if isinstance(node, ast.Name) and is_handed(node):
        return node.id
    target = node.target if isinstance(node, ast.AugAssign) else node
    if isinstance(target, ast.Subscript) and not isinstance(target.ctx, ast.Store):
        return ""
    is_part = isinstance(target, ast.Subscript) or isinstance(node, ast.AugAssign)
    while isinstance(target, ast.Subscript):
        target = target.value
    return target.id if is_part and isinstance(target, ast.Name) else ""


def holding(changes: Changes, name: str, other: str, reading: Collection[str] = COPYING) -> Iterator[str]:
    """Give a text for each statement that may keep a view of a part of ``other``, or with `READING` a row of its lists.

    Only statements count after which a part of ``name`` changes: those up to its last change, and those in a loop that
    changes one. A second name for a whole grid is seen by `tapeengine.chad.parse.analyses.aliases`.
    """
    what = "may hold a part of it" if reading is COPYING else "keeps a row"
    for s, own, around in changes.mentions.get(other, ()):
        ends = [loop.end_lineno or 0 for loop in around if name in changes.inside[loop]]
        before = s.lineno <= max([changes.last[name], *ends]) or name in changes.inside.get(s, ())
        if not before or copies(s, reading) or passed_on(s) or other in handed(s):
            continue
        parts = [s.value] if reading is READING and isinstance(s, ast.Assign) and own_rows(s) else own
        if any(holds(n, other, reading) for n in parts):
            yield f"{ast.unparse(s).splitlines()[0]} {what}, and it changes afterwards"


def copies(s: ast.stmt, reading: Collection[str]) -> bool:
    """Tell whether a statement keeps no part of what it reads: rows of lists stay rows when they get longer."""
    if reading is READING:
        return len(own_rows(s)) > 1 or (isinstance(s, ast.Assign) and hasattr(s.targets[0], "is_longer_row"))
    to_parts = isinstance(s, ast.Assign) and all(isinstance(t, ast.Subscript) for t in s.targets)
    return to_parts or isinstance(s, ast.AugAssign | ast.Return)


def own_rows(s: ast.stmt) -> list[ast.expr]:
    """Give the rows that get new elements, or exchange theirs: ``m[i] = [...]``, ``m[i], m[p] = m[p], m[i]``."""
    match s:
        case ast.Assign([ast.Subscript() as target], value) if one_row(target) and is_fresh_row(value):
            return [target]
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if all(map(one_row, targets)):
            return targets if sorted(map(ast.unparse, targets)) == sorted(map(ast.unparse, values)) else []
    return []


def one_row(node: ast.expr) -> str:
    """Give the variable whose row, at an index that the text shows to be one place, an expression is; or nothing."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=index) if not names_part(index):
            return name if all(isinstance(n, PLACES) for n in every_node(index)) else ""
    return ""


def reason(changes: Changes, name: str, group: Sequence[str], is_copy: IsCopy, is_list: IsCopy) -> str | None:
    """Say why a variable is not a grid; it may get the arrays of all variables of a group."""
    makers = [s for s in changes.makers.get(name, ()) if name not in handed(s)]
    if not makers or name in changes.given:
        return "the program has not made it"
    made = [value_for(s, name) for s in makers]
    for s, value in zip(makers, made, strict=True):
        if value is None or not is_rectangle(value, is_copy):
            return f"{ast.unparse(s).splitlines()[0]} may have no rows of its own"
    if name in changes.in_functions:
        return "a local function changes it"
    own = any(value and (is_list(value) or isinstance(value, ast.List | ast.ListComp)) for value in made)
    if name not in changes.last:
        return None
    others = {other for each in group for other in changes.renamed.get(each, ())}
    every, reading = (*group, *sorted(others)), READING if own else COPYING
    return next((found for each in every for found in holding(changes, name, each, reading)), None)


def value_for(s: ast.stmt, name: str) -> ast.expr | None:
    """Give the expression whose value a statement binds to a name; None if it is not written out."""
    match s:
        case ast.Assign(targets=[ast.Name()], value=value):
            return value
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
            found = [v for t, v in zip(targets, values, strict=True) if isinstance(t, ast.Name) and t.id == name]
            return found[0] if len(found) == 1 else None
    return None


def bound(s: ast.stmt) -> list[str]:
    """Give the names that a statement itself binds."""
    if isinstance(s, ast.FunctionDef):
        return [s.name]
    targets = s.targets if isinstance(s, ast.Assign) else [getattr(s, "target", None)]
    names = [n for t in targets if t is not None for n in every_node(t) if isinstance(n, ast.Name)]
    return [n.id for n in names if isinstance(n.ctx, ast.Store)]


def changed_outside(inner: ast.FunctionDef) -> set[str]:
    """Give the variables outside a function of whose rows it changes elements."""
    nodes = every_node(inner)
    cells = [indices(n) for n in nodes if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store)]
    return {cell[0] for cell in cells if cell}.difference(x for s in nodes if isinstance(s, ast.stmt) for x in bound(s))


def is_rectangle(value: ast.expr, is_copy: IsCopy) -> bool:
    """Tell whether an expression makes rows to which nothing else refers."""
    match value:
        case ast.ListComp(elt=elt, generators=[ast.comprehension(ifs=[])]):
            return is_fresh_row(elt, is_copy)
        case ast.List(elts=elts):
            return bool(elts) and all(is_fresh_row(elt, is_copy) for elt in elts)
        case ast.Call(func=ast.Attribute(attr="copy")) | ast.BinOp():
            return is_copy(value)
        case ast.Call(func=ast.Name(id=called)):
            return called == OWN
        case ast.Call(func=ast.Attribute(attr=called)):
            return called in MAKING or called in COPYING
    return False


def is_fresh_row(elt: ast.expr, is_copy: IsCopy = never) -> bool:
    """Tell whether an expression makes a row."""
    match elt:
        case ast.BinOp(left=ast.List()) | ast.BinOp(right=ast.List()) | ast.List() | ast.ListComp():
            return True
        case ast.Call(func=ast.Name(id="list")) | ast.Call(func=ast.Attribute(attr="copy")):
            return True
        case ast.Subscript(slice=ast.Slice()):
            return is_copy(elt)
    return False


def sharing(function: ast.FunctionDef, name: str) -> str | None:
    """Say where a list of lists may get a row that is in another place as well."""
    for s in every_node(function):
        if not isinstance(s, ast.Assign):
            continue
        if any(isinstance(t, ast.Name) and t.id == name for t in s.targets) and repeats(s.value):
            return f"{ast.unparse(s)} may have no rows of its own"
        if any(row_of(t) == name for t in s.targets) and refers(s.value):
            return f"{ast.unparse(s)} keeps a row that is elsewhere too"
    return None


def row_of(target: ast.expr) -> str:
    """Give the variable whose row a target is; an empty text for other targets."""
    is_row = isinstance(target, ast.Subscript) and not isinstance(target.slice, ast.Slice | ast.Tuple)
    return getattr(target.value, "id", "") if is_row and isinstance(target, ast.Subscript) else ""


def repeats(value: ast.expr) -> bool:
    """Tell whether an expression makes a list of rows that something else refers to, such as a copy of a list."""
    match value:
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            return isinstance(left, ast.List) or isinstance(right, ast.List)
        case ast.BinOp(op=ast.Add(), left=left, right=right) | ast.IfExp(body=left, orelse=right):
            return any(isinstance(x, ast.Name) or repeats(x) for x in (left, right))
        case ast.List(elts=elts):
            return any(isinstance(elt, ast.Starred) or refers(elt) for elt in elts)
        case ast.ListComp(elt=elt):
            return refers(elt)
        case ast.Call(func=ast.Name(id="list" | "sorted" | "reversed" | "filter"), args=[*_, of]):
            return refers(of) or repeats(of)
        case ast.Call(func=ast.Attribute(value=of, attr="copy"), args=[]) | ast.Subscript(value=of, slice=ast.Slice()):
            return refers(of) or repeats(of)
    return False


def refers(value: ast.expr) -> bool:
    """Tell whether an expression gives a list that is elsewhere too."""
    if isinstance(value, ast.IfExp):
        return refers(value.body) or refers(value.orelse)
    is_part = isinstance(value, ast.Subscript) and not isinstance(value.slice, ast.Slice)
    return is_part or isinstance(value, ast.Name | ast.Attribute)


def holds(node: ast.AST, name: str, reading: Collection[str] = READING) -> bool:
    """Tell whether an expression's value may have a grid or a row of it inside."""
    match node:
        case ast.Name(id=found):
            return found == name and isinstance(node.ctx, ast.Load) and not is_given_back(node)
        case ast.Attribute(attr=measure) if measure in MEASURES:
            return False
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)) if called in reading and not by_key(node):
            return False
        case ast.BinOp() | ast.UnaryOp() | ast.Compare() if reading is COPYING and not joins(node):
            return False
        case ast.Subscript() if (cell := indices(node)) and cell[0] == name:
            return holds(cell[1], name, reading) or holds(cell[2], name, reading)
        case ast.BinOp(left=left, right=right):  # which makes an array of its own of a row
            return any(holds(side.slice if is_row(side, name) else side, name) for side in (left, right))
        case ast.comprehension(target=target, iter=over, ifs=ifs):
            return any(holds(part, name, reading) for part in (target, *ifs)) or runs_over_rows(over, name)
    return any(holds(child, name, reading) for child in child_nodes(node))


def by_key(node: ast.Call) -> bool:
    """Tell whether a call gives one of its arguments, or a row of it: ``max(rows, key=f)``."""
    return any(k.arg == "key" for k in node.keywords)


def joins(node: ast.AST) -> bool:
    """Tell whether an operator may join lists or tuples."""
    return any(isinstance(n, ast.List | ast.ListComp | ast.Tuple) for n in operands(node))


def operands(node: ast.AST) -> Iterator[ast.AST]:
    """Go through the operands of operators within operators."""
    for child in child_nodes(node):
        yield child
        if isinstance(child, ast.BinOp | ast.UnaryOp):
            yield from operands(child)


def is_row(node: ast.expr, name: str) -> TypeGuard[ast.Subscript]:
    """Tell whether an expression is a row of a grid."""
    match node:
        case ast.Subscript(value=ast.Name(id=found), slice=index):
            return found == name and not isinstance(index, ast.Slice)
    return False


def runs_over_rows(over: ast.expr, name: str) -> bool:
    """Tell whether a comprehension over an expression may see rows of a grid, and not only their elements."""
    match over:
        case ast.Call(func=ast.Name(id="zip" | "enumerate" | "reversed"), args=args):
            return any(runs_over_rows(arg, name) for arg in args)
        case ast.Subscript(value=ast.Name(), slice=index) if not isinstance(index, ast.Slice):
            return holds(index, name)
    return holds(over, name)


def indices(node: ast.AST) -> tuple[str, ast.expr, ast.expr] | None:
    """Read ``name[i][j]`` and ``name[i, j]``; None for any other expression."""
    match node:
        case ast.Subscript(value=ast.Subscript(value=ast.Name(id=name), slice=i), slice=j):
            pass
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=[i, j])):
            pass
        case _:
            return None
    return None if names_part(i) or names_part(j) else (name, i, j)


def changed_in_rows(node: ast.AST) -> str:
    """Give the name of a variable if an element of its rows is assigned to, or a part of both axes."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Tuple(elts=[_, _] as parts)):
            return name if all(isinstance(part, ast.Slice) or not names_part(part) for part in parts) else ""
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Call(func=ast.Attribute(attr="ix_"), args=[_, _])):
            return name
    return "" if (found := indices(node)) is None else found[0]


def changed_row(node: ast.AST, counting: Collection[str]) -> str:
    """Give the name of a variable if the text shows that one of its elements, or one of its rows, is assigned to."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=index):
            parts = every_node(index)
            is_place = all(isinstance(n, PLACES) for n in parts) and not names_part(index)
            names = [n.id for n in parts if isinstance(n, ast.Name)]
            return name if is_place and (not names or any(n in counting for n in names)) else ""
    return ""


#: Parts of expressions that are an index of one place.
PLACES = (ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context)


def names_part(index: ast.expr) -> bool:
    """Tell whether the text of an index shows that it is not one place."""
    is_constant = isinstance(index, ast.Constant) and index.value in (None, Ellipsis)
    return is_constant or isinstance(index, ast.Slice | ast.Tuple | ast.List | ast.Compare)
