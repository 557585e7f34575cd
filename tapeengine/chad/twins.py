"""Classes in programs that run on dual numbers: copies of them, whose methods are exchanged as functions are.

What the program makes or gets is an instance of such a copy while it runs, and of its own class before and after.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterable, Iterator
from types import FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from .._core.programs.replay import Checks
from ..errors import UnsupportedError
from ..lift.functions import ORIGINAL, Relinked
from ..lift.modules import replaced_object
from ..structure import slots_of
from .ordinary import WITHOUT_PARTS, functions_on_duals, on_duals
from .parse.names.callees import is_plain
from .parse.names.constants import content, global_names, watch


def watched_on_duals(function: Callable[..., Any]) -> tuple[Callable[..., Any] | None, Checks]:
    """Do the same as `on_duals`, with classes; give as well what compares the code and the names of all functions."""
    known, checks = dict[Any, Any](), Checks()
    twins = Twins(function, known)
    made = on_duals(function, known)
    for each in filter(is_plain, known):
        watch(checks, each)
    return None if made is None else twins.around(function, made), checks


class Twins(Relinked):
    """The copies of classes that a program meets.

    * `known`: what stands for functions in them, see `on_duals`.
    * `needed`: whether a class has methods that are exchanged, or names a class that has. The keys of a table outside,
      as in ``AREAS[type(x)]``, stay what they are.
    """

    def __init__(self, function: Callable[..., Any], known: dict[Any, Any]) -> None:
        tables = [x for x in names_of(functions_on_duals(function)) if isinstance(x, dict)]
        self.known, self.needed = known, dict.fromkeys((k for x in tables for k in x if is_class(k)), False)
        self.made, self.functions, self.classes = {}, WeakKeyDictionary(), {}
        known[type] = self.class_

    def around(self, function: Callable[..., Any], made: Callable[..., Any]) -> Callable[..., Any]:
        """Give a function whose arguments are instances of copies while it runs, and whose result is none of these."""

        def run(*args: Any, **named: Any) -> Any:
            given = [x for x in (*args, *named.values()) if type(x) not in WITHOUT_PARTS]
            if not given and not self.classes:
                return made(*args, **named)
            inside = set[int]()  # what an outer run has entered, and leaves
            entered = changed(given, lambda one: self.entered(one, inside))
            try:
                result = made(*args, **named)
                if self.classes:
                    changed((result, *given), lambda one: type(one) if id(one) in inside else self.left(one))
                return result
            finally:
                for one, cls in entered:
                    object.__setattr__(one, "__class__", cls)

        return functools.wraps(made)(run)

    def entered(self, one: Any, inside: set[int]) -> type:
        """The class of an object while the program runs; `inside` notes one that has it already."""
        if self.left(one) is not type(one):
            inside.add(id(one))
        return self.class_(type(one))  # type: ignore[no-any-return]

    def left(self, one: Any) -> type:
        """The class of an object after the program has run."""
        own = vars(type(one)).get(ORIGINAL, type(one))
        return own if self.classes.get(own) is type(one) else type(one)

    def function(self, value: FunctionType) -> Any:
        """A function for dual numbers."""
        return on_duals(value, self.known) or value

    def module(self, value: ModuleType) -> Any:
        """The counterpart of a module."""
        return replaced_object(value)

    def class_(self, value: type) -> Any:
        """A copy of a class of the user's own if it needs one; the class itself otherwise."""
        if value not in self.needed:
            self.needed[value] = is_copied(value)
        return self.classes.get(value) or (self.copied(value) if self.needed[value] else value)


CONTAINERS = (list, tuple, dict)


def needs_copy(cls: type) -> bool:
    """Whether dual numbers run other methods of a class of the user's own, or of one that it names."""
    if ORIGINAL in vars(cls):
        return False
    same: dict[Any, Any] = {type: lambda value: value}
    found = [cls]
    try:
        for each in found:  # which grows
            methods = list(methods_of(each))
            if any((on_duals(m, dict(same)) or m) is not m for m in methods):
                return True
            named = names_of(f for m in methods for f in functions_on_duals(m))
            found += [x for x in dict.fromkeys(filter(is_class, named)) if x not in found]
    except UnsupportedError:  # one changes or looks up names outside
        pass
    return False


def is_copied(cls: type) -> bool:
    """Whether the instances that a program makes or gets become those of a copy of their class."""
    return not issubclass(cls, enum.Enum | BaseException) and needs_copy(cls)


def is_class(value: Any) -> bool:
    """Whether something is a class."""
    return isinstance(value, type)


def changed(values: Iterable[Any], of: Callable[[Any], type]) -> list[tuple[Any, type]]:
    """Change the classes of values and of all that they hold; give what has changed, with the classes before."""
    pending, seen, found = list(values), dict[int, Any](), list[tuple[Any, type]]()
    while pending:
        one = pending.pop()
        cls = type(one)
        if cls in WITHOUT_PARTS or id(one) in seen or (cls.__module__ == "builtins" and cls not in CONTAINERS):
            continue
        seen[id(one)] = one
        if isinstance(one, CONTAINERS):
            parts = one.values() if isinstance(one, dict) else one
            pending += () if WITHOUT_PARTS.issuperset(map(type, parts)) else parts
        if cls not in CONTAINERS and not isinstance(one, type):
            if (new := of(one)) is not cls:
                object.__setattr__(one, "__class__", new)
                found.append((one, cls))
            pending += getattr(one, "__dict__", {}).values()
            pending += (getattr(one, name, None) for name in slots_of(cls))
    return found


def names_of(functions: Iterable[FunctionType]) -> Iterator[Any]:
    """Go through what functions read from outside."""
    for f in functions:
        yield from (f.__globals__.get(name) for name in global_names(f.__code__))
        yield from map(content, f.__closure__ or ())


def methods_of(cls: type) -> Iterator[FunctionType]:
    """Go through the functions of methods, properties, class methods and static methods, also of classes above."""
    for value in (x for c in cls.__mro__ for x in vars(c).values()):
        function = getattr(value, "fget", None) or getattr(value, "__func__", value)
        if is_plain(function):
            yield function
