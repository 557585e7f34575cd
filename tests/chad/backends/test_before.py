"""What native code does once before a loop: it raises where Python does, and nowhere else."""

import math
import re

import numpy as np
import pytest

import tapeengine as te
from tapeengine.chad.backends.tiers import is_installed
from tapeengine.chad.intermediate.analysis import walk
from tapeengine.chad.intermediate.statements import AddAll

pytestmark = pytest.mark.skipif(not is_installed(), reason="llvmlite is not installed")
Matrix = te.Array[te.Vec]


@te.program(backend="native")
def repeated(xs: te.Vec, k: int, n: int) -> float:
    total = 0.0
    for i in range(n):
        total = total + i * xs[k]
    return total


def test_an_index_that_all_steps_have_is_checked_only_where_there_is_a_step() -> None:
    xs = np.array([1.0, 2.0, 3.0])
    assert te.vjp(repeated, xs, 7, 0)[0] == 0.0
    with pytest.raises(IndexError):
        te.vjp(repeated, xs, 7, 1)


@pytest.mark.parametrize("k", [0, 2, -1, -3])
def test_an_index_that_all_steps_have_may_count_from_the_end(k: int) -> None:
    xs = np.array([1.0, 2.0, 3.0])
    value, back = te.vjp(repeated, xs, k, 4)
    assert value == 6.0 * xs[k]
    wanted = np.zeros(3)
    wanted[k] = 6.0
    np.testing.assert_array_equal(back(1.0)[0], wanted)


@te.program(backend="native")
def divided(xs: te.Vec, y: float) -> float:
    total = 0.0
    for x in xs:
        total = total + x * (1.0 / y) + math.log(y)
    return total


def test_a_pole_that_all_steps_have_is_met_only_where_there_is_a_step() -> None:
    assert te.vjp(divided, np.zeros(0), 0.0)[0] == 0.0
    with pytest.raises(ZeroDivisionError):
        te.vjp(divided, np.ones(2), 0.0)


@te.program(backend="native")
def gathered(w: Matrix, rows: te.Array[int], x: te.Vec, n: int) -> float:
    total = 0.0
    for i in range(len(rows) * n):
        total = total + math.tanh(sum(w[rows[i // n]][j] * x[j] for j in range(len(x)))) * (i % n)
    return total


def test_rows_that_are_read_again_count_from_the_end_too() -> None:
    generator = np.random.default_rng(3)
    w, x, rows = generator.standard_normal((4, 3)), generator.standard_normal(3), np.array([0, -1, 2, -4, -1])
    value, back = te.vjp(gathered, w, rows, x, 3)
    assert value == pytest.approx(3.0 * np.tanh(w[rows] @ x).sum(), rel=1e-14)
    slope = 3.0 * (1.0 - np.tanh(w[rows] @ x) ** 2)
    wanted = np.zeros((4, 3))
    np.add.at(wanted, rows, slope[:, None] * x)
    to_w, _, to_x, _ = back(1.0)
    np.testing.assert_allclose(to_w, wanted, rtol=1e-13)
    np.testing.assert_allclose(to_x, slope @ w[rows], rtol=1e-13)
    with pytest.raises(IndexError):
        te.vjp(gathered, w, np.array([4]), x, 3)


@te.program(backend="native")
def written(x: float, n: int) -> float:
    a = [1.0, x]
    for _ in range(n):
        a[0] = a[0] * a[1]
    return a[0]


def test_an_element_that_the_loop_changes_is_read_in_each_step() -> None:
    value, back = te.vjp(written, 2.0, 5)
    assert value == 32.0
    assert back(1.0)[0] == 5 * 2.0**4


@te.program(backend="native")
def nested(xs: te.Vec, n: int, m: int) -> float:
    total = 0.0
    for i in range(n):
        for j in range(m):
            total = total + xs[i] * xs[j]
    return total


@pytest.mark.parametrize(("n", "m"), [(3, 3), (0, 9), (3, 0)])
def test_a_loop_that_stays_inside_an_array_runs(n: int, m: int) -> None:
    xs = np.array([1.0, 2.0, 3.0])
    assert te.vjp(nested, xs, n, m)[0] == sum(xs[:n]) * sum(xs[:m])


@pytest.mark.parametrize(("n", "m"), [(4, 3), (3, 4), (1, 100)])
def test_a_loop_that_leaves_an_array_raises(n: int, m: int) -> None:
    with pytest.raises(IndexError):
        te.vjp(nested, np.array([1.0, 2.0, 3.0]), n, m)


@te.program(backend="native")
def sized(n: int, m: int, x: float) -> float:
    a = [[x * i + j for j in range(m)] for i in range(n)]
    return sum(sum(row) for row in a)


@pytest.mark.parametrize(("n", "m"), [(2, 3), (-1, 3), (2, -5), (0, 0)])
def test_sizes_below_zero_are_zero(n: int, m: int) -> None:
    assert te.vjp(sized, n, m, 0.5)[0] == sum(0.5 * i + j for i in range(n) for j in range(m))


@te.program(backend="native")
def shifted(xs: te.Vec, k: int, n: int) -> float:
    total = 0.0
    for i in range(n):
        total = total * math.sin(xs[i + k]) + xs[k - i]
    return total


@pytest.mark.parametrize("k", [0, -1, -2])
def test_a_whole_number_below_zero_is_handed_to_the_reverse_pass(k: int) -> None:
    xs = np.array([1.0, 2.0, 3.0, 5.0])
    value, back = te.vjp(shifted, xs, k, 2)
    other, wanted = te.vjp(te.program(shifted.function, backend="machine"), xs, k, 2)
    assert value == other
    np.testing.assert_array_equal(back(1.0)[0], wanted(1.0)[0])


@te.program(backend="native")
def nearest(points: Matrix, centres: Matrix) -> float:
    return sum(min(sum((p[j] - c[j]) ** 2 for j in range(len(p))) for c in centres) for p in points)


def test_what_is_added_where_its_sum_is_has_the_bits_of_the_machine() -> None:
    generator = np.random.default_rng(5)
    points, centres = generator.standard_normal((20, 3)), generator.standard_normal((4, 3))
    (value, back), (other, wanted) = (
        te.vjp(p, points, centres) for p in (nearest, te.program(nearest.function, backend="machine"))
    )
    assert value == pytest.approx(other, rel=1e-14)
    for got, want in zip(back(1.0), wanted(1.0), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13)
    lowered = nearest.executable.lowered
    assert lowered is not None
    assert not any(isinstance(s, AddAll) for s, _ in walk(lowered.program.functions["reverse"].body))


@te.program(backend="native")
def windows(xs: te.Vec, ys: te.Vec, n: int) -> float:
    return sum(sum(xs[i + j] * ys[j] for j in range(len(ys))) ** 2 for i in range(n))


@pytest.mark.parametrize("n", [0, 1, 5, 6])
def test_sums_of_indices_inside_an_array(n: int) -> None:
    xs, ys = np.arange(1.0, 9.0), np.array([1.0, -2.0, 0.5])
    value, back = te.vjp(windows, xs, ys, n)
    found = np.correlate(xs, ys, "valid")[:n]
    assert value == pytest.approx(found @ found)
    np.testing.assert_allclose(back(1.0)[0], np.pad(np.convolve(2.0 * found, ys), (0, 6 - n)) if n else np.zeros(8))


@pytest.mark.parametrize("n", [7, 8, 9])
def test_sums_of_indices_that_leave_an_array_raise(n: int) -> None:
    with pytest.raises(IndexError):
        te.vjp(windows, np.arange(1.0, 9.0), np.array([1.0, -2.0, 0.5]), n)


@te.program(backend="native")
def neighbours(xs: te.Vec, k: int) -> float:
    total = 0.0
    for i in range(len(xs)):
        total = total + xs[i - 1] * xs[i] + xs[i + k]
    return total


def test_an_index_before_the_first_counts_from_the_end() -> None:
    xs = np.array([1.0, 2.0, 3.0])
    value, back = te.vjp(neighbours, xs, -2)
    assert value == 3.0 * 1.0 + 2.0 + 6.0 + (2.0 + 3.0 + 1.0)
    np.testing.assert_array_equal(back(1.0)[0], [5.0 + 1.0, 4.0 + 1.0, 3.0 + 1.0])
    with pytest.raises(IndexError):
        te.vjp(neighbours, xs, 1)
    with pytest.raises(IndexError):
        te.vjp(neighbours, xs, 2**63 - 2)


def lowest(xs: Matrix, w: te.Vec) -> float:
    total = 0.0
    for k in range(len(xs)):
        scaled = [w[j] * xs[k][j] for j in range(len(w))]
        total = total + min(scaled) * max(scaled)
    return total


def test_arrays_of_each_step_share_memory_that_is_set_aside_once() -> None:
    text = te.program(lowest, backend="native").inspect()
    for name in ("main.forward", "main.reverse"):
        body = text[text.index(f'define internal i32 @"{name}') :].split("\n}", 1)[0]
        before, inside = re.split(r"^step[.\d]+:$", body, maxsplit=1, flags=re.MULTILINE)
        assert "@take(ptr %state" in before
        assert "@take(ptr %state" not in inside
    xs, w = np.linspace(-1.0, 1.0, 33).reshape(11, 3), np.array([0.5, -1.0, 2.0])
    value, back = te.vjp(te.program(lowest, backend="native"), xs, w)
    assert value == lowest(xs.tolist(), w.tolist())  # type: ignore[arg-type]
    scaled = w * xs
    at, top = scaled.argmin(axis=1), scaled.argmax(axis=1)
    wanted = np.zeros_like(xs)
    for k in range(11):
        wanted[k, at[k]] += w[at[k]] * scaled[k, top[k]]
        wanted[k, top[k]] += w[top[k]] * scaled[k, at[k]]
    np.testing.assert_allclose(back(1.0)[0], wanted, rtol=1e-15)
