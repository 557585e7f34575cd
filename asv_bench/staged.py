"""Measures staging: replayed values and gradients over the plain program, lanes, threads, arrays, guards, memory.

    python asv_bench/staged.py

CPU time, the minimum of interleaved runs in one process. Lanes are given in nanoseconds for one record and one lane.
"""

import functools
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))
import tapeengine as te
import tapeengine.numpy as tnp
from asv_bench.measure import interleaved
from asv_bench.programs import (
    ba,
    gmm,
    hand,
    lstm,
    network,
    network_arrays,
    particles,
    particles_arrays,
    quaternion,
    scalar_loop,
)
from asv_bench.programs.program import Program


def replayed(name: str, program: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Value and gradient, replayed, relative to the plain program's value and to an ordinary vjp."""
    staged = te.stage(program, optimise=False)
    native = te.stage(program, optimise="native")
    first = {
        "recording": lambda: te.stage(program)(*args),
        "vjp": lambda: te.vjp(program, *args),
    }
    for run in (staged, native, native):
        run(*args)
    times = interleaved(
        {
            "plain": lambda: program(*args),
            "unstaged": lambda: te.vjp(program, *args)[1](1.0),
            "replayed": lambda: te.vjp(staged, *args)[1](1.0),
            "native": lambda: te.vjp(native, *args)[1](1.0),
            "value": lambda: staged(*args),
            **first,
        }
    )
    stats, plain = staged.stats(), times["plain"]
    both, compiled, unstaged, value = (times[run] / plain for run in ("replayed", "native", "unstaged", "value"))
    print(
        f"{name:24} plain {plain * 1e6:9.1f} us; over it value and gradient {both:.2f} "
        f"(native {compiled:.2f}, unstaged {unstaged:.2f}), "
        f"value {value:.2f}; recording over vjp {times['recording'] / times['vjp']:.2f}; "
        f"{stats.nbytes / stats.instructions:.0f} B a record"
    )


def in_lanes(name: str, program: Callable[..., Any], args: list[float], lanes: int, *shared: Any) -> None:
    """Nanoseconds for one record and one lane, value and gradient; the first arguments are shared."""
    kinds = {"interpreted": te.stage(program, optimise=False), "native": te.stage(program, optimise="native")}
    given = (*shared, [np.full(lanes, x) * (1.0 + 1e-9 * np.arange(lanes)) for x in args])
    ones = np.ones(lanes)
    mapped = {kind: te.vmap(staged, (*[None] * len(shared), 0)) for kind, staged in kinds.items()}
    for kind, staged in kinds.items():
        staged(*shared, args)
        te.vjp(mapped[kind], *given)
    stats = kinds["native"].stats()
    runs = {kind: lambda run=run: te.vjp(run, *given)[1](ones) for kind, run in mapped.items()}
    each = {kind: t / (stats.instructions - stats.guards) / lanes * 1e9 for kind, t in interleaved(runs).items()}
    print(f"{name:24} {lanes} lanes: {each['interpreted']:.2f} ns a record and lane, native {each['native']:.2f}")


def of_arrays(program: Program, size: int) -> None:
    """Value and gradient of an array program, staged relative to unstaged, and the forward part alone."""
    run, args = program.problem(size, tnp)
    staged = te.stage(run)
    value, _ = te.vjp(staged, *args)
    cotangent = tuple(map(np.ones_like, value)) if isinstance(value, tuple) else np.ones_like(value)
    times = interleaved(
        {
            "unstaged": lambda: te.vjp(run, *args)[1](cotangent),
            "staged": lambda: te.vjp(staged, *args)[1](cotangent),
            "traced": lambda: te.vjp(run, *args),
            "replayed": lambda: te.vjp(staged, *args),
            "recorded": lambda: te.stage(run)(*args),
        }
    )
    both, forwards, recording = (
        times[one] / times[other]
        for one, other in (("staged", "unstaged"), ("replayed", "traced"), ("recorded", "traced"))
    )
    print(
        f"{program.name:24} unstaged {times['unstaged'] * 1e6:9.1f} us; staged over it {both:.2f}, "
        f"forwards {forwards:.2f}; recording over vjp {recording:.2f}"
    )


def option(market: Any, noise: Any) -> Any:
    """A barrier option on one path: it is worthless once the price has fallen below the barrier."""
    spot, volatility, rate = market
    step = 1.0 / len(noise)
    price = spot
    for z in noise:
        price = price * te.math.exp((rate - 0.5 * volatility * volatility) * step + volatility * step**0.5 * z)
        if price < 80.0:
            return price * 0.0
    return (price - 100.0) * te.math.exp(-rate) if price > 100.0 else price * 0.0


def threads() -> None:
    """One thread and two, by the wall clock."""
    noise = list(np.random.default_rng(0).normal(size=(16, 20_000)))
    staged = te.stage(option)
    weights = np.full(20_000, 1 / 20_000)

    def run(n: int) -> None:
        te.vjp(te.vmap(staged, (None, 0), threads=n), (105.0, 0.2, 0.03), noise)[1](weights)

    run(1)
    times = interleaved({str(n): lambda n=n: run(n) for n in (1, 2)}, clock=time.perf_counter)  # type: ignore[misc]
    print(
        f"{'option, 20,000 paths':24} {times['1'] * 1e3:.1f} ms; two threads {times['1'] / times['2']:.2f} times faster"
    )


def forks() -> None:
    """Two tasks in order and on two threads, both passes replayed, by the wall clock."""
    xs = scalar_loop.inputs(500_000)[0]
    nobody = ThreadPoolExecutor(1)
    nobody.shutdown()

    def program(executor: Any, a: float, b: float) -> Any:
        tasks = [lambda scale=scale: scalar_loop.scalar_loop(te.math, [x * scale for x in xs]) for scale in (a, b)]
        return te.fork(*tasks, executor=executor)

    runs = {}
    for name, executor in (("in order", nobody), ("on two", None)):
        staged = te.stage(functools.partial(program, executor))
        te.vjp(staged, 1.0, 0.9)
        runs[name] = lambda staged=staged: te.vjp(staged, 1.0, 0.9)[1]((1.0, 1.0))
    times = interleaved(runs, clock=time.perf_counter)
    print(
        f"{'two forked loops':24} {times['in order'] * 1e3:.1f} ms; two threads "
        f"{times['in order'] / times['on two']:.2f} times faster"
    )


def on_a_list(program: Callable[..., Any], *shapes: int) -> Callable[[Any], Any]:
    """A program of lists as a program of one flat list."""

    def flat(xs: Any) -> Any:
        parts, at = [], 0
        for n in shapes:
            parts.append(xs[at : at + n])
            at += n
        return program(*parts)

    return flat


def main() -> None:
    """Print everything."""
    replayed("scalar loop, 10^5", lambda xs: scalar_loop.scalar_loop(te.math, xs), scalar_loop.inputs(100_000))
    *state, steps = particles.inputs(1000)
    replayed("particles, 1000 steps", lambda *s: particles.particles(te.math, *s, steps), tuple(state))
    for width in (50, 1):
        name = f"network on lists, {width}"
        replayed(name, lambda p, x: network.network(te.math, p, x), network.network_inputs(width))
    vector, rotation = [1.0, 2.0, 3.0], [0.5, 0.5, 0.5, 0.5]
    replayed("quaternion", lambda v, q: sum(quaternion.rotate(te.math, v, q)), (vector, rotation))
    replayed("ten records", lambda x: ((x * 2.0 + 1.0) * x - 3.0) * (x * x + x) * (x - 1.0) + x, (1.5,))
    flat = [x for part in state for x in part]
    sizes = [len(part) for part in state]
    few = on_a_list(lambda *s: particles.particles(te.math, *s, 50), *sizes)
    for lanes in (8, 16, 32, 1024):
        in_lanes("particles, 50 steps", few, flat, lanes)
    weights, x = network.network_inputs(50)
    for lanes in (8, 32):
        in_lanes("network, shared weights", lambda p, x: network.network(te.math, p, x), x, lanes, weights)
        in_lanes("network, own weights", lambda x: network.network(te.math, weights, x), x, lanes)
    threads()
    forks()
    for program, size in (
        *((particles_arrays.PROGRAM, 100), (network_arrays.PROGRAM, 50), (lstm.PROGRAM, 64)),
        *((hand.PROGRAM, 100), (ba.PROGRAM, 31843), (gmm.PROGRAM, 1000)),
    ):
        of_arrays(program, size)


if __name__ == "__main__":
    main()
