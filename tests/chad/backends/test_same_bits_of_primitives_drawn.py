"""Random programs with primitives, rows of any sizes and recursion: all back ends give the same bits."""

import ctypes
import ctypes.util
import math
import os
import random
import re
from dataclasses import dataclass

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.chad.backends import tiers
from tapeengine.plugins.kernels import scalar_function, scalar_kernel
from tapeengine.primitive import Primitive
from tapeengine.primitive.builders import elementwise

pytestmark = [
    pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite"),
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
SEEDS = range(600 if os.environ.get("TAPEENGINE_NIGHTLY") else 24)
LENGTHS = [1, 7, 150]
LIBM = ctypes.CDLL(ctypes.util.find_library("m"))


def of_c(name):
    """A function of one number of the C library."""
    function = LIBM[name]
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    return function


def of_one(name, primal, partial):
    """A primitive of one number, without a C function."""
    rules = {"x": lambda first, x: first * partial(x)}
    return Primitive(f"test.{name}", primal, vjp=rules, jvp=rules)


@dataclass
class Link:
    value: float
    rest: "Link | None"


SINE = scalar_kernel(of_c("sin"), of_c("cos"))
PRIMITIVES = {
    "sine": scalar_function(
        elementwise(
            "test.sine", lambda x: np.sin(x), lambda x: np.cos(x), kernel=scalar_kernel(of_c("sin"), of_c("cos"))
        )
    ),
    "square": of_one("square", lambda x: x * x * 0.5, lambda x: x),
    "damped": of_one("damped", lambda x: x / (1 + x * x), lambda x: (1 - x * x) / (1 + x * x) ** 2),
    "total": Primitive(
        "test.total",
        lambda x: np.sum(np.square(x)),
        vjp={"x": lambda first, x: 2 * first * np.asarray(x)},
        jvp={"x": lambda first, x: np.sum(2 * first * np.asarray(x))},
    ),
    "smooth": Primitive(
        "test.smooth",
        lambda x: (np.asarray(x) + np.asarray(x)[::-1]) / 2,
        vjp={"x": lambda first: (first + first[::-1]) / 2},
        jvp={"x": lambda first: (first + first[::-1]) / 2},
    ),
}
#: Vectors; A and B stand for vectors, S for a number.
VECTORS = [
    *["x", "y", "smooth(A)", "[square(p) for p in A]", "[damped(p) * q for p, q in zip(A, B)]"],
    *["[sine(p) + S for p in A]", "[p * q for p, q in zip(A, B)]", "[math.exp(-p * p) * S for p in A]"],
    *["smooth([p - S for p in A])", "[sum([p * q for q in B]) for p in A]"],
]
NUMBERS = [
    *["a", "total(A)", "damped(S)", "sine(S)", "S * S", "sum(A)", "square(S) * S", "sum([damped(p) for p in A])"],
    *["sum([p * q for p, q in zip(A, B)])", "total([p * S for p in A])"],
]
#: Loops that change the number s.
LOOPS = [
    ["for p in A:", "    s = 0.5 * s + damped(p * s)"],
    ["for i in range(len(x)):", "    s += total(A) * B[i]"],
    ["for i in range(len(x)):", "    s = s + sine(A[i]) if A[i] > 0.0 else s - square(B[i])"],
    ["z = [square(p * s) for p in A]", "s += sum(z) * z[0]"],
    ["for k in range(3):", "    y = smooth([p * s for p in A])", "    s = 0.1 * sum(y)"],
]
#: The same with the rows r, and with links.
ROWS = [
    ["for row in r:", "    s += sum([p * p for p in row]) * row[0]"],
    ["for row in r:", "    for p in row:", "        s = 0.7 * s + damped(p) * a"],
    ["for row in r:", "    s = s + total(row) * sum(row)"],
    ["q = [sum([p * a for p in row]) for row in r]", "s += sum([p * p for p in q])"],
    [
        "for i in range(len(r)):",
        "    for j in range(len(r[i])):",
        "        s += r[i][j] * x[j % len(x)] * sine(r[i][0])",
    ],
    ["z = [[p * s for p in row] for row in r]", "for row in z:", "    s += sum(row) * row[0]"],
    ["z = [smooth(row) for row in r]", "for row in z:", "    s += sum(row) * row[0]"],
    ["s = along(link, s)"],
    ["for row in r:", "    s = s + along(link, row[0]) * 0.1"],
]
KINDS = {"A": VECTORS, "B": VECTORS, "S": NUMBERS}
HEAD = "x: te.Vec, y: te.Vec, a: float"
BOTH = HEAD + ", r: list[list[float]], link: Link | None"


def along(link: Link | None, s: float) -> float:
    if link is None:
        return s
    return math.sin(link.value * s) + s * along(link.rest, s + link.value)


def spelled(draw, kind, depth):
    """A random expression."""
    if not depth:
        return draw.choice("xy" if kind in "AB" else "as")
    inner = lambda found: spelled(draw, found[0], draw.randrange(depth))  # noqa: E731
    return re.sub(r"\b[ABS]\b", inner, f"({draw.choice(KINDS[kind])})")


def drawn(seed, kinds, head):
    """A random program of vectors (v), numbers (s), loops (l), and rows and links (r)."""
    draw, lines = random.Random(seed), ["s = a"]
    for kind in [*draw.choices(kinds, k=draw.choice([1, 1, 2])), *("r" * ("r" in kinds))]:
        if kind == "v":
            lines.append(f"{draw.choice('xy')} = {spelled(draw, 'A', 2)}")
        elif kind == "s":
            lines.append(f"s = s + {spelled(draw, 'S', 2)}")
        else:
            block = draw.choice(LOOPS if kind == "l" else ROWS)
            lines += [re.sub(r"\b[AB]\b", lambda _: draw.choice("xy"), line) for line in block]
    lines.append(f"return {draw.choice(['s', 's * sum(x)', '[p * s for p in y]'])}")
    return function_of(head, lines, math=math, te=te, Link=Link, along=along, **PRIMITIVES), lines


def inputs(length, head):
    """Arguments; the rows have any lengths."""
    generator = np.random.default_rng(length)
    x, y = generator.uniform(-1.0, 1.0, (2, length))
    rows = [generator.normal(size=generator.integers(1, 6)).tolist() for _ in range(length // 3 + 2)]
    link = None
    for value in generator.normal(size=length // 2):
        link = Link(float(value), link)
    return (x, y, 0.7, rows, link)[: head.count(":")]


def bits(value):
    """The bits of the numbers of a structure."""
    if isinstance(value, Link):
        return [bits(value.value), bits(value.rest)]
    if isinstance(value, tuple | list):
        return [bits(x) for x in value]
    return None if value is None else np.asarray(value).tobytes()


def tangent(x):
    """A tangent of an argument."""
    if isinstance(x, Link):
        return Link(0.3 - x.value, tangent(x.rest))
    if isinstance(x, list):
        return [tangent(row) for row in x]
    return np.cos(np.arange(x.size)) if np.ndim(x) else None if x is None else 0.4


def outcome(program, args):
    """The bits of the value, of the gradient, of the value with its tangent and of a Jacobian."""
    value, back = te.vjp(program, *args)
    d = np.linspace(0.3, 1.7, len(value)).tolist() if isinstance(value, list) else 1.3
    rows = te.jacobian(program, argnums=2)(*args)
    return bits((value, back(d), te.jvp(program, args, tuple(map(tangent, args))), rows))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("kinds", "head"), [("vsl", HEAD), ("vslr", BOTH)], ids=["numbers", "rows"])
def test_machine_and_native_code_give_the_same_bits(seed, kinds, head):
    function, lines = drawn(seed, kinds, head)
    native, machine = (te.program(function, backend=name) for name in ("native", "machine"))
    for length in LENGTHS:
        args = inputs(length, head)
        assert outcome(machine, args) == outcome(native, args), (length, lines)


def halves(x: te.Vec, n: int) -> float:
    return sum([p * 3**n for p in x]) / 3**n + sum([total(x) * p for p in x])


total = PRIMITIVES["total"]


@pytest.mark.parametrize("n", [2, 39, 41])
def test_integers_of_more_than_64_bits_are_referred_to_python_alike(n):
    x = np.random.default_rng(1).normal(size=9)
    native, machine = (te.vjp(te.program(halves, backend=name), x, n) for name in ("native", "machine"))
    assert bits((native[0], native[1](1.0))) == bits((machine[0], machine[1](1.0)))


def logarithms(x: te.Vec) -> float:
    return sum([math.log(p) * total([p]) for p in x])


def test_poles_raise_what_python_raises():
    for name in ("native", "machine"):
        with pytest.raises(ValueError, match="math domain"):
            te.vjp(te.program(logarithms, backend=name), np.array([1.0, 0.0]))
