"""Scalar operations as text: numpy along axes, plain Python and `math` on single numbers."""

from __future__ import annotations

from collections.abc import Mapping

from ...._core.tape.table import ROWS
from ...intermediate.operations import ATOM, LOOPS, Operation

#: The numpy names of operations.
NUMPY: Mapping[str, str] = {
    **{row.name: f"np.{row.ufuncs.split()[0]}" for row in ROWS if row.ufuncs},
    **{n: f"np.{n}" for n in ("isnan", "isfinite", "sign", "rint")},
    "not": "np.logical_not",
    "and": "np.logical_and",
    "imax": "np.maximum",
    "imin": "np.minimum",
    "iabs": "np.abs",
}
INFIX = frozenset("add sub mul div lt le gt ge eq ne ilt ile igt ige ieq ine iadd isub ifloordiv imod neg ineg".split())
#: Cheap operations that never raise an error, and so may run on elements of branches that are not taken.
SAFE = frozenset("abs sign copysign maximum minimum choose relu step rint".split())


def whole_text(operation: Operation, args: list[str], is_value: bool = True) -> tuple[str, bool]:
    """Write an operation on arrays, of a program's value or of its derivative; tell whether the text is an atom."""
    if operation.name in INFIX:
        return operation.text.format(*args), False
    if operation.name == "choose" and args[1] == "0.0":
        return f"np.heaviside({args[0]}, 0.5)", True
    if operation.name in ("hypot", "np.hypot") and not is_value:
        return f"ops.length({', '.join(args)})", True
    if operation.name in LOOPS:
        return operation.text.format(*args), True
    function = NUMPY.get(operation.name, f"ops.{operation.name}_")
    return f"{function}({', '.join(args)})", True


def scalar_text(operation: Operation, args: list[str]) -> tuple[str, bool]:
    """Write an operation on numbers; tell whether the text is an atom."""
    if operation.name == "ipow":
        return f"ops.whole_power({args[0]}, {args[1]})", True
    text = operation.text.format(*args)
    return f"float({text})" if operation.name in LOOPS else text, operation.binds == ATOM
