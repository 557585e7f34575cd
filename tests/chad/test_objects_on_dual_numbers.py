"""Objects, and dicts whose keys only a run knows: dual numbers on the plain function differentiate these."""

import random
from collections import Counter, defaultdict, deque

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.errors import StructureError


class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def norm(self):
        return self.x * self.x + self.y


class Bag:
    def __init__(self, x):
        self.items = [x]
        self.by_name = {"a": [x], "b": []}
        self.total = 0.0

    def add(self, x):
        self.items.append(x * self.total)
        self.by_name["b"].append(x)
        self.total += x

    def result(self):
        return sum(self.items) + sum(self.by_name["b"]) * len(self.items)


te.register_container(Point)
#: What stands outside the programs.
OUTSIDE = {
    "Point": Point,
    "Bag": Bag,
    "defaultdict": defaultdict,
    "deque": deque,
    "Counter": Counter,
    "np": np,
    "POINT": Point(1.5, 0.5),
    "RATES": {"a": 1.5, "b": 0.5},
    "BY_NUMBER": {0: 2.0, 1: -1.0, (0, 1): 0.5},
    "XS": [0.5, 1.5, 2.5],
    "ROW": np.array([0.5, 1.5]),
    "MEMORY": memoryview(np.array([2.0, 3.0])),
}
#: Statements that change t; {e} is a number.
STATEMENTS = [
    "b = Bag({e})\nfor i in range(n):\n    b.add({e} * i)\nt = t * 0.5 + b.result()",
    "b = Bag({e})\nb.items.append(t)\nb.by_name['a'].append({e})\nt = sum(b.items) - b.by_name['a'][-1] * 0.5",
    "d = {{'a': [], 'b': [t]}}\nfor i in range(n):\n    d['a'].append({e} + i)\nt = 0.1 * sum(d['a']) + d['b'][0]",
    "d = {{}}\nfor i in range(n):\n    d.setdefault('a', []).append({e})\nt = t + sum(d.get('a', [t]))",
    "memo = {{}}\nfor i in range(n + 2):\n    memo[i] = {e} if i < 2 else memo[i - 1] * 0.5 + memo[i - 2]\nt = memo[n]",
    "memo = {{}}\nfor i in range(n):\n    for j in range(n):\n        memo[i, j] = {e} * i + memo.get((i - 1, j), t)\n"
    "t = sum(memo.values()) * 0.1 + t",
    "memo = {{}}\ndef fib(k):\n    if k not in memo:\n"
    "        memo[k] = {e} if k < 2 else fib(k - 1) + 0.5 * fib(k - 2)\n    return memo[k]\nt = fib(n) + t",
    "d = defaultdict(float)\nfor i in range(n):\n    d[i % 2] += {e}\nt = t * 0.5 + d[0] - d[1]",
    "q = deque([t])\nfor i in range(n):\n    q.append({e})\n    q.popleft()\nt = sum(q)",
    "t = t * RATES.get('a') + RATES.get('c', {e}) * RATES['b']",
    "for k, v in RATES.items():\n    t = t * v + {e}",
    "t = t + sum(RATES.values()) * {e} * len(RATES.keys())",
    "t = sum(RATES[k] * {e} for k in RATES) + BY_NUMBER[0, 1]",
    "t = t + BY_NUMBER[n % 2] * {e}",
    "t = t * XS.index(1.5) + XS.count(2.5) * {e} + ROW.sum() - ROW.max() * XS.copy()[0]",
    "t = t * 0.5 + MEMORY[0] * {e} + len(MEMORY)",
    "p = Point(t, {e})\np.x += 0.5 * p.y\nt = p.norm() * 0.1 + POINT.norm() * {e}",
    "ps = [Point({e}, i) for i in range(n)]\nps.append(Point(t, t))\nt = 0.1 * sum(p.norm() for p in ps) + ps[0].x",
]
NUMBERS = ["x", "0.5", "(x * 0.3)", "np.sin(x)", "(t * 0.1)"]


def drawn(seed):
    draw = random.Random(seed)
    each = draw.sample(STATEMENTS, 2)
    lines = [line for s in each for line in s.format(e=draw.choice(NUMBERS)).split("\n")]
    return function_of("x, n", ["t = x", *lines, "return t * x"], **OUTSIDE)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    f = drawn(seed)
    typed = te.program(f)
    value, back = te.vjp(typed, 0.7, 3)
    assert value == pytest.approx(f(0.7, 3), rel=1e-12)
    steps = (f(0.7 + 1e-6, 3) - f(0.7 - 1e-6, 3)) / 2e-6
    assert back(1.0)[0] == pytest.approx(steps, rel=1e-6, abs=1e-8)
    assert back(1.0)[0] == pytest.approx(te.jvp(typed, (0.7, 3), (1.0, None))[1], rel=1e-12)
    assert te.hessian(typed)(0.7, 3) == pytest.approx(te.hessian(f)(0.7, 3), rel=1e-10, abs=1e-12)
    assert te.jacobian(typed)(0.7, 3) == pytest.approx(back(1.0)[0], rel=1e-12)


def with_points(points, x):
    return sum(p.norm() * x for p in points)


def with_one(p, x):
    return p.norm() * x * p.x


def with_a_model(model, x):
    return sum(w * x for w in model.weights)


class Model:
    def __init__(self, weights):
        self.weights = weights


def test_objects_as_arguments():
    found = te.grad(te.program(with_one))(Point(2.0, 3.0), 1.5)
    assert type(found) is Point
    assert (found.x, found.y) == (1.5 * (3 * 4.0 + 3.0), 3.0)
    points, x = te.grad(te.program(with_points), (0, 1))([Point(1.0, 2.0), Point(2.0, 3.0)], 1.5)
    assert [(p.x, p.y) for p in points] == [(3.0, 1.5), (6.0, 1.5)]
    assert x == 10.0


def test_an_object_that_is_not_differentiated():
    model, typed = Model([1.0, 2.0]), te.program(with_a_model)
    assert te.grad(typed, 1)(model, 3.0) == 3.0
    model.weights.append(4.0)
    assert te.value_and_grad(typed, 1)(model, 3.0) == (21.0, 7.0)
    assert te.jacobian(typed, argnums=1)(model, np.ones(2)).tolist() == [[7.0, 0.0], [0.0, 7.0]]
    with pytest.raises(StructureError, match="register_container"):
        te.grad(typed)(model, 3.0)


@te.program
def memoised(x: float, n: int) -> float:
    memo = {}
    for i in range(n):
        memo[i] = x if i < 1 else memo[i - 1] * x
    return memo[n - 1]


@te.program
def calls_it(x: float) -> float:
    return memoised(x, 3) * x


def test_a_program_that_calls_one_that_cannot_be_read():
    assert te.grad(calls_it)(2.0) == 32.0
    assert te.hessian(calls_it)(2.0) == 48.0
    assert te.hvp(calls_it, (2.0,), (1.0,)) == 48.0
    assert te.grad(lambda x: te.grad(te.checkpoint(calls_it))(x))(2.0) == 48.0
    assert te.linearize(calls_it, 2.0)[1](1.0) == 32.0


def of_a_number(x):
    d = {}
    for i in range(3):
        d[i] = x * i
    return d[1] * d[2]


def of_an_array(x):
    d = {}
    for i in range(len(x)):
        d[i] = x[i] * i
    return np.array([d[1] * d[2], d[0]])


TRANSFORMS = {
    "jacobian": te.jacobian,
    "jacfwd": te.jacfwd,
    "hessian": te.hessian,
    "jacobian of a jacobian": lambda f: te.jacobian(te.jacobian(f)),
    "linearize": lambda f: lambda x: te.linearize(f, x)[1](x),
    "hvp": lambda f: lambda x: te.hvp(lambda x: np.sum(f(x)), (x,), (x,)),
    "checkpoint": lambda f: te.jacobian(te.checkpoint(f)),
    "stage": lambda f: te.jacobian(te.stage(f)),
    "lift": lambda f: te.jacobian(te.lift(f)),
    "vmap": lambda f: lambda x: te.vmap(f)(np.stack([x, x])),
    "fork_map": lambda f: lambda x: te.fork_map(f, [x, x]),
    "in another function": lambda f: te.jacobian(lambda x: f(x) * 2.0),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize(("function", "x"), [(of_a_number, 2.0), (of_an_array, np.array([1.0, 2.0, 3.0]))])
def test_transforms(transform, function, x):
    outcomes = []
    for f in (function, te.program(function)):
        try:
            outcomes.append(repr(TRANSFORMS[transform](f)(x)))
        except Exception as error:
            outcomes.append(type(error))
    assert outcomes[0] == outcomes[1]


def test_its_derivative_as_text_says_why():
    with pytest.raises(te.ProgramError, match=r"a key of a dict is one that is written out") as raised:
        calls_it.derivative("reverse")
    assert raised.value.line.strip().startswith("memo[i]")


@te.program
def of_a_constant(x: float) -> float:
    return POINT.norm() * x


POINT = Point(1.0, 2.0)


def test_a_change_of_an_object_outside_is_seen():
    assert te.grad(of_a_constant)(2.0) == 3.0
    POINT.x = 2.0
    try:
        assert te.grad(of_a_constant)(2.0) == 6.0
    finally:
        POINT.x = 1.0


class Unlike:
    def __hash__(self):
        raise LookupError("no hash")

    x = 2.0


UNLIKE = Unlike()


def test_an_object_whose_hash_raises():
    f = function_of("x", ["return x * UNLIKE.x"], UNLIKE=UNLIKE)
    assert te.grad(te.program(f))(3.0) == 2.0


def test_a_missing_key_raises_as_in_python():
    f = function_of("x, n", ["d = {}", "d[n] = x", "return d[n + 1]"])
    with pytest.raises(KeyError):
        te.grad(te.program(f))(2.0, 1)
