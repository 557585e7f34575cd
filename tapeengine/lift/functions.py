"""Twins of single functions and classes: those of `__main__`, of notebooks, and of other functions' bodies.

Their module cannot be imported again, so the function's own code gets other bindings: a namespace in which functions
and classes of the same module are bound to their twins, and modules and builtins to those of the world.
"""

from __future__ import annotations

import builtins
import contextlib
import enum
import functools
import importlib
import operator
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import CellType, FunctionType, MethodType, ModuleType, resolve_bases
from typing import Any, is_typeddict
from weakref import WeakKeyDictionary

import numpy

from .._core.arrays.array import Array
from .._core.programs.callables import Linked, Made, changed, original
from .._core.scalars.scalar import Dual
from ..errors import TWINS
from ..naming import GLOBAL_LOADS, GLOBAL_STORES, named_by, names_in, reached
from ..structure import own_slots, slots_of
from .classes import ORIGINAL
from .compilers import of_compiled
from .modules import replaced_object
from .rewrite import changed_code
from .worlds import NEVER, World
from .wrappers import AS_TWIN, dispatching, memoised, singledispatchmethod

_LRU = type(functools.lru_cache(lambda: None))
_HOOK = "__init_subclass__"
CONTAINERS = (list, tuple, dict)
#: The class of an object as it is, also of an instance of a twin, which says that it is one of the original.
CLASS: Any = vars(object)["__class__"]
#: Values of these classes hold no others.
WITHOUT_PARTS = frozenset((float, int, bool, numpy.ndarray, numpy.float64, Dual, Array))


class Relinked:
    """The twins of one namespace's objects, in one world; they share a namespace; unpickling a twin calls `again`."""

    code_of = staticmethod(changed_code)

    def __init__(self, names: dict[str, Any], world: World, again: Callable[..., Any]) -> None:
        self.there, self.world, self.again = names, world, again
        self.here: dict[str, Any] = {name: replaced_object(value) for name, value in names.items()}
        self.here["__builtins__"] = world.builtins
        self.made: dict[int, tuple[Any, Any]] = {}
        self.functions: WeakKeyDictionary[FunctionType, Any] = WeakKeyDictionary()  # local ones end with their callers
        self.seen: dict[str, Any] = {}
        self.used: list[str] = []
        self.classes: dict[type, type] = {}
        self.outside: list[Any] = []
        self.asking: list[FunctionType] = []  # methods for which twins cannot stand, see `check`

    # -- calls of a twin -------------------------------------------------------------------------------------------
    def entry(self, function: FunctionType, also: tuple[str, ...]) -> Any:
        """The twin of a function; each call checks the present bindings of the module's names."""
        twin = self.twin(function)
        if not isinstance(twin, FunctionType):
            return twin
        own = self.there.get("__name__")
        self.use([n for n, x in self.there.items() if isinstance(x, type) and x.__module__ == own])
        stored = named_by(twin.__code__, GLOBAL_STORES)
        undefined = named_by(twin.__code__, GLOBAL_LOADS).difference(self.there, self.used, vars(builtins))
        self.used += undefined  # as the function's own name, while it is decorated

        run = self.around(twin)

        def around(*args: Any, **options: Any) -> Any:
            try:
                return run(*args, **options)
            finally:
                for name in stored:
                    self.write_back(name)

        linked = Linked(twin, self.again, (function, also), self, around, bool(stored))
        return functools.update_wrapper(linked, function)

    def use(self, names: Iterable[str]) -> None:
        """Bind the names that a function reads, and the names that functions bound in this way read."""
        for name in names:
            if name in self.there and name not in self.seen:
                self.used.append(name)
                self.bind(name)

    def refresh(self) -> None:
        """Bind again the names whose binding has changed since the last call."""
        while (name := changed(self.there, self.seen, self.used)) is not None:
            self.bind(name)

    def bind(self, name: str) -> None:
        """Bind a name to the twin of its present value in the module."""
        if name in self.there:
            self.seen[name] = self.there[name]
            self.here[name] = self.twin(self.there[name])
        else:
            self.seen.pop(name, None)
            self.here.pop(name, None)

    def write_back(self, name: str) -> None:
        """Copy a name that a function has bound to the module."""
        if name in self.here:
            recast([self.here[name]], self.left)
            self.there[name] = self.seen[name] = self.here[name]

    # -- objects ---------------------------------------------------------------------------------------------------
    def twin(self, value: Any) -> Any:
        """The counterpart of a value in lifted code."""
        if isinstance(value, FunctionType):
            found, known = value, self.functions.get(value)
        else:
            found, known = self.made.get(id(value), (None, None))
        if known is not None and found is value:
            return known
        made = self.make(value)
        if made is not value:
            self.keep(value, made)
        return made

    def keep(self, value: Any, made: Any) -> None:
        """Remember the twin of a value; of a function as long as that lives."""
        if isinstance(value, FunctionType):
            self.functions[value] = made
        else:
            self.made[id(value)] = value, made

    def make(self, value: Any) -> Any:
        """Make the twin of a value at its first use."""
        if isinstance(value, FunctionType):
            return self.function(value)
        if isinstance(value, type):
            return self.class_(value)
        if isinstance(value, ModuleType):
            return self.module(value)
        if type(value) is tuple:  # which nothing can change later
            items = tuple(map(self.twin, value))
            return value if all(a is b for a, b in zip(items, value, strict=True)) else items
        if isinstance(value, (staticmethod, classmethod)):
            return type(value)(self.twin(value.__func__))
        if isinstance(value, property):
            return property(self.twin(value.fget), self.twin(value.fset), self.twin(value.fdel), value.__doc__)
        if isinstance(value, functools.partial):
            args = [self.twin(x) for x in value.args]
            return functools.partial(self.twin(value.func), *args, **value.keywords)
        if isinstance(value, functools.singledispatchmethod):
            method = singledispatchmethod(self.twin(value.func))
            method.dispatcher = dispatching(value.dispatcher, self.twin)
            return method
        if isinstance(value, functools.cached_property):
            made = functools.cached_property(self.twin(value.func))
            made.__set_name__(None, value.attrname)  # type: ignore[arg-type]
            return made
        if isinstance(value, MethodType):
            return MethodType(self.twin(value.__func__), self.twin(value.__self__))
        if (made := remade(value, self.twin)) is not None:
            return made
        if (made := of_compiled(value, self.twin)) is not None:
            return made
        if isinstance(value, _LRU):
            return memoised(self.twin(value.__wrapped__), **value.cache_parameters())
        return replaced_object(value)

    def module(self, value: ModuleType) -> ModuleType:
        """The counterpart of a module in the namespace."""
        found = self.world.seen[value.__name__] if value in (importlib, sys) else replaced_object(value)
        if found is value and sys.modules.get(value.__name__) is value and self.world.owns(value.__name__):
            found = self.world.module(value.__name__)
        assert isinstance(found, ModuleType)
        return found

    def elsewhere(self, value: Any) -> Any:
        """The twin of a function or class of another module: from that module's twin, if the world lifts it."""
        name = value.__module__ or ""
        if not name.startswith(TWINS) and name in sys.modules and self.world.owns(name) and name != "__main__":
            found = reached(self.world.module(name), value.__qualname__)
            if found is not None:
                return found
        return replaced_object(value)

    def function(self, value: FunctionType) -> Any:
        """A function with the same code, the twins' namespace, and the twins of its closure."""
        if value.__globals__ is vars(functools) and hasattr(value, "registry"):
            return dispatching(value, self.twin)
        ours = value.__globals__ is self.there
        if not ours and (found := replaced_object(value)) is not value:
            return found
        if not ours and (value.__closure__ is None or value.__globals__.get("__name__", "").startswith(TWINS)):
            return self.elsewhere(value)
        names = self.here if ours else value.__globals__
        cells = value.__closure__ and tuple(cell if holds_data(cell) else CellType() for cell in value.__closure__)
        twin = FunctionType(self.code_of(value) if ours else value.__code__, names, value.__name__, None, cells)
        self.keep(value, twin)  # a function may close over itself
        twin.__defaults__ = value.__defaults__ and tuple(map(self.twin, value.__defaults__))
        twin.__kwdefaults__ = value.__kwdefaults__ and {k: self.twin(v) for k, v in value.__kwdefaults__.items()}
        twin.__qualname__, twin.__module__, twin.__doc__ = value.__qualname__, value.__module__, value.__doc__
        twin.__annotations__ = value.__annotations__
        twin.__dict__.update({name: self.twin(x) for name, x in vars(value).items()})
        for cell, twin_cell in zip(value.__closure__ or (), cells or (), strict=True):
            if twin_cell is not cell:
                twin_cell.cell_contents = self.twin(cell.cell_contents)
        if ours:
            self.use(names_in(value.__code__))
        return twin

    def class_(self, value: type) -> Any:
        """A copy of a class of this namespace with the twins of its methods; the counterpart of another class."""
        if value.__module__ != self.there.get("__name__") or value.__module__ == "builtins":
            return replaced_object(value) if value.__module__ == "builtins" else self.elsewhere(value)
        return self.copied(value)

    def copied(self, value: type) -> Any:
        """A copy of a class of this namespace; a class itself if it must stay unique, or makes dicts."""
        if isinstance(value, enum.EnumType) or issubclass(value, BaseException) or is_typeddict(value):
            return value
        bases = resolve_bases(tuple(original(self.twin(base)) for base in value.__bases__))
        if value in self.classes:  # a method of a base names it
            return self.classes[value]
        hidden = {"__dict__", "__weakref__", *own_slots(value)}
        body = {name: x for name, x in vars(value).items() if name not in hidden}
        told = {name for name, item in body.items() if hasattr(type(item), "__set_name__")}
        own = {"__class__": told_class(value)}
        twin = self.bare(value, bases, {name: x for name, x in body.items() if name not in told} | own)
        type.__setattr__(twin, ORIGINAL, value)
        self.keep(value, twin)
        self.classes[value] = twin
        for name, item in body.items():
            made = self.twin(item)
            if made is not item or name in told:
                type.__setattr__(twin, name, made)
            elif is_data(name, item) and vars(twin).get(name) is item:
                type.__setattr__(twin, name, Shared(value, name))
        return twin

    def bare(self, value: type, bases: tuple[type, ...], body: dict[str, Any]) -> Any:
        """A class, made without the namespace's own code, by which a registry would hear of it a second time."""
        kind: Any = type(value)
        maker = next(cls for cls in kind.__mro__ if cls.__module__ != value.__module__)
        around: set[Any] = {cls for base in bases for cls in base.__mro__ if ORIGINAL in vars(cls)}
        hooks = {cls: vars(cls)[_HOOK] for cls in around if _HOOK in vars(cls)}
        try:
            for cls in hooks:
                type.__setattr__(cls, _HOOK, classmethod(lambda cls: None))
            twin = maker.__new__(seeing(original(self.twin(kind))), value.__name__, bases, body)
        finally:
            for cls, hook in hooks.items():
                type.__setattr__(cls, _HOOK, hook)
        maker.__init__(twin, value.__name__, bases, body)
        return twin

    # -- instances -------------------------------------------------------------------------------------------------
    def around(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """A function whose arguments are instances of twins while it runs, and which leaves no such instances."""

        def inside(*args: Any, **options: Any) -> Any:
            given = [x for x in (*self.outside, *args, *options.values()) if type(x) not in WITHOUT_PARTS]
            if not self.asking and (not given if self.classes else all(map(is_flat, given))):
                result = run(*args, **options)
            else:
                self.check(run, (*args, *options.values()))
                with as_originals(given, self.classes.values()):
                    result = self.held(given, lambda: run(*(constant(x, self.entered) for x in args), **options))
            if not self.classes or type(result) in WITHOUT_PARTS:
                return result
            recast([result], self.left)
            return constant(result, lambda cls: self.left(result))

        return functools.wraps(run)(inside)

    def held(self, given: Sequence[Any], run: Callable[[], Any]) -> Any:
        """Run with instances of twins in the place of instances of classes that have twins."""
        held: list[Any] = []
        try:
            with LOCK:
                held += recast(given, lambda one: self.entered(type(one)))
                HELD.update(map(id, held))
            return run()
        finally:
            with LOCK:
                release(held)
                recast((*held, *(given if self.classes else ())), self.left)

    def check(self, run: Callable[..., Any], given: Sequence[Any]) -> None:
        """Refuse values for which methods of classes that have no twins would do something else."""

    def entered(self, value: type) -> Any:
        """The class of instances of a class while a twin runs."""
        return self.classes.get(value, value)

    def left(self, one: Any) -> type:
        """The class of an object after a twin has run; another run may need it as it is."""
        cls = type(one)
        own = vars(cls).get(ORIGINAL, cls)
        return own if self.classes.get(own) is cls and not HELD[id(one)] else cls


def is_flat(value: Any) -> bool:
    """Whether a value is a list or tuple of numbers and arrays."""
    return type(value) in (list, tuple) and WITHOUT_PARTS.issuperset(map(type, value))


#: How many runs need an object, by its id, as an instance of a twin.
HELD, LOCK = Counter[int](), threading.RLock()


def release(held: Iterable[Any]) -> None:
    """Note that a run has ended which needed these objects."""
    HELD.subtract(map(id, held))
    for key in [id(one) for one in held if HELD[id(one)] <= 0]:
        HELD.pop(key, None)


def recast(values: Iterable[Any], of: Callable[[Any], type]) -> list[Any]:
    """Change the classes of values and of all that they hold; give the instances of twins, or of their originals."""
    pending, seen, found = list(values), dict[int, Any](), list[Any]()
    while pending:
        one = pending.pop()
        cls: Any = type(one)
        if cls in WITHOUT_PARTS or id(one) in seen:
            continue
        holds, is_own = issubclass(cls, CONTAINERS), not is_foreign(cls)  # `isinstance` would run code of a twin
        if not (holds or is_own):
            continue
        seen[id(one)] = one
        if holds:
            parts = one.values() if issubclass(cls, dict) else one
            pending += () if WITHOUT_PARTS.issuperset(map(type, parts)) else parts
        if is_own:
            new = of(one)
            if new is not cls:
                with contextlib.suppress(TypeError):  # of a class of constants, or with a layout of its own
                    CLASS.__set__(one, new)
            if new is not cls or ORIGINAL in vars(cls):
                found.append(one)
            pending += getattr(one, "__dict__", {}).values()
            pending += (getattr(one, name, None) for name in slots_of(cls))
    return found


@functools.lru_cache(maxsize=4096)
def is_foreign(cls: type) -> bool:
    """Whether a class is one of Python, of the engine, or of a library that is never lifted."""
    root = cls.__module__.partition(".")[0]
    return root in NEVER or root in sys.stdlib_module_names or issubclass(cls, type)


@contextlib.contextmanager
def as_originals(values: Iterable[Any], but: Iterable[type] = ()) -> Iterator[tuple[Any, ...]]:
    """Values with instances of the original classes for those of twins, for code that knows no twins `but` its own."""
    before, given, kept = list[tuple[Any, type]](), tuple(values), {*but}

    def original_of(one: Any) -> Any:
        cls = type(one)
        own = cls if cls in kept else vars(cls).get(ORIGINAL, cls)
        if own is not cls:
            before.append((one, cls))
        return own

    try:
        recast(given, original_of)
        yield tuple(constant(x, lambda cls: vars(cls).get(ORIGINAL, cls)) for x in given)
    finally:
        for one, cls in before:
            with contextlib.suppress(TypeError):
                CLASS.__set__(one, cls)


def constant(value: Any, of: Callable[[type], type]) -> Any:
    """A value with another class, if it is an instance of a class of constants, whose class cannot change."""
    return (
        viewed(value, of(type(value)))
        if issubclass(type(value), CONSTANTS[1:]) and of(type(value)) is not type(value)
        else value
    )


def remade(value: Any, twin: Callable[[Any], Any]) -> Any:
    """What a transform such as `tapeengine.grad` makes of the twin of its function; None for other objects."""
    of_class = getattr(type(value), "__tapeengine_made__", None)
    if of_class is None and not isinstance(value, Made):
        return None
    transform, engine = of_class(value) if of_class else (value.make, value.args)
    if type(transform) is not operator.methodcaller:
        return None
    call: Any = transform.__reduce__()
    return call[0](*map(twin, call[1]))(*engine)


def holds_data(cell: CellType) -> bool:
    """Whether a variable of an enclosing function holds data, which has no twin, or nothing yet: both share it."""
    try:
        held = cell.cell_contents
    except ValueError:
        return True
    if callable(held) or isinstance(held, (ModuleType, tuple, property, staticmethod, classmethod)):
        return False
    return replaced_object(held) is held


class Shared:
    """A class's data, such as a counter of its instances, which its twin shares: either may change them."""

    def __init__(self, cls: type, name: str) -> None:
        self.cls, self.name = cls, name

    def __get__(self, instance: Any, owner: Any) -> Any:
        own: type = vars(owner).get(ORIGINAL, self.cls)
        for cls in own.__mro__:  # a subclass may have got the attribute since
            if self.name in vars(cls):
                return vars(cls)[self.name]
        raise AttributeError(f"type object {own.__name__!r} has no attribute {self.name!r}")


def is_data(name: str, item: Any) -> bool:
    """Whether an attribute of a class is neither a method nor of Python's own."""
    return not (hasattr(type(item), "__get__") or isinstance(item, type) or name.startswith("__"))


def told_class(value: type) -> property:
    """The ``__class__`` of instances of a class's twin, which `isinstance` asks for in code that is not lifted."""
    return property(lambda one: type(one) if AS_TWIN.get() else value)


@functools.cache
def seeing(metaclass: Any) -> Any:
    """A metaclass whose classes accept instances of their original classes as their own, and share data with these.

    Attributes of arguments and the content of the module are instances of the original classes. A metaclass that is a
    twin itself learns to do so, so that the classes keep their metaclass.
    """
    check: Callable[[type, Any], bool] = metaclass.__instancecheck__

    def instancecheck(cls: type, value: Any) -> bool:
        own = vars(cls).get(ORIGINAL)
        is_one = check(cls, value)
        if is_one or own is None:
            return is_one
        kind = vars(type(value)).get(ORIGINAL)
        return isinstance(value, own) or (kind is not None and issubclass(kind, own))

    store: Callable[[type, str, Any], None] = metaclass.__setattr__

    def setattribute(cls: type, name: str, value: Any) -> None:
        own, held = vars(cls).get(ORIGINAL), vars(cls).get(name, cls)
        if own is not None and held is cls and is_data(name, value):
            type.__setattr__(cls, name, held := Shared(own, name))
        store(held.cls if isinstance(held, Shared) else cls, name, value)

    methods = {"__instancecheck__": instancecheck, "__setattr__": setattribute}
    if ORIGINAL not in vars(metaclass):
        return type(metaclass.__name__, (metaclass,), methods)
    for name, method in methods.items():
        type.__setattr__(metaclass, name, method)
    return metaclass


#: Immutable classes whose subclasses copy by their constructor.
CONSTANTS = (tuple, str, bytes, int, float, complex, frozenset)


def viewed(value: Any, cls: Any) -> Any:
    """A copy of an instance with another class of the same layout, and with the same attributes.

    An instance of a subclass of a container that can change keeps its class: a copy would not see the changes.
    """
    base = next((base for base in CONSTANTS if isinstance(value, base)), None)
    try:
        made = base.__new__(cls, value) if base else (cls if isinstance(value, BaseException) else object).__new__(cls)
    except TypeError:  # of a container
        return value
    for name in slots_of(cls):
        if hasattr(value, name):
            object.__setattr__(made, name, getattr(value, name))
    if hasattr(value, "__dict__"):
        object.__setattr__(made, "__dict__", value.__dict__)
    return made
