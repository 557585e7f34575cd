"""Functions of `scipy` itself on traced closures: correct or an error, except for methods that only compare values."""

import warnings

import numpy as np
import pytest
import scipy.differentiate
import scipy.integrate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.optimize.elementwise
import scipy.stats

import tapeengine as te

OPTIMIZE, INTEGRATE = scipy.optimize, scipy.integrate
COMPARES_ONLY = {"golden", "minimize_scalar golden", "brute", "line_search"}


def parabola(p):
    return lambda x: (x - p) ** 2 + 0.1 * x**4


def cubic(p):
    return lambda x: x**3 + x - p


def bowl(p):
    return lambda x: (x[0] - p) ** 2 + (x[1] - 2 * p) ** 2


def system(p):
    return lambda x: [x[0] ** 3 + x[0] - p, x[1] - p * x[0]]


START, BOX = [0.31, 0.22], [(-3, 3), (-3.1, 3)]
METHODS = ("nelder-mead", "powell", "cg", "bfgs", "l-bfgs-b", "tnc", "cobyla", "cobyqa", "slsqp", "trust-constr")
#: Tolerances of methods whose default is too loose for differences of their results.
TIGHT = {"cobyla": 1e-9}
PROGRAMS = {
    "golden": lambda p: OPTIMIZE.golden(parabola(p)),
    "brent": lambda p: OPTIMIZE.brent(parabola(p)),
    "fminbound": lambda p: OPTIMIZE.fminbound(parabola(p), -5, 5),
    "brute": lambda p: OPTIMIZE.brute(lambda x: parabola(p)(x[0]), [(0, 2)], finish=None),
    "line_search": lambda p: OPTIMIZE.line_search(bowl(p), lambda x: x, np.array(START), np.ones(2))[0] or 0.0,
    **{
        f"minimize_scalar {m}": lambda p, m=m: (
            OPTIMIZE.minimize_scalar(parabola(p), bounds=(-5, 5) if m == "bounded" else None, method=m).x
        )
        for m in ("golden", "brent", "bounded")
    },
    **{
        m: lambda p, m=m: getattr(OPTIMIZE, m)(cubic(p), -5, 5)
        for m in ("brentq", "bisect", "brenth", "ridder", "toms748")
    },
    "newton": lambda p: OPTIMIZE.newton(cubic(p), 1.0),
    "newton with a slope": lambda p: OPTIMIZE.newton(cubic(p), 1.0, fprime=lambda x: 3 * x * x + 1),
    "fixed_point": lambda p: OPTIMIZE.fixed_point(lambda x: np.cos(x) * p / 2, 1.0),
    **{
        f"minimize {m}": lambda p, m=m: OPTIMIZE.minimize(bowl(p), START, method=m, tol=TIGHT.get(m)).x[0]
        for m in METHODS
    },
    "fmin": lambda p: OPTIMIZE.fmin(bowl(p), START, disp=0)[0],
    "differential_evolution": lambda p: OPTIMIZE.differential_evolution(bowl(p), BOX, rng=1, maxiter=5).x[0],
    "direct": lambda p: OPTIMIZE.direct(bowl(p), BOX).x[0],
    "dual_annealing": lambda p: OPTIMIZE.dual_annealing(bowl(p), BOX, maxiter=5, rng=1).x[0],
    "shgo": lambda p: OPTIMIZE.shgo(bowl(p), BOX).x[0],
    "basinhopping": lambda p: OPTIMIZE.basinhopping(bowl(p), START, niter=2, rng=1).x[0],
    **{
        f"root {m}": lambda p, m=m: OPTIMIZE.root(system(p), START, method=m).x[0]
        for m in ("hybr", "lm", "broyden1", "anderson", "krylov", "df-sane")
    },
    "find_root": lambda p: OPTIMIZE.elementwise.find_root(cubic(p), (-5.0, 5.0)).x,
    "find_minimum": lambda p: OPTIMIZE.elementwise.find_minimum(parabola(p), (-5.0, 1.0, 5.0)).x,
    "bracket_root": lambda p: OPTIMIZE.elementwise.bracket_root(cubic(p), -1.0, 0.0).bracket[0],
    "bracket_minimum": lambda p: OPTIMIZE.elementwise.bracket_minimum(parabola(p), 1.0).bracket[0],
    "fsolve": lambda p: OPTIMIZE.fsolve(system(p), START)[0],
    "least_squares": lambda p: OPTIMIZE.least_squares(system(p), START).x[0],
    "leastsq": lambda p: OPTIMIZE.leastsq(system(p), START)[0][0],
    "curve_fit": lambda p: OPTIMIZE.curve_fit(lambda x, a: a * x * p, [1.0, 2.0], [2.0, 4.0])[0][0],
    "approx_fprime": lambda p: OPTIMIZE.approx_fprime(np.ones(2), bowl(p))[0],
    "quad": lambda p: INTEGRATE.quad(lambda x: p * x, 0, 1)[0],
    "dblquad": lambda p: INTEGRATE.dblquad(lambda x, y: p * x * y, 0, 1, 0, 1)[0],
    "nquad": lambda p: INTEGRATE.nquad(lambda x: p * x, [(0, 1)])[0],
    "quad_vec": lambda p: INTEGRATE.quad_vec(lambda x: p * x, 0, 1)[0],
    "fixed_quad": lambda p: INTEGRATE.fixed_quad(lambda x: p * x, 0, 1)[0],
    "tanhsinh": lambda p: INTEGRATE.tanhsinh(lambda x: p * x, 0, 1).integral,
    "nsum": lambda p: INTEGRATE.nsum(lambda x: p / x**2, 1, np.inf).sum,
    "solve_ivp": lambda p: INTEGRATE.solve_ivp(lambda t, y: -p * y, (0, 1), [1.0]).y[0, -1],
    "odeint": lambda p: INTEGRATE.odeint(lambda y, t: -p * y, [1.0], [0, 1])[-1, 0],
    "solve_bvp": lambda p: INTEGRATE.solve_bvp(
        lambda x, y: np.vstack([y[1], -p * y[0]]),
        lambda a, b: np.array([a[0], b[0] - 1]),
        np.linspace(0, 1, 4),
        np.ones((2, 4)),
    ).y[0, 1],
    "derivative": lambda p: scipy.differentiate.derivative(lambda x: p * x**2, 1.0).df,
    "funm": lambda p: scipy.linalg.funm(np.eye(2), lambda x: p * x)[0, 0],
    "generic_filter": lambda p: scipy.ndimage.generic_filter(np.ones(3), lambda x: p * x.sum(), 3)[0],
    "expect": lambda p: scipy.stats.norm.expect(lambda x: p * x * x),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("lifted", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_never_silently_wrong(name, lifted):
    program, h = PROGRAMS[name], 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = te.grad(te.lift(program) if lifted else program)(1.3)
        except Exception as error:  # ours, or SciPy's on values that it cannot compute with
            assert not lifted or isinstance(error, te.errors.TapeEngineError)
            return
        expected = (float(program(1.3 + h)) - float(program(1.3 - h))) / (2 * h)
    if name in COMPARES_ONLY and not lifted:
        assert found == 0.0
    else:  # rules give the derivative at the solution, from which the differences of a loose solver's are far
        assert found == pytest.approx(expected, rel=5e-2 if lifted else 1e-4, abs=1e-6)


@pytest.mark.parametrize("name", ["golden", "brent", "fminbound"])
def test_a_minimum_at_a_point_that_the_method_begins_with(name):
    ends = (-5, 5) if name == "fminbound" else ()

    def program(p):
        return getattr(OPTIMIZE, name)(lambda x: (x - p) ** 2, *ends, full_output=True)[:2]

    value, tangent = te.jvp(te.lift(program), (1.0,), (1.0,))
    assert value == program(1.0) and tangent == (pytest.approx(1.0, abs=1e-6), pytest.approx(0.0, abs=1e-6))
