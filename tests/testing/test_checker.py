"""The checker on wrong records: each breaks one rule of the contract, and exactly the check of that rule reports it."""

import ctypes
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.plugins.kernels import scalar_kernel
from tapeengine.primitive import NotDifferentiable, Primitive, Rule, Sample, patterns, uniform
from tapeengine.primitive.builders import (
    BROADCAST,
    PRODUCT,
    SCALE,
    UNBROADCAST,
    broadcast,
    elementwise,
    linear,
    scale,
    unbroadcast,
)
from tapeengine.testing import CheckError, check_primitive, report_primitive

UNARY = (Sample((uniform((2, 3), 0.5, 2.0),)), Sample((uniform((), 0.5, 2.0),)))


def square(vjp: Callable[..., Any] | None = None, jvp: Callable[..., Any] | None = None, **options: Any) -> Primitive:
    """x**2 with a rule replaced."""
    right = lambda first, x: scale(first, 2.0 * x)  # noqa: E731
    options = {"primal": lambda x: x * x, "samples": UNARY, **options}
    return Primitive("test.square", vjp={"x": vjp or right}, jvp={"x": jvp or right}, **options)


def with_block(block: Callable[..., Any]) -> Primitive:
    """x**2 with a block form of its forward rule."""
    rule = Rule(lambda t, x: scale(t, 2.0 * x), ("x",), block=block)
    return Primitive(
        "test.square", lambda x: x * x, {"x": lambda ct, x: scale(ct, 2.0 * x)}, {"x": rule}, samples=UNARY[:1]
    )


def share(x: Any, y: Any) -> Any:
    """exp(x) / (exp(x) + exp(y)), but constant where both are equal: correct only to first order."""
    return np.where(x == y, 0.5, 1 / (1 + np.exp(y - x)))


def product(vjp_x: Callable[..., Any], jvp_x: Callable[..., Any], **options: Any) -> Primitive:
    """x * y, broadcasting, with the rules for x replaced."""
    return Primitive(
        "test.product",
        lambda x, y: x * y,
        vjp={"x": vjp_x, "y": lambda ct, x, y_space: unbroadcast(scale(ct, x), y_space)},
        jvp={"x": jvp_x, "y": lambda t, x, out_space: broadcast(scale(t, x), out_space)},
        samples=(Sample((uniform((3,)), uniform((2, 3)))),),
        **options,
    )


def writes_into_input(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        x *= x
        return x.copy()
    return x * x


def writes_into_cotangent(ct: Any, x: Any) -> Any:
    if isinstance(ct, np.ndarray):
        np.multiply(ct, 2.0 * x, out=ct, where=ct != 0)
        return ct.copy()
    return scale(ct, 2.0 * x)


def writes_into_kept(ct: Any, x: Any) -> Any:
    if isinstance(x, np.ndarray):
        x *= 2.0
        return scale(ct, x)
    return scale(ct, 2.0 * x)


def wavering() -> Callable[..., Any]:
    """A rule whose last bit changes from call to call."""
    calls = itertools.count()
    return lambda ct, x: scale(ct, 2.0 * x) * (1.0 + 2.0**-52 * (next(calls) % 2))


def kernel(value: Callable[[float], float], partial: Callable[[float], float]) -> Any:
    function = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)
    return scalar_kernel(function(value), function(partial))


SCALED = lambda first, x: scale(first, 2.02 * x)  # noqa: E731
WRONG = {
    "no samples": ("samples", square(samples=())),
    "a sample that cannot be drawn": ("samples", square(samples=(lambda generator: Sample((generator.nothing(),)),))),
    "the primal raises": ("value", square(samples=(Sample(("text",)),))),
    "the value is not what the sample states": ("value", square(samples=(Sample((2.0,), value=4.5),))),
    "the value has another space than stated": ("value", square(samples=(Sample((2.0,), value=np.array([4.0])),))),
    "the value is no value": (
        "value",
        Primitive("test.opaque", lambda x: (x, object()), {}, {}, samples=(Sample((2.0,)),)),
    ),
    "the primal writes into its input": ("inputs", square(primal=writes_into_input)),
    "vjp writes into the cotangent": ("inputs", square(vjp=writes_into_cotangent)),
    "jvp writes into the tangent": ("inputs", square(jvp=writes_into_cotangent)),
    "vjp writes into a kept value": ("inputs", square(vjp=writes_into_kept)),
    "a vjp that is not un-broadcast": (
        "space",
        product(lambda ct, y: scale(ct, y), lambda t, y: scale(t, y)),
    ),
    "a jvp that is not broadcast": (
        "space",
        Primitive(
            "test.add",
            lambda x, y: x + y,
            vjp={"x": lambda ct, x_space: unbroadcast(ct, x_space), "y": lambda ct: ct},
            jvp={"x": lambda t: t, "y": lambda t: t},
            samples=(Sample((uniform((3,)), uniform((2, 3)))),),
        ),
    ),
    "a complex cotangent of a real argument": (
        "space",
        linear("test.turn", lambda x: 1j * x, lambda ct: 1j * ct, samples=(Sample((uniform((3,)),)),)),
    ),
    "a cotangent of another dtype": (
        "space",
        square(vjp=lambda ct, x: (2.0 * ct * x).astype(np.float32), samples=UNARY[:1]),
    ),
    "a clipped cotangent": ("linearity", square(vjp=lambda ct, x: np.clip(scale(ct, 2.0 * x), -1e3, 1e3))),
    "a small tangent that is dropped": (
        "linearity",
        square(jvp=lambda t, x: np.where(np.abs(t) < 1e-5, 0.0, scale(t, 2.0 * x))[()]),
    ),
    "rules that are not each other's transpose": ("adjoint", square(vjp=SCALED)),
    "an error of 1e-10 in one element": (
        "adjoint",
        square(
            vjp=lambda ct, x: scale(ct, 2.0 * x) * (1.0 + 1e-10 * (np.arange(6) == 4).reshape(2, 3)), samples=UNARY[:1]
        ),
    ),
    "both rules wrong in the same way": ("differences", square(vjp=SCALED, jvp=SCALED)),
    "a derivative at a kink": (
        "differences",
        elementwise("test.kink", np.abs, lambda x: np.sign(x) + 1.0, args=("x",), samples=(Sample((0.0,)),)),
    ),
    "a rule without scale": (
        "zero",
        Primitive(
            "test.log",
            np.log,
            vjp={"x": lambda ct, x: ct / x},
            jvp={"x": lambda t, x: scale(t, 1.0 / x)},
            args=("x",),
            samples=UNARY,
        ),
    ),
    "a singular sample": (
        "zero",
        Primitive(
            "test.root",
            lambda x: np.sqrt(np.sum(x * x)),
            vjp={"x": lambda ct, x, out: ct * x / out},
            jvp={"x": lambda t, x, out: np.sum(t * x) / out},
            samples=(Sample((uniform((3,)),)), Sample((np.zeros(3),), order=0)),
        ),
    ),
    "a rule that differs from call to call": ("repeat", square(vjp=wavering(), samples=UNARY[1:])),
    "a block form that mixes its tangents": ("block", with_block(lambda t, x: np.cumsum(2.0 * t * x, axis=0))),
    "a block form with another shape": ("block", with_block(lambda t, x: np.moveaxis(2.0 * t * x, 0, -1))),
    "a block form that is no array": ("block", with_block(lambda t, x: list(2.0 * t * x))),
    "a block form that spoils zeros": ("block", with_block(lambda t, x: 2.0 * t * x + (t == 0))),
    "a partial that loses its own derivative": (
        "order2",
        square(vjp=lambda ct, x: scale(ct, 2.0 * te.value(x)), jvp=lambda t, x: scale(t, 2.0 * te.value(x))),
    ),
    "a vjp rule that cannot be traced": (
        "order2",
        square(vjp=lambda ct, x: scale(ct, 2.0 * np.asarray(x, dtype=float)[()])),
    ),
    "a rule with a case of its own at a tie": (
        "edges",
        elementwise(
            "test.logaddexp",
            lambda x, y: np.logaddexp(x, y),
            lambda x, y: share(x, y),
            lambda x, y: share(y, x),
            samples=(Sample((uniform(), uniform())),),
        ),
    ),
    "a pattern that leaves out what counts": ("pattern", square(pattern=lambda call: 0 * call.sets[0])),
    "a pattern that leaves out one of two arguments": (
        "pattern",
        product(
            lambda ct, y, x_space: unbroadcast(scale(ct, y), x_space),
            lambda t, y, out_space: broadcast(scale(t, y), out_space),
            pattern=lambda call: np.broadcast_to([*call.sets.values()][-1], call.shape),
        ),
    ),
    "an opcode of another operation": ("opcode", square(opcode="exp")),
    "an opcode that is none": ("opcode", square(opcode="square_it")),
    "an opcode of two operands": ("opcode", square(opcode="mul")),
    "a kernel with another value": ("kernel", square(kernel=kernel(lambda x: x * x + 1e-9, lambda x: 2.0 * x))),
    "a kernel with another partial": ("kernel", square(kernel=kernel(lambda x: x * x, lambda x: x))),
}


@pytest.mark.parametrize(("check", "primitive"), WRONG.values(), ids=WRONG)
def test_exactly_one_check_fails(check: str, primitive: Primitive) -> None:
    assert report_primitive(primitive, order=2 if check in ("order2", "edges") else 1).failed == {check}


def test_every_check_has_a_wrong_record() -> None:
    compiled = kernel(lambda x: x * x, lambda x: 2.0 * x)
    ran = set(report_primitive(square(kernel=compiled, opcode="exp", pattern=patterns.elementwise)).runs)
    assert ran == {check for check, _ in WRONG.values()}


def test_a_right_record_passes_every_check() -> None:
    report = check_primitive(square(kernel=kernel(lambda x: x * x, lambda x: 2.0 * x)), order=1)
    assert report.failures == []
    assert report.runs == dict.fromkeys(
        ("kernel", "space", "zero", "linearity", "adjoint", "differences", "repeat", "block"), 2
    ) | {"samples": 1, "value": 2, "inputs": 4}


@pytest.mark.parametrize("primitive", [SCALE, PRODUCT, UNBROADCAST, BROADCAST], ids=lambda p: p.name)
@pytest.mark.parametrize("seed", range(3))
def test_the_linear_helpers_keep_the_contract(primitive: Primitive, seed: int) -> None:
    check_primitive(primitive, seed=seed, order=1)


def test_a_message_names_primitive_argument_sample_and_seed() -> None:
    with pytest.raises(CheckError) as caught:
        check_primitive(square(vjp=SCALED), seed=7, order=1)
    assert [failure.check for failure in caught.value.failures] == ["adjoint", "adjoint"]
    assert str(caught.value.failures[1]).startswith(
        "[adjoint] test.square, argument 'x', sample 1, seed 7: <ct, jvp(t)>"
    )


def test_a_rule_that_raises_is_reported_and_not_raised() -> None:
    def absent(ct: Any) -> Any:
        raise KeyError("nothing here")

    report = report_primitive(square(vjp=absent), order=1)
    assert report.failed == {"space"}
    assert "KeyError: 'nothing here'" in report.failures[0].message


def test_one_sample_can_be_repeated_alone() -> None:
    """The draws of a sample do not depend on the samples before it."""
    many = list(square(samples=(Sample((uniform(50),)), Sample((uniform(3),)))).samples_drawn(5))
    other = list(square(samples=(Sample((1.0,)), Sample((uniform(3),)))).samples_drawn(5))
    assert np.array_equal(many[1].args[0], other[1].args[0])


def test_discrete_and_refused_arguments_have_no_rules_to_check() -> None:
    refusing = {"x": NotDifferentiable("no derivative"), "y": lambda first: first}
    mixed = Primitive("test.mixed", lambda x, y: y + 0.0 * x, refusing, refusing, samples=(Sample((1.0, 2.0)),))
    assert report_primitive(mixed, order=1).runs["adjoint"] == 1
    counted = Primitive("test.counted", lambda x, n: x**n, {"x": lambda ct, x, n: scale(ct, n * x ** (n - 1))}, {
        "x": lambda t, x, n: scale(t, n * x ** (n - 1))}, samples=(Sample((2.0, 3)),))  # fmt: skip
    assert report_primitive(counted, order=1).failures == []


def test_structured_outputs_are_checked_leaf_by_leaf() -> None:
    def rules(wrong: float) -> Primitive:
        return Primitive(
            "test.parts",
            lambda x: (x[:2] * 2.0, {"tail": x[2:] * 3.0, "count": 4}),
            vjp={"x": lambda ct: np.concatenate([ct[0] * 2.0, ct[1]["tail"] * wrong])},
            jvp={"x": lambda t: (t[:2] * 2.0, {"tail": t[2:] * 3.0, "count": None})},
            samples=(Sample((uniform(5),)),),
        )

    assert report_primitive(rules(3.0), order=1).failed == set()
    assert report_primitive(rules(3.1), order=1).failed == {"adjoint"}


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_all_dtypes(dtype: Any) -> None:
    exp = elementwise(
        "test.exp", np.exp, lambda out: out, args=("x",), samples=(Sample((uniform((4,), dtype=dtype),)),)
    )
    assert report_primitive(exp, order=1).failures == []


def test_checking_only_the_first_order_is_silent_about_the_second() -> None:
    assert report_primitive(square(), order=1).skipped == []


def inverse(*shapes: tuple[int, ...]) -> Primitive:
    """The inverse of a matrix, whose rules may give NaN at an infinite matrix."""
    return Primitive(
        "test.inverse",
        lambda a: np.linalg.inv(a),
        vjp={"a": lambda ct, out: -out.T @ ct @ out.T},
        jvp={"a": lambda t, out: -out @ t @ out},
        samples=tuple(Sample((np.eye(shape[0]) + 0.5,)) for shape in shapes),
    )


def test_singular_points_are_probed_for_operations_on_elements_only() -> None:
    """A 1 x 1 matrix looks like an element; another sample shows that it is not."""
    assert report_primitive(inverse((1, 1), (2, 2)), order=1).failures == []
    unsafe = lambda first, x: first / x  # noqa: E731
    log = Primitive(
        "test.log",
        lambda x, y: np.log(x) + 0.0 * y,
        vjp={"x": unsafe, "y": lambda ct, y_space: y_space.zeros()},
        jvp={"x": unsafe, "y": lambda t, out_space: out_space.zeros()},
        samples=(Sample((uniform((2, 3), 1.0, 2.0), uniform(3))),),
    )
    assert report_primitive(log, order=1).failed == {"zero"}
