"""SciPy's functions that are compositions: its values, and derivatives to second order against differences."""

import ast
import functools
import inspect
from importlib import import_module
from types import SimpleNamespace

import numpy
import pytest
from differences import R, check, flat
from programs import CONSTANTS, EXACT, GROUPS, REFUSED, TIGHT

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import TapeEngineError
from tapeengine_scipy.spatial import distance

MODULES = "integrate optimize interpolate linalg fft signal ndimage sparse spatial special stats".split()
SCIPY, OURS = (
    SimpleNamespace(**{name: import_module(f"{package}.{name}") for name in MODULES})
    for package in ("scipy", "tapeengine_scipy")
)
LINES = [(group, line) for group, (_, text) in GROUPS.items() for line in text.strip().splitlines()]


class ByName:
    """A module, function or object of this package, called with names for the arguments that SciPy lets be named."""

    def __init__(self, ours, theirs):
        self._ours, self._theirs = ours, theirs

    def __getattr__(self, name):
        return ByName(getattr(self._ours, name), getattr(self._theirs, name))

    def __call__(self, *args, **keywords):
        parameters = inspect.signature(self._theirs).parameters.values()
        names = [p.name for p in parameters if p.kind == p.POSITIONAL_OR_KEYWORD]
        if len(args) > len(names) or any(p.kind == p.POSITIONAL_ONLY for p in parameters):
            return self._ours(*args, **keywords)
        return self._ours(**dict(zip(names, args, strict=False)), **keywords)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("group", "line"), LINES, ids=[line for _, line in LINES])
def test_program(group, line):
    text, _, flags = line.partition(" | ")
    arrays = GROUPS[group][0]
    read = {node.id for node in ast.walk(ast.parse(f"({text},)")) if isinstance(node, ast.Name)}
    names = sorted(read & set(arrays))

    def program(modules, *args):
        exact = EXACT if modules is SCIPY else [TIGHT, {**TIGHT, "method": "trf"}]
        held = {**CONSTANTS, "s": modules, "np": np, "exact": exact, **dict(zip(names, args, strict=True))}
        return eval(f"({text},)", held)

    args = [arrays[name] for name in names]
    accuracy = {"fit": {"step": 1e-3, "rtol": 1e-4}, "solved": {"step": 1e-3, "rtol": 1e-6}}.get(
        flags.split(" ")[0], {}
    )
    ours = functools.partial(program, OURS)
    check(ours, functools.partial(program, SCIPY), args, "first" not in flags, **accuracy)
    by_name = SimpleNamespace(**{name: ByName(getattr(OURS, name), getattr(SCIPY, name)) for name in MODULES})
    found = te.vjp(lambda *args: flat(program(by_name, *args)), *args)[0]
    numpy.testing.assert_allclose(found, te.vjp(lambda *args: flat(ours(*args)), *args)[0], rtol=1e-11)


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_what_is_refused(line):
    names = {"s": OURS, "np": np, "m": CONSTANTS["sp"].eye_array(3).tocsr()}
    with pytest.raises(TapeEngineError):
        te.grad(lambda x: eval(line, {**names, "x": x}))(numpy.ones(3))


def test_scipys_errors_for_traced_places_and_points():
    with pytest.raises(ValueError, match="interpolation range"):
        te.grad(lambda x: OURS.interpolate.interp1d([0.0, 1.0], [0.0, 1.0])(x))(2.0)
    with pytest.raises(ValueError, match="increasing"):
        te.grad(lambda x: OURS.interpolate.CubicSpline([x, 0.0], [1.0, 2.0])(0.3))(0.0)
    a = R.normal(size=(3, 3))
    for call in (distance.pdist, lambda a, k: distance.cdist(a, a[:0], k)):
        with pytest.raises(ValueError, match="too small"):
            te.grad(lambda a, call=call: np.sum(call(a, "mahalanobis")))(a)


@pytest.mark.parametrize("metric", sorted(distance.METRICS))
def test_distances_of_equal_points(metric):
    """The derivatives of a length of 0 are 0, in both directions and to second order."""
    x = numpy.array([[0.3, 1.2, 0.7], [1.1, 0.4, 0.9]])
    options = {"seuclidean": {"V": numpy.array([1.0, 2.0, 3.0])}, "mahalanobis": {"VI": numpy.diag([1.0, 2.0, 3.0])}}

    def f(y):
        return np.sum(distance.cdist(x, y, metric, **options.get(metric, {})) * numpy.array([[1.0, 2.0], [3.0, 4.0]]))

    t = numpy.array([[0.3, -0.2, 0.5], [0.1, 0.7, -0.4]])
    slope = te.grad(f)(x)
    assert numpy.isfinite(slope).all()
    assert te.jvp(f, (x,), (t,))[1] == pytest.approx(np.sum(slope * t), rel=1e-12)
    assert numpy.isfinite(te.hvp(f, (x,), (t,))).all()
