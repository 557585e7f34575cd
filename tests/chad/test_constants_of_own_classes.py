"""Constants of classes that derive from Python's and numpy's, with operations of their own."""

from collections import Counter, OrderedDict, defaultdict
from typing import Any

import numpy as np
import pytest
from chad.written_functions import run_in

import tapeengine as te


def own(base: type, **methods: Any) -> Any:
    """A class that derives from another one."""
    return type(f"Own{base.__name__}", (base,), methods)


def ten_times(base: type, name: str) -> Any:
    """A class whose method gives ten times what that of the other one gives."""
    return own(base, **{name: lambda self, *args: getattr(base, name)(self, *args) * 10})


HELD = {
    "items": ten_times(list, "__getitem__")([1.0, 2.0]),
    "sized": ten_times(list, "__len__")([1.0, 2.0]),
    "steps": own(list, __iter__=lambda self: iter((7.0, 8.0)))([1.0, 2.0]),
    "pair": ten_times(tuple, "__getitem__")((1.0, 2.0)),
    "table": ten_times(dict, "__getitem__")(a=1.0),
    "keys": own(dict, __contains__=lambda self, key: False)(a=1.0),
    "count": own(int, __radd__=lambda self, other: 10.0 * other)(2),
    "metres": own(float, __rmul__=lambda self, other: 100.0 * other)(2.0),
    "name": own(str, upper=lambda self: "b")("a"),
    "units": np.ones(3).view(own(np.ndarray, __mul__=lambda self, other: np.asarray(self) * other * 1000.0)),
    "matrix": np.matrix([[1.0, 2.0]]),
    "missing": defaultdict(lambda: 4.0, a=1.0),
    "counted": Counter("aab"),
    "ordered": OrderedDict(a=2.0),
}
#: What the functions compute, and the derivative by x at 1.5.
EXPRESSIONS = {
    "x * items[0]": 10.0,
    "x + len(sized)": 1.0,
    "x * sum([v for v in steps])": 15.0,
    "x * pair[1]": 20.0,
    "x * table['a']": 10.0,
    "x * (3.0 if 'a' in keys else 2.0)": 2.0,
    "x * (3.0 if name.upper() == 'A' else 2.0)": 2.0,
    "np.sum(units * x)": 3000.0,
    "x * (matrix * matrix.T)[0, 0]": 5.0,
    "x * missing['b']": 4.0,
    "x * counted['c']": 0.0,
    "x * ordered['a']": 2.0,
    "x * rows[0][0]": 10.0,
    "x * inside['a'][1]": 20.0,
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_its_own_operations_count(expression: str) -> None:
    scope: dict[str, Any] = {
        "__name__": "written",
        "np": np,
        **HELD,
        "rows": [HELD["items"]],
        "inside": {"a": HELD["pair"]},
    }
    run_in(scope, f"def f(x):\n    return {expression}\n")
    value, backpropagator = te.vjp(te.program(scope["f"]), 1.5)
    assert (value, *backpropagator(1.0)) == (scope["f"](1.5), EXPRESSIONS[expression])


@pytest.mark.parametrize("expression", ["c + metres", "c * metres", "c + count"])
def test_numbers_with_operators_of_their_own(expression: str) -> None:
    scope: dict[str, Any] = {"__name__": "written", **HELD}
    run_in(scope, f"def f(x):\n    c = 2.0\n    return x * ({expression})\n")
    value, backpropagator = te.vjp(te.program(scope["f"]), 1.5)
    assert (value, *backpropagator(1.0)) == (scope["f"](1.5), scope["f"](1.0))
