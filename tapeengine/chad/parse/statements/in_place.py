"""Changes in place of arrays that the program has made and that nothing else refers to.

``ys[i] = v`` and ``ys.append(v)`` rebind ``ys`` to another array. This has Python's meaning if no other variable or
value refers to the same list; if one may, the change is refused.
"""

from __future__ import annotations

import ast
import copy
import itertools
from collections.abc import Callable, Sequence
from typing import cast

from ...language import written
from ...language.errors import ProgramError
from ...language.nodes import every_node
from ...language.sugar import wrapped
from ...language.terms import Build, Concatenate, Elements, If, Index, Op, Proj, Size, Term, Tuple, Var, lit
from ...language.types import BOOL, FLOAT, INT, NEVER, UNIT, Array, Named, Type, has_part, show, with_elements
from ..analyses.ownership import changed_in
from ..analyses.rectangles import indices, reason
from ..expressions import dicts
from ..expressions.parameters import no_other_keywords
from ..expressions.rules import expression, read_ahead
from ..expressions.subscripts import by_items, is_index
from ..library.ordering import sorted_
from ..names import syntax
from ..names.syntax import load
from ..names.uses import assigned
from ..operations.functions import Env, Rest
from ..operations.grids import made, place_of, rows
from ..operations.numeric import rank
from ..operations.raising import failing
from ..operations.state import UNDECIDED, Decided, Parser, with_lets
from ..operations.whole import appended, in_place_of
from ..operations.whole import array as as_array
from .grid_parts import with_part
from .parts import Change, held_type, replaced, with_mask, with_parts, with_slice


def changed(statements: Sequence[ast.stmt]) -> list[str]:
    """Give the names that statements assign or change in place."""
    return list(dict.fromkeys([*assigned(statements), *changed_in(statements)]))


def changed_name(target: ast.expr) -> str | None:
    """Give the name of the array whose element, or element of whose row, is assigned to."""
    match target:
        case ast.Subscript(value=ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name))):
            return name
    return None


def element(
    p: Parser, node: ast.Subscript, value: Change, env: Env, then: Rest, *augmented: ast.operator | ast.expr
) -> Term:
    """``ys[i] = v`` and ``ys[i] += v``: another array with another element; an index out of range raises.

    `value` maps the replaced element to the element; `augmented` are the operator and the operand of ``+=``.
    """
    name, index = changed_name(node) or "", node.slice
    value = of_arrays(p, node, value, env.get(name), name)
    if hasattr(node, "is_longer_row") and (why := reason(p.changes, name, [name], p.is_copy, p.is_list)):
        refuse = p.on_duals if dicts.is_dict(env.get(name)) else p.error
        refuse(node, f"a row of {name} gets longer here, and {why}", instead(node))
    if dicts.is_dict(env.get(name)) and isinstance(node.value, ast.Name):
        own_or_refuse(p, node, name, node)
        key, whole = p.known(index, env), env[name]
        of = whole.type.fields
        old = p.part(whole, of.index(key)) if key in of else failing()
        return p.grammar.bind(p, name, dicts.replaced(p, node, whole, key, value(old)), env, then)
    if is_index(p, read_ahead(p, index, env).type if isinstance(index, ast.Name | ast.Call) else UNIT):

        def by_axes(items: ast.Tuple, env: Env) -> Term:
            part = copy.copy(node)
            part.slice = items
            return element(p, part, value, env, then, *augmented)

        return by_items(p, index, expression(p, index, env), env, by_axes)
    if hasattr(node, "one_by_one") and name in env:  # numpy's function takes no lists
        p.operated(node, [(node.value, rows(p, env[name]) if p.is_grid(name) else env[name])])
    if (cell := indices(node)) is not None and is_cell(p, cell, env):
        return cell_of_grid(p, node, cell, value, env, then)
    array = env.get(name)
    if hasattr(node, "is_cut"):
        p.no_array(node.value)
    own_or_refuse(p, node, name, node, *augmented)
    if p.is_grid(name):
        is_own = hasattr(node, "is_own_row")
        if (p.is_list(node.value) and not is_own) or not isinstance(node.value, ast.Name):
            p.error(node, f"a row of {name}, of which elements are changed elsewhere", "assign its elements one by one")
        changed = with_part(p, node, env[name], value, env)
        if changed is None:
            whole = p.within("rows", rows(p, env[name]), lambda xs: with_parts(p, node, xs, value, env))
            changed = made(p, node, whole)
        return p.grammar.bind(p, name, changed, env, then)
    if not isinstance(array, Var) or not isinstance(array.type, Array) or not isinstance(node.value, ast.Name):
        p.unfit(node, [getattr(array, "type", UNIT)], f"an element of {name}, which is no array", "give an array")
    no_views(p, node, name, array)
    if is_part(p, node.value, index, array, env):
        is_list = rank(array.type) == 1 and isinstance(index, ast.Slice) and not augmented and p.joins(node.value)
        return p.grammar.bind(p, name, with_parts(p, node, array, value, env, is_list), env, then)
    if isinstance(index, ast.Slice):
        return p.grammar.bind(p, name, with_slice(p, node, array, index, value, env), env, then)
    given = expression(p, index, env)
    if given.type == Array(BOOL):
        p.operated(node, [(node.value, array)])
        return p.grammar.bind(p, name, with_mask(p, node, array, given, value), env, then)
    return p.grammar.bind(p, name, with_element(p, node, array, p.coerce(index, given, INT), value, env), env, then)


def of_arrays(p: Parser, node: ast.Subscript, value: Change, whole: object, name: str) -> Change:
    """Make an array of a tuple that is assigned to a part of an array; in a list it may only replace a slice."""

    def made(old: Term) -> Term:
        new = value(old)
        found = in_place_of(p, old, new)
        if found is not new and not isinstance(node.slice, ast.Slice):
            assert isinstance(whole, Term)
            p.operated(node, [(node.value, rows(p, whole) if p.is_grid(name) else whole)])
        return found

    return made


@with_lets
def with_element(p: Parser, node: ast.Subscript, array: Term, at: Term, value: Change, env: Env) -> Term:
    """Give an array with another element at an index."""
    at, old = p.bound("at", at), p.fresh("old", array.type.element)  # type: ignore[attr-defined]
    new = value(old)
    if rank(new.type) < rank(old.type):
        return with_parts(p, node, array, value, env)
    return with_new(p, node, array, at, old, new)


@with_lets
def with_cell(p: Parser, node: ast.Subscript, grid: Term, at: Term, value: Change) -> Term:
    """Give a grid with another element at a place."""
    at, cells = p.bound("at", at), Proj(grid, 0)
    old = p.fresh("old", cells.type.element)  # type: ignore[attr-defined]
    return Tuple((with_new(p, node, cells, at, old, value(old)), Proj(grid, 1), Proj(grid, 2)))


def with_new(p: Parser, node: ast.Subscript, array: Term, at: Term, old: Var, new: Term) -> Term:
    """Give an array in which an element is replaced by a function of the old one; array and place are bound."""
    of = held_type(p, node, node.value, old.type, new.type)
    p.lets.append((old, Index(array, at)))
    stored = p.coerce if p.is_array(node.value) else p.element_of
    return replaced(p, array, at, p.bound("v", stored(node, new, of)))


def is_cell(p: Parser, cell: tuple[str, ast.expr, ast.expr], env: Env) -> bool:
    """Tell whether two indices name one element of an array of two axes."""
    is_higher = rank(getattr(env.get(cell[0]), "type", UNIT)) > 2
    return not is_higher and not any(rank(expression(p, k, env).type) for k in cell[1:])


def is_part(p: Parser, whole: ast.expr, index: ast.expr, array: Var, env: Env) -> bool:
    """Tell whether an index names a part that only numpy's arrays have, or a slice of one of several axes."""
    if isinstance(index, ast.Slice):
        return index.step is not None or (rank(array.type) > 1 and not p.is_list(whole))
    if isinstance(index, ast.Tuple) or (isinstance(index, ast.Constant) and index.value is Ellipsis):
        return True
    of = read_ahead(p, index, env).type
    return of == Array(INT) or (rank(of) > 0 and (rank(of) > 1 or rank(array.type) > 1))


def no_views(p: Parser, node: ast.Subscript | ast.AugAssign, name: str, array: Term) -> None:
    """Refuse to change an array of several axes while something may hold a row of it, which is a view."""
    own = load(name, node)
    is_part = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple)  # which lists have not
    if rank(array.type) > 1 and name in p.views and (is_part or not p.as_list(own)):
        p.error(node, f"{name} is changed in place here, and {p.views[name]}", "copy what is kept: .copy()")


def cell_of_grid(
    p: Parser, node: ast.Subscript, of: tuple[str, ast.expr, ast.expr], value: Change, env: Env, then: Rest
) -> Term:
    """``grid[i][j] = v`` and ``grid[i, j] = v``: a grid whose one array has another element."""
    name, *indices = of
    other = p.aliases.get((name, node.lineno))
    if not p.is_grid(name) or name not in env or other is not None:
        reason = f"{other} is the same array" if other is not None else p.grids[name]
        p.error(node, f"{name} is changed in place here, and {reason}", instead(node))
    grid = env[name]
    at = place_of(p, grid, *(p.coerce(k, expression(p, k, env), INT) for k in indices))
    return p.grammar.bind(p, name, with_cell(p, node, grid, at, value), env, then)


def method(p: Parser, node: ast.Expr, name: str, which: str, args: list[ast.expr], env: Env, then: Rest) -> Term:
    """``ys.append(v)``, ``ys.extend(zs)``, ``ys.insert(i, v)``, ``ys.pop()``: an array with more or fewer elements."""
    if which == "pop":
        return popped(p, node, name, args, env, lambda _, env: then(env))
    if which == "update" and dicts.is_dict(env.get(name)) and isinstance(node.value, ast.Call):
        own_or_refuse(p, node, name)
        return p.grammar.bind(p, name, dicts.updated(p, node.value, name, env), env, then)
    if which in REARRANGED and isinstance(getattr(env.get(name), "type", None), Array):
        own_or_refuse(p, node, name)
        return p.grammar.bind(p, name, rearranged(p, node, name, which, env), env, then)
    array = env.get(name)
    if not isinstance(array, Var) or not isinstance(array.type, Array) or len(args) != COUNTS.get(which):
        p.grammar.refuse(p, node)
    p.no_array(load(name, node))
    own_or_refuse(p, node, name)
    added = expression(p, args[-1], env, None if which == "extend" else array.type.element)
    added = as_array(p, node, added) if which == "extend" else added
    given = added.type.element if which == "extend" else added.type  # type: ignore[attr-defined]
    of = p.unify(node, array.type.element, given)
    whole = p.coerce(node, array, Array(of))
    if which == "insert":
        at = p.coerce(args[0], expression(p, args[0], env), INT)
        return p.grammar.bind(p, name, inserted(p, whole, at, p.element_of(node, added, of)), env, then)
    if which == "append":
        return p.grammar.bind(p, name, Concatenate(whole, Elements((p.element_of(node, added, of),), of)), env, then)
    more = p.coerce(node, added, Array(of))
    if of not in (FLOAT, INT, BOOL):
        return p.grammar.bind(p, name, Concatenate(whole, more), env, then)
    return p.grammar.bind(p, name, p.within("more", more, lambda xs: appended(p, whole, xs)), env, then)


def rearranged(p: Parser, node: ast.Expr, name: str, which: str, env: Env) -> Term:
    """``ys.sort(key=f)``, ``ys.reverse()``, ``ys.clear()``: the elements of a list in another order, or none."""
    whole, call = load(name, node), cast(ast.Call, node.value)
    if is_start(call.args):
        return expression(p, ast.copy_location(ast.Subscript(whole, ast.Slice(*call.args), ast.Load()), node), env)
    if call.args or (call.keywords and which != "sort") or not p.as_list(whole):
        p.grammar.refuse(p, node)
    if which == "sort":
        return sorted_(p, ast.copy_location(ast.Call(call.func, [whole], call.keywords), node), env)
    return expression(p, syntax.expression("_[::-1]" if which == "reverse" else "_[:0]", node, _=name), env)


def is_start(args: list[ast.expr]) -> bool:
    """Tell whether a method is called with the variable that counts the elements that a list has lost."""
    return any(hasattr(arg, "is_start") for arg in args)


#: The methods that leave no new elements in a list.
REARRANGED = frozenset(("sort", "reverse", "clear"))
#: The numbers of arguments of the methods that add elements.
COUNTS = {"append": 1, "extend": 1, "insert": 2}


@with_lets
def inserted(p: Parser, array: Term, at: Term, value: Term) -> Term:
    """Give an array with an additional element before an index, which is clipped as Python clips it."""
    j, xs, value, at = p.fresh("j", INT), p.bound("xs", array), p.bound("v", value), p.bound("at", at)
    from_end = Op("imax", (Op("iadd", (at, Size(xs)), INT), lit(0)), INT)
    at = p.bound("place", If(Op("lt", (at, lit(0)), BOOL), from_end, Op("imin", (at, Size(xs)), INT)))
    moved = If(Op("eq", (j, at), BOOL), value, Index(xs, Op("isub", (j, lit(1)), INT)))
    return Build(Op("iadd", (Size(xs), lit(1)), INT), j, If(Op("lt", (j, at), BOOL), Index(xs, j), moved))


@with_lets
def popped(
    p: Parser, node: ast.stmt, name: str, args: list[ast.expr], env: Env, then: Callable[[Term, Env], Term]
) -> Term:
    """``x = ys.pop()``, ``x = ys.pop(i)``: an element, and the array without it; an index out of range raises."""
    array = env.get(name)
    no_other_keywords(p, node.value, ())  # type: ignore[attr-defined]
    if isinstance(array, Term) and dicts.is_dict(array):
        own_or_refuse(p, node, name)
        old, fewer = dicts.popped(p, node, array, args, env)
        if old.type == NEVER:
            return old
        return p.grammar.bind(p, name, fewer, env, lambda env: then(old, env))
    if not isinstance(array, Var) or not isinstance(array.type, Array) or len(args) > 1:
        p.error(node, "pop is not in the language here", "pop from a list that the program has made")
    p.no_array(load(name, node))
    own_or_refuse(p, node, name)
    is_last = not args or ast.unparse(args[0]) == "-1"
    at = p.bound("at", lit(-1) if is_last else p.coerce(args[0], expression(p, args[0], env), INT))
    popped, j = p.bound("popped", Index(array, at)), p.fresh("j", INT)
    if is_start(args):
        return then(popped, env)
    if is_last:
        return p.grammar.bind(p, name, written.without_last(array, j), env, lambda env: then(popped, env))
    return p.grammar.bind(p, name, without(p, array, at), env, lambda env: then(popped, env))


@with_lets
def without(p: Parser, array: Term, at: Term) -> Term:
    """Give an array without the element at an index in range."""
    at, j = p.bound("place", wrapped(at, array)), p.fresh("j", INT)
    body = If(Op("lt", (j, at), BOOL), Index(array, j), Index(array, Op("iadd", (j, lit(1)), INT)))
    return Build(Op("isub", (Size(array), lit(1)), INT), j, body)


def with_empty(p: Parser, read: Callable[[], Term], then: Callable[[Term], Term], of: Type = NEVER) -> Term:
    """Assign a value with empty lists: later statements determine the type of their elements; by default floats.

    They are read with an unknown type, also in the functions that get the lists, until something determines it. `of` is
    what is known of it.
    """
    term = read_with(p, read, of)
    if with_elements(term.type) == term.type:
        return then(term)
    unknown = Named(f"elements of a list, {next(NUMBERS)}")
    trial = read_with(p, read, known_better(of, unknown))
    if trial.type == term.type:  # the empty lists are those of other statements
        return then(term)
    programs = dict(p.programs)
    found = decided_by(then, trial, unknown)
    p.programs = programs
    if has_part(found, unknown) or show(of).count("[") > NESTED:
        p.error(p.tree, "a list that holds itself, or lists whose types grow", "annotate the variable")
    return with_empty(p, read, then, known_better(of, found))


def decided_by(then: Callable[[Term], Term], trial: Term, unknown: Named) -> Type:
    """Read later statements until they determine an unknown type; floats if none does."""
    UNDECIDED.names.add(unknown.name)
    try:
        then(trial)
    except ProgramError:
        pass
    except Decided as decided:
        if decided.name != unknown.name:
            raise
        return decided.of
    finally:
        UNDECIDED.names.discard(unknown.name)
    return FLOAT


def known_better(of: Type, element: Type) -> Type:
    """Give what is known of the elements of empty lists, after another type has replaced the unknown one."""
    return element if of == NEVER else with_elements(of, element)


def read_with(p: Parser, read: Callable[[], Term], of: Type) -> Term:
    """Read an expression whose empty lists have elements of a type."""
    before, p.of_empty = p.of_empty, of
    try:
        return read()
    finally:
        p.of_empty = before


#: The deepest nesting of empty lists whose types are found.
NESTED = 5
#: Numbers for the names of unknown types.
NUMBERS = itertools.count()


def own_or_refuse(
    p: Parser, node: ast.AST, name: str, target: ast.expr | None = None, *augmented: ast.operator | ast.expr
) -> None:
    """Refuse to change an array to which something else may refer."""
    reason = p.shared.get(name, "the program has not made it")
    other = p.aliases.get((name, node.lineno))  # type: ignore[attr-defined]
    if reason is None and other is None:
        return
    reason = reason or f"{other} is the same array"
    message = f"{name} cannot be changed in place: {reason}"
    if target is None:
        p.error(node, message, f"start with a copy under another name: mine = list({name})")
    p.error(node, message, instead(target, *augmented))  # type: ignore[arg-type]


def instead(target: ast.expr, op: ast.operator | None = None, value: ast.expr | None = None) -> str:
    """Give advice for an assignment to an element or a field."""
    if isinstance(target, ast.Name):
        return f"write {target.id} = {target.id} ... without the ="
    if isinstance(target, ast.Attribute):
        return f"make a new {ast.unparse(target.value)} with the field changed"
    assert isinstance(target, ast.Subscript)
    xs, at = ast.unparse(target.value), ast.unparse(target.slice)
    if isinstance(target.slice, ast.Constant) and isinstance(target.slice.value, str):
        return f"make another dict: {xs} = {{**{xs}, {at}: ...}}"
    if isinstance(op, ast.Add | ast.Sub) and value is not None and not isinstance(target.slice, ast.Slice | ast.Tuple):
        sign = "" if isinstance(op, ast.Add) else "-"
        return f"write {xs} = te.scatter({xs}, [{at}], [{sign}{ast.unparse(value)}])"
    if any(isinstance(n, ast.Slice) or getattr(n, "value", 0) is Ellipsis for n in every_node(target.slice)):
        return f"change a copy of it: {xs} = {xs}.copy()"
    return f"build a new array: {xs} = [... if k == {at} else {xs}[k] for k in range(len({xs}))], or use te.scatter"
