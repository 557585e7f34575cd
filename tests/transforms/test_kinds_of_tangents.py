"""A cotangent has the class of its primal, and a tangent that of its value: numbers, numpy's numbers, arrays."""

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import DroppedDerivativeError, UnsupportedError
from tests.transforms.test_kinds_of_values import OF_LISTS, PRIMALS, PROGRAMS, kind, plain

CONTINUOUS = (float, complex, np.inexact)


def kind_of_tangent(value):
    """The class of the tangents of a value; that of a discrete leaf is None."""
    if isinstance(value, dict):
        return {key: kind_of_tangent(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(kind_of_tangent, value))
    return kind(value) if isinstance(value, (*CONTINUOUS, np.ndarray)) else kind(None)


def staged_vjp(program, x):
    again = te.stage(program)
    te.vjp(again, x)
    return te.vjp(again, x)


def staged_jvp(program, x):
    again = te.stage(program)
    te.jvp(again, (x,), (x,))
    return te.jvp(again, (x,), (x,))


def linearized(program, x):
    value, tangent = te.linearize(program, x)
    return value, tangent(x)


VJPS = {"vjp": te.vjp, "staged": staged_vjp, "checkpoint": lambda program, x: te.vjp(te.checkpoint(program), x)}
JVPS = {
    "jvp": lambda program, x: te.jvp(program, (x,), (x,)),
    "staged": staged_jvp,
    "linearize": linearized,
}


#: Not programs that numpy gives lists, of whose elements it sees one at a time.
of_all = pytest.mark.parametrize(
    ("name", "primal"), [(n, p) for n in PROGRAMS for p in PRIMALS if n not in OF_LISTS or p != "list"]
)


@pytest.mark.parametrize("run", VJPS)
@of_all
def test_cotangents_are_of_the_classes_of_primals(name, primal, run):
    program, x = PROGRAMS[name], PRIMALS[primal]
    with np.errstate(all="ignore"):
        plain(program, x)
        try:
            value, backpropagator = VJPS[run](program, x)
            (found,) = backpropagator(value)
        except (DroppedDerivativeError, UnsupportedError):
            return
    assert kind(found) == kind(x)


@pytest.mark.parametrize("run", JVPS)
@of_all
def test_tangents_are_of_the_classes_of_values(name, primal, run):
    program, x = PROGRAMS[name], PRIMALS[primal]
    with np.errstate(all="ignore"):
        plain(program, x)
        try:
            value, tangent = JVPS[run](program, x)
        except (DroppedDerivativeError, UnsupportedError):
            return
    assert kind(tangent) == kind_of_tangent(value)


@of_all
def test_rules_see_tangents_of_the_classes_of_values(name, primal):
    if name in ("relu", "zero_d"):
        pytest.skip("a cotangent of 0 calls no rule; in a trace tapeengine.numpy makes traced arrays")
    program, x = PROGRAMS[name], PRIMALS[primal]
    primals, values, seen_of_value, seen_of_primal = [], [], [], []
    custom = te.custom_vjp(program)

    def forward(x):
        value = program(x)
        primals.append(kind(x))
        values.append(kind_of_tangent(value))
        return value, x

    def backward(x, cotangent):
        seen_of_value.append(kind(cotangent))
        return (x,)

    def push(given, tangents):
        seen_of_primal.append(kind(tangents[0]))
        value = program(given[0])
        return value, value

    custom.defvjp(forward, backward)
    custom.defjvp(push)
    with np.errstate(all="ignore"):
        value = plain(program, x)
        try:
            te.vjp(custom, x)[1](value)
        except (DroppedDerivativeError, UnsupportedError):
            return
        te.jvp(custom, (x,), (x,))
    assert (seen_of_value, seen_of_primal) == (values[:1], primals[:1])
