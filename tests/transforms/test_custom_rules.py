"""Functions with custom rules, in every direction and order, with closures over traced values."""

import functools
from typing import Any

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp
from tapeengine.errors import CotangentError, PrimitiveError


def wave(a: Any) -> Any:
    """a sin(y) with a reverse rule that captures `a`."""

    @te.custom_vjp
    def function(y: Any) -> Any:
        return a * tm.sin(y)

    function.defvjp(lambda y: (a * tm.sin(y), y), lambda y, ct: (ct * a * tm.cos(y),))
    return function


def custom(x: Any, a: Any) -> Any:
    return wave(a)(x * x)


def plain(x: Any, a: Any) -> Any:
    return a * tm.sin(x * x)


@pytest.mark.parametrize(
    "transform",
    [
        lambda f: te.grad(f, (0, 1)),
        lambda f: te.jacfwd(f, (0, 1)),
        lambda f: te.hessian(f, (0, 1)),
        lambda f: te.jacrev(te.jacrev(f, (0, 1)), (0, 1)),
        lambda f: te.jacrev(te.jacfwd(f, (0, 1)), (0, 1)),
        lambda f: te.jacfwd(te.jacfwd(f, (0, 1)), (0, 1)),
        lambda f: te.jacfwd(te.hessian(f, (0, 1)), (0, 1)),
    ],
    ids=["grad", "jacfwd", "hessian", "reverse2", "reverse-forward", "forward2", "third"],
)
def test_closures_over_traced_values(transform: Any) -> None:
    ours, theirs = transform(custom)(0.7, 2.0), transform(plain)(0.7, 2.0)
    np.testing.assert_allclose(np.ravel(np.array(ours)), np.ravel(np.array(theirs)), rtol=1e-13)


def test_a_closure_over_an_outer_trace() -> None:
    def mixed(f: Any) -> Any:
        return te.grad(lambda a: te.grad(lambda x: f(x, a))(0.7))(2.0)

    assert mixed(custom) == pytest.approx(mixed(plain), rel=1e-14)


def test_the_rule_is_what_counts() -> None:
    """The rule differs from the function's own derivative, so the tests above cannot pass by tracing the function."""

    @te.custom_vjp
    def clipped(x: float) -> float:
        return x * x

    clipped.defvjp(lambda x: (x * x, None), lambda residuals, ct: (7.0 * ct,))
    assert te.grad(clipped)(3.0) == 7.0
    assert clipped(3.0) == 9.0
    assert te.jvp(clipped, (3.0,), (2.0,)) == (9.0, 14.0)


def test_one_record_whatever_the_function_does() -> None:
    @te.custom_vjp
    def many(x: Any) -> Any:
        for _ in range(100):
            x = tm.sin(x)
        return x

    many.defvjp(lambda x: (many.function(x), x), lambda x, ct: (ct,))
    assert len(te.vjp(many, 1.0)[1].tape) == 1


def test_forward_rule_alone() -> None:
    @te.custom_jvp
    def cube(x: Any) -> Any:
        return x * x * x

    @cube.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        return primals[0] ** 3, 3.0 * primals[0] ** 2 * tangents[0]

    assert te.jvp(cube, (2.0,), (1.0,)) == (8.0, 12.0)
    assert te.grad(cube)(2.0) == 12.0
    assert te.grad(te.grad(cube))(2.0) == 12.0
    assert te.grad(te.grad(te.grad(cube)))(2.0) == 6.0


def test_both_rules_are_used_each_in_its_direction() -> None:
    calls = []

    @te.custom_jvp
    def f(x: Any) -> Any:
        return 2.0 * x

    def forward(primals: Any, tangents: Any) -> Any:
        calls.append("jvp")
        return 2.0 * primals[0], 2.0 * tangents[0]

    def backward(residuals: Any, ct: Any) -> Any:
        calls.append("bwd")
        return (2.0 * ct,)

    f.defjvp(forward)
    f.defvjp(lambda x: (2.0 * x, None), backward)
    assert te.jvp(f, (1.0,), (1.0,))[1] == 2.0
    assert te.grad(f)(1.0) == 2.0
    assert calls == ["jvp", "bwd"]


def normalised(x: Any, scale: Any) -> Any:
    return {"y": tnp.sin(x) * scale, "n": 3, "z": scale}


@te.custom_vjp
def normalised_with_rule(x: Any, scale: Any) -> Any:
    return normalised(x, scale)


def backward(residuals: Any, ct: Any) -> Any:
    x, scale = residuals
    return ct["y"] * tnp.cos(x) * scale, tnp.sum(ct["y"] * tnp.sin(x)) + ct["z"]


normalised_with_rule.defvjp(lambda x, scale: (normalised(x, scale), (x, scale)), backward)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_structures_and_arrays(order: int) -> None:
    def loss(f: Any) -> Any:
        def run(x: Any, scale: Any) -> Any:
            out = f(x, scale)
            return tnp.sum(out["y"] ** 2) * out["z"]

        return run

    ours, theirs = loss(normalised_with_rule), loss(normalised)
    for _ in range(order):
        ours, theirs = te.jacobian(ours), te.jacobian(theirs)
    x = np.array([0.3, 0.8])
    np.testing.assert_allclose(ours(x, 2.0), theirs(x, 2.0), rtol=1e-12)


def test_a_wrong_structure_is_refused_with_both() -> None:
    @te.custom_vjp
    def f(x: Any) -> Any:
        return x[0] * x[1]

    f.defvjp(lambda x: (x[0] * x[1], x), lambda x, ct: ((ct, ct, ct),))
    with pytest.raises(CotangentError, match=r"f's rule .* form \(f64, f64\), not \(f64, f64, f64\)"):
        te.grad(f)((1.0, 2.0))
    for found in (1.0, (), ((1.0, 1.0), 1.0), [(1.0, 1.0)] * 3):
        f.defvjp(lambda x: (x[0] * x[1], x), lambda x, ct, found=found: found)
        with pytest.raises(CotangentError, match="must be a tuple of 1"):
            te.grad(f)((1.0, 2.0))


def test_a_function_without_rules_says_so() -> None:
    @te.custom_vjp
    def bare(x: Any) -> Any:
        return x

    with pytest.raises(PrimitiveError, match="bare has no derivative rule yet"):
        te.grad(bare)(1.0)


def test_none_is_a_zero_cotangent() -> None:
    @te.custom_vjp
    def first(x: Any, y: Any) -> Any:
        return 3.0 * x

    first.defvjp(lambda x, y: (3.0 * x, None), lambda residuals, ct: (3.0 * ct, None))
    assert te.grad(first, (0, 1))(1.0, 2.0) == (3.0, 0.0)
    assert te.jvp(first, (1.0, 2.0), (1.0, 5.0))[1] == 3.0


def test_results_and_residuals_do_not_share_memory() -> None:
    @te.custom_vjp
    def square(x: Any) -> Any:
        return x * x

    def forward(x: Any) -> Any:
        out = x * x
        return out, (x, out)

    square.defvjp(forward, lambda kept, ct: (ct * kept[1] / kept[0] * 2.0,))

    def program(x: Any) -> Any:
        y = square(x)
        y[0] = 0.0
        return tnp.sum(y)

    np.testing.assert_allclose(te.grad(program)(np.array([1.0, 3.0])), [0.0, 6.0])


def test_stop_gradient_stops_every_level() -> None:
    assert te.grad(lambda x: x * te.stop_gradient(x))(3.0) == 3.0
    assert te.grad(te.grad(lambda x: x * te.stop_gradient([x])[0]))(3.0) == 0.0
    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(te.grad(lambda x: tnp.sum(x * te.stop_gradient(x)))(x), x)


def area(height: Any, width: Any) -> Any:
    return height * width


@functools.wraps(area)
def exchanged(width: Any, height: Any = 2.0) -> Any:
    return width * width * height


@functools.wraps(area)
def square(side: Any) -> Any:
    return area(side, side)


@functools.wraps(area)
def passed_on(*args: Any, **kwargs: Any) -> Any:
    return area(*args, **kwargs)


@pytest.mark.parametrize(
    ("function", "call"),
    [
        (exchanged, lambda f, x: f(width=x, height=3.0)),
        (exchanged, lambda f, x: f(height=x, width=x)),
        (exchanged, lambda f, x: f(width=x)),
        (square, lambda f, x: f(side=x)),
        (passed_on, lambda f, x: f(x, width=3.0)),
    ],
)
def test_names_of_arguments_are_those_of_the_function_itself(function: Any, call: Any) -> None:
    """`functools.wraps` gives a function the signature of another one."""
    ruled = te.custom_vjp(function)
    ruled.defvjp(lambda *xs: (function(*xs), xs), lambda xs, ct: te.vjp(function, *xs)[1](ct))
    value, gradient = te.value_and_grad(lambda x: call(ruled, x))(2.0)
    assert value == call(function, 2.0)
    assert gradient == pytest.approx((call(function, 2.0 + 1e-4) - call(function, 2.0 - 1e-4)) / 2e-4, rel=1e-7)


@pytest.mark.parametrize("constant", [2, True, np.int64(2), np.True_, 2.0, np.float32(2.0), np.arange(1, 3)], ids=repr)
@pytest.mark.parametrize("held", [lambda c: c, lambda c: [c, 1.0], lambda c: {"a": (c, "text"), "b": None}])
def test_a_forward_rule_treats_integers_as_numbers_that_are_not_traced(constant: Any, held: Any) -> None:
    def number_of(c: Any) -> Any:
        return c["a"][0] if isinstance(c, dict) else c[0] if isinstance(c, list) else c

    product = te.custom_jvp(lambda c, y: number_of(c) * y)
    seen = []

    @product.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (c, y), (dc, dy) = primals, tangents
        seen.append(dc)
        return number_of(c) * y, number_of(dc) * y + number_of(c) * dy

    wanted = float(np.sum(np.asarray(constant)))
    assert te.grad(lambda y: np.sum(product(held(constant), y)))(3.0) == wanted
    assert np.sum(te.jvp(lambda y: product(held(constant), y), (3.0,), (1.0,))[1]) == wanted
    if isinstance(held(constant), dict):
        assert all(dc["a"][1] is None and dc["b"] is None for dc in seen)
