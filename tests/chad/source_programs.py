"""Random programs as Python text: statements over numbers, arrays, records and local functions, some of which raise."""

import itertools
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, NamedTuple

import numpy
from chad.written_functions import defined

import tapeengine.math as traced_math
from tapeengine import chad as te

__all__ = ["Point", "Source", "draw", "function_of"]


class Point(NamedTuple):
    """The record of random programs."""

    x: float
    k: int
    y: float


HELPERS = """\
def damped(a, b=0.5):
    if a > 2.75:
        raise RuntimeError("too large")
    return math.sin(a) * b


def first_above(xs: te.Vec, least: float) -> float:
    for x in xs:
        if x > least:
            break
    else:
        return least
    return x * least


"""
HEADER = "def program(x: float, y: float, n: int, k: int, xs: te.Vec, ys: te.Vec, p: Point):"
FLOATS = (0.0, 1.0, -1.0, 0.5, 2.0, -0.75, 1.25, 3.0, 0.125)


@dataclass(frozen=True)
class Source:
    """A program's text and its arguments."""

    seed: int
    text: str
    primals: tuple[Any, ...]

    def __str__(self) -> str:
        imports = "import tapeengine as te\nfrom tapeengine import math\nfrom chad.source_programs import Point\n\n\n"
        return f"{imports}{self.text}\n\nprimals = {self.primals!r}\nprint(te.vjp(te.program(program), *primals))\n"


def function_of(source: Source) -> Callable[..., Any]:
    """Give the Python function of a program."""
    scope: dict[str, Any] = {
        "te": te,
        "math": traced_math,
        "Point": Point,
        "accumulate": accumulate,
        "itertools": itertools,
        "np": numpy,
    }
    function: Callable[..., Any] = defined(source.text, "program", **scope)
    return function


@dataclass
class Scope:
    """The variables that have a value, by type; `own` are arrays that the program made itself."""

    by_type: dict[str, list[str]]
    functions: list[str] = field(default_factory=list)
    own: list[str] = field(default_factory=list)
    fixed: list[str] = field(default_factory=lambda: ["n"])

    def inner(self) -> "Scope":
        """What a block inside sees: what it defines is not seen outside."""
        copies = {of: list(names) for of, names in self.by_type.items()}
        return Scope(copies, list(self.functions), list(self.own), list(self.fixed))


class Writer:
    """Writes one program."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth = 1
        self.loops = 0
        self.in_function = False
        self.count = 0
        self.budget = self.random.randint(3, 12)
        self.result = ""

    def pick(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def chance(self, p: float) -> bool:
        return self.random.random() < p

    def fresh(self, hint: str) -> str:
        self.count += 1
        return f"{hint}{self.count}"

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    # ------------------------------------------------------------------------------------------------- expressions
    def float_(self, s: Scope, depth: int = 2) -> str:
        if depth == 0 or self.chance(0.25):
            return self.pick(*s.by_type["float"], *s.by_type["float"], repr(self.pick(*FLOATS)))
        a = self.float_(s, depth - 1)
        rules: list[Callable[[], str]] = [
            lambda: f"({a} {self.pick('+', '-', '*', '*')} {self.float_(s, depth - 1)})",
            lambda: f"math.{self.pick('sin', 'cos', 'tanh', 'atan')}({a})",
            lambda: f"({a} if {self.bool_(s)} else {self.float_(s, depth - 1)})",
            lambda: f"max({a}, {self.float_(s, depth - 1)})",
            lambda: f"abs({a})",
            lambda: f"damped({a}{self.pick('', ', b=x', ', y')})",
            lambda: f"({a} + {self.int_(s)})",
            lambda: f"p.{self.pick('x', 'y')}",
            lambda: self.partial_float(s, a, depth),
            lambda: self.partial_float(s, a, depth),
            lambda: self.of_array(s),
            lambda: self.of_array(s),
        ]
        if s.functions:
            rules += [lambda: f"{self.pick(*s.functions)}({a})"] * 2
        return self.random.choice(rules)()

    def partial_float(self, s: Scope, a: str, depth: int) -> str:
        return str(
            self.pick(
                f"({a} / {self.float_(s, depth - 1)})",
                f"math.log({a})",
                f"math.sqrt({a})",
                f"{self.vec(s)}[{self.int_(s)}]",
                f"({self.int_(s)} / {self.int_(s)})",
                f"max({self.vec(s)})",
                f"min({self.vec(s)}, key=abs)",
                f"first_above({self.vec(s)}, {self.float_(s, 0)})",
                f"round({a}, {self.int_(s)})",
                f"tuple({self.vec(s)})[{self.int_(s)}]",
            )
        )

    def of_array(self, s: Scope) -> str:
        xs, v = self.vec(s), self.fresh("e")
        with_v = self.with_(s, "float", v)
        return str(
            self.pick(
                f"sum({xs})",
                f"sum({self.float_(with_v, 1)} for {v} in {xs})",
                f"sum({self.float_(self.with_(s, 'int', v), 1)} for {v} in range({self.int_(s)}))",
                f"max([{self.float_(with_v, 1)} for {v} in {xs}], default={self.float_(s, 0)})",
                f"float(len([{v} for {v} in {xs} if {v} > {self.float_(s, 0)}]))",
                f"[{v} for {v} in {xs} if {v} > {self.float_(s, 0)}][0]",
                f"[{self.float_(s, 1)} for {v} in {xs}][{self.int_(s)}]",
                f"float(len([{self.float_(with_v, 1)} for {v} in {xs}]))",
                f"math.fsum({xs})",
                f"sum({v} * {v}b for {v}, {v}b in itertools.pairwise({xs}))",
                f"sum({v} * {v}b for {v}, {v}b in itertools.combinations({xs}, 2))",
                f"sum({v} * {v}b for {v}, {v}b in itertools.product({xs}, {self.vec(s)}))",
                f"sum({v} * {v}b for {v}, {v}b in zip({xs}, {self.vec(s)}, strict=True))",
            )
        )

    def with_(self, s: Scope, of: str, name: str) -> Scope:
        inner = s.inner()
        inner.by_type[of].append(name)
        return inner

    def int_(self, s: Scope, depth: int = 1) -> str:
        if depth == 0 or self.chance(0.5):
            return self.pick(*s.by_type["int"], str(self.random.randint(0, 3)))
        a, b = self.int_(s, 0), self.int_(s, 0)
        return str(
            self.pick(
                f"({a} {self.pick('+', '-', '*')} {b})",
                f"({a} // {b})",
                f"({a} % {b})",
                f"len({self.vec(s)})",
                "p.k",
                f"min({a}, {b})",
                f"int({self.float_(s, 0)} * 1.7)",
            )
        )

    def bool_(self, s: Scope) -> str:
        simple = self.pick(
            f"{self.float_(s, 0)} {self.pick('<', '>', '<=')} {self.float_(s, 0)}",
            f"{self.int_(s, 0)} {self.pick('<', '>=', '==', '!=')} {self.int_(s, 0)}",
            f"{self.float_(s, 1)} > 0.3",
            f"{self.int_(s, 0)} {self.pick('in', 'not in')} ({self.int_(s, 0)}, 2)",
        )
        if self.chance(0.2):
            other = f"{self.float_(s, 1)} > 0.7"
            return f"({simple} {self.pick('and', 'or')} {other})"
        return f"not {simple}" if self.chance(0.1) else str(simple)

    def vec(self, s: Scope, depth: int = 0) -> str:
        if depth == 0:
            return self.pick(*s.by_type["vec"])
        v = self.fresh("e")
        with_v = self.with_(s, "float", v)
        return str(
            self.pick(
                f"[{self.float_(with_v, 2)} for {v} in {self.vec(s)}]",
                f"[{self.float_(self.with_(s, 'int', v), 2)} for {v} in range({self.int_(s)})]",
                f"[{v} for {v} in {self.vec(s)} if {self.bool_(with_v)}]",
                f"{self.vec(s)}[{self.int_(s)}:]",
                f"{self.vec(s)}[:{self.int_(s)}]",
                f"[{self.float_(s)}, {self.float_(s)}]",
                f"[{v} * {v}b for {v}, {v}b in zip({self.vec(s)}, {self.vec(s)})]",
                f"[{v} * {v}b for {v}, {v}b in enumerate({self.vec(s)})]",
                f"list(reversed({self.vec(s)}))",
                f"sorted({self.vec(s)}{self.pick('', ', key=abs', ', reverse=True')})",
                f"[{self.float_(s)}] * {self.int_(s)}",
                f"[{self.float_(s)}, *{self.vec(s)}]",
                f"list(itertools.chain({self.vec(s)}, {self.vec(s)}))",
            )
        )

    def expression(self, s: Scope, of: str) -> str:
        if of == "point":
            return f"Point({self.float_(s)}, {self.int_(s)}, {self.float_(s)})"
        made = {"float": self.float_, "int": self.int_, "bool": self.bool_}.get(of)
        return self.vec(s, 1) if made is None else made(s)

    # -------------------------------------------------------------------------------------------------- statements
    def block(self, s: Scope, size: int) -> None:
        self.depth += 1
        before = len(self.lines)
        for _ in range(size):
            self.statement(s)
        if len(self.lines) == before:
            self.write("pass")
        self.depth -= 1

    def statement(self, s: Scope) -> None:
        self.budget -= 1
        plain = [self.assign, self.assign, self.rebind, self.rebind, self.rebind, self.unused, self.several]
        nested = [
            self.raising,
            self.tried,
            self.bound_in_test,
            self.if_,
            self.if_,
            self.for_,
            self.for_,
            self.while_,
            self.function,
            self.lambda_,
            self.array,
            self.dict_,
            self.none_before,
        ]
        if not self.in_function:
            nested.append(self.nonlocal_)
        if s.own:
            plain += [self.change] * 6
        self.random.choice(plain if self.depth > 3 or self.budget < 0 else plain + nested)(s)

    def tried(self, s: Scope) -> None:
        """A variable that has another value where its own cannot be computed."""
        names = [n for n in s.by_type["float"] if n.isidentifier() and n not in s.fixed]
        if not names:
            return self.assign(s)
        name, otherwise = self.pick(*names), self.float_(s, 1)
        self.write("try:")
        self.write(f"    {name} {self.pick('', '+')}= {self.partial_float(s, self.float_(s, 1), 2)}")
        self.write(f"except ({self.pick('ArithmeticError, LookupError', 'ValueError, LookupError')}):")
        self.write(f"    {name} = {otherwise}")
        if self.chance(0.4):
            self.write("finally:")
            self.write(f"    {name} {self.pick('', '+')}= {self.float_(s, 1)}")
        return None

    def dict_(self, s: Scope) -> None:
        """A dict whose values are numbers, one of which may be changed at once."""
        name = self.fresh("d")
        self.write(f'{name} = {{"a": {self.float_(s)}, "b": {self.float_(s)}}}')
        if self.chance(0.5):
            self.write(f'{name}["{self.pick("a", "b", "c")}"] = {self.float_(s)}')
        s.by_type["float"] += [f'{name}["a"]', f'{name}["b"]', f"sum({name}.values())"]

    def none_before(self, s: Scope) -> None:
        """A variable that is None before a loop."""
        before, v, total = self.fresh("b"), self.fresh("e"), self.fresh("v")
        self.write(f"{total} = 0.0")
        self.write(f"{before} = None")
        self.write(f"for {v} in {self.vec(s)}:")
        self.write(f"    if {before} is not None:")
        self.write(f"        {total} += {before} * {self.float_(self.with_(s, 'float', v), 1)}")
        self.write(f"    {before} = {v}")
        s.by_type["float"].append(total)

    def nonlocal_(self, s: Scope) -> None:
        """A local function that changes a variable around it, called once or in a loop."""
        names = [n for n in s.by_type["float"] if n.isidentifier() and n not in s.fixed]
        if not names:
            return self.assign(s)
        own, name, a, result = self.pick(*names), self.fresh("f"), self.fresh("a"), self.fresh("v")
        inner = self.with_(s, "float", a)
        inner.functions = []
        self.write(f"def {name}({a}):")
        self.write(f"    nonlocal {own}")
        self.write(f"    {own} {self.pick('', '+', '*')}= {self.float_(inner, 1)}")
        self.write(f"    return {self.float_(inner, 1)}")
        if self.chance(0.5):
            self.write(f"for {a}e in {self.vec(s)}:")
            self.write(f"    {name}({a}e)")
        self.write(f"{result} = {name}({self.float_(s, 0)}) + {self.float_(s, 0)}")
        s.by_type["float"].append(result)
        return None

    def assign(self, s: Scope) -> None:
        of = self.pick("float", "float", "int", "vec", "point")
        name = self.fresh("v")
        self.write(f"{name} = {self.expression(s, of)}")
        if of == "point":
            s.by_type["float"] += [f"{name}.x", f"{name}.y"]
            s.by_type["int"].append(f"{name}.k")
        else:
            s.by_type[of].append(name)

    def rebind(self, s: Scope) -> None:
        of = self.pick("float", "float", "float", "int")
        names = [n for n in s.by_type[of] if n.isidentifier() and n not in s.fixed]
        if not names:
            return self.assign(s)
        name = self.pick(*names)
        if of == "float" and self.chance(0.5):
            self.write(f"{name} {self.pick('+', '-', '*')}= {self.float_(s)}")
        else:
            self.write(f"{name} = {self.expression(s, of)}")
        return None

    def unused(self, s: Scope) -> None:
        """What may raise and has no use."""
        self.write(f"{self.fresh('u')} = {self.expression(s, self.pick('float', 'int', 'vec'))}")

    def several(self, s: Scope) -> None:
        a, b = self.fresh("v"), self.fresh("v")
        self.write(f"{a}, {b} = {self.float_(s)}, {self.float_(s)}")
        s.by_type["float"] += [a, b]

    def if_(self, s: Scope) -> None:
        self.write(f"if {self.bool_(s)}:")
        self.branch(s.inner())
        if self.chance(0.4):
            self.write("else:")
            self.branch(s.inner())

    def raising(self, s: Scope) -> None:
        if self.chance(0.5):
            return self.write(f"assert {self.bool_(s)}")
        self.write(f"if {self.bool_(s)}:")
        self.write(f"    raise {self.pick('ValueError', 'TypeError(k)', 'KeyError(1)')}")
        return None

    def bound_in_test(self, s: Scope) -> None:
        name = self.fresh("v")
        self.write(f"if ({name} := {self.float_(s)}) > {self.float_(s, 0)}:")
        s.by_type["float"].append(name)
        self.branch(s.inner())

    def branch(self, s: Scope) -> None:
        self.block(s, self.random.randint(1, 2))
        self.depth += 1
        if self.loops and self.chance(0.5):
            self.write(self.pick("break", "continue", "break"))
        elif self.chance(0.3):
            self.return_(s)
        self.depth -= 1

    def return_(self, s: Scope) -> None:
        self.write(f"return {self.float_(s) if self.in_function else self.final(s)}")

    def for_(self, s: Scope) -> None:
        inner = s.inner()
        v = self.fresh("i")
        kind = self.random.randrange(4)
        over = f"range({self.int_(s)})" if kind < 2 else self.vec(s)
        if kind == 3:
            self.write(f"for {v}, {v}x in enumerate({over}):")
            inner.by_type["float"].append(f"{v}x")
        else:
            self.write(f"for {v} in {over}:")
        inner.by_type["float" if kind == 2 else "int"].append(v)
        self.loop_body(inner)
        self.after_loop(s)
        if self.chance(0.2):  # the last one, if there is one
            s.by_type["float" if kind == 2 else "int"].append(v)

    def after_loop(self, s: Scope) -> None:
        if self.chance(0.2):
            self.write("else:")
            self.block(s.inner(), 1)

    def loop_body(self, inner: Scope) -> None:
        self.loops += 1
        self.block(inner, self.random.randint(1, 3))
        self.loops -= 1
        self.depth += 1
        self.rebind(inner)
        self.depth -= 1

    def while_(self, s: Scope) -> None:
        counter = self.fresh("c")
        self.write(f"{counter} = 0")
        self.write(f"while {self.pick('True', self.bool_(s))}:")
        self.depth += 1
        self.write(f"{counter} += 1")
        self.write(f"if {counter} > {self.random.randint(1, 4)}:")
        self.write("    break")
        self.depth -= 1
        inner = s.inner()
        inner.by_type["int"].append(counter)
        inner.fixed.append(counter)
        self.loop_body(inner)
        self.after_loop(s)
        s.by_type["int"].append(counter)

    def function(self, s: Scope) -> None:
        """A local function: what it captures may be bound again, what it assigns is its own."""
        name, a = self.fresh("f"), self.fresh("a")
        self.write(f"def {name}({a}: float) -> float:")
        inner = s.inner()
        inner.own = []
        inner.functions = [f for f in s.functions if self.chance(0.5)]
        if self.chance(0.95):  # else a name is read before the function has given it a value
            inner.fixed += [n for names in inner.by_type.values() for n in names]
        inner.by_type["float"].append(a)
        before, self.loops, self.in_function = (self.loops, self.in_function), 0, True
        self.depth += 1
        if self.chance(0.3):
            own = self.pick(*(n for n in s.by_type["float"] if n.isidentifier()))
            self.write(f"{own} = {self.pick(a, '0.5')} * 2.0")
            inner.fixed = [n for n in inner.fixed if n != own]
        self.depth -= 1
        self.block(inner, self.random.randint(0, 2))
        self.depth += 1
        self.return_(inner)
        self.depth -= 1
        self.loops, self.in_function = before
        s.functions.append(name)

    def lambda_(self, s: Scope) -> None:
        name, a = self.fresh("f"), self.fresh("a")
        self.write(f"{name} = lambda {a}: {self.float_(self.with_(s, 'float', a))}")
        s.functions.append(name)

    def array(self, s: Scope) -> None:
        """An array that the program makes, to be changed in place."""
        name = self.fresh("w")
        self.write(f"{name} = [{self.float_(s)} for _ in range({self.int_(s)})]")
        s.by_type["vec"].append(name)
        s.own.append(name)

    def change(self, s: Scope) -> None:
        name = self.pick(*s.own)
        kind = self.random.randrange(3)
        if kind == 0:
            self.write(f"{name}.append({self.float_(s)})")
        else:
            self.write(f"{name}[{self.int_(s)}] {self.pick('', '+', '*')}= {self.float_(s)}")

    def final(self, s: Scope) -> str:
        if not self.result:
            self.result = self.pick("float", "float", "vec", "pair", "point")
        if self.result == "pair":
            return f"({self.float_(s)}, {self.vec(s)})"
        return self.vec(s) if self.result == "vec" else self.expression(s, self.result)

    def whole(self) -> str:
        """Write the program."""
        s = Scope({"float": ["x", "y"], "int": ["n", "k"], "vec": ["xs", "ys"]})
        while self.budget > 0:
            self.statement(s)
        self.write(f"return {self.final(s)}")
        return HELPERS + "\n".join([HEADER, *self.lines]) + "\n"


def draw(seed: int) -> Source:
    """Draw a program and its arguments."""
    writer = Writer(seed)
    text = writer.whole()
    r = writer.random

    def floats(count: int) -> list[float]:
        return [r.choice((*FLOATS, 0.3, 1.7, -0.4)) for _ in range(count)]

    x, y, a, b = floats(4)
    record = Point(a, r.randint(-1, 3), b)
    arrays = floats(r.randint(0, 4)), floats(r.randint(0, 4))
    return Source(seed, text, (x, y, r.randint(-1, 4), r.randint(-1, 3), *arrays, record))
