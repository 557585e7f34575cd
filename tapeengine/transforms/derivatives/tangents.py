"""Tangents: jvp and linearize, forward sweeps over the tape of one run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._core.programs.callables import own_derivative
from ..._core.programs.native import Enterable
from ..._core.sweeps import linear
from ...errors import StructureError
from ...forms import form_of
from ..contract import Engine
from ..programs import OwnDerivative
from .jacobians import full_matrix, pushed
from .linear_map import LinearMap


def as_tuple(values: Sequence[Any], what: str) -> tuple[Any, ...]:
    """Return the primals or tangents of a call as a tuple; they must be a tuple or a list."""
    if not isinstance(values, (tuple, list)):
        kind = type(values).__name__
        raise StructureError(f"{what} must be a tuple with one entry for each argument of the program, not {kind}")
    return tuple(values)


def jvp(
    engine: Engine, f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], has_aux: bool = False
) -> Any:
    """Return the value of a program and its derivative along tangents.

    Parameters
    ----------
    f : callable
        The program.
    primals, tangents : tuple
        One entry for each argument. A tangent has its primal's structure, with None for discrete leaves.
    has_aux : bool
        Whether `f` returns ``(value, aux)``; aux is then the third result.

    Returns
    -------
    value, tangent : structure
        The tangent has the value's structure.

    Raises
    ------
    CotangentError
        If a tangent does not fit its primal; the message contains the path to the place.

    Examples
    --------
    >>> import tapeengine as te
    >>> te.jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 0.5))
    (6.0, 4.0)
    """
    primals, tangents = as_tuple(primals, "primals"), as_tuple(tangents, "tangents")
    own = own_derivative(f, "__tapeengine_jvp__")
    if own is not None and not has_aux:
        found = f.jvp_at_once(primals, tangents) if isinstance(f, Enterable) else None
        return found or own(f, engine, primals, tangents)
    value, backpropagator, *aux = engine.trace(f, primals, has_aux=has_aux)
    return (value, linear.jvp(backpropagator, tangents), *aux)


def linearize(engine: Engine, f: Callable[..., Any], *primals: Any) -> tuple[Any, LinearMap]:
    """Return the value of a program and its derivative there as a `LinearMap`.

    The domain is the space of the single primal, or of the tuple of several primals.

    Examples
    --------
    >>> import tapeengine as te
    >>> value, m = te.linearize(lambda x: [x * x, 3.0 * x], 2.0)
    >>> value, m(1.0), m.T([1.0, 0.0])
    ([4.0, 6.0], [4.0, 3.0], 4.0)
    """
    value, backpropagator = engine.trace(f, primals)
    if isinstance(backpropagator, OwnDerivative):
        backpropagator = backpropagator.for_later()
    single = len(primals) == 1

    def action(tangent: Any) -> Any:
        return pushed(backpropagator, (tangent,) if single else as_tuple(tangent, "a tangent of several primals"))

    def transposed(cotangent: Any) -> Any:
        cotangents = backpropagator(cotangent)
        return cotangents[0] if single else cotangents

    def matrix() -> Any:
        if not isinstance(backpropagator, OwnDerivative) and linear.depends_on_outer(backpropagator):
            return None
        return full_matrix(backpropagator, codomain, domain, single, domain.size <= codomain.size)

    domain = form_of(engine.structures, primals[0] if single else primals)
    codomain = form_of(engine.structures, value)
    return value, LinearMap(action, transposed, domain, codomain, matrix=matrix)
