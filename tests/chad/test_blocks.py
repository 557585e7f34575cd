"""Jacobians, Hessians and tangents of programs: blocks of unit vectors in loops, and no conversion without need."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from chad.changing_functions import quicksort

import tapeengine as te
import tapeengine.math as math
from asv_bench.program_jacobians import Link
from tapeengine._core.programs.replay import Checks
from tapeengine.chad import Program
from tapeengine.chad.backends.convert import Converter
from tapeengine.chad.run.blocks import FIRST, Blocks
from tapeengine.chad.run.execute import Executable
from tapeengine.transforms.derivatives import jacobians

X, W = np.linspace(-0.6, 0.9, 6), np.random.default_rng(3).normal(size=(8, 6))


def appended(x: te.Vec, w: te.Array[te.Vec]) -> te.Vec:
    out = []
    s = 0.0
    for i in range(len(w)):
        s = 0.9 * s + math.tanh(x[i % len(x)] * w[i][0])
        out.append(s * x[(i + 1) % len(x)])
    return out


def branches(x: te.Vec, w: te.Array[te.Vec]) -> list[float]:
    t = 1.0
    out = []
    for i in range(len(x)):
        t = math.sin(t * x[i]) + x[i] * x[i - 1] if x[i] > -0.2 else t * w[i][1]
        out.append(t * t)
    return out


def rows_in_place(x: te.Vec, w: te.Array[te.Vec]) -> te.Array[te.Vec]:
    return [[w[i][j] * x[j] * x[i % 3] for j in range(len(x))] for i in range(len(w))]


def rows_in_loops(x: te.Vec, w: te.Array[te.Vec]) -> te.Vec:
    out = []
    for row in w:
        t = 1.0
        for j in range(len(x)):
            t = t * 0.7 + math.sin(row[j]) * x[j]
        out.append(t)
    return out


def shrinking(x: te.Vec, w: te.Array[te.Vec]) -> tuple[float, te.Vec]:
    n = 0
    s = x[0]
    while s * s > 1e-3 and n < 20:
        s = s * math.cos(x[1]) * 0.5
        n += 1
    return s * w[0][0], x[:3] * s


def of_number(x: te.Vec, w: te.Array[te.Vec]) -> float:
    return math.exp(x[0]) * w[0][0] * w[1][1]


FUNCTIONS = [appended, branches, rows_in_place, rows_in_loops, shrinking, of_number]


def numbers(value: Any) -> Any:
    """The numbers of a nested structure."""
    if isinstance(value, tuple | list):
        return np.concatenate([numbers(part) for part in value])
    return np.ravel(value)


def differences(f: Callable[..., Any], place: int) -> Any:
    """The Jacobian by central differences of the plain function."""
    columns = []
    for k in range((X, W)[place].size):
        sides = []
        for step in (1e-6, -1e-6):
            args = [X.copy(), W.copy()]
            args[place].flat[k] += step
            sides.append(numbers(f(*args)))
        columns.append((sides[0] - sides[1]) / 2e-6)
    return np.array(columns).T


@pytest.mark.parametrize("backend", [None, "machine", "native"], ids=str)
@pytest.mark.parametrize("mode", ["forward", "reverse", "auto"])
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_jacobians_are_those_of_differences(
    function: Callable[..., Any], place: int, mode: str, backend: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = te.program(function, backend=backend)
    one_by_one = te.jacobian(program, place, mode=mode)(X, W)
    monkeypatch.setattr(jacobians, "FEW", 0)
    found = te.jacobian(program, place, mode=mode)(X, W)
    np.testing.assert_allclose(numbers(one_by_one), numbers(found), rtol=1e-13, atol=1e-15)
    wanted = te.jacobian(function, place, mode=mode)(X, W)
    np.testing.assert_allclose(numbers(found), numbers(wanted), rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(numbers(found), numbers(differences(function, place)), rtol=1e-6, atol=1e-8)
    monkeypatch.setattr(jacobians, "BLOCK", 5 * (X, W)[place].size)
    np.testing.assert_array_equal(numbers(te.jacobian(program, place, mode=mode)(X, W)), numbers(found))


def along(x: te.Vec) -> float:
    t = 1.0
    for i in range(len(x)):
        t = math.sin(t * x[i]) + x[i] * x[i - 1] if x[i] > -0.2 else t * 0.5 * x[i]
    return t


@pytest.mark.parametrize("backend", [None, "machine", "native"], ids=str)
def test_hessians_in_loops(backend: str | None) -> None:
    program = te.program(along, backend=backend)
    np.testing.assert_allclose(te.hessian(program)(X), te.hessian(along)(X), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("function", [appended, branches, rows_in_place, rows_in_loops, of_number])
def test_a_jacobian_is_one_run_of_a_block(
    function: Callable[..., Any], mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = te.program(function)
    wanted = te.jacobian(program, mode=mode)(X, W)
    runs: list[int] = []
    block = Blocks.block

    def counted(self: Blocks, primals: Any, given: Any, others: Any, count: int) -> Any:
        runs.append(count)
        return block(self, primals, given, others, count)

    monkeypatch.setattr(Blocks, "block", counted)
    monkeypatch.setattr(te.Engine, "jvp", None)
    calls: list[Any] = []
    monkeypatch.setattr(program, "_python", (lambda *args: calls.append(args), Checks()))
    found = te.jacobian(program, mode=mode)(X, W)
    np.testing.assert_array_equal(numbers(found), numbers(wanted))
    assert len(runs) <= 2 and not calls  # a large block has a small one before it, which tells the memory of a vector


def network(x: te.Vec, w: te.Array[te.Vec]) -> te.Vec:
    return np.tanh(w @ x + 0.5)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_the_forward_pass_of_whole_arrays_runs_once(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = te.program(network)
    expected = te.jacobian(network, mode=mode)(X, W)
    np.testing.assert_allclose(te.jacobian(program, mode=mode)(X, W), expected, rtol=1e-12)
    monkeypatch.setattr(te.Engine, "vjp", None)
    monkeypatch.setattr(te.Engine, "jvp", None)
    np.testing.assert_allclose(te.jacobian(program, mode=mode)(X, W), expected, rtol=1e-12)


def rooted(x: te.Vec) -> te.Vec:
    return np.sqrt(x) * np.log(x)


def whole_numbers(x: te.Vec) -> te.Vec:
    return np.floor(x)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("function", [rooted, whole_numbers])
def test_jacobians_where_the_value_is_computed_alone(function: Callable[..., Any], mode: str) -> None:
    for x in (np.array([1.0, 2.0]), np.array([1.0, 0.0]), np.array([-1.0, 2.0]), np.ones(0)):
        with np.errstate(all="ignore"):
            expected = te.jacobian(function, mode=mode)(x)
            np.testing.assert_array_equal(te.jacobian(te.program(function), mode=mode)(x), expected)


def scaled(x: te.Vec, c: te.Vec) -> te.Vec:
    out = []
    for i in range(len(x)):
        out.append(x[i] * c[i] * c[i])
    return out


@pytest.mark.parametrize("backend", [None, "machine", "native"], ids=str)
@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_jacobians_with_a_block_that_overflows(mode: str, backend: str | None) -> None:
    n = FIRST + 8
    for place in (0, FIRST, n - 1):
        c = np.where(np.arange(n) == place, 1e200, 1.0)
        found = te.jacobian(te.program(scaled, backend=backend), mode=mode)(1 / c, c)
        np.testing.assert_array_equal(found, np.diag(np.where(c > 1.0, np.inf, 1.0)))


def test_a_tangent_runs_along_the_arguments_that_have_one() -> None:
    program = te.program(appended)
    direction = np.cos(X)
    value, tangent = te.jvp(program, (X, W), (direction, None))
    wanted = te.jvp(appended, (X, W), (direction, np.zeros_like(W)))
    np.testing.assert_allclose(numbers((value, tangent)), numbers(wanted), rtol=1e-13)
    assert list(program.executable.tangents) == [(0,)]
    assert "d_w" not in str(program.executable.along((0,)).lowered)


def along_links(links: Link | None, x: float) -> float:
    if links is None:
        return 0.0
    return math.sin(links.value) + x * along_links(links.rest, x)


def of_unequal_rows(rows: list[list[float]], x: float) -> float:
    return sum(math.sin(row[0] * x) * sum(row) for row in rows)


def chain(n: int, value: float = 0.25) -> Link | None:
    links = None
    for k in range(n):
        links = Link(value * (k % 5), links)
    return links


def sorted_quickly(xs: list[float]) -> list[float]:
    ys = list(xs)
    quicksort(ys, 0, len(ys) - 1)
    return [k * y * y for k, y in enumerate(ys)]


CASES = [
    (along_links, (chain(30), 0.7), (chain(30, 1.0), 0.5)),
    (of_unequal_rows, ([[0.1], [0.2, 0.3], [0.5]], 0.7), ([[1.0], [0.0, 2.0], [1.0]], 0.5)),
]


@pytest.mark.parametrize(("function", "primals", "tangents"), CASES)
def test_dual_numbers_run_on_values_as_they_are(
    function: Callable[..., Any], primals: Any, tangents: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = te.program(function)
    found = te.jvp(program, primals, tangents)
    np.testing.assert_allclose(found, te.jvp(program.python, primals, tangents), rtol=1e-13)
    converted: list[str] = []
    for name in ("flat", "restored", "cotangent", "given", "tangent"):
        monkeypatch.setattr(Converter, name, lambda *args, name=name: converted.append(name))
    te.jvp(program, primals, tangents)
    te.vjp(program, *primals)[1](1.0)
    assert not converted


def many_of_rows(rows: list[list[float]], x: te.Vec) -> te.Vec:
    return x * sum(math.sin(row[0]) * len(row) for row in rows)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_programs_of_rows_on_dual_numbers_have_the_jacobians_of_the_function(mode: str) -> None:
    rows = [[0.1], [0.2, 0.3], [0.5]]
    wanted = te.jacobian(many_of_rows, 1)(rows, X)
    np.testing.assert_allclose(te.jacobian(te.program(many_of_rows), 1, mode=mode)(rows, X), wanted, rtol=1e-13)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_programs_on_dual_numbers_have_jacobians_of_one_run(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Any] = []
    jvp = Executable.jvp
    monkeypatch.setattr(Executable, "jvp", lambda self, *args: (runs.append(args), jvp(self, *args))[1])
    numbers = [0.5, 0.2, 0.1, 0.7]
    wanted = te.jacobian(sorted_quickly, mode=mode)(numbers)
    np.testing.assert_allclose(te.jacobian(te.program(sorted_quickly), mode=mode)(numbers), wanted, rtol=1e-13)
    assert len(runs) <= 1


EXACT: list[tuple[Any, Any, bool]] = [
    (list[float], [1.0, 2.0], True),
    (list[float], [1.0, 2], False),
    (list[float], (1.0, 2.0), False),
    (list[float], np.ones(2), True),
    (list[float], np.ones(2, np.float32), False),
    (list[list[float]], np.ones((2, 2)), True),
    (list[list[float]], np.ones(2), False),
    (list[list[float]], [[1.0], [2.0, 3.0], np.ones(3)], True),
    (tuple[float, bool], (1.0, True), True),
    (tuple[float, bool], (1.0, 1), False),
    (tuple[float, int], (1.0, True), False),
    (float, np.float64(1.0), False),
    (Link | None, chain(100_000), True),
    (Link | None, Link(1, None), False),
    (Link | None, 1.0, False),
]


def taken(x):  # type: ignore[no-untyped-def]
    return 1.0


@pytest.mark.parametrize(("of", "value", "wanted"), EXACT)
def test_values_of_just_the_types_of_parameters(of: Any, value: Any, wanted: bool) -> None:
    executable = Program(taken, {"x": of}).executable
    assert executable.converter.fits(executable.definition.params[0].of, value) == wanted
