"""Programs that the language does not have, in every transform: what the plain function gives there."""

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te


@te.program
def solved(x):
    x = np.array([complex(v).real for v in x])  # which is not in the language
    return np.linalg.solve(np.outer(x, x) + np.eye(3), np.sin(x))


@te.program
def squared(x):
    return x * x * (1.0 + x[::-1])


@te.program
def at_pole(x: te.Vec) -> te.Vec:
    return np.exp(x) * np.array([1.0 if v else 1 / v for v in x]) / x[0]


ONES = np.ones(3)
TRANSFORMS = {
    "jacobian": lambda f, **given: te.jacobian(f, **given),
    "by columns": lambda f, **given: te.jacobian(f, mode="forward", **given),
    "by rows": lambda f, **given: te.jacobian(f, mode="reverse", **given),
    "of two": lambda f, **given: lambda x: te.jacobian(lambda a, b: f(a) * b, (0, 1), **given)(x, x),
    "vjp": lambda f, **given: lambda x: te.vjp(f, x)[1](ONES),
    "jvp": lambda f, **given: lambda x: te.jvp(f, (x,), (ONES,)),
    "linearize": lambda f, **given: lambda x: te.linearize(f, x)[1](ONES),
    "within a gradient": lambda f, **given: te.grad(lambda x: np.sum(abs(f(x)) ** 2)),
    "twice": lambda f, **given: te.jacobian(te.grad(lambda x: np.sum(abs(f(x)) ** 2))),
    "staged": lambda f, **given: lambda x: [te.vjp(staged, x)[1](ONES) for staged in [te.stage(f)] for _ in range(3)],
    "checkpoint": lambda f, **given: te.grad(lambda x: np.sum(abs(te.checkpoint(f)(x)) ** 2)),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("program", [solved, squared, at_pole], ids=["solved", "squared", "at a pole"])
def test_a_transform_gives_what_it_gives_of_the_plain_function(program, transform):
    if program is at_pole and transform == "twice":
        pytest.skip("the second derivative is NaN there, and infinite in some places of the plain function's")
    x = np.array([0.0 if program is at_pole else 0.5, 1.0, 2.0])
    with np.errstate(all="ignore"):
        found, wanted = (TRANSFORMS[transform](f)(x) for f in (program, program.python))
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-12)


@pytest.mark.parametrize("transform", [name for name in TRANSFORMS if name != "twice"])
def test_of_complex_numbers(transform):
    x = np.array([2.0 + 1j, 3.0, -1j])
    given = {"holomorphic": True} if transform in ("jacobian", "by columns", "by rows", "of two") else {}
    found, wanted = (TRANSFORMS[transform](f, **given)(x) for f in (squared, squared.python))
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-12)


METHODS = ("maximum.accumulate(x)", "add.outer(x, x)", "maximum.reduce(x)")


@pytest.mark.parametrize("text", METHODS)
def test_methods_of_ufuncs_are_the_same_at_each_call(text):
    """A method is another object each time it is looked up."""
    function = function_of("x: te.Vec", [f"return np.{text}"], te=te)
    program, x = te.program(function), np.array([0.5, 2.0, 1.5])
    te.vjp(program, x)
    read = program.parsed()
    te.vjp(program, x)
    assert program.parsed() is read
    hessian = te.jacobian(te.grad(lambda x: np.sum(program(x) ** 2)))
    np.testing.assert_allclose(hessian(x), te.jacobian(te.grad(lambda x: np.sum(function(x) ** 2)))(x), rtol=1e-12)
