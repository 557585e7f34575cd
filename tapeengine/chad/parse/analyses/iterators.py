"""Find where iterators are used up at once, as the language evaluates them: generators, map, views of dicts, ...

One that is stored would give its elements later, once, and with the values that its variables have by then.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from ...language.nodes import child_nodes, every_node
from ..names.uses import assigned, handed, uses, walked
from .aliases import changes

#: Where an expression stands in a text; rewritten statements keep the places of their expressions.
Place = tuple[int, int, int, int]
#: Tells whether a call takes the elements of its arguments.
Consumes = Callable[[ast.Call], bool]
#: Methods that take the elements of their argument.
TAKING = ("extend", "update", "join")
VIEWS = ("items", "keys", "values")
#: Functions that take an element of their argument when one of theirs is asked for.
LATE = ("zip", "enumerate", "reversed", "map", "filter", "chain", "accumulate", "pairwise")


def place_of(node: ast.AST) -> Place | None:
    """Give the place of an expression; None for one that is not in the text."""
    found = [getattr(node, name, None) for name in ("lineno", "col_offset", "end_lineno", "end_col_offset")]
    return None if None in found else tuple(found)  # type: ignore[return-value]


def consumed(function: ast.FunctionDef, consumes: Consumes) -> frozenset[Place | None]:
    """Give the places of expressions whose elements are taken at once, or later with the same result."""
    nodes = every_node(function)
    found = {place_of(e) for node in nodes for e in taken_by(node, consumes)}
    loops = [n for n in nodes if isinstance(n, ast.For) and any(map(is_late, late(n.iter)))]
    found -= {place_of(e) for loop in loops if disturbs(nodes, loop, [loop.iter]) for e in late(loop.iter)}
    found.update(place for n in nodes[1:] if isinstance(n, ast.FunctionDef) for place in returned(nodes, n, found))
    for block in blocks(nodes):
        for k, s in enumerate(block):
            made = named(s)
            if made and any(map(is_late, choices(made[1]))) and is_used_once(nodes, *made, block[k + 1 :], found):
                found.update(map(place_of, choices(made[1])))
    return frozenset(found)


def taken_by(node: ast.AST, consumes: Consumes) -> Iterator[ast.expr]:
    """Go through the expressions whose elements a node takes."""
    match node:
        case ast.Call(func=ast.Attribute(attr=attr), args=args) if attr in TAKING:
            found = args
        case ast.Call(args=args) if consumes(node):
            found = args
        case ast.For(iter=over) | ast.comprehension(iter=over):
            found = [over]
        case ast.Starred(value=value) | ast.AugAssign(value=value):
            found = [value]
        case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=found):
            pass
        case ast.Assign(targets=targets, value=value) if all(map(is_apart, targets)):
            found = [value]
        case _:
            found = []
    for each in found:
        yield from choices(each)


def is_apart(target: ast.expr) -> bool:
    """Tell whether a target unpacks its value."""
    return isinstance(target, ast.Tuple | ast.List) or (
        isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice)
    )


def choices(node: ast.expr) -> Iterator[ast.expr]:
    """Go through an expression and the operands of conditional expressions, one of which is its value."""
    yield node
    if isinstance(node, ast.IfExp):
        yield from choices(node.body)
        yield from choices(node.orelse)


def is_late(node: ast.expr) -> bool:
    """Tell whether an expression may be an iterator that gives its elements later."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in LATE or name in VIEWS
    return isinstance(node, ast.GeneratorExp)


def late(node: ast.expr) -> Iterator[ast.expr]:
    """Go through the iterators that give their elements while a loop over an expression runs."""
    yield node
    match node:
        case ast.GeneratorExp(generators=[first, *_]):
            yield from late(first.iter)
        case ast.Call(args=args) if is_late(node):
            for each in args:
                yield from late(each)


def disturbs(nodes: Sequence[ast.AST], loop: ast.For, read: Sequence[ast.AST]) -> bool:
    """Tell whether the body of a loop changes a value from which its elements are read."""
    own: Counter[str] = Counter()
    match loop:
        case ast.For(target=target, iter=ast.Call(func=ast.Attribute(attr="items" | "keys"))):
            own.update(at_own_key(loop, target))
    changed = Counter(name for s in loop.body for name, _ in changes(s)) - own
    return not {*changed, *assigned(loop.body)}.isdisjoint(names_read(nodes, read))


def at_own_key(loop: ast.For, target: ast.expr) -> Iterator[str]:
    """Go through the dicts whose value at the loop's own key is assigned: the loop has read it before."""
    key = target.elts[0] if isinstance(target, ast.Tuple) else target
    for node in every_node(loop):
        match node, key:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=at), ctx=ast.Store()), ast.Name(id=first):
                if at == first:
                    yield name


def names_read(nodes: Sequence[ast.AST], read: Sequence[ast.AST]) -> set[str]:
    """Give the names that expressions read, and those that the local functions among them may read."""
    found, local = set(uses(read)), {name for node in nodes[1:] for name in local_functions(node)}
    inner = [n for n in nodes[1:] if isinstance(n, ast.FunctionDef | ast.Lambda)]
    return found if found.isdisjoint(local) else found.union(uses(inner))


def local_functions(node: ast.AST) -> Iterator[str]:
    """Go through the names that a statement gives to a function, or to what may hold one."""
    match node:
        case ast.FunctionDef(name=name):
            yield name
        case ast.Assign(targets=targets, value=value) if any(isinstance(n, ast.Lambda) for n in every_node(value)):
            yield from (t.id for t in targets if isinstance(t, ast.Name))


def blocks(nodes: Sequence[ast.AST]) -> Iterator[list[ast.stmt]]:
    """Go through the blocks of statements."""
    for node in nodes:
        for field in ("body", "orelse", "finalbody"):
            if isinstance(block := getattr(node, field, None), list):
                yield block


def named(statement: ast.stmt) -> tuple[str, ast.expr] | None:
    """Give the name of ``g = ...`` and its value; None for another statement."""
    match statement:
        case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), value=ast.expr() as value):
            return name, value
    return None


def is_used_once(
    nodes: Sequence[ast.AST], name: str, value: ast.expr, rest: Sequence[ast.stmt], found: set[Place | None]
) -> bool:
    """Tell whether an iterator that gets a name is used up by one of the next statements, before anything changes."""
    own = [n for n in nodes if isinstance(n, ast.Name) and n.id == name]
    reads = names_read(nodes, [value])
    for s in rest if len(own) == 2 else ():
        if name in uses([s]):
            is_calm = not isinstance(s, ast.For) or not disturbs(nodes, s, [value])
            return is_calm and any(n in own and place_of(n) in found for e in head(s) for n in once(e))
        if named(s) is None or handed(s) or not reads.isdisjoint(assigned([s])):
            return False
    return False


def head(statement: ast.stmt) -> list[ast.AST]:
    """Give what a statement evaluates first, and once."""
    match statement:
        case ast.For(iter=first) | ast.If(test=first):
            return [first]
        case ast.While() | ast.FunctionDef():
            return []
    return [statement]


def once(node: ast.AST) -> Iterator[ast.AST]:
    """Go through the parts of a piece of text that are evaluated once at most."""
    yield node
    match node:
        case ast.Lambda():
            return
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
            yield from once(node.generators[0].iter)
        case _:
            for child in child_nodes(node):
                yield from once(child)


def returned(nodes: Sequence[ast.AST], local: ast.FunctionDef, found: set[Place | None]) -> Iterator[Place | None]:
    """Go through the returned expressions of a local function, if all its results are consumed at its calls."""
    loops = {id(n.iter) for n in nodes if isinstance(n, ast.For)}
    named = [n for n in nodes if isinstance(n, ast.Name) and n.id == local.name]
    calls = [n for n in nodes if isinstance(n, ast.Call) and n.func in named and id(n) not in loops]
    if len(named) == len(calls) and all(place_of(call) in found for call in calls):
        values = [s.value for s in walked(local.body) if isinstance(s, ast.Return) and s.value]
        yield from (place_of(e) for value in values for e in choices(value))
