"""`te.vmap` and `te.iterate` of a program, and its `value`, run the program: the Python function is not called.

Where the language does not take the program, or it changes its arguments, the plain function computes them, with
its errors.
"""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import pytest

import tapeengine as te


class Pair(NamedTuple):
    x: float
    y: float


def annotated(x: float, a: float) -> float:
    return a * x * x + math.sin(x)


def unannotated(x, a):
    s = 0
    for i in range(3):
        s = s + x * a if i > 1 else s + x / (i + 1)
    return s


def of_rows(x: te.Vec, a: float) -> te.Vec:
    return np.array([a * v + sum(x) for v in x])


def of_pairs(x: float, a: float) -> Pair:
    return Pair(x * a, x - a)


def of_lists(x, a):
    ys = [x]
    for _ in range(2):
        ys.append(ys[-1] * a)
    return ys


def of_integers(x, a):
    return round(x) * 2


def with_pole(x, a):
    return math.log(x) if x > 0.5 else a / (x - 0.1)


def not_read(x, a):
    with np.errstate(all="ignore"):
        return np.sqrt(x) * a


def refused(x, a):
    return eval("x * a")


def changing(x: te.Vec, a: float) -> float:
    x[0] = x[0] * a
    return x[0] + x[1]


def step(s: float) -> float:
    return s * 0.9 + math.sin(s)


def step_of_vectors(s):
    return [math.hypot(s[0], s[1]) * 0.7, s[1] * 0.9 + 0.1 * sum(s)]


def step_of_pairs(s: Pair) -> Pair:
    return Pair(s.y, s.x * 0.5 + math.cos(s.y))


NUMBERS, ROWS = np.linspace(0.5, 2.0, 4), np.arange(1.0, 7.0).reshape(3, 2)
MAPPED = {
    annotated: NUMBERS,
    unannotated: NUMBERS,
    of_rows: ROWS,
    of_pairs: NUMBERS,
    of_lists: NUMBERS,
    of_integers: NUMBERS,
    with_pole: NUMBERS,
}
STEPS = {step: 1.0, step_of_vectors: [1.0, 0.5], step_of_pairs: Pair(0.5, 1.5)}


@contextmanager
def counted(function: Callable[..., Any]) -> Iterator[list[int]]:
    """Count the calls of a function's code."""
    calls = [0]

    def called(frame: Any, event: str, _: Any) -> None:
        calls[0] += event == "call" and frame.f_code is function.__code__

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def same(found: Any, expected: Any) -> None:
    """Check that structures have the same classes and, but for rounding, the same numbers."""
    assert type(found) is type(expected)
    if isinstance(found, tuple | list):
        for a, b in zip(found, expected, strict=True):
            same(a, b)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("function", MAPPED, ids=lambda f: f.__name__)
def test_vmap_of_a_program_calls_no_python(function: Callable[..., Any]) -> None:
    mapped, xs = te.vmap(te.program(function), (0, None)), MAPPED[function]
    mapped(xs, 1.5)  # the program is read at its first call
    with counted(function) as calls:
        found = mapped(xs, 1.5)
    assert calls == [0]
    same(found, te.vmap(function, (0, None))(xs, 1.5))


@pytest.mark.parametrize("function", MAPPED, ids=lambda f: f.__name__)
def test_the_value_alone_calls_no_python(function: Callable[..., Any]) -> None:
    program, xs = te.program(function), MAPPED[function]
    x = xs[0] if xs.ndim > 1 else float(xs[0])
    program.value(x, a=1.5)  # the program is read at its first call
    with counted(function) as calls:
        found = program.value(x, a=1.5)
    assert calls == [0]
    same(found, function(x, 1.5))


def test_a_program_that_changes_its_arguments_changes_them_for_its_value_too() -> None:
    given, plain = np.array([2.0, 3.0]), np.array([2.0, 3.0])
    assert te.program(changing).value(given, 1.5) == changing(plain, 1.5)
    np.testing.assert_array_equal(given, plain)


@pytest.mark.parametrize("function", [not_read, refused])
def test_a_program_that_is_not_read_has_the_plain_value(function: Callable[..., Any]) -> None:
    assert te.program(function).value(2.0, 1.5) == function(2.0, 1.5)


def first_row(x: te.Array[te.Vec]) -> te.Vec:
    return x[0]


def itself(x: te.Vec) -> te.Vec:
    return x


@pytest.mark.parametrize(("function", "x"), [(first_row, ROWS), (itself, ROWS[0])])
def test_a_value_shares_no_memory_with_arguments(function: Callable[..., Any], x: Any) -> None:
    found = te.program(function).value(x)
    np.testing.assert_array_equal(found, function(x))
    assert not np.shares_memory(found, x)


def test_the_value_inside_a_derivative_is_differentiated() -> None:
    program = te.program(annotated)
    assert te.grad(lambda x: program.value(x, 1.5))(0.5) == te.grad(program)(0.5, 1.5)


@pytest.mark.parametrize("function", STEPS, ids=lambda f: f.__name__)
def test_iterations_of_a_program_call_no_python(function: Callable[..., Any]) -> None:
    program, start = te.program(function), STEPS[function]
    te.iterate(program, 1, start)
    with counted(function) as calls:
        found = te.iterate(program, 5, start)
        _, back = te.vjp(lambda s: te.iterate(program, 5, s), start)
        cotangents = back(found)
    assert calls == [0]
    same(found, te.iterate(function, 5, start))
    same(cotangents, te.vjp(lambda s: te.iterate(program.python, 5, s), start)[1](found))


@pytest.mark.parametrize("function", [not_read, refused], ids=lambda f: f.__name__)
def test_programs_that_are_not_read_are_mapped_as_python(function: Callable[..., Any]) -> None:
    same(te.vmap(te.program(function), (0, None))(NUMBERS, 1.5), te.vmap(function, (0, None))(NUMBERS, 1.5))


def test_lanes_of_a_program_that_changes_its_argument_change() -> None:
    results = []
    for mapped in (te.vmap(te.program(changing), (0, None)), te.vmap(changing, (0, None))):
        rows = ROWS.copy()
        results.append((mapped(rows, 3.0), rows))
    for found, expected in zip(*results, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_lane_raises_the_error_of_the_function() -> None:
    for function in (with_pole, te.program(with_pole)):
        with pytest.raises(ZeroDivisionError, match="division by zero"):
            te.vmap(function, (0, None))(np.array([1.0, 0.1]), 2.0)


@pytest.mark.parametrize("annotation", ["s: float", "s"])
@pytest.mark.parametrize("used", ["te.iterate(p, 3, 1.0)", "sum(te.vmap(p)(np.array([1.0, 2.0])))", "p(2.0)"])
def test_a_program_that_captures_a_traced_value_runs_on_dual_numbers(used: str, annotation: str, tmp_path: Any) -> None:
    text = (
        "import math\nimport numpy as np\nimport tapeengine as te\n\n\n"
        f"def whole(a, program=te.program):\n    @program\n    def p({annotation}):\n"
        f"        return a * s + te.math.sin(s)\n    return {used}\n"
    )
    path = tmp_path / "captures.py"
    path.write_text(text)
    scope: dict[str, Any] = {"__name__": "captures"}
    exec(compile(text, str(path), "exec"), scope)
    plain = te.value_and_grad(lambda a: scope["whole"](a, lambda f: f))(2.0)
    assert te.value_and_grad(scope["whole"])(2.0) == pytest.approx(plain, rel=1e-15)
