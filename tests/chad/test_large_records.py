"""Records of many fields: what changes one field costs as much as in a record of few fields."""

import os
import random

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te
from tapeengine.chad.language.traverse import size
from tapeengine.recursion import deep

HEAD = "from dataclasses import dataclass, replace\nfrom typing import NamedTuple\n"
RECORD = "@dataclass\nclass R:\n"
MAIN = "def f(x: float) -> float:\n"
#: Otherwise fewer classes are drawn.
NIGHTLY = os.environ.get("TAPEENGINE_NIGHTLY") == "1"


def fields(n):
    """Lines of so many fields."""
    return "".join(f"    x{i}: float\n" for i in range(n))


def made(n):
    """The call that makes a record."""
    return f"R({', '.join(f'x + {i}.0' for i in range(n))})"


def each(n, line):
    """A line for each field and the next one."""
    return "".join(line.format(i=i, j=(i + 1) % n) + "\n" for i in range(n))


def total(n):
    """The end of a program: the sum of all fields."""
    return f"    return {' + '.join(f'r.x{i} * {i + 1}.0' for i in range(n))}\n"


METHODS = "    def m{i}(self, d):\n        self.x{i} = self.x{i} * d + self.x{j}"
READS = "    def m{i}(self, d):\n        return self.x{i} * d + self.x{j}"
BRANCH = METHODS.replace("        self", "        if d > {i}.5:\n            self")
PROPERTY = "    @property\n    def p{i}(self):\n        return self.x{i} * self.x{j}"
REPLACE = "def m{i}(r, d):\n    return replace(r, x{i}=r.x{i} * d + r.x{j})"
CALLS = METHODS + "\n    def n{i}(self, d):\n        self.m{i}(d)\n        self.m{j}(d)"
#: Programs of n fields: what stands in the class, around it, and in the program.
KINDS = {
    "methods": (METHODS, "", "    r.m{i}(x)"),
    "one method": ("    def m{i}(self, d):\n        self.x0 = self.x0 * d + self.x{i}", "", "    r.m0(x)"),
    "methods that call methods": (CALLS, "", "    r.n{i}(x)"),
    "methods that read": (READS, "", "    r.x{i} = r.m{i}(x)"),
    "methods with a branch": (BRANCH, "", "    r.m{i}(x)"),
    "calls in loops": (METHODS, "", "    for k in range(3):\n        r.m{i}(x)"),
    "calls in branches": (METHODS, "", "    if x > {i}.5:\n        r.m{i}(x)"),
    "functions": ("", "def m{i}(r, d):\n    r.x{i} = r.x{i} * d + r.x{j}", "    m{i}(r, x)"),
    "local functions": ("", "", "    def m{i}(d):\n        r.x{i} = r.x{i} * d + r.x{j}\n    m{i}(x)"),
    "replace": ("", REPLACE, "    r = m{i}(r, x)"),
    "properties": (PROPERTY, "", "    r.x{i} += r.p{i}"),
    "statements": ("", "", "    r.x{i} = r.x{i} * x + r.x{j}"),
    "fields in a list": ("", "", "        rs[k].x{i} += rs[k].x{i} * x + rs[k].x{j}"),
    "one loop over a list": ("", "", "        r.x{i} = r.x{i} * x + r.x{j}"),
    "methods in a list": (METHODS, "", "        r.m{i}(x)"),
    "methods at places in a list": (METHODS, "", "        rs[k].m{i}(x)"),
    "named tuples": (METHODS.replace("self.x{i} =", "return self._replace(x{i}=") + ")", "", "    r = r.m{i}(x)"),
}  # fmt: skip


def text_of(kind, n):
    """A program of n fields."""
    inside, around, line = KINDS[kind]
    head = RECORD.replace("@dataclass\nclass R", "class R(NamedTuple)") if kind == "named tuples" else RECORD
    record = HEAD + head + fields(n) + each(n, inside) + each(n, around)
    start = f"    rs = [{made(n)} for _ in range(3)]\n" if "list" in kind else f"    r = {made(n)}\n"
    start += "" if "list" not in kind else "    for k in range(3):\n" if "[k]" in line else "    for r in rs:\n"
    end = "    r = rs[1]\n" if "list" in kind else ""
    return record + MAIN + start + each(n, line) + end + total(n)


def counts(function):
    """The sizes of a program's derivative: its terms before and after, simplified; its statements, its texts."""
    program = te.program(function)
    of = program.executable
    with deep():
        terms = [sum(size(d.body) for d in m.definitions.values()) for m in (of.module, of.reverse_terms, of.reverse)]
    loops = program.derivative("loops").count("\n")
    return [*terms, loops, len(program.derivative("reverse")), len(program.derivative("accumulate"))]


@pytest.mark.parametrize("kind", KINDS)
def test_the_size_of_a_derivative_grows_with_the_fields(kind):
    small, large = (counts(defined(text_of(kind, n))) for n in (8, 32))
    assert [k for k, (a, b) in enumerate(zip(small, large, strict=True)) if b > 4.5 * a] == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [2, 4, 7])
def test_derivatives(kind, n):
    function = defined(text_of(kind, n))
    assert_derivatives(function, 0.75)


def assert_derivatives(function, *args):
    """Compare a program with plain Python and with its derivatives on dual numbers."""
    program = te.program(function)
    value, back = te.vjp(program, *args)
    wanted, on_duals = te.vjp(function, *args)
    assert program.executable.lowered is not None
    np.testing.assert_allclose([value, wanted], function(*args), rtol=1e-14)
    np.testing.assert_allclose(back(1.0), on_duals(1.0), rtol=1e-12)
    along = te.jvp(program, args, (1.0,) * len(args))[1]
    np.testing.assert_allclose(along, sum(on_duals(1.0)), rtol=1e-12)


class Drawn:
    """A random class of records, and a program that makes one and calls its methods."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.n = self.draw.randint(4, 9)
        self.inherited = self.draw.randint(0, self.n)

    def field(self, name):
        return f"{name}.x{self.draw.randrange(self.n)}"

    def number(self, name, others):
        """An expression of fields of a record."""
        a, b = self.field(name), self.field(name)
        return self.draw.choice(
            [f"{a} * {b}", f"{a} + 0.5 * {others}", f"{a} - {b} * {others}", f"{name}.p + {a}", f"{name}.part.u * {a}",
             f"{name}.xs[1] * {a}", f"0.5 * {name}.read({b})", "1.5", others]
        )  # fmt: skip

    def change(self, name, others, last):
        """A statement that changes a record; methods after the last one may be called."""
        target, other, value = self.field(name), self.field(name), self.number(name, others)
        calls = (
            [[f"{name}.m{self.draw.randrange(last, 5)}({others})"], [f"change({name}, {others})"]] if last < 5 else []
        )
        return self.draw.choice([
            [f"{target} = {value}"],
            [f"{target} += 0.1 * {value}"],
            [f"{target}, {other} = {value}, {others}"],
            [f"{name}.part = Part({value}, {others})"],
            [f"{name}.xs = [{others}, 0.5 * {others}]"],
            [f"if {other} > 1.0:", f"    {target} = {value}", "else:", f"    {target} -= {others}"],
            ["for k in range(2):", f"    {target} = 0.5 * {value} + k"],
            *calls,
        ])  # fmt: skip

    def method(self, k):
        lines = [line for _ in range(self.draw.randint(1, 3)) for line in self.change("self", "d", k + 1)]
        return f"    def m{k}(self, d):\n" + "".join(f"        {line}\n" for line in lines)

    def text(self):
        own = [f"    x{i}: float\n" for i in range(self.n)]
        base = "@dataclass\nclass Base:\n" + "".join(own[: self.inherited])
        base += "    part: Part\n    xs: list[float]\n"
        base += "    def read(self, d):\n        return self.part.v * d\n"
        record = "@dataclass\nclass R(Base):\n" + "".join(own[self.inherited :])
        record += f"    @property\n    def p(self):\n        return {self.field('self')} * self.part.u\n"
        record += "".join(map(self.method, range(5)))
        part = "@dataclass(frozen=True)\nclass Part:\n    u: float\n    v: float\n"
        change = f"def change(r, d):\n    {self.field('r')} += d\n"
        given = ", ".join(f"x{i}=x + {i}.0 * y" for i in range(self.n))
        main = "def f(x: float, y: float) -> float:\n" + f"    r = R({given}, part=Part(x, y), xs=[x, y])\n"
        calls = [line for _ in range(4) for line in self.change("r", "y", 0)]
        main += "".join(f"    {line}\n" for line in calls)
        end = "    return r.part.u * r.part.v + r.xs[0] * r.xs[1] + " + " + ".join(
            f"r.x{i} * {i}.5" for i in range(self.n)
        )
        return HEAD + part + base + record + change + main + end + "\n"


@pytest.mark.parametrize("seed", range(30 if NIGHTLY else 12))
def test_drawn_classes(seed):
    function = defined(Drawn(seed).text())
    assert_derivatives(function, 0.75, 0.5)


class DrawnList(Drawn):
    """A random program that changes the records of a list, at places that may be equal."""

    def place(self):
        return f"rs[{self.draw.choice(['k', '(k + 1) % 3', '-1', 'k - 1', '0', 'j', '2 - k'])}]"

    def element(self, others):
        a, b = self.place(), self.place()
        return self.draw.choice([f"{self.field(a)} * {self.field(b)}", f"{self.field(a)} + {others}", others, f"{a}.p"])

    def store(self):
        target, other, value = self.field(self.place()), self.field(self.place()), self.element("y")
        return self.draw.choice([
            [f"{target} = {value}"],
            [f"{target} += 0.1 * {value}"],
            [f"{target} = {other}"],
            [f"{self.place()}.m{self.draw.randrange(5)}(y)"],
            [f"if {other} > 1.0:", f"    {target} = {value}"],
            [f"if {other} > 1.5:", f"    {self.place()}.m{self.draw.randrange(5)}(x)", "else:", f"    {target} += x"],
            ["for j in range(2):", f"    {target} = 0.5 * {value} + j", f"    {self.field(self.place())} -= {target}"],
            [f"for r in {'rs'}:", f"    {self.field('r')} += 0.3 * {self.field('r')}"],
        ])  # fmt: skip

    def text(self):
        self.change = lambda name, others, last: [f"{self.field(name)} += 0.2 * {self.field(name)} * {others}"]
        own = "".join(f"    x{i}: float\n" for i in range(self.n))
        record = "@dataclass\nclass R:\n" + own + "".join(map(self.method, range(5)))
        record += f"    @property\n    def p(self):\n        return {self.field('self')} * {self.field('self')}\n"
        given = ", ".join(f"x + {i}.0 * y + k" for i in range(self.n))
        main = f"def f(x: float, y: float) -> float:\n    j = 1\n    rs = [R({given}) for k in range(3)]\n"
        stores = [line for _ in range(3) for line in self.store()]
        main += "    for k in range(3):\n" + "".join(f"        {line}\n" for line in stores)
        return (
            HEAD
            + record
            + main
            + f"    return sum({' + '.join(f'r.x{i} * {i}.5' for i in range(self.n))} for r in rs)\n"
        )


@pytest.mark.parametrize("seed", range(30 if NIGHTLY else 12))
def test_drawn_lists(seed):
    drawn = DrawnList(seed)
    drawn.n = drawn.draw.randint(2, 6)
    assert_derivatives(defined(drawn.text()), 0.75, 0.5)
