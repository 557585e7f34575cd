"""Elements of arrays that one loop fills are computed again by reverse passes; those of other arrays are kept."""

import numpy as np
import pytest

import tapeengine as te

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

from tapeengine.chad.backends.llvm.fuse import fused
from tapeengine.chad.backends.llvm.recompute import recomputed

Matrix = te.Array[te.Vec]


def differences(a: Matrix, w: te.Vec) -> float:
    total = 0.0
    for row in a:
        centred = [row[j] - w[j] for j in range(len(w))]
        for i in range(len(w)):
            total += sum(w[k] * centred[k] for k in range(i + 1)) ** 2
    return total


def through_two(a: Matrix, w: te.Vec) -> float:
    total = 0.0
    for row in a:
        centred = [row[j] - w[j] for j in range(len(w))]
        twice = [2.0 * x for x in centred]
        for i in range(len(w)):
            total += sum(w[k] * twice[k] for k in range(i + 1)) ** 2
    return total


def changed_later(a: Matrix, w: te.Vec) -> float:
    total = 0.0
    for row in a:
        centred = [row[j] - w[j] for j in range(len(w))]
        centred[0] = w[1] * row[0]
        for i in range(len(w)):
            total += sum(w[k] * centred[k] for k in range(i + 1)) ** 2
    return total


def changed_in_steps(a: Matrix, w: te.Vec) -> float:
    total = 0.0
    for row in a:
        centred = [row[j] - w[j] for j in range(len(w))]
        for i in range(len(w)):
            total += sum(w[k] * centred[k] for k in range(i + 1)) ** 2
            centred[i] = row[i] * w[0]
    return total


def backwards(a: Matrix, w: te.Vec) -> float:
    total = 0.0
    for row in a:
        centred = [row[j] - w[j] for j in range(len(w))]
        for i in range(len(w)):
            total += sum(w[k] * centred[i - k] * centred[-1 - k] for k in range(i + 1)) ** 2
    return total


def filled_in_turn(a: Matrix, w: te.Vec) -> float:
    """The steps read what the step before has written."""
    total = 0.0
    kept = [0.0 for _ in w]
    for row in a:
        for i in range(len(w)):
            total += sum(w[k] * kept[k] for k in range(i + 1)) ** 2
        for j in range(len(w)):
            kept[j] = row[j] - w[j]
    return total


def filled_in_part(a: Matrix, w: te.Vec) -> float:
    total = 0.0
    for row in a:
        centred = [0.5 for _ in w]
        for j in range(len(w) - 1):
            centred[j] = row[j] - w[j]
        for i in range(len(w)):
            total += sum(w[k] * centred[k] for k in range(i + 1)) ** 2
    return total


def of_carried(a: Matrix, w: te.Vec) -> float:
    total = 0.0
    scale = 1.0
    for row in a:
        centred = [row[j] - scale for j in range(len(w))]
        scale = scale * 0.5 + row[0]
        for i in range(len(w)):
            total += sum(w[k] * centred[k] for k in range(i + 1)) ** 2
    return total


AGAIN = (differences, through_two)
KEPT = (changed_later, changed_in_steps, backwards, filled_in_turn, filled_in_part, of_carried)


def arrays_held(function):
    forward = fused(te.program(function).executable.lowered.program.functions["forward"])
    return sum(len(arrays) for arrays in recomputed(forward)[2].values())


@pytest.mark.parametrize("function", [*AGAIN, *KEPT])
def test_gradients_are_those_of_the_machine_and_of_dual_numbers(function):
    draws = np.random.default_rng(8)
    args = draws.standard_normal((5, 6)), draws.standard_normal(6)
    native, machine = (te.vjp(te.program(function, backend=name), *args) for name in ("native", "machine"))
    plain = te.vjp(function, *args)
    assert native[0] == machine[0] == plain[0]
    for x, y, z in zip(native[1](1.5), machine[1](1.5), plain[1](1.5), strict=True):
        np.testing.assert_array_equal(x, y)
        np.testing.assert_allclose(x, z, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("function", AGAIN)
def test_arrays_of_cheap_elements_are_not_kept(function):
    assert arrays_held(function) == 0


def test_the_frames_of_such_a_program_hold_one_number_for_each_sum():
    n, d = 200, 8
    args = np.ones((n, d)), np.ones(d)
    _, back = te.program(differences, backend="native").executable.entry.vjp(*args)
    assert back.nbytes < 8 * n * d + 100 * n
