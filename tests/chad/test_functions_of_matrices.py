"""numpy's functions of matrices and stacks of them: numpy's value and its derivative, without the Python function."""

import inspect

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.chad.language.in_language import NUMPY
from tapeengine.chad.parse.library.table import WITH_OPTIONS

CALLS = """
np.vstack([x, x[0]])
np.vstack([x[0], x])
np.column_stack([x, x[:, 0]])
np.column_stack([x[:, 0], x])
np.interp(x, [0., 1.], [0., 2.])
np.interp(x, [0., 1.], [0., 2.], left=-1.0)
np.interp(x, [0., 1.], [0., 2.], right=5.0)
np.percentile(x, [30.0, 60.0], axis=0)
np.percentile(x, [30.0, 60.0], axis=1)
np.quantile(x, [.2, .5], axis=0)
np.quantile(x, [.2, .5], axis=1)
np.quantile(x, [.2, .5], axis=-1)
np.take(x, n)
np.take(x, n, axis=0)
np.take(x, n, axis=1)
np.take(x, 1)
np.take(x, [0, 5])
np.take(x, [[0, 1], [1, 0]], axis=0)
np.take(x[0], n)
x.take(n)
x.take([0, 1], axis=1)
x.take([0, 1], 0)
np.tile(x, (1, 2))
np.tile(x, (2, 1))
np.tile(x, (2, 2))
np.subtract.outer(x, x[0])
np.add.outer(x, x)
np.ptp(x, axis=1, keepdims=True)
np.median(x, axis=1, keepdims=True)
np.percentile(x, 30.0, axis=1, keepdims=True)
np.quantile(x, 0.5, axis=0, keepdims=True)
np.average(x, axis=0, weights=x)
np.average(x, axis=1, keepdims=True)
np.trapezoid(x)
np.trapezoid(x, axis=0)
np.trapezoid(x, dx=0.5)
np.trapezoid(x, x=[0.0, 1.0, 3.0])
np.trapezoid(x, [0.0, 1.0], axis=0)
np.maximum.accumulate(x)
np.maximum.accumulate(x, axis=1)
np.minimum.accumulate(x, axis=0)
np.add.accumulate(x, axis=1)
np.add.reduce(x)
np.add.reduce(x, axis=1)
np.maximum.reduce(x, axis=1)
np.multiply.reduce(x)
np.gradient(x)[0]
np.sort(x, axis=None)
np.roll(x, 1)
np.flip(x, axis=(0, 1))
np.rot90(x)
np.rot90(x, 2)
np.broadcast_to(x[0], (2, 3))
np.broadcast_to(x, (2, 2, 3))
np.kron(x[0], x)
np.linalg.norm(x[0], 3)
np.linalg.norm(x, ord=3, axis=1)
np.tile(x, (2, 1, 1))
np.repeat(x, [1, 2], axis=0)
np.repeat(x, [1, 0, 2], axis=1)
np.vstack([x, x[0], x])
np.hstack([x[0], 1.0])
np.interp(x, [0., 1.], [0., 2.], -1.0, 3.0)
np.quantile(x, 0.3, axis=1, keepdims=True)
np.quantile(x, 0.3, 1, None, False, 'linear', True)
np.quantile(x, 0.3, axis=(0, 1))
np.median(x, (0, 1))
np.median(x, 1, None, False, True)
np.percentile(x, x[0] * 100, axis=1)
np.take(x, -1, axis=1)
np.take(x, 0, axis=0)
np.take(x[0], [[0, 1], [1, 2]])
np.take(x, [[0, 1], [1, 2]], axis=1)
np.tile(x, [2, 2])
np.tile(x[0], (2,))
np.tile(x, (2,))
np.tile(x[0], (2, 1, 2))
np.tile(x[0, 0], 3)
np.repeat(x[0, 0], 3)
np.repeat(x, [1, 2], 0)
np.cumsum(x, 1, None)
np.cumprod(x, dtype=float)
np.sort(x, -1, kind='stable')
np.multiply.outer(x[0], x[1])
np.divide.outer(x[0], x[1])
np.maximum.outer(x[0], x[1])
np.kron(x, x[0])
np.einsum("...j,j", x, x[0])
np.einsum("...ij,...kj->...ik", x, x)
np.einsum("ij,jk->ik", x, x.T, optimize=True)
np.linalg.norm(x, 1, 1, True)
np.linalg.norm(x[0], 0)
np.linalg.norm(x[0], ord=4)
np.broadcast_to(x[:, :1], (2, 3))
np.broadcast_to(x[0], x.shape)
np.broadcast_to(x[0, 0], (2, 3))
np.broadcast_to(x[0, 0], 3)
np.rot90(x, -1)
np.rot90(x, k=3)
np.rot90(x, 1, (1, 0))
np.trapezoid(x, None, 0.5, 0)
np.sum(x, 0, None, None, True)
np.sum(x, 0, float)
np.sum(x, 1, float, None, True)
np.mean(x, 0, float)
np.max(x, 1, None, True)
np.prod(x, 1, None, None, True)
x.sum(1, None, None, True)
x.mean(1, None, None, True)
x.cumsum(1, None)
x.max(1, None, True)
x.take([0, 2], 1, None, 'raise')
np.full((2, 3), x[0])
np.multiply.reduce(x, axis=1)
np.add.reduce(x, axis=0)
np.add.accumulate(x[0])
np.multiply.accumulate(x[0])
np.minimum.accumulate(x[0])
np.minimum.reduce(x)
np.linalg.norm(x, ord=-np.inf, axis=1)
np.vstack(x)
np.hstack([x, x[:, :1]])
np.stack((x, 2 * x), axis=1)
np.concatenate([x, x], 1)
np.column_stack(x)
np.cumsum(x, 0)
np.cumprod(x, axis=-1)
np.diff(x, 1, 0)
np.sort(x, axis=0)
np.argsort(x, axis=0) * x
np.outer(x, x[0])
np.linalg.solve(x[:, :2], x)
np.linalg.inv(x[:, :2])
np.linalg.det(x[:, :2])
np.where(x > 0.5, x[0], x[:, :1])
np.triu(x, 1)
np.diag(x, -1)
np.convolve(x[0], x[1], "same")
np.median(z)
np.median(z, axis=1)
np.median(z, axis=(0, 2), keepdims=True)
np.quantile(z, [0.1, 0.8], axis=-1)
np.quantile(z, 0.8, axis=(1, 2))
np.percentile(z, 40.0, axis=0, keepdims=True)
np.ptp(z, axis=(0, 1))
np.average(z, axis=1, weights=[1.0, 2.0, 3.0])
np.average(z, weights=z)
np.trapezoid(z, axis=1)
np.flip(z)
np.flip(z, (0, 2))
np.roll(z, 2)
np.rot90(z, 1, (1, 2))
np.rot90(z, 2)
np.take(z, [1, 0, -1], axis=1)
np.take(z, [[0, 1]], axis=2)
np.repeat(z, 2, axis=1)
np.repeat(z, [2, 0, 1], axis=1)
np.repeat(z, 2)
np.tile(z, (2, 1, 2))
np.broadcast_to(z[:, :1], (2, 3, 2))
np.subtract.outer(x[0], z)
np.maximum.accumulate(z, 1)
np.multiply.accumulate(z, axis=-1)
np.add.reduce(z, (0, 2))
np.maximum.reduce(z, axis=None)
np.einsum("...ij->...ji", z)
np.einsum("i...->...", z)
np.einsum("...j,...j->...", z, z[0])
np.block([[x, x[:, :1]], [x[:1], x[:1, :1]]])
np.linalg.norm(z, axis=(0, 2))
np.cumsum(z)
np.sort(z, axis=1)
np.diff(z, axis=0)
np.concatenate([z, z], axis=2)
np.concatenate(z, axis=1)
np.vstack([z, z])
np.stack([x[:, k] for k in range(3)], axis=1)
np.linalg.norm(z, np.inf, axis=1)
np.linalg.norm(x, 1, axis=0)
np.roll(z, -1, axis=1)
np.roll(z, n, 2)
np.meshgrid(x[0], x[1])[0]
""".strip().splitlines()
X = np.array([[0.31, 0.76, 0.22], [0.48, 0.13, 0.94]])
Z = np.random.default_rng(3).uniform(0.2, 1.5, size=(2, 3, 2))
STEP = 1e-5


def slopes(f, cotangent):
    """The gradient of the value times a cotangent, by central differences of the plain function."""
    found = [np.zeros(X.shape), np.zeros(Z.shape)]
    for which, array in enumerate((X, Z)):
        for at in np.ndindex(array.shape):
            ends = []
            for step in (STEP, -STEP):
                given = [X.copy(), Z.copy()]
                given[which][at] += step
                ends.append(np.sum(np.asarray(f(*given, 1)) * cotangent))
            found[which][at] = (ends[0] - ends[1]) / (2 * STEP)
    return found


@pytest.mark.filterwarnings("ignore:.*runs without native code. (a value that|accumulation into|rows of|a cotangent)")
@pytest.mark.parametrize("call", CALLS)
def test_a_call_is_read(call):
    f = function_of("x: np.ndarray, z: np.ndarray, n: int", [f"return {call}"])
    plain = np.asarray(f(X.copy(), Z.copy(), 1))
    cotangent = np.cos(1.0 + np.arange(plain.size)).reshape(plain.shape)
    given = cotangent if plain.ndim else float(cotangent)
    wanted = slopes(f, cotangent)
    for backend in (None, "machine", "native"):
        program = te.program(f, backend=backend)
        value, back = te.vjp(program, X.copy(), Z.copy(), 1)
        assert program.unread is None
        assert np.shape(value) == plain.shape
        np.testing.assert_allclose(np.asarray(value, float), plain, rtol=1e-12, atol=1e-14)
        found = back(given)[:2]
        duals = te.vjp(program.python, X.copy(), Z.copy(), 1)[1](given)[:2]
        for each, of_duals, slope in zip(found, duals, wanted, strict=True):
            np.testing.assert_allclose(each, of_duals, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(each, slope, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("call", CALLS[::7])
def test_second_derivatives_of_a_call(call):
    f = function_of("x: np.ndarray, z: np.ndarray", [f"n = 1; return np.sum(np.sin({call}) ** 2)"])
    direction = np.cos(X), np.sin(Z)
    found = te.hvp(te.program(f), (X, Z), direction)
    ends = [te.grad(te.program(f), (0, 1))(X + s * direction[0], Z + s * direction[1]) for s in (STEP, -STEP)]
    for each, high, low in zip(found, *ends, strict=True):
        np.testing.assert_allclose(each, (high - low) / (2 * STEP), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("function", NUMPY)
def test_parameters_by_place_of_a_written_function_are_those_of_numpy(function):
    by_place = [
        [
            q.name
            for q in inspect.signature(each).parameters.values()
            if q.kind in (q.POSITIONAL_ONLY, q.POSITIONAL_OR_KEYWORD)
        ]
        for each in (function, getattr(np, function.__name__))
    ]
    if function.__name__ not in ("atleast_1d", "atleast_2d", "meshgrid", "gradient"):  # of any number of arguments
        assert by_place[0] == by_place[1][: len(by_place[0])]


@pytest.mark.parametrize("name", WITH_OPTIONS)
def test_the_order_of_parameters_is_that_of_numpy(name):
    _, order, count, reads = WITH_OPTIONS[name]
    function = np.linalg if "norm" in name else np
    for part in name.split("."):
        function = getattr(function, part, None)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        pytest.skip("numpy does not say")
    by_place = [q.name for q in parameters if q.kind in (q.POSITIONAL_ONLY, q.POSITIONAL_OR_KEYWORD)]
    is_open = any(q.kind is q.VAR_KEYWORD for q in parameters)  # numpy does not name all
    shown = order.split()[count:]
    assert (shown[: len(by_place) - count] if is_open else shown) == by_place[count:]
    assert is_open or {*reads} <= {q.name for q in parameters}


WRONG = """
np.flip(x, 2)
np.flip(x, (0, 0))
np.roll(x, 1, 3)
np.take(x, [7], axis=1)
np.take(x, 9)
np.repeat(x, -1)
np.repeat(x, [1, -1], axis=0)
np.repeat(x, [1, 1, 1], axis=0)
np.tile(x, -1)
np.broadcast_to(x, (2, 2))
np.broadcast_to(x, (3,))
np.broadcast_to(x[:1], (1, 4))
np.quantile(x, 1.5)
np.quantile(x, [0.5, -0.1], axis=0)
np.average(x, axis=0, weights=[1.0])
np.average(x, weights=x[:1])
np.average(x, axis=0, weights=[1.0, 2.0, 3.0])
np.trapezoid(x, [0.0, 1.0, 2.0, 3.0])
np.einsum("...j,j", x, x[:, 0])
np.concatenate([x, x[0]])
np.vstack([x, x[0, :2]])
np.diff(x, axis=None)
np.max(x, dtype=float)
np.max(x, 0, where=x > 0.5)
x.cumsum(axis=0, where=x > 0)
np.sum(x, 0, float, None, True, 0.0, True, 1)
np.quantile(x, 0.5, 0, axis=1)
np.sort(x, kind="any")
np.linalg.norm(np.array([x, x]), 1)
np.linalg.vector_norm(x, 2, 1)
np.linalg.norm(np.array([x, x]), 2)
np.linalg.norm(x[0], "fro")
np.quantile(x > 0.3, 0.5)
np.trapezoid(x, axis=None)
np.rot90(x, 1, None)
np.sum(x, axis=[0])
np.pad(x, 1, "constant", 5.0)
np.gradient(x[0], 0.5, 0)
np.gradient(x, [0.5, 1.0])
np.ptp(x > 0.3)
np.median(x[0], axis=1)
np.quantile(x[0], 0.5, -2)
""".strip().splitlines()


@pytest.mark.parametrize("call", WRONG)
def test_what_numpy_refuses_is_an_error(call):
    f = function_of("x: np.ndarray", [f"return {call}"])
    with pytest.raises(Exception) as plain:
        f(X)
    with pytest.raises((plain.type, te.errors.TapeEngineError)):
        te.vjp(te.program(f), X)


RESULTS = """
np.sum(x, 0, None, y)
np.prod(x, axis=0, out=y)
np.cumsum(x[0], 0, None, y)
np.max(x, 0, y)
x.sum(0, None, y)
np.take(x[0], [0, 1, 2], 0, y)
np.median(x, 0, y)
np.quantile(x, 0.5, 0, y)
np.concatenate([x[0, :1], x[1, :2]], 0, y)
np.matmul(x, x[0], y[:2])
np.dot(x, x[0], y[:2])
np.add(x[0], 1.0, y)
np.add.reduce(x, 0, None, y)
np.maximum.accumulate(x[0], 0, None, y)
np.std(x, 0, None, y)
np.ptp(x, 0, y)
np.average(x, 0, None, y)
np.cumsum(x, 0, int)
np.sum(x, 0, int)
np.mean(x, 0, int)
np.sum(x > 0.3, 0, bool)
np.mean(x > 0.3, 0, int)
np.gradient(x, 0.5, 1.0)[1][0]
np.gradient(x, 0.5, 1)[0][1]
np.repeat(x[0, :1], [3])
np.linalg.norm(np.array([[1, 0, 2], [0, 0, 1]]), 0, axis=0)
np.meshgrid(x[0], x[1], [1.0])[2][0, 0] * x[0]
""".strip().splitlines()


@pytest.mark.parametrize("call", RESULTS)
@pytest.mark.parametrize("lines", [["{}", "return y"], ["z = {}", "return y"], ["return {} * 1.0"]])
def test_results_and_dtypes_by_place_are_read_right_or_refused(call, lines):
    f = function_of("x: np.ndarray", ["y = np.zeros(3)", *(line.format(call) for line in lines)])
    try:
        plain = f(X)
    except (TypeError, ValueError) as error:
        with pytest.raises((te.ProgramError, type(error))):
            te.vjp(te.program(f), X)
        return
    try:
        value = te.vjp(te.program(f), X)[0]
    except te.ProgramError:
        return
    np.testing.assert_allclose(value, plain, rtol=1e-14)


#: Arguments of every kind that numpy makes an array of.
KINDS = {
    "a number": 1.5,
    "a tuple": (1.0, 2.0, 3.0),
    "tuples": ((1.0, 2.0), (3.0, 4.0)),
    "tuples of integers": ((1, 2), (3, 4)),
    "a list": [1.0, 2.0, 3.0],
    "rows": [[1.0, 2.0], [3.0, 4.0]],
    "integers": np.array([2, 0, 1]),
    "nothing": np.zeros(0),
    "no rows": np.zeros((0, 3)),
    "empty rows": np.zeros((2, 0)),
}
OF_ANY_KIND = """
np.flip(x)
np.flip(x, 0)
np.roll(x, 1)
np.rot90(x)
np.take(x, [0, 0])
np.take([5.0, 6.0, 7.0], x)
np.tile(x, (2, 2))
np.repeat(x, 2, axis=0)
np.repeat([5.0, 6.0, 7.0], x)
np.median(x, axis=0)
np.quantile(x, [0.3, 0.5])
np.quantile([5.0, 6.0], x)
np.ptp(x, 0)
np.average(x, weights=x)
np.trapezoid(x)
np.linalg.norm(x, 3)
np.cumsum(x, axis=0)
np.sort(x, axis=None)
np.subtract.outer(x, x)
np.maximum.accumulate(x)
np.add.reduce(x)
np.broadcast_to(x, (2, 3))
np.full((2, 3), x)
np.vstack([x, x])
np.einsum("...i->...", x)
""".strip().splitlines()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("call", OF_ANY_KIND)
def test_arguments_of_any_kind_give_the_value_of_numpy_or_are_refused(call, kind):
    f, x = function_of("x", [f"return {call}"]), KINDS[kind]
    try:
        plain = np.asarray(f(x))
    except (TypeError, ValueError, IndexError, ZeroDivisionError) as error:
        with pytest.raises((type(error), te.errors.TapeEngineError)):
            te.vjp(te.program(f), x)
        return
    try:
        value = te.vjp(te.program(f), x)[0]
    except te.errors.TapeEngineError:
        return
    assert np.shape(value) == plain.shape
    np.testing.assert_allclose(value, plain, rtol=1e-14)
