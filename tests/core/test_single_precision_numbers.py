"""A number of class numpy.float32 keeps its precision in every transform: values have the plain class and bits."""

import inspect
import math

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import DroppedDerivativeError, StructureError

X = np.float32(0.7)
#: Programs whose plain results are of numpy.float32, numpy.float64 and float, with roundings in between.
PROGRAMS = {
    "product": lambda x: x * x * x,
    "sine": lambda x: np.sin(x) / 3,
    "with Python's float": lambda x: x + 0.1,
    "with a double": lambda x: x * np.float64(0.1),
    "back and forth": lambda x: np.float32(0.1) * x + np.exp(x * 0.1) ** 3,
    "passed on": lambda x: x,
    "item": lambda x: x.item() * 0.1,
    "of math": lambda x: te.math.exp(x) * te.math.log(x, 2.0) * te.math.atan2(x, x * 0.3),
    "sum of a list": lambda x: sum([x, x * 0.1, x / 7]),
    "of a branch": lambda x: x**3 if x + 0.1 < np.float32(0.9) else -x,
    "power": lambda x: 2.0**x + pow(x, 0.3),
    "array": lambda x: (np.arange(3, dtype=np.float32) * x).sum(),
}
TRANSFORMS = {
    "vjp": lambda f: te.vjp(f, X)[0],
    "jvp": lambda f: te.jvp(f, (X,), (X,))[0],
    "value_and_grad": lambda f: te.value_and_grad(f)(X)[0],
    "checkpoint": lambda f: te.vjp(te.checkpoint(f), X)[0],
    "stage": lambda f: [te.vjp(staged := te.stage(f), X), staged(X)][1],
    "nested": lambda f: te.jvp(lambda x: te.vjp(f, x)[0], (X,), (X,))[0],
    "in a list": lambda f: te.vjp(lambda xs: f(xs[0]), [X, 1.0])[0],
    "fork_map": lambda f: te.vjp(lambda x: te.fork_map(f, [x, x])[1], X)[0],
}


def told(value):
    return type(value), np.asarray(value).tobytes()


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_values_are_those_of_the_plain_program(program, transform):
    f = PROGRAMS[program]
    assert told(TRANSFORMS[transform](f)) == told(f(X))


@pytest.mark.parametrize("program", PROGRAMS)
def test_cotangents_have_the_class_of_the_primal_and_tangents_that_of_the_value(program):
    f, x, h = PROGRAMS[program], np.float64(X), 1e-4
    first = (f(x + h) - f(x - h)) / (2 * h)
    second = (f(x + h) - 2 * f(x) + f(x - h)) / h**2
    for found in (te.grad(f)(X), te.vjp(f, X)[1](1.0)[0], te.value_and_grad(f)(X)[1]):
        assert (type(found), found) == (np.float32, pytest.approx(first, rel=1e-4))
    for found in (te.grad(te.grad(f))(X), te.hvp(f, (X,), (1.0,)), te.jvp(te.grad(f), (X,), (1.0,))[1]):
        assert (type(found), found) == (np.float32, pytest.approx(second, rel=1e-4, abs=1e-6))
    assert (type(f(X)), pytest.approx(first, rel=1e-4)) == (
        type(te.jvp(f, (X,), (1.0,))[1]),
        te.jvp(f, (X,), (1.0,))[1],
    )


def functions_of(count):
    """The functions of `te.math` with a number of arguments."""
    found = {name: getattr(te.math, name) for name in te.math.__all__ if callable(getattr(te.math, name))}
    return {name: f for name, f in found.items() if takes(f, count)}


def takes(f, count):
    try:
        parameters = inspect.signature(f).parameters.values()
    except ValueError:
        return False
    return sum(p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in parameters) == count


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("primal", [X, np.array([X]), np.array(0.7)], ids=["number", "element", "no axes"])
def test_math_reads_an_array_without_axes_as_a_number_or_refuses_it(primal, count):
    computed = 0
    for name, f in functions_of(count).items():

        def program(x, f=f):
            return f(*[x[0] if np.ndim(x) else x] * count)

        try:
            expected = program(primal)
        except (TypeError, ValueError):
            continue
        try:
            value, back = te.vjp(program, primal)
        except DroppedDerivativeError as error:
            assert "a.item()" in str(error), name
            continue
        computed += 1
        assert told(value) == told(expected), name
        if type(expected) is float:
            x = float(np.ravel(primal)[0])
            assert back(1.0)[0] == pytest.approx(te.grad(lambda x, f=f: f(*[x] * count))(x), rel=1e-6), name
    assert computed > (30 if count == 1 else 6)


def test_math_reads_several_arrays_without_axes_as_numbers():
    functions = {
        "hypot": lambda x, y: te.math.hypot(x, 2.0, y),
        "fsum": lambda x, y: te.math.fsum([x, 2.0, y, x]),
        "dist": lambda x, y: te.math.dist([x, 2.0], [1.0, y]),
        "sumprod": lambda x, y: te.math.sumprod([x, 2.0], [y, y]),
        "prod": lambda x, y: te.math.prod([x, 2.0, y]),
        "fma": lambda x, y: te.math.fma(x, y, x),
        "ldexp": lambda x, y: te.math.ldexp(x, 3) * y,
        "log": lambda x, y: te.math.log(x, y),
        "isclose": lambda x, y: te.math.isclose(x, y) * x,
    }
    x, y = np.float32(0.7), 1.25
    for name, f in functions.items():
        value, back = te.vjp(f, x, y)
        assert value == pytest.approx(f(float(x), y), rel=1e-6), name
        assert back(1.0) == pytest.approx(te.grad(f, (0, 1))(float(x), y), rel=1e-6), name


@pytest.mark.parametrize("kind", [np.float16, np.longdouble])
def test_numbers_of_other_precisions_are_refused_as_arrays_of_them_are(kind):
    for primal in (kind(0.5), np.ones(2, kind)):
        with pytest.raises(StructureError, match=r"primals\[0\] has the dtype .* Convert it with astype"):
            te.vjp(lambda x: x, primal)


@pytest.mark.parametrize("template", ["%.3f", "%g", "%s", "%d"])
def test_text_of_numbers_and_arrays_without_axes(template):
    for primal in (X, np.array(0.7), np.array(X)):
        found = []
        te.vjp(lambda x: [found.append(template % x), 0.0][1], primal)  # noqa: B023
        assert found == [template % primal]


def test_a_double_of_a_class_of_its_own_stays_a_double():
    class Length(np.float64):
        pass

    assert te.grad(lambda x: x * x)(Length(1.5)) == 3.0
    with np.errstate(divide="ignore"):  # where Python's float raises
        assert te.vjp(lambda x: x / 0.0, Length(1.5))[0] == math.inf
