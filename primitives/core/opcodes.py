"""Partials from the opcode table: on float64 a rule computes the same numbers as the core's kernels.

numpy's exponentials and hyperbolic functions differ from C's in the last bit. The kernels for small arrays use the
table's functions, and so does a rule with an opcode, so the result does not depend on which of them runs. The table is
closed under differentiation, so the operations in its partials are primitives with the table's partials.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy

from tapeengine._core.programs.machine import apply_opcode, opcodes
from tapeengine._core.tape.table import OPS
from tapeengine.primitive import Primitive
from tapeengine.primitive.builders import elementwise
from tapeengine.primitive.signatures import parameter_names
from tapeengine.primitive.spaces import is_traced

from .values import is_complex

_ROWS = MappingProxyType({op.name: op for op in OPS})
_DOUBLE = numpy.dtype(float)


def tabled(
    opcode: str, args: tuple[str, ...], partials: tuple[Callable[..., Any] | None, ...]
) -> tuple[Callable[..., Any] | None, ...]:
    """Return partials that use the opcode table on float64 and traced real values, and the given ones otherwise.

    The given ones are faster on plain float32, by numpy's vectorised functions. Their own derivatives would have other
    values at edges than the table's.

    Parameters
    ----------
    opcode : str
    args : tuple of str
        The names of the arguments.
    partials : tuple of callable
        One for each argument; None if it is discrete.
    """
    row = _ROWS[opcode]
    return tuple(
        partial and _both(expression, args, partial)
        for expression, partial in zip((row.da, row.db), partials, strict=False)
    )


def _both(expression: str, args: tuple[str, ...], partial: Callable[..., Any]) -> Callable[..., Any]:
    """A partial as a table's expression and as a rule's function; its parameters are the values that either reads."""
    known = dict.fromkeys((*args, "out"))
    asked = parameter_names("a partial", partial, known, first=0)
    operands = dict(zip(("a", "b", "v"), (*args, "out") if len(args) == 2 else (*args, "", "out"), strict=True))
    read = [operands[letter] for letter in _letters(expression)]
    names = [name for name in known if name in asked or name in read]
    given, needed = ([names.index(name) for name in chosen] for chosen in (asked, read))

    def either(*values: Any) -> Any:
        if all(map(_is_double, values)) or _is_wide(values):
            return _compiled(expression)(*(_number(values[k]) for k in needed))
        return partial(*(values[k] for k in given))

    return _named(either, names)


def _named(function: Callable[..., Any], names: list[str]) -> Callable[..., Any]:
    """A function with named parameters, which say what a rule asks for."""
    listed = ", ".join(names)
    named: Callable[..., Any] = eval(f"lambda {listed}: function({listed})", {"function": function})
    return named


def _letters(expression: str) -> list[str]:
    """The variables in an expression of the table."""
    return [letter for letter in "abv" if re.search(rf"\b{letter}\b", expression)]


@cache
def _compiled(expression: str) -> Callable[..., Any]:
    """An expression of the table as a function of its variables, which divides by 0 as numpy does."""
    calls = {name: operation(name) for name in re.findall(r"(\w+)\(", expression)}
    found: Callable[..., Any] = eval(f"lambda {', '.join(_letters(expression))}: {expression}", calls)

    def computed(*values: Any) -> Any:
        try:
            return found(*values)
        except ZeroDivisionError:  # of a traced number of Python's; what a ufunc gives is numpy's
            return found(*(numpy.multiply(x, 1.0) for x in values))

    return computed if "/" in expression else found


@cache
def operation(name: str) -> Primitive:
    """An operation of the table on float64 arrays."""
    row = _ROWS[name]
    number = opcodes()[name]

    def primal(a: Any, b: Any) -> Any:
        x, y = numpy.broadcast_arrays(numpy.asarray(a, _DOUBLE), numpy.asarray(b, _DOUBLE))
        out = numpy.empty(x.shape)
        apply_opcode(number, x.ravel(), y.ravel(), out.ravel())
        return out[()]

    values = primal if row.db else lambda a: primal(a, a)
    args = ("a", "b")[: row.arity]
    partials = [_own(text, args) for text in (row.da, row.db)[: row.arity]]
    return elementwise(f"tapeengine.{name}", values, *partials, args=args, doc=f"{name} of the opcode table")


def _own(expression: str, args: tuple[str, ...]) -> Callable[..., Any] | None:
    """A partial of an operation of the table, compiled at its first call, since partials call each other."""
    if expression == "0":
        return None
    letters = _letters(expression)
    names = ["out" if letter == "v" else letter for letter in letters]
    return _named(lambda *values: _compiled(expression)(*map(_number, values)), names)


def _is_double(x: Any) -> bool:
    """Whether a value, plain or traced, is float64; Python's numbers are."""
    dtype = getattr(x, "dtype", None)
    return dtype is _DOUBLE or (isinstance(x, (float, int)) if dtype is None else dtype == _DOUBLE)


def _is_wide(values: Sequence[Any]) -> bool:
    """Whether real values, some of them in single precision, are traced, or give a result in double precision."""
    is_wide = any(is_traced(x) or getattr(x, "dtype", None) == _DOUBLE for x in values)
    return is_wide and not any(map(is_complex, values))


def _number(x: Any) -> Any:
    """A value in double precision that divides by 0 as in numpy."""
    if type(x) in (float, int):
        return numpy.float64(x)
    return x if _is_double(x) else x.astype(_DOUBLE)
