"""Targets for the CHAD frontend: programs against numpy by hand and against plain Python."""

import math
from collections.abc import Callable, Mapping
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

import tapeengine as te
from asv_bench import against_duals, program_jacobians
from asv_bench.measure import interleaved, quick
from asv_bench.peers.leaves import flat, leaves
from asv_bench.programs import particles, quaternion, typed
from asv_bench.targets.ratios import ones_like
from asv_bench.targets.target import Measurement, Target
from tapeengine import chad


def against(program: Any, primals: tuple[Any, ...], base: Callable[[], Any], rounds: int = 9) -> Measurement:
    """Measure value and cotangents of a typed program relative to `base`."""
    value, _ = te.vjp(program, *primals)
    cotangent = ones_like(value)

    def derivative() -> Any:
        value, backpropagator = te.vjp(program, *primals)
        return value, backpropagator(cotangent)

    times = interleaved({"base": base, "derivative": derivative}, rounds)
    detail = f"base {1e3 * times['base']:.4g} ms, derivative {1e3 * times['derivative']:.4g} ms"
    return Measurement(times["derivative"] / times["base"], detail)


def mixture() -> Measurement:
    """Measure the mixture written with comprehensions against the objective vectorised by hand."""
    primals = typed.gmm_inputs()
    return against(typed.mixture, primals, lambda: typed.gmm_by_numpy(*primals))


def agree(program: Any, primals: tuple[Any, ...], by_hand: Any) -> None:
    """Compare value and cotangents with those by hand before timing."""
    value, backpropagator = te.vjp(program, *primals)
    expected, gradients = by_hand(*primals)
    np.testing.assert_allclose(np.asarray(value), expected, rtol=1e-9, atol=1e-9)
    found = leaves([np.asarray(ct, float) for ct in backpropagator(ones_like(value))])
    np.testing.assert_allclose(flat(found), flat(list(gradients)), rtol=1e-8, atol=1e-8)


def builds() -> Measurement:
    """Measure regression, matrix product and convolution against gradients by hand; the figure is the largest."""
    cases: dict[str, tuple[Any, tuple[Any, ...], Any]] = {
        "logistic": (typed.logistic, typed.logistic_inputs(), typed.logistic_by_hand),
        "product": (typed.product, typed.product_inputs(), typed.product_by_hand),
        "convolution": (typed.convolution, typed.convolution_inputs(), typed.convolution_by_hand),
    }
    found = {}
    for name, (program, primals, by_hand) in cases.items():
        agree(program, primals, by_hand)
        found[name] = against(program, primals, partial(by_hand, *primals))
    return largest(found)


def scalars() -> Measurement:
    """Measure particles, quaternion and Newton's method against plain Python; the figure is the largest."""
    start, vectors, number = particles.inputs(1000), quaternion.inputs(1), (10.0, 1.0)
    cases = {
        "particles": (typed.particles_typed, start, partial(particles.particles, math, *start)),
        "quaternion": (typed.rotate_typed, vectors, partial(quaternion.rotate, math, *vectors)),
        "newton": (typed.newton, number, partial(typed.newton.function, *number)),
    }
    return largest({name: against(*case) for name, case in cases.items()})


def settled(thunk: Callable[[], Any], seconds: float = 2.0) -> Callable[[], Any]:
    """Run a thunk until its code has passed all levels of optimisation; return it."""
    started = perf_counter()
    while not quick() and perf_counter() - started < seconds:
        thunk()
    return thunk


def tangents() -> Measurement:
    """Measure value and tangent of the particles against their forward pass, both fully optimised."""
    start, program = particles.inputs(1000), typed.particles_typed
    given = tuple(ones_like(x) for x in start)
    entry = program.executable.entry
    thunks = {"value": lambda: entry.vjp(*start), "jvp": lambda: te.jvp(program, start, given)}
    times = interleaved({name: settled(thunk) for name, thunk in thunks.items()})
    detail = f"value {1e3 * times['value']:.4g} ms, jvp {1e3 * times['jvp']:.4g} ms"
    return Measurement(times["jvp"] / times["value"], detail)


def largest(found: dict[str, Measurement]) -> Measurement:
    """Return the largest of several figures, with all of them in its detail."""
    detail = "; ".join(f"{name} {measured.value:.2f} ({measured.detail})" for name, measured in found.items())
    return Measurement(max(measured.value for measured in found.values()), detail)


def largest_ratio(found: Mapping[str, float], digits: int) -> Measurement:
    """Return the largest of several ratios, with all of them in its detail."""
    detail = "; ".join(f"{name} {ratio:.{digits}f}" for name, ratio in found.items())
    return Measurement(max(found.values()), detail)


def over_duals() -> Measurement:
    """Measure every typed program against the same function on dual numbers; the figure is the largest."""
    found = {name: against_duals.over_duals(name)[0] for name in against_duals.DERIVATIVES}
    return largest_ratio(found, 3)


def of_programs(cases: Mapping[str, Any]) -> Measurement:
    """Measure transforms of programs against the same functions on dual numbers; the figure is the largest."""
    return largest_ratio({name: program_jacobians.over_duals(name) for name in cases}, 2)


def by_hand() -> Measurement:
    """Measure k-means, mixture and factorisation against numpy by hand; the figure is the largest."""
    return largest_ratio({name: against_duals.by_hand(name)[0] for name in against_duals.FACTORS}, 2)


def transformation() -> Measurement:
    """Measure parsing, transformation and generation of the mixture's derivative, the smallest of several."""
    seconds = []
    for _ in range(7):
        started = perf_counter()
        text = chad.Program(typed.mixture.function).derivative("reverse")
        seconds.append(perf_counter() - started)
    return Measurement(1e3 * min(seconds), f"{len(text.splitlines())} lines; first time {1e3 * seconds[0]:.0f} ms")


TARGETS = (
    Target("chad_gmm", "GMM d=10 K=10 n=1000 written with comprehensions", 4.0, "x numpy", mixture),
    Target("chad_builds", "regression, matrix product, convolution by builds", 1.5, "x by hand", builds),
    Target("chad_scalars", "particles, quaternion, Newton", 3.0, "x plain Python", scalars),
    Target("chad_kinds", "every typed program, thirty as users write them", 1.0, "x on dual numbers", over_duals),
    Target(
        "chad_jacobians",
        "Jacobians 20 x 200 and 200 x 20, Hessians 30 x 30 of programs",
        1.0,
        "x on dual numbers",
        partial(of_programs, program_jacobians.JACOBIANS),
    ),
    Target(
        "chad_tangents",
        "tangents of recursive data and of rows of unequal lengths",
        1.0,
        "x on dual numbers",
        partial(of_programs, program_jacobians.TANGENTS),
    ),
    Target("chad_by_hand", "k-means, mixture, matrix factorisation", 4.0, "x numpy by hand", by_hand),
    Target("chad_jvp", "jvp of the particles", 2.0, "x the forward pass", tangents),
    Target("chad_transformation", "transformation and generation of GMM's derivative", 100.0, "ms", transformation),
)
