"""`check_vjp`: checks the derivative of a whole program as `check_primitive` checks a primitive's rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..default import default_engine
from ..engine import Engine
from ..errors import StructureError
from ..forms import flatten, unflatten
from ..primitive.spaces import leaves, space_of
from .checks import CHECKS, ROUNDINGS, check_space, check_zero
from .derivative import Derivative, copied, has_nan, same_bits
from .report import Report


def check_vjp(
    program: Callable[..., Any], *primals: Any, engine: Engine | None = None, seed: int = 0, order: int = 2
) -> Report:
    """Check the derivative of a program against differences, and its jvp and vjp against each other.

    The checks are ``value`` (vjp returns what the program returns), ``inputs`` (the primals are not changed),
    ``space`` (each cotangent lies in its primal's space), ``linearity``, ``adjoint`` (jvp and vjp are transposes of
    each other to 1e-13), ``differences``, ``zero``, ``repeat`` (a second call gives the same bits) and ``order2``
    (the same for the backpropagator as a program).

    Parameters
    ----------
    program : callable
        The program, which must be smooth at the primals.
    *primals
        The point at which it is checked.
    engine : Engine, optional
        The engine to use; by default that of the functions of `tapeengine`.
    seed : int
        The seed for tangents and cotangents.
    order : int
        With 1, the derivative of the backpropagator is not checked.

    Returns
    -------
    Report
        The number of runs of each check.

    Raises
    ------
    CheckError
        With one `Failure` for each broken rule.

    Examples
    --------
    >>> from tapeengine.testing import check_vjp
    >>> check_vjp(lambda x, y: x * y + y, 2.0, 3.0).failures
    []
    """
    report = report_vjp(program, *primals, engine=engine, seed=seed, order=order)
    report.raise_failures()
    return report


def report_vjp(
    program: Callable[..., Any], *primals: Any, engine: Engine | None = None, seed: int = 0, order: int = 2
) -> Report:
    """Like `check_vjp`, but return the failures in the report."""
    engine = default_engine() if engine is None else engine
    if all(map(engine.structures.is_discrete, flatten(engine.structures, primals)[0])):
        raise StructureError("no argument has a derivative, so there is nothing to check: write floats, 3.0 for 3")
    report = Report(getattr(program, "__qualname__", repr(program)))
    where = f"seed {seed}"
    program, primals = _on_leaves(engine, program, primals)
    report.run("value", "", where, lambda: _value_messages(engine, program, primals))
    if not report.failures:
        derivative = program_derivative(engine, program, primals)
        check_derivative(report, derivative, where, np.random.default_rng(seed))
        if order >= 2:
            report.run("order2", "", where, lambda: second_order(engine, program, primals, seed))
    return report


def _on_leaves(
    engine: Engine, program: Callable[..., Any], primals: tuple[Any, ...]
) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """The program on the leaves of its primals, where they hold classes that are registered with the engine alone."""
    structures = engine.structures
    if all(structures.find(type(leaf)) is None for leaf in leaves(primals)):
        return program, primals
    found, steps = flatten(structures, primals)

    def on_leaves(*given: Any) -> list[Any]:
        return flatten(structures, program(*unflatten(steps, given)))[0]

    return on_leaves, tuple(found)


def program_derivative(engine: Engine, program: Callable[..., Any], primals: tuple[Any, ...]) -> Derivative:
    """The derivative of a program for all primals together, from one backpropagator that is called repeatedly."""
    value, backpropagator = engine.vjp(program, *copied(primals))
    space, out_space = space_of(primals), space_of(value)
    return Derivative(
        argument="",
        point=primals,
        space=space,
        out_space=out_space,
        evaluate=lambda moved: program(*moved),
        jvp=lambda t: engine.jvp(program, copied(primals), t)[1],
        vjp=backpropagator,
    )


def check_derivative(report: Report, derivative: Derivative, where: str, generator: np.random.Generator) -> None:
    """Run the checks of one derivative."""
    if report.run("space", derivative.argument, where, lambda: check_space(derivative, generator)):
        report.run("zero", derivative.argument, where, lambda: check_zero(derivative, generator))
        for name, check in CHECKS.items():
            report.run(name, derivative.argument, where, partial(check, derivative, generator))


def second_order(engine: Engine, program: Callable[..., Any], primals: tuple[Any, ...], seed: int) -> Iterator[str]:
    """Check the backpropagator as a program of the cotangent and the primals."""

    def reverse(ct: Any, *inputs: Any) -> Any:
        return engine.vjp(program, *inputs)[1](ct)

    ct = space_of(program(*copied(primals))).random(np.random.default_rng(seed))
    for failure in report_vjp(reverse, ct, *primals, engine=engine, seed=seed, order=1).failures:
        yield f"the derivative of the backpropagator fails the check {failure.check}: {failure.message}"


def _value_messages(engine: Engine, program: Callable[..., Any], primals: tuple[Any, ...]) -> Iterator[str]:
    given = copied(primals)
    value, _ = engine.vjp(program, *given)
    if not same_bits(given, primals):
        yield "vjp changes the primals"
    plain = program(*copied(primals))
    if space_of(value) != space_of(plain):
        yield f"vjp returns a value in {space_of(value)}, but the program returns one in {space_of(plain)}"
    elif not all(_near(a, b) for a, b in zip(leaves(value), leaves(plain), strict=True)):
        yield f"vjp returns {value!r}, but the program returns {plain!r}"
    elif has_nan(plain) and not has_nan(primals):
        yield "the primal is NaN here: check the program at a point of its domain"


def _near(a: Any, b: Any) -> bool:
    if space_of(a).is_discrete:
        return bool(np.all(a == b))
    x, y = np.asarray(a), np.asarray(b)
    size = float(np.abs(y[np.isfinite(y)]).max(initial=0.0))
    return bool(np.allclose(x, y, rtol=0.0, atol=ROUNDINGS * float(np.finfo(y.dtype).eps) * size, equal_nan=True))
