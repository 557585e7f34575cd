"""Numbers that nothing needs, or some paths only: a replay has the bits and the errors of the program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeengine as te

#: Operations of two numbers; the last ones may raise an error.
STEPS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: -a * 0.5,
    lambda a, b: 2.0 - b,
    lambda a, b: max(a, b),
    lambda a, b: abs(a) + 1.0,
    lambda a, b: a / b,
    lambda a, b: te.math.sin(a),
    lambda a, b: te.math.sqrt(b),
)
POINTS = [[x, y, z] for x in (-1.5, 0.0, 0.75) for y in (-0.5, 1.25) for z in (0.5, 2.0)]


def random_program(seed: int, checks: bool) -> Callable[[Any], Any]:
    """A program of which most numbers are needed on some of its paths only, or on none."""
    rng = np.random.default_rng(seed)
    plan = [(int(rng.integers(len(STEPS))), *map(int, rng.integers(0, 3 + k, 2))) for k in range(12)]
    ends = [int(k) for k in rng.integers(3, 15, 4)]

    def program(xs: Any) -> Any:
        values = list(xs)
        for k, (step, a, b) in enumerate(plan):
            values.append(STEPS[step](values[a], values[b]))
            if checks and k % 4 == 3 and values[a] < values[b]:
                return values[ends[k // 4] % len(values)] * values[0], [values[0], values[1]]
        return values[ends[-1]] * values[1], [values[2], values[2] - 1.0]

    return program


def outcome(run: Callable[[], Any]) -> Any:
    """The bits of a value and its cotangents, or the error."""
    try:
        value, back = run()
        cotangents = back((1.25, [0.5] * len(value[1])))
    except (ArithmeticError, ValueError) as error:
        return type(error), str(error)
    return np.hstack([value[0], *value[1:], *cotangents]).tobytes()


@pytest.mark.parametrize("optimise", [True, "native"])
@pytest.mark.parametrize("checks", [False, True])
def test_no_bit_changes(checks: bool, optimise: Any) -> None:
    for seed in range(60 if optimise is True else 6):
        program = random_program(seed, checks)
        staged, kept = te.stage(program, optimise=optimise), te.stage(program, optimise=False)
        for point in (*POINTS, *POINTS, *POINTS[::-1]):
            wanted = outcome(lambda: te.vjp(program, point))  # noqa: B023
            assert outcome(lambda: te.vjp(staged, point)) == wanted, (seed, point)  # noqa: B023
            assert outcome(lambda: te.vjp(kept, point)) == wanted, (seed, point)  # noqa: B023
        counts, others = staged.stats(), kept.stats()
        assert (counts.recordings, counts.paths) == (others.recordings, others.paths)


def test_each_path_needs_other_numbers() -> None:
    def program(x: float, y: float) -> float:
        a, b, c = x * y, x + y, x - y
        if y > 0.0:
            return a * x
        if y > -1.0:
            return b * x
        return c * x

    staged = te.stage(program)
    for y in (1.0, -0.5, -2.0, 1.5, -0.25, -3.0):
        assert te.value_and_grad(staged, (0, 1))(3.0, y) == te.value_and_grad(program, (0, 1))(3.0, y)
        assert staged.refused is None
    stats = staged.stats()
    assert (stats.recordings, stats.replays, stats.paths) == (3, 3, 3)


@pytest.mark.parametrize(
    "operation", [lambda x: 1.0 / x, te.math.log, te.math.sqrt, lambda x: te.math.pow(x, -1.5), te.math.exp]
)
def test_an_unused_number_may_raise_an_error(operation: Callable[[Any], Any]) -> None:
    def program(x: float) -> float:
        operation(x * 1.0)
        return x + 1.0

    staged = te.stage(program)
    for x in (1.0, 2.0, 0.0, -1.0, 1e3, 3.0):
        assert outcome_of(staged, x) == outcome_of(program, x)


def outcome_of(f: Callable[[float], Any], x: float) -> Any:
    try:
        return f(x)
    except (ArithmeticError, ValueError) as error:
        return type(error), str(error)


def test_an_error_that_the_program_handles_is_a_path_of_its_own() -> None:
    def program(x: float) -> float:
        unused, later = x * 3.0, x * 2.0
        try:
            return te.math.log(x) + later * 0.0
        except ValueError:
            return unused

    staged = te.stage(program)
    for x in (2.0, 3.0, -1.0, -1.0, -2.0, 4.0):
        assert staged(x) == program(x)
    assert staged.refused is None


def test_a_file_has_what_later_paths_may_need(tmp_path: Path) -> None:
    def program(x: float, y: float) -> float:
        a, b = x * y, x + y
        return a * x if y > 0.0 else b * x

    staged = te.stage(program)
    assert staged(2.0, 1.0) == program(2.0, 1.0)
    staged.save(tmp_path / "program")
    loaded = te.load_staged(tmp_path / "program", program)
    for y in (1.0, -1.0, 2.0, -2.0):
        assert loaded(2.0, y) == program(2.0, y)
    assert loaded.refused is None and (loaded.stats().recordings, loaded.stats().replays) == (1, 3)


def test_lanes_of_all_paths_agree() -> None:
    lanes = 0
    for seed in range(20):
        program = random_program(seed, checks=True)
        xs = np.array([p for p in POINTS if not isinstance(outcome(lambda: te.vjp(program, p)), tuple)]).T  # noqa: B023
        lanes += xs.size // 3
        if xs.size == 0:
            continue
        value, back = te.vjp(te.stage(program).batch, list(xs))
        cotangents = back((np.ones(xs.shape[1]), [np.ones(xs.shape[1]) for _ in value[1]]))[0]
        for lane, column in enumerate(xs.T):
            wanted, wanted_back = te.vjp(program, list(column))
            assert [value[0][lane], *(part[lane] for part in value[1])] == [wanted[0], *wanted[1]]
            assert [part[lane] for part in cotangents] == wanted_back((1.0, [1.0 for _ in wanted[1]]))[0]
    assert lanes > 100
