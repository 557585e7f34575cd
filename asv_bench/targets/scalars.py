"""Targets for ordinary Python programs on scalars."""

from functools import partial

from asv_bench.measure import in_subprocess, interleaved, peers_python
from asv_bench.programs import linear, network, particles, quaternion, scalar_loop
from asv_bench.targets.ratios import gradient_ratio, thunks
from asv_bench.targets.target import Measurement, Target

GROWTH = """
import sys, tapeengine as te, tapeengine.math
from asv_bench.measure import peak_bytes
from asv_bench.programs.particles import PROGRAM
steps = int(sys.argv[1])
def derivative(size):
    program, primals = PROGRAM.problem(size, tapeengine.math)
    value, backpropagator = te.vjp(program, *primals)
    backpropagator(1.0)
derivative(10)
before = peak_bytes()
derivative(steps)
print((peak_bytes() - before) / PROGRAM.operations(steps))
"""

SADDLE = """
import sys
from time import process_time
from asv_bench.measure import interleaved
from asv_bench.programs.nested import SADDLE, saddle
def check(result):
    assert max(abs(a - b) for a, b in zip(result, SADDLE)) < 1e-9, result
def engine():
    import tapeengine as te
    def through_vjp(f, x):
        return te.vjp(f, x)[1](1.0)[0]
    def through_grad(f, x):
        return te.grad(f)(x)
    thunks = {"vjp": lambda: saddle(through_vjp, through_vjp), "grad": lambda: saddle(through_grad, through_grad)}
    for thunk in thunks.values():
        check(thunk())
    times = interleaved(thunks, 3)
    print(times["vjp"], times["grad"])
def autograd():
    import autograd
    def hips(f, x):
        return list(autograd.grad(f)(x))
    started = process_time()
    check(saddle(hips, hips))
    print(process_time() - started)
{"engine": engine, "autograd": autograd}[sys.argv[1]]()
"""


def rotation() -> Measurement:
    """Measure a whole vjp and one call of its backpropagator; the target is also met at 4 us, whatever the ratio."""
    times = interleaved(thunks(quaternion.PROGRAM, 1), rounds=25)
    micros = 1e6 * times["derivative"]
    detail = f"{micros:.2f} us (at most 4 us), plain {1e6 * times['plain']:.2f} us"
    return Measurement(times["derivative"] / times["plain"], detail, met_otherwise=micros <= 4.0)


def resolve() -> Measurement:
    """Measure the reverse sweep alone, in nanoseconds for each record."""
    import tapeengine as te
    import tapeengine.math

    program, primals = particles.PROGRAM.problem(1000, tapeengine.math)
    _, backpropagator = te.vjp(program, *primals)
    seconds = interleaved({"resolve": lambda: backpropagator(1.0)}, rounds=25, sample=0.005)["resolve"]
    records = len(backpropagator.tape)
    bytes_each = f"{backpropagator.tape.nbytes / records:.1f} B each with the free room of the last chunk"
    return Measurement(1e9 * seconds / records, f"{records:,} records, {bytes_each}")


def memory() -> Measurement:
    """Measure the growth of the process's peak memory for each operation of the particles."""
    steps = 20_000
    return Measurement(float(in_subprocess(GROWTH, str(steps))), f"{118 * steps:,} operations")


def growth() -> Measurement:
    """Measure the loop from 10^3 to 10^7 operations: the largest ratio to the plain program divided by the smallest."""
    program, ratios, costs = scalar_loop.PROGRAM, {}, {}
    for exponent in range(3, 8):
        size = 10**exponent // 3
        times = interleaved(thunks(program, size), rounds=5 if exponent > 5 else 15)
        ratios[exponent] = times["derivative"] / times["plain"]
        costs[exponent] = 1e9 * times["derivative"] / program.operations(size)
    detail = ", ".join(f"10^{e}: {ratios[e]:.2f} x, {costs[e]:.1f} ns" for e in ratios)
    return Measurement(max(ratios.values()) / min(ratios.values()), detail)


def saddle() -> Measurement:
    """Measure the saddle program, reverse over reverse, relative to HIPS autograd in the peers' environment."""
    slow = float(in_subprocess(SADDLE, "autograd", python=peers_python()))
    fast, grad = map(float, in_subprocess(SADDLE, "engine").split())
    detail = f"te.vjp {1e3 * fast:.0f} ms, te.grad {1e3 * grad:.0f} ms, autograd {slow:.2f} s"
    return Measurement(fast / slow, f"{detail}: {slow / fast:.0f} and {slow / grad:.0f} times as fast")


TARGETS = (
    Target(
        "scalar_loop",
        "loop with a data-dependent branch over 10^5 elements",
        3.0,
        "x plain Python",
        partial(gradient_ratio, scalar_loop.PROGRAM, 100_000),
    ),
    Target(
        "particles",
        "four particles, pairwise forces, 1000 steps",
        2.3,
        "x plain Python",
        partial(gradient_ratio, particles.PROGRAM, 1000),
    ),
    Target("quaternion", "rotation by a quaternion, vjp and one call", 4.5, "x plain Python", rotation),
    Target(
        "network",
        "network 50-50-50-10 on nested lists",
        3.2,
        "x plain Python",
        partial(gradient_ratio, network.PROGRAM, 50),
    ),
    Target(
        "dot", "dot product of two lists of 10^5", 4.5, "x plain Python", partial(gradient_ratio, linear.DOT, 100_000)
    ),
    Target("resolve", "the reverse sweep alone", 5.0, "ns a record", resolve),
    Target("memory", "growth of peak memory, particles", 40.0, "B an operation", memory),
    Target("growth", "loop from 10^3 to 10^7 operations, largest over smallest ratio", 1.5, "x", growth),
    Target("saddle", "saddle, reverse over reverse, against HIPS autograd", 1 / 50, "x autograd", saddle, True),
)
