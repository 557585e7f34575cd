"""Functions of numpy with ordinary arguments, as programs of a line or a few."""

import numpy as np
from chad.everyday import EVERYDAY
from chad.written_functions import function_of

rng = np.random.default_rng(1)
V = rng.normal(size=5)
M = rng.normal(size=(3, 4))
I = np.array([3, 1, 2, 1])  # noqa: E741


def cases(head, argument, texts):
    """Keep programs of one argument: texts of expressions, or of statements that are parted by ``; ``."""
    for text in texts.strip().splitlines():
        *lines, last = text.split("; ")
        EVERYDAY[f"{head} {text} {len(EVERYDAY)}"] = function_of(head, [*lines, f"return {last}"]), (argument,), {}


OF_VECTORS = """
np.atleast_1d(x)
np.atleast_1d(x[0])
np.atleast_2d(x)
np.atleast_2d(x[0])
np.squeeze(x[:, None])
x[None].squeeze(0)
np.squeeze(x[:, None], axis=0)
np.diff(x, n=2)
np.diff(x, n=9)
np.hypot(*x[:2])
np.hypot(*x)
np.r_[x, 2 * x]
np.r_[0.0, x, 1]
np.r_[0:3, x[0], 4:0:-2]
np.c_[x, x * x]
np.c_[1.0, x[0]]
np.c_[np.outer(x, x), x]
np.r_[np.outer(x, x), x[None]]
np.gradient(x)
np.gradient(x, 0.5)
np.gradient(x, np.arange(5.0))
np.gradient(x, np.array([0.0, 1.0, 1.5, 3.0, 4.0]))
np.gradient(x[:2])
np.gradient(x[:1])
np.convolve(x, x[:2], "same")
np.correlate(x, x[:2])
np.correlate(x, x[:2], mode="full")
np.correlate(x[:2], x)
np.kron(x, x[:2])
np.diag(x, 1)
np.diag(x, k=-2)
np.linspace(0.0, x[0], num=5)
np.linspace(0.0, x[0], 5, endpoint=False)
np.linspace(0.0, x[0])
np.eye(5, k=1) @ x
np.eye(3, 5) @ x
np.clip(x, None, 0.5)
np.clip(x, a_min=0.0, a_max=None)
x.clip(min=0.0)
x.clip(0.0)
x.clip(0.0, max=0.5)
np.bincount([0, 2, 1, 2, 0], weights=x)
np.bincount([0, 2, 2], minlength=5) * x
np.bincount([0, -1])
np.unique(np.concatenate((x, x)))
np.nansum(np.where(x > 0, x, np.nan))
np.nanmean(np.where(x > 0, x, np.nan))
np.cov(x, x * x)
np.convolve(x, x[0])
np.convolve(x[1], x)
np.corrcoef(x, x * x)
np.insert(x, 1, 2.0)
np.insert(x, -1, x[0])
np.insert(x, 9, 1.0)
np.delete(x, [1, -1])
np.delete(x, [9])
np.repeat(x, [1, 2, 0, 1, 1])
np.repeat(x, [1, 2])
np.tile(x, (2, 3))
np.meshgrid(x, x[:2], indexing="ij")
np.maximum.reduce([x, -x, 0.5 * x])
np.maximum.accumulate(x)
np.add.outer(x, x[:2])
np.subtract.outer(x, x)
np.linalg.norm(x, 1)
np.linalg.norm(x, ord=np.inf)
np.linalg.vector_norm(x)
np.fromiter((a * a for a in x), float)
np.array(x, copy=True)
np.ascontiguousarray(x)
x[np.where(x > 0)]
y = np.copy(x); y[0] = 2.0; y
y = np.gradient(x); y[0] += x[1]; y
y = np.r_[x, x]; y += 1.0; y
y = x.copy(); np.add.at(y, [0, 1, -1, 1], x[0]); np.subtract.at(y, np.array([0, 1, 1]), x[2:]); y
y = np.zeros((3, 5)); np.add.at(y, [0, 2, 0], 2.0 * x[0]); y
y = x.copy(); np.add.at(y, [0, 9], 1.0); y
y = x.copy(); np.maximum.at(y, [0, 1, -1, 1], x[0]); np.minimum.at(y, np.array([0, 1, 1]), x[2:]); y
y = np.zeros((3, 5)); np.maximum.at(y, [0, 2, 0], 2.0 * x[0]); y
y = np.zeros((3, 5)); np.minimum.at(y, ([0, 2, 0], [1, 1, 1]), x[:3]); y
y = x.copy(); np.maximum.at(y, [0, 0], [x[0], x[0]]); y
2.0 * np.cov(x)
np.cov(x, 2.0 * x * x)
np.take_along_axis(x, np.argsort(-x), axis=0)
np.take_along_axis(x, np.array([0, -1]), 0)
s = sum; s(a * a for a in x)
sum(i * a for i, a in enumerate(map(np.sin, x)))
x.round(2) + x.repeat(1)
x[x.nonzero()[0]]
"""
OF_MATRICES = """
np.squeeze(m[:1])
np.squeeze(m)
m[None].squeeze()
np.gradient(m, axis=0)
np.gradient(m, 0.5, axis=-1)
np.kron(m, m)
np.diag(m, 1)
np.diag(m, -1)
np.diag(m, 9)
np.diagonal(m, 1)
m.diagonal()
np.take(m, [0, 2], axis=1)
np.take(m, [0, 2], 0)
np.diff(m, 2)
np.diff(m, n=2, axis=0)
np.linalg.norm(m, 1, axis=1)
np.linalg.norm(m, np.inf, axis=0)
np.linalg.norm(m, "fro")
np.clip(m, m[0], None)
np.ptp(m, 1)
np.average(m, axis=0)
np.average(m, axis=1, weights=m[0])
np.cov(m)
np.corrcoef(m)
np.atleast_2d(m)
np.maximum.reduce(m)
np.take_along_axis(m, np.argsort(m, axis=1), axis=1)
np.take_along_axis(m, np.argsort(m, axis=0), axis=0)
np.take_along_axis(m, np.argmax(m, axis=1)[:, None], -1)
np.take_along_axis(m, np.array([[0, 2, 1, 0]]), 0)
m[:3, :3][np.diag_indices(3)]
y = m.copy(); y[np.diag_indices(3)] *= m[1, 1]; y
y = m.copy(); np.fill_diagonal(y, m[0, 1]); y
y = m.T.copy(); np.fill_diagonal(y, m[0, :3]); y
m[np.tril_indices(3)]
m[np.triu_indices(3, 1, 4)]
m[np.ix_([0, 2], [1, 3])]
m[np.where(m > 0)]
m.mT
"""
OF_INTEGERS = """
np.unique(i)
np.bincount(i)
np.kron(i, i)
np.diag(i, 1)
np.gradient(i)
np.diff(i, 2)
np.linalg.norm(i, 1)
np.clip(i, 2, None)
np.maximum.accumulate(i)
np.r_[i, 1]
np.r_[i, 1.5]
np.insert(i, 1, 7.5)
np.subtract.outer(i, i)
np.nansum(i)
np.take(i, [0, 1], axis=0)
"""
OF_NOTHING = """
e = x[:0]; np.gradient(e)
e = x[:0]; np.diff(e, 2)
e = x[:0]; np.unique(e)
e = x[:0]; np.kron(e, e)
e = x[:0]; np.diag(e, 1)
e = x[:0]; np.linalg.norm(e, 1)
e = x[:0]; np.r_[e, 1.0]
e = x[:0]; np.maximum.accumulate(e)
e = x[:0]; np.maximum.reduce(e)
e = x[:0]; np.subtract.outer(e, e)
e = x[:0]; np.insert(e, 0, 1.0)
e = x[:0]; np.nansum(e)
"""
cases("x", V, OF_VECTORS)
cases("m", M, OF_MATRICES)
cases("i", I, OF_INTEGERS)
cases("x", V, OF_NOTHING)
