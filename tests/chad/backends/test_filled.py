"""Elements of arrays that one loop fills are computed again by reverse passes; those of other arrays are kept."""

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te

pytest.importorskip("llvmlite", reason="native code needs llvmlite")

from tapeengine.chad.backends.llvm.fuse import fused
from tapeengine.chad.backends.llvm.recompute import recomputed

FILLED = "centred = [row[j] - w[j] for j in range(len(w))]"
EACH = "for i in range(len(w)):"
SUM = "    total += sum(w[k] * centred[k] for k in range(i + 1)) ** 2"
#: What a program does with each row of a, in which w is a vector too; `scale` and `kept` are from before the loop.
AGAIN = {
    "differences": [FILLED, EACH, SUM],
    "through two": [FILLED, "twice = [2.0 * x for x in centred]", EACH, SUM.replace("centred", "twice")],
}
KEPT = {
    "changed later": [FILLED, "centred[0] = w[1] * row[0]", EACH, SUM],
    "changed in steps": [FILLED, EACH, SUM, "    centred[i] = row[i] * w[0]"],
    "backwards": [FILLED, EACH, SUM.replace("centred[k]", "centred[i - k] * centred[-1 - k]")],
    "filled in turn": [EACH, SUM.replace("centred", "kept"), "for j in range(len(w)):", "    kept[j] = row[j] - w[j]"],
    "filled in part": [
        *("centred = [0.5 for _ in w]", "for j in range(len(w) - 1):", "    centred[j] = row[j] - w[j]"),
        *(EACH, SUM),
    ],
    "of carried": [FILLED.replace("- w[j]", "- scale"), "scale = scale * 0.5 + row[0]", EACH, SUM],
}


def function(name):
    """The program of a name."""
    before = {"of carried": ["scale = 1.0"], "filled in turn": ["kept = [0.0 for _ in w]"]}.get(name, [])
    lines = [
        "total = 0.0",
        *before,
        "for row in a:",
        *("    " + line for line in {**AGAIN, **KEPT}[name]),
        "return total",
    ]
    return function_of("a: te.Array[te.Vec], w: te.Vec", lines, te=te)


def arrays_held(f):
    forward = fused(te.program(f).executable.lowered.program.functions["forward"])
    return sum(len(arrays) for arrays in recomputed(forward)[2].values())


@pytest.mark.parametrize("name", [*AGAIN, *KEPT])
def test_gradients_are_those_of_the_machine_and_of_dual_numbers(name):
    f, draws = function(name), np.random.default_rng(8)
    args = draws.standard_normal((5, 6)), draws.standard_normal(6)
    native, machine = (te.vjp(te.program(f, backend=backend), *args) for backend in ("native", "machine"))
    plain = te.vjp(f, *args)
    assert native[0] == machine[0] == plain[0]
    for x, y, z in zip(native[1](1.5), machine[1](1.5), plain[1](1.5), strict=True):
        np.testing.assert_array_equal(x, y)
        np.testing.assert_allclose(x, z, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("name", AGAIN)
def test_arrays_of_cheap_elements_are_not_kept(name):
    assert arrays_held(function(name)) == 0


def test_the_frames_of_such_a_program_hold_one_number_for_each_sum():
    n, d = 200, 8
    args = np.ones((n, d)), np.ones(d)
    _, back = te.program(function("differences"), backend="native").executable.entry.vjp(*args)
    assert back.nbytes < 8 * n * d + 100 * n
