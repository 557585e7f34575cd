"""numpy's functions on numbers, vectors, matrices, lists and tuples: numpy's value, its error, or a refusal."""

import itertools

import numpy as np
import pytest
from chad.source_programs import Source, function_of
from outcomes import outcome

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError
from tapeengine.errors import StructureError

ROWS = [[1.5, -2.0, 0.5], [3.0, 1.0, -1.0], [0.25, 4.0, 2.5]]
VALUES = {
    "number": 1.5,
    "vector": np.array(ROWS[0]),
    "matrix": np.array(ROWS),
    "cube": np.array([ROWS, [[2.5 * x for x in row] for row in ROWS]]),
    "list": ROWS[0],
    "tuple": tuple(ROWS[0]),
    "tuples": tuple(map(tuple, ROWS)),
    "integers": np.array([2, 0, 1]),
}
OF_ONE = [
    *(f"np.{name}(x)" for name in (
        "sum prod max mean abs square cumsum cumprod sort diff diag trace transpose ravel median average ptp flip "
        "flipud std var sign exp negative linalg.norm trapezoid array ones_like".split()
    )),
    *(f"np.{name}(x, axis={k})" for name in "sum max mean median flip linalg.norm".split() for k in (0, 1, -1)),
    "np.roll(x, 1)", "np.tile(x, 2)", "np.pad(x, 1)", "np.pad(x, (1, 2), mode='edge')", "np.quantile(x, 0.3)",
    "np.clip(x, 0.2, 1.0)", "np.polyval(x, 2.0)", "np.polyval([1.0, 2.0], x)", "np.reshape(x, -1)",
    "np.interp(x, [0.0, 1.0], [2.0, 3.0])", "np.where(np.array(x) > 0, x, 0.0)", "np.take(x, [0, 1])",
    "np.linalg.norm(x, 2)", "np.choose([0, 1, 0], x)", "np.einsum('i,i', x, x)", "np.linalg.solve(np.eye(3), x)",
    "np.linalg.inv(x)", "np.std(x, axis=0)",
]  # fmt: skip
OF_TWO = [
    f"np.{call}" for call in (
        "dot(x, y)", "inner(x, y)", "outer(x, y)", "cross(x, y)", "maximum(x, y)", "add(x, y)", "multiply(x, y)",
        "arctan2(x, y)", "concatenate((x, y))", "hstack((x, y))", "vstack((x, y))", "stack([x, y])",
        "average(x, weights=np.abs(y))", "interp(x, [0.0, 1.0, 2.0], y)", "polyval(x, y)", "trapezoid(x, y)",
        "meshgrid(x, y)[0]", "remainder(x, y)", "linalg.solve(x, y)",
    )
]  # fmt: skip
CASES = [
    *itertools.product(OF_ONE, VALUES),
    *((text, f"{x} {y}") for text in OF_TWO for x in VALUES for y in ("vector", "matrix", "tuple", "number")),
]


def ones(value):
    """A cotangent or a tangent of a value."""
    return None if np.asarray(value).dtype.kind in "ib" else np.cos(np.arange(np.size(value))).reshape(np.shape(value))


def tangent(x):
    """A tangent of an argument, in its structure."""
    if isinstance(x, tuple | list):
        return type(x)(map(tangent, x))
    return ones(x) if isinstance(x, np.ndarray) else 0.75


@pytest.mark.parametrize(("text", "given"), CASES)
def test_value_error_or_refusal(text, given):
    args = tuple(VALUES[name] for name in given.split())
    parameters = ("x", "y")[: len(args)]
    source = f"def program({', '.join(parameters)}):\n    return {text}\n"
    plain = function_of(Source(hash((text, given)), source, ()))
    wanted, found = outcome(lambda: plain(*args)), outcome(lambda: te.vjp(te.program(plain), *args))
    if isinstance(found, ProgramError | StructureError):
        return
    if isinstance(wanted, Exception):
        assert type(found) is type(wanted), (found, wanted)
        return
    value, back = found
    np.testing.assert_allclose(value, wanted, rtol=1e-13, atol=1e-15)
    assert np.shape(value) == np.shape(wanted) and np.asarray(value).dtype.kind == np.asarray(wanted).dtype.kind
    ct = ones(wanted)
    if ct is None:
        return
    expected = outcome(lambda: te.vjp(te.program(plain).python, *args)[1](ct))
    if not isinstance(expected, Exception):
        for mine, theirs in zip(back(ct), expected, strict=True):
            np.testing.assert_allclose(np.array(mine, float), np.array(theirs, float), rtol=1e-11, atol=1e-13)
    step = 1e-30
    moved = tuple(map(tangent, args))
    along = te.jvp(te.program(plain), args, moved)[1]
    if any(t is None for t in moved):
        return
    changed = outcome(lambda: plain(*(np.asarray(x) + 1j * step * np.array(t) for x, t in zip(args, moved))))
    if not isinstance(changed, Exception) and np.iscomplexobj(changed) and "abs" not in text and "arctan" not in text:
        ordered = ("max", "sort", "clip", "median", "ptp", "sign", "where", "quantile", "norm", "interp", "std", "var")
        if not any(name in text for name in ordered):  # complex numbers have no order, and no squares of moduli
            np.testing.assert_allclose(along, np.imag(changed) / step, rtol=1e-11, atol=1e-13)


def test_tuples_of_numbers_of_the_program_are_arrays_for_numpy():
    def program(a: float, b: float) -> float:
        m = ((a, 1.0), (0.5, b))
        x = np.linalg.solve(m, (a, b))
        return np.sum(np.cumsum((a, b))) + np.std((a, b)) + np.dot(x, (1.0, 2.0))

    for mine, theirs in zip(te.grad(te.program(program), argnums=(0, 1))(2.0, 3.0), differences(program, 2.0, 3.0)):
        assert mine == pytest.approx(theirs, rel=1e-7)


def differences(f, a, b, h=1e-6):
    """The partial derivatives of a function of two numbers by central differences."""
    return (f(a + h, b) - f(a - h, b)) / (2 * h), (f(a, b + h) - f(a, b - h)) / (2 * h)


ROWLESS = [
    "np.array([row * a for row in m])", "np.array([[a, 2.0] for _ in range(n)])", "np.array([m for _ in range(n)])",
    "np.array([row[1:] for row in m]) * a", "np.array([[float(k)] for k in range(n)]) * a", "m * a", "m.T * a",
    "np.array(m) * a", "(np.array([row * a for row in m]), a)", "np.zeros((n, 2)) + a", "[row * a for row in m]",
]  # fmt: skip


@pytest.mark.parametrize("text", ROWLESS)
@pytest.mark.parametrize("shape", [(0, 3), (2, 3), (0, 0)])
def test_arrays_of_lists_without_rows_have_numpys_shape(text, shape):
    plain = function_of(Source(hash((text, shape)), f"def program(m, a, n):\n    return {text}\n", ()))
    args = np.ones(shape), 1.5, shape[0]
    for program in (te.program(plain), te.program(plain, backend="machine")):
        for _ in range(2):
            (value, _), (along, moved) = te.vjp(program, *args), te.jvp(program, args, (np.ones(shape), 1.0, None))
            for found in (value, along, moved):
                parts = found if isinstance(found, tuple) else (found,)
                wanted = plain(*args)
                wanted = wanted if isinstance(wanted, tuple) else (wanted,)
                assert [np.shape(x) for x in parts] == [np.shape(x) for x in wanted]
