"""`tapeengine.math`: the functions of the `math` module, on floats and on dual numbers."""

from ._core.scalars.math import *  # noqa: F403
from ._core.scalars.math import __all__ as __all__
