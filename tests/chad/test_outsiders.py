"""Programs as outsiders write them: Python's value and errors, the derivatives of dual numbers, on all back ends."""

import dataclasses

import numpy as np
import pytest
from chad import outsiders_data, outsiders_numerics
from chad.backends.runs import BACKENDS
from chad.outsiders import OUTSIDERS
from leaves import direction, numbers
from outcomes import outcome

import tapeengine as te

assert outsiders_data and outsiders_numerics  # which add their programs


def drawn():
    """The same numbers each time."""
    return iter(np.random.default_rng(3).normal(size=500).tolist())


def moved(x, t, h):
    """A value moved along a tangent."""
    if t is None:
        return x
    if dataclasses.is_dataclass(x):
        return type(x)(*(moved(getattr(x, f.name), getattr(t, f.name), h) for f in dataclasses.fields(x)))
    if isinstance(x, dict):
        return {key: moved(part, t[key], h) for key, part in x.items()}
    if isinstance(x, list | tuple):
        parts = [moved(y, d, h) for y, d in zip(x, t, strict=True)]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return x + h * t


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", OUTSIDERS)
def test_an_outsiders_program(name, backend):
    function, args = OUTSIDERS[name]
    program = te.program(function, backend=backend)
    value, found = outcome(lambda: function(*args)), outcome(lambda: te.vjp(program, *args))
    tangents = direction(args, drawn())
    forward = outcome(lambda: te.jvp(program, args, tangents))
    if isinstance(value, Exception):
        for error in (found, forward):
            assert type(error) is type(value)
            assert str(error) == str(value)
        return
    assert numbers(found[0]) == pytest.approx(numbers(value), rel=1e-15)
    cotangent = direction(value, drawn())
    wanted = te.vjp(program.python, *args)[1](cotangent)
    np.testing.assert_allclose(numbers(found[1](cotangent)), numbers(wanted), rtol=1e-11, atol=1e-13)
    expected = te.jvp(program.python, args, tangents)[1]
    np.testing.assert_allclose(numbers(forward[1]), numbers(expected), rtol=1e-11, atol=1e-13)
    if function.__module__ == "chad.outsiders":  # some of these are given at a jump
        return
    after, before = (outcome(lambda h=h: numbers(function(*moved(args, tangents, h)))) for h in (1e-6, -1e-6))
    if isinstance(after, list) and isinstance(before, list) and len(after) == len(before) == len(numbers(forward[1])):
        quotients = (np.array(after) - before) / 2e-6
        most = np.max(np.abs(quotients), initial=1.0)
        np.testing.assert_allclose(numbers(forward[1]), quotients, rtol=2e-5, atol=2e-5 * most)
