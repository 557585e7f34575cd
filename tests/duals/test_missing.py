"""The error for a function without a rule: the names in it, and its lines, which must work as printed."""

import importlib
import sys
from types import ModuleType

import numpy
import pytest
from scipy import linalg, optimize, special, stats

import tapeengine as te
import tapeengine.numpy
from tapeengine.errors import DroppedDerivativeError, UnsupportedError


def told(program: object) -> str:
    with pytest.raises(UnsupportedError) as caught:
        te.Engine(plugins=["core"]).grad(program)(numpy.array([0.5]))
    return str(caught.value)


@pytest.mark.parametrize(
    ("function", "place"), [(numpy.packbits, "numpy.packbits"), (special.wrightomega, "scipy.special.wrightomega")]
)
def test_it_names_the_function_where_it_is_called_from(function, place):
    assert told(lambda x: function(x)[0]).startswith(f"{place} has no derivative rule")


PARTIALS = {
    "wrightomega": ("1 - 1 / (1 + wrightomega(x))",),
    "boxcox": ("x1 ** (x2 - 1)", "(x1 ** x2 * (x2 * tapeengine.math.log(x1) - 1) + 1) / x2 ** 2"),
}


@pytest.mark.parametrize("name", sorted(PARTIALS))
def test_its_lines_work_once_the_partials_are_there(name):
    ufunc, points = getattr(special, name), [0.5, 1.5][: len(PARTIALS[name])]
    text = told(lambda x: ufunc(*[x] * len(points))[0])
    code = "\n".join(line[4:] for line in text.splitlines() if line.startswith("    "))
    for partial in PARTIALS[name]:
        code = code.replace("ct * ...", f"ct * ({partial})", 1)
    names: dict[str, object] = {}
    exec(code, names)
    slopes = te.grad(lambda xs: names[name](*xs))(points)
    step = 1e-6
    for k, slope in enumerate(slopes):
        up, down = ([x + sign * step * (i == k) for i, x in enumerate(points)] for sign in (1, -1))
        assert slope == pytest.approx((ufunc(*up) - ufunc(*down)) / (2 * step), rel=1e-8)


SUMS = importlib.import_module("numpy._core._umath_tests").cumsum


@pytest.mark.parametrize("is_named", [True, False])
def test_the_lines_for_a_ufunc_of_the_program_call_it_by_its_variable(is_named, monkeypatch):
    """One that is in no module."""
    monkeypatch.delitem(sys.modules, "numpy._core._umath_tests")
    made = [SUMS]
    if not is_named:
        monkeypatch.delitem(globals(), "SUMS")
    text = told(lambda x: made[0](x)[0])
    name, headline = ("SUMS", "SUMS") if is_named else ("ufunc", repr(made[0]))
    assert text.startswith(f"{headline} has no derivative rule")
    lines = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    names = {name: made[0]}
    exec("\n".join(lines).replace("...", "1.0"), names)
    assert te.value_and_grad(lambda x: names[f"my_{name}"](x)[0])(numpy.array([1.5])) == (1.5, 1.0)


def test_an_array_of_objects_is_named_where_it_is_assigned():
    def program(x):
        pair = numpy.array([[x, 0.0], [0.0, x]])
        later = pair + 1.0
        return numpy.linalg.inv(later)[0, 0]

    with pytest.raises(TypeError) as caught:
        te.grad(program)(1.5)
    place = f"{__file__}:{program.__code__.co_firstlineno + 1} in program"
    assert f"Here it is pair, assigned at {place}: use the functions of tapeengine.numpy" in caught.value.__notes__[0]


def test_a_ufunc_is_named_by_its_package_and_not_by_a_module_that_imports_it(monkeypatch):
    users = ModuleType("m")
    users.wrightomega = special.wrightomega
    monkeypatch.setitem(sys.modules, "m", users)
    assert told(lambda x: users.wrightomega(x)[0]).startswith("scipy.special.wrightomega has no derivative rule")


FINDERS = (optimize.bisect, optimize.brenth, optimize.brentq, optimize.ridder, optimize.toms748)


@pytest.mark.parametrize(
    ("program", "part", "own"),
    [
        (lambda x: linalg.solve_banded((0, 0), x[None], x)[0], "linalg", True),
        (lambda x: stats.norm.logpdf(x)[0], "stats", True),
        (lambda x: stats.norm.cdf(x[0]), "stats", False),
        *((lambda x, f=f: f(lambda u: u * u - 2.0, x[0], 3.0), "optimize", False) for f in FINDERS),
        (lambda x: optimize.root_scalar(lambda u: u * u - 2.0, bracket=(x[0], 3.0)).root, "optimize", False),
        (lambda x: optimize.brentq(lambda u: u * u - 2.0, 0.0, 3.0, xtol=x[0]), "optimize", False),
    ],
)
def test_a_function_of_scipy_is_told_to_come_from_the_plugin(program, part, own):
    """Both for errors of the engine, and where SciPy itself gets traced numbers first."""
    with pytest.raises(DroppedDerivativeError if own else (TypeError, RuntimeError)) as caught:
        te.Engine(plugins=["core"]).grad(program)(numpy.array([0.5]))
    text = " ".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert f"Import it from tapeengine_scipy.{part}, which has derivatives" in text


@pytest.mark.parametrize("captured", [False, True])
def test_differences_of_scipy_are_told_to_be_derivatives_of_the_engine(captured):
    derivative = pytest.importorskip("scipy.differentiate").derivative
    with pytest.raises(UnsupportedError if captured else DroppedDerivativeError) as caught:
        te.grad(lambda x: derivative(lambda u: u * x if captured else u, 1.0 if captured else x).df)(2.0)
    text = " ".join([str(caught.value), *getattr(caught.value, "__notes__", ())])
    assert "In its place, tapeengine.grad" in text and "tapeengine_scipy" not in text


class Model:
    def __init__(self):
        self.rng = numpy.random.default_rng(0)


@pytest.mark.parametrize("make", [numpy.random.default_rng, numpy.random.RandomState])
def test_a_draw_with_a_traced_parameter_is_told_to_scale_a_number(make):
    """Whatever holds the generator."""
    rng, model = make(0), Model()
    model.rng = rng
    programs = (
        lambda x: rng.normal(x, 1.0),
        lambda x: model.rng.uniform(0.0, x),
        lambda x: numpy.random.default_rng(0).exponential(x),
    )
    for program in (*programs, lambda x: numpy.random.normal(x)):
        with pytest.raises(DroppedDerivativeError, match=r"mean \+ sigma \* generator\.standard_normal"):
            te.grad(program)(1.5)


def test_a_series_of_numpy_at_a_traced_array_is_told_to_come_from_the_namespace():
    series = numpy.polynomial.Polynomial([1.0, 2.0, 3.0])
    with pytest.raises(DroppedDerivativeError, match=r"Make the series with tapeengine\.numpy\.polynomial"):
        te.grad(lambda x: numpy.sum(series(x)))(numpy.array([0.3, 0.7]))
