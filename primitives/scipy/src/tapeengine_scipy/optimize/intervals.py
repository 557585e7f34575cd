"""Roots of scalar functions in an interval whose ends have values of opposite signs."""

from collections.abc import Callable
from typing import Any

import scipy

from tapeengine_scipy._callables import Closed, constants, plain, plain_values
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import refuse_traced
from tapeengine_scipy._values import of_python
from tapeengine_scipy.optimize.implicit import as_tuple, check_converged, solution


def _finder(name: str) -> Callable[..., Any]:
    """The counterpart of one of SciPy's methods; a root depends on the function, not on the ends of the interval."""

    @with_signature(f"scipy.optimize.{name}", returns="a root", runs_callables=True)
    def find(**given: Any) -> Any:
        return _root(name, getattr(scipy.optimize, name), **given)

    find.__doc__ = _DOCSTRING.format(name=name)
    return find


def _root(
    name: str, theirs: Callable[..., Any], f: Any, a: Any, b: Any, args: Any, full_output: bool, **options: Any
) -> Any:
    options = constants(options)
    refuse_traced(f"a tolerance of {name}", options)
    closed, ends = Closed((f, as_tuple(args)), name), plain_values((a, b))
    found: list[Any] = []
    if not closed.is_traced:
        return theirs(f, *ends, args=args, full_output=full_output, **options)

    def solve(f: Any, args: Any) -> Any:
        found[:] = theirs(plain(f, name), *ends, args=args, full_output=True, **options)
        check_converged(found[1].converged, name, found[1].flag)
        return [found[0]]

    x = solution(closed, solve, lambda x, f, args: f(x[0], *args))[0]
    x = of_python(x) if type(found[0]) is float else x
    found[1].root = x
    return (x, found[1]) if full_output else x


_DOCSTRING = """Find a root in an interval whose ends have opposite signs; see `scipy.optimize.{name}`.

    Examples
    --------
    >>> round(float({name}(lambda x: x**2 - 4.0, 0.0, 10.0)), 9)
    2.0
    """

bisect, brenth, brentq, ridder, toms748 = map(_finder, ("bisect", "brenth", "brentq", "ridder", "toms748"))
