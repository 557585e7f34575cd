"""Every primitive of the registry: value and cotangents on its first sample.

The cases are made at import, so a primitive that cannot be benchmarked makes this module fail.
"""

from collections.abc import Mapping
from typing import Any

import tapeengine as te
from asv_bench import derivatives
from asv_bench.targets.ratios import ones_like
from tapeengine.primitive import Primitive

SEED = 1


def cases(registry: Mapping[str, Primitive]) -> dict[str, Any]:
    """Return the first sample of every primitive."""
    if not registry:
        raise LookupError("no primitives: tapeengine is not installed, so its entry points are not found")
    found = {}
    for name, primitive in registry.items():
        sample = next(iter(primitive.samples_drawn(SEED)), None)
        if sample is None:
            raise LookupError(f"primitive {name} has no sample, so it cannot be benchmarked: give it one")
        found[name] = sample
    return found


def problem(primitive: Primitive, sample: Any) -> tuple[Any, tuple[Any, ...]]:
    """Return a program of the differentiable arguments, and these; the other arguments are constants."""
    refusals = primitive.refusals or (None,) * len(sample.args)
    places = [i for i in range(len(sample.args)) if primitive.variadic or refusals[i] is None]

    def program(*active: Any) -> Any:
        args = list(sample.args)
        for place, value in zip(places, active, strict=True):
            args[place] = value
        return primitive(*args, **sample.static)

    return program, tuple(sample.args[place] for place in places)


REGISTRY = te.default_engine().registry
CASES = cases(REGISTRY)


@derivatives.preparation
def prepared(name: str) -> tuple[Any, tuple[Any, ...], Any]:
    """Return a program of one primitive, its primals, and ones as a cotangent."""
    program, args = problem(REGISTRY[name], CASES[name])
    value, _ = te.vjp(program, *args)
    return program, args, ones_like(value)


class Primitives(derivatives.Timed):
    """One primitive inside a vjp."""

    params = (sorted(CASES),)
    param_names = ("primitive",)
    repeat = (2, 4, 0.2)
    warmup_time = 0.02

    def time_derivative(self, name: str) -> None:
        program, args, cotangent = prepared(name)
        _, backpropagator = te.vjp(program, *args)
        backpropagator(cotangent)
