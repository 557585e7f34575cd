"""The scalar operations of the intermediate form: one record for each, in one table.

A record contains the types of an operation, its function, its text in Python, and its instructions for the register
machine. Real operations are the rows of the opcode table (`tapeengine._core.tape.table`), which also has their
derivatives.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from ..._core.programs.machine import use_loops
from ..._core.tape.table import ROWS
from ...reference.ops import OPERATIONS, value
from ..language.values import same_size


@dataclass(frozen=True)
class Scalar:
    """A type of numbers: ``"real"``, ``"whole"`` or ``"truth"``, and its name in Python and numpy."""

    name: str
    python: str = field(repr=False)


REAL, WHOLE, TRUTH = Scalar("real", "float"), Scalar("whole", "int"), Scalar("truth", "bool")


@dataclass(frozen=True, eq=False)
class Operation:
    """A scalar operation.

    * `compute`: the function on plain values; a real one behaves as in C at a pole.
    * `text`: the text in Python, with ``{0}``, ``{1}`` for the operands; Python raises an error at a pole.
    * `binds`: the precedence of the outermost operator of ``text``; `ATOM` for a call.
    * `machine`: the instructions of the register machine: the operation and the checks after it.
    * `is_total`: whether it is cheap and never raises an error, so that it may be computed early.
    """

    name: str
    takes: tuple[Scalar, ...]
    gives: Scalar
    compute: Callable[..., Any]
    text: str
    binds: int
    machine: tuple[str, ...]
    is_total: bool = False

    @property
    def levels(self) -> tuple[int, ...]:
        """The least precedence of each operand's text without parentheses; comparisons and powers are no chains."""
        if len(self.takes) == 1:
            return (self.binds,)
        return self.binds + (self.gives == TRUTH or self.name == "ipow"), self.binds + 1


ATOM = 9
#: Infix operators by their precedence.
INFIX: Mapping[int, Mapping[str, str]] = {
    1: {"and": "and"},
    3: {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="},
    4: {"add": "+", "sub": "-"},
    5: {"mul": "*", "div": "/", "mod": "%", "ifloordiv": "//"},
    7: {"ipow": "**"},
}
#: Infix and prefix operators with their precedence; operations of integers have those of reals behind an i.
SIGNS: Mapping[str, tuple[str, int]] = {
    **{name: (f"{{0}} {sign} {{1}}", binds) for binds, signs in INFIX.items() for name, sign in signs.items()},
    "neg": ("-{0}", 6),
    "not": ("not {0}", 2),
}
#: The checks of `math` after a function, which raises an error if the value is not finite.
CHECKED: Mapping[str, str] = {
    **dict.fromkeys("sqrt exp log sin cos tan asin acos sinh cosh acosh atanh expm1 log1p log2 log10".split(), "CHECK"),
    **dict.fromkeys(("lgamma", "gamma"), "CHECK"),
    **dict.fromkeys(("fmod", "remainder"), "CHECK_FMOD"),
    "pow": "CHECK_POW",
}
#: Functions that have a number at each number.
UNCHECKED = "cbrt hypot exp2 atan2 logaddexp tanh atan asinh".split()
#: numpy's functions whose last bits differ from those of C, with their opcodes; the machine knows them by their number.
#: A power with one exponent for all elements is another one: numpy has squares and roots of its own.
LOOPS: Mapping[str, str] = {
    **dict.fromkeys(("np.power", "np.power.each"), "pow"),
    **{
        f"np.{name}": row.name
        for row in ROWS
        for name in row.ufuncs.split()
        if row.name in (CHECKED.keys() - {"sqrt", "fmod"}).union(UNCHECKED)
    },
}
use_loops(
    [x for name in LOOPS for f in [getattr(np, name.split(".")[1])] for x in (f, f.types.index("d" * f.nin + "->d"))]
)
#: Real operations that are Python operators and never raise an error.
TOTAL = frozenset(("add", "sub", "mul", "neg"))


def _real(name: str) -> Operation:
    arity = len(OPERATIONS[name].partials)
    machine = {"div": ("DIVIDE",), "mod": ("MODULO",)}.get(name, (name, *([CHECKED[name]] if name in CHECKED else [])))
    text, binds = SIGNS.get(name, (f"{name}({', '.join(['{0}', '{1}'][:arity])})", ATOM))
    return Operation(name, (REAL,) * arity, REAL, lambda *args: value(name, *args), text, binds, machine, name in TOTAL)


def _loop(name: str, opcode: str) -> Operation:
    """Give a function of numpy's, which computes arrays and numbers by the same loop."""
    function, like = getattr(np, name.split(".")[1]), _real(opcode)
    compute = np.errstate(all="ignore")(lambda *args: float(function(*args)))
    text = like.text.replace(opcode, f"np.{function.__name__}", 1)
    return replace(like, name=name, compute=compute, text=text, machine=(name, *like.machine[1:]))


def _discrete(
    name: str,
    takes: tuple[Scalar, ...],
    gives: Scalar,
    compute: Callable[..., Any],
    text: str = "",
    machine: str = "",
    is_total: bool = False,
) -> Operation:
    text, binds = SIGNS.get(name) or SIGNS.get(name.removeprefix("i"), (text, ATOM))
    return Operation(name, takes, gives, compute, text, binds, (machine or name.upper(),), is_total)


def _table() -> Mapping[str, Operation]:
    two, real_two = (WHOLE, WHOLE), (REAL, REAL)
    compare = {n: getattr(operator, n) for n in ("lt", "le", "gt", "ge", "eq", "ne")}
    found = [*map(_real, OPERATIONS), *map(_loop, LOOPS, LOOPS.values())]
    found += [_discrete(n, real_two, TRUTH, f, is_total=True) for n, f in compare.items()]
    found += [_discrete("i" + n, two, TRUTH, f, is_total=True) for n, f in compare.items()]
    found += [
        _discrete("not", (TRUTH,), TRUTH, operator.not_, is_total=True),
        _discrete("and", (TRUTH, TRUTH), TRUTH, lambda a, b: a and b, is_total=True),
        _discrete("iadd", two, WHOLE, operator.add, is_total=True),
        _discrete("isub", two, WHOLE, operator.sub, is_total=True),
        _discrete("imul", two, WHOLE, operator.mul, is_total=True),
        _discrete("ineg", (WHOLE,), WHOLE, operator.neg, is_total=True),
        _discrete("ifloordiv", two, WHOLE, operator.floordiv),
        _discrete("imod", two, WHOLE, operator.mod),
        _discrete("ipow", two, WHOLE, operator.pow),
        _discrete("iabs", (WHOLE,), WHOLE, abs, "abs({0})", is_total=True),
        _discrete("imax", two, WHOLE, max, "max({0}, {1})", is_total=True),
        _discrete("imin", two, WHOLE, min, "min({0}, {1})", is_total=True),
        _discrete("trunc", (REAL,), WHOLE, int, "int({0})"),
        _discrete("floor", (REAL,), WHOLE, math.floor, "floor({0})"),
        _discrete("ceil", (REAL,), WHOLE, math.ceil, "ceil({0})"),
        _discrete("round", (REAL,), WHOLE, round, "round({0})"),
        _discrete("isame", two, WHOLE, min, "min({0}, {1})", "SAME"),
        _discrete("iequal", two, WHOLE, same_size, "iequal({0}, {1})", "SAME"),
        _discrete("real", (WHOLE,), REAL, float, "float({0})", is_total=True),
        _discrete("isnan", (REAL,), TRUTH, math.isnan, "isnan({0})", is_total=True),
        _discrete("isfinite", (REAL,), TRUTH, math.isfinite, "isfinite({0})", is_total=True),
    ]
    return MappingProxyType({o.name: o for o in found})


OPERATIONS_BY_NAME: Mapping[str, Operation] = _table()
BUILTINS = ("abs", "float", "int", "max", "min", "round")
#: The functions that the texts of operations call, by name, except Python's own.
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    called: getattr(math, called, o.compute)
    for o in OPERATIONS_BY_NAME.values()
    if (called := o.text.split("(")[0]).isidentifier() and called not in BUILTINS
}


def operation(name: str, takes: tuple[object, ...] = ()) -> Operation:
    """Find an operation by its name in terms, in which a comparison may also compare whole numbers."""
    found = OPERATIONS_BY_NAME[name]
    if len(takes) == 2 and "i" + name in OPERATIONS_BY_NAME and name in ("lt", "le", "gt", "ge", "eq", "ne"):
        return found if REAL in takes else OPERATIONS_BY_NAME["i" + name]
    return found
