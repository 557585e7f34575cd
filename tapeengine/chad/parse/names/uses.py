"""Which names statements assign and use, and which ones local functions may read; whether statements return."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...language.nodes import FIELDS, child_nodes, every_node

#: The name of a function that returns its argument, to which nothing else refers; a program cannot bind it.
OWN = " own"
#: The names of the methods of operators.
DUNDERS: Mapping[type, str] = dict(
    zip(
        (
            *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult, ast.USub, ast.UAdd),
            *(ast.Invert, ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift),
        ),
        "add sub mul truediv floordiv mod pow matmul neg pos invert and or xor lshift rshift".split(),
        strict=True,
    )
)


#: The fields of statements with blocks inside.
BLOCKS = frozenset(("body", "cases"))


def _walk(statements: Sequence[ast.stmt], is_block: Callable[[ast.stmt], bool]) -> Iterator[ast.stmt]:
    """Go through statements and the blocks inside them, where `is_block` allows it; no expression is visited."""
    pending = list(reversed(statements))
    while pending:
        statement = pending.pop()
        yield statement
        if not BLOCKS.isdisjoint(statement.__dict__) and is_block(statement):
            pending += reversed([inner for block in _blocks(statement) for inner in block])


def walked(statements: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Go through statements and the blocks inside them, but not through local functions."""
    return _walk(statements, _is_here)


def computed_parts(node: ast.AST) -> Iterator[ast.expr]:
    """Go through the names, calls, attributes and items that a node always computes, in Python's order."""
    inner: list[Any] = []
    match node:
        case ast.BoolOp(values=[first, *_]) | ast.IfExp(test=first) | ast.Compare(left=first, comparators=[_, _, *_]):
            inner = [first]
        case ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
            inner = [node.generators[0].iter]
        case _ if not isinstance(node, ast.Lambda | ast.FunctionDef):
            inner = [x for x in child_nodes(node) if isinstance(x, ast.expr | ast.keyword)]
    for part in inner:
        yield from computed_parts(part)
    if isinstance(node, ast.Name | ast.Call | ast.Attribute | ast.Subscript):
        yield from (node,) if isinstance(getattr(node, "ctx", None), ast.Load | None) else ()


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks of a statement: of a branch, a loop, a context, a case or a handler."""
    for one in (statement, *getattr(statement, "cases", ()), *getattr(statement, "handlers", ())):
        for field in ("body", "orelse", "finalbody"):
            yield getattr(one, field, [])


def _is_here(statement: ast.stmt) -> bool:
    """Tell whether what is inside a statement belongs to the function around it."""
    return not isinstance(statement, ast.FunctionDef)


def assigned(statements: Sequence[ast.stmt]) -> list[str]:
    """Give the names that statements assign, in order; not those of comprehensions."""
    found: list[str] = []
    for node in _walk(statements, _is_here):
        match node:
            case ast.FunctionDef(name=name):
                found.append(name)
            case ast.Assign(targets=targets):
                found += [name for target in targets for name in stored(target)]
            case ast.AnnAssign(target=target) | ast.AugAssign(target=target) | ast.For(target=target):
                found += stored(target)
    return list(dict.fromkeys(found))


def walrus(statements: Sequence[ast.AST]) -> Iterator[str]:
    """Go through the names that expressions bind, also in comprehensions, but not in functions."""
    if not any(isinstance(node, ast.NamedExpr) for s in statements for node in every_node(s)):
        return iter(())
    return (node.target.id for node in inner_nodes(statements) if isinstance(node, ast.NamedExpr))


def stored(target: ast.AST) -> list[str]:
    """Give the names that a target binds."""
    if isinstance(target, ast.Name):
        return [target.id]
    return [n.id for n in every_node(target) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


@dataclass(frozen=True)
class Jumps:
    """How statements may leave the block that they stand in, other than at its end."""

    returns: bool = False
    breaks: bool = False
    continues: bool = False

    def __bool__(self) -> bool:
        return self.returns or self.breaks or self.continues


def ends(statements: Sequence[ast.stmt]) -> bool:
    """Tell whether statements may reach their end, as those do not that raise or jump."""
    match statements:
        case [*_, ast.Raise() | ast.Return() | ast.Break() | ast.Continue()]:
            return False
        case [*_, ast.If(body=body, orelse=orelse)]:
            return ends(body) or ends(orelse)
    return True


def surely_assigned(statements: Sequence[ast.stmt]) -> list[str]:
    """Give the names that statements assign on every path to their end; a loop counts as if it made a step."""
    found = []
    for s in statements:
        match s:
            case ast.If(body=body, orelse=orelse):
                found += in_all([body, orelse])
            case _:
                found += assigned([s])
    return list(dict.fromkeys(found))


def in_all(arms: Sequence[Sequence[ast.stmt]]) -> list[str]:
    """Give the names that all arms assign which may reach their end."""
    each = [dict.fromkeys(surely_assigned(arm)) for arm in arms if ends(arm)]
    return [name for name in (each[0] if each else ()) if all(name in other for other in each)]


def jumps(statements: Sequence[ast.stmt]) -> Jumps:
    """Tell how statements may leave their block; break and continue count for the loop around them."""
    returned = any(isinstance(node, ast.Return) for node in _walk(statements, _is_here))
    inside = _walk(statements, lambda s: not isinstance(s, ast.FunctionDef | ast.For | ast.While))
    kinds = {type(node) for node in inside}
    return Jumps(returned, ast.Break in kinds, ast.Continue in kinds)


def parameters(args: ast.arguments) -> list[ast.arg]:
    """Give the parameters of a function, those by name only last; those with * are refused where they are read."""
    return [*args.posonlyargs, *args.args, *args.kwonlyargs]


def defaults(args: ast.arguments) -> list[ast.expr | None]:
    """Give the defaults of `parameters`; None for one without."""
    missing = len(args.posonlyargs) + len(args.args) - len(args.defaults)
    return [*[None] * missing, *args.defaults, *args.kw_defaults]


def uses(statements: Sequence[ast.AST]) -> list[str]:
    """Give the names that statements read, in order, also those read inside functions."""
    nodes = (node for statement in statements for node in every_node(statement))
    return list(dict.fromkeys(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)))


def functions_in(statements: Sequence[ast.AST], kinds: Any = ast.FunctionDef | ast.Lambda) -> Iterator[ast.AST]:
    """Go through the functions in statements, or other kinds of parts, but not through those inside of these."""
    pending = list(statements)
    while pending:
        node = pending.pop()
        if isinstance(node, kinds):
            yield node
        else:
            pending += child_nodes(node)


def inner_nodes(statements: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Go through the parts of statements, but not of functions in them."""
    pending: list[ast.AST] = list(reversed(statements))
    while pending:
        node = pending.pop()
        if not isinstance(node, FUNCTIONS_IN):
            yield node
            if FIELDS[node.__class__]:
                pending += reversed(child_nodes(node))


def renaming(statement: ast.stmt) -> tuple[str, str] | None:
    """Give both names of ``a = b``; None for another statement."""
    match statement:
        case ast.Assign([ast.Name(target)], ast.Name(value)) | ast.AnnAssign(ast.Name(target), value=ast.Name(value)):
            return target, value
    return None


def renamed_once(function: ast.FunctionDef) -> Mapping[str, ast.expr]:
    """Map each name that is assigned once, from another name, to that name."""
    nodes = every_node(function)
    stored = [n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    pairs = [pair for n in nodes if isinstance(n, ast.stmt) and (pair := renaming(n)) and stored.count(pair[0]) == 1]
    return {target: ast.Name(value, ast.Load()) for target, value in pairs}


def pairs(s: ast.AST) -> list[tuple[ast.expr, ast.expr]]:
    """Give the targets of an assignment with the expressions of their values."""
    match s:
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
            return list(zip(targets, values, strict=True))
        case ast.Assign([target], value):
            return [(target, value)]
    return []


def exchanged(statement: ast.AST) -> Mapping[str, str]:
    """Give for each name of ``a, b = b, a`` the one whose value it gets; nothing for another statement."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
            pairs = zip(targets, values, strict=False)
            found = {t.id: v.id for t, v in pairs if isinstance(t, ast.Name) and isinstance(v, ast.Name)}
            if len(found) == len(targets) == len(values) and found.keys() == set(found.values()):
                return found
    return {}


def passed_on(statement: ast.stmt) -> tuple[str, ...]:
    """Give the names of ``a = b`` and ``a, b = b, a``, which pass values on and hold no part of them."""
    return renaming(statement) or tuple(exchanged(statement))


def is_handed(node: ast.AST) -> bool:
    """Tell whether a target stands for what a call changes in place, or a parameter for what its function changes."""
    return getattr(node, "is_handed", False)


def is_around(node: ast.arg) -> bool:
    """Tell whether a parameter stands for a variable around the function, which it changes."""
    return getattr(node, "is_around", False)


def is_given_back(node: ast.AST) -> bool:
    """Tell whether a variable is returned to the caller's that it stands for, or stands for a default."""
    return getattr(node, "is_given_back", False)


def handed(statement: ast.AST) -> list[str]:
    """Give the names of what the call that a statement assigns changes in place."""
    match statement:
        case ast.Assign(targets=[ast.Tuple(elts=elts)]):
            return [e.id for e in elts if isinstance(e, ast.Name) and is_handed(e)]
    return []


def bound(function: ast.FunctionDef) -> list[str]:
    """Give the variables of a function that its statements bind, without those of functions around it."""
    declared = {name for s in function.body if isinstance(s, ast.Nonlocal) for name in s.names}
    declared.update(a.arg for a in parameters(function.args) if is_around(a))
    return [name for name in dict.fromkeys([*assigned(function.body), *walrus(function.body)]) if name not in declared]


def defined_once(function: ast.FunctionDef) -> dict[str, ast.FunctionDef]:
    """Give the functions inside a function whose names get no other value."""
    inner = [n for n in every_node(function) if isinstance(n, ast.FunctionDef) and n is not function]
    names = [*stored(function), *(n.name for n in inner)]
    return {n.name: n for n in inner if names.count(n.name) == 1}


def used_as_values(nodes: Sequence[ast.AST]) -> set[str]:
    """Give the names that stand elsewhere than in front of a call's arguments."""
    called = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load) and id(n) not in called}


def read_by(tree: ast.FunctionDef) -> Mapping[str, set[str]]:
    """Give for each local function, or variable that may hold one, the names around it that its calls may read."""
    nodes = every_node(tree)
    if not any(isinstance(n, FUNCTIONS_IN) for n in nodes[1:]):
        return {}
    inner = [n for n in nodes if isinstance(n, ast.FunctionDef) and n is not tree]
    own = {n.name: {*(a.arg for a in parameters(n.args)), *bound(n)} for n in inner}
    makers = {n.name for n in inner if any(isinstance(part, FUNCTIONS_IN) for part in every_node(n) if part is not n)}
    found = {n.name: set(uses(n.body)) - own[n.name] for n in inner}
    before = None
    while before != found:
        before = {name: set(read) for name, read in found.items()}
        for s in nodes:
            if isinstance(s, ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.For) and (value := value_of(s)):
                parts = [] if is_number(value) else every_node(value)
                held = used_as_values(parts).union(makers.intersection(uses([value]))).intersection(found)
                if held or any(isinstance(part, ast.Lambda) for part in parts):
                    for target in names_in(s):
                        found.setdefault(target, set()).update(uses([value]))
        for name, read in found.items():
            read.update(*(found[n] for n in tuple(read) if n in found))
            read -= own.get(name, set())
    return found


#: Functions inside functions.
FUNCTIONS_IN = (ast.FunctionDef, ast.Lambda)


def value_of(s: ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.For) -> ast.expr | None:
    """Give the expression whose value, or whose elements, get a name."""
    return s.iter if isinstance(s, ast.For) else s.value


#: Functions that give no functions.
MEASURES = frozenset("sum len float int abs any all round".split())


def is_number(value: ast.expr) -> bool:
    """Tell whether the text shows that a value holds no function."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in MEASURES
    return isinstance(value, ast.BinOp | ast.Compare | ast.UnaryOp | ast.Constant)


def names_in(s: ast.Assign | ast.AnnAssign | ast.NamedExpr | ast.For) -> set[str]:
    """Give the names that get the value, or a part of it."""
    targets = s.targets if isinstance(s, ast.Assign) else [s.target]
    return {n.id for target in targets for n in every_node(target) if isinstance(n, ast.Name)}
