"""Arguments that passes on numbers and arrays do not take: on the machine or dual numbers, and then in native code."""

import math
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from outcomes import comparable

import tapeengine as te
from tapeengine._core.programs import native
from tapeengine.chad.backends import convert, tiers

needs_llvm = pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite")

#: How far a program's sum may be from Python's, which compensates for rounding since 3.12.
SUM = 0.0 if sys.version_info < (3, 12) else 1e-13


@dataclass
class Link:
    value: float
    rest: "Link | None"


@dataclass
class Tree:
    left: "Tree | None"
    weight: float
    right: "Tree | None"


@dataclass
class Layer:
    rows: list[list[float]]
    scale: float


def of_lists(rows: list[list[float]]) -> float:
    total = 0.0
    for row in rows:
        part = 1.0
        for x in row:
            part = part * math.cos(x) + x
        total += part
    return total


def of_arrays(rows: te.Array[te.Vec], w: float) -> float:
    return w * sum(sum(x * x for x in row) * row[0] for row in rows)


def of_links(links: Link | None, x: float) -> float:
    if links is None:
        return 0.0
    return math.sin(links.value) + x * of_links(links.rest, x)


def of_trees(tree: Tree | None, x: float) -> float:
    if tree is None:
        return 0.5 * x
    return math.tanh(tree.weight + of_trees(tree.left, x) * of_trees(tree.right, x))


def of_layers(layers: list[Layer]) -> float:
    return sum(layer.scale * sum(sum(math.exp(x) for x in row) for row in layer.rows) for layer in layers)


def rows(draws, count):
    return [list(map(float, draws.normal(size=draws.integers(1, 6)))) for _ in range(count)]


def links(draws, count):
    made = None
    for value in draws.normal(size=count):
        made = Link(float(value), made)
    return made


def tree(draws, levels):
    if levels == 0 or draws.random() < 0.2:
        return None
    return Tree(tree(draws, levels - 1), float(draws.normal()), tree(draws, levels - 1))


KINDS = {
    "lists": (of_lists, lambda draws, n: (rows(draws, n),)),
    "arrays": (of_arrays, lambda draws, n: ([*map(np.array, rows(draws, n))], 0.7)),
    "links": (of_links, lambda draws, n: (links(draws, n), 0.9)),
    "trees": (of_trees, lambda draws, n: (tree(draws, n), 0.4)),
    "layers": (of_layers, lambda draws, n: ([Layer(rows(draws, 3), float(draws.normal())) for _ in range(n)],)),
}


def numbers(x):
    """All numbers of a value, in order."""
    if isinstance(x, float):
        return [x]
    if isinstance(x, np.ndarray | list | tuple):
        return [y for part in x for y in numbers(part)]
    return [] if x is None else [y for part in vars(x).values() for y in numbers(part)]


def refilled(x, values):
    """The same value with other numbers, taken from an iterator."""
    if isinstance(x, float):
        return float(next(values))
    if isinstance(x, np.ndarray):
        return np.array([next(values) for _ in x])
    if isinstance(x, list | tuple):
        return type(x)([refilled(part, values) for part in x])
    return None if x is None else type(x)(*[refilled(part, values) for part in vars(x).values()])


def sloped(function, primals, tangents, step=1e-6):
    """The derivative along tangents, by a central difference."""
    at, along = np.array(numbers(primals)), np.array(numbers(tangents))
    ahead, behind = (function(*refilled(primals, iter(at + h * along))) for h in (step, -step))
    return (ahead - behind) / (2.0 * step)


def check(program, primals, draws):
    """Compare value, cotangents and tangent with the plain function and with differences."""
    value, back = te.vjp(program, *primals)
    cotangents = back(1.0)
    tangents = refilled(primals, iter(draws.normal(size=len(numbers(primals)))))
    again, tangent = te.jvp(program, primals, tangents)
    assert value == again
    assert math.isclose(value, program.function(*primals), rel_tol=SUM)
    assert math.isclose(tangent, sloped(program.function, primals, tangents), rel_tol=1e-6, abs_tol=1e-6)
    product = sum(a * b for a, b in zip(numbers(cotangents), numbers(tangents), strict=True))
    assert math.isclose(product, tangent, rel_tol=1e-9, abs_tol=1e-12)
    return value, cotangents, tangent


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("backend", [None, pytest.param("native", marks=needs_llvm), "machine"])
def test_values_and_derivatives_of_random_arguments(kind, backend):
    function, drawn = KINDS[kind]
    program, draws = te.program(function, backend=backend), np.random.default_rng(1)
    for size in (1, 4, 2, 7):
        check(program, drawn(draws, size), draws)


@needs_llvm
@pytest.mark.parametrize("kind", ["lists", "arrays", "layers"])
def test_native_code_takes_over_from_the_machine_with_the_same_bits(kind):
    function, drawn = KINDS[kind]
    program, draws = te.program(function), np.random.default_rng(2)
    primals = drawn(draws, 6)
    before = check(program, primals, np.random.default_rng(3))
    for others in (program.executable.others, program.executable.along(program.executable.continuous).others):
        assert others.native.better is None
        others.native.promote()
        assert others.native.better is not None
    assert numbers(check(program, primals, np.random.default_rng(3))) == numbers(before)


@needs_llvm
@pytest.mark.parametrize("kind", ["links", "trees"])
def test_native_code_takes_over_from_dual_numbers_with_the_same_derivatives(kind, monkeypatch):
    function, drawn = KINDS[kind]
    program, draws = te.program(function), np.random.default_rng(2)
    primals = drawn(draws, 6)
    before = check(program, primals, np.random.default_rng(3))
    others, along = program.executable.others, program.executable.along(program.executable.continuous).others
    assert others.native is None and along.native is None
    others.left = along.left = 0.0
    monkeypatch.setattr(tiers, "seconds", lambda program: 0.0)
    monkeypatch.setattr(tiers, "LOWERING", 0.0)
    after = check(program, primals, np.random.default_rng(3))
    assert others.native is not None and along.native is not None
    np.testing.assert_allclose(numbers(after), numbers(before), rtol=1e-12, atol=1e-15)
    tangents = refilled(primals, iter(draws.normal(size=len(numbers(primals)))))
    value, tangent = program.executable.along(program.executable.continuous).by_references(primals, tangents)
    assert value == after[0]
    assert math.isclose(tangent, sloped(function, primals, tangents), rel_tol=1e-6, abs_tol=1e-6)


@pytest.mark.parametrize("kind", ["lists", "arrays", "links", "trees"])
def test_arguments_of_the_types_are_not_converted(kind, monkeypatch):
    function, drawn = KINDS[kind]
    is_recursive = kind in ("links", "trees")  # on dual numbers, as long as there is no native code
    program, draws = te.program(function, backend=None if is_recursive else "machine"), np.random.default_rng(4)
    if is_recursive:
        te.vjp(program, *drawn(draws, 3))
        program.executable.others.left = math.inf
    te.vjp(program, *drawn(draws, 3))
    calls = []
    for name in ("flat", "restored", "conformed"):
        monkeypatch.setattr(convert.Converter, name, lambda *args: calls.append(args))
    _, back = te.vjp(program, *drawn(draws, 5))
    back(1.0)
    assert not calls


@needs_llvm
@pytest.mark.parametrize("kind", KINDS)
def test_tangents_of_other_shapes_are_not_for_native_code(kind):
    """It would read memory that they do not have: they are refused, or what they lack is zero, as on dual numbers."""
    function, drawn = KINDS[kind]
    fast, slow = (te.program(function, backend=backend) for backend in ("native", "machine"))
    draws = np.random.default_rng(5)
    primals = drawn(draws, 5)
    check(fast, primals, draws)
    for size in (0, 1, 4, 6, 9):
        other = (drawn(draws, size)[0], *primals[1:])
        found, wanted = (comparable(te.jvp, program, primals, other) for program in (fast, slow))
        assert found == wanted


def test_lengths_are_compared_in_all_lists():
    def plainly(values):
        found = [[len(row) for row in x] for x in values if type(x) is list and all(type(r) is not float for r in x)]
        return any(len(set(sizes)) > 1 for sizes in found)

    draws = np.random.default_rng(6)
    for _ in range(200):
        values = tuple(
            [1.0, [1.0, 2.0], rows(draws, 2), [*map(np.array, rows(draws, 2))], [(1.0, 2.0)] * 3, np.ones((2, 3))][k]
            for k in draws.integers(6, size=3)
        )
        assert native.is_ragged(values) == plainly(values)


@pytest.mark.parametrize("error", [ValueError, ZeroDivisionError, IndexError, OverflowError])
def test_errors_are_those_of_the_plain_program(error):
    def failing(rows: list[list[float]], k: int) -> float:
        total = 0.0
        for row in rows:
            total += math.sqrt(row[0]) / row[1] + math.exp(row[k])
        return total

    good = [[4.0, 2.0, 0.5], [1.0, 3.0]]
    bad = {
        ValueError: ([[4.0, 2.0, 1.0], [-1.0, 3.0]], 1),
        ZeroDivisionError: ([[4.0, 0.0, 1.0], [1.0, 3.0]], 0),
        IndexError: (good, 2),
        OverflowError: ([[4.0, 2.0, 1.0], [1e6, 3.0]], 0),
    }[error]
    for backend in (None, "machine", "native") if tiers.is_installed() else (None, "machine"):
        program = te.program(failing, backend=backend)
        for _ in range(3):
            check(te.program(lambda_of(failing), backend=backend), (good,), np.random.default_rng(7))
            with pytest.raises(error) as plain:
                failing(*bad)
            with pytest.raises(error) as typed:
                te.vjp(program, *bad)
            assert str(typed.value) == str(plain.value)


def lambda_of(failing):
    """The same program at one index."""

    def at_one(rows: list[list[float]]) -> float:
        total = 0.0
        for row in rows:
            total += math.sqrt(row[0]) / row[1] + math.exp(row[1])
        return total

    return at_one
