"""numpy's functions on matrices, with every option: a program gives numpy's value, and its derivative.

What the language does not have runs on dual numbers, and `derivative` says what to write instead.
"""

import warnings

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te

READ = """
(x > 0).sum(axis=0) * 1.0
(x > 0).any(axis=0) * 1.0
(x > 0.3).all(axis=1) * 1.0
(x > 0.3).mean(axis=1)
np.vstack([x, x[0]])
np.vstack([x[0], x])
np.vstack((x, x))
np.vstack([x[0], x[1]])
np.hstack([x, x])
np.hstack([x, x[:, :1]])
np.column_stack([x, x[:, 0]])
np.column_stack([x[:, 0], x])
np.column_stack([x, x])
np.concatenate([x, x], axis=1)
np.concatenate([x, x], axis=-1)
np.concatenate([x, x], axis=None)
np.concatenate((x, x[:1]))
np.stack([x, x], axis=1)
np.stack([x, x], axis=-1)
np.stack([x, x])
np.append(x, x, axis=0)
np.append(x, x, axis=1)
np.append(x, x)
np.append(x, 1.0)
np.append(x, [[1.0, 2.0, 3.0]], axis=0)
np.split(x, 3, axis=1)[1]
np.split(x, 2)[0]
np.split(x, [1], axis=1)[1]
np.split(x, [1])[1]
np.r_[x, x]
np.c_[x, x]
np.c_[x, x[:, 0]]
np.block([[x, x], [x, x]])
np.interp(x, [0., 1.], [0., 2.])
np.interp(x, [0., 1.], [0., 2.], left=-1.0)
np.interp(x, [0., 1.], [0., 2.], right=5.0)
np.polyval([1.0, 2.0, 3.0], x)
np.polyval(x[0], x)
np.clip(x, 0.2, 0.8)
np.clip(x, x[0], None)
np.clip(x, x[:, :1], 2.0)
np.select([x > 0.5, x > 0.2], [x, 2 * x], 0.0)
np.where(x > 0.5, x, x[0])
np.where(x > 0.5, x, x[:, :1])
np.subtract.outer(x[0], x[1])
np.outer(x, x)
np.outer(x[0], x[1])
np.sum(x, axis=0)
np.sum(x, axis=(0, 1))
np.sum(x, axis=-1, keepdims=True)
np.sum(x, axis=None)
np.sum(x, 0, keepdims=True)
np.sum(x, axis=0, where=x > 0.3)
np.sum(x, axis=1, initial=2.0)
np.mean(x, axis=1, keepdims=True)
np.mean(x, axis=0, where=x > 0.1)
np.prod(x, axis=0)
np.prod(x, axis=1, keepdims=True)
np.max(x, axis=0)
np.max(x, axis=1, keepdims=True)
np.max(x, axis=1, initial=0.4)
np.max(x, axis=(0, 1))
np.min(x, axis=0, where=x > 0.1, initial=9.0)
np.std(x, axis=0)
np.std(x, axis=1, ddof=1)
np.std(x, axis=1, keepdims=True)
np.var(x, axis=0)
np.var(x, axis=1, ddof=1, keepdims=True)
x.std(axis=0)
x.var(ddof=1)
np.ptp(x, axis=0)
np.ptp(x, axis=1)
np.nansum(x)
np.nanmean(x)
np.median(x)
np.median(x, axis=0)
np.median(x, axis=1)
np.median(x, axis=-1)
np.percentile(x, 30.0)
np.percentile(x, 30.0, axis=0)
np.percentile(x, [30.0, 60.0], axis=0)
np.percentile(x, [30.0, 60.0], axis=1)
np.quantile(x, 0.3)
np.quantile(x, [0.2, 0.5])
np.quantile(x, 0.3, axis=1)
np.quantile(x, [.2, .5], axis=0)
np.quantile(x, [.2, .5], axis=1)
np.quantile(x, [.2, .5], axis=-1)
np.average(x)
np.average(x, axis=0)
np.average(x, axis=1, weights=[1.0, 2.0, 3.0])
np.average(x, axis=0, weights=[1.0, 2.0])
np.average(x, weights=x)
np.cov(x)
np.cov(x[0], x[1])
np.corrcoef(x)
np.corrcoef(x[0], x[1])
np.bincount([0, 1, 1], x[0])
np.cumsum(x)
np.cumsum(x, axis=0)
np.cumsum(x, axis=1)
np.cumsum(x, axis=-1)
x.cumsum(axis=0)
x.cumsum()
np.cumprod(x, axis=0)
np.cumprod(x)
x.cumprod(1)
np.diff(x)
np.diff(x, axis=0)
np.diff(x, n=2)
np.diff(x, n=2, axis=1)
np.gradient(x, axis=0)
np.gradient(x, axis=1)
np.gradient(x, 0.5, axis=1)
np.gradient(x[0])
np.sort(x)
np.sort(x, axis=0)
np.sort(x, axis=1)
np.argsort(x, axis=0) * x
np.argsort(x) * x
np.argmax(x, axis=0) * x[0]
np.argmax(x, axis=1) * x[:, 0]
np.argmax(x) * x
np.argmin(x, axis=1, keepdims=True) * x
x.argmax(axis=1) * x[:, 0]
np.roll(x, 1, axis=0)
np.roll(x, -1, axis=1)
np.take(x, n)
np.take(x, n, axis=0)
np.take(x, n, axis=1)
np.take(x, 1)
np.take(x, [0, 2], axis=1)
np.take(x, [0, 1], axis=0)
np.take(x, [0, 5])
np.take(x, [[0, 1], [1, 0]], axis=0)
np.take(x[0], n)
x.take(n)
x.take([0, 1], axis=1)
x.take([0, 1], 0)
np.take_along_axis(x, np.argsort(x, axis=1), axis=1)
np.take_along_axis(x, np.argsort(x, axis=0), axis=0)
np.take_along_axis(x, np.argsort(x), -1)
np.flip(x)
np.flip(x, axis=0)
np.flip(x, axis=1)
np.flip(x, -1)
np.fliplr(x)
np.flipud(x)
np.convolve(x[0], x[1])
np.convolve(x[0], x[1], mode="same")
np.correlate(x[0], x[1], "full")
np.reshape(x, (3, 2))
np.reshape(x, -1)
np.reshape(x, (3, -1))
x.reshape(-1, 2)
x.reshape((3, 2))
x.ravel()
np.ravel(x)
x.flatten()
x.T
np.transpose(x)
np.transpose(x, (1, 0))
x.transpose()
x.transpose(1, 0)
np.swapaxes(x, 0, 1)
x.swapaxes(0, -1)
np.expand_dims(x, 0)
np.expand_dims(x, -1)
np.expand_dims(x, 1)
np.squeeze(x[:, :1])
np.squeeze(x[:, :1], axis=1)
np.squeeze(x[None], 0)
np.atleast_1d(x)
np.atleast_2d(x)
np.atleast_2d(x[0])
np.copy(x)
x @ x.T
np.dot(x, x.T)
np.dot(x, x[0])
np.matmul(x, x.T)
np.inner(x, x)
np.inner(x, x[0])
np.vdot(x, x)
np.einsum("ij,kj->ik", x, x)
np.kron(x, x)
np.cross(x[0], x[1])
np.diag(x)
np.diag(x[0], 1)
np.diag(x, 1)
np.diagonal(x)
np.diagonal(x, 1)
np.diagonal(x, offset=1)
np.trace(x)
np.trace(x, 1)
np.trace(x, n)
np.trace(x, offset=n)
x.trace()
np.tril(x)
np.tril(x, -1)
np.triu(x)
np.triu(x, k=1)
np.eye(2, 3) * x
np.linalg.norm(x)
np.linalg.norm(x, axis=0)
np.linalg.norm(x, axis=1, keepdims=True)
np.linalg.norm(x, ord=1, axis=1)
np.linalg.norm(x, ord=np.inf, axis=0)
np.linalg.norm(x, "fro")
np.tile(x, 2)
np.tile(x, (1, 2))
np.tile(x, (2, 1))
np.tile(x, (2, 2))
np.tile(x[0], (2, 1))
np.tile(x[0], (2, 2))
np.repeat(x, 2)
np.repeat(x, 2, axis=0)
np.repeat(x, 2, axis=1)
np.repeat(x[0], [1, 0, 2])
x.repeat(2, axis=1)
np.pad(x, 1)
np.pad(x, ((1, 0), (0, 2)))
np.pad(x, 1, mode="edge")
np.pad(x, 1, constant_values=2.0)
np.pad(x, (1, 0))
np.pad(x, 1, mode="reflect")
np.pad(x, 1, mode="wrap")
np.pad(x[0], (1, 2), mode="symmetric")
np.insert(x[0], 1, 9.0)
np.delete(x, 0, axis=0)
np.delete(x, 1, axis=1)
np.delete(x, -1, axis=1)
np.delete(x[0], [0, 2])
x[x > 0.3]
np.unique(x)
np.count_nonzero(x > 0.3) * x
np.count_nonzero(x > 0.3, axis=0) * x
np.searchsorted(x[0], 0.4) * x
np.digitize(x[0], [0.2, 0.5]) * x
np.round(x)
np.round(x, 1)
np.around(x, 1)
np.nan_to_num(x)
np.logaddexp(x, x[0])
np.hypot(x, x[0])
np.heaviside(x, 0.5)
np.sinc(x)
np.full_like(x, x[0, 0])
np.full((2, 2), x[0, 0])
np.zeros_like(x) + x
np.ones((2, 3)) * x
np.identity(3) * x[0]
np.meshgrid(x[0], x[1])[0]
np.meshgrid(x[0], x[1], indexing="ij")[1]
np.linspace(x[0, 0], x[0, 1], 4)
np.linspace(0.0, 1.0, 3, endpoint=False) * x[0]
np.logspace(0.0, 1.0, 3) * x[0]
np.arange(3) * x
np.allclose(x, x) * x
np.array_equal(x, x) * x
np.isclose(x, x[0]) * x
np.fmax(x, x[0])
np.fmin(x, 0.4)
np.mod(x, 0.3)
np.linalg.det(x[:, :2])
np.linalg.inv(x[:, :2])
np.linalg.solve(x[:, :2], x[:, 2])
np.array([x, x])
np.array([x[0], x[1]])
np.asarray(x)
np.size(x) * x
np.shape(x)[0] * x
np.ndim(x) * x
x.size * x
x.shape[1] * x
x.round(1)
x.clip(0.2, 0.5)
x.mean(axis=0)
x.sum(axis=1, keepdims=True)
x.max(axis=1)
x.min()
x.prod(axis=0)
x.dot(x[0])
x.diagonal()
x.squeeze()
x.tolist()[0][1]
""".strip().splitlines()
#: These run on dual numbers.
BEYOND = """
np.dstack([x, x])
np.array_split(x, 2, axis=1)[0]
np.hsplit(x, 3)[0]
np.vsplit(x, 2)[0]
np.choose(x > 0.5, [x, 2 * x])
np.subtract.outer(x, x[0])
np.add.outer(x, x)
np.ptp(x, axis=1, keepdims=True)
np.nansum(x, axis=0)
np.nansum(x, axis=1, keepdims=True)
np.nanmean(x, axis=1)
np.nanmax(x, axis=0)
np.median(x, axis=1, keepdims=True)
np.percentile(x, 30.0, axis=1, keepdims=True)
np.quantile(x, 0.5, axis=0, keepdims=True)
np.quantile(x, np.array([[.2, .5]]), axis=0)
np.average(x, axis=0, weights=x)
np.average(x, axis=1, keepdims=True)
np.trapezoid(x)
np.trapezoid(x, axis=0)
np.trapezoid(x, dx=0.5)
np.trapezoid(x, x=[0.0, 1.0, 3.0])
np.trapezoid(x, [0.0, 1.0], axis=0)
np.trapezoid(x, x=x)
np.cov(x, rowvar=False)
np.cov(x, bias=True)
np.cov(x, ddof=0)
np.corrcoef(x, rowvar=False)
np.maximum.accumulate(x)
np.maximum.accumulate(x, axis=1)
np.minimum.accumulate(x, axis=0)
np.add.accumulate(x, axis=1)
np.add.reduce(x)
np.add.reduce(x, axis=1)
np.maximum.reduce(x, axis=1)
np.multiply.reduce(x)
np.diff(x, prepend=0.0)
np.diff(x, append=x[:, :1])
np.ediff1d(x)
np.gradient(x)[0]
np.gradient(x[0], edge_order=2)
np.sort(x, axis=None)
np.roll(x, 1)
np.roll(x, (1, 2), axis=(0, 1))
np.roll(x, 1, axis=(0, 1))
np.take(x, [n, 5], mode="clip")
np.take(x, [n, 7], mode="wrap")
np.take(x, [n, 5], axis=1, mode="clip")
np.flip(x, axis=(0, 1))
np.rot90(x)
np.rot90(x, 2)
np.reshape(x, (2, 3), order="F")
np.ravel(x, order="F")
np.moveaxis(x, 0, 1)
np.rollaxis(x, 1)
np.expand_dims(x, (0, 3))
np.atleast_3d(x)
np.broadcast_to(x[0], (2, 3))
np.broadcast_to(x, (2, 2, 3))
np.tensordot(x, x)
np.tensordot(x, x, axes=([1], [1]))
np.tensordot(x, x.T, axes=1)
np.kron(x[0], x)
np.cross(x, x[0])
np.cross(x, x[::-1])
np.tri(2, 3) * x
np.vander(x[0])
np.linalg.norm(x, ord=1)
np.linalg.norm(x[0], 3)
np.linalg.norm(x, ord=3, axis=1)
np.tile(x, (2, 1, 1))
np.repeat(x, [1, 2], axis=0)
np.repeat(x, [1, 0, 2], axis=1)
np.insert(x, 1, 9.0)
np.insert(x, 1, 9.0, axis=0)
np.insert(x, 1, x[0], axis=0)
np.insert(x, 1, x[:, 0], axis=1)
np.insert(x, [0, 2], 9.0, axis=1)
np.insert(x[0], [0, 2], [1.0, 2.0])
np.delete(x, 0)
np.delete(x, [0, 2], axis=1)
np.delete(x, slice(0, 1), axis=0)
np.compress([True, False, True], x, axis=1)
np.extract(x > 0.3, x)
np.apply_along_axis(np.sum, 0, x)
np.piecewise(x, [x < 0.3, x >= 0.3], [lambda v: v, lambda v: 2 * v])
np.linspace(x[0], x[1], 4)
np.geomspace(1.0, 2.0, 3) * x[0]
np.nancumsum(x)
np.histogram(x, 3)[0] * x
np.lexsort((x[0], x[1])) * x[0]
x.item(1)
np.row_stack([x, x[0]])
""".strip().splitlines()
X = np.array([[0.31, 0.76, 0.22], [0.48, 0.13, 0.94]])
STEP = 1e-5


def made(call):
    f = function_of("x: np.ndarray, n: int", [f"return {call}"])
    if not hasattr(np, call.removeprefix("np.").split("(")[0].split(".")[0].split("[")[0]) and call.startswith("np."):
        pytest.skip("another version of numpy")
    return f, te.program(f)


def slopes(f, cotangent):
    """The gradient of the value times a cotangent by central differences of the plain function."""
    found = np.zeros(X.shape)
    for at in np.ndindex(X.shape):
        ends = []
        for step in (STEP, -STEP):
            x = X.copy()
            x[at] += step
            ends.append(np.sum(np.asarray(f(x, 1)) * cotangent))
        found[at] = (ends[0] - ends[1]) / (2 * STEP)
    return found


def agrees(f, program):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = np.asarray(f(X.copy(), 1))
        value, back = te.vjp(program, X.copy(), 1)
        cotangent = np.cos(1.0 + np.arange(plain.size)).reshape(plain.shape)
        assert np.shape(value) == plain.shape
        np.testing.assert_allclose(np.asarray(value, float), plain, rtol=1e-12, atol=1e-14)
        found = back(cotangent if plain.ndim else float(cotangent))[0]
        np.testing.assert_allclose(found, slopes(f, cotangent), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("call", READ)
def test_a_call_is_read(call):
    f, program = made(call)
    agrees(f, program)
    assert program.unread is None


@pytest.mark.parametrize("call", BEYOND)
def test_a_call_beyond_the_language_runs_on_dual_numbers(call):
    f, program = made(call)
    agrees(f, program)
    with pytest.raises(te.ProgramError) as refusal:
        program.derivative("reverse")
    assert refusal.value.advice
