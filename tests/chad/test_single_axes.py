"""Axes of one element are stretched in native code as well: dual numbers run none of these programs."""

import itertools
import random
from dataclasses import dataclass

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
from tapeengine.chad.run.execute import Executable

SHAPES = [(3, 4), (1, 4), (3, 1), (1, 1), (4,), (1,), ()]
PARTS = ["a", "b", "c", "a.max(axis=-1, keepdims=True)", "np.exp(b)", "c[..., :1]", "np.sum(a * 1.0, axis=0)", "a.T.T"]


@dataclass
class Layer:
    name: str
    w: np.ndarray
    b: np.ndarray
    scale: float


def expression(rng: random.Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(PARTS)
    left, right = expression(rng, depth - 1), expression(rng, depth - 1)
    return rng.choice([f"({left} + {right})", f"({left} * {right})", f"np.maximum({left}, {right} - 0.1)"])


def function_of(parameters: str, text: str):
    return defined(f"def f({parameters}): return np.sum({text})\n", np=np)


def slope(f, args, steps, size=1e-6):
    ahead, back = ([x + s * size * d for x, d in zip(args, steps)] for s in (1, -1))
    return (f(*ahead) - f(*back)) / (2 * size)


def check(f, args, rng):
    program = te.program(f)
    value, back = te.vjp(program, *args)
    assert value == pytest.approx(f(*args), rel=1e-13)
    steps = [rng.normal(size=np.shape(x)) for x in args]
    along = sum(float(np.sum(c * d)) for c, d in zip(back(1.0), steps))
    assert along == pytest.approx(slope(f, args, steps), rel=1e-6, abs=1e-6)


@pytest.fixture
def no_duals(monkeypatch):
    def refuse(self, primals):
        raise AssertionError(f"{self.definition.name} runs on dual numbers")

    monkeypatch.setattr(Executable, "dual_vjp", refuse)


@pytest.mark.parametrize("shapes", list(itertools.combinations(SHAPES, 2)), ids=str)
@pytest.mark.parametrize(
    "op", ["a + b", "b - a", "a * b / 2.0", "np.maximum(a, b)", "np.where(a > b, a, b)", "a ** 2 + b"]
)
def test_two_arguments(shapes, op, no_duals):
    f = function_of("a, b", f"np.exp({op})")
    rng = np.random.default_rng(0)
    check(f, [rng.normal(size=shape) if shape else float(rng.normal()) for shape in shapes], rng)


@pytest.mark.parametrize("seed", range(60))
def test_random_expressions(seed, no_duals):
    rng, draws = np.random.default_rng(seed), random.Random(seed)
    args = [rng.normal(size=draws.choice(SHAPES[:4])) for _ in range(3)]
    check(function_of("a, b, c", expression(draws, 3)), args, rng)


@pytest.mark.parametrize("part", ["b[:, :1]", "b[:1]", "b[:, 2:3]", "b[2:3]", "b[:, -1:]", "b[-1:]", "b[:1, :1]"])
@pytest.mark.parametrize("op", ["a + {}", "{} * a", "np.exp({}) + a", "a - np.tanh({} * 2.0)"])
def test_parts_of_one_place(part, op, no_duals):
    f = function_of("a, b", op.format(part))
    rng = np.random.default_rng(4)
    check(f, [rng.normal(size=(4, 4)), rng.normal(size=(4, 4))], rng)


@pytest.mark.parametrize("part", ["b[:, 4:5]", "b[4:5]", "b[k : k + 1]", "b[:, k : k + 1]"])
def test_empty_parts_raise_what_numpy_raises(part):
    f = function_of("a, b, k=-1", f"a + {part}")
    with pytest.raises(ValueError, match="broadcast"):
        f(np.ones((4, 4)), np.ones((4, 4)))
    with pytest.raises(ValueError, match="broadcast"):
        te.vjp(te.program(f), np.ones((4, 4)), np.ones((4, 4)))


def test_the_sizes_of_each_call_count(no_duals):
    def f(x, b):
        return np.sum(np.tanh(x + b))

    program = te.program(f)
    rng = np.random.default_rng(1)
    for shapes in [((3, 4), (1, 4)), ((3, 4), (3, 4)), ((1, 4), (3, 4)), ((1, 4), (1, 4)), ((1, 4), (1, 1))] * 2:
        x, b = (rng.normal(size=shape) for shape in shapes)
        value, back = te.vjp(program, x, b)
        expected, plain = te.vjp(f, x, b)
        assert value == pytest.approx(expected, rel=1e-14)
        for ours, theirs in zip(back(1.0), plain(1.0)):
            np.testing.assert_allclose(ours, theirs, rtol=1e-13)


@pytest.mark.parametrize("form", ["dict", "tuple", "record"])
def test_parts_of_arguments(form, no_duals):
    def of_dict(p, x):
        return np.sum(np.tanh(x @ p["w"] + p["b"])) * p["scale"]

    def of_tuple(p, x):
        w, b, scale = p
        return np.sum(np.tanh(x @ w + b)) * scale

    def of_record(p, x):
        return np.sum(np.tanh(x @ p.w + p.b)) * p.scale

    rng = np.random.default_rng(2)
    w, b, x = rng.normal(size=(4, 3)), rng.normal(size=(1, 3)), rng.normal(size=(5, 4))
    made = {"dict": {"w": w, "b": b, "scale": 2.0}, "tuple": (w, b, 2.0), "record": Layer("first", w, b, 2.0)}[form]
    f = {"dict": of_dict, "tuple": of_tuple, "record": of_record}[form]
    value, back = te.vjp(te.program(f), made, x)
    assert value == pytest.approx(f(made, x), rel=1e-14)
    found = back(1.0)[0]
    of_b = found["b"] if form == "dict" else found[1] if form == "tuple" else found.b
    inner = 2.0 * (1.0 - np.tanh(x @ w + b) ** 2)
    np.testing.assert_allclose(of_b, inner.sum(axis=0, keepdims=True), rtol=1e-12)


def test_normalised_rows(no_duals):
    def f(x, y):
        shifted = x - x.max(axis=1, keepdims=True)
        logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
        return -logs[np.arange(len(y)), y].mean()

    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(6, 3)), np.array([0, 2, 1, 1, 0, 2])
    value, back = te.vjp(te.program(f), x, y)
    assert value == pytest.approx(f(x, y), rel=1e-14)
    weights = np.exp(x) / np.exp(x).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(back(1.0)[0], (weights - np.eye(3)[y]) / 6, atol=1e-14)


def doubled_until_four(x):
    if len(x) == 4:
        return np.sum(x * np.array([1.0, 2.0, 3.0, 4.0]))
    return doubled_until_four(np.concatenate([x, 3.0 * x]))


@te.program
def doubled_by_a_program(x):
    return np.sum(x * np.array([1.0, 2.0, 3.0, 4.0])) if len(x) == 4 else doubled_by_a_program(np.append(x, 3.0 * x))


def first_by_another(x):
    return np.sum(x * np.array([1.0, 2.0, 3.0, 4.0])) if len(x) == 4 else second_by_another(np.append(x, 3.0 * x))


def second_by_another(x) -> float:
    return first_by_another(x)


def doubled_inside(x):
    def inner(y):
        return np.sum(y * np.array([1.0, 2.0, 3.0, 4.0])) if len(y) == 4 else inner(np.append(y, 3.0 * y))

    return inner(x)


@pytest.mark.parametrize("f", [doubled_until_four, doubled_by_a_program, first_by_another, doubled_inside])
def test_a_function_that_calls_itself_gets_arrays_of_other_sizes(f):
    value, back = te.vjp(te.program(f), np.array([2.0]))
    assert value == 2.0 * (1 + 3 * 2 + 3 * 3 + 9 * 4)
    np.testing.assert_allclose(back(1.0)[0], [52.0])


def test_arrays_of_no_or_one_element_raise_what_numpy_raises():
    def f(x, n):
        return np.sum(x + np.zeros(min(n, 1)))

    program = te.program(f)
    assert te.vjp(program, np.ones(3), 2)[0] == 3.0
    for given in (f, program):
        with pytest.raises(ValueError, match="broadcast"):
            te.vjp(given, np.ones(3), 0)


def scaled(x, s):
    return x * s


def normalised(x):
    return x - np.log(np.sum(np.exp(x), axis=1, keepdims=True))


def test_functions_that_a_program_calls(no_duals):
    def f(x, b):
        rows = normalised(scaled(x, b))
        return np.sum(scaled(rows, np.max(rows, axis=0, keepdims=True)))

    rng = np.random.default_rng(5)
    check(f, [rng.normal(size=(3, 4)), rng.normal(size=(1, 4))], rng)


def test_blas_multiplies_large_matrices_of_programs_in_loops(no_duals):
    def f(x, w, v):
        total = np.sum(np.tanh(x @ w) @ v)
        for i in range(3):
            total = total * 0.5 + np.sum(x * (i + 1.0) @ w)
        return total

    rng = np.random.default_rng(6)
    args = [rng.normal(size=shape) / 8 for shape in ((50, 60), (60, 40), (40, 30))]
    program = te.program(f)
    value, back = te.vjp(program, *args)
    assert value == pytest.approx(f(*args), rel=1e-13)
    for found, expected in zip(back(1.0), te.vjp(te.program(f, backend="native"), *args)[1](1.0)):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    assert "registered" in program.derivative("loops")  # of the one program that runs
