"""Common uses of numpy in programs, as expressions and statements: correct with `tapeengine.numpy` and in lifted code.

Each is compared with numpy's value, with differences along one direction, and reverse with forward mode.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as tnp

#: Expressions in x (4 numbers), A (4 times 4) and s; c and C are constants.
EXPRESSIONS = """
np.sum(x) | x.sum() | np.mean(x) | x.mean() | np.std(x) | x.std(ddof=1) | np.var(A, axis=0).sum() | np.median(x)
np.median(A, axis=1).sum() | np.average(x) | np.average(x, weights=c) | np.average(x, weights=x**2)
np.percentile(x, 30) | np.quantile(A, [0.2, 0.7], axis=0).sum() | np.nanmean(x) | np.nansum(x) | np.nanstd(x)
np.nanmedian(x) | np.ptp(x) | np.max(x) | np.min(x) | x.max() | np.amax(A, axis=1).sum() | np.argmax(x) * s
np.prod(x) | np.cumsum(x)[2] | np.cumprod(x)[3] | np.diff(x).sum() | np.diff(x, n=2).sum() | np.ediff1d(x)[1]
np.gradient(x)[1] | np.gradient(A)[0].sum() if isinstance(np.gradient(A), (list, tuple)) else 0.0 | np.trapezoid(x)
np.trapezoid(x, dx=0.1) | np.cross(x[:3], c[:3])[0] | np.interp(s, [0, 1, 2], [1.0, 3.0, 2.0])
np.interp(1.3, [0, 1, 2], x[:3]) | np.interp(x, c.cumsum(), c).sum() | np.interp(0.3, np.sort(x), c) | np.dot(x, c)
x @ c | A @ x @ c | (A @ A)[0, 1] | np.matmul(A, x)[1] | np.vdot(x, c) | np.inner(x, c) | np.outer(x, c)[1, 2]
np.outer(x, x).sum() | np.tensordot(A, A) | np.einsum('ij,j->i', A, x)[0] | np.einsum('ii', A) | np.kron(x, c)[5]
np.kron(A, A)[3, 4] | np.trace(A) | np.linalg.multi_dot([A, C, A])[0, 0] | np.vecdot(x, c) | np.linalg.norm(x)
np.linalg.norm(A) | np.linalg.norm(A, 'nuc') | np.linalg.norm(A, 2) | np.linalg.norm(x, 1)
np.linalg.norm(x, np.inf) | np.linalg.norm(A, axis=1).sum() | np.linalg.det(A) | np.linalg.slogdet(A)[1]
np.linalg.inv(A)[0, 1] | np.linalg.solve(A, x)[0] | np.linalg.solve(A, c).sum() | np.linalg.pinv(A)[1, 0]
np.linalg.lstsq(A[:, :2], x, rcond=None)[0].sum() | np.linalg.cholesky(A @ A.T)[2, 1]
np.linalg.eigh(A + A.T)[0][1] | np.linalg.eigvalsh(A + A.T).prod() | np.linalg.svd(A, compute_uv=False).sum()
np.linalg.svd(A)[1][0] | np.linalg.qr(A)[1][0, 1] | np.linalg.matrix_power(A, 3)[0, 0]
np.linalg.matrix_rank(A) * s | np.linalg.cond(A) | np.linalg.eigvals(A).real.sum() | np.linalg.eig(A)[0].real.max()
np.linalg.tensorsolve(A, x).sum() | np.linalg.tensorinv(A.reshape(2, 2, 4), 2).sum() | np.linalg.vector_norm(x)
np.linalg.matrix_norm(A) | np.linalg.outer(x, c).sum() | np.linalg.trace(A) | np.linalg.cross(x[:3], c[:3]).sum()
np.exp(x).sum() | np.log(x).sum() | np.log1p(x).sum() | np.expm1(x).sum() | np.sqrt(x).sum() | np.cbrt(x).sum()
np.sin(x).sum() | np.cos(x).sum() | np.tan(x / 4).sum() | np.arcsin(x / 9).sum() | np.arctan2(x, c).sum()
np.sinh(x).sum() | np.tanh(x).sum() | np.hypot(x, c).sum() | np.logaddexp(x, c).sum() | np.logaddexp.reduce(x)
np.power(x, c).sum() | np.float_power(x, 2).sum() | (x ** 2.5).sum() | (2.0 ** x).sum() | np.square(x).sum()
np.reciprocal(x).sum() | np.abs(-x).sum() | np.fabs(x).sum() | np.sign(x) @ x | np.maximum(x, 1).sum()
np.fmin(x, c).sum() | np.clip(x, 0.5, 1.5).sum() | x.clip(0.5, 1.5).sum() | np.where(x > 1, x, x ** 2).sum()
np.select([x > 1.5, x > 1], [x, x**2], x**3).sum()
np.piecewise(x, [x < 1, x >= 1], [lambda t: t**2, lambda t: t]).sum() | np.heaviside(x - 1, 0.5) @ x
np.floor(x) @ x | np.round(x, 2) @ x | (x // 0.5) @ x | np.modf(x)[0].sum() | np.frexp(x)[0].sum()
np.ldexp(x, 2).sum() | np.sinc(x).sum() | np.i0(x).sum() | np.unwrap(x * 5).sum() | np.deg2rad(x).sum()
np.rad2deg(x).sum() | np.degrees(x).sum() | np.angle(x + 1j * c).sum() | np.real(x * (1 + 2j)).sum()
np.abs(x * (3 + 4j)).sum() | np.conj(x).sum() | np.nan_to_num(x).sum() | np.copysign(x, -c).sum()
np.nextafter(x, 3).sum() | np.spacing(x) @ x | x.reshape(2, 2)[0].sum() | x[::-1][0] | x[[0, 0, 2]].sum()
x[x > 1].sum() | x[1:3].prod() | x[..., None].sum() | x[np.newaxis, :].sum() | A[1, :] @ c | A[:, [0, 2]].sum()
A[np.ix_([0, 1], [1, 2])].sum() | A[np.triu_indices(4)].prod() | A[np.diag_indices(4)].prod()
A[np.diag_indices_from(A)].prod() | A[np.tril_indices_from(A)].prod() | A[np.triu_indices_from(A, 1)].sum()
np.take(x, [0, 2]).sum() | np.compress([True, False, True, False], x).sum() | np.extract(x > 1, x).sum()
np.choose([0, 1, 0, 1], [x, c]).sum() | np.take_along_axis(A, np.argsort(A, axis=1), 1)[0] @ c | x.T.sum()
A.T[0].sum() | np.transpose(A)[0] @ c | np.swapaxes(A, 0, 1)[1] @ c | np.moveaxis(A, 0, 1)[1] @ c | np.flip(x)[0]
np.roll(x, 1)[0] | np.rot90(A)[0] @ c | np.tile(x, 3)[5] | np.repeat(x, 2)[3] | np.concatenate([x, c]).sum()
np.stack([x, c])[0].sum() | np.vstack([x, c])[0].sum() | np.hstack([x, c])[1] | np.dstack([x, c]).sum()
np.column_stack([x, c]).sum() | np.block([[A, A], [A, C]]).sum() | np.append(x, 2.0).sum() | np.append(x, s).sum()
np.insert(x, 1, s).sum() | np.delete(x, 1).sum() | np.pad(x, 2)[3] | np.pad(x, 1, mode='edge').sum()
np.pad(A, 1, mode='reflect').sum() | np.pad(x, 2, mode='wrap').sum() | np.split(x, 2)[0].sum()
np.array_split(x, 3)[0].sum() | np.hsplit(A, 2)[0].sum() | np.squeeze(x[None]).sum() | np.expand_dims(x, 0).sum()
np.broadcast_to(x, (3, 4)).sum() | np.broadcast_arrays(x, A)[0].sum() | np.broadcast_arrays(s, 2.0)[1][()] * s
np.broadcast_arrays(s, 2.0)[0].ravel().sum() | np.atleast_2d(x).sum()
np.ravel(A) @ np.ravel(C) | A.flatten()[3] | A.ravel()[3] | np.diag(x)[1, 1] | np.diag(A).prod()
np.diagonal(A).prod() | np.diagflat(x).sum() | np.tril(A).sum() | np.triu(A, 1).sum() | np.vander(x)[0] @ c
np.meshgrid(x, c)[0].sum() | np.fliplr(A)[0] @ c | np.flipud(A)[0] @ c | np.resize(x, 6)[5] | np.trim_zeros(x).sum()
np.sort(x)[0] | np.sort(A, axis=0)[0] @ c | x[np.argsort(x)][0] | np.partition(x, 2)[0] | np.unique(x)[0]
np.searchsorted(np.sort(x), 1.2) * s | np.digitize(x, [0.5, 1.5]) @ x | np.histogram(c, bins=3, weights=x)[0].prod()
np.histogram(c, bins=[0, 1, 3], weights=x)[0].prod() | np.histogram(x, bins=3)[1][0]
np.histogram2d(c, c, bins=2, weights=x)[0].sum() | np.quantile(x, 0.3, weights=c, method='inverted_cdf')
np.bincount([0, 1, 1, 2], weights=x)[1] | np.nonzero(x > 1)[0].size * s | np.argwhere(x > 1).size * s
np.flatnonzero(x > 1).size * s | np.count_nonzero(x > 1) * s | np.any(x > 1) * s | np.all(x > 0) * s
np.allclose(x, x) * s | np.isclose(x, x).sum() * s | np.array_equal(x, x) * s | np.isnan(x).sum() * s + s
np.lexsort((x, c))[0] * s + s | x[np.lexsort((c, x))][0] | np.convolve(x, c)[2] | np.convolve(x, c, 'same')[2]
np.correlate(x, c)[0] | np.fft.fft(x).real.sum() | np.abs(np.fft.fft(x))[1] | np.fft.rfft(x).imag[1]
np.fft.irfft(np.fft.rfft(x) * 2)[0] | np.fft.fft2(A).real[0, 1] | np.fft.fftshift(x)[0] | np.fft.fftfreq(4) @ x
np.fft.ifft(x).real[1] | np.fft.hfft(x).sum() | np.fft.fftn(A).imag[1, 2] | np.cov(A)[0, 1] | np.corrcoef(A)[0, 1]
np.cov(x, c)[0, 1] | np.polyval(x, 2.0) | np.polyval([1.0, 2.0, 3.0], s) | np.polyval(x, s)
np.polyfit(c.cumsum(), x, 1)[0] | np.poly1d([1.0, 2.0])(s) | np.poly1d(x)(2.0) | np.poly1d(x).deriv()(s)
(np.poly1d(x) * np.poly1d([1.0, 2.0]))(s) | np.poly1d(x).integ()(2.0) | np.poly1d(x)[1] | np.poly1d(x).coeffs[0]
np.roots(x).real.sum() | np.roots([1.0, -s - 3, s]).real.max() | np.poly(x)[2] | np.polyadd(x, c)[0]
np.polymul(x, c)[3] | np.polyder(x)[0] | np.polyint(x)[0] | np.polydiv(x, [1.0, 2.0])[0][1]
np.polynomial.polynomial.polyval(2.0, x) | np.polynomial.polynomial.polyval(s, x)
np.polynomial.polynomial.polyval(x, c).sum() | np.polynomial.Polynomial(x)(s) | np.polynomial.Polynomial(c)(s)
np.polynomial.Polynomial(x).deriv()(2.0) | np.polynomial.Polynomial([1.0, 2.0, 3.0]).integ()(s)
np.polynomial.chebyshev.chebval(s / 3, c) | np.polynomial.chebyshev.chebval(0.3, x)
np.polynomial.Chebyshev(x)(0.3) | np.polynomial.Chebyshev(c)(s / 3) | np.polynomial.legendre.legval(s / 3, x)
np.polynomial.legendre.legval(x / 5, c).sum() | np.polynomial.legendre.Legendre(x)(0.2)
np.polynomial.hermite.hermval(s, x) | np.polynomial.hermite_e.hermeval(s, x) | np.polynomial.laguerre.lagval(s, x)
np.polynomial.polynomial.polyfit(c.cumsum(), x, 1)[0] | np.polynomial.Polynomial.fit(c.cumsum(), x, 1)(0.5)
np.polynomial.polynomial.polyder(x)[0] | np.polynomial.polynomial.polyint(x)[1]
np.polynomial.polynomial.polymul(x, c)[2] | np.polynomial.polynomial.polyadd(x, c)[2]
(np.polynomial.Polynomial(x) * np.polynomial.Polynomial(c))(s) | (np.polynomial.Polynomial(x) + 1)(s)
np.polynomial.polynomial.polyval2d(x, c, A).sum() | np.polynomial.polynomial.polyvander(x, 2).sum()
np.polynomial.legendre.leggauss(4)[1] @ np.exp(np.polynomial.legendre.leggauss(4)[0] * s)
np.polynomial.hermite.hermgauss(3)[1] @ np.sin(np.polynomial.hermite.hermgauss(3)[0] + s)
np.polynomial.polynomial.polyroots([x[0], -5.0, 1.0]).max() | np.polynomial.polynomial.polyfromroots(x)[1]
np.polynomial.chebyshev.chebfit(c.cumsum(), x, 2)[1] | np.polynomial.chebyshev.chebder(x)[0]
np.polynomial.legendre.legint(x)[1] | np.polynomial.chebyshev.cheb2poly(x)[0]
np.polynomial.Chebyshev.interpolate(lambda t: t * s, 2)(0.4) | np.c_[x, c].sum() | np.r_[x, s, 1.0].prod()
np.r_[1.0, x].sum() | np.r_[x[0], 0:3, x].sum() | np.c_[x, c][1, 0] | np.r_['0,2', x, c].sum()
np.array([s, 1.0, s**2]).prod() | np.array([x, c])[0].sum() | np.asarray([s, s]).sum() | np.full(3, s).sum()
np.full((2, 2), s).prod() | np.ones(4) @ x | np.zeros_like(x).sum() + s | np.eye(4) @ x @ c
np.linspace(0, s, 5).sum() | np.linspace(x[0], x[1], 3)[1] | np.logspace(0, s, 3).sum()
np.geomspace(1, s + 1, 3)[1] | np.arange(4) @ x | np.identity(4)[0] @ x | np.tri(4)[3] @ x
np.fromiter((xi for xi in x), float).sum() | np.array(list(x)).prod() | np.array([xi**2 for xi in x]).sum()
np.asarray(x, dtype=float).sum() | np.array(x, copy=True).prod() | np.copy(x).prod() | x.copy().prod()
np.ascontiguousarray(A.T)[0] @ c | np.asanyarray(x).sum() | np.require(x).sum() | x.astype(float).prod()
x.astype(np.float64).prod() | np.fromfunction(lambda i, j: i * s + j, (2, 2)).sum() | np.indices((2, 2)).sum() * s
np.mgrid[0:2, 0:2].sum() * s | np.ogrid[0:3] @ x[:3] | np.asarray_chkfinite(x).sum()
np.stack([xi * c for xi in x]).sum() | np.concatenate([[s], x]).sum() | np.hstack((s, x)).sum()
np.vstack((x, [1, 2, 3, 4.0]))[0] @ c | np.column_stack(([1, 2, 3, 4], x)).prod()
np.vectorize(lambda t: t**2 + 1)(x).sum() | np.vectorize(lambda t, k: t * k if t > 1 else k)(x, c).sum()
np.vectorize(lambda t: t * 2, otypes=[float])(x).sum()
np.vectorize(lambda r: r.sum() ** 2, signature='(n)->()')(A).sum() | np.vectorize(lambda t: t**2)(s) * 1.0
np.apply_along_axis(lambda r: r.sum() ** 2, 1, A).sum() | np.apply_along_axis(lambda r: r / r.sum(), 0, A)[0] @ c
np.apply_along_axis(np.sum, 0, A) @ c | np.apply_over_axes(np.sum, A, [0, 1])[0, 0]
sum(v * i[0] for i, v in np.ndenumerate(x)) | sum(A[i] * sum(i) for i in np.ndindex(A.shape))
sum(float(0) + v for v in np.nditer(x)) * 1.0 | sum(np.sin(v) for v in np.nditer(x)) | sum(v * v for v in A.flat)
max(x) | min(x) | sum(x) | sorted(x)[0] | sum(a * b for a, b in zip(x, c)) | sum(row @ c for row in A)
list(map(np.sin, x))[0] | [*x][1] * 2 | x.tolist()[1] * 3 | x.item(2) ** 2
np.lib.stride_tricks.sliding_window_view(x, 2).prod(axis=1).sum()
np.lib.stride_tricks.sliding_window_view(A, (2, 2)).sum(axis=(2, 3)).prod()
np.lib.stride_tricks.as_strided(x, (3, 2), (8, 8)).prod(axis=1).sum()
np.lib.stride_tricks.sliding_window_view(x, 3)[::2].prod() | np.mean([s, 1.0, s**2]) | np.std([s, 1.0, s**2])
np.var([s, 1.0, s * 3]) | np.median([s, 1.0, 5.0]) | np.average([s, 2.0], weights=[1, 3])
np.average([1.0, 2.0], weights=[s, 1.0]) | np.linalg.norm([s, 2.0]) | np.linalg.det([[s, 1.0], [0.5, s]])
np.linalg.solve([[s, 1.0], [0.5, 2.0]], [1.0, s])[0] | np.linalg.inv([[s, 1.0], [0.5, 2.0]])[0, 0]
np.interp(s, [0, 1, 2, 3], [0, 1.0, 4.0, 9.0]) | np.interp(0.5, [0, 1], [s, 2.0]) | np.sum([s, s, 1])
np.prod([s, 2, s]) | np.max([s, 0.1]) | np.dot([s, 1], [2.0, s]) | np.cumsum([s, 1])[1] | np.sort([s, 0.1])[1]
np.cross([s, 1, 2], [1, s, 0])[0] | np.sqrt([s, 2.0])[0] | np.concatenate(([s], [1.0]))[0] | np.diff([s, 1, 4])[0]
np.outer([s, 1], [2.0, s]).sum() | np.trapezoid([s, 1, 2], [0, 1, 3]) | np.clip([s, 5], 0, 3).sum()
np.where([True, False], [s, s], [1.0, 2.0]).sum() | np.linalg.eigvalsh([[s, 1.0], [1.0, 2.0]])[0]
np.polyfit([0, 1, 2], [s, 1, 2], 1)[0] | np.percentile([s, 1, 2], 40) | np.matmul([[s, 1]], [[1.0], [s]])[0, 0]
np.add.reduce([s, 1.0]) | np.einsum('i,i', [s, 1.0], [2.0, s]) | np.tile([s, 1], 2).sum()
np.mean([[s, 1.0], [2.0, s]], axis=0)[0] | np.add(x, c).sum() | np.add.reduce(x) | np.add.accumulate(x)[2]
np.multiply.reduce(x) | np.multiply.outer(x, c).sum() | np.maximum.reduce(x) | np.maximum.accumulate(x).sum()
np.add.reduceat(x, [0, 2])[1] | np.subtract.outer(x, x)[0, 1] | np.minimum.outer(x, c).sum()
np.sum(x, where=x > 1) | np.sum(A, axis=(0, 1)) | np.sum(A, keepdims=True)[0, 0] | np.sum(x, initial=3.0)
np.exp(x, where=c > 0.5, out=np.zeros(4)).sum() | np.add(x, c, out=np.zeros(4)).prod()
np.sum(A, axis=0, out=np.zeros(4)).prod() | np.nancumsum(x)[2] | np.nanmax(x) | np.nanpercentile(x, 40)
np.cumulative_sum(x)[2] | np.fix(x) @ x | np.isfinite(x).all() * s | np.real_if_close(x).sum()
np.set_printoptions() or s | len(repr(x)) * 0 + s | x.shape[0] * s | x.size * s | x.ndim * s | len(x) * s
np.shape(x)[0] * s | x.nbytes * s | x.itemsize * s | x.dtype.itemsize * s | np.int64(x[0]) * s | int(x[0]) * s
x.view().sum() | x.view(np.ndarray).sum() | np.iscomplexobj(x) * s + s | np.isrealobj(x) * s
np.result_type(x, 1).itemsize * s | np.may_share_memory(x, x) * s | np.testing.assert_allclose(x, x) or s
np.testing.assert_array_equal(x, x) or s | np.save(io.BytesIO(), x) or s | np.savetxt(io.StringIO(), x) or s
np.random.default_rng(0).normal(size=4) @ x | np.random.RandomState(0).randn(4) @ x
np.random.default_rng(0).normal(x[0], 0.1) * s
np.random.default_rng(0).permutation(4) @ x | np.isin(x, [1.0]).sum() * s + s | np.setdiff1d(x, c).sum()
np.union1d(x, c).sum() | np.ma.masked_array(C).sum() * s | np.einsum_path('ij,jk', A, A)[0][0] and s
np.apply_along_axis(np.linalg.norm, 1, A).sum() | np.rollaxis(A, 1)[0] @ c
np.linalg.norm(A - A.T) + np.linalg.norm(A) | np.min(np.abs(x[:, None] - x[None, :]) + 10 * np.eye(4))
np.triu(np.outer(x, x)).sum() | np.emath.sqrt(x).sum() | np.emath.log(x).sum() | np.lib.scimath.sqrt(x).sum()
np.nanargmin(x) * s | np.fft.rfftfreq(4) @ x[:3] | np.block([x, s * np.ones(2)]).sum() | np.bartlett(4) @ x
np.hanning(4) @ x | np.kaiser(4, 2.0) @ x | np.kaiser(4, s).sum() | np.hamming(4) @ x | x.dot(c) | x.prod()
x.cumsum()[1] | x.argmax() * s | x.var() | A.trace() | A.diagonal().sum() | x.repeat(2).sum() | x.take([1, 2]).sum()
A.swapaxes(0, 1)[0] @ c | x.ravel().sum() | x.round(1) @ x | x.all() * s | x.nonzero()[0].size * s
x.searchsorted(1.0) * s | x.conj().sum() | x.real.sum() | x.imag.sum() + s | x.flat[2] | x.squeeze().sum() | x.min()
x.compress([1, 0, 1, 0]).sum() | x.argsort()[0] * s + s | x.tolist()[0] | np.array(A)[0, 0] | A[0][1] * A[1][0]
-x @ c | +x @ c | abs(x) @ c | divmod(s, 0.3)[1] | (x > 1) @ x | (x == x) @ x | (~(x > 1)) @ x | round(s, 1) * s
pow(s, 3) | s ** s | 2 ** s | x @ x | c @ A | C @ A @ c | (c + x).sum() | (c / x).sum() | (1 - x).prod()
(c ** x).sum() | np.multiply(c, x).sum() | np.true_divide(c, x).sum() | np.negative(x).sum() | np.positive(x).sum()
np.matvec(A, x).sum() | np.vecmat(x, A).sum() | np.bitwise_count(3) * s | np.linalg.svdvals(A).sum()
np.astype(x, float).sum() | np.permute_dims(A, (1, 0))[0] @ c | np.matrix_transpose(A)[0] @ c
np.concat([x, c]).prod() | np.unstack(A)[0] @ c | np.pow(x, 2).sum() | np.acos(x / 9).sum()
np.unique_all(x)[0] @ c[::-1] * np.unique_all(x)[1].sum() | np.unique_counts(np.r_[x, x[1]])[0] @ c
np.unique_inverse(np.r_[x, x[1]])[0] @ c | np.intersect1d(x, np.r_[x[1], x[3], 9.0]) @ c[:2]
np.intersect1d(x, np.r_[x[1], 9.0], return_indices=True)[1][0] * s | np.setxor1d(x, np.r_[x[1], 9.0]) @ c
np.setxor1d(x, c, assume_unique=True).sum() | np.histogram_bin_edges(x, 3) @ c
np.histogram_bin_edges(c, x.cumsum()).prod()
np.concatenate(([x[0], s], [x[1]])).prod() | np.hstack(([x[0], s], [x[1], 2.0, s])).prod()
np.vstack(([[x[0], s], [s, 1.0]], [s, x[1]])).prod() | np.column_stack(([s, x[0]], [[s, 1.0], [x[1], 2.0]])).prod()
np.linalg.multi_dot([[s, x[0]], [[x[1], 1.0], [s, 2.0]], [s, s]]) | np.dstack(([s, x[0]], [[x[1], s]])).prod()
np.frompyfunc(lambda t: t * t, 1, 1)(x).sum() | np.frompyfunc(lambda t, u: (t * u, u), 2, 2)(x, A)[0].sum()
np.frompyfunc(lambda t, u: t * u, 2, 1)(s, 2) | np.frompyfunc(lambda t, u: t * u + t, 2, 1).reduce(A, axis=1).sum()
np.frompyfunc(lambda t, u: t * u, 2, 1).outer(x, c)[1, 2] | np.frompyfunc(lambda t, u: t * u, 2, 1).accumulate(x)[2]
np.unique_values(x).sum() | np.linalg.lstsq(A[:, :2], x)[1][0] | np.nanquantile(x, 0.3) | np.nanvar(x)
np.nanprod(x) | np.nancumprod(x)[1] | np.nanmin(x) | np.fmax.reduce(x) | np.hypot.reduce(x)
np.power.outer(x, [1, 2]).sum() | np.divide.reduce(x) | np.subtract.accumulate(x)[2]
np.linalg.eigh(A + A.T, UPLO='U')[0][0] | np.tensordot(A, x, axes=1).sum()
np.tensordot(A, C, axes=([0], [1])).sum() | np.einsum('ij,jk,kl->il', A, C, A)[0, 0]
np.einsum('i,i->i', x, c).prod() | np.einsum('...i->...', A).prod() | np.einsum(A, [0, 1], x, [1], [0]).sum()
np.inner(A, A)[0, 1] | np.array_repr(x) and s | np.array([1.0, 2.0]).dot([s, 1.0])
np.array([1.0, 2.0]) * s @ np.array([1.0, 1.0]) | (np.float64(2.0) * x).sum() | (np.float64(2.0) * s)
(c * s).sum() | np.array(2.0) * s | np.array([2.0])[0] * s | np.array([[1.0]]) @ [s] | np.sum(c * x[::-1])
np.sum(np.array([s] * 3)) | np.asarray(s).sum() | np.asarray(s).item() | np.array(s) * 2.0 | np.atleast_1d(s)[0]
np.squeeze(np.array([[s]])) * 1.0 | np.array([x[0], x[1]]) @ c[:2] | np.array((s, 2.0)).prod()
np.array([[x[0], 0.0], [0.0, x[1]]]).sum() | np.linalg.norm(x[1:] - x[:-1]) | np.exp(-0.5 * (x - c) @ A @ (x - c))
(x[:, None] * c[None, :]).trace() | np.sqrt(np.sum((x[:, None] - c) ** 2, axis=-1)).sum()
np.log(np.sum(np.exp(x))) | np.max(x) + np.log(np.sum(np.exp(x - np.max(x)))) | np.exp(x) [0] / np.exp(x).sum()
np.mean((A @ x - c) ** 2) | np.mean(x) / np.std(x) | np.maximum(0, A @ x).sum() | 1 / (1 + np.exp(-x)) @ c
np.where(x > 0, x, 0.01 * x).sum() | x[np.arange(4) % 2 == 0].sum() | A[range(4), range(4)].prod()
A[np.arange(4), [0, 1, 0, 1]].prod() | x[-1] * x[-2] | x[np.array([True, False, True, True])].prod()
x[slice(1, None)].prod() | A[..., 0] @ c | A[1:, ::2].prod() | x[None][0, 1] | np.sum([np.sum(r) ** 2 for r in A])
np.sum(np.fromiter(map(float, c), float) * x) | np.unravel_index(np.argmax(A), A.shape)[0] * s + s
A.reshape(-1, 2).sum(axis=1).prod() | A.reshape((2, 8)).prod() | A.max(axis=0).sum()
A.min(axis=1, keepdims=True).sum() | np.sum(A * np.eye(4)) | np.sum(A[None] * C[:, None]) | np.amin(x)
np.mean(A, axis=(0, 1), keepdims=True)[0, 0] | np.nansum(np.where(x > 1, x, np.nan))
np.ma.array(c, mask=[0, 1, 0, 0]).sum() * s | np.array(x.shape).prod() * s | np.full_like(x, 2.0) @ x
np.full_like(c, s).sum() | np.ones_like(x) @ x | np.empty_like(x).size * s | np.dot(A, C)[0, 0] | np.dot(s, x)[0]
np.dot(2.0, x)[0] | np.dot(x, A)[1] | np.char.add('a', 'b') and s | np.datetime64('2020') and s
np.finfo(x.dtype).eps * 0 + s | np.iinfo(int).bits * s | np.errstate(all='ignore').__enter__() or s
np.isscalar(s) * s + s | np.issubdtype(x.dtype, np.floating) * s | np.promote_types(x.dtype, 'f4').itemsize * s
"""
#: Function bodies with the same names.
BODIES: dict[str, str] = {
    "assign zeros": """a = np.zeros(4)
a[1] = s
a[2:] = x[:2]
return (a * a).sum()""",
    "assign np.array const": """a = np.array([1.0, 2.0])
a[0] = s
return a.prod()""",
    "assign copy np.copy": """a = np.copy(c)
a[0] = s
return a.prod()""",
    "assign arange": """a = np.arange(4.0)
a[0] = s
return a.sum()""",
    "assign ones": """a = np.ones((2, 2))
a[0, :] = x[:2]
return a.prod()""",
    "iadd zeros": """a = np.zeros(4)
for i in range(4):
    a[i] += x[i] * s
return a.prod()""",
    "iadd x copy": """a = x.copy()
a += 1
a *= x
return a.sum()""",
    "iadd total": """t = 0.0
for v in x:
    t += v * v
return t""",
    "iadd zeros vec": """a = np.zeros(4)
a += x
return (a*a).sum()""",
    "const imul elt": """a = np.ones(4)
a[2] *= s
return a.sum()""",
    "euler": """y = np.zeros((5, 2))
y[0] = [s, 1.0]
for i in range(4):
    y[i + 1] = y[i] + 0.1 * np.array([y[i, 1], -y[i, 0]])
return y[-1, 0]""",
    "list of rows": """rows = []
for i in range(3):
    rows.append(x * i)
return np.array(rows).sum()""",
    "list of rows mean": """rows = []
for i in range(3):
    rows.append(x * i)
return np.mean(rows, axis=0).prod()""",
    "fill": """a = np.empty(3)
a.fill(s)
return a.prod()""",
    "fill_diagonal": """a = np.zeros((4, 4))
np.fill_diagonal(a, x)
return (a @ A).sum()""",
    "swap": """a = x.copy()
a[0], a[1] = a[1], a[0]
return a @ c""",
    "sort inplace": """a = x.copy()
a.sort()
return a @ c""",
    "mask assign": """a = x.copy()
a[a > 1] = 0
return (a * c).sum()""",
    "mask assign traced": """a = np.zeros(4)
a[x > 1] = x[x > 1]
return (a * c).sum()""",
    "add.at": """a = np.zeros(3)
np.add.at(a, [0, 1, 1, 2], x)
return a.prod()""",
    "put": """a = np.zeros(4)
np.put(a, [1, 2], x[:2])
return a.sum()""",
    "copyto": """a = np.zeros(4)
np.copyto(a, x)
return a.prod()""",
    "out": """a = np.zeros(4)
np.multiply(x, c, out=a)
return a.prod()""",
    "nditer rw": """a = x.copy()
with np.nditer(a, op_flags=['readwrite']) as it:
    for v in it:
        v[...] = v * 2
return a.sum()""",
    "nditer multi": """it = np.nditer(x, flags=['multi_index'])
t = 0.0
for v in it:
    t = t + v * it.multi_index[0]
return t""",
    "nditer two": """t = 0.0
for a, b in np.nditer([x, c]):
    t = t + a * b
return t""",
    "ndenumerate 2d": """t = 0.0
for (i, j), v in np.ndenumerate(A):
    t += v * (i - j) ** 2
return t""",
    "flat assign": """a = np.zeros((2, 2))
a.flat[1:3] = x[:2]
return a.sum()""",
    "reshape assign": """a = np.zeros((2, 2))
a.reshape(-1)[1] = s
return a.sum()""",
    "view assign": """a = np.zeros((3, 3))
b = a[1]
b[:] = s
return a.sum()""",
    "sliding conv": """w = np.lib.stride_tricks.sliding_window_view(A, (2, 2))
k = x.reshape(2, 2)
return (np.einsum('ijkl,kl->ij', w, k) ** 2).sum()""",
    "with errstate": """with np.errstate(divide='ignore'):
    return np.log(x).sum()""",
    "while": """t = s
while t < 20:
    t = t * 1.7
return t""",
    "isinstance ndarray": "return x.sum() if isinstance(x, np.ndarray) or hasattr(x, 'shape') else 0.0",
    "fstring": """m = f'{s:.3f} {x[0]}'
return s * len(m[:2])""",
    "print": """print(x, s, file=io.StringIO())
return s""",
    "dict": """d = {'a': x, 'b': s}
return d['a'].sum() * d['b']""",
    "toeplitz": """i = np.arange(4)
return x[np.abs(i[:, None] - i)].prod()""",
    "vander lstsq": """V = np.vander(c.cumsum(), 2)
return np.linalg.lstsq(V, x, rcond=None)[0][0]""",
    "savez": """np.savez(io.BytesIO(), a=x)
return s""",
    "memo": """m = {}
for i in range(3):
    m[i] = x[i] * s
return sum(m.values())""",
    "assert_allclose": """np.testing.assert_allclose(x * 2, 2 * x, rtol=1e-9)
return s""",
    "assert_allclose scalar": """np.testing.assert_allclose(s, s)
return s""",
    "assert_almost": """np.testing.assert_almost_equal(x, x)
return s""",
    "iter rows": """t = 0
for r in A:
    for v in r:
        t += v ** 2
return t""",
    "enumerate": """t = 0
for i, v in enumerate(x):
    t += i * v
return t""",
    "np.r_ assign": """a = np.r_[x, 1.0]
a[0] = s
return a.prod()""",
    "complex scalar": """z = s + 2j
return abs(z) ** 2""",
    "complex array": """z = np.exp(1j * x)
return (z * z.conj()).real.sum() + z.imag.sum()""",
    "complex zeros": """z = np.zeros(3, dtype=complex)
z[0] = s * 1j
return abs(z[0])""",
    "newton": """t = 1.0
for _ in range(20):
    t = t - (t * t - s) / (2 * t)
return t""",
    "lambda closures": """fs = [lambda t, i=i: t * x[i] for i in range(4)]
return sum(f(s) for f in fs)""",
    "sorted key": "return sorted(range(4), key=lambda i: x[i])[0] * s + s",
    "max key": "return max(x, key=lambda v: -v)",
    "reduce": """import functools, operator
return functools.reduce(operator.mul, x)""",
    "math.fsum": """import math
return math.fsum([1.0, 2.0]) * s""",
    "np.dot rec": """h = np.zeros(2)
for i in range(3):
    h = np.tanh(C[:2, :2] @ h + x[:2] * s)
return h.sum()""",
    "structured": """a = np.zeros(2, dtype=[('p', float), ('q', float)])
a['p'] = [1.0, 2.0]
return a['p'].sum() * s""",
    "view float of complex": """z = x * (1 + 2j)
return z.view(float).sum()""",
}
#: Uses that are refused with an error of the engine.
REFUSED = """
np.float64(s) * 2 | np.float64(x[0]) ** 2
x.data.nbytes * s
"""
REFUSED_BODIES: dict[str, str] = {
    "assign copy of const": """a = c.copy()
a[1] = s
return (a * a).sum()""",
    "assign const astype": """a = c.astype(float)
a[0] = s
return a.prod()""",
    "assign const mul": """a = c * 2.0
a[0] = s
return a.prod()""",
    "const iadd": """a = c.copy()
a += x
return (a*a).sum()""",
    "hash": "return s * (len({x[0], x[1]}))",
    "object array": """a = np.array([s, x], dtype=object)
return a[0] * a[1].sum()""",
    "int view": "return x.view(np.int64).sum() * 0.0 + s",
}
X = numpy.array([1.3, 0.6, 2.1, 1.1])
A = numpy.random.default_rng(1).normal(size=(4, 4)) + 3 * numpy.eye(4)
S = 0.8
DX, DA, DS = numpy.array([0.3, -0.4, 0.5, 0.7]), numpy.random.default_rng(2).normal(size=(4, 4)), 0.6


def split(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split(" | ")]


def program(body: str, np: Any) -> Any:
    c, C = numpy.array([0.5, 1.0, 0.7, 1.2]), numpy.random.default_rng(3).normal(size=(4, 4))
    names: dict[str, Any] = {"np": np, "io": io, "c": c, "C": C, "__name__": "__main__"}
    exec("def f(x, A, s):\n" + "\n".join("    " + line for line in body.splitlines()), names)
    return names["f"]


def slope(f: Any) -> float:
    step = 1e-5
    at = {k: float(numpy.sum(f(X + k * step * DX, A + k * step * DA, S + k * step * DS))) for k in (-2, -1, 1, 2)}
    return (8 * (at[1] - at[-1]) - (at[2] - at[-2])) / (12 * step)


def checked(body: str, made: Any) -> None:
    plain = program(body, numpy)
    try:
        expected = plain(X, A, S)
    except AttributeError as error:
        pytest.skip(f"this numpy has no such function: {error}")
    value, back = te.vjp(made, X.copy(), A.copy(), S)
    assert value == pytest.approx(expected, rel=1e-13, abs=1e-13)
    dx, da, ds = back(numpy.ones(numpy.shape(value))[()]) if numpy.asarray(value).dtype.kind == "f" else (X, A, 0.0)
    found = float(numpy.sum(dx * DX) + numpy.sum(da * DA) + ds * DS)
    assert found == pytest.approx(slope(plain), rel=2e-6, abs=2e-6)
    tangent = te.jvp(made, (X.copy(), A.copy(), S), (DX, DA, DS))[1]
    assert float(numpy.sum(tangent)) == pytest.approx(found, rel=1e-11, abs=1e-11)


@pytest.fixture(autouse=True)
def _errors_handled_as_before() -> Iterator[None]:
    """Restore how floating-point errors are handled, which some of the programs change."""
    with numpy.errstate():
        yield


@pytest.mark.parametrize("expression", split(EXPRESSIONS))
def test_expressions(expression: str) -> None:
    checked(f"return {expression}", program(f"return {expression}", tnp))


@pytest.mark.parametrize("name", BODIES)
def test_statements(name: str) -> None:
    checked(BODIES[name], program(BODIES[name], tnp))


@pytest.mark.parametrize(
    "body", [*BODIES.values(), *(f"return {expression}" for expression in split(EXPRESSIONS)[::9])]
)
def test_in_lifted_code(body: str) -> None:
    checked(body, te.lift(program(body, numpy)))


@pytest.mark.parametrize("body", [*REFUSED_BODIES.values(), *(f"return {expression}" for expression in split(REFUSED))])
def test_refused(body: str) -> None:
    program(body, numpy)(X.copy(), A.copy(), S)
    with pytest.raises(te.errors.TapeEngineError):
        te.vjp(program(body, tnp), X.copy(), A.copy(), S)
