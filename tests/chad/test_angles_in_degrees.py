"""numpy's conversions of angles in programs: numpy's bits and classes, compiled, in the program's own order of sums."""

import numpy as np
import pytest
from chad.written_functions import function_of
from leaves import bits, numbers

import tapeengine as te

NAMES = ("radians", "degrees", "deg2rad", "rad2deg")
ARGUMENTS = {
    "number": 31.7,
    "vector": np.array([0.1, -0.0, 1e150, -7.3]),
    "matrix": np.arange(6.0).reshape(2, 3),
    "list": [30.1, -45.2],
    "subnormal": 5e-324,
}
BODIES = ("np.{}(x)", "np.{}(x) * x", "np.sin(np.{}(x) + 1)", "np.{}(np.sum(x) * 2)", "np.{}(3) * np.sum(x)")


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", NAMES)
def test_an_angle_is_converted_as_numpy_does(name, body):
    f = function_of("x", [f"return {body.format(name)}"])
    program = te.program(f)
    for x in ARGUMENTS.values():
        if isinstance(x, list) and "* x" in body:
            continue
        wanted = f(x)
        tangent = [1.5] * len(x) if isinstance(x, list) else np.ones_like(x) * 1.5
        value, forward = te.jvp(program, (x,), (tangent,))
        again, back = te.vjp(program, x)
        for found in (value, again):
            assert bits(np.asarray(found)) == bits(np.asarray(wanted))
        expected, reverse = te.jvp(te.lift(f), (x,), (tangent,))[1], te.vjp(te.lift(f), x)[1](wanted)
        np.testing.assert_allclose(numbers(forward), numbers(expected), rtol=1e-14)
        np.testing.assert_allclose(numbers(back(wanted)), numbers(reverse), rtol=1e-14)


def test_sums_of_loops_stay_in_order():
    lines = [
        "a = np.radians(angle)",
        "r = ((np.cos(a), -np.sin(a), 0.1), (np.sin(a), np.cos(a), 0.7), (0.2, 0.3, 1.0))",
    ]
    lines += ["p = [[sum(r[i][k] * r[j][k] for k in range(3)) for j in range(3)] for i in range(3)]"]
    f = function_of("angle, v", [*lines, "return [sum(p[i][k] * v[k] for k in range(3)) for i in range(3)]"])
    program, rng = te.program(f), np.random.default_rng(4)
    for _ in range(40):
        angle, v = float(rng.normal()) * 90.0, rng.normal(size=3).tolist()
        assert te.vjp(program, angle, v)[0] == f(angle, v)


def test_bools_are_refused_or_computed_as_numpy_does():
    f = function_of("x", ["return np.radians(x > 0) * x"])
    np.testing.assert_allclose(te.vjp(te.program(f), np.array([1.0, -1.0]))[0], f(np.array([1.0, -1.0])), rtol=1e-3)
