"""Methods that change fields: what they mean in Python, at a cost that does not depend on the other fields."""

import os
import random

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
from tapeengine.chad.language.traverse import children

COUNT = 300 if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else 30
STATEMENTS = """
self.{a} = self.{b} * x
self.{a} += x * {c}
self.{a}, self.{b} = self.{b}, self.{a} * {c}
self.{a} = 1
self.n += 1
if self.{a} > x:|    self.{b} -= {c}
if x > 0.4:|    self.{a} = {c}|    return
for i in range(2):|    self.{a} = self.{a} * x + self.{b}
while self.{a} > 2.0:|    self.{a} *= 0.5
y = self.{a} * x|self.{b} = y + self.n
self.{a} = sum(self.{b} * v for v in (x, {c}))
self.{a} = max(self.{b}, x)
self.{a} = self.total() * {c}
self.{a} = twice(self.{b})
self_a = x|self.{a} += self_a
f = lambda v: v * x|self.{a} = f(self.{b})
self.{a} += self.xs[0] * len(self.xs)
""".strip().splitlines()
CALLS = """
r.m0(x)
r.m1(x * 0.5)
r.m0(x=s * 0.1)
if r.a > 0.3:|    r.m1(x)
for k in range(3):|    r.m0(x + k)
for k in range(2):|    r.m1(r.b)|    s += r.a
r.a += s
s = s * 0.5 + r.total()
r.m1(x, 0.25)
""".strip().splitlines()
TEXT = """
from dataclasses import dataclass

def twice(v):
    return v * 2.0

@dataclass
class Record:
    a: float
    b: float
    c: float
    n: int
    xs: list[float]

    def total(self):
        return self.a + self.b * 2.0

    def m0(self, x, z=0.5):
        {m0}

    def m1(self, x, z=0.5):
        {m1}

def f(x: float):
    r, s = Record(x, x * 0.5, 0.7, 2, [x, 0.3]), 0.2
    {calls}
    return s + r.a + 0.3 * r.b - r.c * r.n + r.xs[0]
"""


def drawn(seed):
    draw = random.Random(seed)

    def body(texts, count, space):
        a, b = draw.sample("abc", 2)
        lines = [line for _ in range(count) for line in draw.choice(texts).format(a=a, b=b, c="0.8").split("|")]
        return f"\n{space}".join(lines)

    methods = {name: body(STATEMENTS, draw.randint(1, 3), " " * 8) for name in ("m0", "m1")}
    return TEXT.format(**methods, calls=body(CALLS, draw.randint(2, 4), " " * 4))


@pytest.mark.parametrize("seed", range(COUNT))
def test_methods_mean_what_they_mean_in_python(seed):
    text = drawn(seed)
    f = defined(text)
    for x in (0.31, 0.57):
        value, back = te.vjp(te.program(f), x)
        assert value == pytest.approx(f(x), rel=1e-12), text
        slope = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
        np.testing.assert_allclose(back(1.0)[0], slope, rtol=1e-5, atol=1e-7, err_msg=text)


def size(program):
    count, pending = 0, [d.body for d in program.linked[0].definitions.values()]
    while pending:
        term = pending.pop()
        count += 1
        pending += [child for child, _ in children(term)]
    return count


def many(n):
    fields = "\n".join(f"    f{k}: float" for k in range(n))
    methods = "\n".join(f"    def m{k}(self, x):\n        self.f{k} = self.f{k} * x" for k in range(n))
    calls = "\n".join(f"    r.m{k}(x)" for k in range(n))
    start = f"    r = R({', '.join(['x'] * n)})"
    total = " + ".join(f"r.f{k}" for k in range(n))
    head = f"from dataclasses import dataclass\n\n@dataclass\nclass R:\n{fields}\n{methods}"
    return te.program(defined(f"{head}\n\ndef f(x: float) -> float:\n{start}\n{calls}\n    return {total}\n"))


def test_terms_grow_with_the_text():
    assert size(many(40)) <= 4.2 * size(many(10))
    assert te.grad(many(3))(0.5) == pytest.approx(3.0)
