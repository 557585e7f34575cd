"""The debug switch on arrays: the first value, partial, cotangent or tangent that is not finite."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine._core.sweeps import linear
from tapeengine.errors import NotFiniteError
from tapeengine.primitive import Primitive

pytestmark = pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value", "ignore:overflow")


def logarithm(x: Any) -> Any:
    y = tnp.reshape(x, (2, 2)) - 1.0
    return tnp.sum(y * tnp.log(y * 1.0))  # here the logarithm


def root(x: Any) -> Any:
    y = x - 1.0
    z = tnp.sqrt(y)  # here the partial
    return tnp.sum(tnp.where(y > 0, z, 0.0 * x))


def product(x: Any) -> Any:
    big = tnp.reshape(x * 1e200, (2, 2))
    return big @ big  # here the product


def written(x: Any) -> Any:
    y = x * 2.0
    y[1:] = np.inf  # here the constant
    return tnp.sum(y)


def element(x: Any) -> Any:
    y = x * 2.0
    y[1] = np.nan  # here the element
    return y


RULES = {"x": lambda first, x: np.broadcast_to(first / np.zeros(()), x.shape)}
POLE = Primitive("example.pole", lambda x: np.sum(x) * 1.0, vjp=RULES, jvp={"x": lambda t: np.sum(t) / np.zeros(())})


def pole(x: Any) -> Any:
    y = x * 3.0
    return POLE(y)  # here the pole


def steep(x: Any) -> Any:
    y = x * 1e200  # here the cotangent overflows
    return tnp.tile(y, 2)


def line_with(comment: str) -> str:
    lines = Path(__file__).read_text().splitlines()
    number = next(i for i, line in enumerate(lines, 1) if line.endswith(f"# here {comment}"))
    return f"{__file__}:{number} in "


@pytest.fixture
def engine() -> te.Engine:
    return te.Engine()


TRANSFORMS: dict[str, Callable[[te.Engine, Any, Any], Any]] = {
    "vjp": lambda engine, f, x: engine.vjp(f, x),
    "jvp": lambda engine, f, x: engine.jvp(f, (x,), (np.ones_like(x),)),
    "jacrev": lambda engine, f, x: engine.jacrev(f)(x),
    "jacfwd": lambda engine, f, x: engine.jacfwd(f)(x),
    "linearize": lambda engine, f, x: engine.linearize(f, x),
    "aux": lambda engine, f, x: engine.grad(lambda x: (tnp.sum(f(x)), 1), has_aux=True)(x),
}


@pytest.mark.parametrize("transform", sorted(TRANSFORMS))
@pytest.mark.parametrize(
    ("program", "comment", "words"),
    [
        (logarithm, "the logarithm", ["value", "numpy.log gives -inf at [0, 1] of shape (2, 2)", "x = 0.0 there"]),
        (root, "the partial", ["partial", "numpy.sqrt with respect to x is inf at [1] of shape (4,)", "x = 0.0 there"]),
        (product, "the product", ["value", "numpy.matmul gives inf at [0, 0] of shape (2, 2)", "y of shape (2, 2)"]),
        (written, "the constant", ["value", "y has inf at [1] of shape (4,)"]),
        (element, "the element", ["value", "the write of an element has the value nan"]),
    ],
)
def test_the_first_number_is_named(
    engine: te.Engine, transform: str, program: Any, comment: str, words: list[str]
) -> None:
    x = np.array([2.0, 1.0, 3.0, 1.0])
    with engine.debug(nans=True), pytest.raises(NotFiniteError) as caught:
        TRANSFORMS[transform](engine, program, x)
    message = str(caught.value)
    assert line_with(comment) in message, message
    assert all(word in message for word in words), message
    TRANSFORMS[transform](engine, lambda x: tnp.sin(x), x)  # works, and is off


#: Calls that run again for their derivative.
WITHIN: dict[str, Callable[[te.Engine, Any, Any], Any]] = {
    "checkpoint": lambda engine, f, x: engine.checkpoint(f)(x),
    "checkpoint of a checkpoint": lambda engine, f, x: engine.checkpoint(engine.checkpoint(f))(x),
    "iterate": lambda engine, f, x: engine.iterate(lambda s: [s[0], tnp.sum(f(s[0]))], 2, [x, x[0]])[1],
    "checkpoint of iterate": lambda engine, f, x: engine.checkpoint(
        lambda x: engine.iterate(lambda s: [s[0], tnp.sum(f(s[0]))], 2, [x, x[0]])[1]
    )(x),
    "fork": lambda engine, f, x: engine.fork(lambda: f(x), lambda: x)[0],
}


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("transform", sorted(TRANSFORMS))
@pytest.mark.parametrize(
    ("program", "comment"), [(logarithm, "the logarithm"), (product, "the product"), (element, "the element")]
)
def test_a_value_in_a_call_that_runs_again_is_named(
    engine: te.Engine, transform: str, within: str, program: Any, comment: str
) -> None:
    x = np.array([2.0, 1.0, 3.0, 1.0])
    with engine.debug(nans=True), pytest.raises(NotFiniteError) as caught:
        TRANSFORMS[transform](engine, lambda x: WITHIN[within](engine, program, x), x)
    assert line_with(comment) in str(caught.value), str(caught.value)


def test_a_cotangent_of_an_array_is_named(engine: te.Engine) -> None:
    with engine.debug(nans=True):
        _value, backpropagator = engine.vjp(steep, np.ones(2))
        assert backpropagator(np.ones(4))[0].tolist() == [2e200, 2e200]
        with pytest.raises(NotFiniteError) as caught:
            backpropagator(np.array([1.0, 1e200, 1.0, 1.0]))
        message = str(caught.value)
        assert line_with("the cotangent overflows") in message
        assert "a cotangent that is not finite comes from numpy.multiply" in message
        assert "for its argument x" in message and "it is inf at [1] of shape (2,)" in message
        assert "cotangent 1 = 1e+200 there" in message and "y = 1e+200" in message
        with pytest.raises(NotFiniteError, match=r"given (co)?tangent"):
            backpropagator(np.array([1.0, np.nan, 1.0, 1.0]))


def test_a_tangent_of_an_array_is_named(engine: te.Engine) -> None:
    with engine.debug(nans=True):
        value, m = engine.linearize(steep, np.ones(2))
        for sweep in (lambda t: engine.jvp(steep, (np.ones(2),), (t,)), m):
            with pytest.raises(NotFiniteError) as caught:
                sweep(np.array([1.0, -1e200]))
            message = str(caught.value)
            assert line_with("the cotangent overflows") in message
            assert "a tangent that is not finite comes from numpy.multiply" in message
            assert "it is -inf at [1] of shape (2,)" in message and "tangent 1 = -1e+200 there" in message
            with pytest.raises(NotFiniteError, match=r"given (co)?tangent"):
                sweep(np.array([1.0, np.inf]))
        assert value.tolist() == [1e200] * 4


def test_a_rule_that_is_not_elementwise_is_named_in_both_sweeps(engine: te.Engine) -> None:
    for sweep, words in (
        (lambda: engine.grad(pole)(np.ones(2)), "a cotangent that is not finite comes from example.pole"),
        (
            lambda: engine.jvp(pole, (np.ones(2),), (np.ones(2),)),
            "a tangent that is not finite comes from example.pole",
        ),
    ):
        with engine.debug(nans=True), pytest.raises(NotFiniteError) as caught:
            sweep()
        message = str(caught.value)
        assert words in message and line_with("the pole") in message and "x of shape (2,)" in message


def test_within_another_trace(engine: te.Engine) -> None:
    """The inner gradient's sweep is recorded, and checked like others."""
    with engine.debug(nans=True):
        for nested in (engine.hessian(logarithm), engine.grad(lambda x: engine.grad(logarithm)(x)[0])):
            with pytest.raises(NotFiniteError) as caught:
                nested(np.array([2.0, 1.0, 3.0, 1.0]))
            assert line_with("the logarithm") in str(caught.value)


def test_a_custom_function_is_named(engine: te.Engine) -> None:
    @engine.custom_vjp
    def inverse(x: Any) -> Any:
        return 1.0 / x

    inverse.defvjp(lambda x: (1.0 / x, x), lambda x, ct: (-ct / x**2,))
    with engine.debug(nans=True), pytest.raises(NotFiniteError, match=r"inverse gives inf at \[1\] of shape \(2,\)"):
        engine.grad(lambda x: tnp.sum(inverse(x)))(np.array([1.0, 0.0]))


def test_results_do_not_change(engine: te.Engine) -> None:
    def program(x: Any) -> Any:
        y = tnp.sin(x) @ np.ones((4, 3))
        y[0] = x[1]
        y[1:] *= x[:2]
        z = tnp.linalg.solve(tnp.outer(y, y) + np.eye(3), y)
        return tnp.sum(z) * z

    x = np.array([0.3, 0.7, -0.2, 0.4])
    expected = engine.jacrev(program)(x), engine.jacfwd(program)(x), engine.vjp(program, x)[1](np.ones(3))[0]
    with engine.debug(nans=True):
        found = engine.jacrev(program)(x), engine.jacfwd(program)(x), engine.vjp(program, x)[1](np.ones(3))[0]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-15)


def test_a_switch_that_is_off_leaves_no_watcher(engine: te.Engine) -> None:
    """Kernels record as usual, and the watcher is not notified of them."""
    _value, backpropagator = engine.vjp(logarithm, np.full(4, 3.0))
    names = {type(record).__name__ for record in backpropagator.tape.arrays}
    assert linear.watcher_of(backpropagator.tape) is None and "ElementwiseRecord" in names
    with engine.debug(nans=True):
        _value, backpropagator = engine.vjp(logarithm, np.full(4, 3.0))
    assert linear.watcher_of(backpropagator.tape) is not None


def test_a_second_derivative_that_is_not_finite_is_found(engine: te.Engine) -> None:
    """Value and gradient are finite at zero; a single scalar tape, swept twice, would not show the difference."""

    def program(x: Any) -> Any:
        return x**1.5

    assert engine.hvp(program, (0.0,), (1.0,)) == np.inf
    with engine.debug(nans=True):
        assert engine.hvp(program, (4.0,), (1.0,)) == pytest.approx(0.375, rel=1e-14)
        with pytest.raises(NotFiniteError):
            engine.hvp(program, (0.0,), (1.0,))


READING = [linear.operation, linear.primitive_of, linear.operands_of, lambda tape, i: tape.record(i)]


@pytest.mark.parametrize("of", READING)
def test_ids_of_no_record_are_refused(of: Any) -> None:
    tape = te.vjp(lambda x: tnp.sum(x * x), np.ones(3))[1].tape
    ids = [record[0] for record in tape.records()]
    for i in (0, ids[-1] + 1, 2**31):
        with pytest.raises(IndexError, match=f"no record {i}"):
            of(tape, i)
    of(tape, ids[-1])
