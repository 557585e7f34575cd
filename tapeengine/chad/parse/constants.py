"""What a program reads from outside: numbers, lists, arrays, attributes, functions. It is read anew after a change."""

from __future__ import annotations

import ast
import builtins
import contextlib
import dis
import functools
import inspect
import marshal
import textwrap
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy

from ..._core.programs.replay import Checks
from .callees import is_plain
from .texts import MISSING
from .types import class_fields

#: A name, and the attributes to a value.
Path = tuple[str, ...]
ATOMS = (float, int, bool, str, types.NoneType)


class Constants:
    """Notes the values of names when they are read.

    Examples
    --------
    >>> def f(x):
    ...     return rate * x
    >>> constants = Constants()
    >>> f.__globals__["rate"] = [2.0]
    >>> constants.note(f, ("rate",))
    >>> checks = constants.checks()
    >>> f.__globals__["rate"].append(3.0)
    >>> checks.same()
    False
    """

    def __init__(self) -> None:
        self.noted: dict[tuple[Any, Path], Any] = {}

    def note(self, function: Any, path: Path) -> None:
        """Note the value to which a path leads from a function."""
        value = value_at(function, path)
        if not is_fixed(value):
            self.noted.setdefault((function, path), frozen(value))

    def checks(self) -> Checks | None:
        """Give the comparison of the noted values with the present ones; None if nothing was noted."""
        found, names = Checks(), dict[int, tuple[dict[str, Any], list[str]]]()
        for (function, path), saved in self.noted.items():
            space = function.__globals__
            value = space.get(path[0], MISSING)
            is_global = len(path) == 1 and path[0] not in function.__code__.co_freevars
            if is_global and (isinstance(value, ATOMS) or callable(value)):
                names.setdefault(id(space), (space, []))[1].append(path[0])
            else:
                found.add(changed(function, path, saved))
        for space, each in names.values():
            found.add_names(space, each)
        return found if self.noted else None


def changed(function: Any, path: Path, saved: Any) -> Callable[[], bool]:
    """Give a function that tells whether a path leads to another value than before."""
    space, name = function.__globals__, path[0]
    if len(path) == 1 and name in space and name not in function.__code__.co_freevars:
        return lambda: frozen(space.get(name, MISSING)) != saved
    return lambda: frozen(value_at(function, path)) != saved


def value_at(function: Any, path: Path) -> Any:
    """Give the value to which a path leads now."""
    name, *attributes = path
    value = function.__globals__.get(name, getattr(builtins, name, MISSING))
    if name in (*function.__code__.co_varnames, *function.__code__.co_cellvars):
        value = imported(function).get(name, value)
    if name in function.__code__.co_freevars and function.__closure__:
        value = content(function.__closure__[function.__code__.co_freevars.index(name)])
    for attribute in attributes:
        value = getattr(value, attribute, MISSING)
    return value


@functools.lru_cache(maxsize=4096)
def imports(code: types.CodeType) -> tuple[str, ...]:
    """Give the imports in the body of a function, where no statement before them reads what they bind."""
    if all(instruction.opname != "IMPORT_NAME" for instruction in dis.get_instructions(code)):
        return ()
    body = ast.parse(textwrap.dedent(inspect.getsource(code))).body[0].body  # type: ignore[attr-defined]
    found, names = [], set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    for s in body:
        if isinstance(s, ast.Import | ast.ImportFrom) and names.isdisjoint(imported_names(s)):
            found.append(ast.unparse(s))
        names.update(n.id for n in ast.walk(s) if isinstance(n, ast.Name))
    return tuple(found)


def imported_names(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Give the names that an import binds."""
    return {(alias.asname or alias.name).split(".")[0] for alias in node.names}


def imported(function: Any) -> dict[str, Any]:
    """Give what the imports of a function bind."""
    found: dict[str, Any] = {}
    with contextlib.suppress(ImportError):
        exec("\n".join(imports(function.__code__)), {**function.__globals__}, found)
    return found


def path_of(node: ast.AST) -> tuple[str, ...]:
    """Give a name and the attributes after it: ``a.b.c``; what is no name is an empty one."""
    if isinstance(node, ast.Attribute):
        return (*path_of(node.value), node.attr)
    return (node.id if isinstance(node, ast.Name) else "",)


def global_names(code: types.CodeType) -> Iterator[str]:
    """Go through the global names that a function and those inside it load."""
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield instruction.argval
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from global_names(constant)


def content(cell: types.CellType) -> Any:
    """Give what a variable of an enclosing function holds; MISSING before the first assignment."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def is_fixed(value: Any) -> bool:
    """Tell whether programs do not change what a name denotes: a module, a class, a function of a library."""
    if isinstance(value, types.ModuleType | type):
        return True
    return callable(value) and not is_plain(getattr(value, "__tapeengine_function__", value))


#: The depth of a captured value beyond which it is no constant.
DEEPEST = 200


def frozen(value: Any) -> list[Any]:
    """Give what a value is compared by: its contents, down to numbers with their bits; other objects by identity.

    A container that was met before, such as one that contains itself, is compared by the place where it was met.
    """
    found, pending, met = list[Any](), [value], dict[int, tuple[int, Any]]()
    while pending:
        one = pending.pop()
        if id(one) in met:
            found.append(met[id(one)][0])
            continue
        head, parts = taken_apart(one)
        if parts:
            met[id(one)] = (len(found), one)
        found.append(head)
        pending += reversed(parts)
    return found


def is_deep(value: Any) -> bool:
    """Tell whether a value contains itself, or has more than 200 levels.

    Examples
    --------
    >>> around = [1.0]
    >>> around.append(around)
    >>> is_deep(around), is_deep([1.0, (2.0,)])
    (True, False)
    """
    level = {id(value): value}
    for _ in range(DEEPEST):
        level = {id(part): part for one in level.values() for part in parts_of(one)}
    return bool(level)


def parts_of(value: Any) -> Sequence[Any]:
    """Give the keys and values of a dict, the fields of a record, the items of a list or a tuple."""
    kind = type(value)
    if kind is dict:
        return (*value, *value.values())
    return value if kind in (list, tuple) else [getattr(value, name, MISSING) for name in class_fields(kind) or ()]


def taken_apart(value: Any) -> tuple[Any, Sequence[Any]]:
    """Give what says all about a value but its parts, and the parts."""
    kind = type(value)
    if kind in (list, tuple, dict, float):
        try:
            return marshal.dumps(value, 2), ()  # the version that writes equal values in one way
        except ValueError:
            pass
    if isinstance(value, ATOMS):
        return (kind, value), ()
    if isinstance(value, numpy.ndarray) and value.dtype != object:
        return (kind, value.dtype.str, value.shape, value.tobytes()), ()
    if kind in (set, frozenset):
        return (kind, frozenset((type(item), item) for item in value)), ()
    if kind in (list, tuple, dict) or class_fields(kind):
        parts = parts_of(value)
        return (kind, len(parts)), parts
    return Same(value), ()


class Same:
    """Compares an object by identity, and keeps it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    __hash__ = None  # type: ignore[assignment]
