"""Sliding windows and strides: elements that are read several times get the sum of their cotangents."""

from __future__ import annotations

import itertools
import operator
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError

RANDOM = numpy.random.default_rng(0)
IMAGE, FIRST, SECOND = RANDOM.normal(size=(2, 9, 8)), RANDOM.normal(size=(3, 2, 3, 3)), RANDOM.normal(size=(2, 3, 2, 2))


def convolved(x: Any, kernel: Any) -> Any:
    """Channels of an image under kernels (out, in, height, width)."""
    return np.einsum("cijkl,ockl->oij", sliding_window_view(x, kernel.shape[2:], axis=(1, 2)), kernel)


def network(x: Any, first: Any, second: Any) -> Any:
    """Two convolutions, with a maximum over pairs of rows and columns between them."""
    hidden = np.tanh(convolved(x, first))
    pooled = np.max(sliding_window_view(hidden, (2, 2), axis=(1, 2))[:, ::2, ::2], axis=(3, 4))
    return np.mean(convolved(pooled, second) ** 2)


def differences(f: Callable[..., Any], args: tuple[Any, ...], directions: tuple[Any, ...]) -> float:
    step = 1e-5
    at = [f(*(a + k * step * d for a, d in zip(args, directions, strict=True))) for k in (1, -1, 2, -2)]
    return float((8 * (at[0] - at[1]) - (at[2] - at[3])) / (12 * step))


PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "network": (network, (IMAGE, FIRST, SECOND)),
    "elements": (lambda x: (w := sliding_window_view(x, 3))[1, 2] * w[2, 1] * w[3, 0] + np.sum(w * w), (IMAGE[0, 0],)),
    "windows of windows": (lambda x: np.sum(sliding_window_view(x, (3, 2), (0, 0)).prod(axis=(2, 3))), (IMAGE[0],)),
    "running mean": (lambda x: np.sum(np.exp(sliding_window_view(x, 4, axis=1).mean(axis=-1))), (IMAGE[1],)),
    "strided": (lambda x: np.sum(np.lib.stride_tricks.as_strided(x, (6, 3), (8, 8)).prod(axis=1)), (IMAGE[0, 0],)),
    "strided columns": (
        lambda x: np.sum(np.lib.stride_tricks.as_strided(x[:, ::2], (4, 2, 2), (64, 64, 16)).prod(axis=(1, 2))),
        (IMAGE[0],),
    ),
    "strided diagonal": (lambda x: np.prod(np.lib.stride_tricks.as_strided(x, (8,), (72,))), (IMAGE[0],)),
    "i0": (lambda x: np.sum(np.i0(20 * x)) * 1e-9, (IMAGE[0],)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_derivatives(name: str) -> None:
    f, args = PROGRAMS[name]
    directions = tuple(RANDOM.normal(size=a.shape) for a in args)
    value, back = te.vjp(f, *args)
    assert value == f(*args)
    found = sum(float(np.sum(g * d)) for g, d in zip(back(1.0), directions, strict=True))
    assert found == pytest.approx(differences(f, args, directions), rel=1e-8)
    assert te.jvp(f, args, directions)[1] == pytest.approx(found, rel=1e-13)


@pytest.mark.parametrize("name", PROGRAMS)
def test_second_derivatives(name: str) -> None:
    f, args = PROGRAMS[name]
    directions = tuple(RANDOM.normal(size=a.shape) for a in args)

    def slope(*at: Any) -> Any:
        return te.jvp(f, at, directions)[1]

    found = sum(float(np.sum(g * d)) for g, d in zip(te.vjp(slope, *args)[1](1.0), directions, strict=True))
    assert found == pytest.approx(differences(slope, args, directions), rel=1e-7)


def test_memory_outside_of_an_array_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="outside its elements"):
        te.grad(lambda x: np.sum(np.lib.stride_tricks.as_strided(x[::2], (2, 2), (8, 8))))(numpy.arange(6.0))


def test_a_view_that_shows_elements_often_takes_no_memory() -> None:
    strided = np.lib.stride_tricks.as_strided
    tracemalloc.start()
    try:
        found = te.grad(lambda x: strided(x, (3000, 3000), (0, 8))[3, 4] ** 2)(numpy.arange(3000.0))
        assert tracemalloc.get_traced_memory()[1] < 3000 * 3000
    finally:
        tracemalloc.stop()
    assert found.tolist() == [0.0, 0.0, 0.0, 0.0, 8.0, *[0.0] * 2995]


#: Arrays, and the strides of their elements in bytes.
BASES: dict[str, Callable[[Any], Any]] = {
    "vector": lambda x: x[0],
    "matrix": lambda x: x,
    "transposed": lambda x: x.T,
    "reversed": lambda x: x[:, ::-1],
    "every second": lambda x: x[0, ::2],
    "columns": lambda x: x[:, 1:4],
    "one": lambda x: x[1, 2:3].reshape(()),
    "none": lambda x: x[:, :0],
}
SHAPES = [(), (3,), (4, 2), (2, 0), (8, 8), (1, 1)]
STEPS = [0, 4, 8, -8, 16, 64, -64]


def strided(np: Any, x: Any, base: str, shape: Any, steps: Any) -> Any:
    return np.lib.stride_tricks.as_strided(np.asarray(BASES[base](x)), shape, steps)


@pytest.mark.parametrize("shape", SHAPES, ids=repr)
@pytest.mark.parametrize("base", BASES)
def test_strides_show_elements_of_the_array_or_are_refused(base: str, shape: tuple[int, ...]) -> None:
    """The places are counted in a copy of the array's numbers in memory, which numpy does not read."""
    x = numpy.arange(64.0).reshape(8, 8)
    held = numpy.asarray(BASES[base](x))
    start = held.__array_interface__["data"][0] - x.__array_interface__["data"][0]
    inside = {8 * int(number) - start for number in held.ravel()}
    for steps in itertools.product([s for s in STEPS if s != 4 or 1 not in shape], repeat=len(shape)):
        places = [sum(map(operator.mul, index, steps)) for index in numpy.ndindex(shape)]
        if inside.issuperset(places):
            value, gradient = te.value_and_grad(lambda x, s=steps: np.sum(strided(np, x, base, shape, s)))(x)
            numbers = [(start + place) // 8 for place in places]
            assert value == sum(map(float, numbers))
            assert gradient.ravel().tolist() == numpy.bincount(numbers, minlength=64).tolist()
        else:
            with pytest.raises(UnsupportedError, match="outside its elements"):
                te.grad(lambda x, s=steps: np.sum(strided(np, x, base, shape, s)))(x)


def test_the_bessel_function_against_mpmath() -> None:
    mpmath = pytest.importorskip("mpmath")
    for x in (0.0, 1e-8, 0.3, 7.5, 8.5, 29.9, 30.1, 200.0, -12.0):
        for order in range(1, 4):
            f: Any = np.i0
            for _ in range(order):
                f = te.grad(f)
            expected = mpmath.diff(lambda t: mpmath.besseli(0, t), mpmath.mpf(x), order)
            assert float(f(x)) == pytest.approx(float(expected), rel=2e-14, abs=1e-15)


@pytest.mark.parametrize("write", [lambda w: w.__setitem__(0, 3.0), lambda w: w.__imul__(2.0), lambda w: w.fill(1.0)])
@pytest.mark.parametrize("nested", [False, True])
def test_windows_cannot_be_written_to(write: Callable[[Any], Any], nested: bool) -> None:
    def program(x: Any, windows: Callable[[Any], Any]) -> Any:
        y = x * 1.0
        write(windows(y))
        return np.sum(y)

    strided = np.lib.stride_tricks.as_strided
    for windows in (lambda y: sliding_window_view(y, 2), lambda y: strided(y, (4, 2), (8, 8))):
        with pytest.raises(ValueError, match="read-only"):
            te.grad(lambda x, windows=windows: te.grad(program)(x, windows).sum() if nested else program(x, windows))(
                numpy.arange(5.0)
            )


WINDOWED: dict[str, Callable[[Any], Any]] = {
    "sliding": lambda y: sliding_window_view(y, 2),
    "of a view": lambda y: sliding_window_view(y[1:], 2),
    "strided": lambda y: np.lib.stride_tricks.as_strided(y, (4, 2), (8, 8)),
}
WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "element": lambda y, x: y.__setitem__(2, x[0]),
    "constant": lambda y, x: y.__setitem__(2, 7.0),
    "slice": lambda y, x: y.__setitem__(slice(1, 3), x[:2]),
    "mask": lambda y, x: y.__setitem__(y > 0.5, 0.0),
    "operator": lambda y, x: y.__imul__(2.0),
    "view": lambda y, x: y[::2].fill(1.0),
    "ufunc": lambda y, x: np.multiply(y, x, out=y),
    "at": lambda y, x: np.add.at(y, [0, 2], x[:2]),
}
USES: dict[str, Callable[[Any], Any]] = {
    "sum": np.sum,
    "element": lambda w: w[1, 1],
    "product": lambda w: np.sum(w @ numpy.array([1.0, 2.0])),
    "value": lambda w: te.value(w).sum(),
    "comparison": lambda w: (w > 0.5).sum(),
    "view": lambda w: np.sum(w[1:].T * 2.0),
    "loop": lambda w: [row.sum() for row in w][1],
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("windows", WINDOWED)
@pytest.mark.parametrize("made", ["computed", "constant"])
def test_windows_show_later_writes(windows: str, write: str, use: str, made: str) -> None:
    """As numpy's; uses before the write see the values before."""
    x = numpy.array([0.3, 0.8, 1.2, -0.4, 0.6])
    tangent = numpy.array([1.0, -0.5, 0.3, 2.0, 0.7])

    def program(x: Any) -> Any:
        y = x * 1.0 if made == "computed" else np.array([0.3, 0.8, 1.2, -0.4, 0.6])
        w = WINDOWED[windows](y)
        before = np.sum(w * w)
        WRITES[write](y, x)
        return before + USES[use](w) + np.sum(y * x)

    value, back = te.vjp(program, x)
    assert value == pytest.approx(float(program(x)), rel=1e-15)
    step = 1e-6
    slope = (program(x + step * tangent) - program(x - step * tangent)) / (2 * step)
    if use != "value":
        assert float(back(1.0)[0] @ tangent) == pytest.approx(float(slope), rel=1e-6)
        assert float(te.jvp(program, (x,), (tangent,))[1]) == pytest.approx(float(slope), rel=1e-6)
        along = te.jvp(te.grad(program), (x,), (tangent,))[1]
        np.testing.assert_allclose(te.hessian(program)(x) @ tangent, along, rtol=1e-12, atol=1e-12)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "square": lambda w: w * w,
    "quotient": lambda w: 1.0 / (2.0 + w) - w,
    "tanh": np.tanh,
    "sum": lambda w: w.sum(0),
    "sum along": lambda w: w.sum(-1) ** 2,
    "total": lambda w: w.sum() * w.mean(),
    "product": lambda w: w @ numpy.linspace(0.5, 1.5, w.shape[-1]),
    "matrix product": lambda w: w.reshape(-1, w.shape[-1]).T @ w.reshape(-1, w.shape[-1]),
    "einsum": lambda w: np.einsum("...i,...i", w, w),
    "hop": lambda w: w[::2] ** 2,
    "gathered": lambda w: w[[0, 1, 1, -1]] ** 2,
    "mask": lambda w: w[w > 0.1] ** 3,
    "element": lambda w: w[(1,) * w.ndim] * w[(0,) * w.ndim],
    "transposed": lambda w: np.exp(w.T) * 0.5,
    "broadcast": lambda w: np.broadcast_to(w, (2, *w.shape)) ** 2,
    "windows": lambda w: sliding_window_view(w, 2, axis=0) ** 2,
    "largest": lambda w: w.max(-1),
    "copied": lambda w: w.copy() * w,
    "rows": lambda w: sum(float(k) * (row * row).sum() for k, row in enumerate(w)),
    "complex": lambda w: np.real((w + 1j * w**2) ** 2),
    "loop": lambda w: np.stack([w[k] * w[k + 1] for k in range(len(w) - 1)]),
    "precision": lambda w: w.astype(numpy.float32) * 2,
    "windows of float32": lambda w: w,
}
TRANSFORMS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "grad": lambda f, x, t: te.grad(f)(x) @ t,
    "jvp": lambda f, x, t: te.jvp(f, (x,), (t,))[1],
    "staged": lambda f, x, t: [te.stage(te.grad(f)), te.stage(te.grad(f))][0](x) @ t,
    "replayed": lambda f, x, t: (lambda g: [g(x + 0.1), g(x - 0.1), g(x)][2] @ t)(te.grad(te.stage(f))),
    "checkpoint": lambda f, x, t: te.grad(lambda x: te.checkpoint(f)(x))(x) @ t,
    "columns": lambda f, x, t: te.jacfwd(f)(x) @ t,
    "nested": lambda f, x, t: te.grad(lambda s: te.grad(f)(x + s * t) @ t)(0.0),
    "forward over reverse": lambda f, x, t: te.hvp(f, (x,), (t,)) @ t,
    "hessian": lambda f, x, t: t @ te.hessian(f)(x) @ t,
    "reverse over forward": lambda f, x, t: te.grad(lambda x: te.jvp(f, (x,), (t,))[1])(x) @ t,
    "lanes": lambda f, x, t: te.grad(lambda x: te.vmap(f)(np.stack([x, 2.0 * x])).sum())(x) @ t,
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_views_of_windows_in_every_transform(function: str, transform: str) -> None:
    """Against differences of the plain program, for windows of vectors and images and for strides."""
    x, t = RANDOM.normal(size=16) * 0.5, RANDOM.normal(size=16)
    shapes: dict[str, Callable[[Any], Any]] = {
        "vector": lambda x: sliding_window_view(x, 5),
        "image": lambda x: sliding_window_view(x.reshape(4, 4), (2, 3)),
        "backwards": lambda x: sliding_window_view(x[::-1], 3)[:, ::2],
        "strides": lambda x: np.lib.stride_tricks.as_strided(x, (5, 2, 3), (16, 24, 8)),
    }
    for name, windows in shapes.items():

        def f(x: Any, windows: Callable[[Any], Any] = windows) -> Any:
            y = x * 1.0
            return np.sum(np.asarray(FUNCTIONS[function](windows(y))) ** 2)

        if transform in ("nested", "forward over reverse", "hessian", "reverse over forward"):
            if "precision" in function:
                continue
            wanted = differences(lambda x, f=f: te.grad(f)(x) @ t, (x,), (t,))
        elif "precision" in function:
            lanes = transform == "lanes"
            wanted = te.grad(f)(x) @ t + (2.0 * te.grad(f)(2.0 * x) @ t if lanes else 0.0)
        elif transform == "lanes":
            wanted = differences(f, (x,), (t,)) + differences(lambda x, f=f: f(2.0 * x), (x,), (t,))
        else:
            wanted = differences(f, (x,), (t,))
        found = TRANSFORMS[transform](f, x, t)
        assert float(found) == pytest.approx(float(wanted), rel=2e-6, abs=1e-7), name


def test_many_cotangents_of_windows() -> None:
    x = RANDOM.normal(size=(4, 5))

    def f(x: Any) -> Any:
        return np.tanh(sliding_window_view(x, (2, 2)) * 2.0).sum((2, 3)).ravel()

    rows, columns = te.jacrev(f)(x), te.jacfwd(f)(x)
    np.testing.assert_allclose(rows, columns, rtol=1e-13, atol=1e-14)
    t = RANDOM.normal(size=x.shape)
    np.testing.assert_allclose(np.tensordot(rows, t), te.jvp(f, (x,), (t,))[1], rtol=1e-12)
    one = te.jacrev(lambda x: np.stack([np.sin(w.sum()) for w in sliding_window_view(x[0], 3)]))(x)
    np.testing.assert_allclose(one, te.jacfwd(lambda x: np.sin(sliding_window_view(x[0], 3).sum(1)))(x), atol=1e-14)


def test_strides_that_show_each_element_once_can_be_written_to() -> None:
    def program(x: Any) -> Any:
        y = x * 2.0
        shown = np.lib.stride_tricks.as_strided(y, (2, 3), (8, 16))
        shown[0] *= x[:3]
        shown[1, 0] = x[5] ** 2
        return np.sum(y * y)

    x, t = RANDOM.normal(size=6), RANDOM.normal(size=6)
    value, slopes = te.value_and_grad(program)(x)
    assert value == pytest.approx(float(program(x)), rel=1e-15)
    assert slopes @ t == pytest.approx(differences(program, (x,), (t,)), rel=1e-8)


def test_windows_are_made_without_reading_the_array() -> None:
    """A million windows of a thousand elements would not fit into memory."""
    x = numpy.ones(1_000_000)
    assert te.grad(lambda x: np.sum(sliding_window_view(x, 1000)[::100_000] ** 2))(x).sum() == 2 * 10 * 1000


def test_a_stencil_takes_its_windows_anew() -> None:
    def heat(u: Any) -> Any:
        u = u * 1.0
        for _ in range(5):
            u[1:-1] = np.tanh(sliding_window_view(u, 3)) @ numpy.array([0.2, 0.6, 0.2])
        return np.sum(u**2)

    u, direction = RANDOM.normal(size=12), RANDOM.normal(size=12)
    assert te.grad(heat)(u) @ direction == pytest.approx(differences(heat, (u,), (direction,)), rel=1e-8)
    product = te.hvp(heat, (u,), (direction,))
    slope = te.jvp(lambda u: te.grad(heat)(u) @ direction, (u,), (direction,))[1]
    assert float(numpy.ravel(product) @ direction) == pytest.approx(float(slope), rel=1e-12)


VIEWS: dict[str, Callable[[Any], Any]] = {
    "plane": lambda x: sliding_window_view(x, (2, 3)),
    "last": lambda x: sliding_window_view(x, 3, axis=1),
    "first": lambda x: sliding_window_view(x, 3, axis=0),
    "windows of windows": lambda x: sliding_window_view(x, (2, 2), axis=(0, 0)),
    "Fortran": lambda x: sliding_window_view(x.T, (2, 3)),
    "strides": lambda x: np.lib.stride_tricks.as_strided(x, (4, 4, 2, 2), (48, 8, 48, 8)),
    "mixed strides": lambda x: np.lib.stride_tricks.as_strided(x, (3, 4, 2), (8, 48, 8)),
    "backwards": lambda x: np.lib.stride_tricks.as_strided(x[::-1], (3, 4), (-48, 8)),
}
RESULTS: dict[str, Callable[[Any], Any]] = {
    "product": lambda w: w * 2.0,
    "sum": lambda w: w + w,
    "function": np.sin,
    "where": lambda w: np.where(w > 0.0, w, 0.0),
    "copy": lambda w: w.copy(order="K"),
    "astype": lambda w: w.astype(numpy.float32),
    "total": lambda w: np.asarray((w * 2.0).sum()),
    "total of the first axis": lambda w: (w * 2.0).sum(0),
    "total of windows": lambda w: w.sum(-1),
    "largest": lambda w: w.max(-1),
    "mean": lambda w: w.mean(-1),
    "deviation": lambda w: w.std(-1),
    "product with a vector": lambda w: w @ numpy.linspace(0.0, 1.0, w.shape[-1]),
    "running sums": lambda w: w.cumsum(0),
    "ravel": lambda w: w.ravel("K"),
    "centred": lambda w: w - w.mean(-1, keepdims=True),
}


@pytest.mark.parametrize("result", RESULTS)
@pytest.mark.parametrize("view", VIEWS)
def test_results_have_the_bits_and_the_memory_order_of_numpy(view: str, result: str) -> None:
    found: list[Any] = []

    def program(x: Any) -> Any:
        value = RESULTS[result](VIEWS[view](x))
        found.extend((te.value(value), value.strides))
        return x.sum()

    x = RANDOM.normal(size=(5, 6))
    te.vjp(program, x)
    wanted = RESULTS[result](VIEWS[view](x))
    numpy.testing.assert_array_equal(found[0], wanted)
    assert found[1] == wanted.strides


@pytest.mark.parametrize("shape", [(2, 2), (4,), (1, 2, 3), (3, 0), 5, (9, 8), ()])
@pytest.mark.parametrize("layout", [lambda a: a, lambda a: a[::2], lambda a: a.T, lambda a: a[0], lambda a: a[0, ::2]])
def test_strides_that_are_not_given_are_numpys(layout: Callable[[Any], Any], shape: Any) -> None:
    try:
        expected = numpy.lib.stride_tricks.as_strided(layout(IMAGE[0]), shape)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            te.vjp(lambda x: np.lib.stride_tricks.as_strided(layout(x), shape), IMAGE[0])
        return
    try:
        found, back = te.vjp(lambda x: np.lib.stride_tricks.as_strided(layout(x), shape), IMAGE[0])
    except UnsupportedError as error:
        assert "outside its elements" in str(error)
        return
    numpy.testing.assert_array_equal(found, expected)
    assert numpy.sum(back(expected)[0] * IMAGE[0]) == pytest.approx(numpy.sum(expected**2))
