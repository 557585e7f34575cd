"""The evaluation ``lse``: the logarithm of a sum of exponentials."""

from typing import Any

import numpy as onp

import tapeengine as te
import tapeengine.numpy as np

from .functions import Function


def log_sum_exp(x: Any) -> Any:
    """Return log(sum(exp(x))), shifted by the maximum."""
    largest = np.max(x)
    return largest + np.log(np.sum(np.exp(x - largest)))


def prepare(given: dict[str, Any]) -> tuple[Any]:
    """The array."""
    return (onp.array(given["x"], dtype=float),)


FUNCTIONS = {"primal": Function(prepare, log_sum_exp), "gradient": Function(prepare, te.grad(log_sum_exp))}
