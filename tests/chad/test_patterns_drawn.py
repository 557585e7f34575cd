"""Programs with ``match`` and ``isinstance``, drawn at random, have the values and derivatives of plain Python."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pytest
from chad.written_functions import defined, refused

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError


@dataclass(frozen=True)
class Leaf:
    v: float


@dataclass(frozen=True)
class Pair:
    left: Leaf | Pair
    right: Leaf | Pair


@dataclass(frozen=True)
class Scaled:
    of: Leaf | Pair
    by: float


class Writer:
    """Writes cases: each pattern binds names that its result uses."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"n{self.count}"

    def number(self, names: list[str]) -> str:
        """A pattern of a number."""
        kind = self.draw.choice(["name", "name", "literal", "any", "as", "float"])
        if kind in ("literal", "any"):
            return "_" if kind == "any" else self.draw.choice(["0.5", "2.0", "(1 | 2.0)"])
        names.append(self.name())
        return {"name": names[-1], "as": f"(2.0 | 0.5) as {names[-1]}", "float": f"float({names[-1]})"}[kind]

    def tree(self, names: list[str], depth: int) -> str:
        """A pattern of a Leaf or a Pair."""
        kind = self.draw.choice(["leaf", "leaf", "pair", "any"]) if depth else self.draw.choice(["leaf", "any"])
        if kind == "any":
            return "_"
        if kind == "leaf":
            return f"Leaf({self.draw.choice(['', 'v='])}{self.number(names)})"
        return f"Pair({self.tree(names, depth - 1)}, {self.draw.choice(['', 'right='])}{self.tree(names, depth - 1)})"

    def union(self, names: list[str]) -> str:
        kind = self.draw.choice(["tree", "tree", "scaled", "or", "either"])
        if kind == "or":
            return self.draw.choice(["Leaf() | Pair()", "Scaled() | Leaf()", "Pair() | Scaled()"])
        if kind == "either":
            names.append(self.name())
            return f"Leaf({names[-1]}) | Scaled(Leaf({names[-1]}), _)"
        return self.tree(names, 2) if kind == "tree" else f"Scaled({self.tree(names, 1)}, {self.number(names)})"

    def tuple(self, names: list[str]) -> str:
        form = self.draw.choice(["({}, {})", "({}, ({}, {}))", "[{}, *_]", "({}, None)", "({}, {}, {})"])
        names += (own := [self.name() for _ in range(form.count("{"))])  # a class says that they are no tuples
        return form.format(*(self.draw.choice(["float({})", "float() as {}"]).format(n) for n in own))

    def list(self, names: list[str]) -> str:
        kind = self.draw.choice(["[]", "[{}]", "[{}, {}]", "[{}, {}, *_]", "[{}, *_, {}]"])
        return kind.format(*(self.number(names) for _ in range(kind.count("{"))))

    def cases(self, pattern: str, subject: str) -> str:
        lines = [f"    match {subject}:"]
        for _ in range(self.draw.randint(1, 4)):
            names: list[str] = []
            text = getattr(self, pattern)(names)
            if text == "_":
                continue
            guard = f" if {self.draw.choice(names)} > 0.75" if names and self.draw.random() < 0.4 else ""
            value = " + ".join([f"{self.draw.randint(1, 9)}.0 * x", *(f"{n} * x" for n in names)])
            lines.append(f"        case {text}{guard}:\n            {self.draw.choice(['return ', 'r = '])}{value}")
        lines.append("        case _:\n            r = x * x")
        return "\n".join(lines)


TREES = [Leaf(0.5), Leaf(1.5), Pair(Leaf(2.0), Leaf(0.5)), Pair(Pair(Leaf(1.0), Leaf(2.0)), Leaf(3.0))]
SUBJECTS = {
    "union": [*TREES, Scaled(Leaf(0.5), 2.0), Scaled(TREES[2], 0.25)],
    "tuple": [(1.0, 2.0), (0.5, (2.0, 3.0)), (2.0, None), (1.0, 2.0, 3.0), 1.5],
    "list": [[], [0.5], [2.0], [1.0, 2.0], [0.5, 3.0, 2.0]],
}


def made(kind: str, seed: int):
    writer = Writer(seed)
    annotation = ": Leaf | Pair | Scaled" if kind == "union" else ""
    text = f"def f(s{annotation}, x):\n    r = 0.0\n{writer.cases(kind, 's')}\n    return r\n"
    return defined(text, **globals()), text


def numbers(value):
    if isinstance(value, list | tuple):
        return [x for part in value for x in numbers(part)]
    if hasattr(value, "__dataclass_fields__"):
        return [x for name in value.__dataclass_fields__ for x in numbers(getattr(value, name))]
    return [] if value is None else [value]


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("kind", SUBJECTS)
def test_a_match_is_pythons(kind, seed):
    f, text = made(kind, seed)
    program = te.program(f)
    for subject in SUBJECTS[kind]:
        try:
            expected = f(subject, 1.25)
        except TypeError:  # arithmetic on a tuple
            continue
        value, backpropagator = te.vjp(program, subject, 1.25)
        assert value == pytest.approx(expected, rel=1e-14), (text, subject)
        ds, dx = backpropagator(1.0)
        assert dx == pytest.approx((f(subject, 1.25 + 1e-6) - f(subject, 1.25 - 1e-6)) / 2e-6, rel=1e-6), text
        assert len(numbers(ds)) <= len(numbers(subject))
        duals = te.vjp(program.python, subject, 1.25)[1](1.0)[0]
        np.testing.assert_allclose(numbers(ds), numbers(duals), rtol=1e-13, err_msg=f"{text} {subject}")


CLASSES = [
    "Leaf",
    "Pair",
    "Scaled",
    "(Leaf, Pair)",
    "(Pair, (Scaled,))",
    "Leaf | Scaled",
    "object",
    "float",
    "(int, tuple)",
]


@pytest.mark.parametrize("seed", range(40))
def test_isinstance_is_pythons(seed):
    draw = random.Random(seed)
    first, second, third = (f"isinstance(s, {draw.choice(CLASSES)})" for _ in range(3))
    test = draw.choice(
        [first, f"not {first}", f"{first} and not {second}", f"{first} or {second}", f"x > 1 and {first}"]
    )
    text = f"""def f(s: Leaf | Pair | Scaled, x: float) -> float:
    if {test}:
        r = 2.0 * x
    elif {third}:
        r = x * x if {second} else 5.0 * x
    else:
        r = 3.0 * x
    return r * (s.v if isinstance(s, Leaf) else 0.5)
"""
    f = defined(text, **globals())
    program = te.program(f)
    for s in SUBJECTS["union"]:
        value, backpropagator = te.vjp(program, s, 1.25)
        assert value == f(s, 1.25), text
        assert backpropagator(1.0)[1] == pytest.approx((f(s, 1.2501) - f(s, 1.2499)) / 2e-4), text


def test_a_name_of_a_case_whose_condition_fails_is_refused_where_it_is_used():
    def f(t, x):
        match t:
            case (a, _) if a > 3.0:
                return x
            case _:
                return a * x

    with pytest.raises(ProgramError, match="a may have a value from a case whose condition fails"):
        refused(te.program(f), (1.0, 2.0), 3.0)
