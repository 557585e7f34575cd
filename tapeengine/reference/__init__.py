"""The executable specification of the scalar core: the same contracts and bits in a small amount of pure Python.

Read the modules in this order: `ops` (the scalar operations), `tape`, `dual`, `sweep`, `interleave`, `trace`, `nested`;
`environment` is independent of the others.

Examples
--------
>>> from tapeengine import reference
>>> value, backpropagator = reference.vjp(lambda x: x * reference.math.sin(x), 0.0)
>>> value, backpropagator(1.0)
(0.0, (0.0,))
"""

from . import math
from .dual import Dual
from .environment import Environment
from .trace import Backpropagator, vjp

__all__ = ["Backpropagator", "Dual", "Environment", "math", "vjp"]
