"""Calls inside programs with arguments that Python refuses: a derivative raises what the program raises."""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import pytest
from chad.written_functions import run_in

import tapeengine as te
from tapeengine.errors import TapeEngineError

TEXT = """
def by_place(a, /, b):
    return a * b

@te.program
def program_of_each(a, /, b, *, c=1.0):
    return a * b * c

@dataclass
class K:
    v: float
    def m(self, x, /):
        return self.v * x

def f(x):
    d = {"a": x}
    ys = [x, 2.0]
    return CALL

def g(x):
    d = {"a": x}
    ys = [x, 2.0]
    y = CALL
    return y * x
"""
#: The calls in the place of the first of each row raise an error; those after it do not.
CALLS = [
    ("by_place(a=x, b=1.0)", "by_place(x, b=1.0)"),
    ("program_of_each(a=x, b=1.0, c=2.0)", "program_of_each(x, b=1.0, c=2.0)"),
    ("program_of_each(x, 1.0, 2.0)", "program_of_each(x, 1.0, c=2.0)"),
    ("K(x).m(x=x)", "K(x).m(x)"),
    ("(lambda a, /, b: a * b)(a=x, b=2.0)", "(lambda a, /, b: a * b)(x, b=2.0)"),
    ("round(x, 1, 2)", "round(number=x, ndigits=1)"),
    ("max(x, 2.0, default=1.0)", "max([x, 2.0], default=1.0)"),
    ("min(x, 2.0, default=1.0)", "min([x, 2.0], default=1.0)"),
    ("sum(range(1, 5, 2, 1)) * x", "sum(range(1, 5, 2)) * x"),
    ("sum([k for k in range()]) * x", "sum([k for k in range(3)]) * x"),
    ("sum([x for k, y in enumerate(ys, 0, 1)])", "sum([x * k for k, y in enumerate(ys, start=1)])"),
    ("sum(ys, 1.0, 2.0)", "sum(ys, start=1.0)"),
    ("len(ys, 1) * x", "len(ys) * x"),
    ("abs(x, 1)", "abs(x)"),
    ("sorted(ys, 1)[0]", "sorted(ys, reverse=True)[0]"),
    ("d.get('b', default=1.0)", "d.get('b', 1.0)"),
    ("d.get('a', default=1.0)", "d.get('a', 1.0)"),
    ("d.pop('a', default=1.0)", "d.pop('a', 1.0)"),
    ("ys.pop(index=0)", "ys.pop(0)"),
    ("isinstance(x, 'float') * x", "isinstance(x, float) * x"),
    ("isinstance(x, (int, 'float')) * x", "isinstance(x, (int, float)) * x"),
    ("isinstance(x, float, int) * x", "isinstance(x, float | int) * x"),
    ("math.isclose(x, 1.0, rel_tol=-1.0) * x", "math.isclose(x, 1.0, rel_tol=0.0) * x"),
    ("math.isclose(x, 1.0, abs_tol=-1.0) * x", "math.isclose(x, 1.0, abs_tol=1.0) * x"),
    ("math.isclose(x, 1.0, 0.1) * x", "math.isclose(x, 1.0) * x"),
    ("math.sqrt(x, 1.0)", "math.sqrt(x)"),
    ("math.pow(x)", "math.pow(x, 2.0)"),
]


def outcome(run: Any) -> Any:
    """The value, or the class of the error."""
    try:
        return run()
    except TapeEngineError:
        raise
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("wrong, right", CALLS)
def test_a_derivative_raises_what_python_raises(wrong: str, right: str) -> None:
    for call, is_wrong in ((wrong, True), (right, False)):
        scope: dict[str, Any] = {"__name__": "written", "dataclass": dataclass, "math": math, "te": te}
        run_in(scope, TEXT.replace("CALL", call))
        for f in (scope["f"], scope["g"]):
            want = outcome(lambda f=f: f(1.5))
            assert isinstance(want, type) is is_wrong
            assert outcome(lambda f=f: te.vjp(te.program(f), 1.5)[0]) == want


@pytest.mark.parametrize("named", [{"c": 1.0}, {"a": 1.0}, {"scale": 2.0, "of": 3.0}])
def test_errors_of_calls_by_name_are_pythons(named: dict[str, float]) -> None:
    def weighted(a, b=2.0, *, scale=1.0):
        return a * b * scale

    program = te.program(weighted)
    for call in (te.grad(program), program.value, lambda *args, **names: te.vjp(program, *args, **names)):
        with pytest.raises(TypeError) as found:
            call(1.5, **named)
        with pytest.raises(TypeError) as expected:
            weighted(1.5, **named)
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("names", [*itertools.product(("place", "name", "none"), repeat=3)])
def test_a_program_takes_arguments_as_the_function_does(names: tuple[str, ...]) -> None:
    def weighted(a, /, b=2.0, *, scale=1.0):
        return a * b * scale

    program, given = te.program(weighted), dict(zip(("a", "b", "scale"), names, strict=True))
    args = [1.5 for way in names if way == "place"]
    named = {name: 2.5 for name, way in given.items() if way == "name"}
    want = outcome(lambda: weighted(*args, **named))
    for _ in range(2):
        assert outcome(lambda: program.value(*args, **named)) == want
        assert outcome(lambda: te.vjp(lambda x, *xs: x + program(*xs, **named), 0.0, *args)[0]) == want


@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("count", [0, 1])
def test_errors_of_calls_with_too_few_arguments_are_pythons(declared: bool, count: int) -> None:
    def weighted(a, b, scale=1.0):
        return a * b * scale

    def typed(a: float, b: float, scale: float = 1.0) -> float:
        return a * b * scale

    f = typed if declared else weighted
    program, args = te.program(f), (1.5,) * count
    with pytest.raises(TypeError) as expected:
        f(*args)
    calls = (program.value, lambda *args: te.vjp(program, *args), lambda *args: te.jvp(program, args, args))
    for call in calls:
        with pytest.raises(TypeError) as found:
            call(*args)
        assert str(found.value) == str(expected.value)
