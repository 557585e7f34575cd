"""Arrays that numpy has just made may be changed in place, and ranges take the items of tuples."""

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.chad.parse.analyses.ownership import COMPUTING
from tapeengine.errors import TapeEngineError

A = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 0.5], [2.0, 0.5, 6.0]])
#: Calls of functions whose results are taken as new arrays; the others have one argument.
CALLS = {
    "append": "np.append(x, 1.0)",
    "choose": "np.choose([0, 1, 0], [x, x])",
    "clip": "np.clip(x, 0.0, 9.0)",
    "compress": "np.compress([True, True, True], x, 0)",
    "correlate": "np.correlate(x[0], x[0])",
    "convolve": "np.convolve(x[0], x[0])",
    "cross": "np.cross(x, x)",
    "delete": "np.delete(x, [], 0)",
    "extract": "np.extract(x > -9.0, x)",
    "identity": "np.identity(3)",
    "insert": "np.insert(x, [], 1.0)",
    "nanpercentile": "np.nanpercentile(x, 50.0, 0)",
    "nanquantile": "np.nanquantile(x, 0.5, 0)",
    "percentile": "np.percentile(x, 50.0, 0)",
    "polyval": "np.polyval(x[0], x)",
    "quantile": "np.quantile(x, 0.5, 0)",
    "repeat": "np.repeat(x, 1)",
    "resize": "np.resize(x, (3, 3))",
    "select": "np.select([x > -9.0], [x])",
    "solve": "np.linalg.solve(x, x)",
    "take": "np.take(x, [0, 1, 2], 0)",
    "vander": "np.vander(x[0])",
    "where": "np.where(x > -9.0, x, x)",
    "bincount": "np.bincount([0, 1, 2], x[0])",
    **{name: f"np.{name}(x, x)" for name in ("dot", "inner", "kron", "outer", "tensordot")},
    **{name: f"np.{name}([x, x])" for name in ("block", "column_stack", "dstack", "hstack", "stack", "vstack")},
    **{name: f"np.{name}(x[0], x[0])" for name in ("polymul", "polyadd")},
    **{name: f"np.linalg.{name}(x)" for name in ("inv", "cholesky", "pinv", "norm")},
}


@pytest.mark.parametrize("name", sorted(COMPUTING - {"r_", "c_"}))
def test_a_result_that_is_taken_as_new_is_new(name):
    x = A.copy()
    found = eval(CALLS.get(name, f"np.{name}(x)"), {"np": np, "x": x})
    assert not any(np.may_share_memory(x, part) for part in (found if isinstance(found, list) else [found]))


CHANGED = {
    "a method along an axis by position": ["r = (x ** 2).sum(-1)", "r[0] = 3.0", "return r.sum()"],
    "a method along the last axis": ["r = x.max(0)", "r[1] = x[0, 0]", "return r.prod()"],
    "a diagonal": ["r = (x[:, None] * x[None]).sum(-1)", "np.fill_diagonal(r, 1.0)", "return r.sum()"],
    "norms": ["w = np.linalg.norm(x, axis=1)", "w[0] = 3.0", "return w.sum()"],
    "an inverse": ["w = np.linalg.inv(x)", "w[0, 1] = 3.0", "return w.sum()"],
    "a tuple in a row": ["r = np.zeros((3, 3))", "r[1, 0:3] = x[0, 0], x[1, 1], 1.0", "return np.sum(r * x)"],
    "a tuple for a range": ["r = np.zeros(5)", "r[1:4] = x[0, 0], 2 * x[1, 1], x[2, 0]", "return (r * r).sum()"],
    "a tuple for a range of a list": ["r = [0.0] * 4", "r[1:3] = x[0, 0], x[1, 1]", "return r[1] * r[2]"],
    "a tuple for a key": ["r = {}", "r['a'] = x[0, 0], x[1, 1]", "return r['a'][0] * r['a'][1]"],
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGED)
def test_value_and_gradient(name):
    program = te.program(function_of("x: np.ndarray", CHANGED[name]))
    value, found = te.value_and_grad(program)(A)
    np.testing.assert_allclose(value, program(A), rtol=1e-14)
    steps = np.eye(9).reshape(9, 3, 3) * 1e-6
    expected = [(program(A + h) - program(A - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(found.ravel(), expected, rtol=1e-6, atol=1e-7)


class Held:
    """A record whose methods have names of numpy's and give its own array."""

    def __init__(self, xs):
        self.xs = xs

    def sum(self, axis):
        return self.xs

    def max(self, axis=0):
        return self.xs


def changed_part(xs):
    held = Held(xs * 1.0)
    part = held.sum(-1)
    part[0] = 3.0
    return held.xs[0] * xs[1]


def changed_part_by_name(xs):
    held = Held(xs * 1.0)
    part = held.max(axis=0)
    part[0] = 3.0
    return held.xs[0] * xs[1]


@pytest.mark.parametrize("function", [changed_part, changed_part_by_name])
def test_a_method_of_a_record_does_not_make_an_array(function):
    at = np.array([1.5, 2.0])
    try:
        found = te.vjp(te.program(function), at)[0]
    except TapeEngineError:
        return
    assert found == function(at)
