"""Rules that a plain sweep calls while an enclosing trace records, as in the second run of a checkpoint.

What a rule makes there with `tapeengine.numpy` belongs to the enclosing trace, and depends on none of its inputs.
"""

import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.errors
from tapeengine.primitive import Primitive
from tapeengine.primitive.spaces import space_of
from tapeengine.testing.case import Case
from tapeengine.testing.derivative import same_bits
from tapeengine_primitives import plugin

PRIMITIVES = plugin.tapeengine_primitives()


def cases(primitive: Primitive) -> list[Case]:
    return [Case(primitive, k, sample, 0) for k, sample in enumerate(primitive.samples_drawn(0))]


def program_of(case: Case, position: int) -> Callable[[Any], Any]:
    """A program that calls the primitive twice, so that contributions meet in the buffers of its argument."""

    def call(x: Any) -> Any:
        return case.primitive(*case.args[:position], x, *case.args[position + 1 :], **case.sample.static)

    return lambda x: (call(x), call(x))


def derivatives(program: Callable[[Any], Any], case: Case, position: int) -> Any:
    """The program's cotangent, tangent and rows of the Jacobian."""
    point, rng = case.args[position], numpy.random.default_rng(0)
    tangent = space_of(point).random(rng)
    cotangent = (case.out_space.random(rng), case.out_space.random(rng))
    value, back = te.vjp(program, point)
    return value, back(cotangent), te.jvp(program, (point,), (tangent,))[1]


def within_rule(function: Callable[[Any], Any], point: Any) -> Any:
    """The function's value on plain numbers, in the rule of a custom function."""
    found = []

    @te.custom_vjp
    def identity(x: Any) -> Any:
        return x

    def backward(kept: Any, ct: float) -> tuple[float]:
        found.append(function(point))
        return (ct,)

    identity.defvjp(lambda x: (x, None), backward)
    te.grad(identity)(1.0)
    return found[0]


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    """What a function gives, or the class of its error."""
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*args)
        except te.errors.TapeEngineError as error:
            return type(error)


def same(a: Any, b: Any) -> bool:
    return a is b if isinstance(b, type) else same_bits(a, b)


@pytest.mark.parametrize("primitive", PRIMITIVES, ids=[primitive.name for primitive in PRIMITIVES])
def test_checkpointed(primitive: Primitive) -> None:
    for case in cases(primitive):
        for position in case.differentiated():
            program = program_of(case, position)
            found = outcome(derivatives, te.checkpoint(program), case, position)
            assert same(found, outcome(derivatives, program, case, position))


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("primitive", PRIMITIVES, ids=[primitive.name for primitive in PRIMITIVES])
def test_jacobians(primitive: Primitive, mode: str) -> None:
    for case in cases(primitive):
        for position in case.differentiated():
            jacobian, point = te.jacobian(program_of(case, position), mode=mode), case.args[position]
            assert same(outcome(within_rule, jacobian, point), outcome(jacobian, point))
