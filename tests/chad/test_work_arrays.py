"""Work arrays that a program makes where the argument is None, and changes in place."""

import copy

import numpy as np
import pytest
from chad.written_functions import run_in

import tapeengine as te

#: What is made where there is no argument; the last two are other names of data that the caller has.
MADE = {
    "list": "[0.0] * n",
    "display": "[0.0, 0.0, 0.0]",
    "comprehension": "[x for x in xs]",
    "copy": "list(xs)",
    "zeros": "np.zeros(n)",
    "argument": "xs",
    "global": "kept",
    "part": "rows[0]",
}
#: What changes it.
CHANGED = {
    "items": "for i in range(n): out[i] = xs[i] * xs[i]",
    "augmented": "for i in range(n): out[i] += 2.0 * xs[i]",
    "first": "out[0] = xs[1] * xs[2]",
    "branch": "if xs[0] > 0.5: out[0] = xs[1] * xs[0]",
    "again": "out[0] = xs[1]\n    if out is None: out = [1.0]\n    out[1] = xs[0] * out[0]",
    "other name": "y = out\n    out[0] = xs[0] * xs[1]\n    out[1] = y[0] * 3.0",
    "kept": "y = [out, xs]\n    out[0] = xs[0] * xs[1]\n    out[2] = y[0][0] * 2.0",
}
HEADS = {"default": "xs, out=None", "parameter": "xs, out", "before": "out, xs"}
CASES = [(m, c, h) for m in MADE for c in CHANGED for h in HEADS]
XS = [0.75, 1.5, -2.0]


def function_of(made, changed, head):
    scope = {"__name__": "written_work", "np": np, "kept": [1.0, 2.0, 3.0], "rows": ([1.0, 2.0, 3.0],)}
    text = f"    n = len(xs)\n    if out is None: out = {MADE[made]}\n    {CHANGED[changed]}\n    return out\n"
    run_in(scope, f"def f({HEADS[head]}):\n{text}")
    return scope


def arguments(head, out, made):
    like = np.array if made == "zeros" else list
    xs, out = like(XS), out if out is None else like(out)
    return {"default": (xs,) if out is None else (xs, out), "parameter": (xs, out), "before": (out, xs)}[head]


@pytest.mark.parametrize("out", [None, (4.0, 5.0, 6.0)], ids=["none", "given"])
@pytest.mark.parametrize(("made", "changed", "head"), CASES)
def test_value_cotangents_and_arguments(made, changed, head, out):
    plain, traced = function_of(made, changed, head), function_of(made, changed, head)
    args, given = arguments(head, out, made), arguments(head, out, made)
    before = copy.deepcopy(given)
    program = te.program(traced["f"])
    try:
        value, back = te.vjp(program, *given)
    except te.errors.UnsupportedError:
        assert made in ("argument", "global", "part") or changed in ("other name", "kept", "again")
        return
    step, own = 1e-6, int(head == "before")
    want = np.array(plain["f"](*args))
    np.testing.assert_allclose(np.array(value), want, rtol=1e-14)
    for a, b in zip(given, before, strict=True):
        np.testing.assert_array_equal(a, b)  # a derivative changes copies
    assert traced["kept"] == [1.0, 2.0, 3.0]
    weights = np.arange(1.0, 4.0)
    found = np.array(back(weights if made == "zeros" else weights.tolist())[own])
    for k in range(3):
        moved = []
        for sign in (1.0, -1.0):
            again = arguments(head, out, made)
            again[own][k] += sign * step
            scope = function_of(made, changed, head)
            moved.append(np.array(scope["f"](*again)))
        slope = weights @ (moved[0] - moved[1]) / (2 * step)
        assert found[k] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_the_usual_form_is_taken():
    for out in (None, (4.0, 5.0, 6.0)):
        value, back = te.vjp(
            te.program(function_of("list", "items", "default")["f"]), *arguments("default", out, "list")
        )
        assert value == [x * x for x in XS]
        assert back([1.0, 1.0, 1.0])[0] == [2.0 * x for x in XS]


def test_the_plain_call_changes_the_argument():
    program, out = te.program(function_of("list", "items", "default")["f"]), [4.0, 5.0, 6.0]
    assert program(list(XS), out) is out
    assert out == [x * x for x in XS]
