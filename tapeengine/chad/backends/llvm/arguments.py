"""Array arguments in C order: the core copies what has other strides."""

from __future__ import annotations

from ...intermediate.operations import Scalar
from ...intermediate.statements import ArrayOf
from .writer import FRAME, Writer

#: The largest rank of an array argument or result, and the offsets of the parts of a `te_array`; see `machine.h`.
RANK = 8
DATA, SHAPE = 8, 24


def array_in(w: Writer, of: ArrayOf, described: str) -> list[str]:
    """Read an array argument."""
    sizes = [w.op(f"load i64, ptr {w.at(described, SHAPE + 8 * k)}, !range !9") for k in range(of.rank)]
    if not isinstance(of.element, Scalar):  # the core has made it
        return [w.op(f"load ptr, ptr {w.at(described, DATA)}"), *sizes]
    place = w.place("ptr", "data")
    w.check_status(w.op(f"call i32 @te_in_order(ptr %ctx, ptr {described}, ptr {place})"))
    return [w.read("ptr", place, FRAME), *sizes]
