"""Traced numbers of every class: a function that makes the number of a primal, and the primal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tapeengine as te

NUMBERS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "float": (lambda x: x, 1.3),
    "numpy.float64": (lambda x: x, np.float64(1.3)),
    "numpy.float32": (lambda x: x, np.float32(1.3)),
    "element": (lambda x: x[0], np.array([1.3])),
    "item": (lambda x: x[0].item(), np.array([1.3])),
    "float32": (lambda x: x[0], np.array([1.3], np.float32)),
    "item of float32": (lambda x: x.tolist()[0], np.array([1.3], np.float32)),
    "of math": (lambda x: te.math.exp(x[0]), np.array([0.3])),
    "complex": (lambda x: x, 1.3 + 0.4j),
    "item of complex": (lambda x: x[0].item(), np.array([1.3 + 0.4j])),
    "complex element": (lambda x: x[0], np.array([1.3 + 0.4j])),
    "complex64": (lambda x: x[0], np.array([1.3 + 0.4j], np.complex64)),
    "absolute": (lambda x: abs(x), 1.3 + 0.4j),
    "numpy.absolute": (lambda x: np.abs(x), 1.3 + 0.4j),
    "part of cmath": (lambda x: te.cmath.exp(x).real, np.float64(0.3)),
    "size of cmath": (lambda x: abs(te.cmath.exp(x[0])), np.array([1.3])),
    "part of numpy": (lambda x: np.exp(x + 1j).real, 1.3),
    "part of a sum": (lambda x: (x[0] + 1j * x[1]).imag, np.array([1.3, 0.4])),
    "real part": (lambda x: x.real, 1.3 + 0.4j),
}
