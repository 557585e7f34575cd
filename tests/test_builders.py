"""Builders of whole records, and the linear maps for writing rules."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as drawn

from tapeengine.errors import PrimitiveError
from tapeengine.primitive import Primitive, Sample, uniform
from tapeengine.primitive.builders import bilinear, broadcast, discrete, elementwise, linear, scale, unbroadcast
from tapeengine.primitive.spaces import Space
from tapeengine.testing import check_primitive, report_primitive

SPECIAL = st.sampled_from([0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan])


@given(drawn.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3), st.data())
def test_scale_multiplies_and_keeps_zeros(shapes: Any, data: st.DataObject) -> None:
    ct, partial = (data.draw(drawn.arrays(np.float64, shape, elements=SPECIAL)) for shape in shapes.input_shapes)
    with np.errstate(invalid="ignore"):
        expected = np.where(np.broadcast_to(ct == 0, shapes.result_shape), 0.0, ct * partial)
    found = scale(ct, partial)
    np.testing.assert_array_equal(found, expected)
    assert np.shape(found) == shapes.result_shape


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.complex128])
def test_scale_keeps_dtypes_and_zeros_of_other_dtypes(dtype: Any) -> None:
    found = scale(np.array([0, 2], dtype), np.array([np.inf, 3], dtype))
    assert found.dtype == dtype
    assert found.tolist() == [0.0, 6.0]


def test_scale_warns_of_nothing() -> None:
    with np.errstate(all="raise"):
        assert scale(0.0, np.inf) == 0.0
        assert scale(np.zeros(3), np.full(3, np.nan)).tolist() == [0.0, 0.0, 0.0]


def test_a_nan_of_the_cotangent_itself_stays() -> None:
    assert np.isnan(scale(np.array([np.nan, 1.0]), np.array([1.0, np.nan]))).all()


@given(drawn.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3), st.integers(0, 1000))
def test_unbroadcast_is_the_transpose_of_broadcast(shapes: Any, seed: int) -> None:
    generator = np.random.default_rng(seed)
    small, big = Space(shapes.input_shapes[0]), Space(shapes.result_shape)
    t, ct = small.random(generator), big.random(generator)
    up, down = broadcast(t, big), unbroadcast(ct, small)
    assert big.mismatch(up) is None
    assert small.mismatch(down) is None
    np.testing.assert_array_equal(up, np.broadcast_to(t, big.shape))
    assert big.inner(ct, up) == pytest.approx(small.inner(down, t), rel=1e-13, abs=1e-13)


def test_unbroadcast_leaves_what_fits_untouched() -> None:
    ct = np.ones((2, 3))
    assert unbroadcast(ct, Space((2, 3))) is ct
    assert broadcast(ct, Space((2, 3))) is ct


def test_unbroadcast_takes_the_real_part_and_the_dtype() -> None:
    found = unbroadcast(np.array([[1 + 2j, 3j]]), Space((2,), np.float32))
    assert found.dtype == np.float32
    assert found.tolist() == [1.0, 0.0]


def samples(*shapes: Any) -> tuple[Sample, ...]:
    return (Sample(tuple(uniform(shape, 0.5, 2.0) for shape in shapes)),)


WHERE = linear(
    "test.where",
    lambda condition, x, y: np.where(condition, x, y),
    {
        "x": lambda ct, condition, x_space: unbroadcast(np.where(condition, ct, 0.0), x_space),
        "y": lambda ct, condition, y_space: unbroadcast(np.where(condition, 0.0, ct), y_space),
    },
    samples=(Sample((np.array([True, False, True]), uniform((2, 1)), uniform((3,)))),),
)


def cat_transpose(ct: Any, index: int, xs_spaces: Any, axis: int) -> Any:
    start = sum(space.shape[axis] for space in xs_spaces[:index])
    return np.take(ct, np.arange(start, start + xs_spaces[index].shape[axis]), axis)


BUILT = [
    WHERE,
    linear(
        "test.sum",
        lambda x, axis=None: np.sum(x, axis, keepdims=True),
        lambda ct, x_space: broadcast(ct, x_space),
        static=("axis",),
        samples=(Sample((uniform((2, 3)),), {"axis": 1}), Sample((uniform((2, 3)),))),
    ),
    linear(
        "test.concatenate",
        lambda *xs, axis=0: np.concatenate(xs, axis),
        {"xs": cat_transpose},
        variadic=True,
        samples=(
            Sample((uniform((2, 1)), uniform((2, 3)), uniform((2, 2))), {"axis": 1}),
            Sample((uniform(2), uniform(3))),
        ),
    ),
    bilinear(
        "test.matmul",
        lambda x, y: x @ y,
        {"x": lambda ct, y: ct @ y.T, "y": lambda ct, x: x.T @ ct},
        samples=samples((2, 3), (3, 4)),
    ),
    elementwise(
        "test.power", np.power, lambda x, y: y * x ** (y - 1.0), lambda x, out: out * np.log(x), args=("x", "y"),
        samples=samples((2, 3), (3,)) + samples((), (2,)) + samples((), ()),
    ),
    elementwise("test.ramp", lambda x, slope=0.1: np.where(x > 0, x, slope * x),
                lambda x, slope: np.where(x > 0, 1.0, slope), static=("slope",),
                samples=(Sample((np.array([-1.0, 2.0]),)), Sample((np.array([-1.0, 2.0]),), {"slope": 0.3}))),
    elementwise("test.scaled", lambda x, n: n * x, lambda n: n, None, samples=(Sample((uniform(3), 4)),)),
    discrete("test.floor", lambda x: np.floor(x), samples=(Sample((uniform(3),)),)),
]  # fmt: skip


@pytest.mark.parametrize("primitive", BUILT, ids=lambda p: p.name)
def test_built_records_keep_the_contract(primitive: Primitive) -> None:
    report = check_primitive(primitive, order=1)
    rules = sum(rule is not None for rule in primitive.vjp_rules)
    assert report.runs.get("adjoint", 0) >= rules


def test_a_linear_rule_keeps_no_values() -> None:
    [rule] = BUILT[1].jvp_rules
    assert rule is not None
    assert rule.needs == (("static", "axis"),)
    assert WHERE.vjp_rules[0] is None
    assert WHERE.jvp_rules[1] is not None
    assert WHERE.jvp_rules[1].needs == (("arg", 0), ("space", 2))


def test_the_number_of_partials_is_checked() -> None:
    with pytest.raises(PrimitiveError, match="1 partials for the 2 arguments x, y"):
        elementwise("test.f", lambda x, y: x * y, lambda y: y)
    with pytest.raises(PrimitiveError, match="the transpose of each argument"):
        linear("test.f", lambda x, y: x + y, lambda ct: ct)


def test_a_partial_that_asks_for_the_unknown_is_refused() -> None:
    with pytest.raises(PrimitiveError, match="asks for 'z'"):
        elementwise("test.f", lambda x: x, lambda z: z)


def test_an_elementwise_rule_without_scale_would_be_found() -> None:
    """The builder's use of `scale` keeps the cotangent of log zero at 0."""
    log = elementwise("test.log", np.log, lambda x: 1.0 / x, args=("x",), samples=samples((3,)))
    assert report_primitive(log, order=1).failures == []


def test_unbroadcast_of_large_arrays_with_a_short_last_axis() -> None:
    ct = np.random.default_rng(3).normal(size=(10, 1000, 10))
    for shape, axes in (
        ((10, 1, 10), (1,)),
        ((10,), (0, 1)),
        ((1000, 1), (0, 2)),
        ((1, 1, 10), (0, 1)),
        ((), (0, 1, 2)),
    ):
        np.testing.assert_allclose(unbroadcast(ct, Space(shape)), ct.sum(axis=axes).reshape(shape), rtol=1e-12)
