"""What a program reads from outside: values, attributes, code, defaults, classes. It is read anew after a change."""

from __future__ import annotations

import array
import ast
import builtins
import contextlib
import dis
import enum
import functools
import inspect
import marshal
import sys
import textwrap
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any

import numpy

from ...._core.programs.replay import Checks
from ....naming import GLOBAL_LOADS, attribute_of, named_by, names_in
from ....structure import is_made_by_python
from ...language.nodes import every_node
from ...language.signatures import defaults_of, names_of, source_of
from ...language.strangers import is_strange
from .callees import is_plain
from .texts import MISSING
from .types import class_fields

#: A name, and the attributes to a value.
Path = tuple[str, ...]
ATOMS = (float, int, bool, str, types.NoneType)


class Constants:
    """Notes what is looked at while a function is read.

    All names of the function, its code and its defaults are watched, by identity. Contents are noted when they are
    read, and so are the attributes of modules, classes and other objects.
    """

    def __init__(self, function: Any) -> None:
        self.functions = [function]
        self.noted: dict[tuple[Any, Path], Any] = {}
        self.contents: dict[tuple[int, str], tuple[Callable[[], Any], Any]] = {}
        self.owners: dict[int, tuple[Any, set[str]]] = {}

    def note(self, function: Any, path: Path) -> None:
        """Note the value to which a path leads from a function; any value but a container is watched by its name."""
        self.functions.append(function)
        value, is_local = value_at(function, path), path[0] in local_names(function.__code__)
        owner = value_at(function, path[:-1]) if len(path) == 2 and not is_local else None
        if isinstance(owner, types.ModuleType | type):
            self.note_attribute(owner, path[1])
            return
        found, by_name = frozen(value), len(path) == 1 and not is_local
        if not (by_name and is_atom(value)) and not ((by_name or is_local) and is_same(found)):
            self.noted.setdefault((function, path), found)

    def note_attribute(self, owner: Any, name: str) -> None:
        """Note an attribute of a module, a class or another object, which is watched itself."""
        read = functools.partial(getattr, owner, name, MISSING)
        is_stored = isinstance(owner, types.ModuleType | type) and not is_computed(owner, name)
        if is_stored:
            self.owners.setdefault(id(owner), (owner, set()))[1].add(name)
        found = frozen(value := read())
        if not (is_stored and (is_atom(value) or is_same(found))):
            self.contents.setdefault((id(owner), name), (read, found))

    def note_defaults(self, function: Any) -> None:
        """Note the contents of the defaults of a function, if they may change while the function does not."""
        if not all(is_atom(x) or is_same(frozen(x)) for x in defaults_of(function).values()):
            read = functools.partial(defaults_of, function)
            self.contents.setdefault((id(function), ""), (read, frozen(read())))

    def checks(self, classes: Iterable[type] = ()) -> Checks:
        """Give a comparison of the values that were read with the present ones; `classes` are those of records."""
        found, used = Checks(), set[str]()
        for function in {id(f): f for each in self.functions for f in originals(each)}.values():
            watch(found, function, {path[0] for of, path in self.noted if of is function and len(path) == 1})
            used.update(names_in(function.__code__))
        for cls in classes:
            watch_class(found, cls, used)
        for owner, names in self.owners.values():
            kind: Any = type(owner)
            for space in (*owner.__mro__, *kind.__mro__) if isinstance(owner, type) else (vars(owner),):
                if not isinstance(space, type) or is_made_by_python(space):
                    found.add_names(space, names)
        for (function, path), saved in self.noted.items():
            found.add(changed(reader(function, path), saved))
        for read, saved in self.contents.values():
            found.add(changed(read, saved))
        return found


def originals(function: Any) -> Iterator[Any]:
    """Go through a function, and those of whose text it was made."""
    while function is not None:
        yield function
        made_of = getattr(function, "made_of", None)
        function = None if made_of is None else made_of()


def watch(checks: Checks, function: Any, apart: Collection[str] = ()) -> None:
    """Watch the code and the defaults of a function, and the values of its names, except some."""
    names = set(global_names(function.__code__)).difference(apart)
    checks.add_function(function)
    checks.add_names(function.__globals__, names)
    if function.__kwdefaults__:
        checks.add_names(function.__kwdefaults__, names_of(function))
    found = [function.__globals__.get(name) for name in names]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name not in apart:
            checks.add_cell(cell)
            found.append(content(cell))
    for value in found:
        if is_plain(own := attribute_of(value, "__tapeengine_function__", value)):
            checks.add_function(own)


def watch_class(checks: Checks, cls: type, used: Collection[str]) -> None:
    """Watch the operators and constructors of a class, and its methods and properties of the names that are used."""
    for owner in filter(is_made_by_python, cls.__mro__):
        own = {
            name for c in cls.__mro__ for name, value in vars(c).items() if callable(value) or hasattr(value, "__get__")
        }
        checks.add_names(owner, {name for name in own if name in used or name.startswith("__")})
    for made in (getattr(cls, "__init__", None), getattr(cls, "__new__", None)):
        if isinstance(made, types.FunctionType):
            checks.add_function(made)


#: What a class makes one function of, however often it is read.
STORED = (staticmethod, classmethod, types.ClassMethodDescriptorType)


def is_computed(owner: Any, name: str) -> bool:
    """Tell whether a module or a class computes an attribute, so that its namespaces do not show another value."""
    if isinstance(owner, enum.EnumType) and name in owner.__members__:
        return False
    stored = inspect.getattr_static(owner, name, MISSING)
    return getattr(owner, name, MISSING) is not stored and not isinstance(stored, STORED)


def is_atom(value: Any) -> bool:
    """Tell whether a value is one number or text, or None."""
    return isinstance(value, ATOMS)


def changed(read: Callable[[], Any], saved: Any) -> Callable[[], bool]:
    """Give a function that tells whether something would now be read differently."""
    return lambda: frozen(read()) != saved


def reader(function: Any, path: Path) -> Callable[[], Any]:
    """Give a function that reads the value to which a path leads from a function."""
    space, name = function.__globals__, path[0]
    if len(path) == 1 and name in space and name not in function.__code__.co_freevars:
        return functools.partial(space.get, name, MISSING)
    return functools.partial(value_at, function, path)


def value_at(function: Any, path: Path) -> Any:
    """Give the value to which a path leads now."""
    name, *attributes = path
    value = function.__globals__.get(name, getattr(builtins, name, MISSING))
    if name in local_names(function.__code__):
        value = imported(function).get(name, value)
    if name in function.__code__.co_freevars and function.__closure__:
        value = content(function.__closure__[function.__code__.co_freevars.index(name)])
    for attribute in attributes:
        value = getattr(value, attribute, MISSING)
    return value


def local_names(code: types.CodeType) -> tuple[str, ...]:
    """Give the variables of a function, also those that functions inside capture."""
    return (*code.co_varnames, *code.co_cellvars)


@functools.lru_cache(maxsize=4096)
def all_local_names(code: types.CodeType) -> frozenset[str]:
    """Give the variables of a function and of those inside it, without what another of these loads from the module."""
    inside = [each for each in code.co_consts if isinstance(each, types.CodeType)]
    found = frozenset(local_names(code)).union(*map(all_local_names, inside))
    return found - global_names(code) if inside else found


@functools.lru_cache(maxsize=4096)
def imports(code: types.CodeType) -> tuple[str, ...]:
    """Give the imports in the body of a function, where no statement before them reads what they bind."""
    if dis.opmap["IMPORT_NAME"] not in code.co_code[::2]:
        return ()
    body = ast.parse(textwrap.dedent("".join(source_of(code)[0]))).body[0].body  # type: ignore[attr-defined]
    found, names = [], set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    for s in body:
        if isinstance(s, ast.Import | ast.ImportFrom) and names.isdisjoint(imported_names(s)):
            found.append(ast.unparse(s))
        names.update(n.id for n in every_node(s) if isinstance(n, ast.Name))
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
    """Give a name and the attributes after it, ``a.b.c``; an empty name for other expressions."""
    if isinstance(node, ast.Attribute):
        return (*path_of(node.value), node.attr)
    return (node.id if isinstance(node, ast.Name) else "",)


def global_names(code: types.CodeType) -> frozenset[str]:
    """Give the global names that a function and those inside it load."""
    return named_by(code, GLOBAL_LOADS)


def content(cell: types.CellType) -> Any:
    """Give what a variable of an enclosing function holds; MISSING before the first assignment."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


#: The depth beyond which a captured value is not a constant.
DEEPEST = 200


def frozen(value: Any) -> list[Any]:
    """Give what a value is compared by: its contents, down to numbers with their bits; other objects by identity.

    A container that was met before, such as one that contains itself, is compared by the place where it was met.
    """
    found, pending, met = list[Any](), [(value, 0)], dict[int, tuple[int, Any]]()
    while pending:
        one, depth = pending.pop()
        if id(one) in met:
            found.append(met[id(one)][0])
            continue
        head, parts = taken_apart(one, depth < DEEPEST)
        if parts:
            met[id(one)] = (len(found), one)
        found.append(head)
        pending += [(part, depth + 1) for part in reversed(parts)]
    return found


def is_deep(value: Any) -> bool:
    """Tell whether a value contains itself, or has more than 200 levels."""
    level, depth = {id(value): value}, 0
    while level and depth < DEEPEST:
        level, depth = {id(part): part for one in level.values() for part in parts_of(one)}, depth + 1
    return bool(level)


def parts_of(value: Any) -> Sequence[Any]:
    """Give the keys and values of a dict, the fields of a record, the items of a list or a tuple."""
    if isinstance(value, dict):
        return (*value, *value.values())
    fields = class_fields(type(value))
    return list(value) if isinstance(value, list | tuple) else [getattr(value, name, MISSING) for name in fields or ()]


#: The classes of methods of built-in objects; functions of modules are of the first one as well.
METHODS = (types.BuiltinMethodType, types.MethodWrapperType)


def taken_apart(value: Any, may_be_whole: bool) -> tuple[Any, Sequence[Any]]:
    """Give a description of a value without its parts, and the parts; a plain container may have none."""
    kind = type(value)
    if value is sys.modules:  # thousands of parts, which its own comparison takes by identity
        return dict(value), ()
    if kind is float or (may_be_whole and kind in (list, tuple, dict)):
        try:
            return marshal.dumps(value, 2), ()  # the version that writes equal values in one way
        except ValueError:
            pass
    if isinstance(value, ATOMS):
        return (kind, value), ()
    if isinstance(value, numpy.ndarray | numpy.generic) and value.dtype != object:
        return (kind, value.dtype.str, value.shape, value.tobytes()), ()
    if kind is functools.partial:
        return (kind, Same(value.func)), (value.args, value.keywords)
    if kind is types.MethodType:
        return (kind, Same(value.__func__)), (value.__self__,)
    if kind in METHODS and not isinstance(value.__self__, types.ModuleType | None):
        return (kind, value.__name__), (value.__self__,)  # an object of each reading, as numpy.add.reduce
    if kind in (set, frozenset):
        return (kind, frozenset((type(item), item) for item in value)), ()
    if isinstance(value, list | tuple | dict) or class_fields(kind):
        parts = parts_of(value)
        return (kind, len(parts), is_strange(value)), parts
    if isinstance(value, numpy.ndarray | array.array | memoryview):
        return kind, (value.tolist(),)
    return Same(value), ()


def is_same(found: list[Any]) -> bool:
    """Tell whether a value is compared by identity."""
    return isinstance(found[0], Same)


class Same:
    """Compares an object by identity, and keeps it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    __hash__ = None  # type: ignore[assignment]
