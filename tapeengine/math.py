"""`tapeengine.math`: the functions of the `math` module, on floats and on dual numbers."""

from tapeengine._core.scalars.math import *  # noqa: F403
from tapeengine._core.scalars.math import __all__ as __all__
