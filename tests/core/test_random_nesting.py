"""Random programs with inner derivatives: both cores give the same bits, and differences agree."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jacobians import close
from random_programs import Step, apply, floats, steps


@dataclass(frozen=True)
class Nested:
    """Steps, some of which are replaced by the derivative of what follows, in a trace of its own.

    ``depths[i]`` traces are opened before step i; each takes one of the earlier values as its primal and captures the
    others, and its program is the rest of the steps up to ``length``.
    """

    inputs: tuple[float, ...]
    steps: tuple[Step, ...]
    opened: frozenset[int]

    def __call__(self, m: Any, grad: Callable[..., Any], xs: list[Any]) -> Any:
        return self.rest(m, grad, list(xs), 0)

    def rest(self, m: Any, grad: Callable[..., Any], values: list[Any], i: int, closed: bool = True) -> Any:
        if i == len(self.steps):
            return values[-1]
        step = self.steps[i]
        if closed and i in self.opened:
            at = step.left % len(values)

            def inner(y: Any) -> Any:
                return self.rest(m, grad, [*values[:at], y, *values[at + 1 :]], i, False)

            return grad(inner)(values[at]) * 0.5 + values[at]
        a, b = values[step.left % len(values)], values[step.right % len(values)]
        return self.rest(m, grad, [*values, apply(m, step, a, b)], i + 1)


SMOOTH = ("sin", "cos", "tanh", "atan", "expit", "softplus", "add", "sub", "mul", "div", "plus", "times", "minus_from")
smooth_steps = steps.filter(lambda step: step.op in SMOOTH)
programs = st.builds(
    Nested,
    st.lists(floats, min_size=1, max_size=3).map(tuple),
    st.lists(smooth_steps, min_size=2, max_size=8).map(tuple),
    st.sets(st.integers(0, 7), max_size=3).map(frozenset),
)


def gradient(core: Any, program: Nested) -> list[float]:
    return core.grad(lambda xs: program(core.math, core.grad, xs))(list(program.inputs))


@settings(max_examples=300, deadline=None)
@given(programs)
def test_both_cores_give_the_same_bits(cores: Any, program: Nested) -> None:
    ours, theirs = (gradient(core, program) for core in cores)
    assert repr(ours) == repr(theirs)


@settings(max_examples=150, deadline=None)
@given(programs)
def test_differences_agree(cores: Any, program: Nested) -> None:
    compiled, _ = cores

    def at(xs: list[float]) -> float:
        return program(compiled.math, compiled.grad, xs)

    xs, h = list(program.inputs), 2.0**-8
    assume(all(abs(x) < 3 for x in xs) and abs(at(xs)) < 1e3)
    slopes = []
    for j in range(len(xs)):
        moved = {k: at([*xs[:j], xs[j] + k * h, *xs[j + 1 :]]) for k in (-3, -2, -1, 1, 2, 3)}
        weights = ((1, 0.75), (2, -0.15), (3, 1 / 60))
        slopes.append(sum(w * (moved[k] - moved[-k]) for k, w in weights) / h)
    ours = gradient(compiled, program)
    assume(max(abs(x) for x in ours) < 1e3)
    assert close([slopes], [ours], 1e-3)


def test_a_program_that_opens_three_traces(cores: Any) -> None:
    program = Nested(
        (0.5, -1.0),
        (Step("mul", 0, 1, 0.0), Step("sin", 2, 0, 0.0), Step("mul", 3, 0, 0.0), Step("mul", 4, 4, 0.0)),
        frozenset({0, 1, 2}),
    )
    ours, theirs = (gradient(core, program) for core in cores)
    assert repr(ours) == repr(theirs)
    assert ours != [0.0, 0.0]
    assert ours == pytest.approx(theirs)
