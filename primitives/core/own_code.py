"""Functions that numpy writes in Python on other functions: their rules are numpy's code, run with traced values.

Not among them are functions whose code changes what may be a plain array by traced values.
"""

from __future__ import annotations

import numpy

from tapeengine.numpy._twins import rule_of

#: The names of these functions in numpy and its modules.
_NAMES = {
    numpy: """
        apply_along_axis apply_over_axes average block column_stack corrcoef cumulative_prod cumulative_sum delete
        diag diagflat diff dstack ediff1d extract geomspace gradient histogram2d insert logspace meshgrid
        nancumprod nancumsum pad piecewise poly polyadd polyder polyint polysub real_if_close resize roots
        setdiff1d setxor1d sort_complex tensordot tile trapezoid union1d unique_all unique_counts unique_inverse
        vander
    """,
    numpy.emath: "arccos arcsin arctanh log log10 log2 logn power sqrt",
    numpy.fft: "fft2 fftn hfft ifft2 ifftn ihfft irfft2 irfftn rfft2 rfftn",
    numpy.linalg: "cross diagonal matrix_power multi_dot outer tensordot trace vecdot",
}
_FUNCTIONS = [getattr(home, name) for home, names in _NAMES.items() for name in names.split()]
RULES = {function: rule_of(function) for function in _FUNCTIONS}
