"""Rows of Jacobians of array programs: blocks of cotangents compared with single resolves, and their costs."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
import tapeengine.math as tm
import tapeengine.numpy as tnp
from tapeengine._core.sweeps import linear
from tapeengine.primitive import Primitive

MATRIX = np.array([[0.3, -0.7, 0.2, 0.9], [1.1, 0.4, -0.6, 0.1], [-0.2, 0.8, 0.5, -1.0], [0.6, -0.3, 0.7, 0.2]])


def numbers(value: Any) -> Any:
    """All numbers of a structure as one vector."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return np.concatenate([np.zeros(0), *map(numbers, value)])
    return np.ravel(value)


def one_hot(value: Any, position: int) -> Any:
    """The cotangent of a structure that is one at one number and zero elsewhere."""
    if isinstance(value, dict):
        parts = one_hot(list(value.values()), position)
        return dict(zip(value, parts, strict=True))
    if isinstance(value, (list, tuple)):
        parts, start = [], 0
        for part in value:
            parts.append(one_hot(part, position - start))
            start += numbers(part).size
        return type(value)(parts)
    hot = np.zeros(np.shape(value), np.asarray(value).dtype)
    if 0 <= position < hot.size:
        hot.flat[position] = 1.0
    return hot if np.shape(value) else float(hot)


def row_by_row(f: Callable[..., Any], *primals: Any) -> Any:
    """The Jacobian by one resolve for each number of the result."""
    value, backpropagator = te.vjp(f, *primals)
    return np.stack([numbers(backpropagator(one_hot(value, k))) for k in range(numbers(value).size)])


def in_blocks(f: Callable[..., Any], *primals: Any) -> Any:
    """The Jacobian by blocks, which `matrix` refuses only for few rows."""
    value, backpropagator = te.vjp(f, *primals)
    return linear.matrix(backpropagator, numbers(value).size, numbers(primals).size, float, False)


def written(y: Any, index: Any, value: Any) -> Any:
    out = tnp.zeros(4) + 0.5 * y
    out[index] = value
    return out


def added(y: Any, index: Any, value: Any) -> Any:
    out = tnp.zeros(4) + 0.5 * y
    np.add.at(out, index, value)
    return out


def in_place(y: Any) -> Any:
    view = y[1:]
    view *= y[0]
    y[0] = y[3] * 2.0
    return y


def element_by_element(y: Any) -> Any:
    out = tnp.zeros(4)
    for k in range(4):
        out[k] = tm.sin(y[k]) * y[(k + 1) % 4]
    return out


REPEATED, MASK = np.array([2, 0, 2, 1]), np.array([True, False, True, True])
# Each maps two vectors of length four to one.
STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda y, z: tnp.sin(y),
    "tanh": lambda y, z: tnp.tanh(y * z),
    "divide": lambda y, z: y / (z * z + 1.5),
    "power": lambda y, z: (y * y + 1.0) ** 1.3,
    "broadcast": lambda y, z: tnp.sum(y[:, None] * z[None, :] + tnp.tanh(y)[:, None], axis=1),
    "spread": lambda y, z: tnp.sum(tnp.broadcast_to(y, (3, 4)) * MATRIX[:3], axis=0),
    "scalar": lambda y, z: y[1] * z + tnp.sum(y) * 0.1 - z[0],
    "mean": lambda y, z: y - tnp.mean(y * z),
    "columns": lambda y, z: tnp.mean(tnp.outer(y, z), axis=0) + tnp.sum(tnp.outer(z, y), axis=1),
    "matrix times vector": lambda y, z: MATRIX @ y + z,
    "vector times matrix": lambda y, z: tnp.reshape(tnp.outer(y, z) @ (MATRIX @ z), (4,)),
    "matrices": lambda y, z: (tnp.outer(y, z) @ MATRIX @ tnp.outer(z, y))[:, 2],
    "dot": lambda y, z: y * tnp.dot(y, z),
    "reversed": lambda y, z: y[::-1] * z,
    "strided": lambda y, z: tnp.concatenate([y[::2] * z[1::2], z[:2]]),
    "gathered": lambda y, z: y[REPEATED] * z,
    "masked": lambda y, z: tnp.concatenate([y[MASK] * 2.0, z[:1]]),
    "gathered twice": lambda y, z: tnp.outer(y, z).reshape(2, 2, 4)[[0, 1], :, [1, 3]].reshape(4),
    "written": lambda y, z: written(y, 2, z[1]),
    "written slice": lambda y, z: written(y, slice(1, 3), z[2:]),
    "written constant": lambda y, z: written(y, slice(0, 2), 3.0),
    "written by indices": lambda y, z: written(y, REPEATED, z * z),
    "written from a scalar": lambda y, z: written(y, MASK, tnp.sum(z)),
    "added": lambda y, z: added(y, REPEATED, z),
    "added scalar": lambda y, z: added(y, [1, 1], tnp.sum(z)),
    "in place": lambda y, z: in_place(y * z),
    "elements": lambda y, z: element_by_element(y + z),
    "where": lambda y, z: tnp.where(y > z, y * y, z),
    "max": lambda y, z: y * tnp.max(z) + tnp.max(tnp.outer(y, z), axis=1),
    "stack": lambda y, z: tnp.stack([y, z, y * z]).sum(axis=0, keepdims=True)[0],
    "sorted": lambda y, z: tnp.sort(y) * z,
    "cumsum": lambda y, z: tnp.cumsum(y * z),
    "solve": lambda y, z: tnp.linalg.solve(MATRIX + 3.0 * np.eye(4), y),
    "eigh": lambda y, z: tnp.linalg.eigh(tnp.outer(y, y) * 0.1 + np.diag(np.arange(4.0)))[0],
    "checkpoint": lambda y, z: te.checkpoint(lambda a: tnp.sin(a) * a)(y) + z,
}


@st.composite
def programs(draw: st.DrawFn) -> Callable[[Any], Any]:
    """A few steps on two vectors of four; the result is a structure."""
    names = draw(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5))

    def program(x: Any) -> Any:
        y, z = x[:4] * 1.0, x[4:]
        for name in names:
            y, z = z, STEPS[name](y, z)
        return {"z": z, "some": (y[1:3], y[0], 2.0), "sum": tnp.sum(z)}

    return program


X = np.array([0.7, -0.4, 1.1, 0.3, -0.9, 0.2, 0.8, -0.5])


@settings(max_examples=150, deadline=None)
@given(programs())
def test_a_block_gives_what_single_resolves_give(program: Callable[[Any], Any]) -> None:
    expected = row_by_row(program, X)
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(in_blocks(program, X), expected, rtol=0, atol=1e-13 * scale)


@pytest.mark.parametrize("name", sorted(STEPS))
def test_each_step_by_rows_and_by_columns(name: str) -> None:
    def program(x: Any) -> Any:
        return STEPS[name](x[:4], x[4:])

    rows = te.jacrev(program)(X)
    np.testing.assert_allclose(rows, row_by_row(program, X), rtol=0, atol=1e-13 * max(1.0, np.abs(rows).max()))
    np.testing.assert_allclose(rows, te.jacfwd(program)(X), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("shape", [(3, 3, 3), (3, 4), (2, 3, 3)])
def test_an_index_whose_axes_numpy_moves(shape: tuple[int, ...]) -> None:
    """Indices on both sides of a slice; the number of rows equals the length of one of the axes."""
    index: Any = ([0, 1, 1], slice(None), [1, 0, 2])[: len(shape)] if len(shape) == 3 else (slice(None), [2, 0, 2])

    def program(x: Any) -> Any:
        y = tnp.reshape(x, shape) ** 2
        y[index] *= 2.0
        return tnp.ravel(y[index])

    x = np.linspace(0.1, 1.0, int(np.prod(shape)))
    np.testing.assert_array_equal(in_blocks(program, x), row_by_row(program, x))


def counted(vjp: Callable[..., Any], jvp: Callable[..., Any], calls: list[Any]) -> Primitive:
    """x**2 on arrays with a rule that records its calls."""

    def rule(ct: Any, x: Any) -> Any:
        calls.append(np.shape(ct))
        return vjp(ct, x)

    return Primitive("example.square", lambda x: x * x, vjp={"x": rule}, jvp={"x": jvp})


def test_a_rule_that_takes_a_block_is_called_once_for_it() -> None:
    """One more call, for the random combination by which it is checked."""
    calls: list[Any] = []
    square = counted(lambda ct, x: 2.0 * ct * x, lambda t, x: 2.0 * t * x, calls)
    rows = te.jacrev(lambda x: square(x)[::-1])(np.arange(50.0))
    np.testing.assert_array_equal(rows, np.diag(2.0 * np.arange(50.0))[::-1])
    assert calls == [(50,), (50, 50)]


def test_a_rule_that_takes_the_rows_as_a_last_axis() -> None:
    calls: list[Any] = []
    total = Primitive(
        "example.first",
        lambda x: np.cumsum(x, axis=0),
        vjp={"x": lambda ct: (calls.append(ct.shape), np.flip(np.cumsum(np.flip(ct, 0), axis=0), 0))[1]},
        jvp={"x": lambda t: np.cumsum(t, axis=0)},
    )
    rows = te.jacrev(total)(np.arange(5.0).repeat(4).reshape(5, 4))
    np.testing.assert_array_equal(rows.reshape(20, 20), np.kron(np.tri(5), np.eye(4)))
    assert calls == [(5, 4), (20, 5, 4), (5, 4, 20)]


def test_a_rule_that_takes_one_cotangent_only_is_called_for_each() -> None:
    calls: list[Any] = []

    def only_one(ct: Any, x: Any) -> Any:
        return np.array([2.0 * c * v for c, v in zip(ct, x, strict=True)]) if ct.shape == x.shape else ct * np.nan

    square = counted(only_one, lambda t, x: 2.0 * t * x, calls)
    rows = te.jacrev(lambda x: square(x) * 3.0)(np.arange(6.0))
    np.testing.assert_array_equal(rows, np.diag(6.0 * np.arange(6.0)))
    assert len(calls) == 3 + 6


def test_rows_that_do_not_reach_a_record_do_not_call_its_rule() -> None:
    def only_one(ct: Any, x: Any) -> Any:
        if ct.shape != x.shape:
            raise TypeError("one cotangent")
        return 2.0 * ct * x

    calls: list[Any] = []
    square = counted(only_one, lambda t, x: 2.0 * t * x, calls)
    te.jacrev(lambda x: tnp.concatenate([square(x), tnp.sin(x), x]))(np.arange(4.0))
    assert len([shape for shape in calls if shape == (4,)]) == 1 + 4


def test_the_width_of_a_block_is_bounded() -> None:
    """Arrays of 800 kB: blocks of eight; each block calls the rule twice."""
    calls: list[Any] = []
    square = counted(lambda ct, x: 2.0 * ct * x, lambda t, x: 2.0 * t * x, calls)
    x = np.linspace(0.0, 1.0, 100_000)
    with pytest.warns(UserWarning, match=r"te\.sparse_jacobian"):
        rows = te.jacrev(lambda x: square(x)[:24])(x)
    assert [shape[0] for shape in calls if len(shape) == 2] == [8, 8, 8]
    np.testing.assert_array_equal(rows[:, :24], np.diag(2.0 * x[:24]))
    assert not rows[:, 24:].any()


def test_one_walk_serves_a_block() -> None:
    """200 rows are two walks: the rule of each record is called four times, not 200."""
    calls: list[Any] = []
    square = counted(lambda ct, x: 2.0 * ct * x, lambda t, x: 2.0 * t * x, calls)

    def program(x: Any) -> Any:
        parts = []
        for _ in range(40):
            x = square(x) * 0.9
            parts.append(x)
        return tnp.stack(parts)

    te.jacrev(program)(np.linspace(0.1, 0.9, 5))
    assert len(calls) == 4 * 40


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_zero_goes_to_zero() -> None:
    """Infinite partials below cotangents of zero, in a kernel and in a rule; only some rows reach them."""

    def program(x: Any) -> Any:
        root = tnp.sqrt(x)
        chosen = tnp.where(x > 0, root, 2.0 * x)
        return tnp.concatenate([chosen, root * 0.0 + x, tnp.reshape(tnp.sum(x), (1,)), root[1:]])

    x = np.array([0.0, 4.0])
    rows = te.jacrev(program)(x)
    np.testing.assert_array_equal(rows, [[2.0, 0.0], [0.0, 0.25], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.25]])
    np.testing.assert_array_equal(rows, row_by_row(program, x))


@pytest.mark.filterwarnings("ignore:invalid value")
def test_rows_of_zeros_stay_zero_in_products_with_infinities() -> None:
    infinite = np.array([[np.inf, 1.0], [2.0, 3.0]])

    def program(x: Any) -> Any:
        return tnp.concatenate([infinite @ x, tnp.reshape(tnp.dot(x, infinite[0]), (1,)), x, 2.0 * x])

    rows = te.jacrev(program)(np.array([1.0, 2.0]))
    np.testing.assert_array_equal(rows[2:], [[np.inf, 1.0], [1.0, 0.0], [0.0, 1.0], [2.0, 0.0], [0.0, 2.0]])


def test_a_rule_may_hold_on_to_a_cotangent() -> None:
    """Blocks are reused for other storages, but not while anything refers to them."""
    held: list[Any] = []
    square = counted(lambda ct, x: (held.append((ct, ct.copy())), 2.0 * ct * x)[1], lambda t, x: 2.0 * t * x, [])

    def program(x: Any) -> Any:
        for _ in range(6):
            x = square(tnp.sin(x)) + x
        return x

    te.jacrev(program)(np.linspace(0.1, 0.9, 5))
    assert held and all((now == then).all() for now, then in held)


def test_structures_dtypes_and_few_rows() -> None:
    def program(a: Any, s: Any) -> Any:
        return [s["x"] * tnp.sum(a), tnp.asarray(a[0], dtype=np.float32), {"n": 3, "a": a[:, 1]}]

    a, s = np.arange(6.0).reshape(2, 3), {"x": 2.0, "m": [1.0, np.float32(4.0)]}
    for mode in ("forward", "reverse", "auto"):
        found = te.jacobian(program, (0, 1), mode)(a, s)
        assert found[0][1] == {"x": 15.0, "m": [0.0, 0.0]} and found[2]["n"][0] is None
        np.testing.assert_array_equal(found[2]["a"][0], np.einsum("ik,j->ikj", np.eye(2), np.eye(3)[1]))
        assert found[1][0].dtype == np.float64 and found[1][0].shape == (3, 2, 3)
    np.testing.assert_array_equal(te.jacrev(lambda x: x[:2] * 3.0)(np.ones(3)), 3.0 * np.eye(3)[:2])
    narrow = te.jacrev(lambda x: tnp.tanh(x) @ MATRIX.astype(np.float32))(np.ones(4, np.float32))
    assert narrow.dtype == np.float32
    np.testing.assert_allclose(narrow, (MATRIX / np.cosh(1.0) ** 2).T, rtol=2e-6)


def test_complex_arrays_within_a_real_program() -> None:
    def program(x: Any) -> Any:
        z = tnp.fft.fft(x) * (0.3 + 0.4j)
        return tnp.concatenate([tnp.real(z * z), tnp.imag(z), tnp.abs(z)])

    np.testing.assert_allclose(in_blocks(program, X), row_by_row(program, X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", ["rr", "rf", "fr"])
def test_nested(order: str) -> None:
    """The outer trace sees the steps: these rows are resolved one by one, and recorded."""

    def program(x: Any) -> Any:
        return tnp.sin(x[:4]) * x[4:] + tnp.sum(x) ** 2

    modes = {"r": te.jacrev, "f": te.jacfwd}
    found = modes[order[0]](modes[order[1]](program))(X)
    np.testing.assert_allclose(found, te.jacfwd(te.jacfwd(program))(X), rtol=1e-12, atol=1e-12)
    gradient = te.grad(lambda x: tnp.sum(modes[order[0]](program)(x) ** 2))(X)
    step = 1e-6
    for k in range(3):
        e = step * np.eye(8)[k]
        high, low = (np.sum(te.jacfwd(program)(x) ** 2) for x in (X + e, X - e))
        assert gradient[k] == pytest.approx((high - low) / (2 * step), rel=1e-7)


def test_an_inner_jacobian_that_does_not_depend_on_the_outer_trace() -> None:
    def outer(s: Any) -> Any:
        return s * tnp.sum(te.jacrev(lambda x: tnp.sin(x) * x[0])(X))

    assert te.grad(outer)(2.0) == pytest.approx(float(np.sum(te.jacrev(lambda x: tnp.sin(x) * x[0])(X))))


def test_an_error_in_a_rule_passes_through_and_leaves_the_engine_usable() -> None:
    @te.custom_vjp
    def failing(x: Any) -> Any:
        return x * 2.0

    def wrong(kept: Any, ct: Any) -> Any:
        raise ZeroDivisionError("in the rule")

    failing.defvjp(lambda x: (x * 2.0, None), wrong)
    with pytest.raises(ZeroDivisionError, match="in the rule"):
        te.jacrev(lambda x: failing(x) * 2.0)(X)
    np.testing.assert_array_equal(te.jacrev(lambda x: x * 2.0)(X), 2.0 * np.eye(8))


def test_custom_rules_row_by_row() -> None:
    calls: list[Any] = []

    @te.custom_vjp
    def square(x: Any) -> Any:
        return x * x

    def backward(x: Any, ct: Any) -> Any:
        calls.append(ct.shape)
        return (2.0 * ct * x,)

    square.defvjp(lambda x: (x * x, x), backward)
    rows = te.jacrev(lambda x: square(tnp.sin(x))[1:])(X)
    np.testing.assert_allclose(rows, np.diag(2.0 * np.sin(X) * np.cos(X))[1:], atol=1e-15)
    assert calls == [(8,)] * 7


@pytest.mark.parametrize("count", [8, 9, 15, 17, 30])
def test_blocks_of_several_widths(count: int) -> None:
    """Blocks of large arrays are narrow, and the last ones narrower."""
    large = np.zeros(70_000)

    def sums(xs: Any) -> Any:
        return np.cumsum(np.sort(np.concatenate([xs, large])))[-count:]

    xs = np.arange(1.0, count + 1.0)
    np.testing.assert_array_equal(te.jacfwd(sums)(xs), np.tri(count))
    np.testing.assert_array_equal(te.jacrev(sums)(xs), np.tri(count))
