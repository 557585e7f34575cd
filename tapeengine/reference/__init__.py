"""The executable specification of the scalar core, in small pure Python: the same contracts and the same bits.

Read it in this order: `ops` (what a scalar operation is), `tape`, `dual`, `sweep`, `interleave`, `trace`, `nested`;
`environment` stands on its own.

Examples
--------
>>> from tapeengine import reference
>>> value, backpropagator = reference.vjp(lambda x: x * reference.math.sin(x), 0.0)
>>> value, backpropagator(1.0)
(0.0, (0.0,))
"""

from tapeengine.reference import math
from tapeengine.reference.dual import Dual
from tapeengine.reference.environment import Environment
from tapeengine.reference.trace import Backpropagator, vjp

__all__ = ["Backpropagator", "Dual", "Environment", "math", "vjp"]
