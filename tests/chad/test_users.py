"""Users' programs have Python's values, kinds and errors on all back ends, and the derivatives of plain Python."""

import numpy as np
import pytest
from chad.backends.runs import BACKENDS
from chad.users import CALLS
from leaves import parts
from outcomes import outcome

import tapeengine as te
from tapeengine.errors import TapeEngineError

STEP = 1e-4


def numbers(x):
    """All floats of a structure."""
    inside = parts(x)
    if inside is not None:
        return [y for part in inside for y in numbers(part)]
    is_real = isinstance(x, float) or (isinstance(x, np.ndarray) and x.dtype.kind == "f")
    return np.ravel(x).tolist() if is_real else []


def rebuilt(x, found):
    """A structure with other floats."""
    inside = parts(x)
    if inside is not None:
        made = [rebuilt(part, found) for part in inside]
        return type(x)(made) if type(x) in (list, tuple) else type(x)(*made)
    if isinstance(x, np.ndarray) and x.dtype.kind == "f":
        return np.reshape([next(found) for _ in range(x.size)], x.shape)
    return next(found) if isinstance(x, float) else x


def drawn(like):
    """The same numbers each time, in a structure."""
    return rebuilt(like, iter(np.random.default_rng(5).normal(size=500).tolist()))


def plain(x):
    """A value with its kinds: lists and arrays are alike, numpy's numbers are Python's."""
    inside = parts(x)
    if inside is not None:
        return [plain(part) for part in inside]
    return x.tolist() if isinstance(x, np.ndarray | np.generic) else x


def same(wanted, found):
    """Whether two values agree in kinds and, up to the order of sums, in numbers."""
    if isinstance(wanted, list):
        return isinstance(found, list) and len(wanted) == len(found) and all(map(same, wanted, found))
    close = isinstance(wanted, float) and np.isclose(wanted, found, rtol=1e-14, atol=1e-15, equal_nan=True)
    return type(wanted) is type(found) and bool(close or wanted == found)


def along(function, args, tangent):
    """The directional derivative: of dual numbers where they run, otherwise by differences."""
    made = outcome(lambda: te.jvp(te.program(function).python, args, tangent)[1])
    if not isinstance(made, TapeEngineError):
        return numbers(made)
    x, d = (np.array(numbers(a)) for a in (args, tangent))
    f = [np.array(numbers(function(*rebuilt(args, iter(x + k * STEP * d))))) for k in (-2, -1, 1, 2)]
    return (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * STEP)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CALLS)
def test_a_users_program(name, backend):
    function, args = CALLS[name]
    program = te.program(function, backend=backend)
    value, found = outcome(lambda: function(*args)), outcome(lambda: te.vjp(program, *args))
    tangent = drawn(args)
    forward = outcome(lambda: te.jvp(program, args, tangent))
    if isinstance(value, Exception):
        assert (type(found), str(found)) == (type(forward), str(forward)) == (type(value), str(value))
        return
    assert same(plain(value), plain(found[0])), (value, found[0])
    assert same(plain(value), plain(forward[0])), (value, forward[0])
    if not np.all(np.isfinite(numbers(value))):
        return
    wanted = along(function, args, tangent)
    np.testing.assert_allclose(numbers(forward[1]), wanted, rtol=1e-7, atol=1e-9)
    cotangent = drawn(value)
    backward = np.dot(numbers(found[1](cotangent)), numbers(tangent))
    np.testing.assert_allclose(backward, np.dot(numbers(cotangent), wanted), rtol=1e-7, atol=1e-9)
