"""Recursive unions of dataclasses with fields of texts and members of enumerations, on drawn trees."""

import enum
import random
from dataclasses import dataclass
from typing import Any, Literal

import pytest

import tapeengine as te


class Kind(enum.Enum):
    ADD = "add"
    MUL = "mul"


class Number(enum.IntEnum):
    ADD = 0
    MUL = 1


@dataclass(frozen=True)
class Leaf:
    v: float


@dataclass(frozen=True)
class OfKinds:
    op: Kind
    left: "Kinds"
    right: "Kinds"


@dataclass(frozen=True)
class OfNumbers:
    op: Number
    left: "Numbers"
    right: "Numbers"


@dataclass(frozen=True)
class OfTexts:
    op: str
    left: "Texts"
    right: "Texts"


@dataclass(frozen=True)
class OfLiterals:
    op: Literal["add", "mul"]
    left: "Literals"
    right: "Literals"


Kinds = Leaf | OfKinds
Numbers = Leaf | OfNumbers
Texts = Leaf | OfTexts
Literals = Leaf | OfLiterals


@te.program
def of_kinds(e: Kinds) -> float:
    match e:
        case Leaf(v):
            return v
        case OfKinds(Kind.ADD, a, b):
            return of_kinds(a) + of_kinds(b)
        case OfKinds(_, a, b):
            return of_kinds(a) * of_kinds(b)
    return 0.0


@te.program
def of_numbers(e: Numbers) -> float:
    if isinstance(e, Leaf):
        return e.v
    if e.op == Number.ADD:
        return of_numbers(e.left) + of_numbers(e.right)
    return of_numbers(e.left) * of_numbers(e.right)


@te.program
def of_texts(e: Texts) -> float:
    if isinstance(e, Leaf):
        return e.v
    return of_texts(e.left) + of_texts(e.right) if e.op == "add" else of_texts(e.left) * of_texts(e.right)


@te.program
def of_literals(e: Literals) -> float:
    match e:
        case Leaf(v):
            return v
        case OfLiterals("add", a, b):
            return of_literals(a) + of_literals(b)
        case OfLiterals("mul", a, b):
            return of_literals(a) * of_literals(b)
    return 0.0


PROGRAMS = {
    of_kinds: (OfKinds, tuple(Kind)),
    of_numbers: (OfNumbers, tuple(Number)),
    of_texts: (OfTexts, ("add", "mul")),
    of_literals: (OfLiterals, ("add", "mul")),
}


def drawn(rng: random.Random, cls: Any, ops: tuple[Any, ...], depth: int) -> tuple[Any, float, Any]:
    """Give a tree, its value, and what gives its cotangents from that of its value."""
    if depth == 0 or rng.random() < 0.2:
        v = rng.uniform(0.5, 1.5)
        return Leaf(v), v, lambda d: Leaf(d)
    (a, x, back_a), (b, y, back_b) = drawn(rng, cls, ops, depth - 1), drawn(rng, cls, ops, depth - 1)
    if (k := rng.randrange(2)) == 0:
        return cls(ops[k], a, b), x + y, lambda d: cls(None, back_a(d), back_b(d))
    return cls(ops[k], a, b), x * y, lambda d: cls(None, back_a(d * y), back_b(d * x))


def flat(tree: Any) -> list[float]:
    return [tree.v] if isinstance(tree, Leaf) else [*flat(tree.left), *flat(tree.right)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_value_and_cotangents(program: Any, seed: int) -> None:
    tree, expected, back = drawn(random.Random(seed), *PROGRAMS[program], 5)
    value, found = te.vjp(program, tree)
    assert value == pytest.approx(expected, rel=1e-14)
    assert flat(found(2.0)[0]) == pytest.approx(flat(back(2.0)), rel=1e-13)
