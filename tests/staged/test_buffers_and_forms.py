"""What a replay returns is the caller's own, and forms of calls that are recognised quickly give what the others do."""

import functools

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import StructureError

SIZES = [0, 1, 3, 50, 1023, 1024, 1025]


@pytest.mark.parametrize("size", SIZES)
def test_results_of_earlier_replays_stay_as_they_were(size):
    staged = te.stage(lambda a, b: np.sum(np.sin(a) * b + a * a) + np.sum(a))
    rng = np.random.default_rng(size)
    calls = [(rng.normal(size=size), rng.normal(size=size)) for _ in range(5)]
    for held in (True, False):
        kept = []
        for a, b in calls:
            _value, back = te.vjp(staged, a, b)
            first, second = back(1.0), back(2.0)
            kept = [*kept, (first, second)] if held else [(first, second)]
            if not held:
                assert np.allclose(second[0], 2 * (np.cos(a) * b + 2 * a + 1))
        for (a, b), (first, second) in zip(calls if held else calls[-1:], kept, strict=True):
            assert np.allclose(first[0], np.cos(a) * b + 2 * a + 1) and np.allclose(first[1], np.sin(a))
            assert np.allclose(second[1], 2 * np.sin(a))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [">f8", "<f8", "f4"])
def test_arguments_in_any_order_of_bytes(order, kind):
    staged = te.stage(lambda a: np.sum(a * a, axis=0))
    rng = np.random.default_rng(0)
    for _ in range(3):
        a = np.asarray(rng.normal(size=(4, 3)), kind, order=order)
        value, back = te.vjp(staged, a)
        assert np.array_equal(value, np.sum(a * a, axis=0))
        (found,) = back(np.ones_like(value))
        assert found.shape == a.shape and np.allclose(found, 2 * a)


@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (31, 33), (32, 32), (33, 32)])
@pytest.mark.parametrize("change", ["same", "reversed", "broadcast", "transposed", "narrow"])
def test_contributions_that_meet_in_one_array(shape, change):
    """Each use of an argument by a primitive adds a contribution, whose layout differs from that of the argument."""
    uses = {
        "same": lambda a: np.cumsum(a),
        "reversed": lambda a: np.cumsum(np.ravel(a)[::-1]),
        "broadcast": lambda a: np.cumsum(np.broadcast_to(a, (2, *shape))),
        "transposed": lambda a: np.cumsum(np.transpose(a)),
        "narrow": lambda a: np.cumsum(a.astype(np.float32)),
    }
    times = 2 if change == "broadcast" else 1
    n = int(np.prod(shape))
    a = np.random.default_rng(1).normal(size=shape)
    weights = np.arange(n * times, 0, -1.0).reshape(times, *shape)
    if change == "reversed":
        weights = np.arange(1.0, n + 1).reshape(1, *shape)
    elif change == "transposed":
        weights = np.transpose(np.arange(n, 0, -1.0).reshape(shape[::-1]))[None]
    plain = np.arange(n, 0, -1.0).reshape(shape)
    program = te.stage(lambda a: np.sum(np.cumsum(a)) + np.sum(uses[change](a)))
    for _ in range(2):
        assert np.allclose(te.grad(program)(a), plain + weights.sum(axis=0))


@pytest.mark.parametrize("argnums", [0, 1, -1, (0,), (1,), (0, 1), (1, 0), (2, 0), (-1, 0)])
def test_chosen_arguments_of_a_replay(argnums):
    def program(a, b, c=3.0):
        return a * a * b + b * c + c * c * a

    args = (2.0, 5.0, 3.0)
    whole = (2 * 2.0 * 5.0 + 9.0, 4.0 + 3.0, 5.0 + 2 * 3.0 * 2.0)
    wanted = tuple(whole[k] for k in argnums) if isinstance(argnums, tuple) else whole[argnums]
    staged = te.stage(program)
    for _ in range(3):
        assert te.grad(staged, argnums)(*args) == wanted
        assert te.value_and_grad(staged, argnums)(*args) == (program(*args), wanted)
    with pytest.raises(StructureError):
        te.grad(staged, 3)(*args)


@pytest.mark.parametrize("depth", [0, 1, 2, 31, 32, 33, 40])
@pytest.mark.parametrize("leaf", [1.5, np.float64(1.5), np.float32(1.5), 2, "text", np.array([1.5])])
def test_numbers_of_any_class_at_any_depth(depth, leaf):
    """A recording has doubles only; a number of another class runs as Python, however deep it lies."""

    def program(nest):
        while isinstance(nest, list):
            nest = nest[0]
        return nest * 2

    nest = leaf
    for _ in range(depth):
        nest = [nest]
    staged = te.stage(program)
    for _ in range(3):
        found = staged(nest)
        assert type(found) is type(leaf * 2) and found == leaf * 2
    assert (staged.stats().replays == 0) is (type(leaf) is np.float32)


def test_a_list_that_contains_itself():
    nest = [1.0]
    nest.append(nest)
    with pytest.raises(StructureError, match="contains itself"):
        te.vjp(te.stage(lambda x: x[0]), nest)


CHANGES = {
    "a keyword": lambda f: f.keywords.update(scale=7.0),
    "an attribute": lambda f: setattr(f, "shift", 7.0),
    "another attribute": lambda f: setattr(f, "more", 7.0),
    "its attributes": lambda f: setattr(f, "__dict__", {"shift": 7.0}),
    "its state": lambda f: f.__setstate__((f.func, (4.0,), {"scale": 5.0}, None)),
    "a list among its arguments": lambda f: f.keywords["rest"].append(9.0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_captured_partial_function_that_changes(change):
    def line(a, x, scale, rest=()):
        return a * x * scale + sum(rest)

    inner = functools.partial(line, 2.0, scale=3.0, rest=[1.0])
    inner.shift = 1.0

    def program(x):
        return inner(x) + getattr(inner, "shift", 0.0) + getattr(inner, "more", 0.0)

    staged = te.stage(program)
    for _ in range(3):
        assert staged(1.5) == program(1.5)
    CHANGES[change](inner)
    for _ in range(2):
        assert staged(1.5) == program(1.5)
    assert staged.stats().replays


ROWS = [0, 1, 2, 3, 50, 129]


@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("columns", ROWS)
@pytest.mark.parametrize("layout", ["C", "F", "padded", "reversed"])
def test_products_have_the_bits_of_numpy(rows, columns, layout):
    rng = np.random.default_rng(rows + 7 * columns)
    staged = te.stage(lambda matrix, vector: (matrix @ vector, np.sin(matrix) @ (vector * 2.0), vector @ vector))
    for _ in range(3):
        padded = rng.normal(size=(rows, columns + 2))
        matrix = {
            "C": padded[:, :columns].copy(),
            "F": np.asfortranarray(padded[:, :columns]),
            "padded": padded[:, :columns],
            "reversed": padded[::-1, :columns],
        }[layout]
        vector = rng.normal(size=columns)
        value, back = te.vjp(staged, matrix, vector)
        plain = (matrix @ vector, np.sin(matrix) @ (vector * 2.0), vector @ vector)
        assert [np.array_equal(*pair) for pair in zip(value, plain, strict=True)] == [True] * 3
        first, second = back((np.ones(rows), np.zeros(rows), 0.0))
        assert np.array_equal(first, np.broadcast_to(vector, matrix.shape))
        assert np.allclose(second, matrix.sum(axis=0))
    assert staged.refused is None and staged.stats().replays == 2
