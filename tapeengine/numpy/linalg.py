"""numpy.linalg, for programs that are differentiated."""

import numpy as _numpy

from .._core.arrays.functions import offered as _offered
from ..naming import standing_for as _standing_for

__getattr__, __dir__ = _standing_for(_numpy.linalg, globals(), _offered)
