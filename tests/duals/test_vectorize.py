"""`vectorize` calls its function as numpy's does: how often, with which classes of numbers, for which dtypes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy
import pytest
from outcomes import outcome, parts

import tapeengine as te
import tapeengine.numpy as np

FUNCTIONS: dict[str, Any] = {
    "polynomial": lambda v: v * v + 1,
    "quotient": lambda v: 1 / v,  # Python's numbers raise an error for 0
    "branch": lambda v: v * 1.1 if v.real > 1 else v,
    "single": lambda v: v + numpy.float32(0.1),
    "whole": lambda v: 1 if v.real > 0 else 0,
    "pair": lambda v: (v * v, v),
}
FORMS: dict[str, Any] = {
    "array": lambda x: x,
    "transposed": lambda x: numpy.ascontiguousarray(x.T).T,
    "list": lambda x: x.tolist(),
    "list of elements": lambda x: [*x],
}
OPTIONS: tuple[dict[str, Any], ...] = ({}, {"otypes": "d"}, {"otypes": ["F"]}, {"otypes": "dd"}, {"cache": True})


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, Exception):
        return isinstance(found, Exception)
    form = [[(y.dtype, y.strides, y.tobytes()) for y in parts(x)] for x in (found, wanted)]
    return type(found) is type(wanted) and form[0] == form[1]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name: str, form: str) -> None:
    rng, f, wrong = numpy.random.default_rng(3), FUNCTIONS[name], []
    for dtype, shape, options in itertools.product("fdFD", ((4,), (2, 3), (0,), (1,)), OPTIONS):
        z = rng.normal(size=(2, *shape))
        x = (z[0] + 1j * z[1] if dtype in "FD" else z[0]).astype(dtype)
        x[x.shape[0] // 2 :] = 0
        if form == "list of elements" and dtype in "fF":
            continue  # numpy's single numbers as primals are computed in double
        x = FORMS[form](x)
        wanted = outcome(lambda x=x, o=options: numpy.vectorize(f, **o)(x))
        found = outcome(lambda x=x, o=options: te.vjp(lambda x: np.vectorize(f, **o)(x), x)[0])
        if not same(found, wanted):
            wrong.append((dtype, shape, options, found, wanted))
    assert not wrong, wrong[:3]


@pytest.mark.parametrize("options", [{}, {"otypes": "f"}, {"cache": True}], ids=str)
def test_calls(options: dict[str, Any]) -> None:
    x, calls = numpy.float32([1.1, 0.7, 0.3]), []

    def f(v: Any, k: Any) -> Any:
        calls.append(((v * numpy.float32(1)).dtype.char, te.value(k)))
        return v * k

    numpy.vectorize(f, **options)(x, [2, 3, 4])
    wanted = [*calls]
    calls.clear()
    value, back = te.vjp(lambda x: np.vectorize(f, **options)(x, [2, 3, 4]), x)
    assert calls == wanted
    assert back(numpy.ones(3, value.dtype))[0].tolist() == [2.0, 3.0, 4.0]


def test_excluded_and_named_arguments() -> None:
    def call(np: Any, x: Any) -> Any:
        f = np.vectorize(lambda v, p, *, q: p[0] * v**2 + q, excluded=[1])
        return f(x, [3.0, 1.0], q=x)

    x = numpy.array([0.5, 2.0])
    value, back = te.vjp(lambda x: call(np, x), x)
    assert value.tobytes() == call(numpy, x).tobytes()
    assert back(numpy.ones(2))[0].tolist() == [4.0, 13.0]


def test_a_result_that_is_no_number() -> None:
    for np_ in (numpy, np):
        with pytest.raises(ValueError, match="sequence"):
            te.vjp(lambda x, n=np_: n.vectorize(lambda v: np.array([1.0, 2.0]))(te.value(x)), numpy.ones(2))


def test_functions_of_python_made_ufuncs_call_them_with_traced_elements():
    """`numpy.frompyfunc`, whose results are arrays of objects."""
    scaled = numpy.frompyfunc(lambda x, k: x * k if x > 1.0 else k, 2, 1)
    x = numpy.array([0.5, 2.0, 3.0])
    for run in (scaled, scaled.outer, lambda x, k: scaled.outer(k, x), lambda x, k: scaled.accumulate(x)):
        value, slopes = te.value_and_grad(lambda x, run=run: run(x, numpy.array([2.0])).sum())(x)
        assert value == run(x, numpy.array([2.0])).sum()
        moved = [run(x + step, numpy.array([2.0])).sum() for step in 1e-6 * numpy.eye(3)]
        numpy.testing.assert_allclose(slopes, (numpy.array(moved, float) - value) / 1e-6, rtol=1e-6, atol=1e-6)
    assert te.hessian(lambda x: numpy.sum(scaled(x, x)))(x).tolist() == numpy.diag([0.0, 2.0, 2.0]).tolist()


def test_an_array_of_objects_as_output_would_lose_the_derivative():
    made = numpy.frompyfunc(lambda x: x * x, 1, 1)
    with pytest.raises(te.errors.UnsupportedError, match="cannot hold traced values"):
        te.grad(lambda x: made(x, out=numpy.zeros(2, object)).sum())(numpy.array([2.0, 3.0]))
