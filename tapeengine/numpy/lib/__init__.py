"""numpy.lib, for programs that are differentiated."""

import numpy as _numpy

from ...naming import standing_for as _standing_for
from . import stride_tricks as stride_tricks

__getattr__, __dir__ = _standing_for(_numpy.lib, globals())
