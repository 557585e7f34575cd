"""Operations that a program repeats are done once, if `share` says so, and the value keeps its bits."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from branching_programs import EXPRESSION, NUMBER, Expression, evaluated
from hypothesis import given, settings
from hypothesis import strategies as st

import tapeengine as te
from tapeengine.staged import compiling

#: What programs may raise.
ERRORS = (ArithmeticError, ValueError)


def outcome(f: Callable[..., Any], xs: Any) -> tuple[Any, Any]:
    """The bits of the value and the cotangents, or the error."""
    try:
        value, back = te.vjp(f, xs)
        return np.float64(value).tobytes(), back(1.0)[0]
    except ERRORS as error:
        return type(error), str(error)


def repeats(expression: Expression, xs: Any) -> Any:
    """A program that does the same twice, within and outside of other operations."""
    once = evaluated(expression, xs)
    with_swapped = evaluated(expression, [xs[1], xs[0], xs[2]])
    return once * evaluated(expression, xs) + xs[0] * with_swapped + evaluated(expression, xs) * xs[0]


@settings(max_examples=150)
@given(EXPRESSION, st.lists(st.lists(NUMBER, min_size=3, max_size=3), min_size=1, max_size=4))
def test_random_branching_programs(expression: Expression, points: list[list[float]]) -> None:
    def program(xs: Any) -> Any:
        return repeats(expression, xs)

    staged, plain = te.stage(program, share=True), te.stage(program)
    for xs in [*points, *points, *reversed(points)]:
        with np.errstate(all="ignore"):
            found, wanted = outcome(staged, xs), outcome(program, xs)
            outcome(plain, xs)
        assert found[0] == wanted[0]
        if isinstance(wanted[0], bytes):
            size = max((abs(c) for c in wanted[1] if math.isfinite(c)), default=0.0)
            np.testing.assert_allclose(found[1], wanted[1], rtol=1e-9, atol=1e-9 * max(1.0, size))
        else:
            assert found == wanted
    assert staged.refused == plain.refused is None
    counts, others = staged.stats(), plain.stats()
    assert counts.recordings == others.recordings and counts.paths == others.paths
    assert counts.instructions <= others.instructions and others.shared == 0
    if others.instructions > 3 * others.paths:
        assert counts.instructions + counts.shared == others.instructions


def waves(xs: list[Any]) -> Any:
    total = 0.0
    for x in xs:
        total = total + te.math.sin(x * xs[0]) * te.math.cos(x * xs[0])
        if x * xs[0] > 1.0:
            total = total * 2.0
        if x * xs[0] > 1.0:
            total = total - 1.0
    return total


def test_what_is_shared() -> None:
    staged, plain = te.stage(waves, share=True), te.stage(waves)
    for xs in ([2.0, 3.0, 4.0], [3.0, 4.0, 5.0], [0.1, 0.2, 0.3], [0.1, 0.3, 0.5]):
        assert staged(xs) == plain(xs) == waves(xs)
    text, counts, others = str(staged), staged.stats(), plain.stats()
    assert [listed.count("mul %2 %1") for listed in (text, str(plain))] == [2, 8]  # on two paths
    assert text.count("check") == counts.guards == others.guards == 12
    assert counts.shared == 2 * 3 * 3 and others.shared == 0
    assert counts.instructions + counts.shared == others.instructions and counts.paths == 2


def test_equal_operations_on_other_operands_stay() -> None:
    def program(x: float, y: float) -> float:
        return (x - y) * (y - x) + (x - 2.0) * (2.0 - x) + (x - 0.0) * (x - -0.0) + max(x, y) * max(y, x)

    staged = te.stage(program, share=True)
    for pair in ((1.0, 2.0), (0.0, -0.0), (-0.0, 3.0)):
        assert np.float64(staged(*pair)).tobytes() == np.float64(program(*pair)).tobytes()
    assert staged.stats().shared == 0


def test_calls_are_not_shared() -> None:
    def program(x: float) -> float:
        return te.math.gamma(x) + te.math.gamma(x)

    staged = te.stage(program, share=True)
    assert [staged(x) for x in (1.5, 2.5)] == [program(x) for x in (1.5, 2.5)]
    assert staged.stats().shared == 0


@pytest.mark.parametrize("optimise", [True, False, "native"])
def test_files_lanes_native_code_and_second_derivatives(optimise: Any, tmp_path: Path) -> None:
    xs = [0.1 * k for k in range(1, 40)]
    staged = te.stage(waves, optimise=optimise, share=True)
    for _ in range(3):
        assert outcome(staged, xs)[0] == outcome(waves, xs)[0]
    assert (staged.stats().native > 0) == (optimise == "native" and compiling.is_installed())
    staged.save(tmp_path / "waves")
    loaded = te.load_staged(tmp_path / "waves", waves)
    for each in (xs, xs[::-1], [-x for x in xs]):
        assert loaded(each) == staged(each) == waves(each)
    assert loaded.share and loaded.stats().instructions <= staged.stats().instructions
    lanes = np.array([[x, x + 1.0] for x in xs])
    assert list(staged.batch(list(lanes))) == [waves(list(column)) for column in lanes.T]
    for (found,), (wanted,) in zip(te.hessian(staged)(xs[:1]), te.hessian(waves)(xs[:1]), strict=True):
        assert found == pytest.approx(wanted, rel=1e-12)
    assert te.jacobian(lambda x: [staged(x)])(xs)[0] == pytest.approx(te.grad(waves)(xs))
