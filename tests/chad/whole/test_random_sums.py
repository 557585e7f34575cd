"""On random programs with sums, recursion and functions, what runs agrees with what is evaluated."""

from dataclasses import dataclass

import numpy as np
from chad import drawing as st
from chad.terms_of_language import Draw
from chad.test_examples import leaves, random_like
from chad.whole.agreement import vjps_agree
from chad.whole.test_random import CALM, numbers
from hypothesis import given
from hypothesis.strategies import integers

from tapeengine.chad.language.terms import OTHERS, Branch, Call, Case, Definition, Let, Module, Proj, Var
from tapeengine.chad.language.types import FLOAT, UNIT, Array, Named, Product, Sum
from tapeengine.chad.run.execute import Executable

VECTOR = Array(FLOAT)
CIRCLE = Product((FLOAT,), "Circle", ("radius",))
PATH = Product((VECTOR, FLOAT), "Path", ("points", "width"))
CONS = Product((FLOAT, VECTOR, Named("Chain")), "Cons", ("value", "row", "rest"))
CHAIN = Named("Chain")
NAMED = {"Chain": Sum((CONS, UNIT), "Chain")}
FLAT = Sum((CIRCLE, UNIT))
SHAPE = Sum((CIRCLE, PATH))
TYPES = [FLOAT, FLOAT, VECTOR, FLAT, SHAPE, CHAIN, Array(FLAT), Array(SHAPE), Array(CHAIN), Product((FLOAT, FLAT))]


@dataclass(frozen=True)
class Circle:
    radius: float


@dataclass(frozen=True)
class Path:
    points: object
    width: float


@dataclass(frozen=True)
class Cons:
    value: float
    row: object
    rest: object


CLASSES = {"Circle": Circle, "Path": Path, "Cons": Cons}


class DrawSums(Draw):
    """Draws terms over the types above; a chain is taken apart by a case on what it stands for."""

    def type(self):
        return self.choose(TYPES)

    def leaf(self, of, env):
        return super().leaf(of, env) if of != CHAIN else self.chain(env, 0)

    def introduce(self, of, env, depth):
        return super().introduce(of, env, depth) if of != CHAIN else self.chain(env, depth)

    def chain(self, env, depth):
        from tapeengine.chad.language.terms import Inject, Tuple, unit

        if depth <= 0 or self.draw(st.booleans()):
            return Inject(1, unit(), CHAIN)
        parts = tuple(self.term(t, env, depth - 1) for t in CONS.items)
        return Inject(0, Tuple(parts, CONS), CHAIN)

    def case(self, of, env, depth):
        known = [v for v in env if v.of in (CHAIN, FLAT, SHAPE)]
        if not known:
            return super().case(of, env, depth)
        scrutinee = self.choose(known)
        options = NAMED["Chain"].options if scrutinee.of == CHAIN else scrutinee.of.options
        places = self.choose([(), (*reversed(range(len(options))),), (0, OTHERS), (len(options) - 1, OTHERS)])
        types = [options[k] if k != OTHERS else UNIT for k in places or range(len(options))]
        return Case(scrutinee, tuple(self.branch(t, of, env, depth) for t in types), places)

    def branch(self, option, of, env, depth):
        var = self.var(option)
        parts = [self.var(t) for t in option.items]
        body = self.term(of, (*env, *parts), depth)
        for i, part in reversed(list(enumerate(parts))):
            body = Let(part, Proj(var, i), body)
        return Branch(var, body)

    def recursive(self, name, result, depth):
        """``walk(chain, x)``: something of what it gives for the rest of the chain."""
        chain, x, cons, rest = self.var(CHAIN), self.var(FLOAT), self.var(CONS), self.var(result)
        value, row = self.var(FLOAT), self.var(VECTOR)
        env = (x, value, row, rest)
        again = Call(name, (Proj(cons, 2), self.term(FLOAT, (x, value, row), 1)), result)
        inner = Let(rest, again, self.term(result, env, depth))
        taken = Let(value, Proj(cons, 0), Let(row, Proj(cons, 1), inner))
        body = Case(chain, (Branch(cons, taken), Branch(self.var(UNIT), self.term(result, (x,), 1))))
        return Definition(name, (chain, x), result, body)


@st.composite
def values(draw, of, size):
    """Python values of a type."""
    if of == CHAIN:
        chain = None
        for _ in range(draw(st.integers(0, 3))):
            chain = Cons(draw(numbers), draw(values(VECTOR, size)), chain)
        return chain
    match of:
        case Product((), ""):
            return None
        case Product(items, name):
            parts = tuple(draw(values(t, size)) for t in items)
            return CLASSES[name](*parts) if name else parts
        case Sum(options):
            return draw(values(draw(st.sampled_from(options)), size))
        case Array(element):
            items = [draw(values(element, size)) for _ in range(size)]
            return np.array(items, dtype=float) if element == FLOAT else items
    return draw(numbers)


def programs():
    """A module, whose main definition calls a recursive one, with arguments."""
    return st.seeded(program())


@st.composite
def program(draw):
    env = tuple(Var(f"x{i}", t) for i, t in enumerate(draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=2))))
    env = (*env, Var("x2", CHAIN))
    maker = DrawSums(draw, functions=True)
    walk = maker.recursive("walk", maker.choose([FLOAT, VECTOR, FLAT, CHAIN]), draw(st.integers(1, 2)))
    walked = maker.var(walk.result)
    call = Call("walk", (env[-1], maker.term(FLOAT, env, 1)), walk.result)
    of = maker.type()
    main = Definition("f", env, of, Let(walked, call, maker.term(of, (*env, walked), draw(st.integers(1, 3)))))
    size = draw(st.integers(1, 3))
    return Module("f", {"f": main, "walk": walk}, NAMED), [draw(values(v.of, size)) for v in env]


@CALM
@given(programs(), integers(0, 2**32 - 1))
def test_generated_agrees_with_evaluated(program, seed):
    module, args = program
    vjps_agree(Executable(module, CLASSES, {}), args, lambda value: random_like(value, seed), leaves)
