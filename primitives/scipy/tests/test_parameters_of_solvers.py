"""Each parameter of solvers, traced in turn, by keyword and by place: the derivative of differences, or a refusal."""

import functools
import inspect
from importlib import import_module

import numpy as np
import pytest

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import TapeEngineError
from tapeengine_scipy._callables import holds_traced

START, TIMES, GRID = np.array([0.7, 1.2]), np.linspace(0.0, 1.0, 5), np.linspace(0.1, 2.0, 6)


def system(x, k=1.0):
    return tnp.stack([k * x[0] ** 3 + x[0] - 1.0, x[1] ** 3 + 2.0 * x[1] - x[0]])


def bowl(x, k=1.0):
    return (x[0] - 0.4 * k) ** 2 + 0.3 * (x[1] - k) ** 2 + 0.1 * x[0] ** 4


def decay(t, y, k=1.0):
    return -k * y * np.array([1.0, 2.0])


def cubic(x, k=1.0):
    return x**3 + x - k


TIGHT = {"xtol": 1e-12, "rtol": 1e-13, "maxiter": 200, "disp": True}
BRACKETED = {"f": cubic, "a": -1.0, "b": 2.0, "args": (1.5,), **TIGHT}
#: For each function, a value of each parameter that is tried.
CALLS = {
    "integrate.quad": {
        "func": lambda x, k=1.0: k * x * x, "a": 0.2, "b": 1.3, "args": (1.1,), "full_output": 1, "epsabs": 1e-10,
        "epsrel": 1e-10, "limit": 60, "points": [0.5],
    },
    "integrate.quad_vec": {
        "f": lambda x, k=1.0: k * x * START, "a": 0.2, "b": 1.3, "epsabs": 1e-10, "epsrel": 1e-10, "norm": "max",
        "cache_size": 1e6, "limit": 60, "workers": 1, "points": [0.5], "quadrature": "gk21", "full_output": True,
        "args": (1.1,),
    },
    "integrate.dblquad": {
        "func": lambda y, x, k=1.0: k * x * y, "a": 0.2, "b": 1.3, "gfun": 0.1, "hfun": lambda x: 1.0 + x,
        "args": (1.1,), "epsabs": 1e-9, "epsrel": 1e-9,
    },
    "integrate.nquad": {
        "func": lambda y, x, k=1.0: k * x * y, "ranges": [[0.1, 1.0], [0.2, 1.4]], "args": (1.1,),
        "opts": {"limit": 60}, "full_output": False,
    },
    "integrate.solve_ivp": {
        "fun": decay, "t_span": (0.0, 1.0), "y0": START, "method": "RK45", "t_eval": TIMES[:4],
        "dense_output": True, "events": lambda t, y, k=1.0: y[0] - 0.5, "vectorized": False, "args": (1.1,),
        "rtol": 1e-10, "atol": 1e-11, "max_step": 0.5, "first_step": 0.01,
    },
    "integrate.solve_ivp BDF": {
        "fun": decay, "t_span": (0.0, 1.0), "y0": START, "method": "BDF", "t_eval": TIMES[1:4], "args": (1.1,),
        "rtol": 1e-9, "atol": 1e-11, "jac": lambda t, y, k=1.0: -np.diag([1.1, 2.2]), "jac_sparsity": np.eye(2),
    },
    "integrate.solve_ivp LSODA": {
        "fun": decay, "t_span": (0.0, 1.0), "y0": START, "method": "LSODA", "t_eval": TIMES[1:4], "rtol": 1e-10,
        "atol": [1e-11, 1e-12], "lband": 0, "uband": 0, "min_step": 1e-9,
    },
    "integrate.odeint": {
        "func": decay, "y0": START, "t": TIMES, "args": (1.1,), "Dfun": lambda t, y, k: -np.diag([1.1, 2.2]),
        "col_deriv": 0, "full_output": 0, "ml": None, "mu": None, "rtol": 1e-11, "atol": 1e-12, "tcrit": [0.4],
        "h0": 1e-3, "hmax": 0.2, "hmin": 1e-12, "ixpr": 0, "mxstep": 900, "mxhnil": 1, "mxordn": 11, "mxords": 5,
        "printmessg": 0, "tfirst": True,
    },
    "integrate.solve_bvp": {
        "fun": lambda x, y: tnp.stack([y[1], -y[0]]), "bc": lambda u, v: tnp.stack([u[0], v[0] - 1.0]), "x": TIMES,
        "y": np.ones((2, 5)), "p": None, "S": None, "fun_jac": None, "bc_jac": None, "tol": 1e-6, "max_nodes": 900,
        "verbose": 0, "bc_tol": 1e-6,
    },
    "optimize.root": {
        "fun": system, "x0": START, "args": (1.2,), "method": "hybr", "jac": None, "tol": 1e-12, "callback": None,
        "options": {"maxfev": 400},
    },
    "optimize.fsolve": {
        "func": system, "x0": START, "args": (1.2,), "fprime": None, "full_output": False, "col_deriv": False,
        "xtol": 1e-12, "maxfev": 500, "band": None, "epsfcn": 1e-14, "factor": 50.0, "diag": [1.0, 1.1],
    },
    "optimize.root_scalar": {
        "f": cubic, "args": (1.5,), "method": "brentq", "bracket": (-1.0, 2.0), "fprime": None, "fprime2": None,
        "x0": 0.5, "x1": 0.6, "xtol": 1e-12, "rtol": 1e-13, "maxiter": 90, "options": None,
    },
    **{f"optimize.{name}": {**BRACKETED, "full_output": False} for name in ("brentq", "brenth", "bisect", "ridder")},
    "optimize.toms748": {**BRACKETED, "k": 1, "full_output": False},
    "optimize.newton": {
        "func": cubic, "x0": 0.5, "fprime": lambda x, k=1.0: 3 * x**2 + 1.0, "args": (1.5,), "tol": 1e-12,
        "maxiter": 60, "fprime2": lambda x, k=1.0: 6 * x, "x1": 0.7, "rtol": 1e-13, "full_output": False, "disp": True,
    },
    "optimize.minimize": {
        "fun": bowl, "x0": START, "args": (1.2,), "method": "BFGS", "jac": None, "tol": 1e-11,
        "options": {"maxiter": 300},
    },
    "optimize.minimize_scalar": {
        "fun": lambda x, k=1.0: (x - k) ** 2 + 0.1 * x**4, "bracket": (0.0, 1.0), "args": (1.2,), "method": "brent",
        "tol": 1e-10, "options": {"maxiter": 300},
    },
    "optimize.least_squares": {
        "fun": system, "x0": START, "bounds": (-9.0, 9.0), "ftol": 1e-14, "xtol": 1e-14, "gtol": 1e-14,
        "x_scale": [1.0, 1.1], "diff_step": None, "max_nfev": 400, "args": (1.2,),
    },
    "optimize.leastsq": {
        "func": system, "x0": START, "args": (1.2,), "full_output": False, "ftol": 1e-14, "xtol": 1e-14,
        "gtol": 0.0, "maxfev": 400, "factor": 50.0, "diag": [1.0, 1.1],
    },
    "optimize.curve_fit": {
        "f": lambda x, a, b: a * tnp.exp(-b * x), "xdata": GRID, "ydata": 2.0 * np.exp(-GRID) + 0.1 * np.sin(9 * GRID),
        "p0": [1.0, 0.9], "sigma": 1.0 + GRID, "absolute_sigma": True, "ftol": 1e-14, "xtol": 1e-14,
    },
    "optimize.fmin_bfgs": {"f": bowl, "x0": START, "args": (1.2,), "gtol": 1e-9, "disp": False},
    "optimize.fmin": {"func": bowl, "x0": START, "args": (1.2,), "xtol": 1e-9, "ftol": 1e-12, "disp": False},
}  # fmt: skip
STEP = 1e-3
WHOLE = [(call, place) for call in CALLS for place in (False, True)]


def scaled(value, a):
    """A parameter with its numbers, or the numbers that it returns, times a."""
    if callable(value):
        return lambda *args: scaled(value(*args), a)
    if isinstance(value, (list, tuple)):
        return type(value)(scaled(part, a) for part in value)
    return value * a if isinstance(value, (float, np.ndarray)) or holds_traced(value) else value


def has_numbers(value):
    if isinstance(value, (list, tuple)):
        return any(map(has_numbers, value))
    return callable(value) or isinstance(value, (float, np.ndarray))


def numbers(result):
    """A weighted sum of the numbers of a result."""
    for name in ("y", "x", "root"):
        if hasattr(result, name):
            return numbers(getattr(result, name))
    if isinstance(result, tuple):
        return numbers(result[0])
    return tnp.sum(result * np.cos(np.arange(np.size(result))).reshape(np.shape(result)))


def called(package, call, place, **changed):
    """Call a function with all parameters by keyword, or as many as possible by place."""
    module, _, name = call.split(" ")[0].partition(".")
    function = getattr(import_module(f"{package}.{module}"), name)
    given = {**CALLS[call], **changed}
    order = [p.name for p in inspect.signature(function).parameters.values() if p.kind == p.POSITIONAL_OR_KEYWORD]
    first = next((k for k, name in enumerate(order) if name not in given), len(order)) if place else 0
    placed = [given.pop(name) for name in order[:first]]
    return numbers(function(*placed, **given))


def attempt(function, *args):
    try:
        return function(*args), None
    except Exception as error:
        return None, error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "place"), WHOLE)
def test_each_parameter_traced_in_turn(call, place):
    wrong = []
    for name, value in CALLS[call].items():
        if not has_numbers(value):
            continue
        program = functools.partial(
            lambda package, a, n, v: called(package, call, place, **{n: scaled(v, a)}), n=name, v=value
        )
        around = [program("scipy", 1.0 + k * STEP) for k in (0, 1, -1, 2, -2)]
        found, error = attempt(te.value_and_grad(functools.partial(program, "tapeengine_scipy")), 1.0)
        if error is not None:
            wrong += [] if isinstance(error, TapeEngineError) else [f"{name}: {error!r}"]
            continue
        slope = (8 * (around[1] - around[2]) - (around[3] - around[4])) / (12 * STEP)
        if found[0] != pytest.approx(around[0], rel=1e-6) or found[1] != pytest.approx(slope, rel=1e-4, abs=2e-5):
            wrong.append(f"{name}: {found} for {around[0], slope}")
    assert wrong == []
