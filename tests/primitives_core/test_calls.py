"""Numpy's functions through numpy's own protocols: values, spaces, adjoint identity, differences, second order."""

import warnings

import numpy
import pytest
from numpy_calls import Call, calls

import tapeengine as te
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
