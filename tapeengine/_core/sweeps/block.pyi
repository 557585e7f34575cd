from collections.abc import Callable, Sequence
from typing import Any

import numpy

from tapeengine._core.sweeps.trace import Backpropagator

def matrix(
    back: Backpropagator, outputs: Sequence[int], forward: bool, told: Callable[[int], object] | None = None
) -> numpy.ndarray[Any, Any] | None: ...
def walks(back: Backpropagator, count: int) -> int: ...
