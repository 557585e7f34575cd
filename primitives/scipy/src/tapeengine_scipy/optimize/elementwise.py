"""Roots and minima of functions of arrays, for each element: SciPy's own, of plain values."""

from tapeengine_scipy._names import names_of

__getattr__, __dir__ = names_of("scipy.optimize.elementwise")
