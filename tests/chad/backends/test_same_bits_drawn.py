"""Random programs over any numbers of floats and integers: the back ends that can be asked for give the same bits."""

import math
import os
import random
import re

import numpy as np
import pytest
from chad.written_functions import function_of
from plain_sums import in_order

import tapeengine as te
from tapeengine import chad
from tapeengine.chad.backends import tiers

pytestmark = [
    pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
SEEDS = range(600 if os.environ.get("TAPEENGINE_NIGHTLY") else 24)
LENGTHS = [0, 1, 7, 128, 129, 1000]
HEAD = "x: te.Vec, y: te.Vec, w: chad.Array[chad.Array[float]], k: chad.Array[int], n: int, a: float"

#: Vectors of as many numbers as x has; A and B stand for vectors, S for a number.
VECTORS = [
    *["x", "y", "A + B", "A * B", "A - S * B", "np.exp(-A * A)", "np.sin(A)", "np.tanh(A)", "np.log(A * A + 0.5)"],
    *["A ** 2", "A ** 3", "(A * A + 1.0) ** -2", "(A * A + 0.5) ** 0.5", "np.sqrt(A * A + 1.0)", "np.maximum(A, B)"],
    *["np.minimum(A, 0.0)", "np.abs(A)", "np.cumsum(A)", "np.where(A > B, A, S * B)", "np.arctan(A)", "np.sign(A) * B"],
    *["np.array([p * q + S for p, q in zip(A, B)])", "np.array([math.exp(-p * p) for p in A])", "A * k", "A[::-1]"],
    *["np.array([A[i] * B[len(x) - 1 - i] for i in range(len(x))])", "w @ np.sin(y[:3])", "np.sum(w, axis=1) * A"],
    *["np.array([sum([w[i][j] * a for j in range(3)]) for i in range(len(x))])", "np.outer(A, B[:4]) @ B[:4]"],
    *["A / (B * B + 1.0)", "np.expm1(A)", "np.array([p * n for p in A])", "np.clip(A, -0.5, S)"],
    *["np.roll(A, 1)"],
]
#: Numbers.
NUMBERS = [
    *["a", "np.sum(A)", "A @ B", "np.dot(A, B)", "np.sum(A * B)", "np.mean(A)", "np.linalg.norm(A)", "sum(A)", "S * S"],
    *[
        "np.max(A)",
        "np.min(A)",
        "max(A)",
        "np.sum(A ** 2)",
        "np.var(A)",
        "np.prod(1.0 + 0.001 * A)",
        "S + S",
    ],
    *["sum([p * q for p, q in zip(A, B)])", "float(n ** 2)", "S ** 2", "S ** n", "math.sin(S)", "np.sum(w.T @ w)"],
    *["np.sum(w)", "np.sum(w @ w.T @ A)", "np.trace(w.T @ w)", "math.tanh(S)", "float(np.sum(k)) * S", "np.sum(k * A)"],
    *[
        "math.fsum(A)",
        "float(k[n % len(k)]) * S",
        "A[n % len(x)]",
    ],
    *["np.logaddexp(S, S)", "sum([math.log(p * p + 1.0) for p in A])", "np.sum(np.outer(A, B))", "math.exp(-S * S)"],
    *[
        "np.sum([A[i] * w[i][j] for i in range(len(x)) for j in range(3)])",
        "math.sqrt(S * S + 1.0)",
        "math.hypot(S, S)",
    ],
    *["float(k[0] ** n)"],
]
#: Loops that change the number s.
LOOPS = [
    ["for p in A:", "    s = s + p * p"],
    ["for i in range(len(x)):", "    s = 0.5 * s + A[i] * B[i] if A[i] > 0.0 else s - B[i]"],
    ["for i in range(len(x)):", "    row = [w[i][j] * A[i] for j in range(3)]", "    s += sum(row) * row[0]"],
    ["i = 0", "while i < len(x) and s < 50.0:", "    s += A[i] * A[i]", "    i += 1"],
    ["for i in k:", "    s += float(i * i % 7) * A[i % len(x)]"],
    ["z = [0.0 for _ in x]", "for i in range(len(x)):", "    z[k[i] % len(x)] += A[i] * B[i]", "s += sum(z)"],
    ["z = [p * q for p, q in zip(A, B)]", "s += sum([z[i] * z[len(z) - 1 - i] for i in range(len(z))])"],
    ["z = [math.exp(p * s) for p in A]", "s = max(z) - sum([q * q for q in z]) / (1.0 + len(z))"],
]
KINDS = {"A": VECTORS, "B": VECTORS, "S": NUMBERS}


def spelled(draw, kind, depth):
    """A random expression: a vector or a number."""
    if not depth:
        return draw.choice(["x", "y"]) if kind in "AB" else draw.choice(["a", "s"])
    inner = lambda found: spelled(draw, found[0], draw.randrange(depth))  # noqa: E731
    return re.sub(r"\b[ABS]\b", inner, f"({draw.choice(KINDS[kind])})")


def drawn(seed, kinds):
    """A random program of vectors (v), numbers (s) and loops (l)."""
    draw = random.Random(seed)
    lines = ["s = a", *(["x = np.array(x)", "y = np.array(y)"] if "v" in kinds else [])]
    for kind in draw.choices(kinds, k=draw.choice([1, 1, 2])):
        if kind == "v":
            lines.append(f"{draw.choice('xy')} = {spelled(draw, 'A', 2)}")
        elif kind == "s":
            lines.append(f"s = s + {spelled(draw, 'S', 2)}")
        else:
            lines += [re.sub(r"\b[AB]\b", lambda _: draw.choice("xy"), line) for line in draw.choice(LOOPS)]
    of = draw.choice("SSSA") if "v" in kinds else "s"
    lines.append(f"return {spelled(draw, of, draw.choice([1, 2])) if of in 'SA' else 's'}")
    return function_of(HEAD, lines, math=math, te=te, chad=chad), lines


def inputs(length):
    generator = np.random.default_rng(length)
    x, y = generator.uniform(-1.0, 1.0, (2, length))
    if length > 5:
        x[2], y[3] = -0.0, 0.0
    return x, y, generator.uniform(-1.0, 1.0, (length, 3)), generator.integers(-5, 9, length), 3, 0.7


def bits(value):
    """The bits of the numbers of a structure."""
    if isinstance(value, tuple | list):
        return [bits(x) for x in value]
    return None if value is None else np.asarray(value).tobytes()


def outcome(program, args):
    """The bits of the value, of the gradient, of the value with its tangent and of a Jacobian; or the kind of error."""
    try:
        value, back = te.vjp(program, *args)
        d = np.linspace(0.3, 1.7, len(value)) if np.ndim(value) else 1.3
        along = tuple(np.cos(np.arange(x.size).reshape(x.shape)) if np.ndim(x) else 0.4 for x in (*args[:3], args[5]))
        tangent = te.jvp(program, args, (*along[:3], None, None, along[3]))
        rows = te.jacobian(program, argnums=5)(*args) if len(args[0]) < 200 else None
        return bits((value, back(d), tangent, rows))
    except (ArithmeticError, IndexError, ValueError) as error:
        return type(error).__name__


@pytest.mark.parametrize("seed", SEEDS)
def test_machine_and_native_code_give_the_same_bits(seed):
    function, lines = drawn(seed, "vsl")
    native, machine = (te.program(function, backend=name) for name in ("native", "machine"))
    for length in LENGTHS:
        assert outcome(machine, inputs(length)) == outcome(native, inputs(length)), (length, lines)


@pytest.mark.parametrize("seed", SEEDS)
def test_loops_give_the_bits_of_python_and_of_native_code_where_no_back_end_is_asked_for(seed):
    function, lines = drawn(seed, "l")
    native, default = te.program(function, backend="native"), te.program(function)
    for length in LENGTHS:
        args = inputs(length)
        found = outcome(default, args)
        assert found == outcome(native, args), (length, lines)
        if not isinstance(found, str):
            assert found[0] == found[2][0] == bits(in_order(function, *args)), (length, lines)
