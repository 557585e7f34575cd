"""Annotated parameters with the default None, which type checkers once read as optional."""

import numpy as np
import pytest
from chad.written_functions import run_in

import tapeengine as te

HEAD = """
import dataclasses
import numpy as np
import tapeengine as te
@dataclasses.dataclass
class A:
    a: float
@dataclasses.dataclass
class B:
    b: float
"""
#: For each annotation the expression that uses an argument, and arguments.
TYPES = {
    "float": ("s * x", [2.0, 3]),
    "int": ("s * x", [2]),
    "bool": ("x * x if s else x", [True, False]),
    "str": ("x * x if s == 'a' else x", ["a", "b"]),
    "list[float]": ("s[0] * x", [[2.0]]),
    "tuple[float, float]": ("s[0] * x + s[1]", [(2.0, 3.0)]),
    "np.ndarray": ("(s * x).sum()", [np.ones(2)]),
    "te.Vec": ("np.sum(s * x)", [np.ones(2)]),
    "A": ("s.a * x", ["A(2.0)"]),
    "A | B": ("(s.a if isinstance(s, A) else s.b * x) * x", ["A(2.0)", "B(3.0)"]),
    "dict": ("s['a'] * x", [{"a": 2.0}]),
}
TESTS = ("3.0 * x if s is None else {}", "{} if s is not None else 3.0 * x")
#: How the parameter stands in the program: of itself, by name only, of a local function.
FORMS = {
    "own": "def f(x: float, s: {of} = None):\n    return {body}\n",
    "text": "def f(x: float, s: '{of}' = None):\n    return {body}\n",
    "by name": "def f(x: float, *, s: {of} = None):\n    return {body}\n",
    "local": (
        "def f(x, {given}):\n    def g(x: float, s: {of} = None):\n        return {body}\n    return g(x) + g(x, {s})\n"
    ),
}


def scope_of(form, of, test, given):
    scope = {"__name__": "written_none"}
    head, s = ("s", "s") if given else ("t=0", "None")
    body = TESTS[test].format(TYPES[of][0])
    run_in(scope, HEAD + FORMS[form].format(of=of, body=body, given=head, s=s))
    return scope


@pytest.mark.parametrize("test", range(len(TESTS)))
@pytest.mark.parametrize("of", TYPES)
@pytest.mark.parametrize("form", FORMS)
def test_value_and_cotangent(form, of, test):
    for arg in (None, *TYPES[of][1]):
        scope = scope_of(form, of, test, arg is not None)
        value = eval(arg, scope) if of.startswith("A") and arg else arg
        args = () if arg is None or form == "by name" else (value,)
        named = {} if arg is None or form != "by name" else {"s": value}
        found, back = te.vjp(te.program(scope["f"]), 1.5, *args, **named)
        assert found == pytest.approx(scope["f"](1.5, *args, **named), rel=1e-15)
        slope = scope["f"](1.5 + 1e-6, *args, **named) - scope["f"](1.5 - 1e-6, *args, **named)
        assert back(1.0)[0] == pytest.approx(slope / 2e-6, rel=1e-8)


@pytest.mark.parametrize("of", TYPES)
def test_a_program_that_calls_one(of):
    for arg in TYPES[of][1]:
        scope = scope_of("own", of, 0, True)
        scope["given"] = eval(arg, scope) if of.startswith("A") else arg
        run_in(scope, "def h(x):\n    return f(x) + f(x, given) + f(x, s=given) + f(x, None)\n")
        found, back = te.vjp(te.program(scope["h"]), 1.5)
        assert found == pytest.approx(scope["h"](1.5), rel=1e-15)
        assert back(1.0)[0] == pytest.approx((scope["h"](1.5 + 1e-6) - scope["h"](1.5 - 1e-6)) / 2e-6, rel=1e-8)
