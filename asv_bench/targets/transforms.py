"""Targets for the transforms: second order, forward mode, Jacobians, checkpoints."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import tapeengine as te
from asv_bench.measure import in_subprocess, interleaved, quick
from asv_bench.programs import hand, many_outputs, particles, scalar_loop
from asv_bench.programs.program import Program
from asv_bench.targets.ratios import engine_module, ones_like, thunks
from asv_bench.targets.target import Measurement, Target

ITERATE = """
import sys, numpy as np, tapeengine as te, tapeengine.numpy as tnp
from asv_bench.measure import peak_bytes
def step(x):
    return x + 0.001 * tnp.sin(x)
def stored(x):
    for _ in range(1000):
        x = step(x)
    return tnp.sum(x)
def checkpointed(steps):
    return lambda x: tnp.sum(te.iterate(step, steps, x, checkpoints=20))
x = np.linspace(-1.0, 1.0, 200)
which, steps = sys.argv[1], int(sys.argv[2])
te.vjp(checkpointed(100), x)[1](1.0)
before = peak_bytes()
te.vjp(stored if which == "stored" else checkpointed(steps), x)[1](1.0)
print(peak_bytes() - before)
"""


def second_order(program: Program, size: int, transform: Callable[..., Any], rounds: int = 9) -> Measurement:
    """Measure a transform of the program along fixed tangents relative to value and gradient."""
    run, primals = program.problem(size, engine_module(program))
    tangents = tuple(ones_like(primal) for primal in primals)
    measured = {"gradient": thunks(program, size)["derivative"], "transform": lambda: transform(run, primals, tangents)}
    times = interleaved(measured, rounds)
    detail = f"gradient {1e3 * times['gradient']:.3g} ms, transform {1e3 * times['transform']:.3g} ms"
    return Measurement(times["transform"] / times["gradient"], detail)


def larger(measure: Callable[[Program, int], Measurement]) -> Measurement:
    """Measure the loop and the particles, and return the larger figure."""
    both = [measure(scalar_loop.PROGRAM, 100_000), measure(particles.PROGRAM, 1000)]
    detail = "; ".join(f"{name} {m.value:.2f} ({m.detail})" for name, m in zip(("loop", "particles"), both))
    return Measurement(max(m.value for m in both), detail)


def hand_jacobian() -> Measurement:
    """Measure the dense Jacobian of the hand relative to one vjp."""
    run, primals = hand.PROGRAM.problem(100, engine_module(hand.PROGRAM))
    jacobian = te.jacobian(run)
    measured = {"vjp": thunks(hand.PROGRAM, 100)["derivative"], "jacobian": lambda: jacobian(*primals)}
    times = interleaved(measured, rounds=9)
    shape = np.shape(jacobian(*primals))
    detail = f"{shape}: vjp {1e3 * times['vjp']:.3g} ms, Jacobian {1e3 * times['jacobian']:.3g} ms"
    return Measurement(times["jacobian"] / times["vjp"], detail)


def many_rows() -> Measurement:
    """Measure the Jacobian of 200 outputs, without the recording, in resolves of one row."""
    run, primals = many_outputs.PROGRAM.problem(200, engine_module(many_outputs.PROGRAM))
    value, backpropagator = te.vjp(run, *primals)
    last = [0.0] * (len(value) - 1) + [1.0]
    jacobian = te.jacobian(run)
    measured = {
        "record": lambda: te.vjp(run, *primals),
        "resolve": lambda: backpropagator(last),
        "jacobian": lambda: jacobian(*primals),
    }
    times = interleaved(measured, rounds=9)
    resolves = (times["jacobian"] - times["record"]) / times["resolve"]
    told = ", ".join(f"{name} {1e3 * seconds:.3g} ms" for name, seconds in times.items())
    whole = times["jacobian"] / times["resolve"]
    return Measurement(resolves, f"{told}; with the recording {whole:.0f} resolves")


def checkpoints() -> Measurement:
    """Measure the memory of 10^6 checkpointed steps relative to 10^3 stored ones, each in a separate process."""
    stored = float(in_subprocess(ITERATE, "stored", "0"))
    steps = 10**4 if quick() else 10**6
    chain = float(in_subprocess(ITERATE, "checkpointed", str(steps)))
    detail = f"10^3 steps stored {stored / 1e6:.1f} MB, {steps:,} checkpointed {chain / 1e6:.1f} MB"
    return Measurement(chain / stored, detail)


TARGETS = (
    Target(
        "hvp",
        "Hessian-vector product of the loop and the particles",
        2.5,
        "x gradient",
        partial(larger, lambda program, size: second_order(program, size, te.hvp)),
    ),
    Target(
        "jvp",
        "jvp of the loop and the particles",
        1.2,
        "x gradient",
        partial(larger, lambda program, size: second_order(program, size, te.jvp)),
    ),
    Target("hand_jacobian", "dense Jacobian 300 x 26 of the hand", 5.0, "x vjp", hand_jacobian),
    Target("many_outputs", "Jacobian of 20 inputs and 200 outputs", 25.0, "resolves", many_rows),
    Target("checkpoints", "10^6 steps, 20 checkpoints", 1.0, "x 10^3 stored", checkpoints),
)
