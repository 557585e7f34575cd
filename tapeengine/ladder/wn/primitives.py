"""The built-in functions of the working notes, each with its two passes (WN Fig. 2 and 26).

    function         forward: the value, and the trace        reverse: the cotangents of the arguments
    op(x1, ..., xn)  op(x..), (d1 op(x..), ..., dn op(x..))   (d1 op(x..) * d, ..., dn op(x..) * d)
    v[i]             v[i], (i, the size of v)                 (d at i and 0 elsewhere, 0)
    sum v            the sum, the size of v                   (d, ..., d)
    size v           the size, ()                             0
    dup x            (x, x), ()                               d1 + d2
    elim x           (), ()                                   0
    in_i x           in_i x, ()                               the payload of d

A discrete operation has no partials. Its reverse pass returns None, the zero of any number of arguments.
"""

from __future__ import annotations

from typing import Any

from ...chad.language.terms import Index, Inject, Op, Size, Term, Total
from ...chad.language.traverse import children
from ...chad.language.values import Tagged
from ..operations import DISCRETE, ROWS, partial, value
from ..target import Interface
from . import vectors

NAMES = (*ROWS, *DISCRETE, "index", "total", "size", "dup", "elim", "in0", "in1")


def application(term: Term) -> tuple[str, tuple[Term, ...]] | None:
    """The function that a term applies, and its arguments; None if it is no application."""
    parts = tuple(part for part, _ in children(term))
    match term:
        case Op(name, _) | Interface(name, _):
            return name, parts
        case Index() | Total() | Size():
            return type(term).__name__.lower(), parts
        case Inject(index, _):
            return f"in{index}", parts
    return None


def forward(name: str, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The value, and the data for the reverse pass."""
    match name, args:
        case "index", (array, at):
            return array[at], (range(len(array))[at], len(array))
        case "total", (array,):
            return sum(array), len(array)
        case "size", (array,):
            return len(array), ()
        case "dup", (x,):
            return (x, x), ()
        case "elim", _:
            return (), ()
        case (("in0" | "in1"), (x,)):
            return Tagged(int(name[2:]), x), ()
    if name in DISCRETE:
        return DISCRETE[name](*args), ()
    return value(name, *args), tuple(partial(name, k, args) for k in range(len(args)))


def reverse(name: str, trace: Any, d: Any) -> tuple[Any, ...] | None:
    """The cotangents of the arguments."""
    match name:
        case "index":
            at, size = trace
            return tuple(d if k == at else None for k in range(size)), None
        case "total":
            return ((d,) * trace,)
        case "dup":
            return (vectors.add(*vectors.pair(d)),)
        case "in0" | "in1":
            return (d and d.payload,)
    return tuple(vectors.scale(slope, d) for slope in trace) or None
