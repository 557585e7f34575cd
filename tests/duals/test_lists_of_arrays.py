"""Functions of `tapeengine.numpy` on lists of traced arrays, wherever numpy reads such a list as an array."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from numpy_calls import Call, calls
from outcomes import parts

import tapeengine as te
import tapeengine.numpy

FORMS: dict[str, Callable[[Any], Any]] = {
    "rows": list,
    "a tuple of rows": tuple,
    "elements": lambda x: x.tolist(),
    "rows of elements": lambda x: [[*row] if row.ndim else row for row in x],
}
CALLS = [call for call in calls() if any(numpy.ndim(primal) for primal in call.primals)]


def refused(error: Exception) -> bool:
    """Whether numpy's own operator of an array and a list was refused: it computes without the functions."""
    return isinstance(error, te.errors.DroppedDerivativeError) and " * " in str(error)


def of_lists(call: Call, positions: Any, form: Callable[[Any], Any], np: Any) -> Callable[..., Any]:
    """The call with lists in place of some of its arrays."""
    return lambda *primals: call.program(np, *[form(x) if k in positions else x for k, x in enumerate(primals)])


def derivative(program: Callable[..., Any], call: Call) -> tuple[list[Any], list[Any]]:
    """The parts of the value, and the cotangents for the same cotangent of every number."""
    value, back = te.vjp(lambda *primals: parts_of(program(*primals)), *call.primals)
    return parts(value), parts(back(tuple(numpy.full_like(part, 0.7) for part in value)))


def parts_of(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (list, tuple)) else (value,)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("call", CALLS, ids=[call.name for call in CALLS])
@pytest.mark.filterwarnings("ignore")
def test_call(call: Call, form: str) -> None:
    arrays = [k for k, primal in enumerate(call.primals) if numpy.ndim(primal)]
    for positions in [*([k] for k in arrays), *([arrays] if len(arrays) > 1 else [])]:
        try:
            wanted = parts(parts_of(of_lists(call, positions, FORMS[form], numpy)(*call.primals)))
        except (AttributeError, TypeError, ValueError):  # of a method that lists lack, or of unequal numbers of axes
            continue
        try:
            value, found = derivative(of_lists(call, positions, FORMS[form], te.numpy), call)
        except te.errors.TapeEngineError as error:
            assert refused(error)
            continue
        for ours, theirs in zip(value, wanted, strict=True):
            assert ours.dtype == theirs.dtype
            numpy.testing.assert_array_equal(ours, theirs)
        close = {"rtol": 1e-5, "atol": 1e-5} if "float32" in call.name else {"rtol": 1e-12, "atol": 1e-12}
        for ours, theirs in zip(found, derivative(lambda *x: call.program(te.numpy, *x), call)[1], strict=True):
            numpy.testing.assert_allclose(ours, theirs, **close)


def test_functions_without_rules_of_their_own() -> None:
    x, y = numpy.array([0.3, 2.0, -1.0]), numpy.array([1.5, -0.4, 0.2])
    assert te.grad(lambda x: te.numpy.nanmax([x, y]))(x).tolist() == [0.0, 1.0, 0.0]
    assert te.grad(lambda x: te.numpy.argmax([x, y], axis=0) @ x)(x).tolist() == [1.0, 0.0, 1.0]
    assert te.grad(lambda x: te.numpy.diff(x, prepend=[x[1]]).sum())(x).tolist() == [0.0, -1.0, 1.0]
