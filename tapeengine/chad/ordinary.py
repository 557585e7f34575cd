"""A program as ordinary Python that dual numbers can run through: its functions as lifted code.

The functions of `math` and the creation functions of `numpy` take plain numbers only. A program may be written with
them, as its text is read and not run; to run on dual numbers it gets the names and changed code of `tapeengine.lift`.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import itertools
from collections.abc import Callable, Collection, Iterable
from functools import partial
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy
from numpy.lib.array_utils import byte_bounds

from .._core.programs.callables import Memoised
from ..errors import CONTAINS_ITSELF, StructureError, UnsupportedError, class_name
from ..lift.modules import replaced_object
from ..lift.rewrite import changed_code
from ..lift.worlds import names_of_code
from ..lift.wrappers import dispatching
from ..naming import GLOBAL_STORES, OUTER_STORES, named_by, names_in
from ..numpy import asarray
from ..primitive import Primitive, is_traced
from .parse.names.callees import MEMOISED, is_plain
from .parse.names.constants import content, global_names, imports


def on_duals(function: Callable[..., Any], known: dict[Any, Callable[..., Any]] | None = None) -> Callable[..., Any]:
    """Give a function with tapeengine's modules in place of `math` and `numpy`, in the functions that it calls too.

    Parameters
    ----------
    function : callable
        A Python function.
    known : dict, optional
        What stands for functions that are being exchanged; under `type`, what gives the copy of a class.

    Returns
    -------
    callable
        The function itself where it uses neither.
    """
    if not isinstance(function, FunctionType):
        return function
    given, code, builtin = function.__globals__, changed_code(function), names_of_code()
    code = function.__code__ if code == function.__code__ else code
    used = set(global_names(code))
    known = {} if known is None else known
    made: Any = function
    known[function] = lambda *args, **named: made(*args, **named)  # where functions call one another
    known[function].__dict__ = function.__dict__
    outside = {name: given[name] for name in used if name in given}
    names = frozenset(names_in(code))
    exchanged = {n: function if _is_own(v, function) else _named(v, names, known) for n, v in outside.items()}
    named = used.difference(given).intersection(builtin)
    exchanged |= {n: builtin[n] for n in named if builtin[n] is not getattr(builtins, n, None)}
    given_cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells = tuple(c if n == "__class__" else _cell(c, function, known) for n, c in given_cells.items())
    captured = zip(given_cells, cells, given_cells.values(), strict=True)
    own = {name for name, new, old in captured if content(new) is not content(old)}
    given_defaults, given_by_name = function.__defaults__ or (), function.__kwdefaults__ or {}
    defaults = tuple(_exchanged(x, known) for x in given_defaults)
    by_name = {n: _exchanged(x, known) for n, x in given_by_name.items()}
    pairs = zip((*defaults, *by_name.values()), (*given_defaults, *given_by_name.values()), strict=True)
    are_new = any(new is not old for new, old in pairs)
    same = code is function.__code__ and not imports(code) and all(given.get(n) is x for n, x in exchanged.items())
    if same and not own and not are_new:
        return function
    moved = named_by(function.__code__, OUTER_STORES) & own
    moved |= named_by(function.__code__, GLOBAL_STORES) | (named & NAMESPACES)
    if moved:
        what = ", ".join(sorted(moved))
        raise UnsupportedError(
            f"{function.__qualname__} changes or looks up names outside ({what}), and runs on dual numbers, where it "
            "has names of its own: pass values in and return them"
        )

    def importing(name: str, _: Any, *others: Any) -> Any:
        return _named(builtins.__import__(name, given, *others), names, known)

    scope: dict[str, Any] = exchanged
    if changes_names(given):
        scope = Scope({n: builtin[n] for n in named} | {n: x for n, x in exchanged.items() if given.get(n) is not x})
        scope.__missing__ = given.__getitem__
    scope |= {"__builtins__": {**builtin, "__import__": importing}, "__name__": given.get("__name__")}
    made = FunctionType(code, scope, function.__name__, defaults or None, cells)
    for attribute in (*functools.WRAPPER_ASSIGNMENTS, "__dict__"):
        setattr(made, attribute, getattr(function, attribute))
    made.__kwdefaults__ = by_name or None
    for name in used:  # a recursive function calls itself, and not the program of it
        if exchanged.get(name) is function:
            scope[name] = made
    for cell in cells:
        if content(cell) is function:
            cell.cell_contents = made
    return made  # type: ignore[no-any-return]


def changes_names(given: dict[str, Any]) -> bool:
    """Tell whether functions or methods of a module assign its global variables; a copy of these is faster to read."""
    classes = [c for c in given.values() if isinstance(c, type) and c.__module__ == given.get("__name__")]
    return any(
        named_by(f.__code__, GLOBAL_STORES) or not NAMESPACES.isdisjoint(names_in(f.__code__))
        for space in (given, *map(vars, classes))
        for f in list(space.values())
        if isinstance(f, FunctionType) and f.__globals__ is given
    )


class Scope(dict[str, Any]):
    """The names of a function on dual numbers; what is not exchanged has the value that it has in the module now."""

    __slots__ = ("__missing__",)
    __missing__: Callable[[str], Any]


#: Functions that read or change the names of the function that calls them.
NAMESPACES = frozenset({"eval", "exec", "globals"})


def functions_on_duals(function: Callable[..., Any]) -> list[FunctionType]:
    """Give the user's functions that a program on dual numbers runs through: its own and those that they call."""
    known = dict[Any, Any]()
    on_duals(function, known)
    return list(filter(is_plain, known))


#: The classes of most arguments; they hold no other values.
NUMBERS = frozenset({float, int, bool, str, type(None)})


def holds_traced(value: Any) -> bool:
    """Whether a value, or a part of it, belongs to a trace."""
    return first_traced(value) is not None


def first_traced(value: Any) -> Any:
    """A value, or a part of it, that belongs to a trace; None if there is none."""
    pending, seen = [value], dict[int, Any]()
    while pending:
        one = pending.pop()
        if type(one) not in NUMBERS and id(one) not in seen:
            if is_traced(one):
                return one
            seen[id(one)] = one
            pending += parts_of(one)
    return None


def parts_of(value: Any) -> Collection[Any]:
    """The parts of a container or a record in which there may be traced values, or other containers."""
    if isinstance(value, dict):
        value = tuple(value.values())
    elif (
        type(value) is not tuple
        and type(value) is not list
        and dataclasses.is_dataclass(value)
        and not isinstance(value, type)
    ):
        return [getattr(value, field.name, None) for field in dataclasses.fields(value)]
    return () if not isinstance(value, tuple | list) or NUMBERS.issuperset(map(type, value)) else value


def check_trees(values: Iterable[Any]) -> None:
    """Refuse values that contain themselves, of which a derivative would have no end.

    It raises `StructureError` with the name of the class that contains itself.
    """
    pending = [(value, False) for value in values]
    around: set[int] = set()
    while pending:
        one, is_left = pending.pop()
        if is_left:
            around.remove(id(one))
        elif id(one) in around:
            raise StructureError(f"a {class_name(one)}{CONTAINS_ITSELF}")
        elif type(one) not in NUMBERS and (parts := parts_of(one)):
            around.add(id(one))
            pending += [(one, True), *((part, False) for part in parts)]


def check_shared(values: Iterable[Any]) -> None:
    """Refuse arguments of a program that changes one of them, where two are one object or share memory."""
    pending, bounds = [*values], list[tuple[int, int]]()
    for one in pending:
        if isinstance(one, numpy.ndarray):
            bounds.append(byte_bounds(one))
        elif isinstance(one, list | dict) or hasattr(one, "__dataclass_fields__"):
            bounds.append((id(one), id(one) + 1))
        pending += parts_of(one)
    if any(a[1] > b[0] for a, b in itertools.pairwise(sorted(bounds))):
        raise StructureError("arguments share memory, and the program changes one of them: pass copies")


def _exchanged(value: Any, known: dict[Any, Callable[..., Any]]) -> Any:
    """Tapeengine's counterpart of a module, or of a function of one; a plain function exchanged; all else itself."""
    if isinstance(value, FunctionType | MEMOISED) and value in known:
        return known[value]
    if isinstance(value, type) and type in known and value.__module__ != "builtins":
        value = known[type](value)
    if is_plain(value):
        return on_duals(value, known)
    if isinstance(value, MEMOISED) and is_plain(value.__wrapped__):
        return _memoised(value, known)
    if type(value) is partial:
        called = _exchanged(value.func, known)
        return value if called is value.func else partial(called, *value.args, **value.keywords)
    if isinstance(value, FunctionType) and hasattr(value, "registry"):
        return dispatching(value, lambda one: _exchanged(one, known))
    return partial(_with_arrays, value) if isinstance(value, Primitive) else replaced_object(value)


def _named(value: Any, names: frozenset[str], known: dict[Any, Any]) -> Any:
    """The same for what a function names; a module whose functions it reads by these names gives them exchanged."""
    found = _exchanged(value, known)
    if found is not value or not isinstance(value, ModuleType):
        return found
    if (value, names) not in known:
        known[value, names] = made = Exchanging(value, lambda part: _named(part, names, known))
        parts = [(n, x) for n, x in list(vars(value).items()) if n in names]
        others = {n: other for n, x in parts if (other := _named(x, names, known)) is not x}  # modules name one another
        vars(made).update(others)  # what is watched need not be read again
        if not others:
            known[value, names] = value
    return known[value, names]


class Exchanging(ModuleType):
    """A module with other functions."""

    def __init__(self, module: ModuleType, exchanged: Callable[[Any], Any]) -> None:
        vars(self).update(__doc__=module.__doc__, __getattr__=lambda name: exchanged(getattr(module, name)))

    def __setattr__(self, name: str, value: Any) -> None:
        raise UnsupportedError(
            f"{self.__name__}.{name} is assigned in a program that runs on dual numbers, where the functions of the "
            "module have names of their own: pass values in and return them"
        )


def _with_arrays(primitive: Primitive, *args: Any, **options: Any) -> Any:
    """Call a primitive with arrays for lists of traced numbers, which are arrays in the language."""
    return primitive(*(asarray(x) if type(x) is list and holds_traced(x) else x for x in args), **options)


def _memoised(value: Any, known: dict[Any, Callable[..., Any]]) -> Any:
    """A function that uses the memo of another one for plain arguments, and is exchanged for traced ones."""
    made: Any = None
    known[value] = lambda *args, **named: made(*args, **named)
    made = Memoised(on_duals(value.__wrapped__, known), value)
    return made


def _is_own(value: Any, function: Callable[..., Any]) -> bool:
    """Whether a value is a function or the program of it."""
    return value is function or (
        hasattr(type(value), "__tapeengine_function__") and value.__tapeengine_function__ is function
    )


def calls_own_program(function: Callable[..., Any]) -> bool:
    """Whether a function calls itself by the name of its program."""
    outside = [function.__globals__.get(name) for name in global_names(function.__code__)]
    outside += map(content, function.__closure__ or ())
    return any(value is not function and _is_own(value, function) for value in outside)


def _cell(cell: CellType, function: FunctionType, known: dict[Any, Callable[..., Any]]) -> CellType:
    """A captured variable, exchanged, or a copy for the function itself; an empty one stays, to be filled later."""
    value = content(cell)
    found = function if _is_own(value, function) else _named(value, frozenset(names_in(function.__code__)), known)
    return cell if found is value and value is not function else CellType(found)
