"""How this package stands beside SciPy: what holds no traced value goes to SciPy's own function, whole.

`beside` marks a function of ours with SciPy's name: it differentiates, and SciPy's computes plain values. Where ours
cannot take what it is given, SciPy's raises its own error, or ours says that there is no derivative. `names_of` gives
a module the rest of SciPy's names, which refuse traced values in their arguments and in the callables among them.
"""

import functools
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import Any, NoReturn, TypeVar

import numpy

from tapeengine.errors import TapeEngineError, UnsupportedError
from tapeengine_scipy._callables import holds_traced, plain_values

_Function = TypeVar("_Function", bound=Callable[..., Any])


def theirs_called(function: Callable[..., Any], args: Any, keywords: Any) -> Any:
    """Call SciPy's function; objects of this package have a method `of_scipy` that builds SciPy's own."""

    def handed(value: Any) -> Any:
        return value.of_scipy() if hasattr(type(value), "of_scipy") else value

    return function(*map(handed, args), **{name: handed(value) for name, value in keywords.items()})


def _find(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def beside(path: str, *, runs_callables: bool = False) -> Callable[[_Function], _Function]:
    """Mark the function that differentiates SciPy's function at `path`, a name such as ``scipy.linalg.solve``.

    With `runs_callables` the function calls what its users wrote, whose errors pass unchanged and which is not called
    again to see what SciPy raises.
    """

    def decorate(ours: _Function) -> _Function:
        @functools.wraps(ours)
        def called(*args: Any, **keywords: Any) -> Any:
            if not holds_traced(*args, *keywords.values()):
                return theirs_called(_find(path), args, keywords)
            return ours(*args, **keywords) if runs_callables else _tried(path, ours, args, keywords)

        called.__tapeengine_beside__ = path  # type: ignore[attr-defined]
        return called  # type: ignore[return-value]

    return decorate


def _tried(path: str, ours: Callable[..., Any], args: Any, keywords: Any) -> Any:
    try:
        return ours(*args, **keywords)
    except TapeEngineError:
        raise
    except Exception as error:
        still, named = plain_values((args, keywords))
        theirs_called(_find(path), still, named)
        raise UnsupportedError(f"{path} is not differentiated for these arguments ({error})") from error


class Passed:
    """A name of SciPy's that is passed on as it is: a function, class, object or module.

    It does what SciPy's does on plain values, and refuses traced ones.

    Examples
    --------
    >>> import scipy.linalg
    >>> bool(Passed(scipy.linalg.norm, "scipy.linalg.norm")([3.0, 4.0]) == 5.0)
    True
    """

    def __init__(self, theirs: Any, path: str) -> None:
        self.__wrapped__ = theirs
        self.__doc__ = getattr(theirs, "__doc__", None)
        self.__name__ = path.rpartition(".")[2]
        self._path = path

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        """Call SciPy's."""
        refuse_traced(self._path, args, keywords)
        result = theirs_called(self.__wrapped__, args, keywords)
        return Passed(result, self._path) if "frozen" in type(result).__name__ else result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return passed(getattr(self.__wrapped__, name), f"{self._path}.{name}")

    def __dir__(self) -> list[str]:
        """Return SciPy's names."""
        return dir(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __instancecheck__(self, instance: Any) -> bool:
        """Whether `instance` is one of the class that is passed on."""
        return isinstance(instance, self.__wrapped__)

    def __subclasscheck__(self, subclass: type) -> bool:
        """Whether `subclass` is derived from the class that is passed on."""
        return issubclass(subclass, self.__wrapped__)

    def __mro_entries__(self, bases: Any) -> tuple[Any, ...]:
        """Return what a class statement derives from."""
        return (self.__wrapped__,)


def refuse_traced(path: str, *values: Any) -> None:
    """Refuse traced values on their way into a function of SciPy's that has no rule."""
    if holds_traced(*values):
        refuse(path)


def refuse(path: str) -> NoReturn:
    """Say that SciPy's function has no rule."""
    raise UnsupportedError(
        f"{path} is not differentiated: it has no derivative rule, so that a traced value in its arguments, or in a "
        "callable among them, would lose its derivative; write it with functions that have rules (docs/scipy.md lists "
        "them), give it rules with te.primitive, or pass te.value(...) if it is a constant"
    )


def passed(theirs: Any, path: str) -> Any:
    """Return an attribute of SciPy's: what can be called refuses traced values, the rest is SciPy's object itself."""
    if isinstance(theirs, type) and issubclass(theirs, BaseException):
        return theirs  # an `except` clause wants the class itself
    if isinstance(theirs, numpy.ufunc):
        return theirs  # dispatches on its arguments
    if callable(theirs) or isinstance(theirs, ModuleType):
        return Passed(theirs, path)
    return theirs


def names_of(path: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module that stands in for SciPy's module at `path`."""

    def get(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return passed(getattr(import_module(path), name), f"{path}.{name}")

    def names() -> list[str]:
        module = import_module(path)
        return sorted({*getattr(module, "__all__", dir(module))})

    return get, names
