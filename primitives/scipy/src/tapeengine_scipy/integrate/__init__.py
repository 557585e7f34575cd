"""Derivatives of `scipy.integrate`: integrals and differential equations, with SciPy's own signatures.

Examples
--------
>>> import numpy as np
>>> from tapeengine_scipy import integrate
>>> float(integrate.trapezoid(np.ones(3)))
2.0
"""

from tapeengine_scipy._names import names_of
from tapeengine_scipy._own_code import rule
from tapeengine_scipy.integrate.boundary_values import solve_bvp
from tapeengine_scipy.integrate.initial_values import odeint, solve_ivp
from tapeengine_scipy.integrate.quadrature import quad
from tapeengine_scipy.integrate.samples import simpson
from tapeengine_scipy.integrate.vectors import quad_vec

__all__ = ["dblquad", "nquad", "odeint", "quad", "quad_vec", "simpson", "solve_bvp", "solve_ivp", "tplquad"]

dblquad, nquad, tplquad = (
    rule(f"scipy.integrate.{name}", runs_callables=True) for name in ("dblquad", "nquad", "tplquad")
)

__getattr__, __dir__ = names_of("scipy.integrate", globals())
