"""Cycles through programs and their backpropagators are collected without an error, whichever is cleared first.

The collector clears the objects of a cycle one by one: what an object returns when it is freed may already be cleared.
"""

import gc
import sys

import numpy as np
import pytest

import tapeengine as te


def scalar(x):
    return x * x + 1.0


def on_arrays(x):
    y = x * 2.0
    y[0] = 3.0 * x[1]
    return np.sum(np.sin(y) @ x)


def of_tasks(x):
    first, second = te.fork(lambda: x[0] * x[1], lambda: te.math.sin(x[2]))
    return first * second


def in_loops(x):
    total = 0.0
    for i in range(len(x)):
        total += x[i] * x[i]
    return total


ARRAY = np.array([0.5, 1.5, 2.5])
MAKERS = {
    "plain": (lambda: scalar, 1.5),
    "plain arrays": (lambda: on_arrays, ARRAY),
    "staged": (lambda: te.stage(scalar), 1.5),
    "staged arrays": (lambda: te.stage(on_arrays), ARRAY),
    "staged tasks": (lambda: te.stage(of_tasks), [0.5, 1.5, 2.5]),
    "checkpoint": (lambda: te.checkpoint(on_arrays), ARRAY),
    "machine": (lambda: te.program(in_loops, backend="machine"), ARRAY),
    "native": (lambda: te.program(in_loops, backend="native"), ARRAY),
    "vmap": (lambda: te.vmap(scalar), ARRAY),
}
RUNS = {
    "vjp": lambda program, x: te.vjp(program, x),
    "vjp of vjp": lambda program, x: te.vjp(lambda x: te.vjp(program, x)[0], x),
    "linearize": lambda program, x: te.linearize(program, x),
}


class Holder:
    """A part of a cycle."""


def runs(program, run, x, count):
    """What runs of a program return; their backpropagators are called."""
    found = [RUNS[run](program, x) for _ in range(count)]
    for value, back in found:
        seed = x if run == "linearize" else value
        back(seed if isinstance(seed, list) else np.ones_like(seed) if np.shape(seed) else 1.0)
    return found


def close(*parts):
    """A cycle that holds some objects."""
    holder = Holder()
    holder.parts, holder.itself = parts, holder
    return holder


ORDERS = {
    "program, runs, cycle": lambda make, run, x: close(*(lambda p: (p, runs(p, run, x, 4), gc.collect()))(make())),
    "program, cycle, runs": lambda make, run, x: (lambda p, c: setattr(c, "runs", runs(p, run, x, 4)))(
        *(lambda p: (p, close(p)))(make())
    ),
    "old program": lambda make, run, x: close(
        *(lambda p: (p, runs(p, run, x, 3), gc.collect(), runs(p, run, x, 3)))(make())
    ),
    "old program, new runs": lambda make, run, x: close(
        *(lambda p: (p, len(runs(p, run, x, 3)), gc.collect(), runs(p, run, x, 3)))(make())
    ),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
def test_cycles_are_collected(name, run, order, monkeypatch):
    ignored = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    make, x = MAKERS[name]
    ORDERS[order](make, run, x)
    gc.collect()
    assert not ignored
