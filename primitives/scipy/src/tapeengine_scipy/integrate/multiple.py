"""Integrals over several variables: an integral of integrals, each by `quad`. SciPy's code calls `nquad` for others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import scipy

from tapeengine_scipy._callables import Closed
from tapeengine_scipy._own_code import rule
from tapeengine_scipy._passing import beside
from tapeengine_scipy.integrate.quadrature import quad


@beside("scipy.integrate.nquad", runs_callables=True)
def nquad(func: Callable[..., Any], ranges: Any, args: Any = None, opts: Any = None, full_output: bool = False) -> Any:
    """Integrate over several variables, the first one innermost; see `scipy.integrate.nquad`.

    Differentiable in the limits, in `args` and in the traced values that the callables captured. A gradient evaluates
    an integral and its gradient at each node of the variable around it, so its time grows with the power of the number
    of variables.

    Returns
    -------
    result : float
    abserr : float
        The largest of the plain error estimates.
    out_dict : dict
        With `full_output`, the number of evaluations of `func` for the value.

    Examples
    --------
    >>> import tapeengine as te
    >>> round(te.grad(lambda k: nquad(lambda x, y: k * x * y, [(0.0, 1.0), (0.0, 2.0)])[0])(3.0), 12)
    1.0
    """
    outer = args if isinstance(args, tuple) else () if args is None else (args,)
    if not Closed((func, ranges, outer, opts), "nquad").is_traced:
        return scipy.integrate.nquad(func, ranges, args, opts, full_output)
    limits = [_of_outer(each) for each in ranges]
    given = [opts] * len(limits) if isinstance(opts, dict) or callable(opts) else opts or [{}] * len(limits)
    options = [_of_outer(each) for each in given]
    errors, counts = [0.0], [0]

    def integral(place: int, *others: Any) -> Any:
        low, high = limits[place](*others)
        chosen = dict(options[place](*others))
        if "points" in chosen:
            chosen["points"] = [x for x in chosen["points"] if low <= x <= high]
        inner = func if place == 0 else lambda x, *rest: integral(place - 1, x, *rest)
        value, error, *report = quad(inner, low, high, args=others, full_output=full_output, **chosen)
        errors[0] = max(errors[0], error)
        counts[0] += report[0]["neval"] if report and place == 0 else 0
        return value

    value = integral(len(limits) - 1, *outer)
    return (value, errors[0], {"neval": counts[0]}) if full_output else (value, errors[0])


def _of_outer(given: Any) -> Callable[..., Any]:
    """Return limits or options as a function of the variables around them."""
    return given if callable(given) else lambda *_: given


dblquad, tplquad = (rule(f"scipy.integrate.{name}", runs_callables=True) for name in ("dblquad", "tplquad"))
