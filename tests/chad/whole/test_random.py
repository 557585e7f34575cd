"""On random programs without sums, what runs agrees with what is evaluated."""

import numpy as np
from chad import drawing as st
from chad.terms_of_language import Draw
from chad.whole.agreement import vjps_agree
from chad.whole.test_programs import filled, flat
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import integers

from tapeengine.chad.language.terms import Definition, Module, Var
from tapeengine.chad.language.types import FLOAT, INT, Array, Product
from tapeengine.chad.run.execute import Executable

CALM = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    report_multiple_bugs=False,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),
)
VECTOR = Array(FLOAT)
TYPES = [FLOAT, FLOAT, VECTOR, VECTOR, Product((FLOAT, INT)), Product((FLOAT, VECTOR)), Array(VECTOR)]
TYPES += [Array(Product((FLOAT, FLOAT)))]
numbers = st.floats(-1.5, 1.5)


class DrawNoSums(Draw):
    def type(self):
        return self.choose(TYPES)

    def case(self, of, env, depth):
        return self.condition(of, env, depth)


@st.composite
def values(draw, of, size):
    """Values of a type, whose arrays are all of one size."""
    match of:
        case Product(items):
            return tuple(draw(values(t, size)) for t in items)
        case Array(element):
            items = [draw(values(element, size)) for _ in range(size)]
            return items if isinstance(element, Product) else np.array(items, dtype=float)
    return draw(st.integers(-3, 3)) if of == INT else draw(numbers)


def programs():
    return st.seeded(program())


@st.composite
def program(draw):
    env = tuple(Var(f"x{i}", t) for i, t in enumerate(draw(st.lists(st.sampled_from(TYPES), min_size=1, max_size=3))))
    maker = DrawNoSums(draw, functions=True)
    term = maker.term(maker.type(), env, draw(st.integers(1, 3)))
    size = draw(st.integers(1, 3))
    return env, [draw(values(v.of, size)) for v in env], term


@CALM
@given(programs(), integers(0, 2**32 - 1))
def test_generated_agrees_with_evaluated(program, seed):
    env, args, term = program
    agrees(Executable(Module("f", {"f": Definition("f", env, term.type, term)}), {}, {}), args, seed)


def agrees(executable, args, seed):
    numbers = np.random.default_rng(seed).normal(size=2000)
    vjps_agree(executable, args, lambda value: filled(value, iter(numbers)), flat)
