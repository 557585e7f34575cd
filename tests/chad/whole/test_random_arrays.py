"""Random programs of rows of different sizes, registry primitives, scattered rows and rows put together."""

import numpy as np
from chad import drawing as st
from chad.whole.test_random import CALM, VECTOR, DrawNoSums, agrees, numbers
from hypothesis import given
from hypothesis.strategies import integers

from tapeengine.chad.language.terms import (
    Build,
    Concatenate,
    Definition,
    Elements,
    Fold,
    If,
    Let,
    Module,
    Op,
    Scatter,
    Size,
    Var,
    lit,
)
from tapeengine.chad.language.terms import Primitive as PrimitiveTerm
from tapeengine.chad.language.types import BOOL, FLOAT, INT, Array, Product
from tapeengine.chad.run.execute import Executable
from tapeengine.primitive import Primitive

MATRIX = Array(VECTOR)
TYPES = [FLOAT, VECTOR, MATRIX, MATRIX, Array(MATRIX), Array(Product((FLOAT, VECTOR))), Array(INT)]
TYPES += [Product((VECTOR, MATRIX)), Array(Product((FLOAT, INT)))]


def _squares_vjp(first, x):
    return 2 * first * x


def _sine_vjp(first, x):
    return first * np.cos(x) / 2


def _both_vjp(first, x):
    return first[0] + 2 * first[1] * x


PRIMITIVES = {
    p.name: p
    for p in (
        Primitive("example.squares", lambda x: np.sum(x * x), vjp={"x": _squares_vjp}, jvp={"x": _squares_vjp}),
        Primitive("example.sine", lambda x: np.sin(x) / 2, vjp={"x": _sine_vjp}, jvp={"x": _sine_vjp}),
        Primitive("example.both", lambda x: (np.sum(x), x * x), vjp={"x": _both_vjp}, jvp={"x": _both_vjp}),
    )
}


class DrawArrays(DrawNoSums):
    def type(self):
        return self.choose(TYPES)

    def introduce(self, of, env, depth):
        if of == FLOAT and self.draw(st.booleans()):
            name, given_type = self.choose([("example.sine", FLOAT), ("example.squares", VECTOR)])
            return PrimitiveTerm(name, (self.term(given_type, env, depth),), (), FLOAT)
        if of == Product((FLOAT, VECTOR)):
            return PrimitiveTerm("example.both", (self.term(VECTOR, env, depth),), (), of)
        return super().introduce(of, env, depth)

    def array(self, element, env, depth):
        kind = self.choose(["flat", "scatter", "triangle", "other", "other", "other"])
        of = Array(element)
        if kind == "flat" and element in (FLOAT, VECTOR):
            rows, a, b = self.var(Array(of)), self.var(of), self.var(of)
            some = Fold(a, b, Concatenate(a, b), rows)
            empty = If(Op("lt", (lit(0), Size(rows)), BOOL), some, Elements((), element))
            return Let(rows, self.term(Array(of), env, depth), empty)
        if kind == "scatter" and element == VECTOR:
            return self.scattered(of, env, depth)
        if kind == "triangle" and isinstance(element, Array):
            i, j = self.var(INT), self.var(INT)
            row = Build(
                Op("iadd", (i, lit(self.choose([0, 1]))), INT), j, self.term(element.element, (*env, i, j), depth)
            )
            return Build(self.count(env), i, row)
        return super().array(element, env, depth)

    def scattered(self, of, env, depth):
        """Rows of a matrix added at rows of itself, some of them more than once."""
        xs, j, k = self.var(of), self.var(INT), self.var(INT)
        n = Op("imul", (Op("imin", (Size(xs), lit(1)), INT), lit(self.choose([0, 2, 3]))), INT)
        at = Op("imod", (Op("imul", (j, lit(2)), INT), Op("imax", (Size(xs), lit(1)), INT)), INT)
        width, i = self.var(INT), self.var(INT)
        base = Build(self.count(env), k, Build(lit(2), width, self.term(FLOAT, (*env, k, width), depth)))
        given_rows = Build(n, self.var(INT), Build(lit(2), i, self.term(FLOAT, (*env, i), depth)))
        return Let(xs, base, Scatter(xs, Build(n, j, at), given_rows))


@st.composite
def values(draw, of):
    """Values of a type, each of whose arrays has a size of its own."""
    match of:
        case Product(items):
            return tuple(draw(values(t)) for t in items)
        case Array(element):
            items = [draw(values(element)) for _ in range(draw(st.integers(0, 3)))]
            return np.array(items, int if element == INT else float) if element in (FLOAT, INT) else items
    return draw(st.integers(-3, 3)) if of == INT else draw(numbers)


def programs():
    return st.seeded(program())


@st.composite
def program(draw):
    env = tuple(Var(f"x{i}", t) for i, t in enumerate(draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=3))))
    maker = DrawArrays(draw, functions=False)
    term = maker.term(maker.type(), env, draw(st.integers(1, 3)))
    return env, [draw(values(v.of)) for v in env], term


@CALM
@given(programs(), integers(0, 2**32 - 1))
def test_generated_agrees_with_evaluated(program, seed):
    env, args, term = program
    agrees(Executable(Module("f", {"f": Definition("f", env, term.type, term)}), {}, PRIMITIVES), args, seed)
