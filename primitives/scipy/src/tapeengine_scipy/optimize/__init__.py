"""Derivatives of `scipy.optimize`: solutions of equations and minima, with SciPy's own signatures.

A solution x of f(x, p) = 0 is a function of the parameters p by the implicit function theorem:
dx = -(df/dx)^-1 (df/dp) dp. The iterations run on plain values and are not differentiated. The parameters are the
traced values in ``args=`` or captured by the callable. A starting point does not affect the solution, so only its value
is used.

Examples
--------
>>> import tapeengine as te
>>> from tapeengine_scipy import optimize
>>> te.grad(lambda a: optimize.brentq(lambda x: x * x - a, 0.0, 10.0))(4.0)
0.25
"""

from tapeengine_scipy._names import names_of
from tapeengine_scipy._own_code import rule
from tapeengine_scipy.optimize.equations import fsolve, newton, root
from tapeengine_scipy.optimize.fits import curve_fit, least_squares, leastsq
from tapeengine_scipy.optimize.fmin import fmin, fmin_bfgs, fmin_cg, fmin_l_bfgs_b, fmin_powell
from tapeengine_scipy.optimize.intervals import bisect, brenth, brentq, ridder, toms748
from tapeengine_scipy.optimize.linear import linprog
from tapeengine_scipy.optimize.minima import minimize, minimize_scalar

__all__ = [
    "bisect", "brent", "brenth", "brentq", "curve_fit", "fmin", "fmin_bfgs", "fmin_cg", "fmin_l_bfgs_b",
    "fmin_powell", "fminbound", "fsolve", "golden", "least_squares", "leastsq", "linprog", "minimize",
    "minimize_scalar", "newton", "ridder", "root", "root_scalar", "toms748",
]  # fmt: skip

brent, fminbound, golden, root_scalar = (
    rule(f"scipy.optimize.{name}", runs_callables=True) for name in ("brent", "fminbound", "golden", "root_scalar")
)

__getattr__, __dir__ = names_of("scipy.optimize", globals())
