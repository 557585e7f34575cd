"""numpy.histogram: counts, sums of weights, densities, and edges that follow the extremes of the elements."""

import itertools
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError

X = numpy.array([0.31, 1.72, 0.94, 2.56, 1.13, 0.58, 2.21])
WEIGHTS = numpy.array([1.0, 2.5, -0.5, 3.0, 0.25, 1.5, 2.0])
EDGES = numpy.array([0.0, 0.7, 1.6, 3.1])
#: Edges of the same name as the parameters of numpy.histogram that choose them.
CHOICES: dict[str, dict[str, Any]] = {
    "number": {"bins": 4},
    "number in a range": {"bins": 4, "range": (0.0, 3.0)},
    "narrow range": {"bins": 3, "range": (0.5, 2.0)},
    "edges": {"bins": EDGES},
}
FORMS = list(itertools.product(CHOICES, (False, True), (False, True)))


def program(np: Any, x: Any, weights: Any, how: dict[str, Any], density: bool) -> Any:
    counts, edges = np.histogram(x, density=density, weights=weights, **how)
    return np.sum(counts * numpy.arange(1.0, counts.size + 1)) + np.sum(edges * numpy.cos(numpy.arange(edges.size)))


def differences(f: Any, x: numpy.ndarray, step: float = 1e-6) -> numpy.ndarray:
    steps = step * numpy.eye(x.size)
    return numpy.array([(f(x + one) - f(x - one)) / (2 * step) for one in steps])


@pytest.mark.parametrize(("choice", "density", "weighted"), FORMS)
def test_edges_counts_and_weights(choice: str, density: bool, weighted: bool) -> None:
    how, weights = CHOICES[choice], WEIGHTS if weighted else None
    value, gradient = te.value_and_grad(lambda x: program(np, x, weights, how, density))(X)
    assert value == program(numpy, X, weights, how, density)
    expected = differences(lambda x: program(numpy, x, weights, how, density), X)
    numpy.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    assert numpy.any(gradient) == ("range" not in how and choice != "edges")


@pytest.mark.parametrize(("choice", "density"), list(itertools.product(CHOICES, (False, True))))
def test_weights(choice: str, density: bool) -> None:
    how = CHOICES[choice]
    gradient = te.grad(lambda weights: program(np, X, weights, how, density))(WEIGHTS)
    expected = differences(lambda weights: program(numpy, X, weights, how, density), WEIGHTS)
    numpy.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)


def test_edges_that_are_given_and_traced() -> None:
    gradient = te.grad(lambda edges: program(np, X, WEIGHTS, {"bins": edges}, True))(EDGES)
    expected = differences(lambda edges: program(numpy, X, WEIGHTS, {"bins": edges}, True), EDGES)
    numpy.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("x", [numpy.full(3, 0.7), numpy.zeros(0), numpy.array(0.4)], ids=["equal", "empty", "0-d"])
def test_elements_without_an_extent(x: numpy.ndarray) -> None:
    found, backpropagator = te.vjp(lambda x: np.histogram(x, 3), x)
    for part, expected in zip(found, numpy.histogram(x, 3), strict=True):
        numpy.testing.assert_array_equal(part, expected)
    (cotangent,) = backpropagator((None, numpy.ones(4)))
    assert numpy.sum(cotangent) == (4.0 if x.size else 0.0)  # all four edges move with the elements


#: Bins of two columns.
GRIDS: dict[str, Any] = {
    "number": 3,
    "numbers": [3, 2],
    "edges and number": [EDGES, 2],
    "edges of both": [EDGES, numpy.array([-1.0, 0.5, 2.0])],
    "edges of either": EDGES,
}
Y = numpy.array([0.75, -0.4, 1.1, 0.2, 1.9, -0.9, 0.45])
RANGES = (None, [(0.2, 2.0), (-0.5, 1.0)], [None, (-0.5, 1.0)])


def grid(np: Any, form: str, z: Any, weights: Any, how: dict[str, Any]) -> Any:
    x, y = z[: X.size], z[X.size :]
    if form == "2d":
        cells, *edges = np.histogram2d(x, y, weights=weights, **how)
    else:
        cells, edges = np.histogramdd(np.stack([x, y], 1) if form == "matrix" else [x, y], weights=weights, **how)
    total = np.sum(cells * numpy.cos(numpy.arange(cells.size)).reshape(cells.shape))
    return sum((np.sum(along * numpy.sin(1.0 + numpy.arange(len(along)))) for along in edges), total)


@pytest.mark.parametrize("form", ["2d", "matrix", "columns"])
@pytest.mark.parametrize("bins", GRIDS)
@pytest.mark.parametrize("density", [False, True])
def test_cells_of_several_dimensions(form: str, bins: str, density: bool) -> None:
    z = numpy.concatenate([X, Y])
    for extent, weights in itertools.product(RANGES, (None, WEIGHTS)):
        how = {"bins": [GRIDS[bins]] * 2 if bins == "edges of either" and form != "2d" else GRIDS[bins]}
        how |= {"range": extent, "density": density}
        value, gradient = te.value_and_grad(lambda z, w=weights, how=how: grid(np, form, z, w, how))(z)
        assert value == grid(numpy, form, z, weights, how)
        expected = differences(lambda z, w=weights, how=how: grid(numpy, form, z, w, how), z)
        assert gradient == pytest.approx(expected, abs=1e-7)
        slopes = te.grad(lambda w, how=how: grid(np, form, z, w, how))(WEIGHTS)
        assert slopes == pytest.approx(differences(lambda w, how=how: grid(numpy, form, z, w, how), WEIGHTS), abs=1e-7)


def drawn(rng: Any, dtype: str, count: int) -> numpy.ndarray:
    """Numbers of which about half lie on edges of bins, and some are equal."""
    parts = rng.normal(size=(2, count))
    parts = numpy.round(parts * 2) / 2 if rng.random() < 0.5 else parts
    return (parts[0] + 1j * parts[1] if dtype in "FD" else parts[0]).astype(dtype)


#: Histograms of samples x with weights w; the edges e have the samples' dtype.
CALLS: dict[str, Any] = {
    "number": lambda x, w, e: numpy.histogram(x, 3, weights=w),
    "counts": lambda x, w, e: numpy.histogram(x, 3),
    "edges": lambda x, w, e: numpy.histogram(x, e, weights=w),
    "range": lambda x, w, e: numpy.histogram(x.real, 3, (-1.0, 0.5), weights=w),
    "2d": lambda x, w, e: numpy.histogram2d(x, x, [2, 3], weights=w.real),
    "2d range": lambda x, w, e: numpy.histogram2d(x.real, x.real, 2, [(-1.0, 0.5), None]),
    "2d edges": lambda x, w, e: numpy.histogram2d(x, x, e, weights=w.real),
    "2d edges and a number": lambda x, w, e: numpy.histogram2d([*x.real], x.real, ([*e.real], 3), weights=[*w.real]),
    "bincount": lambda x, w, e: (numpy.bincount(numpy.arange(x.size), w.real, 2),),
    "empty bincount": lambda x, w, e: (numpy.bincount([], w.real, 2),),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("dtypes", list(itertools.product("fdFD", "fdFD")), ids="".join)
def test_values_of_every_dtype_and_both_modes(call: str, dtypes: Any) -> None:
    rng = numpy.random.default_rng(2)
    for count in (0, 1, 2, 5, 8):
        x, w = (drawn(rng, dtype, count) for dtype in dtypes)
        program, e = CALLS[call], numpy.sort(drawn(rng, dtypes[0], 4))
        if x.dtype.kind == "c" and call in ("number", "counts"):  # numpy's bins are those of the real parts
            with pytest.raises(UnsupportedError, match="edges"):
                te.vjp(program, x, w, e)
            continue
        try:
            wanted = program(x, w, e)
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error)):
                te.vjp(program, x, w, e)
            continue
        found, back = te.vjp(program, x, w, e)
        for part, numpys in zip(found, wanted, strict=True):
            assert (part.dtype, part.tobytes()) == (numpys.dtype, numpys.tobytes())
        tangents = [drawn(rng, one.dtype.char, one.size) for one in (x, w, e)]
        cotangents = [None if y.dtype.kind == "i" else y.dtype.type(rng.normal(size=y.shape)) for y in found]
        moved = te.jvp(program, (x, w, e), tuple(tangents))[1]
        forward = sum(numpy.sum(c * t).real for c, t in zip(cotangents, moved, strict=True) if c is not None)
        backward = sum(numpy.sum(c * t).real for c, t in zip(back(tuple(cotangents)), tangents, strict=True))
        assert forward == pytest.approx(backward, abs=1e-5)


WRONG = [{"bins": "auto"}, {"bins": 0}, {"bins": 2.5}, {"bins": [2, 3, 4, 5], "dd": True}, {"bins": [[1.0, 0.0], 2]},
         {"range": [(0, 1)]}, {"weights": WEIGHTS[:2]}, {"bins": [[[1.0]], 2]}]  # fmt: skip


@pytest.mark.parametrize("how", WRONG, ids=str)
def test_errors_of_several_dimensions(how: dict[str, Any]) -> None:
    options = {name: value for name, value in how.items() if name != "dd"}
    with pytest.raises(Exception) as expected:
        numpy.histogramdd([X, Y], **options)
    with pytest.raises(expected.type):
        te.vjp(lambda x: np.histogramdd([x, Y], **options)[0], X)
