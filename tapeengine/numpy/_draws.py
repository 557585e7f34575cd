"""Draws from distributions with traced parameters: differentiable formulas of draws from fixed distributions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from .._core.arrays.storing import holds_traced
from ..duals.creation import plain
from ._creation import asarray


def _affine(name: str) -> Callable[..., Any]:
    return lambda draw, size, loc=0.0, scale=1.0: loc + scale * getattr(draw, name)(size=size)


def _scaled(name: str) -> Callable[..., Any]:
    return lambda draw, size, scale=1.0: scale * getattr(draw, name)(size=size)


#: The formula of each distribution: of a generator, the shape of the draws, and the parameters.
FORMULAS: dict[str, Callable[..., Any]] = {
    "exponential": _scaled("standard_exponential"),
    "gamma": lambda draw, size, shape, scale=1.0: scale * draw.standard_gamma(shape, size=size),
    "gumbel": _affine("gumbel"),
    "laplace": _affine("laplace"),
    "logistic": _affine("logistic"),
    "lognormal": lambda draw, size, mean=0.0, sigma=1.0: numpy.exp(mean + sigma * draw.standard_normal(size)),
    "multivariate_normal": lambda draw, size, mean, cov, **options: (
        mean + draw.multivariate_normal(numpy.zeros(mean.shape), cov, size[:-1], **options)
    ),
    "normal": _affine("standard_normal"),
    "pareto": lambda draw, size, a: numpy.expm1(draw.standard_exponential(size=size) / a),
    "power": lambda draw, size, a: (-numpy.expm1(-draw.standard_exponential(size=size))) ** (1.0 / a),
    "rayleigh": _scaled("rayleigh"),
    "uniform": lambda draw, size, low=0.0, high=1.0: low + (high - low) * draw.random(size),
    "weibull": lambda draw, size, a: draw.standard_exponential(size=size) ** (1.0 / a),
}


def drawn(
    name: str, draw: Any, plainly: Callable[..., Any], state: tuple[Callable[..., Any], Callable[..., Any]], given: Any
) -> Any:
    """Draw by numpy's function `plainly`; where a parameter is traced, the formula draws again from the same state.

    `draw` is the generator, `state` reads and sets its state, and `given` are the arguments and options.
    """
    args, options = given
    if not holds_traced([*args, *options.values()]):
        return plainly(*args, **options)
    before = state[0]()
    value = plainly(*map(plain, args), **{key: plain(option) for key, option in options.items()})
    state[1](before)
    formula = FORMULAS[name]
    names = formula.__code__.co_varnames[2 : formula.__code__.co_argcount]
    known = {**dict(zip((*names, "size"), args, strict=False)), **options, "size": getattr(value, "shape", None)}
    known.update((key, asarray(known[key], float)) for key in names if key in known)
    with numpy.errstate(all="ignore"):  # numpy's draws report nothing
        return _as_drawn(formula(draw, **known), value)


def _as_drawn(found: Any, value: Any) -> Any:
    """A result of a formula with the bits and the class of numpy's."""
    gap = numpy.nan_to_num(value - plain(found), posinf=0.0, neginf=0.0)
    if gap.any():  # a difference of neighbouring numbers is exact
        found = found + gap
    found = numpy.where(plain(found) == value, found, value)
    return found.item() if type(value) is float else asarray(found)
