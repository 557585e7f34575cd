"""Objects by their names: what pickles find under the name of a program, the names that code uses, attributes."""

import functools
import operator
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

#: Instructions that give a global variable, or one of an enclosing function, another value; and that read global ones.
GLOBAL_STORES = frozenset(("STORE_GLOBAL", "DELETE_GLOBAL"))
GLOBAL_LOADS = frozenset(("LOAD_GLOBAL", "LOAD_NAME"))
OUTER_STORES = frozenset(("STORE_DEREF", "DELETE_DEREF"))
#: The functions for the names of methods that are operators.
OPERATIONS = {name: f for name, f in {**vars(operator), "__divmod__": divmod}.items() if callable(f) and name[0] == "_"}
#: Python's numbers, whose operators leave other operands to their classes.
NUMBERS = (float, complex)


def found_as(program: Any) -> Any:
    """Return what a program's module holds under the program's name; None if it holds nothing there."""
    module = sys.modules.get(attribute_of(program, "__module__") or "")
    name = attribute_of(program, "__qualname__")
    return reached(module, name) if isinstance(name, str) else None


def reached(module: Any, name: str) -> Any:
    """Return the object with a qualified name in a module; None if there is none."""
    for part in name.split("."):
        module = getattr(module, part, None)
    return module


def standing_for(
    theirs: Any, here: dict[str, Any], change: Callable[[Any], Any] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` for a module whose other names are those of another one.

    What they stand for, which `change` makes of the other module's objects, gets into the namespace `here` at the first
    use.
    """

    def found(name: str) -> Any:
        value = getattr(theirs, name)
        here[name] = value if change is None else change(value)
        return here[name]

    return found, lambda: dir(theirs)


def named_like(made: Callable[..., Any], there: Any, doc: str | None = None) -> Callable[..., Any]:
    """Give a function the names and, unless it has a text of its own, the documentation of another; return it."""
    made.__name__, made.__qualname__, made.__doc__ = there.__name__, there.__qualname__, doc or there.__doc__
    return made


def wrap(made: Any, function: Any) -> None:
    """Give an object the names and the documentation of what it is made of, and attributes that it has not itself.

    A function may have attributes of any name; other callable objects keep what is theirs.
    """
    name_as(made, function)
    if type(function) is FunctionType:
        own, of_class = vars(made), type(made)
        own.update({name: x for name, x in vars(function).items() if name not in own and not hasattr(of_class, name)})


def name_as(made: Any, function: Any) -> None:
    """Give an object the names and the documentation of a function, which may be an object of any class."""
    read = getattr if type(function) is FunctionType else attribute_of
    for name in functools.WRAPPER_ASSIGNMENTS:
        found = read(function, name, functools)
        if found is not functools:  # a partial function has no name
            setattr(made, name, found)
    made.__wrapped__ = function


def operation_of(name: str) -> Callable[..., Any] | None:
    """The function of a method that is an operator, also of one on the right; None for another method."""
    direct = OPERATIONS.get(name.replace("__r", "__", 1))
    return OPERATIONS.get(name) or (direct and (lambda x, y: direct(y, x)))


def method_of(plain: Any, name: str, stand_ins: dict[Any, Any], classes: frozenset[type]) -> Callable[..., Any]:
    """A method of a class, called by its name there, that takes traced values too; operators also on the right."""
    cls, operation = plain.__objclass__, operation_of(name)

    def method(x: Any, *args: Any, **options: Any) -> Any:
        if operation is not None and not classes.isdisjoint(map(type, (x, *args))):
            if args and cls in NUMBERS and not (type(args[0]) in classes or isinstance(args[0], (cls, float, int))):
                return NotImplemented
            # An instance of a subclass has operators of its own, which may call this method.
            return operation(cls.__pos__(x) if isinstance(x, cls) and type(x) is not cls else x, *args)
        return getattr(x, name)(*args, **options) if type(x) in classes else plain(x, *args, **options)

    method.__objclass__ = stand_ins.get(cls, cls)  # type: ignore[attr-defined]
    return named_like(method, plain)


def new_of(cls: Any, call: Any) -> Callable[..., Any]:
    """``float.__new__(float, x)``, where the class may be given by its stand-in."""

    def new(given: Any, *args: Any, **options: Any) -> Any:
        return call(*args, **options) if given == cls else cls.__new__(given, *args, **options)

    return named_like(new, cls.__new__)


def reduced(made: Any, program: Any, call: Any) -> Any:
    """Return what pickle stores of something made of a program: the name of a decorated function, else a call."""
    return program.__qualname__ if found_as(program) is made else call


@functools.lru_cache(maxsize=4096)
def names_in(code: CodeType, with_texts: bool = False) -> tuple[str, ...]:
    """The names that a function and inner ones may look up, also those in its texts, for `getattr`."""
    found = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found.update(dict.fromkeys(names_in(constant, with_texts)))
        elif with_texts and isinstance(constant, str) and constant.isidentifier():
            found[constant] = None
    return tuple(found)


@functools.lru_cache(maxsize=4096)
def named_by(code: CodeType, steps: frozenset[str]) -> frozenset[str]:
    """The names that some instructions of a function, and of functions inside it, load, assign or delete."""
    import dis

    wanted = {dis.opmap[step] for step in steps}.intersection(code.co_code[::2])  # disassembling takes longer
    found = {step.argval for step in dis.get_instructions(code) if step.opname in steps} if wanted else set[str]()
    return frozenset(found.union(*(named_by(inner, steps) for inner in code.co_consts if isinstance(inner, CodeType))))


def attribute_of(value: Any, name: str, default: Any = None) -> Any:
    """An attribute of an object of any class, also where its ``__getattr__`` raises more than AttributeError.

    Examples
    --------
    >>> class Settings(dict):
    ...     __getattr__ = dict.__getitem__
    >>> attribute_of(Settings(scale=2.0), "scale"), attribute_of(Settings(), "dtype")
    (2.0, None)
    """
    if name.startswith("__tapeengine_") and not hasattr(type(value), name):
        return default  # of an object that has an attribute of every name
    try:
        return getattr(value, name, default)
    except Exception:
        return default
