"""The evaluation ``lse``: the logarithm of a sum of exponentials."""

from typing import Any

import numpy as onp

import tapeengine as te

from .functions import Function
from .gmm import log_sum_exp


def prepare(given: dict[str, Any]) -> tuple[Any]:
    """The array."""
    return (onp.array(given["x"], dtype=float),)


FUNCTIONS = {"primal": Function(prepare, log_sum_exp), "gradient": Function(prepare, te.grad(log_sum_exp))}
