"""Initial value problems: `solve_ivp` and `odeint`."""

import functools
from collections.abc import Callable
from typing import Any

import numpy
import scipy

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import UnsupportedError
from tapeengine_scipy._callables import Closed, as_vector, constants, plain
from tapeengine_scipy._own_code import with_signature
from tapeengine_scipy._passing import Passed, refuse_traced
from tapeengine_scipy._results import Table, entries
from tapeengine_scipy._values import floating, is_traced
from tapeengine_scipy.integrate.events import Dense, Path, differentiate_events, last_event
from tapeengine_scipy.integrate.steps import differentiated_steps
from tapeengine_scipy.integrate.trajectory import Solver, System, trajectory
from tapeengine_scipy.optimize.implicit import check_converged


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Any,
    y0: Any,
    method: Any = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    *,
    differentiate: str = "adjoint",
    **options: Any,
) -> Any:
    """Solve an initial value problem; see `scipy.integrate.solve_ivp`.

    Parameters
    ----------
    fun, t_span, y0, method, t_eval, dense_output, events, vectorized, args, **options
        As in SciPy. Derivatives are taken with respect to `t_span`, `y0`, `t_eval`, `args` and the traced values that
        `fun` and `events` captured, also for the times and states of events and for ``sol``. Complex states are
        refused if values are traced.
    differentiate : {'adjoint', 'steps'}
        'adjoint' solves the continuous adjoint backwards by collocation, with the same `rtol`, along the dense output
        of another run forwards: it supports any method, also for stiff systems, at a cost that does not depend on the
        number of output times, needs memory for the solver's steps, and is exact up to the tolerances. 'steps'
        differentiates the solver's steps with constant lengths: it gives the derivative of the computed numbers, for
        the methods 'RK45' and 'RK23', with a record for each operation of each step. With 'steps' times are constants.

    Returns
    -------
    scipy.integrate.OdeResult
        Its ``y`` (and ``t``, if times are traced) are functions of the traced values; the rest is plain.

    Examples
    --------
    >>> import numpy as np
    >>> import tapeengine as te
    >>> def end(k):
    ...     return solve_ivp(lambda t, y: -k * y, (0.0, 1.0), np.array([1.0]), rtol=1e-10, atol=1e-10).y[0, -1]
    >>> round(te.grad(end)(1.0), 6), round(float(-np.exp(-1.0)), 6)
    (-0.367879, -0.367879)
    """
    given = () if args is None else args
    watched = [] if events is None else [events] if callable(events) else list(events)
    method = method.of_scipy() if isinstance(method, Passed) else method
    options = constants(options)
    refuse_traced("a tolerance or step of solve_ivp", {name: x for name, x in options.items() if name != "jac"})
    closed = Closed((fun, given, options.get("jac"), watched), "solve_ivp")
    start, span = floating(y0), tuple(t_span)
    times = t_eval if is_traced(t_eval) or t_eval is None else floating(t_eval)
    if not (closed.is_traced or is_traced(start) or is_traced(times) or any(map(is_traced, span))):
        return scipy.integrate.solve_ivp(
            fun, t_span, y0, method, t_eval, dense_output, events, vectorized, args, **options
        )
    if start.dtype.kind == "c":
        raise UnsupportedError("solve_ivp: a complex state is not differentiated; use its real and imaginary parts")
    still = tuple(map(te.value, span))

    def solve(fun: Any, args: Any, jac: Any, events: Any) -> Any:
        system = plain(lambda t, y: fun(t, y, *args), "solve_ivp")
        along = plain(lambda t, y: jac(t, y, *args), "solve_ivp") if callable(jac) else jac
        whole = {**options, "jac": along} if "jac" in options else options
        seen = [_plain_event(event, args) for event in events] or None
        return scipy.integrate.solve_ivp(
            system, still, te.value(start), method, te.value(times), dense_output, seen, **whole
        )

    found = closed.run(solve, te.value(closed.params))
    if not found.success:
        raise UnsupportedError(f"solve_ivp did not reach the end, so its result is not differentiated: {found.message}")
    if differentiate == "steps" and (watched or dense_output):
        raise UnsupportedError("solve_ivp: differentiate='steps' has no events and dense_output; use 'adjoint'")
    if differentiate == "steps":
        if is_traced(times) or any(map(is_traced, span)):
            raise UnsupportedError("solve_ivp: times are constants of differentiate='steps'; use 'adjoint'")
        found.y = differentiated_steps(closed, still, start, method, times, options)
    elif differentiate == "adjoint":
        before = numpy.zeros((len(start), 0)) if times is None else te.value(start)[:, None]
        known = numpy.concatenate([before, numpy.reshape(found.y, (len(start), len(found.t)))], axis=1)
        solver = functools.partial(_ivp_solver, closed, method, options)
        path = Path(_system(closed), span[0], start, closed.params, solver)
        if watched:
            differentiate_events(found, path, _events(closed))
        if found.status == 1:  # ended by a terminal event
            span = (span[0], last_event(found, watched))
            times = None if times is None else times[: found.t.shape[0]]
        if dense_output:
            found.sol = Dense(path, found.sol)
        if times is None or len(times):
            found.t, found.y = _adjoint(closed, span, start, times, found, solver(known))
    else:
        raise ValueError(f"solve_ivp: differentiate must be 'adjoint' or 'steps', not {differentiate!r}")
    return found


def _plain_event(event: Any, args: Any) -> Callable[..., Any]:
    """An event as a function of plain times and states, with the user's attributes for ends and directions."""
    made = plain(lambda t, y: event(t, y, *args), "solve_ivp")
    for name in ("terminal", "direction"):
        if hasattr(event, name):
            setattr(made, name, getattr(event, name))
    return made


def _events(closed: Closed) -> Callable[[int, Any, Any], Any]:
    """The value of an event, given by its number, at a time and a state that may be traced."""
    _, args, _, events = closed.at(closed.params)
    return lambda k, t, y: events[k](t, y, *args)


def _system(closed: Closed, tfirst: bool = True) -> System:
    def system(params: Any) -> Callable[[Any, Any], Any]:
        again = closed.for_calls(params)

        def slope(t: Any, y: Any) -> Any:
            fun, args, *_ = again()
            found = fun(t, y, *args) if tfirst else fun(y, t, *args)
            return np.broadcast_to(as_vector(floating(found)), y.shape)

        return slope

    return system


def _adjoint(closed: Closed, span: Any, start: Any, times: Any, found: Any, solver: Any) -> tuple[Any, Any]:
    """The states at the output times, as a function of all traced values."""
    if times is None:  # the solver's own times; their ends depend on the span
        inner = np.concatenate([np.array([span[0]]), found.t[1:-1], np.array([span[1]])])
        return inner, trajectory(start, inner, closed.params, _system(closed), solver)
    whole = np.concatenate([np.array([span[0]]), times])
    return times, trajectory(start, whole, closed.params, _system(closed), solver)[:, 1:]


def _ivp_solver(closed: Closed, method: Any, options: dict[str, Any], known: Any = None) -> Solver:
    """A solver for `trajectory`. The first time is the initial one; in the rules' calls the last is the end."""
    forwards = {name: value for name, value in options.items() if name != "first_step"}

    def states(fun: Any, y0: Any, times: Any) -> Any:
        return _states(fun, y0, times, False, method=method, **_without_structure(forwards, len(y0)))

    def dense(fun: Any, y0: Any, times: Any) -> Any:
        return _states(fun, y0, times, True, method=method, **_without_structure(forwards, len(y0)))

    return _repeated(closed, states, dense, (options.get("rtol", 1e-3), options.get("atol", 1e-6)), known)


def _repeated(closed: Closed, states: Any, dense: Any, tolerances: Any, known: Any) -> Solver:
    """A solver that returns the states that are known already, and checks that the callable repeats before others."""

    def found(fun: Any, y0: Any, times: Any) -> Any:
        if known is not None and len(known) == len(y0):
            return known.copy()
        closed.check_that_it_repeats()
        return states(fun, y0, times)

    def solution(fun: Any, y0: Any, times: Any) -> Any:
        closed.check_that_it_repeats()
        return dense(fun, y0, times)

    relative, absolute = (float(numpy.min(one)) for one in tolerances)
    return Solver(found, solution, (relative, absolute))


def _states(fun: Any, y0: Any, times: Any, dense: bool, **options: Any) -> Any:
    """The states at times, as columns, or as a function of the time between the first and the last."""
    unique, places = _distinct(times)
    if len(unique) == 1:
        return None if dense else numpy.repeat(y0[:, None], len(times), axis=1)
    options |= {"dense_output": True} if dense else {"t_eval": unique}
    result = scipy.integrate.solve_ivp(fun, (unique[0], unique[-1]), y0, **options)
    if not result.success:
        raise UnsupportedError(f"solve_ivp: a derivative could not be integrated: {result.message}")
    return result.sol if dense else result.y[:, places]


def _distinct(times: Any) -> tuple[Any, Any]:
    """Times without repetitions in the order of integration, and the position of each given time among them."""
    fresh = numpy.concatenate([[True], numpy.diff(times) != 0])
    return times[fresh], numpy.cumsum(fresh) - 1


def _without_structure(options: dict[str, Any], size: int) -> dict[str, Any]:
    """Remove options that describe the user's system but not the larger systems of its derivatives."""
    kept = {name: value for name, value in options.items() if name not in ("jac", "jac_sparsity", "lband", "uband")}
    for name in ("rtol", "atol"):
        if numpy.ndim(kept.get(name, 0.0)) and len(kept[name]) != size:
            kept[name] = float(numpy.min(kept[name]))
    return kept


@with_signature("scipy.integrate.odeint", runs_callables=True)
def odeint(func: Any, y0: Any, t: Any, args: Any, Dfun: Any, full_output: int, tfirst: bool, **options: Any) -> Any:
    """Solve an initial value problem with LSODA; see `scipy.integrate.odeint`.

    Differentiable in `y0`, `t`, `args` and the traced values that `func` captured, by the continuous adjoint. With
    `full_output`, entries that are no whole numbers or texts belong to the solver's steps: reading these is refused.

    Examples
    --------
    >>> import numpy as np
    >>> odeint(lambda y, t: -y, [1.0], [0.0, 1.0]).shape
    (2, 1)
    """
    closed, start, times = Closed((func, args, Dfun), "odeint"), np.atleast_1d(floating(y0)), floating(t)
    report: list[Any] = []
    options = constants(options)
    refuse_traced("a tolerance or step of odeint", options)
    of_system = ("ml", "mu", "tcrit", "h0", "col_deriv")
    shared = {name: value for name, value in options.items() if name not in of_system}

    def solve(func: Any, args: Any, Dfun: Any) -> Any:
        def order(t: Any, y: Any) -> tuple[Any, Any]:
            return (t, y) if tfirst else (y, t)

        slope = plain(lambda t, y: as_vector(func(*order(t, y), *args)), "odeint")
        if not isinstance(args, tuple):
            return scipy.integrate.odeint(func, te.value(start), te.value(times), args)  # which raises its error
        if Dfun is not None:
            options["Dfun"] = plain(lambda t, y: Dfun(*order(t, y), *args), "odeint")
        y, told = scipy.integrate.odeint(slope, te.value(start), te.value(times), full_output=1, tfirst=True, **options)
        check_converged(told["message"].startswith(("Integration successful", "Nothing")), "odeint", told["message"])
        report.append(told)
        return y.T

    known = closed.run(solve, te.value(closed.params))
    y = trajectory(start, times, closed.params, _system(closed, tfirst), _odeint_solver(closed, shared, known)).T
    return (y, Table(entries("odeint", report[-1]))) if full_output else y


def _odeint_solver(closed: Closed, shared: dict[str, Any], known: Any) -> Solver:
    """A solver for `trajectory`: dense output is that of the method 'LSODA' of `solve_ivp`."""
    tolerances = {name: _ODEINT if shared[name] is None else shared[name] for name in ("rtol", "atol")}
    steps = {"max_step": shared["hmax"] or numpy.inf, "min_step": shared["hmin"]}

    def states(fun: Any, y0: Any, times: Any) -> Any:
        return scipy.integrate.odeint(fun, y0, times, tfirst=True, **_without_structure(shared, len(y0))).T

    def dense(fun: Any, y0: Any, times: Any) -> Any:
        return _states(fun, y0, times, True, method="LSODA", **_without_structure(tolerances, len(y0)), **steps)

    return _repeated(closed, states, dense, tuple(tolerances.values()), known)


_ODEINT = 1.49012e-8  # the tolerances of odeint
