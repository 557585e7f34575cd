"""Parts of expressions whose values are not used: where Python computes them, they raise what Python raises."""

import functools
import itertools
import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import pytest
from chad.written_functions import function_of
from outcomes import outcome

import tapeengine as te


@dataclass
class Box:
    w: float
    v: float = 1.0

    @property
    def half(self):
        return self.w / 2

    @classmethod
    def made(cls, w, v):
        return cls(w, v)


class Pair(NamedTuple):
    p: float
    q: float


def first(a, b=1.0):
    return a


NAMES = {"Box": Box, "Pair": Pair, "first": first, "math": math, "functools": functools, "itertools": itertools}
NAMES |= {"replace": replace}
#: E stands for what raises an error.
EXPRESSIONS = """\
max(xs, default=E)
min((t for t in xs), default=E)
max(xs, key=lambda t: t * t, default=E)
max({"a": x, "b": 2.0 * x}.values(), default=E)
next((t for t in xs if t > 0), E)
next(iter([x, E]))
{"a": x}.get("a", E)
{"a": E}.get("b", x)
Box(x, E).w
Box(E, v=x).v
Box(Box(x, E).w).w
Box.made(x, E).w
Box(x, E).half
replace(Box(x), v=E).w
(Box(x, E) if x < 99 else Box(x)).w
[Box(x, E), Box(x, 1.0)][1].w
Pair(E, x).q
Pair(x, E)._replace(q=x).q
{"a": x, "b": E}["a"]
{"a": Box(x, E)}["a"].w
{"a": {"b": x, "c": E}}["a"]["b"]
{"a": E, **{"a": x}}["a"]
{**{"a": E}, "a": x}["a"]
({"a": E} | {"a": x})["a"]
dict([("a", E), ("b", x)])["b"]
dict(zip(("a", "b"), (E, x)))["b"]
len({"a": E}) * x
("a" in {"a": E}) * x
list({"a": E, "b": x}.values())[1]
np.where(True, x, E)
np.where(x < 9, x, E)
np.select([x < 9], [x], E)
np.choose(0, [x, E])
np.clip(x, -9.0, E + 99)
np.heaviside(1.0, E)
np.sum(xs, initial=E) * 0 + x
np.full(0, E).sum() + x
np.ones_like([x, E])[0] * x
functools.reduce(lambda p, q: q, xs, E)
functools.partial(first, b=E)(x)
list(itertools.accumulate(xs, initial=E))[-1]
first(x, b=E)
(lambda u, w=E: u)(x)
(lambda *r: r[0])(x, E)
(x, E)[0]
[x, E, 2.0][:1][0]
len([E, x]) * x
sum([E] * 0) + x
[x for _ in [E]][0]
1.0 ** E * x
isinstance(E, int) * x""".splitlines()
ERRORS = (
    "math.sqrt(x)",
    "1.0 / (x + 1.0)",
    "xs[int(-4.0 * x)]",
    "max([t for t in xs if t > 9.0 - x], default=x) / (x + 1.0)",
)


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_a_part_that_is_dropped_raises_what_python_raises(text):
    for error in ERRORS:
        expression = text.replace("E", f"({error})")
        for lines in ([f"return {expression}"], [f"y = {expression}", "return x"]):
            function = function_of("x, xs", lines, **NAMES)
            program = te.program(function)
            for x in (-1.0, 0.25):
                wanted = outcome(lambda: function(x, [-1.0, 2.0]))  # noqa: B023
                for found in (
                    outcome(lambda: program.value(x, [-1.0, 2.0])),  # noqa: B023
                    outcome(lambda: te.vjp(program, x, [-1.0, 2.0])[0]),  # noqa: B023
                ):
                    assert type(found) is type(wanted) or not isinstance(wanted, Exception), (expression, found)
                    assert isinstance(wanted, Exception) or found == pytest.approx(wanted, rel=1e-14)
