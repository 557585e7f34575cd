"""Statements that break, continue or return leaves on some paths: Python's meaning, and a text that does not double."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from chad.written_functions import defined

import tapeengine as te

JUMPS = {"loop": ("break", "continue", "return x * 3.0"), "function": ("return x * 2.0", "return x - 1.0")}


class Draw:
    """Random bodies of loops and functions."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = itertools.count()

    def condition(self) -> str:
        return f"x {self.random.choice('<>')} {self.random.uniform(-3, 3):.2f}"

    def change(self) -> str:
        a, b = self.random.uniform(0.5, 1.2), self.random.uniform(-0.5, 0.5)
        return self.random.choice(
            [f"x = x * {a:.2f} + {b:.2f}", f"y = x * {a:.2f}", f"x = x + {b:.2f} * y", "y = y * x"]
        )

    def block(self, where: str, depth: int) -> list[str]:
        lines = []
        for _ in range(self.random.randint(1, 3)):
            lines += self.statement(where, depth) if depth else [self.change()]
        if self.random.random() < 0.2:
            lines.append(self.random.choice(JUMPS[where]))
        return lines

    def statement(self, where: str, depth: int) -> list[str]:
        kind = self.random.random()
        if kind < 0.3:
            return [self.change()]
        if kind < 0.4:
            name = f"z{next(self.count)}"  # a variable that only some of the paths bind
            arms = [f"{name} = x * 0.5", self.random.choice(JUMPS[where]), f"{name} = 1.0 + x"]
            heads = [f"if {self.condition()}:", f"elif {self.condition()}:", "else:"]
            return [
                *itertools.chain(*([h, f"    {a}"] for h, a in zip(heads, arms, strict=True))),
                f"x = x + 0.1 * {name}",
            ]
        if kind < 0.5:
            return ["for k in (0.1, 0.2, 0.3):", *indented(self.block("loop", 0)), f"    if {self.condition()}: break"]
        lines = [f"if {self.condition()}:", *indented(self.block(where, depth - 1))]
        if self.random.random() < 0.5:
            lines += [f"elif {self.condition()}:", *indented(self.block(where, depth - 1))]
        if self.random.random() < 0.4:
            lines += ["else:", *indented(self.block(where, depth - 1))]
        return lines

    def program(self) -> str:
        where = self.random.choice(["loop", "function"])
        body = [*self.block(where, 3), *self.block(where, 3)]
        if where == "loop":
            body = ["for i in range(4):", *indented([*body, "x = x * 0.9"])]
        return "\n".join(["def f(x):", *indented(["y = x * 0.5", *body, "return x + y"]), ""])


def indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@pytest.mark.parametrize("seed", range(30))
def test_random_programs_have_the_meaning_of_python(seed: int) -> None:
    f = defined(Draw(seed).program())
    program = te.program(f)
    for x in (-2.3, 0.7, 4.1):
        value, gradient = te.value_and_grad(f)(x)
        assert te.value_and_grad(program)(x) == (value, pytest.approx(gradient, rel=1e-12, abs=1e-14))


KINDS = {
    "break": ("  for i in range(5):\n", "    if x > {k}.0: x = x * 1.01\n    elif x < -3: break\n"),
    "continue": ("  for i in range(5):\n", "    if x > {k}.0: x = x * 1.01\n    elif x < -3: continue\n"),
    "return": ("", "  if x > {k}.0:\n    x = x * 1.01\n    if x > 50.0: return x\n"),
    "bound on some": (
        "",
        "  if x > {k}.5: y{k} = x\n  elif x < -3: return x\n  else: y{k} = 2.0 * x\n  x = x + 0.1 * y{k}\n",
    ),
    "written out": ("", "  for i in (1.0, 2.0, 3.0):\n    if x > i: break\n    x = x * 1.1 + i\n"),
}


def text_of(kind: str, n: int) -> str:
    head, each = KINDS[kind]
    return f"def f(x):\n{head}{''.join(each.format(k=k) for k in range(n))}  return x\n"


@pytest.mark.parametrize("kind", KINDS)
def test_a_text_does_not_double_with_each_statement(kind: str) -> None:
    """Its indentation grows with each statement, so that it may be quadratic."""
    sizes = []
    for n in (5, 10, 20):
        f = defined(text_of(kind, n))
        program = te.program(f)
        for x in (1.3, -4.0, 30.0):
            assert te.value_and_grad(program)(x) == pytest.approx(te.value_and_grad(f)(x), rel=1e-12)
        sizes.append(len(program.derivative("reverse")))
    assert math.log2(sizes[2] / sizes[1]) < 2.3
