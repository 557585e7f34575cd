"""Registry primitives in generated programs: elementwise ones become whole-array operations, residuals are few."""

import inspect
import operator

import numpy as np
import pytest
from chad.whole.programs_arrays import ARRAYS, REGULAR
from chad.written_functions import refused

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.language.types import FLOAT, INT, Array
from tapeengine.chad.registered import find, is_elementwise
from tapeengine.plugins import load_plugins
from tapeengine.primitive import Primitive

ENGINE = tapeengine.Engine()


def test_elementwise_primitives_are_found_by_trying():
    assert is_elementwise(find(np.sinc), [FLOAT], {})
    assert not is_elementwise(find(np.linalg.det), [Array(Array(FLOAT))], {})
    rules = {"x": lambda first, x: first * float(x)}
    plain_only = Primitive("example.of_floats", lambda x: float(x) ** 2 / 2, vjp=rules, jvp=rules)
    assert not is_elementwise(plain_only, [FLOAT], {})
    around = Primitive("example.centred", lambda x: x - np.mean(x), vjp=rules, jvp=rules)
    assert not is_elementwise(around, [FLOAT], {})
    assert not is_elementwise(Primitive("example.counted", lambda n: "x" * n, vjp={}, jvp={}), [INT], {})


def defaults_of(function):
    """The defaults that numpy's function states, without those that only say that there is none."""
    try:
        given = inspect.signature(function).parameters.items()
    except ValueError:  # no signature
        return {}
    return {name: p.default for name, p in given if p.default not in (inspect.Parameter.empty, np._NoValue)}


def test_primitives_have_the_defaults_of_numpys_functions():
    numpys = {name: p for name, p in load_plugins().registry.items() if name.startswith("numpy.")}
    assert numpys["numpy.fmax.reduce"].static_defaults["axis"] == 0
    for name, primitive in numpys.items():
        try:
            function = operator.attrgetter(name.removeprefix("numpy."))(np)
        except AttributeError:  # a name of its own
            continue
        if find(function) is primitive:
            for option, default in defaults_of(function).items():
                assert primitive.static_defaults.get(option, default) == default, f"{option} of {name}"


def test_a_primitive_of_each_element_is_called_once():
    calls = []

    def halved_square(x):
        calls.append(np.shape(x))
        return x * x / 2

    rules = {"x": lambda first, x: first * x}
    primitive = Primitive("example.halved_square", halved_square, vjp=rules, jvp=rules)

    @te.program
    def total(xs: te.Vec) -> float:
        return sum(primitive(x) * x for x in xs)

    @te.program
    def of_some(xs: te.Vec) -> float:
        return sum(primitive(x) * x if x > 0 else 0.0 for x in xs)

    xs = np.array([0.5, -1.0, 2.0])
    for program, shapes, at_negative in ((total, [(3,)], -0.5), (of_some, [(), ()], 0.0)):
        ENGINE.vjp(program, xs)
        calls.clear()
        value, backpropagator = ENGINE.vjp(program, xs)
        assert calls == shapes  # a branch is taken by the elements that take it
        assert value == pytest.approx(0.5**3 / 2 + 4 + at_negative)
        np.testing.assert_allclose(backpropagator(2.0)[0], [3 * 0.25, -6 * at_negative, 3 * 4], rtol=1e-15)


def test_arguments_whose_space_is_enough_are_not_kept():
    kept = []

    def vjp(first, x_space):
        kept.append(x_space.shape)
        return np.full(x_space.shape, first)

    primitive = Primitive("example.total", lambda x: float(np.sum(x)), vjp={"x": vjp}, jvp={"x": lambda t: np.sum(t)})

    @te.program
    def doubled(xs: te.Vec) -> float:
        return 2 * primitive(xs)

    assert ENGINE.vjp(doubled, np.ones(4))[1](1.0)[0].tolist() == [2.0] * 4
    assert kept == [(4,)]


def test_static_parameters_are_written_out():
    rules = {"x": lambda first, x, p: first * p * x ** (p - 1)}
    power = Primitive("example.power", lambda x, *, p=2: x**p, vjp=rules, jvp=rules)

    @te.program
    def cubes(xs: te.Vec) -> float:
        return sum(power(xs, p=3)) + sum(power(xs))

    assert ENGINE.vjp(cubes, np.array([1.0, 2.0]))[1](1.0)[0].tolist() == [5, 16]


def test_the_program_that_has_the_names_of_primitives():
    @te.program
    def clash(numpy_linalg_det: te.Array[te.Vec], ops: float) -> float:
        numpy_linalg_det_vjp_a = ops * 2
        return np.linalg.det(numpy_linalg_det) * numpy_linalg_det_vjp_a

    value, backpropagator = ENGINE.vjp(clash, REGULAR, 0.5)
    assert value == pytest.approx(np.linalg.det(REGULAR))
    assert backpropagator(1.0)[1] == pytest.approx(2 * value)


def test_errors_of_primitives_pass():
    with pytest.raises(np.linalg.LinAlgError):
        ENGINE.vjp(ARRAYS["solves"][0], np.zeros((2, 2)), np.ones(2))


def test_arrays_of_three_dimensions_are_given_whole():
    rules = {"x": lambda first, x: first * 2.0 * x}
    squares = Primitive(
        "example.squares_of_all", lambda x: float(np.sum(x * x)), vjp=rules, jvp={"x": lambda t, x: np.sum(2.0 * x * t)}
    )

    @te.program
    def doubled(z: te.Array[te.Array[te.Array[float]]]) -> float:
        return 2.0 * squares(z)

    z = np.arange(12.0).reshape(2, 3, 2)
    refused(doubled, z)
    value, back = ENGINE.vjp(doubled, z)
    assert value == 2.0 * np.sum(z * z)
    np.testing.assert_array_equal(back(1.0)[0], 4.0 * z)
