"""Functions that numpy writes in Python on other functions: their rules are numpy's code, run with traced values."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import SimpleNamespace
from typing import Any

import numpy

import tapeengine.numpy as np
from tapeengine.numpy._twins import rule_of

from .extremes import within

#: The names of these functions in numpy and its modules.
_NAMES = {
    numpy: """
        apply_along_axis apply_over_axes average block column_stack cumulative_prod cumulative_sum delete
        diag diagflat diff dstack ediff1d extract geomspace histogram2d histogramdd imag insert logspace meshgrid
        nancumprod nancumsum pad piecewise poly polyadd polyder polyint polysub real real_if_close resize
        setdiff1d setxor1d sort_complex tensordot tile trapezoid union1d unique_all unique_counts unique_inverse
        vander
    """,
    numpy.emath: "arccos arcsin arctanh log log10 log2 logn power sqrt",
    numpy.fft: "fft2 fftn hfft ifft2 ifftn ihfft irfft2 irfftn rfft2 rfftn",
    numpy.linalg: "cross diagonal matmul matrix_power multi_dot outer svdvals tensordot tensorinv trace vecdot",
}
_FUNCTIONS = [getattr(home, name) for home, names in _NAMES.items() for name in names.split()]
#: Functions whose code writes traced values into arrays that it makes of its arguments.
_WRITING = (numpy.polydiv, numpy.polyfit)


def _following(value: Any) -> Any:
    """Return an argument with a copy on the trace, of floats, in place of an array or a list of numbers."""
    return np.array(np.asarray(value) + 0.0) if type(value) in (list, tuple, numpy.ndarray) else value


def _writing(function: Any) -> Callable[..., Any]:
    """Return the rule of a function that writes into its arguments: its code on copies that follow a derivative."""
    rule = rule_of(function)

    @wraps(rule)
    def on_copies(*args: Any, **options: Any) -> Any:
        return rule(*map(_following, args), **{name: _following(value) for name, value in options.items()})

    return on_copies


RULES = {
    **{function: rule_of(function) for function in _FUNCTIONS},
    **{function: _writing(function) for function in _WRITING},
    numpy.corrcoef: rule_of(numpy.corrcoef, np=SimpleNamespace(clip=within, iscomplexobj=np.iscomplexobj)),
}
