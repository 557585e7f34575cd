"""Scalar operations as text: numpy along axes, plain Python and `math` on single numbers."""

from __future__ import annotations

from collections.abc import Mapping

from ...intermediate.operations import ATOM, Operation

#: The numpy names of operations.
NUMPY: Mapping[str, str] = {
    **{n: f"np.{n}" for n in ("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "expm1", "log1p")},
    **{n: f"np.{n}" for n in ("log2", "log10", "hypot", "isnan", "isfinite", "sign", "cbrt", "exp2", "rint")},
    **{n: f"np.{n}" for n in ("logaddexp", "copysign", "fmod")},
    "abs": "np.abs",
    "asin": "np.arcsin",
    "acos": "np.arccos",
    "atan": "np.arctan",
    "atan2": "np.arctan2",
    "asinh": "np.arcsinh",
    "acosh": "np.arccosh",
    "atanh": "np.arctanh",
    "pow": "np.power",
    "mod": "np.mod",
    "not": "np.logical_not",
    "and": "np.logical_and",
    "imax": "np.maximum",
    "imin": "np.minimum",
    "iabs": "np.abs",
    "maximum": "np.maximum",
    "minimum": "np.minimum",
}
INFIX = frozenset("add sub mul div lt le gt ge eq ne ilt ile igt ige ieq ine iadd isub ifloordiv imod neg ineg".split())
#: Cheap operations that never raise an error, and so may run on elements of branches that are not taken.
SAFE = frozenset("abs sign copysign maximum minimum choose relu step rint".split())


def whole_text(operation: Operation, args: list[str]) -> tuple[str, bool]:
    """Write an operation on arrays; tell whether the text is an atom."""
    if operation.name in INFIX:
        return operation.text.format(*args), False
    if operation.name == "choose" and args[1] == "0.0":
        return f"np.heaviside({args[0]}, 0.5)", True
    function = NUMPY.get(operation.name, f"ops.{operation.name}_")
    return f"{function}({', '.join(args)})", True


def scalar_text(operation: Operation, args: list[str]) -> tuple[str, bool]:
    """Write an operation on numbers; tell whether the text is an atom."""
    if operation.name == "ipow" and not args[1].isdigit():
        return f"ops.whole_power({args[0]}, {args[1]})", True
    return operation.text.format(*args), operation.binds == ATOM
