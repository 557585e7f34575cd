"""The older functions for minima, such as `fmin_bfgs`: their results are roots of the gradient."""

from collections.abc import Callable
from typing import Any

import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import Closed, constants, holds_traced, plain, plain_values
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import find
from tapeengine_scipy._values import of_python
from tapeengine_scipy.optimize.implicit import as_number, as_tuple, check_converged, only_value, solution
from tapeengine_scipy.optimize.minima import on_bounds, slope_of


def _minimum(name: str) -> Callable[..., Any]:
    """The function of SciPy that finds a minimum, with its signature."""

    @with_signature(f"scipy.optimize.{name}", returns="the minimum of a function", runs_callables=True)
    def minimum(**given: Any) -> Any:
        fun = given.pop("func" if "func" in given else "f")
        held = fun, as_tuple(given.pop("args", ())), given.pop("fprime", None)
        return _found(name, Closed(held, name), given)

    return minimum


def _found(name: str, closed: Closed, given: dict[str, Any]) -> Any:
    """Minimise by SciPy's function, and differentiate the minimum, as a function of what the callables hold."""
    start, given = plain_values(given.pop("x0")), constants(given)
    if holds_traced(given) or given.pop("full_output", 0) or given.pop("retall", 0):
        raise UnsupportedError(f"{name}: only the minimum is differentiated, with constant options: use minimize")
    in_full, found = name == "fmin_l_bfgs_b", list[Any]()
    with_slope = in_full and not given.get("approx_grad")  # without `fprime`, the function gives its gradient as well

    def solve(fun: Any, args: Any, prime: Any) -> Any:
        more = ({} if prime is None else {"fprime": plain(prime, name)}) | ({} if in_full else {"full_output": 1})
        found[:] = find(f"scipy.optimize.{name}")(plain(fun, name), start, args=args, **more, **given)
        warned = found[-1]["warnflag"] if in_full else found[-1]
        check_converged(warned == 0, name, f"it ended with the flag {warned}")
        return found[0]

    def residual(x: Any, fun: Any, args: Any, prime: Any) -> Any:
        slope, fixed = slope_of(x, fun, args, prime or with_slope), on_bounds(found[0], given.get("bounds"))
        return slope if fixed is None else np.where(fixed, x - found[0], slope)

    x = solution(closed, solve, residual)
    return (x, _value(x, *closed.at(closed.params), with_slope, found[1]), found[-1]) if in_full else x


def _value(x: Any, fun: Any, args: Any, prime: Any, with_slope: bool, like: Any) -> Any:
    value = as_number(only_value(fun(x, *args), with_slope and not prime))
    return of_python(value) if type(like) is float else value


fmin, fmin_bfgs, fmin_cg = map(_minimum, ("fmin", "fmin_bfgs", "fmin_cg"))
fmin_l_bfgs_b, fmin_powell = map(_minimum, ("fmin_l_bfgs_b", "fmin_powell"))
