"""What native code leaves out: frames that are computed again, arrays that are only summed, memory of a step."""

import numpy as np
import pytest

import tapeengine as te
from asv_bench.programs.native import PROGRAMS, inputs

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

from tapeengine.chad.backends.llvm.fuse import fused
from tapeengine.chad.backends.llvm.order import is_orderless
from tapeengine.chad.backends.llvm.recompute import recomputed
from tapeengine.chad.intermediate.analysis import walk
from tapeengine.chad.intermediate.operations import Scalar
from tapeengine.chad.intermediate.statements import For, New, While


def product(a: te.Array[te.Vec], b: te.Array[te.Vec]) -> float:
    return sum(sum(a[i][k] * b[k][i] for k in range(len(b))) for i in range(len(a)))


def arrays(function):
    return sum(isinstance(s, New) for s, _ in walk(function.body))


def test_arrays_that_are_only_summed_are_not_made():
    forward = te.program(product).executable.lowered.program.functions["forward"]
    assert arrays(forward) == 2
    assert arrays(fused(forward)) == 0


def test_elements_of_arguments_are_read_again():
    forward = te.program(product).executable.lowered.program.functions["forward"]
    sites, again, held = recomputed(forward)
    assert [p.name for p in again] == [p.name for p in forward.params]
    assert all(f.type not in {x.out.type for x in s.again} for s in sites.values() for f in s.fields)
    assert not held


def test_frames_do_not_hold_elements_of_arguments():
    a, b = np.ones((100, 100)), np.ones((100, 100))
    _, back = te.program(product, backend="native").executable.entry.vjp(a, b)
    assert back.nbytes < 50_000


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_the_benchmarks_agree(name):
    args = inputs(name)
    found = []
    for backend in ("native", "machine"):
        value, back = te.vjp(te.program(PROGRAMS[name], backend=backend), *args)
        found.append((value, *[np.asarray(x, float) for x in back(1.0) if x is not None]))
    for x, y in zip(*found, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12)


def triangle(factors: te.Vec, xs: te.Array[te.Vec]) -> float:
    """The lower triangle of a matrix lies in a vector, column by column."""
    total = 0.0
    for x in xs:
        d = len(x)
        rows = [sum(factors[c * d - c * (c + 1) // 2 + r] * x[c] for c in range(r + 1)) for r in range(d)]
        total = total + sum(row * row for row in rows)
    return total


def test_indices_are_computed_again():
    """Of the numbers that each row reads, the reverse pass keeps neither the places nor the elements."""
    d, n = 12, 50
    draws = np.random.default_rng(7)
    args = draws.standard_normal(d * (d + 1) // 2), draws.standard_normal((n, d))
    program = te.program(triangle, backend="native")
    _, back = te.vjp(program, *args)
    assert back.nbytes < n * d * (d + 1) // 2 * 8
    for got, wanted in zip(back(1.0), te.vjp(program.python, *args)[1](1.0), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-12)


def quadratic(factors: te.Array[te.Vec], xs: te.Array[te.Vec]) -> float:
    total = 0.0
    for x in xs:
        for i in range(len(factors)):
            y = 0.0
            for j in range(i + 1):
                y = y + factors[i][j] * x[j]
            total = total + y * y
    return total


def test_frames_of_inner_loops_that_hold_nothing_take_no_room():
    """Of each row one number is kept, and no address of frames of the loop along it."""
    d, n = 60, 1700
    draws = np.random.default_rng(8)
    args = draws.standard_normal((d, d)), draws.standard_normal((n, d))
    program = te.program(quadratic, backend="native")
    _, back = te.vjp(program, *args)
    assert back.nbytes < 3 * n * d * 8  # with what is taken ahead of need
    lower = np.tril(args[0])
    np.testing.assert_allclose(back(1.0)[0], np.tril(2 * lower @ args[1].T @ args[1]), rtol=1e-9)
    np.testing.assert_allclose(back(1.0)[1], 2 * args[1] @ lower.T @ lower, rtol=1e-9)


def test_steps_that_only_add_along_a_row_may_run_upwards():
    """The number that they read is carried by no loop, so vectors of one step are those of the next one."""
    reverse = te.program(quadratic).executable.lowered.program.functions["reverse"]
    loops = [s for s, _ in walk(reverse.body) if isinstance(s, For)]
    assert is_orderless([s for s in loops if not any(isinstance(x, For) for x in s.body)][-1])


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_loop_carries_a_number_to_itself(name):
    functions = te.program(PROGRAMS[name]).executable.lowered.program.functions.values()
    loops = [s for f in functions for s, _ in walk(f.body) if isinstance(s, For | While)]
    assert not [v for s in loops for v, x in s.carried if v == x and isinstance(v.type, Scalar)]


def states(x: te.Vec, n: int) -> float:
    v = x
    for _ in range(n):
        v = [0.5 * a + 0.25 for a in v]
    return sum(v)


def test_what_a_step_makes_is_taken_back_at_its_end():
    x = np.ones(1000)
    _, few = te.program(states, backend="native").executable.entry.vjp(x, 10)
    _, many = te.program(states, backend="native").executable.entry.vjp(x, 10_000)
    assert few.nbytes < 100_000
    assert many.nbytes < 1_000_000
    assert many(1.0)[0] == pytest.approx(np.full(1000, 0.5**10_000))


def layers(w: te.Array[te.Vec], x: te.Vec, n: int) -> float:
    h = x
    for _ in range(n):
        h = [np.tanh(sum(w[i][j] * h[j] for j in range(len(h)))) for i in range(len(h))]
    return sum(a * a for a in h)


def test_an_array_that_an_inner_loop_reads_is_kept_once():
    """One vector for each layer, not one for each row of each."""
    size, steps = 40, 10
    w, x = np.ones((size, size)) / size, np.ones(size)
    _, back = te.program(layers, backend="native").executable.entry.vjp(w, x, steps)
    assert back.nbytes < steps * size * 8 * 10


def layers_with_a_change(w: te.Array[te.Vec], x: te.Vec, n: int) -> float:
    h = x
    total = 0.0
    for _ in range(n):
        s = [0.5 * a for a in h]
        for i in range(len(h)):
            s[i] = sum(w[i][j] * s[j] for j in range(len(h)))
        h = [np.tanh(sum(w[i][j] * h[j] + w[j][i] * s[j] for j in range(len(h)))) for i in range(len(h))]
        total += s[0]
    return total + sum(a * a for a in h)


def test_only_what_is_read_before_a_write_is_kept_for_each_element():
    """The first sum of a step reads elements that the step writes later; the second one reads none."""
    size, steps = 7, 3
    w, x = np.sin(np.arange(1.0, size * size + 1.0)).reshape(size, size) / size, np.cos(np.arange(size))
    program = te.program(layers_with_a_change, backend="native")
    forward = fused(program.executable.lowered.program.functions["forward"])
    sites, _, held = recomputed(forward)
    loops = [(s, around) for s, around in walk(forward.body) if isinstance(s, For) and s.kept is not None]
    elements = [f for s, around in loops if len(around) == 2 for f in sites[s.kept.frames.name].fields]
    assert len(elements) == 1
    assert sum(len(arrays) for arrays in held.values()) == 2
    _, back = te.vjp(program, w, x, steps)
    for got, expected in zip(back(1.0)[:2], te.vjp(program.python, w, x, steps)[1](1.0)[:2], strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-13)


def products_of_a_step(xs: te.Vec) -> float:
    total = 0.0
    for x in xs:
        row = [np.sin(x * y) for y in xs]
        for i in range(len(xs)):
            for j in range(len(xs)):
                total += row[i] * row[j]
    return total


def test_arrays_of_a_step_are_held_by_its_loop():
    forward = fused(te.program(products_of_a_step).executable.lowered.program.functions["forward"])
    steps = [s.kept.frames.name for s, around in walk(forward.body) if isinstance(s, For) and s.kept and not around]
    held = recomputed(forward)[2]
    assert held and held.keys() <= set(steps)


def test_runs_that_use_memory_again_leave_that_of_others_alone():
    native = te.program(product, backend="native").executable.entry
    draws = np.random.default_rng(4)
    args = [(draws.standard_normal((n, n)), draws.standard_normal((n, n))) for n in (5, 80, 20, 160, 3)]
    alone = [te.program(product, backend="native").executable.entry.vjp(*pair)[1](1.5) for pair in args]
    for dropped in range(len(args)):
        backs = [native.vjp(*pair)[1] for pair in args]
        del backs[dropped]
        backs.insert(dropped, native.vjp(*args[dropped])[1])
        for back, wanted in zip(backs, alone, strict=True):
            for x, y in zip(back(1.5), wanted, strict=True):
                np.testing.assert_array_equal(x, y)
