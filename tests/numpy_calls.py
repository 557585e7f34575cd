"""Several hundred calls of numpy functions, each a program of the module that computes it and of its primals.

The same call goes to numpy (for the value), to the engine (for the derivative) and to `jax.numpy` (to compare with).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy

Program = Callable[..., Any]


AVERAGES = (
    *("sum", "mean", "prod", "max", "min", "std", "var", "ptp", "median"),
    *("nansum", "nanmean", "nanprod", "nanmax", "nanmin", "nanstd", "nanvar"),
)


class Call(NamedTuple):
    """One call: ``program(np, *primals)``. `jax` says whether JAX supports it with the same derivative."""

    name: str
    program: Program
    primals: tuple[Any, ...]
    jax: bool = True
    order: int = 2


class Data:
    """Primals drawn once, which are smooth points of all functions that use them.

    Some of the calls fit one size only.
    """

    def __init__(self, times: int = 1) -> None:
        generator = numpy.random.default_rng(20)
        normal, uniform = generator.standard_normal, generator.uniform
        rows, columns, n = 3 * times, 4 * times, 3 * times
        self.a, self.b = normal((rows, columns)), normal((rows, columns))
        self.positive, self.inside = uniform(0.4, 2.0, (rows, columns)), uniform(-0.8, 0.8, (rows, columns))
        self.row, self.column, self.vector = normal((columns,)), normal((rows, 1)), normal((5 * times,))
        self.cube = normal((2 * times, rows, columns))
        self.square = normal((n, n)) + n * numpy.eye(n)
        self.batch = normal((2, n, n)) + n * numpy.eye(n)
        self.spread = numpy.diag(numpy.arange(1.0, n + 1) ** 2) + 0.3 * normal((n, n))
        self.tall, self.wide = normal((5 * times, n)), normal((n, 5 * times))
        self.complex = normal((rows, columns)) + 1j * normal((rows, columns))
        self.complex_square = self.square + 1j * normal((n, n))
        self.scalar = 0.7
        self.weights = uniform(0.2, 1.0, (rows, columns))
        self.knots = numpy.sort(normal(6 * times))
        self.heights = normal(6 * times)


def symmetric(np: Any, a: Any) -> Any:
    """A Hermitian matrix made from any matrix: JAX symmetrises where numpy reads one triangle."""
    return (a + np.conj(np.swapaxes(a, -1, -2))) / 2


def positive_definite(np: Any, a: Any) -> Any:
    return np.matmul(a, np.conj(np.swapaxes(a, -1, -2)))


def elementwise(d: Data) -> Iterator[Call]:
    anywhere = "sin cos exp exp2 expm1 tanh sinh cosh arctan arcsinh square negative positive abs absolute fabs"
    for name in (anywhere + " deg2rad rad2deg degrees radians sinc cbrt nan_to_num real imag conj").split():
        yield Call(name, lambda np, x, name=name: getattr(np, name)(x), (d.a,))
    for name in ["log", "log2", "log10", "log1p", "sqrt", "reciprocal"]:
        yield Call(name, lambda np, x, name=name: getattr(np, name)(x), (d.positive,))
    for name in ["arcsin", "arccos", "arctanh", "tan"]:
        yield Call(name, lambda np, x, name=name: getattr(np, name)(x), (d.inside,))
    yield Call("arccosh", lambda np, x: np.arccosh(x), (1.2 + d.positive,))
    holomorphic = "sin cos tan exp log sqrt square reciprocal tanh sinh cosh arcsin arccos arctan arcsinh arctanh"
    for name in (holomorphic + " real imag conj abs angle expm1 log1p sinc positive negative").split():
        yield Call(f"{name} complex", lambda np, x, name=name: getattr(np, name)(x), (d.complex,))
    yield Call("clip", lambda np, x: np.clip(x, -0.5, 0.6), (d.a,))
    yield Call("clip between arrays", lambda np, x, y: np.clip(x, y, y + 0.5), (d.a, d.row))
    yield Call("angle in degrees", lambda np, x: np.angle(x, deg=True), (d.complex,))
    yield Call("heaviside", lambda np, x: np.heaviside(x, 0.5) * x, (d.a,))
    yield Call("ldexp", lambda np, x: np.ldexp(x, 3), (d.a,))
    yield Call("real_if_close", lambda np, x: np.real_if_close(x * 1.0), (d.complex,), jax=False)
    yield Call("sign complex", lambda np, x: np.sign(x), (d.complex,), jax=False)
    yield Call("unwrap", lambda np, x: np.unwrap(x), (9 * d.vector,))
    yield Call("modf", lambda np, x: np.modf(x)[0] * x, (d.a,))
    yield Call("float32 chain", lambda np, x: np.exp(np.sin(x) * 2), (d.a.astype(numpy.float32),), jax=False)


def two_arguments(d: Data) -> Iterator[Call]:
    names = "add subtract multiply arctan2 maximum minimum fmax fmin hypot logaddexp logaddexp2 copysign"
    for name in names.split():
        for other in (d.b, d.row, d.column):
            label = f"{name} {other.shape}"
            yield Call(label, lambda np, x, y, name=name: getattr(np, name)(x, y), (d.a, other))
        yield Call(f"{name} scalar", lambda np, x, y, name=name: getattr(np, name)(x, y), (d.a, d.scalar))
    for name in ["divide", "true_divide", "power", "float_power", "mod", "remainder", "fmod"]:
        if name != "fmod":
            yield Call(name, lambda np, x, y, name=name: getattr(np, name)(x, y), (d.positive, d.weights))
        yield Call(f"{name} row", lambda np, x, y, name=name: getattr(np, name)(x, y), (d.positive, 0.31 + abs(d.row)))
    yield Call("power complex", lambda np, x, y: x**y, (d.complex, d.complex[0]))
    yield Call("square by power", lambda np, x: x**2 + x**3 + x**0 + x**-1, (d.a,))
    yield Call("operators", lambda np, x, y: (x + 2) * (y - x) / (3 + x * x) - (-y) + abs(x) % 0.4, (d.a, d.row))
    yield Call("divmod", lambda np, x: np.divmod(x, 0.7)[1] * x, (d.positive,))
    yield Call("mixed dtypes", lambda np, x, y: x * y + x, (d.a, d.complex))


def reductions(d: Data) -> Iterator[Call]:
    for name in AVERAGES:
        for label, options in (("all", {}), ("axis", {"axis": 1}), ("kept", {"axis": -1, "keepdims": True})):
            yield Call(
                f"{name} {label}", lambda np, x, name=name, options=options: getattr(np, name)(x, **options), (d.a,)
            )
        if name != "ptp":
            yield Call(f"{name} axes", lambda np, x, name=name: getattr(np, name)(x, axis=(0, 2)), (d.cube,))
    for name in ("sum", "mean", "prod", "std", "var", "nansum"):
        yield Call(f"{name} complex", lambda np, x, name=name: getattr(np, name)(x, axis=0), (d.complex,))
    mask = d.a > -0.5
    for name in ("sum", "mean", "prod", "std", "var"):
        yield Call(f"{name} where", lambda np, x, name=name: getattr(np, name)(x, where=mask), (d.a,))
    yield Call("max where", lambda np, x: np.max(x, axis=1, where=mask, initial=-0.3), (d.a,))
    for name in ("sum", "prod"):
        for label, options in (("", {"axis": 0}), (" of rows", {"axis": 1}), (" of all", {})):
            yield Call(
                f"{name} initial{label}",
                lambda np, x, c, name=name, options=options: getattr(np, name)(x, initial=c, **options),
                (d.a, d.scalar),
            )
    yield Call("sum initial where", lambda np, x: np.sum(x, axis=0, initial=0.3, where=mask), (d.a,))
    yield Call("ddof", lambda np, x: np.std(x, axis=0, ddof=1) + np.var(x, axis=0, ddof=1), (d.a,))
    yield Call("amax", lambda np, x: np.amax(x, axis=0) - np.amin(x), (d.a,))
    yield Call("nansum with nan", lambda np, x: np.nansum(np.where(mask, x, numpy.nan), axis=1), (d.a,))
    yield Call("average", lambda np, x, w: np.average(x, axis=1, weights=w), (d.a, d.weights))
    yield Call("average of rows", lambda np, x, w: np.average(x, axis=1, weights=w), (d.a, abs(d.row) + 0.1))
    yield Call("average plain", lambda np, x: np.average(x), (d.a,))
    yield Call("trace", lambda np, x: np.trace(x), (d.square,))
    yield Call("trace offset", lambda np, x: np.trace(x, 1, 1, 2), (d.cube,))
    yield Call("product with zeros", lambda np, x: np.prod(x * (numpy.arange(4) > 0), axis=1), (d.a,))
    for q in (0.3, [0.1, 0.55]):
        for method in ("linear", "lower", "higher", "midpoint", "nearest"):
            yield Call(
                f"quantile {method} {q}",
                lambda np, x, q=q, method=method: np.quantile(x, numpy.array(q), axis=1, method=method),
                (d.a,),
            )
    yield Call("percentile", lambda np, x: np.percentile(x, 35.0, axis=0), (d.a,))
    yield Call("quantile hazen", lambda np, x: np.quantile(x, 0.4, axis=0, method="hazen"), (d.a,), jax=False)
    yield Call("quantile of traced q", lambda np, x, q: np.quantile(x, q, axis=1), (d.a, 0.41))


def sequences(d: Data) -> Iterator[Call]:
    for name in ["cumsum", "cumprod", "nancumsum", "nancumprod"]:
        yield Call(name, lambda np, x, name=name: getattr(np, name)(x), (d.a,))
        yield Call(f"{name} axis", lambda np, x, name=name: getattr(np, name)(x, axis=1), (d.cube,))
    yield Call("cumprod with zeros", lambda np, x: np.cumprod(x * numpy.array([1.0, 0.0, 1.0, 0.0]), axis=1), (d.a,))
    yield Call("cumulative_sum", lambda np, x: np.cumulative_sum(x, axis=0, include_initial=True), (d.a,))
    yield Call("cumulative_prod", lambda np, x: np.cumulative_prod(x, axis=1), (d.a,))
    yield Call("diff", lambda np, x: np.diff(x, axis=0), (d.a,))
    yield Call("diff twice", lambda np, x, y: np.diff(x, 2, prepend=y), (d.a, d.column))
    yield Call("ediff1d", lambda np, x: np.ediff1d(x), (d.a,))
    yield Call("gradient", lambda np, x: np.gradient(x, axis=1), (d.a,))
    yield Call("gradient of axes", lambda np, x: np.gradient(x)[0], (d.a,))
    yield Call("gradient uneven", lambda np, f, x: np.gradient(f, x), (d.heights, d.knots), jax=False)
    yield Call("gradient edges", lambda np, x: np.gradient(x, 0.5, edge_order=2), (d.heights,), jax=False)
    yield Call("trapezoid", lambda np, y, x: np.trapezoid(y, x), (d.heights, d.knots))
    yield Call("trapezoid axis", lambda np, y: np.trapezoid(y, dx=0.3, axis=0), (d.a,))
    yield Call("interp", lambda np, x, xp, fp: np.interp(x, xp, fp), (0.9 * d.row, d.knots, d.heights))
    yield Call("interp ends", lambda np, x: np.interp(x, d.knots, d.heights, left=1.0, right=2.0), (3 * d.row,))
    yield Call("interp period", lambda np, x, f: np.interp(x, d.knots, f, period=1.3), (d.row, d.heights))
    yield Call("polyval", lambda np, p, x: np.polyval(p, x), (d.row, d.a))
    yield Call("vander", lambda np, x: np.vander(x, 3), (d.row,))
    yield Call("vander increasing", lambda np, x: np.vander(x, increasing=True), (d.row,))
    yield Call("linspace", lambda np, x, y: np.linspace(x, y, 5), (d.row, d.row + d.positive[0]))
    yield Call("convolve", lambda np, x, y: np.convolve(x, y), (d.vector, d.row))
    yield Call("convolve same", lambda np, x, y: np.convolve(x, y, "same"), (d.heights, d.row))
    yield Call("convolve valid", lambda np, x, y: np.convolve(x, y, mode="valid"), (d.row, d.heights))
    yield Call("correlate", lambda np, x, y: np.correlate(x, y), (d.heights, d.row))
    yield Call("meshgrid", lambda np, x, y: np.meshgrid(x, y)[0] * np.meshgrid(x, y)[1], (d.row, d.vector))


def ordering(d: Data) -> Iterator[Call]:
    yield Call("sort", lambda np, x: np.sort(x), (d.a,))
    yield Call("sort axis", lambda np, x: np.sort(x, axis=0), (d.cube,))
    yield Call("sort flat", lambda np, x: np.sort(x, axis=None), (d.a,))
    yield Call("partition", lambda np, x: np.partition(x, 1, axis=1)[:, 1], (d.a,))
    yield Call("take", lambda np, x: np.take(x, numpy.array([0, 2, 2]), axis=1), (d.a,))
    yield Call("take flat", lambda np, x: np.take(x, numpy.array([[0, 2], [11, 2]])), (d.a,))
    yield Call("take clipped", lambda np, x: np.take(x, numpy.array([0, 20]), mode="clip"), (d.a,))
    place = numpy.argsort(d.a, axis=1)
    yield Call("take_along_axis", lambda np, x: np.take_along_axis(x, place, axis=1), (d.a,))
    yield Call("compress", lambda np, x: np.compress(numpy.array([True, False, True]), x, axis=0), (d.a,))
    yield Call("extract", lambda np, x: np.extract(d.a > 0, x), (d.a,))
    yield Call("delete", lambda np, x: np.delete(x, 1, axis=1), (d.a,))
    yield Call("unique", lambda np, x: np.unique(x), (d.a,), jax=False)
    yield Call("where", lambda np, x, y: np.where(d.a > 0, x, y), (d.a, d.row))
    yield Call("where guarded", lambda np, x: np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0), (d.a,))
    yield Call("select", lambda np, x: np.select([d.a > 1, d.a > 0], [x * x, x], -1.0), (d.a,))
    index = numpy.array([[0, 1, 1, 0]])
    yield Call("choose", lambda np, x, y: np.choose(index, [x, y]), (d.a, d.b))
    yield Call("piecewise", lambda np, x: np.piecewise(x, [d.a > 0], [lambda v: v * v, lambda v: -v]), (d.a,))
    yield Call("diag", lambda np, x: np.diag(x) + np.diag(x, 0), (d.row,))
    yield Call("diag of matrix", lambda np, x: np.diag(x, 1), (d.square,))
    yield Call("diagonal", lambda np, x: np.diagonal(x, 0, 1, 2), (d.cube,))
    yield Call("diagflat", lambda np, x: np.diagflat(x, 1), (d.column,))
    yield Call("tril", lambda np, x: np.tril(x), (d.cube,))
    yield Call("triu", lambda np, x: np.triu(x, 1), (d.a,))


def joining(d: Data) -> Iterator[Call]:
    yield Call("concatenate", lambda np, x, y: np.concatenate([x, y], axis=1), (d.a, d.column))
    yield Call("concatenate flat", lambda np, x, y: np.concatenate((x, y, x), axis=None), (d.a, d.row))
    yield Call("stack", lambda np, x, y: np.stack([x, y, x], axis=1), (d.a, d.b))
    yield Call("hstack", lambda np, x, y: np.hstack([x, y]), (d.row, d.vector))
    yield Call("vstack", lambda np, x, y: np.vstack([x, y]), (d.a, d.row))
    yield Call("dstack", lambda np, x, y: np.dstack([x, y]), (d.a, d.b))
    yield Call("column_stack", lambda np, x, y: np.column_stack([x, y]), (d.row, d.a.T))
    yield Call("append", lambda np, x, y: np.append(x, y), (d.a, d.row))
    yield Call("append axis", lambda np, x, y: np.append(x, y, axis=1), (d.a, d.column))
    yield Call("block", lambda np, x, y: np.block([[x, y], [y, x]]), (d.square, d.square.T))
    for name in ("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "block"):
        yield Call(f"{name} of one", lambda np, x, name=name: getattr(np, name)([x]), (d.a,))
    yield Call("block of an array", lambda np, x: np.block(x), (d.a,), jax=False)
    yield Call("repeat", lambda np, x: np.repeat(x, 2, axis=1), (d.a,))
    yield Call("repeat flat", lambda np, x: np.repeat(x, 3), (d.a,))
    yield Call("repeat counts", lambda np, x: np.repeat(x, numpy.array([1, 0, 2]), axis=0), (d.a,))
    yield Call("tile", lambda np, x: np.tile(x, (2, 1, 2)), (d.a,))
    yield Call("roll", lambda np, x: np.roll(x, 3), (d.a,))
    yield Call("roll axes", lambda np, x: np.roll(x, (1, 2), axis=(0, 1)), (d.a,))
    yield Call("resize", lambda np, x: np.resize(x, (3, 5)), (d.a,))
    for mode in ("constant", "edge", "reflect", "symmetric", "wrap", "mean", "maximum", "minimum", "linear_ramp"):
        yield Call(f"pad {mode}", lambda np, x, mode=mode: np.pad(x, ((1, 2), (0, 2)), mode=mode), (d.a,))
    yield Call("pad values", lambda np, x, c: np.pad(x, 2, constant_values=c), (d.row, d.scalar))
    yield Call("pad odd", lambda np, x: np.pad(x, 2, mode="reflect", reflect_type="odd"), (d.vector,))


def products(d: Data) -> Iterator[Call]:
    for name in ["dot", "matmul", "inner", "outer"]:
        yield Call(f"{name} vectors", lambda np, x, y, name=name: getattr(np, name)(x, y), (d.row, d.b[0]))
    for name in ["dot", "matmul"]:
        yield Call(f"{name} matrices", lambda np, x, y, name=name: getattr(np, name)(x, y), (d.a, d.b.T))
        yield Call(f"{name} vector", lambda np, x, y, name=name: getattr(np, name)(x, y), (d.a, d.row))
        yield Call(f"{name} left vector", lambda np, x, y, name=name: getattr(np, name)(y, x), (d.a.T, d.row))
        yield Call(f"{name} cube", lambda np, x, y, name=name: getattr(np, name)(x, y), (d.cube, d.b.T))
        yield Call(f"{name} complex", lambda np, x, y, name=name: getattr(np, name)(x, y), (d.complex, d.b.T))
    yield Call("matmul operator", lambda np, x, y: x @ y @ x.T, (d.a, d.b.T @ d.a))
    yield Call("matmul stacks", lambda np, x, y: np.matmul(x[:, None], y), (d.batch, d.batch))
    yield Call("dot scalar", lambda np, x, y: np.dot(x, y), (d.a, d.scalar))
    yield Call("inner matrices", lambda np, x, y: np.inner(x, y), (d.a, d.cube))
    yield Call("vdot", lambda np, x, y: np.vdot(x, y), (d.complex, d.complex * 1j + 1))
    yield Call("vecdot", lambda np, x, y: np.vecdot(x, y), (d.complex, d.complex * 1j + 1))
    yield Call("vecdot axis", lambda np, x, y: np.vecdot(x, y, axis=0), (d.a, d.b))
    yield Call("tensordot", lambda np, x, y: np.tensordot(x, y, axes=([1, 2], [0, 1])), (d.cube, d.a))
    yield Call("tensordot number", lambda np, x, y: np.tensordot(x, y, axes=1), (d.cube, d.b.T))
    yield Call("kron", lambda np, x, y: np.kron(x, y), (d.a, d.square))
    yield Call("cross", lambda np, x, y: np.cross(x, y), (d.square, d.batch))
    yield Call("cross axes", lambda np, x, y: np.cross(x, y, axisa=0, axisb=0, axisc=0), (d.square, d.square.T + 1))
    subscripts = ("ij,kj->ik", "ij,kj", "ij,ij->", "ij,ij->i", "ij,kl->ijkl")
    for text in subscripts:
        yield Call(f"einsum {text}", lambda np, x, y, text=text: np.einsum(text, x, y), (d.a, d.b))
        yield Call(
            f"einsum optimized {text}", lambda np, x, y, text=text: np.einsum(text, x, y, optimize=True), (d.a, d.b)
        )
    yield Call("einsum trace", lambda np, x: np.einsum("ii", x) * np.einsum("ii->i", x), (d.square,))
    yield Call("einsum dots", lambda np, x, y: np.einsum("...ij,...jk->...ik", x, y), (d.batch, d.square))
    yield Call("einsum three", lambda np, x, y, z: np.einsum("ij,jk,kl->il", x, y, z), (d.a, d.b.T, d.a))
    yield Call("einsum lists", lambda np, x, y: np.einsum(x, [0, 1], y, [2, 1], [2, 0]), (d.a, d.b))
    yield Call("einsum complex", lambda np, x, y: np.einsum("ij,kj->ik", x, y), (d.complex, d.b))
    yield Call("multi_dot", lambda np, x, y: np.linalg.multi_dot([x, y, x, y]), (d.a, d.b.T))


def shaping(d: Data) -> Iterator[Call]:
    yield Call("reshape", lambda np, x: np.reshape(x, (2, 6)) * x.reshape(2, 6), (d.a,))
    yield Call("transpose", lambda np, x: np.transpose(x, (2, 0, 1)), (d.cube,))
    yield Call(
        "moveaxis", lambda np, x: np.moveaxis(x, 0, -1) * np.rollaxis(x, 0, 3).swapaxes(0, 1).swapaxes(0, 1), (d.cube,)
    )
    yield Call("squeeze", lambda np, x: np.squeeze(x) + np.ravel(x), (d.column,))
    yield Call("broadcast_to", lambda np, x: np.broadcast_to(x, (2, 3, 4)), (d.column,))
    yield Call("flip", lambda np, x: np.flip(x, 1) + np.fliplr(x) * np.flipud(x) + np.rot90(x, 2), (d.a,))
    yield Call("split", lambda np, x: np.split(x, 2, axis=1)[1] * np.array_split(x, 2, axis=1)[0], (d.a,))
    yield Call("atleast", lambda np, x: np.atleast_3d(x) + np.atleast_2d(x)[..., None], (d.row,), jax=False)
    yield Call("slices", lambda np, x: x[1:, ::-2] * x[..., 0:1][:2] + x[None, 0, 1], (d.a,))
    yield Call("indices", lambda np, x: x[numpy.array([0, 2, 2]), numpy.array([1, 1, 1])], (d.a,))
    yield Call("mask", lambda np, x: x[d.a > 0], (d.a,))
    yield Call("astype", lambda np, x: x.astype(numpy.complex128) * 2j, (d.a,))
    yield Call("fftshift", lambda np, x: np.fft.fftshift(x) * np.fft.ifftshift(x, axes=1), (d.a,))


def fourier(d: Data) -> Iterator[Call]:
    for name in ["fft", "ifft", "fft2", "ifft2", "fftn", "ifftn", "hfft", "irfft", "irfft2", "irfftn"]:
        for norm in (None, "ortho"):
            yield Call(
                f"{name} {norm}",
                lambda np, x, name=name, norm=norm: getattr(np.fft, name)(x, norm=norm),
                (d.complex,),
            )
    for name in ["fft", "ifft", "rfft", "ihfft", "fft2", "rfft2", "fftn", "rfftn"]:
        yield Call(f"{name} real", lambda np, x, name=name: getattr(np.fft, name)(x), (d.a,))
    for name in ["fft", "ifft", "irfft", "hfft"]:
        yield Call(f"{name} cut", lambda np, x, name=name: getattr(np.fft, name)(x, 3, axis=0), (d.complex,))
        yield Call(f"{name} filled", lambda np, x, name=name: getattr(np.fft, name)(x, 7, axis=1), (d.complex,))
    yield Call("rfft cut", lambda np, x: np.fft.rfft(x, 3), (d.a,))
    yield Call("rfft filled", lambda np, x: np.fft.rfft(x, 7, norm="forward"), (d.a,))
    yield Call("fftn shape", lambda np, x: np.fft.fftn(x, (2, 5), axes=(0, 2)), (d.cube,))
    yield Call("irfftn shape", lambda np, x: np.fft.irfftn(x, (4, 5)), (d.complex,))


def linear_algebra(d: Data) -> Iterator[Call]:
    for label, a in (("", d.square), (" stack", d.batch), (" complex", d.complex_square)):
        yield Call(f"inv{label}", lambda np, a: np.linalg.inv(a), (a,))
        yield Call(f"det{label}", lambda np, a: np.linalg.det(a), (a,))
        yield Call(f"slogdet{label}", lambda np, a: np.linalg.slogdet(a)[1], (a,))
        yield Call(f"solve matrix{label}", lambda np, a, b: np.linalg.solve(a, b), (a, d.a))
        yield Call(f"cholesky{label}", lambda np, a: np.linalg.cholesky(positive_definite(np, a)), (a,))
        yield Call(f"eigvalsh{label}", lambda np, a: np.linalg.eigvalsh(symmetric(np, a)), (a,))
        yield Call(f"qr r{label}", lambda np, a: np.abs(np.linalg.qr(a)[1]), (a,))
        yield Call(f"svdvals{label}", lambda np, a: np.linalg.svdvals(a), (a,))
        yield Call(f"pinv{label}", lambda np, a: np.linalg.pinv(a), (a,))
        yield Call(f"matrix_power{label}", lambda np, a: np.linalg.matrix_power(a, 3), (a,))
        yield Call(f"matrix_power inverse{label}", lambda np, a: np.linalg.matrix_power(a, -2), (a,))
    yield Call("slogdet sign complex", lambda np, a: np.linalg.slogdet(a)[0], (d.complex_square,))
    yield Call("det singular", lambda np, a: np.linalg.det(a * numpy.array([1.0, 1.0, 0.0])), (d.square,), order=1)
    yield Call("solve vector", lambda np, a, b: np.linalg.solve(a, b), (d.square, d.square[0]))
    yield Call("cholesky upper", lambda np, a: np.linalg.cholesky(positive_definite(np, a), upper=True), (d.square,))
    yield Call("eigh vectors", lambda np, a: np.abs(np.linalg.eigh(symmetric(np, a))[1]), (d.spread,))
    yield Call("eigh upper", lambda np, a: np.linalg.eigh(symmetric(np, a), UPLO="U")[0], (d.spread,))
    yield Call("eigvals", lambda np, a: np.sort(np.real(np.linalg.eigvals(a))), (d.spread,), jax=False)
    yield Call("eig", lambda np, a: np.abs(np.linalg.eig(a)[1]), (d.spread,), jax=False)
    for label, a in (("tall", d.tall), ("wide", d.wide)):
        yield Call(f"qr q {label}", lambda np, a: np.abs(np.linalg.qr(a)[0]), (a,), jax=label == "tall")
        yield Call(f"qr mode r {label}", lambda np, a: np.abs(np.linalg.qr(a, mode="r")), (a,), jax=label == "tall")
        yield Call(f"svd u {label}", lambda np, a: np.abs(np.linalg.svd(a, full_matrices=False)[0]), (a,))
        yield Call(f"svd vh {label}", lambda np, a: np.abs(np.linalg.svd(a, full_matrices=False)[2]), (a,))
        yield Call(f"svd s {label}", lambda np, a: np.linalg.svd(a, compute_uv=False), (a,))
        yield Call(f"pinv {label}", lambda np, a: np.linalg.pinv(a), (a,))
    yield Call("svd hermitian", lambda np, a: np.linalg.svd(symmetric(np, a), hermitian=True)[1], (d.spread,))
    yield Call("svd complex", rank_one, (d.complex,))
    yield Call("qr complex", lambda np, a: np.abs(np.linalg.qr(a)[0]), (d.complex_square,))
    yield Call("lstsq", lambda np, a, b: np.linalg.lstsq(a, b)[0], (d.tall, d.vector))
    yield Call("lstsq residuals", lambda np, a, b: np.linalg.lstsq(a, b)[1], (d.tall, d.vector), jax=False)
    yield Call("tensorinv", lambda np, a: np.linalg.tensorinv(a, ind=1), (d.square,))
    yield Call("tensorsolve", lambda np, a, b: np.linalg.tensorsolve(a, b), (d.square, d.square[1]))
    for order in (None, 1, 2, 3, 0.5, numpy.inf, -numpy.inf):
        yield Call(f"vector norm {order}", lambda np, x, order=order: np.linalg.norm(x, order), (d.row,))
        yield Call(f"norms {order}", lambda np, x, order=order: np.linalg.norm(x, order, axis=1), (d.complex,))
    for order in ("fro", "nuc", 1, 2, -2, numpy.inf):
        yield Call(f"matrix norm {order}", lambda np, x, order=order: np.linalg.norm(x, order), (d.a,))
        yield Call(f"matrix_norm {order}", lambda np, x, order=order: np.linalg.matrix_norm(x, ord=order), (d.cube,))
    yield Call("vector_norm", lambda np, x: np.linalg.vector_norm(x, axis=(0, 1), keepdims=True), (d.cube,))
    for order in (None, 1, "fro"):
        yield Call(f"cond {order}", lambda np, x, order=order: np.linalg.cond(x, order), (d.square,))
    yield Call("linalg trace", lambda np, x: np.linalg.trace(x) + np.linalg.diagonal(x)[..., 0], (d.batch,))
    yield Call("linalg cross", lambda np, x, y: np.linalg.cross(x, y), (d.square, d.square.T))
    yield Call("linalg products", linalg_products, (d.a, d.b))


def rank_one(np: Any, a: Any) -> Any:
    """The best approximation of rank one, which is independent of the free phases of singular vectors."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return s[0] * (u[:, :1] @ vh[:1])


def linalg_products(np: Any, x: Any, y: Any) -> Any:
    flat = np.linalg.outer(x[0], y[0]) + np.linalg.matmul(x.T, y)
    return flat + np.linalg.tensordot(x, y, axes=2) + np.linalg.vecdot(x.T, y.T)


def moments_and_polynomials(d: Data) -> Iterator[Call]:
    yield Call("cov", lambda np, x: np.cov(x), (d.a,))
    yield Call(
        "cov counts", lambda np, x, w: np.cov(x, fweights=range(1, w.size + 1), aweights=w), (d.a, abs(d.row) + 0.1)
    )
    yield Call("cov weights", lambda np, x, w: np.cov(x, aweights=w), (d.a, abs(d.row) + 0.1))
    yield Call("cov complex", lambda np, x: np.cov(x, rowvar=False), (d.complex,))
    yield Call("corrcoef", lambda np, x: np.corrcoef(x), (d.a,))
    yield Call("nanmedian", lambda np, x: np.nanmedian(np.where(d.a > -0.5, x, numpy.nan), axis=1), (d.a,))
    yield Call("nanquantile", lambda np, x: np.nanquantile(x, 0.3, axis=0), (d.a,))
    yield Call("polymul", lambda np, x, y: np.polymul(x, y), (d.row, d.vector))
    yield Call("polyadd", lambda np, x, y: np.polyadd(x, y) - np.polysub(y, x), (d.row, d.vector))
    yield Call("polyder", lambda np, x: np.polyder(x, 2), (d.vector,))
    yield Call("polyint", lambda np, x: np.polyint(x, 2, k=[1.0, 2.0]), (d.vector,), jax=False)
    yield Call("polyfit", lambda np, x, y: np.polyfit(x, y, 2), (d.knots, d.heights))
    yield Call("insert", lambda np, x, y: np.insert(x, 1, y, axis=1), (d.a, d.row[:3]))
    bins = numpy.array([2, 0, 2, 1, 5])
    yield Call("bincount", lambda np, x: np.bincount(bins, weights=x), (d.vector,), jax=False)
    yield Call("apply_along_axis", lambda np, x: np.apply_along_axis(lambda v: v * v[0], 1, x), (d.a,))


def ufunc_methods(d: Data) -> Iterator[Call]:
    for name in ["add", "multiply", "maximum", "minimum", "logaddexp", "subtract", "hypot", "divide", "logaddexp2"]:
        jax = name in ("add", "multiply", "maximum", "minimum", "logaddexp")
        yield Call(f"{name}.reduce", lambda np, x, name=name: getattr(np, name).reduce(x), (d.a,), jax)
        yield Call(f"{name}.reduce axis", lambda np, x, name=name: getattr(np, name).reduce(x, axis=1), (d.a,), jax)
        yield Call(f"{name}.accumulate", lambda np, x, name=name: getattr(np, name).accumulate(x, axis=1), (d.a,), jax)
        yield Call(f"{name}.outer", lambda np, x, y, name=name: getattr(np, name).outer(x, y), (d.row, d.a), jax)


def calls(times: int = 1) -> list[Call]:
    """Every call, in a fixed order."""
    d = Data(times)
    families = (
        *(elementwise, two_arguments, reductions, sequences, ordering, joining, products, shaping, fourier),
        *(linear_algebra, moments_and_polynomials, ufunc_methods),
    )
    return [call for family in families for call in family(d)]
