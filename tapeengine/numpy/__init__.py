"""`import tapeengine.numpy as np`: numpy, for programs that are differentiated and for derivative rules.

All names of numpy are available. Inside a program, functions that create arrays (`array`, `zeros`, `stack` of scalars,
...) return arrays that may hold traced numbers and be assigned to; all other functions handle traced arguments, and
call numpy for plain ones. Outside programs every function returns plain numpy arrays.

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

from importlib import import_module as _import_module
from sys import modules as _modules
from typing import Any

import numpy as _numpy

from .._core.arrays.functions import offered as _offered
from .._core.tape.above import ABOVE as _ABOVE
from . import fft as fft
from . import linalg as linalg
from . import random as random
from ._creation import *  # noqa: F403
from ._index_tricks import *  # noqa: F403
from ._poly1d import *  # noqa: F403
from ._vectorize import vectorize as vectorize

_ABOVE.numpy = _modules[__name__]


def __getattr__(name: str) -> Any:
    # Names are made at their first use, since numpy has about six hundred.
    if name in ("lib", "polynomial", "testing"):
        return _import_module(f"tapeengine.numpy.{name}")
    value = globals()[name] = _offered(getattr(_numpy, name))
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_numpy)})
