"""Programs as outsiders write them: Python's value and errors, the derivatives of dual numbers, on all back ends."""

import dataclasses

import numpy as np
import pytest
from chad.outsiders import OUTSIDERS

import tapeengine as te
from tapeengine.chad.backends.tiers import is_installed

BACKENDS = (None, "machine", *(("native",) if is_installed() else ()))


def numbers(x):
    """All numbers of a structure."""
    if dataclasses.is_dataclass(x):
        x = [getattr(x, f.name) for f in dataclasses.fields(x)]
    if isinstance(x, list | tuple):
        return [y for part in x for y in numbers(part)]
    return [] if x is None else np.ravel(x).astype(float).tolist()


def direction(x, drawn):
    """A tangent or a cotangent of a value; None for what is discrete."""
    if isinstance(x, bool | int | np.integer):
        return None
    if isinstance(x, float):
        return next(drawn)
    if isinstance(x, np.ndarray):
        return np.reshape([next(drawn) for _ in range(x.size)], x.shape)
    if dataclasses.is_dataclass(x):
        return type(x)(*(direction(getattr(x, f.name), drawn) for f in dataclasses.fields(x)))
    parts = [direction(y, drawn) for y in x]
    return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)


def drawn():
    """The same numbers each time."""
    return iter(np.random.default_rng(3).normal(size=500).tolist())


def attempt(run):
    """What a run gives, or the error that it raises."""
    try:
        return run()
    except Exception as error:
        return error


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", OUTSIDERS)
def test_an_outsiders_program(name, backend):
    function, args = OUTSIDERS[name]
    program = te.program(function, backend=backend)
    value, found = attempt(lambda: function(*args)), attempt(lambda: te.vjp(program, *args))
    tangents = direction(args, drawn())
    forward = attempt(lambda: te.jvp(program, args, tangents))
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
