"""Classes in programs that run on dual numbers: classes below them, whose methods are exchanged as functions are.

What the program makes or gets is an instance of such a twin while it runs, and of its own class before and after. Code
that is not exchanged sees an instance of the class itself in both.
"""

from __future__ import annotations

import dis
import enum
from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

from .._core.programs.replay import Checks
from ..errors import UnsupportedError
from ..lift.classes import ORIGINAL
from ..lift.functions import CONTAINERS, Relinked, is_foreign, seeing, told_class
from ..lift.modules import replaced_object
from ..naming import names_in
from .language.signatures import by_position
from .ordinary import functions_on_duals, holds_traced, on_duals
from .parse.names.callees import is_plain
from .parse.names.constants import content, global_names, watch
from .parse.names.types import GENERATED


def watched_on_duals(function: Callable[..., Any]) -> tuple[Any, Any, Checks]:
    """Do the same as `on_duals`, with classes; give it by position as well, and what compares all code and names."""
    known, checks = dict[Any, Any](), Checks()
    twins = Twins(function, known)
    made = on_duals(function, known)
    for each in known:
        if is_plain(each):
            watch(checks, each)
        elif isinstance(each, tuple):  # a module, and what functions read of it
            checks.add_names(each[0].__dict__, each[1])
    return twins.around(made), twins.around(by_position(made)), checks


#: Attributes of a class that are not its methods or variables.
HIDDEN = frozenset({"__dict__", "__weakref__", "__class__"})
ASKING = frozenset({"isinstance", "issubclass", "type", "__class__"})
CLASSES = frozenset({"float", "complex", "ndarray", "float64", "complex128", "floating", "inexact"})


class Twins(Relinked):
    """The twins of classes that a program meets.

    * `known`: what stands for functions in them, see `on_duals`.
    * `needed`: whether a class has one. The keys of a table outside, as in ``AREAS[type(x)]``, stay what they are.
    * `asking`: methods of classes that have no twins for which a traced number would be no float.
    """

    def __init__(self, function: Callable[..., Any], known: dict[Any, Any]) -> None:
        self.known, self.needed, self.asking = known, dict[type, bool](), list[FunctionType]()
        self.made, self.functions, self.classes, self.outside = {}, WeakKeyDictionary(), {}, []
        known[type] = self.entered
        self.meet([function])

    def meet(self, functions: Iterable[Any]) -> None:
        """Note the objects that functions read from outside."""
        for found in names_of(f for function in functions for f in functions_on_duals(function)):
            if isinstance(found, dict):
                self.needed.update(dict.fromkeys((key for key in found if isinstance(key, type)), False))
            if isinstance(found, CONTAINERS) or not is_foreign(type(found)):  # type: ignore[arg-type]
                self.outside.append(found)

    def check(self, run: Callable[..., Any], given: Sequence[Any]) -> None:
        """Refuse traced numbers if a method that cannot be exchanged asks for floats."""
        if self.asking and holds_traced(given):
            raise UnsupportedError(
                f"{self.asking[0].__qualname__} asks whether something is a float, and {run.__qualname__} runs on "
                "dual numbers, which are none in methods of exceptions and enumerations: ask for numbers.Real "
                f"(tapeengine.Array for arrays), or lift the function, tapeengine.lift({run.__name__})"
            )

    def function(self, value: FunctionType) -> Any:
        """A function for dual numbers."""
        return on_duals(value, self.known)

    def module(self, value: ModuleType) -> Any:
        """The counterpart of a module."""
        return replaced_object(value)

    def entered(self, value: type) -> Any:
        """The twin of a class of the user's own if it needs one; the class itself otherwise."""
        if value not in self.needed:
            self.needed[value] = is_copied(value)
            methods = list(methods_of(value))
            self.asking += () if self.needed[value] else filter(asks, methods)
            self.meet(methods if self.needed[value] else ())
        return self.classes.get(value) or (self.copied(value) if self.needed[value] else value)

    class_ = entered

    def copied(self, value: type) -> Any:
        """A class below a class, and below the twins of its bases: ``super()`` in a method finds exchanged methods."""
        bases = (value, *(twin for base in value.__bases__ if (twin := self.entered(base)) is not base))
        kind: Any = seeing(type(value))
        named = {"__module__": value.__module__, "__qualname__": value.__qualname__}
        own = {**named, "__slots__": (), "__class__": told_class(value), ORIGINAL: value}
        twin = self.classes[value] = kind(value.__name__, bases, own)
        for name, item in vars(value).items():
            if name not in HIDDEN and (made := self.twin(item)) is not item:
                type.__setattr__(twin, name, made)
        return twin


def is_copied(cls: type) -> bool:
    """Whether dual numbers run other methods of a class, or of one that it names, and its instances can have others."""
    same: dict[Any, Any] = {type: lambda value: value}
    is_own = not (is_foreign(cls) or ORIGINAL in vars(cls) or issubclass(cls, enum.Enum | BaseException))
    found = [cls] if is_own and not registers(cls) else []
    try:
        for each in found:  # which grows
            methods = list(methods_of(each))
            if any(on_duals(m, dict(same)) is not m for m in methods):
                return True
            named = names_of(f for m in methods for f in functions_on_duals(m))
            found += [x for x in dict.fromkeys(x for x in named if isinstance(x, type)) if x not in found]
    except UnsupportedError:  # one changes or looks up names outside
        pass
    return False


def registers(cls: type) -> bool:
    """Whether code of a class hears of classes below it, or names a class to `super`, which would find its twin."""
    hears = type(cls) not in (type, ABCMeta) or is_plain(getattr(cls.__init_subclass__, "__func__", None))
    codes = [m.__code__ for m in methods_of(cls) if m.__code__.co_filename != GENERATED]
    return hears or any("super" in names_in(code) and "__class__" not in code.co_freevars for code in codes)


def asks(function: FunctionType) -> bool:
    """Tell whether a function asks for the class of numbers or arrays."""
    code = function.__code__
    names = names_in(code)
    is_asked = not ASKING.isdisjoint(names) or any(i.opname == "MATCH_CLASS" for i in dis.get_instructions(code))
    return is_asked and not CLASSES.isdisjoint(names)


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
