"""Constructs of the language, each as a user writes it: values and derivatives are those of dual numbers."""

import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from leaves import numbers

import tapeengine as te
import tapeengine.math as math
import tapeengine.numpy as tnp

X, M = np.array([0.5, -1.25, 2.0, 0.75]), np.random.default_rng(0).normal(size=(3, 4))


def leaves_early(xs: te.Vec, limit: float) -> tuple[float, int]:
    total, steps = 0.0, 0
    for i, x in enumerate(xs):
        if x < 0.0:
            continue
        total += x * x
        steps = i
        if total > limit:
            break
    return total, steps


def returns_from_inner_loops(xs: te.Vec, limit: float) -> float:
    for i in range(len(xs)):
        for j in range(i):
            if xs[i] * xs[j] > limit:
                return xs[i] * xs[j] * i
            if j > 2:
                break
        else_value = xs[i]
        if else_value > 1.9:
            return [math.sin(x) for x in xs][i]
    return -limit


def found(xs: te.Vec, limit: float) -> te.Vec:
    for x in xs:
        if x > limit:
            return [x, x * x]
    return []


def newton(a: float, start: float) -> float:
    x = start
    while True:
        y = 0.5 * (x + a / x)
        if abs(y - x) < 1e-12:
            return y
        x = y


def last_index(n: int, x: float) -> float:
    i = 5
    for i in range(n):  # noqa: B007
        x = x * 1.5
    return x * i


def seen_where_it_is_called(x: float, n: int) -> float:
    scale = 1.0

    def f(y: float) -> float:
        return y * scale

    total = f(x)
    for _ in range(n):
        scale = scale * 1.5 + x
        total += f(x) * 2.0
    if x > 0.0:
        scale = 10.0
    g = lambda y: f(y) + scale  # noqa: E731
    scale = scale * x
    return total + f(x) * g(x)


def in_a_comprehension(y: float, xs: te.Vec) -> te.Vec:
    def f(x: float) -> float:
        return x * y

    return [f(y) for y in xs]


def used_before_it_is_complete(x: float) -> float:
    def f(y: float) -> float:
        return y * later

    later = x * x
    return f(x)


def of_two_types(x: float, n: int) -> tuple[float, int]:
    twice = lambda v: v + v  # noqa: E731
    return twice(x), twice(n)


def twelve_deep(x: float) -> float:
    def g0(y: float) -> float:
        return math.sin(y) * 1.01

    g1 = lambda y: g0(g0(y))  # noqa: E731
    g2 = lambda y: g1(g1(y))  # noqa: E731
    g3 = lambda y: g2(g2(y))  # noqa: E731
    return g3(g3(x))


def appended(xs: te.Vec) -> te.Vec:
    out = []
    state = 0.0
    for x in xs:
        state = 0.5 * state + x
        if state > 0.0:
            out.append(state * state)
    return out


def sieve(x: float, n: int) -> te.Vec:
    fib = [x, x]
    for i in range(2, n):
        fib.append(fib[i - 1] + fib[-2] * x)
    fib[0] = 3.0
    fib[-1] *= fib[1]
    fib[1] += 2
    return fib


def table(a: te.Vec, b: te.Vec) -> float:
    row = [float(j) for j in range(len(b) + 1)]
    for i in range(len(a)):
        before = row[0]
        row[0] = i + 1.0
        for j in range(len(b)):
            here = row[j + 1]
            row[j + 1] = min(row[j] + 1.0, here + 1.0, before + abs(a[i] - b[j]))
            before = here
    return row[-1]


def softmax(m: te.Array[te.Vec]) -> te.Array[te.Vec]:
    e = tnp.exp(m - np.max(m, axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def gram(x: te.Vec, y: te.Vec) -> te.Array[te.Vec]:
    return tnp.exp(-((x[:, None] - y[None, :]) ** 2))


def accumulated(xs: te.Vec, a: float) -> te.Vec:
    return [u + v for u, v in zip(itertools.accumulate(xs, lambda s, x: a * s + x), itertools.accumulate(xs))]


def smallest(xs: te.Vec) -> float:
    best = float("inf")
    for x in xs:
        best = x if x < best else best
    return best


def iterated(x: float, n: int) -> float:
    return te.iterate(lambda s: math.sin(s) * x, n, x)


def forked(xs: te.Vec) -> float:
    return sum(te.fork_map(lambda v: v * v * v, xs))


@dataclass(frozen=True)
class Circle:
    r: float


@dataclass(frozen=True)
class Square:
    a: float


Shape = Circle | Square


def one_of_two(x: float) -> float:
    shape: Shape = Circle(x) if x > 1.0 else Square(2.0 * x)
    if isinstance(shape, Circle):
        return 3.0 * shape.r * shape.r
    return shape.a * shape.a


def energy(w, xs, n=2):
    return sum((w * x) ** n for x in xs)


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (leaves_early, (X, 0.2)),
    (leaves_early, (X, 100.0)),
    (returns_from_inner_loops, (X, 0.3)),
    (returns_from_inner_loops, (X, 5.0)),
    (returns_from_inner_loops, (-X, 5.0)),
    (found, ([0.5, -1.0, 2.0], 1.0)),
    (found, ([0.5, -1.0, 2.0], 3.0)),
    (newton, (2.0, 1.0)),
    (last_index, (3, 1.5)),
    (last_index, (0, 1.5)),
    (seen_where_it_is_called, (0.7, 3)),
    (in_a_comprehension, (2.0, [1.0, 3.0])),
    (used_before_it_is_complete, (1.5,)),
    (of_two_types, (1.5, 2)),
    (twelve_deep, (0.3,)),
    (appended, ([0.5, -1.25, 2.0],)),
    (sieve, (0.5, 6)),
    (table, (X, X[::-1] * 1.5)),
    (softmax, (M,)),
    (gram, (M[0], M[1, :3])),
    (accumulated, ([0.5, -1.25, 2.0], 0.3)),
    (smallest, (X,)),
    (iterated, (0.7, 5)),
    (forked, (X,)),
    (one_of_two, (1.5,)),
    (one_of_two, (0.5,)),
    (energy, (1.5, X)),
    (energy, (1.5, [0.5, 2.0], 3)),
]


def ones(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return np.ones_like(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(ones, value))
    return 1.0 if isinstance(value, float) else None


@pytest.mark.parametrize(("function", "primals"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_programs_give_what_dual_numbers_give(function: Callable[..., Any], primals: tuple[Any, ...]) -> None:
    value, backpropagator = te.vjp(te.program(function), *primals)
    expected, reference = te.vjp(function, *primals)
    np.testing.assert_allclose(numbers(value), numbers(expected), rtol=1e-12)
    found_, wanted = backpropagator(ones(value)), reference(ones(expected))
    np.testing.assert_allclose(numbers(found_), numbers(wanted), rtol=1e-11, atol=1e-13)
    tangents = ones(list(primals))
    found_, wanted = te.jvp(te.program(function), primals, tangents), te.jvp(function, primals, tangents)
    np.testing.assert_allclose(numbers(found_), numbers(wanted), rtol=1e-11, atol=1e-13)


def test_functions_are_known_by_identity_and_not_by_name() -> None:
    scope: dict[str, Any] = {"__name__": "mylib.math"}
    exec("def exp(x):\n    return 2.0 * x\n", scope)
    theirs = scope["exp"]

    def uses_it(x: float) -> float:
        return theirs(x)

    with pytest.raises(te.ProgramError, match="exp is not a function of the language"):
        te.program(uses_it)

    def zip(a: float, b: float) -> float:
        return a

    def calls_a_local_zip(x: float) -> float:
        return sum(v for v in zip([x], [x]))

    with pytest.raises(te.ProgramError):
        te.program(calls_a_local_zip)


def closure(k: int) -> te.Program:
    def scaled(x: float) -> float:
        return k * x

    return te.program(scaled)


def test_names_of_closures_are_found_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    module, asked = sys.modules["tapeengine.chad.program"], []
    is_free = module.is_free
    monkeypatch.setattr(module, "is_free", lambda *given: (asked.append(given), is_free(*given))[1])
    programs = [closure(k) for k in range(40)]
    assert len({p.symbol for p in programs}) == 40 and len(asked) <= 80
    symbol = programs[1].symbol.rpartition("_")[0]
    assert next(module.NUMBERS[symbol]) <= 41
    again = te.program(programs[7].function)
    assert again.symbol == programs[7].symbol and again(2.0) == 14.0


def test_a_program_has_a_name_when_its_namesake_is_collected_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    module, found = sys.modules["tapeengine.chad.program"], [False]
    first = closure(3)
    with monkeypatch.context() as patched:
        patched.setattr(module, "is_free", lambda *given: found.pop() if found else True)
        second = closure(4)
    assert not found and second(2.0) == 8.0 and second.symbol != first.symbol


def test_shared_functions_keep_text_linear() -> None:
    assert len(te.program(twelve_deep).derivative()) < 10_000
