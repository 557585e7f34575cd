"""Counts prove the complexity (DN 7): each backpropagator at most once, contributions at most the sum of arities."""

from typing import Any

import pytest
from jacobians import leaves, with_leaves
from programs import PROGRAMS, Program

every_program = pytest.mark.parametrize("program", PROGRAMS, ids=str)


def ones(value: Any) -> Any:
    return with_leaves(value, iter([1.0] * len(leaves(value))))


@every_program
def test_each_backpropagator_is_called_at_most_once(core: Any, program: Program) -> None:
    value, backpropagator = core.vjp(lambda *xs: program.run(core.math, *xs), *program.inputs)
    calls, contributions = backpropagator.count(ones(value))
    records = list(backpropagator.tape.records())
    assert calls <= len(records) == len(backpropagator.tape)
    assert contributions <= sum(len(parents) for _, _, parents, _ in records)


@every_program
def test_a_record_has_at_most_two_parents_and_all_are_older(core: Any, program: Program) -> None:
    _, backpropagator = core.vjp(lambda *xs: program.run(core.math, *xs), *program.inputs)
    for i, name, parents, partials in backpropagator.tape.records():
        # the relu of a negative number has no parent, so that nothing reaches its operand
        assert (name != "input") <= len(parents) == len(partials) <= 2, name
        assert all(0 < parent < i for parent in parents)


@every_program
def test_both_cores_leave_the_same_records(cores: Any, program: Program) -> None:
    tapes = [core.vjp(lambda *xs, m=core.math: program.run(m, *xs), *program.inputs)[1].tape for core in cores]
    ours, theirs = ([tuple(record) for record in tape.records()] for tape in tapes)
    assert repr(ours) == repr(theirs)


@every_program
def test_both_cores_count_the_same(cores: Any, program: Program) -> None:
    counts = []
    for core in cores:
        value, backpropagator = core.vjp(lambda *xs, m=core.math: program.run(m, *xs), *program.inputs)
        counts.append(tuple(backpropagator.count(ones(value))))
    assert counts[0] == counts[1]


def test_sharing_is_factored(core: Any) -> None:
    """Ten levels of eightfold sharing have 8**10 paths, and nine calls per level."""

    def program(x: Any) -> Any:
        for _ in range(10):
            x = (x + x + x + x + x + x + x + x) * 0.125 + 0.01
        return x

    _, backpropagator = core.vjp(program, 0.6)
    assert tuple(backpropagator.count(1.0)) == (90, 160)


@pytest.mark.parametrize("levels", [1, 5, 50, 500])
def test_duplication_costs_one_call_a_level(core: Any, levels: int) -> None:
    def program(x: Any) -> Any:
        for _ in range(levels):
            x = x + x
        return x

    value, backpropagator = core.vjp(program, 1.0)
    assert tuple(backpropagator.count(1.0)) == (levels, 2 * levels)
    assert backpropagator(1.0) == (2.0**levels,) == (value,)


def test_only_what_the_cotangent_reaches_is_called(core: Any) -> None:
    def program(x: Any, y: Any) -> Any:
        first = x * y + x
        second = core.math.sin(y)
        return first, second

    _, backpropagator = core.vjp(program, 2.0, 3.0)
    assert len(backpropagator.tape) == 3
    assert tuple(backpropagator.count((1.0, 0.0))) == (2, 4)
    assert tuple(backpropagator.count((0.0, 1.0))) == (1, 1)
    assert tuple(backpropagator.count((0.0, 0.0))) == (0, 0)


def test_an_unused_result_is_recorded_but_not_called(core: Any) -> None:
    def program(x: Any) -> Any:
        for _ in range(100):
            core.math.sin(x)
        return x * 2.0

    _, backpropagator = core.vjp(program, 1.0)
    assert len(backpropagator.tape) == 101
    assert tuple(backpropagator.count(1.0)) == (1, 1)


def test_discrete_results_leave_no_record(core: Any) -> None:
    def program(x: Any) -> Any:
        return [x > 1, x == 2, x != 2, bool(x), int(x), round(x), x // 1, core.math.floor(x), str(x)]

    _, backpropagator = core.vjp(program, 2.0)
    assert len(backpropagator.tape) == 0


def test_constants_are_no_parents(core: Any) -> None:
    _, backpropagator = core.vjp(lambda x: (2 * x + 1) / 4 - 3.0, 2.0)
    assert [len(parents) for _, _, parents, _ in backpropagator.tape.records()] == [1, 1, 1, 1]


def test_counting_is_a_call_of_its_own(core: Any) -> None:
    """A backpropagator called three times, and counted in between, gives the same result each time."""
    _, backpropagator = core.vjp(lambda x, y: x * y * x, 2.0, 3.0)
    results = [backpropagator(1.0), tuple(backpropagator.count(1.0)), backpropagator(1.0), backpropagator(-2.0)]
    assert results == [(12.0, 4.0), (2, 4), (12.0, 4.0), (-24.0, -8.0)]


def test_bytes_grow_with_the_tape(core: Any) -> None:
    def program(x: Any, n: int) -> Any:
        for _ in range(n):
            x = x * 1.0
        return x

    small, large = (core.vjp(lambda x, n=n: program(x, n), 1.0)[1].tape for n in (10, 200_000))
    assert 0 < small.nbytes < large.nbytes


def test_a_record_takes_at_most_25_bytes(cores: Any) -> None:
    compiled, _ = cores

    def program(x: Any) -> Any:
        for _ in range(10 * 2**15 - 8):
            x = x * 1.0
        return x

    tape = compiled.vjp(program, 1.0)[1].tape
    assert tape.nbytes / len(tape) < 25.1
