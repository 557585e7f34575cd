"""numpy's functions through numpy's own protocols: values, spaces, adjoint identity, differences, second order."""

import warnings
from typing import Any

import numpy
import pytest
from numpy_calls import Call, calls
from outcomes import parts

import tapeengine as te
import tapeengine.numpy
from tapeengine.primitive.spaces import space_of
from tapeengine.testing import check_vjp

CALLS = calls()


@pytest.fixture(scope="module")
def engine() -> te.Engine:
    return te.Engine()


@pytest.mark.parametrize("call", CALLS, ids=[call.name for call in CALLS])
def test_call(call: Call, engine: te.Engine) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_vjp(lambda *primals: call.program(numpy, *primals), *call.primals, engine=engine, order=call.order)


@pytest.mark.parametrize("call", [*CALLS, *calls(times=9)], ids=lambda call: f"{call.name} {call.primals[0].shape}")
def test_value_is_numpys_to_the_last_bit(call: Call, engine: te.Engine) -> None:
    """A call that does not fit its data raises what numpy raises."""

    def program(*primals: Any) -> Any:
        return call.program(numpy, *primals)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            expected = program(*call.primals)
        except ValueError:
            with pytest.raises((ValueError, te.errors.UnsupportedError)):
                engine.vjp(program, *call.primals)
            return
        found = engine.vjp(program, *call.primals)[0]
    for ours, theirs in zip(parts(found), parts(expected), strict=True):
        assert ours.dtype == theirs.dtype
        numpy.testing.assert_array_equal(ours, theirs)
    assert kinds(found) == kinds(expected)


def kinds(value: Any) -> Any:
    """The classes of a result's parts: a number of numpy is no array of no axes."""
    return [kinds(part) for part in value] if isinstance(value, (list, tuple)) else type(value)


def narrow(value: Any) -> Any:
    """Arrays in single precision; numbers unchanged."""
    kinds = {"d": numpy.float32, "D": numpy.complex64}
    return value.astype(kinds.get(value.dtype.char, value.dtype)) if isinstance(value, numpy.ndarray) else value


@pytest.mark.parametrize("call", CALLS, ids=[call.name for call in CALLS])
def test_single_precision(call: Call, engine: te.Engine) -> None:
    """Dtypes are those of numpy and of the primals, and the numbers agree with double precision."""

    def program(*primals: Any) -> Any:
        return call.program(numpy, *primals)

    primals = tuple(map(narrow, call.primals))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, backpropagator = engine.vjp(program, *primals)
        assert numpy.asarray(value).dtype == numpy.asarray(program(*primals)).dtype
        ct = space_of(value).random(numpy.random.default_rng(0))
        wide, expected = engine.vjp(program, *call.primals)
        wanted = expected(numpy.asarray(ct).astype(numpy.asarray(wide).dtype)[()])
        for primal, ours, theirs in zip(primals, backpropagator(ct), wanted, strict=True):
            assert space_of(ours) == space_of(primal)
            size = max(1.0, numpy.max(numpy.abs(theirs), initial=0.0))
            assert numpy.max(numpy.abs(ours - theirs), initial=0.0) <= 5e-3 * size


def strided(value: Any) -> Any:
    """The same array as a view with negative strides of two elements, in Fortran order."""
    if not isinstance(value, numpy.ndarray) or value.ndim == 0:
        return value
    room = numpy.empty(tuple(2 * extent for extent in value.shape[::-1]), value.dtype).T
    view = room[(slice(None, None, -2),) * value.ndim]
    view[...] = value
    return view


@pytest.mark.parametrize("call", CALLS, ids=[call.name for call in CALLS])
def test_strides_and_te_numpy(call: Call, engine: te.Engine) -> None:
    """Strided primals and cotangents give the same numbers, and so does `tapeengine.numpy` instead of numpy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value, backpropagator = engine.vjp(lambda *primals: call.program(numpy, *primals), *call.primals)
        ct = space_of(value).random(numpy.random.default_rng(0))
        expected = backpropagator(ct)
        for module, primals in ((numpy, tuple(map(strided, call.primals))), (tapeengine.numpy, call.primals)):
            found, other = engine.vjp(lambda *primals, np=module: call.program(np, *primals), *primals)
            numpy.testing.assert_allclose(found, value, rtol=1e-12, atol=1e-12)
            for ours, theirs in zip(other(strided(ct)), expected, strict=True):
                numpy.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
