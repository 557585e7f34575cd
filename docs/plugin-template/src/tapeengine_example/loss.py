"""The operation: its value, its partial derivative, where its argument may lie, and its C kernels."""

from typing import Any

import tapeengine.numpy as np
from tapeengine.builders import elementwise
from tapeengine.plugins.kernels import scalar_function, scalar_kernel
from tapeengine.primitive import Sample, uniform
from tapeengine_example import _kernels

__all__ = ["PSEUDO_HUBER", "pseudo_huber"]


def _value(x: Any) -> Any:
    # sqrt(1 + x**2) - 1, without its cancellation at small x.
    return x * x / (1.0 + np.sqrt(1.0 + x * x))


PSEUDO_HUBER = elementwise(
    "example.pseudo_huber",
    _value,
    lambda x: x / np.sqrt(1.0 + x * x),
    samples=(Sample((uniform((2, 3), -3.0, 3.0),)), Sample((0.0,), value=0.0), Sample((1e-9,), value=5e-19)),
    doc="sqrt(1 + x**2) - 1; dx = x / sqrt(1 + x**2) ct",
    kernel=scalar_kernel(_kernels.value, _kernels.partial),
)

# What programs call: the primitive, without a step through Python where its argument is a number.
pseudo_huber = scalar_function(PSEUDO_HUBER)
