"""Roots of functions of a number in an interval whose ends have opposite signs."""

from collections.abc import Callable
from typing import Any

import scipy

from tapeengine_scipy._callables import Closed, plain
from tapeengine_scipy._passing import beside, plain_values
from tapeengine_scipy.optimize.implicit import as_tuple, check_converged, solution


def _bracketed(name: str, f: Callable[..., Any], a: Any, b: Any, args: Any, full_output: bool, **options: Any) -> Any:
    """A root between two points by one of SciPy's methods for that."""
    closed, ends, theirs = Closed((f, as_tuple(args)), name), plain_values((a, b)), getattr(scipy.optimize, name)
    found: list[Any] = []
    if not closed.is_traced:
        return theirs(f, *ends, args=args, full_output=full_output, **options)

    def solve(f: Any, args: Any) -> Any:
        found[:] = theirs(plain(f, name), *ends, args=args, full_output=True, **options)
        check_converged(found[1].converged, name, found[1].flag)
        return [found[0]]

    x = solution(closed, solve, lambda x, f, args: f(x[0], *args))[0]
    return (x, found[1]) if full_output else x


@beside("scipy.optimize.bisect", runs_callables=True)
def bisect(
    f: Callable[..., Any],
    a: float,
    b: float,
    args: Any = (),
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root in an interval whose ends have opposite signs; see `scipy.optimize.bisect`.

    Examples
    --------
    >>> round(bisect(lambda x: x**2 - 4.0, 0.0, 10.0), 9)
    2.0
    """
    return _bracketed("bisect", f, a, b, args, full_output, xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp)


@beside("scipy.optimize.brenth", runs_callables=True)
def brenth(
    f: Callable[..., Any],
    a: float,
    b: float,
    args: Any = (),
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root in an interval whose ends have opposite signs; see `scipy.optimize.brenth`.

    Examples
    --------
    >>> round(brenth(lambda x: x**2 - 4.0, 0.0, 10.0), 9)
    2.0
    """
    return _bracketed("brenth", f, a, b, args, full_output, xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp)


@beside("scipy.optimize.brentq", runs_callables=True)
def brentq(
    f: Callable[..., Any],
    a: float,
    b: float,
    args: Any = (),
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root in an interval whose ends have opposite signs; see `scipy.optimize.brentq`.

    Examples
    --------
    >>> round(brentq(lambda x: x**2 - 4.0, 0.0, 10.0), 9)
    2.0
    """
    return _bracketed("brentq", f, a, b, args, full_output, xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp)


@beside("scipy.optimize.ridder", runs_callables=True)
def ridder(
    f: Callable[..., Any],
    a: float,
    b: float,
    args: Any = (),
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root in an interval whose ends have opposite signs; see `scipy.optimize.ridder`.

    Examples
    --------
    >>> round(ridder(lambda x: x**2 - 4.0, 0.0, 10.0), 9)
    2.0
    """
    return _bracketed("ridder", f, a, b, args, full_output, xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp)


@beside("scipy.optimize.toms748", runs_callables=True)
def toms748(
    f: Callable[..., Any],
    a: float,
    b: float,
    args: Any = (),
    k: int = 1,
    xtol: float = 2e-12,
    rtol: float = 8.881784197001252e-16,
    maxiter: int = 100,
    full_output: bool = False,
    disp: bool = True,
) -> Any:
    """Find a root in an interval whose ends have opposite signs; see `scipy.optimize.toms748`.

    Examples
    --------
    >>> round(float(toms748(lambda x: x**2 - 4.0, 0.0, 10.0)), 9)
    2.0
    """
    return _bracketed("toms748", f, a, b, args, full_output, k=k, xtol=xtol, rtol=rtol, maxiter=maxiter, disp=disp)
