"""Statements that raise, leave loops and bind names, and functions that are called without being programs."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from chad.written_functions import Cases
from leaves import numbers

import tapeengine
from tapeengine import chad as te
from tapeengine._core.programs.replay import Checks
from tapeengine.chad.backends.tiers import is_installed
from tapeengine.chad.ordinary import on_duals

ENGINE = tapeengine.Engine()
on = Cases()


class OwnError(Exception):
    """An error of the user's."""


@on(np.array([0.5, 2.0, 3.0]))
@on(np.array([0.5, 0.2]))
def first_or_else(xs: te.Vec) -> float:
    for x in xs:
        if x > 1.0:
            found = x
            break
    else:
        found = 0.25 * xs[0]
    return found * found


@on(3.0, 50)
@on(3.0, 1)
def converges(a: float, n: int) -> float:
    x = a
    for _ in range(n):
        following = 0.5 * (x + a / x)
        if abs(following - x) < 1e-10:
            break
        x = following
    else:
        raise RuntimeError("no convergence")
    return following


@on(5.0)
@on(5000.0)
def while_else(x: float) -> float:
    n = 0
    while x > 1:
        x = x / 2
        n += 1
        if n > 10:
            break
    else:
        x = x * 3
    return x


@on(np.array([1.0, 2.0]))
@on(np.zeros(0))
def last_of_a_loop(xs: te.Vec) -> float:
    for x in xs:
        y = x * x
    return y * 2


@on(2.0, 3)
@on(2.0, 0)
def last_of_two_loops(x: float, n: int) -> float:
    for i in range(n):
        for j in range(2):
            y = x * i + j
    return y * x


@on(np.array([1.0, 2.0]))
@on(np.array([1.0, -2.0]))
def raises_in_a_loop(xs: te.Vec) -> float:
    total = 0.0
    for x in xs:
        if x < 0:
            raise KeyError("negative")
        total += x * x
    return total


@on(2.0)
@on(-0.5)
@on(-2.0)
def raises_its_own(x: float) -> float:
    if x > 0:
        y = x
    elif x < -1:
        raise OwnError("x")
    else:
        y = 2 * x
    return y * y


@on(2.0)
@on(-2.0)
def raises_what_typed_programs_raise(x: float) -> float:
    if x < 0:
        raise TypeError("negative")
    return x * x


@on(2.0)
@on(-2.0)
def asserts(x: float) -> float:
    assert x > 0, "positive"
    return x * x


@on(2.0)
def always_raises(x: float) -> float:
    raise NotImplementedError


@on(3.0)
@on(1.0)
def bound_in_a_test(x: float) -> float:
    if (y := x * x) > 4:
        return y * 2
    return y


@on(100.0)
def bound_in_a_loop_test(x: float) -> float:
    n = 0
    while (y := x / 3) > 1:
        x = y
        n += 1
    return y * n


@on(0.7)
@on(0.9)
@on(0.05)
def bound_in_the_test_of_a_loop_with_else(x: float) -> float:
    a = x
    for i in range(3):
        while (y := a * 0.5) > 0.1:
            a = y
            if a < 0.3:
                break
        else:
            a = -a
            if i == 1:
                break
            continue
        a += 1.0
    return a * y


@on(1.5)
def bound_in_a_result(x: float) -> float:
    return (y := x + 1) * y


@on(np.array([3.0, -4.0, 2.0]))
def place_of_the_smallest(xs: te.Vec) -> float:
    i = min(range(len(xs)), key=lambda k: xs[k])
    return xs[i] ** 2 + max(range(1, 4)) * xs[0]


@on(2.0, 3)
@on(2.0, 4)
def one_of(x: float, k: int) -> float:
    return x if k in (1, 3, 5) else x * x


@on(2.0, np.array([3, 2]))
def one_of_an_array(x: float, ks: te.Array[int]) -> float:
    for i in range(5):
        if i not in ks:
            x = x * 1.5
    return x


def square(x):
    return x * x


def checked(x: float) -> float:
    if x < 0:
        raise ValueError("negative")
    return math.exp(x)


def of_squares(xs):
    return sum(square(x) for x in xs)


@on(np.array([1.0, 2.0]))
@on(np.array([1.0, -2.0]))
def calls_functions(xs: te.Vec) -> float:
    return of_squares(xs) + sum(checked(x) for x in xs) + sum(map(square, xs))


def factorial(n: int) -> int:
    return 1 if n == 0 else n * factorial(n - 1)


def even_steps(x: float, n: int) -> float:
    return x if n == 0 else odd_steps(x, n - 1) * x


def odd_steps(x: float, n: int) -> float:
    return math.sin(x) if n == 0 else even_steps(x, n - 1)


@on(2.0, 5)
def calls_recursive_functions(x: float, n: int) -> float:
    return even_steps(x, n) * factorial(n)


def scaled_by(a: float) -> Callable[[float], float]:
    def scaled(x):
        return a * x * x

    return scaled


def program_scaled_by(a: float) -> Callable[[float], float]:
    @te.program
    def scaled(x: float) -> float:
        return a * x * x

    return scaled


twice, thrice = scaled_by(2.0), scaled_by(3.0)
program_twice, program_thrice = program_scaled_by(2.0), program_scaled_by(3.0)


@on(1.5)
def calls_functions_of_one_name(x: float) -> float:
    return twice(x) + 10 * thrice(x) + program_twice(x) * program_thrice(x)


@dataclass(frozen=True)
class Vector:
    x: float
    y: float

    def dot(self, other):
        return self.x * other.x + self.y * other.y

    def scaled(self, a: float = 2.0) -> "Vector":
        return Vector(self.x * a, self.y * a)


@on(Vector(1.0, 2.0), Vector(3.0, 4.0))
def calls_methods(a: Vector, b: Vector) -> float:
    return a.scaled(a=3.0).dot(b) * a.scaled().x


@on(np.array([3.0, -1.0, 2.0, 1.0, -3.0]))
def sorted_by(xs: te.Vec) -> float:
    ys, zs = sorted(xs, key=abs, reverse=True), sorted(xs)
    return sum(k * y for k, y in enumerate(ys)) + sum(k * k * z for k, z in enumerate(zs))


@on(np.array([3.0, -4.0, 2.0]))
@on(np.zeros(0))
def best_by(xs: te.Vec) -> float:
    return max(xs, key=abs) ** 2 + min(xs, key=lambda x: (x - 2.1) ** 2) + max(xs[0], -5.0, key=abs)


@on(np.array([1.0, 3.0, 2.0]), np.array([2.0, 3.5]))
@on(np.zeros(0), np.array([2.0]))
def edit_distance(a: te.Vec, b: te.Vec) -> float:
    n, m = len(a), len(b)
    d = [[0.0] * (m + 1) for _ in range(n + 1)]
    for i in range(n):
        d[i + 1][0] = d[i][0] + 1.0
    for j in range(m):
        d[0][j + 1] = d[0][j] + 1.0
    for i in range(n):
        for j in range(m):
            d[i + 1][j + 1] = min(d[i][j + 1] + 1, d[i + 1][j] + 1, d[i][j] + (a[i] - b[j]) ** 2)
    return d[n][m]


@on(2.0, 3)
@on(2.0, 0)
def whole_rows_of_a_grid(x: float, n: int) -> te.Array[te.Vec]:
    grid = np.zeros((n, n + 1))
    for i in range(n):
        grid[i, -1] += x * i
        grid[i][0] = len(grid) + sum(grid[i]) * x
    return grid


@on(2.0, 2)
@on(2.0, 3)
@on(2.0, -4)
def out_of_range_in_a_grid(x: float, k: int) -> float:
    grid = [[x, 2.0, 0], [x * x, 1.0, 0]]
    grid[1][k] = grid[0][k] * x
    return sum(sum(row) for row in grid)


@on(np.array([3.0, 1.0, 2.0, -1.0]))
def swaps(xs: te.Vec) -> float:
    n = len(xs)
    a = list(xs)
    for i in range(n):
        for j in range(n - 1 - i):
            if a[j] > a[j + 1]:
                a[j], a[j + 1] = a[j + 1], a[j]
    return a[0] + 10 * a[1] + 100 * a[2] + 1000 * a[3]


KIND = "tanh"
SETTINGS = {"scale": 2.0, "kind": "tanh", "steps": 3, "bias": None}


@on(0.5)
def decided_by_constants(x: float) -> float:
    y = x * SETTINGS["scale"]
    if KIND == "relu":
        y = max(y, 0.0)
    elif SETTINGS["kind"] in ("tanh", "sigmoid"):
        y = math.tanh(y)
    else:
        raise ValueError(KIND)
    if SETTINGS["bias"] is not None:
        y = y + SETTINGS["bias"]
    for _ in range(SETTINGS["steps"]):
        y = y * x
    return y


def direction(value: Any) -> Any:
    if isinstance(value, Vector):
        return Vector(0.5, -1.0)
    if isinstance(value, np.ndarray):
        return np.linspace(0.5, 1.5, value.size) if value.dtype == float else None
    return 0.75 if isinstance(value, float) else None


def outcome(run: Callable[[], Any]) -> Any:
    try:
        return numbers(run())
    except Exception as error:
        return type(error)


def reverse(function: Any, primals: tuple[Any, ...]) -> Any:
    value, back = ENGINE.vjp(function, *primals)
    return value, back(np.ones_like(value) if isinstance(value, np.ndarray) else 1.0)


BACK_ENDS = (None, "machine", *(("native",) if is_installed() else ()))


@pytest.mark.parametrize("backend", BACK_ENDS)
@pytest.mark.parametrize(("function", "primals"), on, ids=lambda x: getattr(x, "__name__", ""))
def test_means_what_python_means(function, primals, backend):
    program = te.program(function, backend=backend)
    plain = outcome(lambda: function(*primals))
    tangents = tuple(map(direction, primals))
    for found, expected in (
        (outcome(lambda: reverse(program, primals)), outcome(lambda: reverse(on_duals(function), primals))),
        (
            outcome(lambda: ENGINE.jvp(program, primals, tangents)),
            outcome(lambda: ENGINE.jvp(on_duals(function), primals, tangents)),
        ),
    ):
        if isinstance(plain, type):
            assert found is plain
        else:
            assert found[: len(plain)] == pytest.approx(plain, rel=1e-14)
            assert found == pytest.approx(expected, rel=1e-12)


def test_a_checked_program_has_its_own_derivative(monkeypatch):
    """A program that may raise runs compiled where it does not: its Python function is not called."""
    calls = []

    def counted(x: float) -> float:
        calls.append(x)
        return x

    program = te.program(raises_its_own)
    monkeypatch.setattr(program, "_python", (counted, Checks()))
    assert ENGINE.vjp(program, 3.0)[1](1.0) == (6.0,)
    assert not calls


def test_second_derivatives_and_printed_ones():
    assert "square" in te.program(calls_functions).derivative("accumulate")
    assert ENGINE.hessian(te.program(asserts))(2.0) == 2.0
    assert ENGINE.hessian(te.program(converges))(4.0, 50) == pytest.approx(-1 / 32, rel=1e-12)


def shares_rows(x: float, n: int) -> float:
    grid = [[x] * n] * n
    grid[0][0] = 1.0
    return grid[1][0]


def keeps_a_row(x: float) -> float:
    grid = [[x], [x]]
    row = grid[0]
    grid[0][0] = 1.0
    return row[0]


def keeps_a_row_in_a_loop(x: float) -> float:
    grid = [[x], [x]]
    rows = [[0.0]]
    for i in range(2):
        grid[i][0] = rows[0][0]
        rows = list(grid)
    return rows[0][0]


def changes_the_callers_rows(m: te.Array[te.Vec]) -> float:
    grid = list(m)
    grid[0][0] = 1.0
    return m[0][0]


def changes_from_inside(x: float) -> float:
    grid = [[x], [x]]

    def put(y: float) -> float:
        grid[0][0] = y
        return y

    return put(2.0) + grid[0][0]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (shares_rows, "may have no rows of its own"),
        (keeps_a_row, "row = grid\\[0\\] keeps a row"),
        (keeps_a_row_in_a_loop, "keeps a row"),
        (changes_the_callers_rows, "may have no rows of its own"),
    ],
)
def test_rows_that_someone_else_may_see_are_not_changed(function, message):
    with pytest.raises(te.ProgramError, match=message):
        te.program(function)


def test_rows_that_a_local_function_changes():
    value, back = ENGINE.vjp(te.program(changes_from_inside), 3.0)
    assert (value, back(1.0)) == (changes_from_inside(3.0), (0.0,))


def test_changing_an_element_of_a_row_takes_constant_time():
    """A program that fills a table copies it nowhere inside its loops, in neither pass."""
    lines = te.program(edit_distance).derivative("loops").splitlines()
    copying = [line for line in lines if line.lstrip().startswith("for k") or "add_all" in line]
    assert copying and all(line.startswith("    for k") for line in copying)


def test_a_name_that_is_not_always_bound_is_refused():
    def sometimes(x: float) -> float:
        return x if x > 0 and (y := x * x) > 1 else y

    with pytest.raises(te.ProgramError, match="y is bound in a part that is not always computed"):
        te.program(sometimes)
