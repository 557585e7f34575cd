"""Find programs that cannot be replayed, and code that computes names, from the names that the code uses.

A replay reports no floating-point errors, of which numpy warns or which it raises, as the program or its caller sets.
So a program that sets this itself, by `numpy.errstate` or filters of warnings, cannot be replayed. Nor can one that
draws random numbers of the system, or of generators that it makes without a seed: they differ in each run.
"""

from __future__ import annotations

import dis
import functools
import inspect
import random
import types
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import module_of
from ..naming import names_in
from ..transforms.captures.program_objects import is_fixed, is_library, is_of_python

_ERRORS = "it handles floating-point errors, which a replay does not report"
_DRAWS = "it draws random numbers of the system: make them an argument"
_WHY = {
    **dict.fromkeys(("errstate", "geterr", "seterr", "seterrcall", "catch_warnings"), _ERRORS),
    **dict.fromkeys(("urandom", "getrandom", "SystemRandom", "secrets", "uuid1", "uuid4"), _DRAWS),
    "__subclasses__": "it asks for the classes derived from one, of which others may be made",
    **dict.fromkeys(("randbelow", "randbits", "token_bytes", "token_hex", "token_urlsafe"), _DRAWS),
}
#: Makers of random generators, which use random numbers of the system if they are called without a seed.
_SEEDED = frozenset(
    ("default_rng", "Random", "RandomState", "SeedSequence", "MT19937", "PCG64", "PCG64DXSM", "SFC64", "Philox")
)
_HIDES = "it captures a function made by numpy.frompyfunc, which does not show what it calls"
_NAMES = frozenset(_WHY)
#: The class of numpy's functions, whose own code traced values do not reach.
_NUMPYS: Any = type(np.sum)
#: Classes that do not prevent a replay, and whose objects lead to functions only by their contents.
_PLAIN = frozenset((types.ModuleType, types.CellType, list, dict, tuple, set, frozenset, np.ndarray, _NUMPYS))
#: Functions that take the name of an attribute as their second argument.
_ACCESS = frozenset(("getattr", "hasattr", "setattr", "delattr"))
#: Names in code that may read any variable of a module.
_VARIABLES = frozenset(("globals", "eval", "exec", "__globals__", "f_globals"))
#: Names in code that may read any attribute.
_COMPUTED = _VARIABLES | {"vars", "dir", "__dict__", "__getattribute__", "attrgetter", "methodcaller", "getmembers"}
_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))


def obstacle_of(captured: Sequence[Any]) -> str:
    """Why captured functions, or functions of the program that these name, cannot be replayed; empty if they can.

    The captured objects are all that `Checks` has found, so what captured code of the program names is among them.
    """
    pending, found = list(captured), set(map(id, captured))
    seen = {id(part.__wrapped__) for part in captured if type(part) is _NUMPYS}
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if type(value) is types.FunctionType:
            why, names = _told_by(value.__code__)
            why = why and f"{why} (in {value.__name__})"
            space = value.__globals__
            if id(value) not in found or is_library(space.get("__name__"), value.__code__.co_filename):
                pending += _named(names, space)
        elif type(value) in _PLAIN:
            continue
        else:
            why = _told_by_class(value, type(value))
            pending += _leading_on(value, type(value))
        if why:
            return why
    return ""


def _told_by_class(value: Any, kind: type) -> str:
    """Why an object cannot be captured."""
    if issubclass(kind, (np.errstate, warnings.catch_warnings)):
        return _ERRORS
    if issubclass(kind, random.SystemRandom):
        return _DRAWS
    return _HIDES if kind is np.ufunc and is_of_python(value) else ""


def _leading_on(value: Any, kind: type) -> list[Any]:
    """The functions of a class, or the class of an object and the function that it wraps."""
    if issubclass(kind, type):
        return _functions_of(value)
    return [] if module_of(kind) == "builtins" else [kind, inspect.getattr_static(value, "__wrapped__", None)]


@functools.lru_cache(maxsize=4096)
def _told_by(code: types.CodeType) -> tuple[str, tuple[str, ...]]:
    """Why code cannot be replayed, and the names that it uses."""
    names = names_in(code)
    why = next((_WHY[name] for name in names if name in _NAMES), "")
    return why or (_DRAWS if not _SEEDED.isdisjoint(names) and _makes_unseeded(code) else ""), names


def _makes_unseeded(code: types.CodeType) -> bool:
    """Whether code calls one of the makers of generators without a seed, or with None."""
    made = False
    for step in dis.get_instructions(code):
        if step.opname.startswith("CALL") and made:
            return True
        if step.opname.startswith("LOAD_") and step.argval is not None:
            made = step.argval in _SEEDED if isinstance(step.argval, str) else False
    return any(_makes_unseeded(inner) for inner in code.co_consts if isinstance(inner, types.CodeType))


def _named(names: tuple[str, ...], space: dict[str, Any]) -> list[Any]:
    """The functions and classes of the program that code names, in its namespace or in modules named there."""
    found, spaces = [], [space]
    for each in spaces:
        for value in map(each.get, names):
            if type(value) is types.ModuleType:
                if not is_fixed(value) and all(vars(value) is not other for other in spaces):
                    spaces.append(vars(value))
            elif callable(value) and not is_fixed(value):
                found.append(value)
    return found


def _functions_of(kind: type) -> list[Any]:
    """The functions that a class of the program and its bases define, also as properties and static methods."""
    parts = [part for base in kind.__mro__ if not is_fixed(base) for part in vars(base).values()]
    parts += [getattr(part, "fget", None) or getattr(part, "func", None) or part for part in parts]
    return [getattr(part, "__func__", part) for part in parts]


def facts_of(code: types.CodeType, module: str | None) -> tuple[tuple[str, ...], bool, bool]:
    """The names that code may look up, whether it may look up any variable of its module, and whether any attribute.

    It may if it computes names, which are then not written in it. Code of libraries looks up none that matters.
    """
    names = () if is_library(module, code.co_filename) else names_in(code, True)
    return names, not _VARIABLES.isdisjoint(names), bool(names) and computes_names(code)


def computes_names(code: types.CodeType) -> bool:
    """Whether code of the program may look up attributes by names that are not written in it."""
    names = names_in(code)
    return not _COMPUTED.isdisjoint(names) or (not _ACCESS.isdisjoint(names) and _accesses(code))


def _accesses(code: types.CodeType) -> bool:
    steps = list(dis.get_instructions(code))
    return any(
        step.opname.startswith("LOAD_") and step.argval in _ACCESS and not _is_written(steps[k:])
        for k, step in enumerate(steps, 1)
    ) or any(_accesses(inner) for inner in code.co_consts if isinstance(inner, types.CodeType))


def _is_written(steps: list[dis.Instruction]) -> bool:
    """Whether the second argument of the function that has just been loaded is a text in the code, without jumps."""
    above, written = 0, False  # the values on the stack above the function
    for step in steps:
        if step.opname in ("PRECALL", "CALL") and above == step.arg:
            return written
        if above < 0 or step.opcode in _JUMPS:
            return False
        before, above = above, above + dis.stack_effect(step.opcode, step.arg, jump=False)
        if above == 2:
            written = before == 1 and step.opname == "LOAD_CONST" and type(step.argval) is str
    return False
