"""Plain arrays that a program writes traced numbers into: their copies become traced arrays.

Python calls no name for ``a[i] = x``, and a plain method for ``a.copy()``, so the source changes:

    b = a.copy()        b = fresh(a.copy())
    b[i] = x            try:
                            b[i] = x
                        except DroppedDerivativeError:
                            b = writable(b)
                            b[i] = x

`fresh` turns a newly made array into an array of the running trace. `writable` does the same later, for an array to
which only the name `b` refers, such as the result of an expression; for other arrays it lets the error pass. A ``try``
without an error costs nothing. Parts that must not be evaluated twice are evaluated before it.
"""

from __future__ import annotations

import ast
import copy
import sys
from collections.abc import Iterator
from functools import cache
from traceback import clear_frames
from typing import Any

import numpy

from .._core.arrays.array import fresh
from .._core.tape.swallowed import forget
from ..errors import DroppedDerivativeError, UnsupportedError

_FRESH, _WRITABLE, _DROPPED, _APART = ".fresh", ".writable", ".dropped", ".apart"
#: Methods of arrays that return a copy.
_COPYING = {"copy", "astype", "flatten"}
#: Functions that inspect the names of a scope, and would find the names added here.
_LOOKING = {"locals", "vars", "eval", "exec", "dir"}
#: Expressions that may be evaluated again: they call nothing, make no container and bind no name.
_REPEATABLE = (
    *(ast.Name, ast.Constant, ast.UnaryOp, ast.BinOp, ast.Attribute, ast.Subscript, ast.Slice),
    *(ast.operator, ast.unaryop, ast.expr_context),
)
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


# -- at run time ------------------------------------------------------------------------------------------------------
def references(array: Any) -> tuple[int, int]:
    """The numbers of references to an array and to its base, including those of this call."""
    return sys.getrefcount(array), sys.getrefcount(array.base)


@cache
def references_of_one_name() -> tuple[int, int]:
    """The numbers that `writable` sees for an array with one name and no other reference to its base."""
    alone = numpy.zeros(2)[:]
    own, memory = (lambda array: references(array))(alone)
    return own, memory


def writable(array: Any) -> Any:
    """The array of the running trace for a plain one with a single name; otherwise raise the error again."""
    if type(array) is numpy.ndarray and array.flags.writeable and type(array.base) in (type(None), numpy.ndarray):
        clear_frames(sys.exc_info()[2])  # finished frames of numpy's calls still refer to the array
        own, memory = references(array)
        most, most_of_memory = references_of_one_name()
        if own <= most and (array.base is None or memory <= most_of_memory):
            found = fresh(array)
            if found is not array:
                forget(sys.exc_info()[1])
                return found
    raise


def apart(item: Any, array: Any) -> Any:
    """An item of an array; None for a view, which would be another reference to the array's memory."""
    both = type(item) is numpy.ndarray and type(array) is numpy.ndarray
    return None if both and numpy.may_share_memory(item, array) else item


def written_names() -> dict[str, Any]:
    """The functions that changed code calls."""
    errors = DroppedDerivativeError, UnsupportedError
    return {_FRESH: fresh, _WRITABLE: writable, _DROPPED: errors, _APART: apart}


# -- at compile time --------------------------------------------------------------------------------------------------
def with_traced_stores(tree: ast.Module) -> ast.Module:
    """Change copies and writes in a tree, except at the top level of a module or class."""
    changed = ast.fix_missing_locations(Stores().visit(tree))
    assert isinstance(changed, ast.Module)
    return changed


class Stores(ast.NodeTransformer):
    """Changes functions; while it visits a body, it knows the names that the function binds."""

    def __init__(self) -> None:
        self.bound: set[str] | None = None
        #: Names that functions inside the present one may bind.
        self.shared: set[str] = set()

    def visit_FunctionDef(self, node: Any) -> Any:
        """Change the body, unless it inspects its own names."""
        before = self.bound, self.shared
        self.bound, self.shared = names_bound(node), names_shared(node)
        node = self.generic_visit(node)
        self.bound, self.shared = before
        return node

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_ClassDef(self, node: Any) -> Any:
        """Keep the class's own statements; change its methods."""
        before, self.bound = self.bound, None
        node = self.generic_visit(node)
        self.bound = before
        return node

    def visit_Call(self, node: ast.Call) -> ast.expr:
        """``a.copy()``."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _COPYING:
            return ast.copy_location(ast.Call(placed(ast.Name(_FRESH, ast.Load()), node), [node], []), node)
        return node

    def visit_Assign(self, node: ast.Assign) -> Any:
        """``a[i] = x``, also as one of several targets."""
        self.generic_visit(node)
        if self.bound is None or not any(map(self.is_written, parts_of(node.targets))):
            return node
        return list(self.assigned(node.targets, node.value, node))

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        """``a[i] += x`` and ``a += x``."""
        self.generic_visit(node)
        target = node.target
        if self.bound is None or not (self.is_written(target) or self.is_own(target)):
            return node
        if isinstance(target, ast.Subscript):
            calls, held = not is_repeatable(node.value), self.is_held(target, node.value)
            return [
                *(self.held(target) if held else ()),
                *self.hoisted(target, node.value),
                *(self.added(node, target, held) if calls else self.if_kept(node, target, held)),
            ]
        if self.may_change(target, node.value):
            return list(self.combined(node, target))
        return [*named(node, "value"), self.guarded(node, target)]

    def combined(self, node: ast.AugAssign, target: Any) -> Iterator[ast.stmt]:
        """``a += f()`` where the call may write to the name or attribute: Python reads it before the call."""
        old = name_for(target)
        read = copy.deepcopy(target)
        read.ctx = ast.Load()
        yield placed(ast.Assign([ast.Name(old, ast.Store())], read), node)
        yield from named(node, "value")
        summed = ast.AugAssign(ast.Name(old, ast.Store()), node.op, node.value)
        drop = ast.Delete([ast.Name(old, ast.Del())])
        stored = ast.Assign([copy.deepcopy(target)], ast.Name(old, ast.Load()))
        steps: list[ast.stmt] = [summed, stored, drop]
        same = ast.Compare(copy.deepcopy(read), [ast.Is()], [ast.Name(old, ast.Load())])
        again = ast.AugAssign(copy.deepcopy(target), node.op, copy.deepcopy(node.value))
        alone = [copy.deepcopy(drop), self.made(target), again]  # one name refers to the array
        changed = [self.made(ast.Name(old, ast.Store())), *copy.deepcopy(steps)]
        yield placed(self.attempt(steps, [ast.If(same, alone, changed)]), node)

    def may_change(self, part: ast.expr, *later: ast.expr) -> bool:
        """Whether evaluating later expressions may write to a name, an attribute or an item in a part."""
        calls = [x for x in later if not is_repeatable(x)]
        written = {x.target.id for one in calls for x in ast.walk(one) if isinstance(x, ast.NamedExpr)} | self.shared
        return bool(calls) and any(
            x.id in written if isinstance(x, ast.Name) else isinstance(x, (ast.Attribute, ast.Subscript))
            for x in ast.walk(part)
        )

    def hoisted(self, target: ast.Subscript, *later: ast.expr) -> Iterator[ast.stmt]:
        """Evaluate in advance, in order, what calls something in an index, and what later calls may change."""
        index = target.slice
        parts = index.elts if isinstance(index, ast.Tuple) else [index]
        for k, part in enumerate(parts):
            if isinstance(part, ast.Slice):
                bounds = [x for x in (part.lower, part.upper, part.step) if x is not None]
                for field in ("lower", "upper", "step"):
                    bound = getattr(part, field)
                    if bound is not None:
                        yield from self.evaluated(
                            part, field, *bounds[bounds.index(bound) + 1 :], *parts[k + 1 :], *later
                        )
                continue
            if isinstance(part, ast.Starred):  # what it runs over may be used up
                part.value = placed(ast.Tuple([ast.Starred(part.value, ast.Load())], ast.Load()), part)
            holder: Any = part if isinstance(part, ast.Starred) else ast.Expr(part)
            yield from self.evaluated(holder, "value", *parts[k + 1 :], *later)
            parts[k] = part if isinstance(part, ast.Starred) else holder.value
        if not isinstance(index, ast.Tuple):
            target.slice = parts[0]

    def evaluated(self, node: Any, field: str, *later: ast.expr) -> Iterator[ast.stmt]:
        """Replace a part of a node by a name, if it calls something or later calls may change it."""
        yield from named(node, field, self.may_change(getattr(node, field), *later))

    def is_held(self, target: ast.Subscript, *later: ast.expr) -> bool:
        """Whether evaluating an index or a value may bind another object to what is written to."""
        return self.may_change(target.value, target.slice, *later)

    def held(self, target: ast.Subscript) -> Iterator[ast.stmt]:
        """Keep the object that is written to."""
        read = copy.deepcopy(target.value)
        read.ctx = ast.Load()  # type: ignore[attr-defined]
        yield placed(ast.Assign([ast.Name(kept_name(target), ast.Store())], read), target)

    def if_kept(self, plain: Any, target: ast.Subscript, held: bool, guarded: Any = None) -> Iterator[ast.stmt]:
        """A write to what is still bound; otherwise the `plain` statements write to the object that was kept."""
        plain = plain if isinstance(plain, list) else [plain]
        guarded = guarded or self.guarded(plain, target.value)
        if not held:
            yield guarded
            return
        kept = kept_name(target)
        bound = copy.deepcopy(target.value)
        bound.ctx = ast.Load()  # type: ignore[attr-defined]
        other = copy.deepcopy(plain)
        for node in (node for statement in other for node in ast.walk(statement)):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                node.value = ast.Name(kept, ast.Load())
        same = ast.Compare(bound, [ast.Is()], [ast.Name(kept, ast.Load())])
        yield placed(ast.If(same, [ast.Delete([ast.Name(kept, ast.Del())]), guarded], other), target)

    def added(self, node: ast.AugAssign, target: ast.Subscript, held: bool) -> Iterator[ast.stmt]:
        """``a[i] += f()``: read the item before the call, and write it afterwards."""
        read = copy.deepcopy(target)
        read.ctx = ast.Load()
        item, total = name_for(target), name_for(target) + " "
        yield placed(ast.Assign([ast.Name(item, ast.Store())], read), node)
        yield from named(node, "value")
        yield placed(ast.Assign([ast.Name(total, ast.Store())], ast.Name(item, ast.Load())), node)
        summed = placed(ast.AugAssign(ast.Name(total, ast.Store()), node.op, node.value), node)
        tried = [summed, placed(ast.Assign([target], ast.Name(total, ast.Load())), node)]
        array, kept = copy.deepcopy(read.value), ast.Name(item, ast.Load())
        alone = ast.Assign(
            [ast.Name(item, ast.Store()), ast.Name(total, ast.Store())],
            ast.Call(ast.Name(_APART, ast.Load()), [kept, array], []),
        )
        old = ast.IfExp(ast.Compare(kept, [ast.Is()], [ast.Constant(None)]), copy.deepcopy(read), kept)
        again = ast.Assign([copy.deepcopy(target)], ast.BinOp(old, node.op, copy.deepcopy(node.value)))
        guarded = self.attempt(tried, [alone, self.made(target.value), placed(again, node)])
        yield from self.if_kept(tried, target, held, guarded)

    def is_written(self, target: ast.expr) -> bool:
        """Whether a target is an item of an array for which another can be substituted."""
        if not isinstance(target, ast.Subscript) or any(isinstance(x, ast.NamedExpr) for x in ast.walk(target)):
            return False
        return self.is_own(target.value)

    def is_own(self, base: ast.expr) -> bool:
        """Whether an expression is a name that this function binds, or an attribute."""
        if isinstance(base, ast.Name):
            return base.id in (self.bound or ())
        return isinstance(base, ast.Attribute) and is_repeatable(base)

    def assigned(self, targets: list[ast.expr], value: ast.expr, at: ast.AST) -> Iterator[ast.stmt]:
        """The statements of an assignment, which evaluate its value once."""
        if len(targets) > 1 or not is_repeatable(value) or isinstance(targets[0], (ast.Tuple, ast.List)):
            name = name_for(value)
            yield placed(ast.Assign([ast.Name(name, ast.Store())], value), at)
            value = placed(ast.Name(name, ast.Load()), at)
        for target in targets:
            yield from self.stored(target, value, at)

    def stored(self, target: ast.expr, value: ast.expr, at: ast.AST) -> Iterator[ast.stmt]:
        """The statements of a write to one target; a tuple is unpacked first."""
        if isinstance(target, (ast.Tuple, ast.List)) and any(map(self.is_written, parts_of([target]))):
            names = [name_for(part) for part in target.elts]
            taken: list[ast.expr] = [
                ast.Starred(ast.Name(name, ast.Store()), ast.Store())
                if isinstance(part, ast.Starred)
                else ast.Name(name, ast.Store())
                for name, part in zip(names, target.elts, strict=True)
            ]
            yield placed(ast.Assign([ast.Tuple(taken, ast.Store())], value), at)
            for name, part in zip(names, target.elts, strict=True):
                inner = part.value if isinstance(part, ast.Starred) else part
                yield from self.stored(inner, placed(ast.Name(name, ast.Load()), at), at)
            return
        statement = placed(ast.Assign([target], value), at)
        if not self.is_written(target):
            yield statement
            return
        assert isinstance(target, ast.Subscript)
        held = self.is_held(target)
        yield from self.held(target) if held else ()
        yield from self.hoisted(target)
        yield from self.if_kept(statement, target, held)

    def guarded(self, tried: Any, base: Any) -> ast.stmt:
        """A write to an array inside ``try``, with the same statement for a lost derivative."""
        tried = tried if isinstance(tried, list) else [tried]
        return self.attempt(tried, [self.made(base), *copy.deepcopy(tried)])

    def made(self, base: Any) -> ast.stmt:
        """Make an array writable."""
        stored, read = copy.deepcopy(base), copy.deepcopy(base)
        stored.ctx, read.ctx = ast.Store(), ast.Load()
        return ast.Assign([stored], ast.Call(ast.Name(_WRITABLE, ast.Load()), [read], []))

    def attempt(self, tried: list[ast.stmt], rest: list[ast.stmt]) -> ast.stmt:
        """``try`` with other statements for a lost derivative."""
        handler = ast.ExceptHandler(ast.Name(_DROPPED, ast.Load()), None, rest)
        found: ast.stmt = placed(ast.Try(tried, [handler], [], []), tried[-1])
        return found


def placed(node: Any, at: ast.AST) -> Any:
    """Give a new node, and nodes in it without a location, the location of another node."""
    for one in ast.walk(node):
        if "lineno" in one._attributes and not hasattr(one, "lineno"):
            ast.copy_location(one, at)
    return node


def name_for(node: Any) -> str:
    """A name that no program can contain, for the value of an expression."""
    return f".{node.lineno}:{node.col_offset}"


def kept_name(target: ast.Subscript) -> str:
    """A name for what a target is an item of."""
    return name_for(target) + " of"


def is_repeatable(node: ast.AST) -> bool:
    """Whether an expression may be evaluated twice."""
    return all(isinstance(part, _REPEATABLE) for part in ast.walk(node))


def named(node: Any, field: str, always: bool = False) -> Iterator[ast.stmt]:
    """Evaluate a part of a node in advance and replace it by a name, `always` or unless it may be evaluated twice."""
    part = getattr(node, field)
    if part is not None and (always or not is_repeatable(part)):
        name = name_for(part)
        yield placed(ast.Assign([ast.Name(name, ast.Store())], part), part)
        setattr(node, field, placed(ast.Name(name, ast.Load()), part))


def parts_of(targets: list[ast.expr]) -> Iterator[ast.expr]:
    """The targets of an assignment, including those in tuples."""
    for target in targets:
        if isinstance(target, (ast.Tuple, ast.List)):
            yield from parts_of(target.elts)
        elif isinstance(target, ast.Starred):
            yield from parts_of([target.value])
        else:
            yield target


def names_bound(function: Any) -> set[str] | None:
    """The names that a function binds; None if it inspects its names."""
    arguments = function.args
    found = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    declared: set[str] = set()
    for node in own_nodes(function):
        if isinstance(node, ast.Name):
            if node.id in _LOOKING:
                return None
            if isinstance(node.ctx, ast.Store):
                found.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            declared.update(node.names)
    return found - declared


def names_shared(function: Any) -> set[str]:
    """The names that functions inside a function declare as not their own."""
    declared = [node.names for node in ast.walk(function) if isinstance(node, ast.Nonlocal)]
    return {name for names in declared for name in names}


def own_nodes(function: Any) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions inside it."""
    left: list[ast.AST] = list(function.body)
    while left:
        node = left.pop()
        yield node
        if not isinstance(node, _SCOPES):
            left.extend(ast.iter_child_nodes(node))
