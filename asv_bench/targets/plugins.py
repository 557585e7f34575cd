"""Targets for plugins: starting up, C kernels, and solves that share a factorisation."""

import ctypes
import ctypes.util
from typing import Any

import numpy as np

import tapeengine as te
import tapeengine.numpy as tnp
from asv_bench.measure import in_subprocess, interleaved
from asv_bench.targets.target import Measurement, Target
from tapeengine import math
from tapeengine.plugins.kernels import scalar_function, scalar_kernel
from tapeengine.primitive.builders import elementwise

STARTING = """
import sys, time, numpy
if sys.argv[1] == "engine":
    import scipy.integrate, scipy.interpolate, scipy.linalg, scipy.optimize, scipy.sparse.linalg, scipy.special
    import tapeengine
started = time.process_time()
import tapeengine
if sys.argv[1] == "engine":
    tapeengine.Engine()
print(1e3 * (time.process_time() - started))
"""
CALLS = 10_000


def starting(what: str) -> Measurement:
    """Measure the processor time of an import or of the first engine, in new processes."""
    taken = [float(in_subprocess(STARTING, what)) for _ in range(5)]
    plugins = ", ".join(record.origin.plugin for record in te.Engine().registry.contributions)
    return Measurement(min(taken), f"processor time, plugins: {plugins}" if what == "engine" else "processor time")


def libm(name: str) -> Any:
    """A function of the C library."""
    function = ctypes.CDLL(ctypes.util.find_library("m"))[name]
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
    return function


def kernel() -> Measurement:
    """Measure the recording of a kernel's calls relative to that of the built-in function's."""
    own = elementwise(
        "bench.sin", lambda x: tnp.sin(x), lambda x: tnp.cos(x), kernel=scalar_kernel(libm("sin"), libm("cos"))
    )

    def recording(function: Any) -> Any:
        def program(x: float) -> float:
            for _ in range(CALLS):
                y = function(x)
            return y

        return lambda: te.vjp(program, 0.5)

    times = interleaved({"built in": recording(math.sin), "kernel": recording(scalar_function(own))})
    told = ", ".join(f"{name} {1e9 * seconds / CALLS:.1f} ns" for name, seconds in times.items())
    return Measurement(times["kernel"] / times["built in"], told)


def solve(size: int = 500) -> Measurement:
    """Measure a solve and its gradient relative to one factorisation and two solves with it."""
    from scipy.linalg import lu_factor, lu_solve

    from tapeengine_scipy import linalg

    generator = np.random.default_rng(0)
    a = generator.standard_normal((size, size)) + size * np.eye(size)
    b, ct = generator.standard_normal((2, size))

    def needed() -> Any:
        factors = lu_factor(a)
        return lu_solve(factors, b), lu_solve(factors, ct, trans=1)

    times = interleaved({"needed": needed, "engine": lambda: te.vjp(linalg.solve, a, b)[1](ct)})
    told = ", ".join(f"{name} {1e3 * seconds:.3g} ms" for name, seconds in times.items())
    return Measurement(times["engine"] / times["needed"], f"{size} x {size}: {told}")


TARGETS = (
    Target("import", "import tapeengine beyond numpy", 40.0, "ms", lambda: starting("import")),
    Target(
        "first_engine",
        "the first Engine() of a process, beyond numpy and scipy",
        150.0,
        "ms",
        lambda: starting("engine"),
    ),
    Target("kernel", "recording a plugin's scalar kernel", 1.5, "x built in", kernel),
    Target(
        "solve",
        "a solve of tapeengine-scipy and its gradient",
        1.3,
        "x two solves",
        solve,
        needs_module="tapeengine_scipy",
    ),
)
