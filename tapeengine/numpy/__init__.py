"""`import tapeengine.numpy as np`: numpy, for programs that are differentiated and for derivative rules.

Everything that numpy has is here. Inside a program, functions that create arrays (`array`, `zeros`, `stack` of scalars,
...) return arrays that may hold traced numbers and be assigned to; all other functions are numpy's own, which find
traced arguments by numpy's protocols. Outside of programs every function returns plain numpy arrays.

Examples
--------
>>> import tapeengine as te, tapeengine.numpy as np
>>> def program(x):
...     a = np.zeros(3)
...     a[1] = x * x
...     return np.sum(np.array([x, 2.0, x]) * a)
>>> te.grad(program)(3.0)
12.0
"""

from __future__ import annotations

from typing import Any

import numpy as _numpy

from tapeengine.numpy import fft as fft, linalg as linalg, random as random
from tapeengine.numpy._creation import *  # noqa: F403


def __getattr__(name: str) -> Any:
    return getattr(_numpy, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_numpy)})
