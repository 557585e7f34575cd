"""Records as users write them: operators, inherited fields, methods; parameters that are None, and second names."""

import dataclasses
import itertools
import sys
from typing import NamedTuple

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
from tapeengine.errors import TapeEngineError

OPERATORS = ["a + b", "a - b", "a * k", "k * a", "a / k", "-a", "+a", "a ** 2", "a // k", "a % k", "a @ b", "2 - a"]


@dataclasses.dataclass(frozen=True)
class Vector:
    x: float
    y: float

    def __add__(self, other):
        return Vector(self.x + other.x, self.y - other.y)

    def __sub__(self, other):
        return Vector(self.x - other.x, self.y + other.y)

    def __rsub__(self, k):
        return Vector(k - self.x, k * self.y)

    def __mul__(self, k):
        return Vector(self.x * k, self.y / k)

    def __rmul__(self, k):
        return Vector(k * self.x, 3.0 * k * self.y)

    def __truediv__(self, k):
        return self * (1.0 / k)

    def __floordiv__(self, k):
        return Vector(self.x // k, self.y)

    def __mod__(self, k):
        return Vector(self.x % k, self.y)

    def __pow__(self, n):
        return Vector(self.x**n, self.y)

    def __neg__(self):
        return Vector(-self.x, self.y)

    def __pos__(self):
        return Vector(self.x, 2.0 * self.y)

    def __matmul__(self, other):
        return Vector(self.x * other.x, self.y * other.y)

    def scaled(self, k):
        return Vector(self.x * k, self.y / k)


class Pair(NamedTuple):
    x: float
    y: float

    def __add__(self, other):
        return Pair(self.x + other.x, self.y * other.y)


def agree(program, *primals):
    """Compare value, kinds and cotangents with dual numbers on the plain function."""
    value, backpropagator = te.vjp(program, *primals)
    expected, by_duals = te.vjp(program.python, *primals)
    assert type(value) is type(program.function(*primals))
    np.testing.assert_allclose(flat(value), flat(expected), rtol=1e-13)
    np.testing.assert_allclose(flat(backpropagator(value)), flat(by_duals(expected)), rtol=1e-12)


def written(text):
    """The program of a text."""
    return te.program(defined(text, Vector=Vector))


def expressions_read(text):
    """Count the expressions that reading a program takes."""
    read = []

    def profile(frame, event, _):
        if event == "call" and frame.f_code.co_name == "expression":
            read.append(frame)

    sys.setprofile(profile)
    try:
        agree(written(text), 1.3)
    finally:
        sys.setprofile(None)
    return len(read)


def flat(x):
    if dataclasses.is_dataclass(x):
        x = [getattr(x, f.name) for f in dataclasses.fields(x)]
    return [v for part in x for v in flat(part)] if isinstance(x, tuple | list) else [] if x is None else [float(x)]


@pytest.mark.parametrize(("inner", "outer"), [*itertools.product(OPERATORS, ["a + b", "-a", "k * a"]), ("a", "a + b")])
@pytest.mark.parametrize("annotated", [False, True])
def test_operators_of_a_record_are_its_methods(inner, outer, annotated):
    given = "a: Vector, b: Vector, k: float" if annotated else "a, b, k"
    f = written(f"def f({given}):\n    a = {inner}\n    return {outer}")
    agree(f, Vector(1.5, 2.0), Vector(0.3, -1.0), 0.7)


@pytest.mark.parametrize("step", ["{}.scaled(x)", "({} + Vector(x, x))", "turned({})", "pair({})[0]"])
def test_each_receiver_of_a_chain_is_read_once(step):
    chain = "Vector(x, x)"
    for _ in range(12):
        chain = step.format(chain)
    helpers = "def turned(v):\n    return v.scaled(2.0)\ndef pair(v):\n    return v, v\n"
    assert 12 < expressions_read(f"{helpers}def f(x: float):\n    return {chain}\n") < 600


def test_operators_in_loops_and_of_named_tuples():
    @te.program
    def total(points, k):
        found = points[0]
        for p in points:
            found += p * k
        return [found * 2.0, -found]

    @te.program
    def pairs(p: Pair, q: Pair) -> Pair:
        return p + q + p

    points = [Vector(1.0, 2.0), Vector(0.5, -1.0)]
    value, backpropagator = te.vjp(total, points, 0.7)
    expected, by_duals = te.vjp(total.python, points, 0.7)
    assert value == expected
    np.testing.assert_allclose(flat(backpropagator(value)), flat(by_duals(expected)))
    agree(pairs, Pair(1.0, 2.0), Pair(0.3, 0.4))


@dataclasses.dataclass(frozen=True)
class Shape:
    scale: float

    def area(self) -> float:
        return 0.0

    def cost(self, k: float) -> float:
        return k * self.area() + self.scale


@dataclasses.dataclass(frozen=True)
class Circle(Shape):
    radius: float = 1.0

    def area(self) -> float:
        return 3.0 * self.radius**2 * self.scale


@dataclasses.dataclass(frozen=True)
class Square(Shape):
    side: float = 1.0


def test_fields_and_methods_are_inherited():
    @te.program
    def cost(shape: Circle | Square, k: float) -> float:
        if isinstance(shape, Circle):
            return shape.cost(k)
        return shape.cost(k) * shape.side

    agree(cost, Circle(1.5, 2.0), 0.3)
    agree(cost, Square(1.5, 2.0), 0.3)


def test_a_parameter_may_be_none_or_a_number():
    @te.program
    def scaled(x: float, scale: float | None, w: list[float] | None = None) -> float:
        total = x if scale is None else x * scale
        if w is not None:
            total += x * sum(w)
        return total

    agree(scaled, 1.5, 0.4, None)
    agree(scaled, 1.5, None, None)
    agree(scaled, 1.5, 0.4, [1.0, 2.0])


def test_a_walrus_may_read_its_own_name():
    @te.program
    def f(xs: list[float]) -> float:
        total, k = 0.0, 0
        while (k := k + 1) < len(xs):
            total += (d := xs[k] - xs[k - 1]) * d
        return total

    agree(f, [1.0, 0.5, 2.0])
    agree(f, [])


REBOUND = ["list(xs)", "[x for x in xs]", "[2.0 * x for x in xs]", "sorted(xs)", "xs[:]", "xs.copy()"]


@pytest.mark.parametrize("copy", REBOUND)
@pytest.mark.parametrize("change", ["xs[0] = k", "xs[1] *= k", "xs.append(k)", "xs[0], xs[1] = xs[1], xs[0]"])
def test_a_parameter_that_is_bound_to_a_copy_may_be_changed(copy, change):
    text = (
        f"def f(xs: list[float], k: float):\n    xs = {copy}\n    for _ in range(2):\n        {change}\n    return xs"
    )
    agree(written(text), [1.0, 2.0, 0.5], 0.3)


@pytest.mark.parametrize("before", ["ys = xs", "ys = xs\n    zs = ys", "xs[0] = k"])
def test_a_second_name_of_the_argument_is_not_changed(before):
    name = before.split(" ")[0] if before.startswith("ys") else "xs"
    text = f"def f(xs: list[float], k: float):\n    {before}\n    xs = list(xs)\n    {name}[1] = k\n    return xs"
    with pytest.raises(TapeEngineError, match="in place"):
        te.vjp(written(text), [1.0, 2.0], 0.3)


@dataclasses.dataclass(frozen=True)
class Leaf:
    value: float


@dataclasses.dataclass(frozen=True)
class Node:
    left: "Tree"
    right: "Tree"


Tree = Leaf | Node


@te.program
def product(tree: Tree) -> float:
    if isinstance(tree, Leaf):
        return tree.value**2
    return product(tree.left) * product(tree.right)


@te.program
def by_primitive(xs):
    return sum(x**3 for x in sorted(xs)) * xs[np.argmin(np.array(xs))]


@pytest.mark.parametrize(
    ("program", "at", "along"),
    [
        (product, Node(Leaf(1.5), Leaf(0.7)), Node(Leaf(0.3), Leaf(1.0))),
        (by_primitive, [1.0, 0.5, 2.0], [0.3, 1.0, -0.5]),
    ],
)
@pytest.mark.parametrize("transform", [te.hvp, te.vhp])
def test_second_derivatives_that_programs_lack_come_from_dual_numbers(program, at, along, transform):
    found, expected = transform(program, (at,), (along,)), transform(program.python, (at,), (along,))
    np.testing.assert_allclose(flat(found), flat(expected), rtol=1e-12)


def test_lists_of_integers_take_none_for_each_of_them_where_dual_numbers_run():
    @te.program
    def histogram(xs, n):
        counts, total = [0] * n, [0.0] * n
        for x in xs:
            k = int(x * n)
            counts[k] += 1
            total[k] += x
        return total, counts

    xs = np.array([0.1, 0.7, 0.2])
    for cotangent in (([1.0, 2.0], None), ([1.0, 2.0], [None, None])):
        np.testing.assert_allclose(te.vjp(histogram, xs, 2)[1](cotangent)[0], [1.0, 2.0, 1.0])
