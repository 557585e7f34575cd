"""The relation of this package to SciPy: calls without traced values go to SciPy's own functions.

`beside` marks a function of this package that has a SciPy name: it handles traced values, SciPy's function plain ones.
If the arguments do not fit, SciPy's function raises its own error, or the error says that there is no derivative.
What is `passed` has no rule, and refuses traced values in arguments and in callables.
"""

import contextlib
import functools
import operator
from collections.abc import Callable
from importlib import import_module
from types import FunctionType, MethodType, ModuleType
from typing import Any, ClassVar, NoReturn, TypeVar

import numpy

from tapeengine.duals import offered
from tapeengine.duals.creation import fresh, is_number
from tapeengine.duals.foreign import replaced, shared
from tapeengine.errors import DroppedDerivativeError, TapeEngineError, UnsupportedError, pass_on
from tapeengine.transforms.derivatives.second_order import live_traces
from tapeengine.transforms.repeated.rerun import REPEATED
from tapeengine_scipy._callables import constant_of, constants, depends, holds_traced, plain_values, refusing_traced
from tapeengine_scipy._making import made_by_scipy

#: What callables of users are; callable objects, such as splines, are data for some functions.
_FUNCTIONS = (FunctionType, MethodType, functools.partial)
_Function = TypeVar("_Function", bound=Callable[..., Any])


def theirs_called(function: Callable[..., Any], args: Any, keywords: Any, path: str | bool = False) -> Any:
    """Call SciPy's function; objects of this package are converted by their method `of_scipy`.

    In a trace, the functions that the function at `path` is given refuse results with traced values that they hide.
    """
    hides, errors = path and live_traces(), list[Exception]()

    def handed(value: Any) -> Any:
        if hasattr(type(value), "of_scipy"):
            return value.of_scipy()
        if type(value) in (list, tuple):
            parts = [*map(handed, value)]
            return value if all(map(operator.is_, parts, value)) else type(value)(parts)
        if hides and isinstance(value, _FUNCTIONS):
            return refusing_traced(value, str(path), DroppedDerivativeError, errors)
        return value

    try:
        return function(*map(handed, args), **{name: handed(value) for name, value in keywords.items()})
    finally:
        if errors:  # also if SciPy raises its own error instead
            raise errors[0]


def settled(args: Any, keywords: Any, kept: bool) -> Any:
    """Arguments that depend on no input, with plain arrays; of those that are `kept`, the memory is watched."""
    change = shared if kept else constant_of
    return replaced(lambda x: change(x) if not is_number(x) else constant_of(x)[()], (args, keywords))


def fresh_of(result: Any) -> Any:
    """A result of SciPy's for arguments that depend on no input: its arrays are writable in the running trace."""
    if type(result) in (list, tuple):
        return type(result)(map(fresh_of, result))
    return fresh(result.copy() if result.base is not None else result) if type(result) is numpy.ndarray else result


def find(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def beside(
    path: str, *, runs_callables: bool = False, differs: bool = False, keeps: bool = False, returns: str = ""
) -> Callable[[_Function], _Function]:
    """Mark the function that differentiates SciPy's function at `path`, a name such as ``scipy.linalg.solve``.

    With `runs_callables`, the function calls user code: its errors pass unchanged, and it is not called again to find
    SciPy's error. If its value `differs` from SciPy's by more than rounding, it also handles plain values in calls that
    run again, because other runs of these have traced ones. SciPy's result `keeps` the memory of arguments, as those of
    its sparse classes. `returns` is for one of several functions with the same code: it gets SciPy's name, and a
    docstring.
    """

    def decorate(ours: _Function) -> _Function:
        @functools.wraps(ours)
        def called(*args: Any, **keywords: Any) -> Any:
            traced = depends(*args, *keywords.values())
            if traced:
                if runs_callables:
                    return ours(*args, **keywords)
                return tried(path, lambda: find(path), ours, args, keywords)
            if differs and REPEATED.calls:
                with contextlib.suppress(UnsupportedError):
                    return ours(*args, **keywords)
            if traced is None:
                return theirs_called(find(path), args, keywords, runs_callables and path)
            args, keywords = settled(args, keywords, keeps)
            return fresh_of(theirs_called(find(path), args, keywords, runs_callables and path))

        if returns:
            called.__name__ = called.__qualname__ = path.rpartition(".")[2]
            called.__doc__ = f"Return {returns}; see `{path}`."
        return called  # type: ignore[return-value]

    return decorate


def tried(path: str, theirs: Callable[[], Any], ours: Callable[..., Any], args: Any, keywords: Any) -> Any:
    """Call a function of this package; if the arguments do not fit, raise the error of SciPy's, which `theirs` gets."""
    try:
        return ours(*args, **keywords)
    except TapeEngineError:
        raise
    except Exception as error:
        pass_on(error)
        still, named = plain_values((args, keywords))
        theirs_called(theirs(), still, named)
        raise UnsupportedError(f"{path} is not differentiated for these arguments ({error})") from error


class Passed:
    """A function, class, object or module of SciPy that is used without change.

    It behaves like SciPy's on plain values, and refuses traced ones.

    Examples
    --------
    >>> import scipy.linalg
    >>> bool(Passed(scipy.linalg.norm, "scipy.linalg.norm")([3.0, 4.0]) == 5.0)
    True
    """

    def __init__(self, theirs: Any, path: str) -> None:
        self.__wrapped__ = theirs
        self.__doc__ = getattr(theirs, "__doc__", None)
        self.__name__ = getattr(theirs, "__name__", path.rpartition(".")[2])
        self.__qualname__ = getattr(theirs, "__qualname__", self.__name__)
        self._path = path

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call SciPy's object; arrays that depend on no input, as those of lifted code, are plain."""
        if holds_traced(args, keywords):
            args, keywords = constants((args, keywords))
            refuse_traced(self._path, args, keywords)
        result = theirs_called(self.__wrapped__, args, keywords, self._path)
        return Passed(result, self._path) if "frozen" in type(result).__name__ else _standing(result)

    def of_scipy(self) -> Any:
        """Return SciPy's object."""
        return self.__wrapped__

    @property
    def __class__(self) -> Any:
        """The class of SciPy's object, if SciPy defines it: functions and classes are not shown as such."""
        kind = type(self.__wrapped__)
        return kind if kind.__module__.startswith("scipy.") else Passed

    def __or__(self, other: Any) -> Any:
        return self.__wrapped__ | other

    def __ror__(self, other: Any) -> Any:
        return other | self.__wrapped__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return passed(getattr(self.__wrapped__, name), f"{self._path}.{name}")

    def __reduce__(self) -> Any:
        return Passed, (self.__wrapped__, self._path)

    def __dir__(self) -> list[str]:
        """Return SciPy's names."""
        return dir(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __instancecheck__(self, instance: Any) -> bool:
        """Whether `instance` is an instance of SciPy's class."""
        return isinstance(instance, self.__wrapped__)

    def __subclasscheck__(self, subclass: type) -> bool:
        """Whether `subclass` is derived from SciPy's class."""
        return issubclass(subclass, self.__wrapped__)

    def __mro_entries__(self, bases: Any) -> tuple[Any, ...]:
        """Return the bases for a class statement."""
        return (self.__wrapped__,)


def method_beside(method: Any) -> Any:
    """A method that handles traced values; SciPy's handles plain ones, and finds the error if arguments do not fit."""

    @functools.wraps(method)
    def called(self: Any, *args: Any, **keywords: Any) -> Any:
        theirs, path = lambda: getattr(self._theirs, method.__name__), f"{self._path}.{method.__name__}"
        if self._takes_plain or self._differs(*args, *keywords.values()):
            return tried(path, theirs, functools.partial(method, self), args, keywords)
        return _standing(theirs_called(theirs(), args, keywords))

    return called


class Counterpart(type):
    """The metaclass of a class in the place of SciPy's class at `path`: what it does not define is SciPy's.

    Instances and subclasses of SciPy's class are instances and subclasses of it. Its methods, and those of a base class
    with an empty path, handle traced values.
    """

    at: ClassVar[dict[str, Any]] = {}

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], path: str | None = None) -> Any:
        if path is not None:
            body = {"_path": path, **body}
            for key, value in body.items():
                if isinstance(value, FunctionType) and (key == "__call__" or not key.startswith("_")):
                    body[key] = method_beside(value)
        made = super().__new__(cls, name, bases, body)
        return cls.at.setdefault(path, made) if path else made

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], path: str | None = None) -> None:
        super().__init__(name, bases, body)

    @property
    def _theirs_of(cls) -> Any:
        """SciPy's class; none for classes that users derive."""
        return find(cls._path) if cls.at.get(cls._path) is cls else ()

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or isinstance(instance, cls._theirs_of)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return super().__subclasscheck__(subclass) or issubclass(subclass, cls._theirs_of)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return passed(getattr(find(cls._path), name), f"{cls._path}.{name}")


class Standing(metaclass=Counterpart):
    """An object in the place of one of SciPy's, with the same data on plain values, which shows that object's class.

    Attributes that are not defined here are SciPy's; they are refused if the object depends on traced values.
    """

    _theirs: Any
    _is_traced: bool = False
    _takes_plain = False  # whether the methods handle plain values as well

    def _stand(self, *args: Any, **keywords: Any) -> bool:
        """Make SciPy's object, which checks the arguments; return whether any of them is traced."""
        self._is_traced = holds_traced(args, keywords)
        self._theirs = (
            made_by_scipy(self._path, args, keywords) if self._is_traced else find(self._path)(*args, **keywords)
        )
        return self._is_traced

    @classmethod
    def around(cls, theirs: Any, **traced: Any) -> Any:
        """Return the object in the place of one of SciPy's, with traced attributes in the place of the plain ones."""
        made = object.__new__(cls)
        vars(made).update(traced, _theirs=theirs, _is_traced=bool(traced))
        return made

    def _differs(self, *values: Any) -> bool:
        """Whether a result is not SciPy's: it depends on traced values."""
        return self._is_traced or holds_traced(*values)

    def of_scipy(self) -> Any:
        """Return SciPy's own object, with plain values, all of which a recording checks from here on."""
        plain_values({name: value for name, value in vars(self).items() if name != "_theirs"})
        return self._theirs

    @property
    def __class__(self) -> Any:
        """The class of SciPy's object."""
        return type(self._theirs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_theirs":  # of an object that is being copied
            raise AttributeError(name)
        found = getattr(self._theirs, name)  # raises AttributeError if SciPy does not have it either
        if self._is_traced and not isinstance(found, (int, str, type(None))) and depends(*vars(self).values()):
            refuse(f"{self._path}.{name}")
        return passed(found, f"{self._path}.{name}")

    def __reduce__(self) -> Any:
        return _restored, (type(self), vars(self))

    def __repr__(self) -> str:
        return repr(self._theirs)


def _restored(kind: type, attributes: dict[str, Any]) -> Any:
    made = object.__new__(kind)
    vars(made).update(attributes)
    return made


def _standing(theirs: Any) -> Any:
    """Return a result of SciPy's, in whose place there may be an object of this package."""
    cls = type(theirs)
    kind = Counterpart.at.get(f"{cls.__module__.partition('._')[0]}.{cls.__qualname__}")
    return kind.around(theirs) if hasattr(kind, "around") else theirs


def around(theirs: Any) -> Any:
    """Return the object of this package in the place of one that SciPy has made; others as they are."""
    module = type(theirs).__module__.partition("._")[0]
    if not module.startswith("scipy.") or isinstance(type(theirs), Counterpart):
        return theirs
    with contextlib.suppress(ModuleNotFoundError):
        ours = import_module(f"tapeengine_{module}")  # which defines its classes
        if "frozen" in type(theirs).__name__ and hasattr(theirs, "kwds"):
            return getattr(ours, theirs.dist.name)(*theirs.args, **theirs.kwds)
    return _standing(theirs)


def refuse_traced(path: str, *values: Any) -> None:
    """Refuse traced values as arguments of a SciPy function without a rule."""
    if holds_traced(*values):
        refuse(path)


#: What has the derivative that a function without a rule has not.
_INSTEAD = {
    "scipy.differentiate": "tapeengine.grad, tapeengine.jacobian or tapeengine.hessian, which are exact and nest",
    "scipy.integrate.complex_ode": "solve_ivp, of real and imaginary parts",
    "scipy.integrate.nsum": "a sum of the terms",
    "scipy.integrate.ode": "solve_ivp",
    "scipy.integrate.tanhsinh": "quad",
    "scipy.optimize.elementwise": "root_scalar or minimize_scalar, for each element",
}


def refuse(path: str) -> NoReturn:
    """Raise the error for a SciPy function without a rule."""
    instead = _INSTEAD.get(path) or _INSTEAD.get(path.rpartition(".")[0]) or "functions that have rules"
    raise UnsupportedError(
        f"{path} is not differentiated: it has no derivative rule, so a traced value in its arguments, or in a "
        f"callable among them, would lose its derivative; write it with {instead} (docs/scipy.md lists what has "
        "rules), give it rules with te.primitive, or pass te.value(...) if it is a constant"
    )


def passed(theirs: Any, path: str) -> Any:
    """Return an attribute of SciPy: callables refuse traced values, other attributes are SciPy's objects."""
    if isinstance(theirs, type) and issubclass(theirs, BaseException):
        return theirs  # an `except` clause needs the class itself
    if isinstance(theirs, numpy.ufunc):
        return offered(theirs)  # it dispatches on its arguments, also on lists
    if callable(theirs) or isinstance(theirs, ModuleType):
        return Passed(theirs, path)
    return theirs
