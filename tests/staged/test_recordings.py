"""What a recording keeps until the program is called again, when a path is made of it."""

import copy
import gc
import itertools
import threading
import tracemalloc
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from leaves import bits

import tapeengine as te
from tapeengine.errors import StagingWarning

Program = Callable[..., Any]


def overwrite(x: Any) -> None:
    """Change all that can be changed in a structure, in place."""
    if isinstance(x, np.ndarray):
        x[...] = -7.0
    elif isinstance(x, list):
        for item in x:
            overwrite(item)
        x[:] = [-7.0 if isinstance(item, float) else item for item in x]
    elif isinstance(x, dict):
        for item in x.values():
            overwrite(item)
        x.update({key: -7.0 for key, item in x.items() if isinstance(item, float)})
    elif isinstance(x, tuple):
        for item in x:
            overwrite(item)


def ascending(xs: Any) -> Any:
    xs[1] = xs[0] * xs[1]
    return {"xs": [*xs, 1.0], "sum": sum(xs)}


def of_array(a: Any) -> Any:
    a[0] = a[1] * 2.0
    return {"a": a, "view": a[1:], "constant": np.ones(2), "sum": a.sum()}


PROGRAMS: dict[str, tuple[Program, tuple[Any, ...]]] = {
    "list": (ascending, ([0.5, 2.0, 3.0],)),
    "array": (of_array, (np.array([0.5, 2.0, 3.0]),)),
    "both": (lambda xs, a: (xs[0] * a, [xs, a.sum()]), ([0.5, 1.5], np.array([1.0, 2.0]))),
    "discrete": (lambda x, n: ([x * n[0], n], {"n": n}), (0.5, [2, 3])),
    "integers": (lambda a, n: (a[n], n), (np.array([1.0, 2.0]), np.array([1, 0, 1]))),
    "transposed": (lambda a: (a @ a.T, a.T), (np.asfortranarray(np.arange(6.0).reshape(2, 3)),)),
    "numpy": (lambda x: {"x": x * 2.0, "one": np.float64(1.0)}, (np.float64(1.5),)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_changes_after_the_first_call_is_kept(name: str) -> None:
    program, args = PROGRAMS[name]
    staged = te.stage(program)
    for repeat in range(3):
        mine, yours = copy.deepcopy(args), copy.deepcopy(args)
        value, back = te.vjp(staged, *mine)
        wanted, _ = te.vjp(program, *yours)
        assert bits(value) == bits(wanted), repeat
        overwrite(mine)
        overwrite(value)
        del back
    assert staged.refused is None and staged.stats().recordings == 1 and staged.stats().replays == 2


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_first_call_within_a_trace(name: str) -> None:
    """The program runs there on numbers of the outer trace, and is replayed outside, where it is recorded."""
    program, args = PROGRAMS[name]

    def outer(staged: Program) -> Callable[[Any], Any]:
        return lambda t: te.vjp(staged, *scaled(copy.deepcopy(args), t))[0]

    staged = te.stage(program)
    for _ in range(3):
        assert bits(te.vjp(outer(staged), 1.0)[0]) == bits(te.vjp(outer(program), 1.0)[0])
        mine, yours = copy.deepcopy(args), copy.deepcopy(args)
        assert bits(te.vjp(staged, *mine)[0]) == bits(te.vjp(program, *yours)[0])
    assert staged.refused is None


def scaled(x: Any, t: Any) -> Any:
    """A structure whose numbers are numbers of a trace."""
    if isinstance(x, (list, tuple)):
        return type(x)(scaled(item, t) for item in x)
    return x if isinstance(x, int) or getattr(x, "dtype", np.float64) == np.int64 else x * t


def test_paths_in_any_order_of_first_calls() -> None:
    def program(x: Any) -> Any:
        return sum((x * k for k in range(int(x))), 0.0)

    for order in itertools.permutations([0.5, 1.5, 2.5, 1.25]):
        staged = te.stage(program)
        for x in (*order, *order):
            assert te.value_and_grad(staged)(x) == te.value_and_grad(program)(x)
        assert staged.stats().recordings == 3 and staged.stats().replays == 5


def test_a_captured_array_that_changes_before_the_second_call() -> None:
    table = np.array([1.0, 2.0])
    staged = te.stage(lambda x: (x * table).sum())
    assert staged(2.0) == 6.0
    table[0] = 5.0
    assert [staged(2.0) for _ in range(3)] == [14.0] * 3
    assert staged.stats().recordings == 2 and staged.stats().changes == 1


def test_what_only_the_path_shows_is_refused_before_the_second_call() -> None:
    staged = te.stage(lambda x: te.math.frexp(x)[0] * x)
    assert staged(5e-324) == 0.0
    with pytest.warns(StagingWarning, match="computes values that no opcode explains"):
        assert [staged(1.25) for _ in range(3)] == [0.78125] * 3
    assert staged.refused is not None


def test_a_program_that_calls_itself() -> None:
    @te.stage
    def power(x: Any, n: int) -> Any:
        return x * power(x, n - 1) if n else 1.0

    for n in (3, 3, 2, 5, 5):
        assert te.value_and_grad(power, 0)(1.5, n) == (1.5**n, n * 1.5 ** (n - 1))


def test_a_recording_is_deleted_with_its_program() -> None:
    def made() -> Any:
        table = {"a": np.ones(3)}
        staged = te.stage(lambda a: (a * table["a"]).sum())
        table["self"] = staged
        staged(np.ones(3))
        return weakref.ref(staged.program)

    gone = made()
    gc.collect()
    assert gone() is None


def test_threads_that_call_first() -> None:
    def program(x: Any) -> Any:
        for _ in range(50):
            x = x * 0.9 if x > 0.5 else x + 1.0
        return x

    for _ in range(20):
        staged = te.stage(program)
        points = [0.1 * k for k in range(12)]
        wanted = [te.value_and_grad(program)(x) for x in points]
        found: list[Any] = []
        start = threading.Barrier(4)

        def work(staged: Any = staged, start: Any = start, found: Any = found, points: Any = points) -> None:
            start.wait()
            found.append([te.value_and_grad(staged)(x) for x in points])

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [wanted] * 4 and staged.refused is None


def blocks_of_recording(operations: int) -> int:
    """The blocks of memory that a recording of elementwise operations keeps."""

    def program(x: Any) -> Any:
        for _ in range(operations):
            x = x + x
        return x

    staged, x = te.stage(program), np.zeros(4)
    tracemalloc.start()
    staged(x)
    found = tracemalloc.take_snapshot()
    tracemalloc.stop()
    return sum(statistic.count for statistic in found.statistics("filename"))


def test_a_recorded_operation_takes_one_block_for_each_operand_and_two_more() -> None:
    blocks_of_recording(1000)  # from now on lists of free objects are full
    assert (blocks_of_recording(3000) - blocks_of_recording(1000)) / 2000 <= 4.1
