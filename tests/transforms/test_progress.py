"""Progress: every potentially long pass counts its parts to the end, and gives the same result as without."""

import numpy as np
import pytest

import tapeengine as te
import tapeengine.math as tm


class Shown:
    """Displays an iteration like tqdm: (what, total, number done) of each pass."""

    def __init__(self):
        self.passes = []

    def __call__(self, iterable, total, desc):
        done = 0
        for item in iterable:
            yield item
            done += 1
        self.passes.append((desc, total, done))


def of_numbers(xs):
    return [x * x * xs[0] for x in xs]


PROGRAMS = {
    "numbers": (of_numbers, [float(k) for k in range(1, 21)]),
    "few rows": (lambda x: np.sin(x[:2]) * x[0], np.arange(30.0)),
    "many rows": (lambda x: np.tile(np.sin(x), 9) * x[0], np.arange(1.0, 8.0)),
    "one row": (lambda x: np.sum(np.sin(x)), np.arange(5.0)),
    "complex": (lambda x: np.abs(np.exp(1j * x)), np.arange(4.0)),
}


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_jacobian_counts_its_rows_or_columns(name, mode):
    program, x = PROGRAMS[name]
    shown = Shown()
    found = te.jacobian(program, mode=mode, progress=shown)(x)
    assert np.array_equal(found, te.jacobian(program, mode=mode)(x))
    rows, columns = np.size(program(x)), np.size(x)
    [(what, total, done)] = shown.passes
    assert done == total == {"jacobian: rows": rows, "jacobian: columns": columns}[what]
    assert mode == "auto" or what == {"forward": "jacobian: columns", "reverse": "jacobian: rows"}[mode]


def test_a_jacobian_within_a_trace_counts_too():
    shown = Shown()
    te.grad(lambda x: np.sum(te.jacobian(lambda y: np.sin(y), progress=shown)(x) ** 2))(np.arange(3.0))
    assert shown.passes == [("jacobian: columns", 3, 3)] or shown.passes == [("jacobian: rows", 3, 3)]


def test_each_pass_of_iterate_counts_its_steps():
    def step(x):
        return 1.5 * x

    shown = Shown()
    assert te.grad(lambda x: te.iterate(step, 10, x, checkpoints=3, progress=shown))(1.0) == 1.5**10
    assert te.jvp(lambda x: te.iterate(step, 10, x, progress=shown), (1.0,), (1.0,)) == (1.5**10, 1.5**10)
    assert te.iterate(step, 10, 1.0, progress=shown) == 1.5**10
    passes = ["value", "cotangents", "value", "tangents", "value"]
    assert shown.passes == [(f"iterate: {passed}", 10, 10) for passed in passes]


def wave(x, a):
    return x * a * x if x > 0.0 else tm.sin(x) * a


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("program", [te.stage(wave), wave], ids=["staged", "plain"])
def test_a_mapped_program_counts_its_lanes(program, threads):
    x = np.linspace(-1.0, 2.0, 1000)
    shown = Shown()
    value, back = te.vjp(te.vmap(program, (0, None), threads=threads, progress=shown), x, 0.7)
    wanted, wanted_back = te.vjp(te.vmap(program, (0, None)), x, 0.7)
    found, expected = back(np.ones(1000)), wanted_back(np.ones(1000))
    assert np.array_equal(value, wanted) and np.array_equal(found[0], expected[0])
    assert found[1] == pytest.approx(expected[1], rel=1e-14)
    passes = ["value", "cotangents"] if program is not wave else ["value"]
    assert shown.passes == [(f"vmap: {passed}", 1000, 1000) for passed in passes]


def test_lanes_that_go_their_own_ways_are_counted_once():
    shown = Shown()
    mapped = te.vmap(te.stage(lambda x: x * int(x)), progress=shown)
    te.vjp(mapped, np.arange(600.0))[1](np.ones(600))
    assert shown.passes == [("vmap: value", 600, 600), ("vmap: cotangents", 600, 600)]


def test_a_step_that_raises_leaves_the_engine_usable():
    def step(x):
        if x > 3.0:
            raise ValueError("too far")
        return 1.5 * x

    with pytest.raises(ValueError, match="too far"):
        te.grad(lambda x: te.iterate(step, 10, x, progress=Shown()))(1.0)
    assert te.grad(lambda x: x * x)(3.0) == 6.0


def test_a_long_sweep_tells_often():
    def loop(x):
        for _ in range(3000):
            x = x * 1.001 + 0.1
        return x

    _, backpropagator = te.vjp(loop, 1.0)
    told = []
    te.backpropagate(backpropagator, 1.0, told.append, parts=50)
    assert len(told) == 50 and sum(told) == len(backpropagator.tape)
