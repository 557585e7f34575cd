from collections.abc import Callable

import numpy as np

from tapeengine._core.arrays.array import Array

def view(a: Array, function: Callable[[np.ndarray], np.ndarray], order: str = "C") -> Array: ...
