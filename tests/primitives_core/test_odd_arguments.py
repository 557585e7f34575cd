"""Calls of numpy with arguments of other shapes, dtypes and orders than they are usually given.

What numpy computes is computed to the last bit, but for the listed calls, which the engine refuses; what numpy refuses
is refused.
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy_calls
import pytest
from outcomes import outcome, parts

import tapeengine as te
from tapeengine.errors import TapeEngineError

DATA = numpy_calls.Data()
#: Functions for which LAPACK may not return if a matrix contains infinities or NaN.
FINITE = {
    call.name for part in (numpy_calls.linear_algebra, numpy_calls.moments_and_polynomials) for call in part(DATA)
}
#: Functions for which numpy returns uninitialised memory, or raises unspecified errors.
LEFT_OUT = {
    ("float32 chain", "number"),
    ("take_along_axis", "number"),
    ("split", "number"),
    *(("gradient uneven", kind) for kind in ("zeros", "ones")),
}

#: What numpy computes and the engine refuses: the names of calls by the kind of their argument.
REFUSED: dict[str, set[str]] = {}


def odd(primal: Any) -> Iterator[tuple[str, Any]]:
    """The same primal in another form."""
    if not isinstance(primal, np.ndarray):
        yield "array of no axes", np.asarray(primal)
        yield "vector", np.full(3, primal)
        return
    yield from (("empty", primal[:0]), ("no columns", primal[..., :0]), ("one row", primal[:1]))
    yield from (("stack", primal[None]), ("flat", primal.ravel()), ("array of no axes", np.asarray(primal.ravel()[0])))
    yield from (("number", primal.ravel()[0]), ("fortran", np.asfortranarray(primal)), ("reversed", primal[::-1]))
    middle = np.arange(primal.size).reshape(primal.shape) == primal.size // 2
    yield from (("nan", np.where(middle, np.nan, primal)), ("infinite", np.where(middle, np.inf, primal)))
    yield from (("zeros", primal * 0), ("ones", np.ones_like(primal)), ("large", primal * 1e200))
    yield from (("integers", np.round(primal * 3).real.astype(int)), ("complex", primal + 0j))
    yield "narrow", primal.astype(np.float32 if primal.dtype.kind == "f" else np.complex64)


def is_left_out(name: str, kind: str) -> bool:
    if kind in ("nan", "infinite", "large"):
        return name in FINITE
    return (name, kind) in LEFT_OUT or (kind in ("empty", "no columns") and "fft" in name)


def check(call: Any, kind: str, primals: list[Any]) -> None:
    expected = outcome(lambda: call.program(np, *primals))
    found = outcome(lambda: te.vjp(lambda *traced: call.program(np, *traced), *primals)[0])
    if isinstance(expected, Exception):
        assert isinstance(found, Exception), f"numpy raises {expected!r}, and we return {found!r}"
        return
    if isinstance(found, TapeEngineError):
        assert call.name in REFUSED.get(kind, ()), f"numpy returns {expected!r}, and we refuse: {found}"
        return
    assert not isinstance(found, Exception), f"numpy returns {expected!r}, and we raise {found!r}"
    for ours, theirs in zip(parts(found), parts(expected), strict=True):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("call", numpy_calls.calls(), ids=lambda call: call.name)
def test_arguments_of_other_kinds(call: Any) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for k, primal in enumerate(call.primals):
            for kind, other in odd(primal):
                if not is_left_out(call.name, kind):
                    check(call, kind, [*call.primals[:k], other, *call.primals[k + 1 :]])
