"""The typed programs by name: their inputs by size, their comparisons, and their counts."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

import tapeengine as te
from asv_bench import term_values
from asv_bench.programs import particles, quaternion, typed
from asv_bench.targets.ratios import ones_like
from asv_bench.theorem import bound, gradient_term, steps
from tapeengine import chad
from tapeengine.chad.language.derivative_types import cotangent
from tapeengine.chad.language.terms import Module
from tapeengine.chad.language.traverse import size as term_size
from tapeengine.chad.specification.dense import size as linear_size
from tapeengine.chad.specification.evaluator import Evaluator
from tapeengine.recursion import deep

Inputs = Callable[[int], tuple[Any, ...]]


@dataclass(frozen=True)
class Case:
    """A typed program.

    Attributes
    ----------
    program
        The program.
    inputs
        ``inputs(size)`` gives its arguments.
    size, small
        The size for timing, and one that the evaluator, which counts steps, can run.
    base
        The comparison: the same by hand, as a function of the arguments.
    """

    program: chad.Program
    inputs: Inputs
    size: int
    small: int
    base: Callable[..., Any]


def cut(whole: Callable[[], tuple[Any, ...]], *which: int) -> Inputs:
    """Return the inputs of a program with these arguments cut to the size."""
    return lambda size: tuple(x[:size] if i in which else x for i, x in enumerate(whole()))


def square_matrices(size: int) -> tuple[Any, ...]:
    """Return two matrices."""
    return tuple(np.ascontiguousarray(matrix[:size, :size]) for matrix in typed.product_inputs())


def newton_inputs(size: int) -> tuple[float, float]:
    """Return the number for the equation whose root is sought, and the start."""
    return float(size), 1.0


CASES: MappingProxyType[str, Case] = MappingProxyType(
    {
        "mixture": Case(typed.mixture, typed.gmm_inputs, 1000, 2, typed.gmm_by_numpy),
        "logistic": Case(typed.logistic, cut(typed.logistic_inputs, 1, 2), 1000, 5, typed.logistic_by_hand),
        "product": Case(typed.product, square_matrices, 200, 3, typed.product_by_hand),
        "convolution": Case(typed.convolution, cut(typed.convolution_inputs, 0), 10_000, 40, typed.convolution_by_hand),
        "particles": Case(
            typed.particles_typed, particles.inputs, 1000, 3, lambda *start: particles.particles(math, *start)
        ),
        "quaternion": Case(typed.rotate_typed, quaternion.inputs, 1, 1, lambda *x: quaternion.rotate(math, *x)),
        "newton": Case(typed.newton, newton_inputs, 10, 10, typed.newton.function),
    }
)

#: Programs in EC's language (EC Fig. 1), for which the theorem's bound is proved.
SCALARS: MappingProxyType[str, tuple[chad.Program, tuple[Any, ...]]] = MappingProxyType(
    {
        "quaternion": (typed.rotate_typed, quaternion.inputs(1)),
        "pair": (typed.pair, (0.1, 0.2, 0.3, 0.5)),
        "polynomial": (typed.polynomial, (0.7,)),
        "hinge": (typed.hinge, (0.7, -0.2, 1.0)),
    }
)


def parsed(case: Case) -> Module:
    """Parse the program again, into typed terms."""
    return chad.Program(case.program.function).module


def transformed(case: Case) -> Module:
    """Parse the program again and transform it into the terms of its reverse derivative."""
    return chad.Program(case.program.function).executable.reverse_terms


def generated_text(case: Case) -> str:
    """Parse the program again and generate its reverse derivative, the text that runs without native code."""
    program = chad.Program(case.program.function)
    whole = program.executable.whole if program.executable.prefers_numpy else None
    return program.derivative("reverse") if whole is None else whole.text


def reverse(case: Case, size: int) -> Callable[[], Any]:
    """Return value and cotangents as a thunk."""
    primals = case.inputs(size)
    value, _ = te.vjp(case.program, *primals)
    ones = ones_like(value)
    return lambda: te.vjp(case.program, *primals)[1](ones)


def forward(case: Case, size: int) -> Callable[[], Any]:
    """Return value and tangent as a thunk."""
    primals = case.inputs(size)
    tangents = tuple(tangent(primal) for primal in primals)
    return lambda: te.jvp(case.program, primals, tangents)


def tangent(primal: Any) -> Any:
    """Return ones for numbers and arrays of numbers, None for discrete values."""
    if isinstance(primal, list):
        return [tangent(x) for x in primal]
    return ones_like(primal) if not isinstance(primal, np.ndarray) or primal.dtype.kind == "f" else None


def module_size(module: Module) -> int:
    """Return the number of constructors in all definitions."""
    with deep():
        return sum(term_size(definition.body) for definition in module.definitions.values())


def counts(case: Case) -> dict[str, int]:
    """Count lines and terms of a derivative, and the steps of program and derivative on small inputs."""
    executable = case.program.executable
    inside = term_values.arguments(executable, case.inputs(case.small))
    evaluator = Evaluator(executable.closed, primitives=executable.primitives)
    value = evaluator.run(executable.module.main, inside)
    derivative = Evaluator(executable.reverse_terms, primitives=executable.primitives)
    given = term_values.cotangent_in(
        executable,
        executable.definition.result,
        ones_like(case.program.function(*case.inputs(case.small))),
        value,
        "value",
    )
    with deep():
        derivative.call(executable.module.main, inside)[1](given)
    return {
        "generated": int(executable.entry is not None or executable.whole is not None),
        "lines": len(generated_text(case).splitlines()),
        "terms": module_size(executable.closed),
        "derivative_terms": module_size(executable.reverse_terms),
        "steps": evaluator.steps,
        "derivative_steps": derivative.steps,
    }


def theorem(program: chad.Program, primals: tuple[Any, ...]) -> dict[str, int]:
    """Count the steps of a scalar program and of its gradient, and the theorem's bound (EC section 6)."""
    executable = program.executable
    definition = executable.closed.definitions[executable.module.main]
    values = dict(zip((p.name for p in definition.params), term_values.arguments(executable, primals), strict=True))
    value, taken = steps(definition.body, values)
    d = term_values.cotangent_in(executable, definition.result, ones_like(program.function(*primals)), value, "value")
    _, gradient = steps(gradient_term(definition.params, definition.body), values | {"d": d})
    most = bound(taken, linear_size(cotangent(definition.result), d), len(definition.params))
    return {"steps": taken, "gradient_steps": gradient, "bound": most}
