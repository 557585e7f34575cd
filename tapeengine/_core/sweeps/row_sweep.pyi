from typing import Any

import numpy

from tapeengine._core.sweeps.trace import Backpropagator

def matrix(back: Backpropagator, size: int, columns: int, dtype: Any) -> numpy.ndarray[Any, Any] | None: ...
