"""Programs on data types: lists, newtypes, sums of products, recursive and mutually recursive types (DN section 11)."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from programs.program import Program


@dataclass(frozen=True)
class Metres:
    """A newtype."""

    value: Any

    def __add__(self, other: Metres) -> Metres:
        return Metres(self.value + other.value)


@dataclass(frozen=True)
class Circle:
    radius: Any


@dataclass(frozen=True)
class Rectangle:
    width: Any
    height: Any


@dataclass
class Empty:
    pass


Shape = Circle | Rectangle | Empty


class Interval(NamedTuple):
    low: Any
    high: Any


@dataclass(frozen=True)
class Leaf:
    value: Any


@dataclass(frozen=True)
class Fork:
    left: Any
    weight: Any
    right: Any


@dataclass(frozen=True)
class Literal:
    value: Any


@dataclass(frozen=True)
class Sum:
    terms: Any


@dataclass(frozen=True)
class Product:
    factors: Any


@dataclass(frozen=True)
class Rose:
    """With `Forest`, a pair of types that refer to each other."""

    value: Any
    forest: Any


@dataclass(frozen=True)
class Forest:
    roses: Any


def newtype(m: Any, a: Metres, b: Metres) -> Metres:
    return a + Metres(b.value * a.value)


def area(m: Any, shapes: list[Shape]) -> Any:
    total = 0.0
    for shape in shapes:
        match shape:
            case Circle(radius):
                total = total + math.pi * radius * radius
            case Rectangle(width, height):
                total = total + width * height
            case Empty():
                pass
    return total


def area_by_hand(shapes: list[Any]) -> list[list[float]]:
    rows = {Circle: lambda s: [2 * math.pi * s.radius], Rectangle: lambda s: [s.height, s.width], Empty: lambda s: []}
    return [[slope for shape in shapes for slope in rows[type(shape)](shape)]]


def grown(m: Any, shape: Shape, by: Any) -> Shape:
    """A sum type in and out; the alternative of the result depends on a value."""
    match shape:
        case Circle(radius) if radius * by > 2.0:
            return Rectangle(radius * by, by)
        case Circle(radius):
            return Circle(radius * by)
        case Rectangle(width, height):
            return Rectangle(width + by, height * by)
        case _:
            return shape


def interval_product(m: Any, a: Interval, b: Interval) -> Interval:
    ends = [x * y for x in a for y in b]
    return Interval(min(ends), max(ends))


def list_built(m: Any, xs: list[Any]) -> list[Any]:
    out: list[Any] = []
    for x in xs:
        out.append(x * out[-1] if out else x)
    return out


def list_built_by_hand(xs: list[float]) -> list[list[float]]:
    return [[math.prod(xs[: i + 1]) / x if j <= i else 0.0 for j, x in enumerate(xs)] for i in range(len(xs))]


def list_matched(m: Any, xs: list[Any]) -> Any:
    match xs:
        case []:
            return 1.0
        case [x]:
            return x
        case [x, y, *rest]:
            return x * y + list_matched(m, rest) * x
    raise AssertionError


def tree_value(m: Any, tree: Any) -> Any:
    if isinstance(tree, Leaf):
        return m.sin(tree.value)
    left, right = tree_value(m, tree.left), tree_value(m, tree.right)
    return left * tree.weight + right if left > right else left - tree.weight * right


def tree_mapped(m: Any, tree: Any) -> Any:
    if isinstance(tree, Leaf):
        return Leaf(tree.value * tree.value)
    return Fork(tree_mapped(m, tree.right), tree.weight * 2.0, tree_mapped(m, tree.left))


def expression(m: Any, term: Any) -> Any:
    match term:
        case Literal(value):
            return value
        case Sum(terms):
            return m.fsum([expression(m, t) for t in terms])
        case Product(factors):
            return m.prod([expression(m, t) for t in factors])
    raise AssertionError


def rose_depth_weighted(m: Any, rose: Rose) -> Any:
    def of_rose(rose: Rose, depth: int) -> Any:
        return rose.value ** (depth + 1) + of_forest(rose.forest, depth + 1)

    def of_forest(forest: Forest, depth: int) -> Any:
        total = 0.0
        for rose in forest.roses:
            total = total + of_rose(rose, depth)
        return total

    return of_rose(rose, 0)


def linked_list_sum(m: Any, cell: Any) -> Any:
    total = 0.0
    while cell is not None:
        head, cell = cell
        total = total * 0.5 + head * head
    return total


def dict_of_lists(m: Any, data: dict[str, Any]) -> dict[str, Any]:
    return {"second": data["b"][0] * data["a"], "first": [x + data["a"] for x in data["b"]], "name": "kept"}


def replaced_field(m: Any, fork: Fork) -> Fork:
    return dataclasses.replace(fork, weight=fork.left.value * fork.weight)


TREE = Fork(Fork(Leaf(0.3), 1.5, Leaf(-0.8)), 0.7, Fork(Leaf(2.0), -0.4, Fork(Leaf(0.1), 0.9, Leaf(1.1))))
TERM = Sum((Literal(2.0), Product((Literal(0.5), Literal(3.0), Sum((Literal(1.0), Literal(-2.5)))))))
ROSE = Rose(1.1, Forest([Rose(0.5, Forest([])), Rose(0.9, Forest([Rose(1.3, Forest([]))]))]))

PROGRAMS = (
    Program("newtype", newtype, (Metres(2.0), Metres(3.0)), lambda a, b: [[1 + b.value, a.value]]),
    Program("sum type in", area, ([Circle(1.5), Empty(), Rectangle(2.0, 3.0), Circle(0.2)],), area_by_hand),
    Program("sum type out, same", grown, (Circle(1.0), 1.5), lambda s, by: [[by, s.radius]]),
    Program("sum type out, other", grown, (Circle(2.0), 1.5), lambda s, by: [[by, s.radius], [0, 1]]),
    Program("sum type out, product", grown, (Rectangle(2.0, 3.0), 1.5), lambda s, by: [[1, 0, 1], [0, by, s.height]]),
    Program("namedtuple", interval_product, (Interval(-1.0, 2.0), Interval(-3.0, 0.5))),
    Program("list built", list_built, ([1.5, -2.0, 0.5, 3.0],), list_built_by_hand),
    Program("list matched", list_matched, ([1.5, -2.0, 0.5, 3.0, 0.25],)),
    Program("tree to scalar", tree_value, (TREE,)),
    Program("tree to tree", tree_mapped, (TREE,)),
    Program("expression evaluator", expression, (TERM,)),
    Program("mutually recursive types", rose_depth_weighted, (ROSE,)),
    Program("linked list", linked_list_sum, ((1.0, (2.0, (3.0, (-4.0, None)))),)),
    Program("dict of lists", dict_of_lists, ({"a": 2.0, "b": [1.0, -3.0]},)),
    Program("replaced field", replaced_field, (Fork(Leaf(2.0), 3.0, Leaf(4.0)),)),
)
