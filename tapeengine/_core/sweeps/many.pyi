from collections.abc import Callable
from typing import Any

import numpy

from tapeengine._core.sweeps.trace import Backpropagator

def walks(back: Backpropagator, count: int) -> int: ...
def matrix(
    back: Backpropagator,
    size: int,
    columns: int,
    dtype: Any,
    forward: bool,
    told: Callable[[int], object] | None = None,
) -> numpy.ndarray[Any, Any] | None: ...
