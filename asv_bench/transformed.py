"""The transforms on benchmark programs, as thunks for timing and with counts."""

import itertools
from collections.abc import Callable
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

import tapeengine as te
import tapeengine.numpy as tnp
from asv_bench.programs.catalogue import PROGRAMS
from asv_bench.targets.ratios import engine_module, ones_like

Thunk = Callable[[], Any]

#: Programs with one result, and the sizes for timing transforms.
LINES = MappingProxyType({"scalar_loop": 10_000, "particles": 100, "network_arrays": 50, "gmm": 1000})


def all_arguments(primals: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the positions of all primals."""
    return tuple(range(len(primals)))


#: Transforms along one tangent or cotangent: a function of program, primals and tangents.
ALONG: MappingProxyType[str, Callable[[Any, Any, Any], Any]] = MappingProxyType(
    {
        "vjp": lambda run, primals, tangents: te.vjp(run, *primals)[1](1.0),
        "value_and_grad": lambda run, primals, _: te.value_and_grad(run, all_arguments(primals))(*primals),
        "checkpoint": lambda run, primals, _: te.vjp(te.checkpoint(run), *primals)[1](1.0),
        "jvp": lambda run, primals, tangents: te.jvp(run, primals, tangents),
        "linearize": lambda run, primals, tangents: te.linearize(run, *primals)[1](
            tangents if len(tangents) > 1 else tangents[0]
        ),
        "hvp": lambda run, primals, tangents: te.hvp(run, primals, tangents),
        "vhp": lambda run, primals, tangents: te.vhp(run, primals, tangents),
        "tape": lambda run, primals, _: te.tape(run, *primals).by_line,
    }
)


@lru_cache(maxsize=1)
def problem(name: str) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    """Return a program, its primals, and a tangent of ones for each."""
    program = PROGRAMS[name]
    run, primals = program.problem(LINES[name], engine_module(program))
    return run, primals, tuple(map(ones_like, primals))


def along(transform: str, name: str) -> Thunk:
    """Return a transform of a program along one tangent or cotangent, as a thunk."""
    run, primals, tangents = problem(name)
    return lambda: ALONG[transform](run, primals, tangents)


#: Whole matrices: the program, its size, and the transform.
JACOBIANS: MappingProxyType[str, tuple[str, int, Callable[[Any], Any]]] = MappingProxyType(
    {
        "many_outputs_reverse": ("many_outputs", 20, lambda run: te.jacobian(run, mode="reverse")),
        "many_outputs_forward": ("many_outputs", 20, lambda run: te.jacobian(run, mode="forward")),
        "hand_forward": ("hand", 100, lambda run: te.jacobian(run, mode="forward")),
        "hand_reverse": ("hand", 100, lambda run: te.jacobian(run, mode="reverse")),
        "particles_hessian": ("particles", 10, te.hessian),
        "network_hessian": ("network_arrays", 50, lambda run: te.hessian(run, 1)),
    }
)


def jacobian_of(name: str) -> Thunk:
    """Return the computation of a whole matrix as a thunk."""
    program, size, transform = JACOBIANS[name]
    run, primals = PROGRAMS[program].problem(size, engine_module(PROGRAMS[program]))
    jacobian = transform(run)
    return lambda: jacobian(*primals)


class Probe:
    """A program that counts its runs, and the calls of the rules of its primitive."""

    def __init__(self) -> None:
        # Iterators, because functions that run again get copies of captured dicts.
        self.counters = {what: itertools.count() for what in ("runs", "values", "vjp", "jvp")}
        self.square = te.Primitive(
            "bench.square",
            self.counting("values", lambda x: x * x),
            vjp={"x": self.counting("vjp", lambda ct, x: 2.0 * x * ct)},
            jvp={"x": self.counting("jvp", lambda t, x: 2.0 * x * t)},
        )

    def counting(self, what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a counter of calls; its parameters keep their names, which a primitive reads."""

        def value(x: Any) -> Any:
            next(self.counters[what])
            return function(x)

        def rule(along: Any, x: Any) -> Any:
            next(self.counters[what])
            return function(along, x)

        return value if what == "values" else rule

    def squares(self, x: Any) -> Any:
        """Return five squares, for a whole matrix."""
        next(self.counters["runs"])
        return self.square(x)

    def total(self, x: Any) -> Any:
        """Return the sum of the squares' squares."""
        next(self.counters["runs"])
        return tnp.sum(self.square(self.square(x)))

    def step(self, x: Any) -> Any:
        """Return the next state of an iteration."""
        next(self.counters["runs"])
        return 0.1 * self.square(x)


X = np.linspace(0.1, 0.5, 5)

PROBED: MappingProxyType[str, Callable[[Probe], Any]] = MappingProxyType(
    {
        "vjp": lambda probe: te.vjp(probe.total, X)[1](1.0),
        "two_cotangents": lambda probe: list(map(te.vjp(probe.total, X)[1], (1.0, 2.0))),
        "jvp": lambda probe: te.jvp(probe.total, (X,), (X,)),
        "linearize": lambda probe: te.linearize(probe.total, X)[1](X),
        "hvp": lambda probe: te.hvp(probe.total, (X,), (X,)),
        "vhp": lambda probe: te.vhp(probe.total, (X,), (X,)),
        "jacobian_forward": lambda probe: te.jacobian(probe.squares, mode="forward")(X),
        "jacobian_reverse": lambda probe: te.jacobian(probe.squares, mode="reverse")(X),
        "hessian": lambda probe: te.hessian(probe.total)(X),
        "checkpoint": lambda probe: te.grad(te.checkpoint(probe.total))(X),
        "iterate": lambda probe: te.grad(lambda x: tnp.sum(te.iterate(probe.step, 20, x, checkpoints=3)))(X),
    }
)


def probed(name: str) -> dict[str, int]:
    """Count runs of the program and calls of its rules in one transform."""
    probe = Probe()
    PROBED[name](probe)
    return {what: next(counter) for what, counter in probe.counters.items()}
