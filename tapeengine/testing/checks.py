"""The checks of one derivative. Each is a generator of messages, one for each violation of the contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..primitive.spaces import leaves
from .derivative import Derivative, copied, is_exactly_zero, same_bits
from .differences import difference_error, direction

Check = Callable[[Derivative, np.random.Generator], Iterator[str]]

#: The tolerance in roundings: 1e-13 for float64, and the same number of roundings for other dtypes.
ROUNDINGS = 450.0
_DIRECTIONS = 3
_COMBINATIONS = ((2.0, -0.5), (2.0**20, 0.0), (0.0, 2.0**-20))


def check_space(derivative: Derivative, generator: np.random.Generator) -> Iterator[str]:
    """The results of jvp and vjp lie in the spaces of the value and of the argument: structure, shape and dtype."""
    wrong = derivative.out_space.mismatch(derivative.jvp(derivative.space.random(generator)), "the result of jvp")
    if wrong is not None:
        yield f"{wrong}; convert it with tapeengine.primitive.builders.broadcast"
    wrong = derivative.space.mismatch(derivative.vjp(derivative.out_space.random(generator)), "the cotangent")
    if wrong is not None:
        yield f"{wrong}; convert it with tapeengine.primitive.builders.unbroadcast"


def check_linearity(derivative: Derivative, generator: np.random.Generator) -> Iterator[str]:
    """Both rules are linear in their first parameter, even if it is large or small."""
    for name, rule, domain, codomain in _rules(derivative):
        u, v = domain.random(generator), domain.random(generator)
        for a, b in _COMBINATIONS:
            joint = rule(domain.add(domain.scale(u, a), domain.scale(v, b)))
            parts = codomain.scale(rule(copied(u)), a), codomain.scale(rule(copied(v)), b)
            error = codomain.norm(codomain.add(joint, codomain.scale(codomain.add(*parts), -1.0)))
            size = codomain.norm(parts[0]) + codomain.norm(parts[1])
            if not error <= ROUNDINGS * derivative.epsilon * size:
                yield f"{name} is not linear: {name}({a:g} u + {b:g} v) is wrong by {error:.3g} of {size:.3g}"
                break


def check_adjoint(derivative: Derivative, generator: np.random.Generator) -> Iterator[str]:
    """``<ct, jvp(t)> == <vjp(ct), t>``: each rule is the transpose of the other."""
    for _ in range(_DIRECTIONS):
        t, ct = derivative.space.random(generator), derivative.out_space.random(generator)
        forward, reverse = derivative.jvp(copied(t)), derivative.vjp(copied(ct))
        left, right = derivative.out_space.inner(ct, forward), derivative.space.inner(reverse, t)
        size = max(
            derivative.out_space.norm(ct) * derivative.out_space.norm(forward),
            derivative.space.norm(reverse) * derivative.space.norm(t),
        )
        if not abs(left - right) <= ROUNDINGS * derivative.epsilon * size:
            yield (
                f"<ct, jvp(t)> is {left:.17g} and <vjp(ct), t> is {right:.17g}; rounding allows them to differ by "
                f"{ROUNDINGS * derivative.epsilon * size:.3g}, so one rule is not the transpose of the other"
            )
            return


def check_differences(derivative: Derivative, generator: np.random.Generator) -> Iterator[str]:
    """The jvp agrees with differences of the value, at the best step of a grid."""
    t = direction(derivative.space, derivative.point, generator)
    error = difference_error(derivative, t, _against_jvp(derivative, t), derivative.difference_tolerance)
    if not error <= derivative.difference_tolerance:
        yield (
            f"the derivative differs from central differences by {error:.3g} of its size at the best step, but only "
            f"{derivative.difference_tolerance:.3g} is allowed; if it is not smooth there, choose another point, or "
            "order=0 in a Sample"
        )


def check_zero(derivative: Derivative, generator: np.random.Generator) -> Iterator[str]:
    """A zero tangent or cotangent gives exactly zero."""
    for name, rule, domain, _ in _rules(derivative):
        if not is_exactly_zero(rule(domain.zeros())):
            yield f"{name} of zero is not exactly zero; multiply by partials with tapeengine.primitive.builders.scale"


def check_repeat(derivative: Derivative, generator: np.random.Generator) -> Iterator[str]:
    """A second call gives the same bits as the first."""
    if not same_bits(derivative.evaluate(copied(derivative.point)), derivative.evaluate(copied(derivative.point))):
        yield "two calls of the primal give different bits"
    for name, rule, domain, _ in _rules(derivative):
        first = domain.random(generator)
        if not same_bits(rule(copied(first)), rule(copied(first))):
            yield f"two calls of {name} give different bits"


def _rules(derivative: Derivative) -> Iterator[tuple[str, Callable[[Any], Any], Any, Any]]:
    yield "jvp", derivative.jvp, derivative.space, derivative.out_space
    yield "vjp", derivative.vjp, derivative.out_space, derivative.space


def _against_jvp(derivative: Derivative, t: Any) -> Callable[[Any], float]:
    """The largest difference of an element, relative to the largest element of the same leaf."""
    exact = leaves(derivative.jvp(copied(t)))

    def measure(difference: Any) -> float:
        errors = [_leaf_error(d, e) for d, e in zip(leaves(difference), exact, strict=True) if e is not None]
        return max(errors, default=0.0)

    return measure


def _leaf_error(difference: Any, exact: Any) -> float:
    if np.size(exact) == 0:
        return 0.0
    size = max(float(np.abs(exact).max()), float(np.abs(difference).max()))
    error = float(np.abs(np.subtract(difference, exact)).max())
    return error / size if size > 1e-9 or size != size else error


CHECKS: dict[str, Check] = {
    "linearity": check_linearity,
    "adjoint": check_adjoint,
    "differences": check_differences,
    "repeat": check_repeat,
}
