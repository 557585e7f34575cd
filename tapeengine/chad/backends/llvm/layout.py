"""The layout of values of the intermediate form in LLVM's registers and in memory.

A value is one or more *words*. An array is the address of its first element and its sizes, always in C order; an
argument with other strides is copied at the entry. A box is the address of its option number and its fields, with eight
bytes for each word. An array of references contains all their words.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from ...intermediate.analysis import linear
from ...intermediate.operations import REAL, TRUTH, WHOLE, Scalar
from ...intermediate.statements import ArrayOf, BoxOf, Const, Type
from ..machine import NotAssembled

POINTER = "ptr"
SCALARS: Mapping[Type, str] = {REAL: "double", WHOLE: "i64", TRUTH: "i1"}
#: The largest rank of an array argument or result; see `machine.h`.
RANK = 8


def words(of: Type) -> tuple[str, ...]:
    """Give the LLVM types of the words of a value."""
    if isinstance(of, Scalar):
        return (SCALARS[of],)
    return (POINTER, *["i64"] * of.rank) if isinstance(of, ArrayOf) else (POINTER,)


def in_memory(word: str) -> str:
    """Give the LLVM type of a word in memory."""
    return "i8" if word == "i1" else word


def size_of(word: str) -> int:
    """Give the bytes of a word in memory."""
    return 1 if word == "i1" else 8


def stride(element: Type) -> int:
    """Give the bytes from one element of an array to the next."""
    return size_of(SCALARS[element]) if isinstance(element, Scalar) else 8 * len(words(element))


def constant(x: Const) -> list[str]:
    """Give the words of a literal."""
    if x.value is None or not isinstance(x.type, Scalar):
        return ["null" if w == POINTER else "0" for w in words(x.type)]
    if x.type == REAL:
        return ["0x" + struct.pack(">d", x.value).hex().upper()]
    if x.type == TRUTH:
        return ["true" if x.value else "false"]
    if not -(2**63) <= x.value < 2**63:
        raise NotAssembled(f"the literal {x.value} has more than 64 bits")
    return [str(int(x.value))]


def linear_fields(fields: Sequence[Type]) -> list[Type]:
    """Give the fields of the cotangent of a record."""
    return [t for t in map(linear, fields) if t is not None]


def name_of(of: Type) -> str:
    """Give a name for a type, for functions that exist once for each type."""
    match of:
        case ArrayOf(element, rank):
            return f"rows{rank}.{name_of(element)}"
        case BoxOf(name, is_linear):
            return f"{'d' if is_linear else 'box'}.{name}"
        case Scalar(name):
            return name
    return "frames"
