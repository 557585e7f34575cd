"""Staged programs of arrays: a replay gives the bits of `te.vjp`, whatever the program reads, writes and looks at.

`TAPEENGINE_PROGRAMS=first:last` runs the random programs of some seeds.
"""

from __future__ import annotations

import os
import queue
import tracemalloc
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import numpy_calls
import pytest
from arrays.random_arrays import Program
from arrays.test_random_arrays import programs
from leaves import bits

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import CotangentError, StagingWarning

FIRST, LAST = map(int, os.environ.get("TAPEENGINE_PROGRAMS", "0:200").split(":"))
GROUP = 25


def cotangent_of(value: Any) -> Any:
    """A cotangent with different numbers at each place; None if the value has no derivative."""
    if isinstance(value, (list, tuple)):
        parts = [cotangent_of(part) for part in value]
        return type(value)(parts) if type(value) in (list, tuple) else type(value)(*parts)
    if isinstance(value, dict):
        return {key: cotangent_of(part) for key, part in value.items()}
    array = numpy.asarray(value)
    if array.dtype.kind not in "fc":
        return None
    numbers = numpy.linspace(0.5, 1.5, array.size).reshape(array.shape).astype(array.dtype)
    return numbers if isinstance(value, numpy.ndarray) else numbers.item()


def outcome(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except (ArithmeticError, ValueError, numpy.linalg.LinAlgError) as error:
        return type(error).__name__


def both(program: Callable[..., Any], primals: tuple[Any, ...]) -> Any:
    """The bits of value and cotangents, of two calls of the backpropagator."""

    def run() -> Any:
        value, back = te.vjp(program, *primals)
        cotangent = cotangent_of(value)
        return bits(value), bits(back(cotangent)), bits(back(cotangent))

    return outcome(run)


def agree(program: Callable[..., Any], points: list[tuple[Any, ...]]) -> Any:
    """The staged program, after comparing its results at points, in sequence and while other results are in use."""
    staged = te.stage(program)
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted = [both(program, point) for point in points]
        for _ in range(2):
            assert [both(staged, point) for point in points] == wanted
        held = [outcome(lambda point=point: te.vjp(staged, *point)) for point in points]  # type: ignore[misc]
        for found, result in zip(held, wanted, strict=True):
            if not isinstance(found, str):
                value, back = found
                assert (bits(value), bits(back(cotangent_of(value)))) == result[:2]
        for point, result in zip(points, wanted, strict=True):
            value = outcome(lambda point=point: staged(*point))  # type: ignore[misc]
            assert value == result if isinstance(value, str) else bits(value) == result[0]
    return staged


@pytest.mark.parametrize("first", range(FIRST, LAST, GROUP))
def test_a_random_program_is_replayed_to_the_last_bit(first: int) -> None:
    replayed = 0
    for program in programs(first, min(first + GROUP, LAST)):
        try:
            replayed += checked(program)
        except AssertionError as error:
            raise AssertionError(f"this program fails:\n\n{program.script()}\n{error}") from error
    assert replayed >= 0.9 * GROUP


def checked(program: Program) -> bool:
    """Whether a random program was replayed, after checking it."""
    function = program.function()
    steps = ([numpy.zeros_like(t) for t in program.tangents], [0.1 * t for t in program.tangents], program.others)
    points = [tuple(program.primals(step)) for step in steps]
    staged = agree(lambda *primals: function(np, lambda **live: None, *primals), points)
    return staged.refused is None and staged.stats().replays > 0


@pytest.mark.parametrize("call", numpy_calls.calls(), ids=[call.name for call in numpy_calls.calls()])
def test_a_numpy_call_is_replayed_to_the_last_bit(call: numpy_calls.Call) -> None:
    other = tuple(moved(primal) for primal in call.primals)
    staged = agree(lambda *primals: call.program(np, *primals), [call.primals, other])
    assert staged.refused is None and staged.stats().replays > 0


def moved(primal: Any) -> Any:
    """Numbers nearby, some of which are in another order."""
    if isinstance(primal, (list, tuple)):
        return type(primal)(map(moved, primal))
    if isinstance(primal, float):
        return primal + 0.01
    if isinstance(primal, numpy.ndarray) and primal.dtype.kind in "fc":
        return primal * (1.0 + 0.02 * numpy.cos(numpy.arange(primal.size)).reshape(primal.shape)).astype(primal.dtype)
    return primal


# -- what a program looks at -------------------------------------------------------------------------------------------
LOOKS: dict[str, Callable[[Any], Any]] = {
    "compared": lambda x: np.where(x > 0.0, x, x * x),
    "compared on the right": lambda x: x[numpy.zeros(3) < x],
    "compared with a number of it": lambda x: x * (x > x[1]),
    "compared with a list": lambda x: x if (x == [1.0, 2.0, 3.0]).all() else 2.0 * x,
    "contained": lambda x: x if 1.0 in x else 2.0 * x,
    "its largest": lambda x: x[np.argmax(x)] * x,
    "in order": lambda x: x[np.argsort(x)] * np.arange(3.0),
    "sorted": lambda x: np.sort(x) * np.arange(3.0),
    "not zero": lambda x: x[np.nonzero(np.maximum(x, 0.0))[0]] * 2.0,
    "whole numbers": lambda x: x * x.astype(int),
    "whole numbers of a list": lambda x: x * np.array([x[0], x[1], 3.0], dtype=int),
    "rounded": lambda x: x * np.floor(x),
    "signs": lambda x: x * np.sign(x),
    "finite": lambda x: x if np.isfinite(1.0 / x).all() else 2.0 * x,
    "text": lambda x: x * len(repr(x)),
    "values": lambda x: x * te.value(x),
    "bytes": lambda x: x * te.value(x).tobytes()[0],
    "truth": lambda x: x if x[:1] else 2.0 * x,
    "integer": lambda x: x * int(x[:1].reshape(())),
    "zeros": lambda x: np.trim_zeros(x) * 2.0,
    "different values": lambda x: np.unique(x) * 2.0,
    "bins": lambda x: x * np.searchsorted(np.array([0.0, 1.5, 2.5]), x),
    "close": lambda x: x if np.allclose(x, 1.0) else 2.0 * x,
    "rank": lambda x: x * np.linalg.matrix_rank(np.outer(x, x)),
    "pieces": lambda x: np.piecewise(x, [x < 0.0], [lambda y: -y, lambda y: y * y]),
    "the form": lambda x: x * len(x) + np.zeros_like(x) + np.ones(np.shape(x)) * np.ndim(x),
    "a mask": lambda x: masked(x),
    "what raises": lambda x: inverse(x),
}


def inverse(x: Any) -> Any:
    try:
        return np.linalg.inv(np.outer(x, x[::-1]) + np.eye(3) * x[1])
    except numpy.linalg.LinAlgError:
        return 2.0 * x


def masked(x: Any) -> Any:
    result = np.zeros(3)
    result[x > 1.0] = x[x > 1.0]
    return result


POINTS = [[1.0, 2.0, 3.0], [1.5, -0.5, 2.0], [3.0, 0.0, -1.0], [0.0, 0.0, 0.0], [-0.0, 1.0, 1.0], [1.0, 2.0, 3.5]]


@pytest.mark.parametrize("name", LOOKS)
def test_whatever_a_program_looks_at(name: str) -> None:
    agree(LOOKS[name], [(numpy.array(point),) for point in POINTS])


def test_what_leaves_the_form_alone_is_one_recording() -> None:
    assert agree(LOOKS["the form"], [(numpy.array(point),) for point in POINTS]).stats().recordings == 1


# -- arguments and results ---------------------------------------------------------------------------------------------
def test_layouts_types_and_flags_belong_to_a_recording() -> None:
    x = numpy.arange(12.0).reshape(3, 4)
    locked = x.copy()
    locked.flags.writeable = False
    forms = [x, numpy.asfortranarray(x), x[:, ::2], x[::-1], x.astype("f"), x + 0j, locked, x[:2]]
    staged = agree(lambda a: np.sum(np.sin(a) @ np.ones(a.shape[1]), axis=0), [(form,) for form in forms])
    assert staged.stats().recordings == staged.stats().forms == len(forms)


def test_what_a_program_writes_is_its_own() -> None:
    def program(a: Any, b: Any) -> Any:
        a[0] = b[1] * 2.0
        a *= b
        return a

    x, y = numpy.array([1.0, 2.0]), numpy.array([3.0, 4.0])
    staged = te.stage(program)
    first = staged(x, y)
    assert bits(staged(x, y)) == bits(first)
    assert x.tolist() == [1.0, 2.0]
    first[:] = 0.0
    assert staged(x, y).tolist() == [24.0, 8.0]
    with pytest.raises(te.errors.UnsupportedError, match="shares memory"):
        staged(x, x)


def test_results_that_are_views_of_one_array_stay_so() -> None:
    staged = te.stage(lambda a: (lambda b: (b[:2], b[1:], b))(a * 2.0))
    for _ in range(2):
        one, other, whole = staged(numpy.arange(3.0))
        assert numpy.shares_memory(one, other) and numpy.shares_memory(one, whole)


def test_a_constant_that_changes_after_its_use() -> None:
    def program(x: Any) -> Any:
        table = numpy.ones(100)
        first = (x * table).sum()
        table[0] = 5.0
        return first + (x * table).sum()

    agree(program, [(2.0,), (3.0,)])


def test_backpropagators_outlive_other_replays() -> None:
    staged = te.stage(lambda a: np.sum(np.exp(a) * a))
    points = [numpy.full(3, float(k)) for k in range(6)]
    backs = [te.vjp(staged, point)[1] for point in points]
    for point, back in zip(points, backs, strict=True):
        assert bits(back(1.0)) == bits(te.vjp(staged.program, point)[1](1.0))


def test_transforms_take_a_staged_program_of_arrays() -> None:
    def program(a: Any) -> Any:
        return np.sum(a * a * a) * a[0]

    staged, x = te.stage(program), numpy.array([1.0, 2.0, 3.0])
    for _ in range(2):
        assert bits(te.value_and_grad(staged)(x)) == bits(te.value_and_grad(program)(x))
        assert bits(te.hessian(staged)(x)) == bits(te.hessian(program)(x))
        assert bits(te.jacobian(lambda a: staged(a))(x)) == bits(te.jacobian(program)(x))
        assert bits(te.jvp(staged, (x,), (x,))) == bits(te.jvp(program, (x,), (x,)))
        assert bits(te.grad(lambda a: staged(a) ** 2)(x)) == bits(te.grad(lambda a: program(a) ** 2)(x))
        assert bits(te.vmap(staged)(numpy.stack([x, x]))) == bits(te.vmap(program)(numpy.stack([x, x])))
    staged.verify(x)
    assert "compute multiply" in str(staged)


def test_what_is_not_replayed_says_so() -> None:
    def with_traced_rule(a: Any) -> Any:
        own = te.custom_vjp(lambda b: b * 2.0)
        own.defvjp(lambda b: (b * 2.0, None), lambda kept, ct: (a[0] * 3.0 * ct,))
        return np.sum(own(a))

    staged = te.stage(with_traced_rule)
    with pytest.warns(StagingWarning, match="a derivative of its own"):
        assert te.grad(staged)(numpy.ones(2)).tolist() == [3.0, 3.0]
    staged = te.stage(lambda a: a * 2.0)
    staged(numpy.ones(2))
    with pytest.raises(te.errors.StagingError, match="arrays"):
        staged.to_c()


# -- counts ------------------------------------------------------------------------------------------------------------
def test_the_python_of_a_program_runs_once() -> None:
    runs = queue.SimpleQueue[None]()  # shows nothing of its contents, so they are not compared

    def program(a: Any) -> Any:
        for _ in range(20):
            a = np.tanh(a * 2.0 + 1.0)
        return np.sum(a)

    def counting(a: Any) -> Any:
        runs.put(None)
        return program(a)

    staged = te.stage(counting)
    for k in range(5):
        te.grad(staged)(numpy.full(3, float(k)))
    assert runs.qsize() == 1
    assert staged.stats().replays == 4


def long_chain(x: Any, y: Any) -> Any:
    """Elementwise operations, sums, products and gathers of arrays that are large enough for buffers of their own."""
    z = np.tanh(x * y + x) / (y * y + 1.0)
    z = z * np.sum(z * z, axis=1)[:, None] - x
    z = z[numpy.arange(len(x))[::-1]] @ (y.T @ x) + z
    return np.exp(-z * z)


def large(seed: int) -> tuple[Any, Any]:
    draw = numpy.random.default_rng(seed).normal
    return draw(size=(600, 4)), draw(size=(600, 4))


def test_results_that_are_kept_do_not_change() -> None:
    staged = te.stage(long_chain)
    kept = []
    for seed in range(12):
        primals = large(seed)
        value, back = te.vjp(staged, *primals)
        cotangent = numpy.linspace(-1.0, 2.0, value.size).reshape(value.shape)
        kept.append((primals, cotangent, value, back, back(cotangent)))
    assert staged.stats().replays >= 11
    for primals, cotangent, value, back, found in kept:
        wanted, wanted_back = te.vjp(long_chain, *primals)
        assert bits(value) == bits(wanted)
        assert bits(list(found)) == bits(list(wanted_back(cotangent)))
        assert bits(list(back(cotangent))) == bits(list(found))


def test_parts_of_cotangents_that_are_kept_do_not_change() -> None:
    staged = te.stage(lambda x: np.sum((x[:, 1:] * x[:, :-1]) * np.exp(x[:, :1])))
    staged(large(0)[0])
    first = te.grad(staged)(large(1)[0])
    part, copy = first[5:, 1], first.copy()
    del first
    for seed in range(2, 8):
        te.grad(staged)(large(seed)[0])
    assert bits(part) == bits(copy[5:, 1])


def test_an_error_in_a_sweep_leaves_the_buffers_usable() -> None:
    staged = te.stage(long_chain)
    for seed in range(4):
        value, back = te.vjp(staged, *large(seed))
        with pytest.raises(CotangentError):
            back(value[:1])
        assert bits(list(back(value))) == bits(list(te.vjp(long_chain, *large(seed))[1](value)))


def test_a_sweep_of_a_replay_allocates_its_result_and_little_more() -> None:
    size = 20_000

    def run(x: Any) -> Any:
        for _ in range(6):
            x = x * x + x / (x * x + 1.0)
        return x

    staged = te.stage(run)
    x = numpy.linspace(0.1, 0.2, size)
    for _ in range(3):
        value, back = te.vjp(staged, x)
        back(value)
    tracemalloc.start()
    try:
        found = back(value)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found[0].nbytes <= most <= 1.5 * found[0].nbytes


def test_a_replay_allocates_its_value_and_little_more() -> None:
    index = numpy.arange(300)[::-1].copy()

    def run(x: Any) -> Any:
        for _ in range(3):
            x = np.maximum(x[index] @ x.T, 0.5) ** 0.5 + x.T
        return x

    staged = te.stage(run)
    x = numpy.random.default_rng(0).random((300, 300))
    for seed in range(3):
        staged(x + seed)
    tracemalloc.start()
    try:
        value = staged(x)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert bits(value) == bits(run(x))
    assert value.nbytes <= most <= 1.5 * value.nbytes


@pytest.mark.parametrize("places", [[0, -1, 2, 2], [[1, -3], [0, 0]], []])
@pytest.mark.parametrize("shape", [(3,), (3, 2), (3, 2, 2)])
def test_gathers_are_replayed(shape: tuple[int, ...], places: Any) -> None:
    index = numpy.array(places, int)
    staged = te.stage(lambda x: (x * 2.0)[index])
    for seed in range(3):
        x = numpy.random.default_rng(seed).normal(size=shape)
        value, back = te.vjp(staged, x)
        wanted, wanted_back = te.vjp(lambda x: (x * 2.0)[index], x)
        assert bits(value) == bits(wanted)
        assert bits(list(back(cotangent_of(value)))) == bits(list(wanted_back(cotangent_of(value))))
    assert staged.stats().replays == 2


DECISIONS: dict[str, Callable[[Any, Any], Any]] = {
    "number": lambda a, x: x > 0.5,
    "part": lambda a, x: int(x * 2.0),
    "array": lambda a, x: np.any(a > 1.0),
    "place": lambda a, x: np.argmax(a),
    "inner": lambda a, x: te.grad(lambda z: z * z if z > 0.25 else z)(x) > 1.0,
}


@pytest.mark.parametrize("second", DECISIONS)
@pytest.mark.parametrize("first", DECISIONS)
def test_decisions_on_numbers_and_on_arrays_keep_their_order(first: str, second: str) -> None:
    """No operation lies between them. The first decides whether there is a second one."""

    def program(a: Any, x: Any) -> Any:
        if DECISIONS[first](a, x):
            return np.sum(a * a) * (x if DECISIONS[second](a, x) else 2.0 * x)
        return np.sum(a) * x

    staged = te.stage(program)
    for a in (numpy.array([0.5, 0.75]), numpy.array([2.0, 0.75]), numpy.array([0.5, 3.0])):
        for x in (0.125, 0.375, 0.75, 1.25):
            assert bits(te.value_and_grad(staged, (0, 1))(a, x)) == bits(te.value_and_grad(program, (0, 1))(a, x))
    assert staged.refused is None


@pytest.mark.parametrize("dead", [np.max, np.median, numpy.linalg.norm, np.mean, np.sum, lambda a: np.sort(a)[0, 1]])
def test_what_nothing_needs_contributes_nothing(dead: Any) -> None:
    """A zero that is added to a negative zero would change its sign."""

    def program(a: Any, b: Any) -> Any:
        dead(a)
        return np.sum(a * b)

    staged, a, b = te.stage(program), numpy.array([[1.0, 2.0], [3.0, 4.0]]), numpy.array([[1.0, -0.0], [-0.0, 2.0]])
    assert numpy.signbit(te.grad(program)(a, b)).tolist() == [[False, True], [True, False]]
    for _ in range(3):
        assert bits(te.grad(staged)(a, b)) == bits(te.grad(program)(a, b))


# -- programs of which some paths compute arrays -----------------------------------------------------------------------
def sometimes_arrays(x: Any) -> Any:
    if x > 1.0:
        return np.sum(np.asarray([x, x * x]) * 2.0)
    return x * 3.0 if x > 0.0 else x * x


@pytest.mark.parametrize("first", [2.0, 0.5, -1.0])
def test_paths_with_and_without_arrays(first: float) -> None:
    staged = te.stage(sometimes_arrays, optimise="native")
    for x in (first, 2.0, 0.5, -1.0, 3.0, 0.25, -2.0, first):
        assert te.value_and_grad(staged)(x) == te.value_and_grad(sometimes_arrays)(x)
    assert staged.stats().recordings == 3


@pytest.mark.parametrize("first", [2.0, 0.5])
def test_lanes_with_and_without_arrays(first: float) -> None:
    staged = te.stage(sometimes_arrays)
    xs = numpy.array([first, 0.5, 2.0, -1.0, 3.0, 0.25, -2.0])
    for _ in range(2):
        value, back = te.vjp(te.vmap(staged), xs)
        wanted = [te.value_and_grad(sometimes_arrays)(float(x)) for x in xs]
        assert [(v, g) for v, g in zip(value, back(numpy.ones(7))[0], strict=True)] == wanted


def test_one_path_writes_into_arguments_that_share_memory() -> None:
    def program(a: Any, b: Any, s: float) -> Any:
        if s > 0.0:
            a[0] = b[1] * s
        return np.sum(a * b)

    def outcome(f: Any, *args: Any) -> Any:
        try:
            return [numpy.asarray(x).tolist() for x in te.value_and_grad(f, (0, 1, 2))(*args)[1]]
        except te.errors.TapeEngineError as error:
            return type(error)

    staged, shared = te.stage(program), numpy.array([1.0, 2.0, 3.0])
    for s in (-1.0, 1.0):
        staged(shared.copy(), shared.copy(), s)
    for s in (-2.0, 2.0):
        for pair in ((shared, shared), (shared[:2], shared[1:]), (shared, shared.copy())):
            assert outcome(staged, *pair, s) == outcome(program, *pair, s)


# -- operations that nothing needs -------------------------------------------------------------------------------------
def test_operations_that_nothing_needs_change_no_bit() -> None:
    def program(x: Any, y: Any) -> Any:
        np.exp(x)
        total = x * y
        (total * total).sum()
        unused = total @ total
        unused = unused * y[0]
        weights = np.zeros(3) + 2.0
        written = np.zeros(3)
        written[1] = x[0]
        other = np.zeros(3)
        other[2] = y[0]
        changed = x * 3.0
        changed[0] = y[2]
        return (total * weights).sum() + written[1], np.sin(changed[1:])

    staged, xs = te.stage(program), numpy.array([0.5, 1.0, 2.0])
    staged(xs, xs)
    for k in (1.0, -1.5, 0.0):
        value, back = te.vjp(staged, k * xs, xs + k)
        wanted, wanted_back = te.vjp(program, k * xs, xs + k)
        cotangent = (0.5, numpy.array([1.0, -2.0]))
        assert str(value) == str(wanted)
        assert str(back(cotangent)) == str(wanted_back(cotangent))
    assert staged.stats().replays == 3


def test_an_operation_that_may_raise_is_needed() -> None:
    def program(a: Any, x: Any) -> Any:
        numpy.linalg.inv(a)
        numpy.add.at(x, [0, 0], 1.0)
        te.math.log(x[0])
        return (a * x).sum()

    staged = te.stage(program)
    for a, x in ((numpy.eye(2), numpy.ones(2)), (numpy.eye(2) * 2.0, numpy.ones(2) * 3.0)):
        assert staged(a, x.copy()) == program(a, x.copy())
    assert staged.stats().replays == 1
    with pytest.raises(numpy.linalg.LinAlgError):
        staged(numpy.zeros((2, 2)), numpy.ones(2))
    with pytest.raises(ValueError, match=r"math domain error|positive"):
        staged(numpy.eye(2), numpy.full(2, -3.0))


BINARY = [
    f for f in vars(numpy).values() if isinstance(f, numpy.ufunc) and (f.nin, f.nout, f.signature) == (2, 1, None)
]


@pytest.mark.parametrize("ufunc", sorted(set(BINARY), key=lambda f: f.__name__), ids=lambda f: f.__name__)
def test_a_replay_warns_of_what_the_program_warns_of(ufunc: Any) -> None:
    """numpy deprecates some ways to call some functions, such as a third argument of maximum."""
    staged = te.stage(lambda x, y: numpy.sum(ufunc(x, y) * x))
    arguments = numpy.array([0.3, 1.7]), numpy.array([0.6, 0.2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            wanted = te.vjp(staged.__wrapped__, *arguments)[0]
        except (TypeError, te.errors.TapeEngineError):  # of integers, or without a derivative
            return
        assert [bits(te.vjp(staged, *arguments)[0]) for _ in range(3)] == [bits(wanted)] * 3
