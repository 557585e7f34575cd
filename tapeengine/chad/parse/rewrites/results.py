"""The kinds of results of functions outside a program, found from their text as those of the program are."""

from __future__ import annotations

import ast
import inspect
import threading
from collections.abc import Mapping
from types import FunctionType, MappingProxyType
from typing import Any

from numpy import ndarray

from ....naming import attribute_of
from ...language.kinds import ANY, ARRAY, COMPUTED, NUMBER, Given, Kind, ListOf, Steps, TupleOf
from ...language.types import BOOL, FLOAT, INT, Array, Fixed, Product, Type
from ..analyses.lists import RESULT, Kinds, Results, parameters_of
from ..names.callees import is_plain, library_name
from ..names.constants import is_deep
from ..names.outside import is_numpy, named_outside, names_outside
from ..names.types import class_fields
from .classes import maker_of
from .procedures import handing_back, text_of

#: The modules whose functions `Kinds` knows by their names.
MODULES = frozenset("builtins _functools functools itertools copy dataclasses math tapeengine".split())
#: The functions that give Python's numbers, besides those of `math`.
PYTHON = frozenset(f"builtins.{name}" for name in ("bool", "isinstance", "all", "any", "len", "int", "float"))


class Together(threading.local):
    """What functions return that depends on no function that is being read; kept while several are read at a time."""

    def __init__(self) -> None:
        self.found: dict[Any, Results] = {}
        self.depth = 0

    def __enter__(self) -> None:
        self.depth += 1

    def __exit__(self, *_: object) -> None:
        self.depth -= 1
        if not self.depth:
            self.found.clear()


TOGETHER = Together()


class Outside:
    """Gives the kinds of what functions return.

    * `outer`: what names denote.
    * `functions`: the functions whose text is being read.
    * `types`: the types of the parameters, where they are known.
    * `classes`: the classes of the records among them.
    * `around`: gives the kinds for the function that calls the last one.
    * `cut`: the places of the functions being read whose results count as unknown, because a function calls them.
    """

    def __init__(
        self,
        outer: Mapping[str, Any],
        functions: tuple[Any, ...] = (),
        types: Mapping[str, Type] | None = None,
        classes: Mapping[str, type] = MappingProxyType({}),
        around: Outside | None = None,
    ) -> None:
        self.outer = outer
        self.functions = functions
        self.types, self.classes = types, classes
        self.around, self.cut = around, set[int]()
        self.found: dict[Any, tuple[Results, set[int]]] = {}
        self.is_numpy = is_numpy(outer)

    def class_at(self, kind: Given) -> type | None:
        """Give the class of the record in a part of an argument; None if it is not a record."""
        of = self.type_of(kind)
        return self.classes.get(of.name) if isinstance(of, Product) else None

    def is_number(self, kind: Given) -> bool:
        """Tell whether a part of an argument is a number."""
        return self.type_of(kind) in (FLOAT, INT, BOOL)

    def lies_in_python(self, kind: Given) -> bool:
        """Tell whether a part of an argument is an element of no array of numpy's."""
        each = [(type_at((self.types or {}).get(n), s[:k])) for n, s in kind.places for k in range(len(s) + 1)]
        is_sure = all(of is not None and getattr(of, "is_list", True) for of in each)
        return is_sure and not (kind.is_mixed or kind.or_list)

    def is_python(self, node: ast.expr) -> bool:
        """Tell whether an expression is a constant, or a call of a function, that is always a number of Python's."""
        found = named_outside(getattr(node, "func", node), self.outer)
        name = library_name(found) if isinstance(node, ast.Call) else ""
        return type(found) in (bool, int, float) or name.startswith("math.") or name in PYTHON

    def python_name(self, call: ast.Call) -> str:
        """Give the name of the function of Python's, or of this package's, that is called; an empty one for others."""
        found = named_outside(call.func, self.outer)
        is_known = str(attribute_of(found, "__module__", "")).partition(".")[0] in MODULES
        return str(getattr(call, "known_as", "") or (is_known and attribute_of(found, "__name__", "")) or "")

    def is_builtin(self, call: ast.Call) -> bool:
        """Tell whether a function is called that has its name in Python."""
        return library_name(named_outside(call.func, self.outer)).startswith("builtins.")

    def is_list(self, kind: Kind) -> bool:
        """Tell whether the annotation or the value of an argument says that a part of it is a list."""
        found = [type_at((self.types or {}).get(n), steps) for n, steps in getattr(kind, "places", ())]
        return bool(found) and all(isinstance(of, Array) and of.is_list for of in found)

    def type_of(self, kind: Given) -> Type | None:
        """Give the type of a part of an argument."""
        found = {type_at((self.types or {}).get(name), steps) for name, steps in kind.places}
        return found.pop() if len(found) == 1 else None

    def of_name(self, name: str) -> Kind:
        """Give the kind of a constant."""
        value = self.outer.get(name)
        return None if is_deep(value) else of_constant(value)

    def of_call(self, function: ast.expr) -> Results:
        """Give the kind of what the function returns that an expression denotes, and its parameters."""
        own = (self.types or {}).get(function.id) if isinstance(function, ast.Name) else None
        found = own.value if isinstance(own, Fixed) else None if own else named_outside(function, self.outer)
        if found is None and isinstance(function, ast.Attribute):
            cls = named_outside(function.value, self.outer)
            return self.of_method(cls, function.attr, is_class=True) if isinstance(cls, type) else NOTHING
        library, _, name = library_name(found).partition(".")
        if library == "math":
            return (COMPUTED if name in ("prod", "sumprod") else NUMBER), ()
        return (ARRAY, ()) if library in ("numpy", "scipy", "tapeengine") else self.of_function(found)

    def of_method(self, cls: Any, name: str, is_class: bool = False) -> Results:
        """Give the same for a method or a property of a class; for one that is called with a record, with ``self``."""
        found = inspect.getattr_static(cls, name, None)
        if isinstance(found, classmethod):
            kind, names = self.of_function(found.__func__, cls)
            return kind, names[1:] if is_class else ("", *names[1:])
        if isinstance(found, staticmethod):
            kind, names = self.of_function(found.__func__)
            return kind, names if is_class else ("", *names)
        return self.of_function(found.fget if isinstance(found, property) else found)

    def only_reads(self, cls: Any, name: str) -> bool:
        """Tell whether a method or a property of a class gives numbers or new arrays, and changes nothing."""
        found = inspect.getattr_static(cls, name, None)
        function = found.fget if isinstance(found, property) else found
        return self.of_method(cls, name)[0] in (COMPUTED, NUMBER) and handing_back(function) is None

    def of_function(self, function: Any, cls: Any = None) -> Results:
        """Give the same for a function or a class."""
        function = attribute_of(function, "__tapeengine_function__", function)
        if not isinstance(function, type | FunctionType):
            return NOTHING
        if (function, cls) in TOGETHER.found:
            return TOGETHER.found[function, cls]
        level: Outside | None = self
        while level is not None and (function, cls) not in level.found:
            level = level.around
        if level is None:
            before, self.cut = self.cut, set()
            found, level = (self.read(function, cls), self.cut), self
            while level.around is not None and len(level.functions) > max(self.cut, default=-1) + 1:
                level = level.around  # where all the functions are being read that it depends on
            level.found[function, cls], self.cut = found, before
        result, cut = level.found[function, cls]
        if TOGETHER.depth and not cut:
            TOGETHER.found[function, cls] = result
        self.cut |= cut
        return result

    def read(self, function: Any, cls: Any) -> Results:
        """Give the same, by the text of a function, or by the fields of a class."""
        if isinstance(function, type):
            maker = maker_of(function)
            return of_record(function) if maker is None else self.read(maker, None)
        if not is_plain(function):
            return NOTHING
        if function in self.functions:  # a recursive call: the paths without it give the kind
            self.cut.add(self.functions.index(function))
            return ANY, ()
        tree = text_of(function)
        if tree is None:
            return NOTHING
        names = parameters_of(tree)
        outer = {**names_outside(function), **({names[0]: cls} if cls else {})}
        inside = Outside(outer, (*self.functions, function), around=self)
        kinds = Kinds(tree, inside)
        self.cut |= inside.cut - {len(self.functions)}
        return kinds.names.get(RESULT), names


#: The kind of a result that the text does not show.
NOTHING: Results = (None, ())


def type_at(of: Type | None, steps: Steps) -> Type | None:
    """Give the type of the part of a value to which steps lead."""
    for step in steps:
        if isinstance(of, Array):
            of = of.element
        elif isinstance(of, Product) and isinstance(step, str):
            of = of.items[of.fields.index(step)] if step in of.fields else None
        elif step is None and isinstance(of, Product) and len(set(of.items)) == 1:
            of = min(of.items, key=lambda part: getattr(part, "is_list", False))
        else:
            items = dict(enumerate(of.items)) if isinstance(of, Product) else {}
            of = items.get(step + len(items) * (step < 0)) if isinstance(step, int) else None
    return of


def of_constant(value: Any) -> Kind:
    """Give the kind of a value from outside that is not deep; None if it is not a constant."""
    if isinstance(value, ndarray):
        return ARRAY
    if isinstance(value, list):
        return ListOf(of_constant(value[0]) if value else None)
    if isinstance(value, tuple | dict):
        items = value.values() if isinstance(value, dict) else value
        names = tuple(value) if isinstance(value, dict) and all(isinstance(k, str) for k in value) else ()
        return TupleOf(tuple(map(of_constant, items)), names)
    names = class_fields(type(value)) or ()
    if not names:
        return None
    return TupleOf(tuple(of_constant(getattr(value, name, None)) for name in names), tuple(names), type(value))


def of_record(cls: Any) -> Results:
    """Give the kind of what a class makes of its arguments, and the names of these."""
    fields = class_fields(cls) or ()
    kind: Kind = TupleOf(tuple(Given(frozenset({(name, ())})) for name in fields), tuple(fields), cls)
    return (kind, tuple(fields)) if class_fields(cls) is not None else NOTHING
