"""`tapeengine.cmath`: the functions of the `cmath` module, on complex numbers and on traced ones."""

from ._core.scalars.complex import *  # noqa: F403
from ._core.scalars.complex import __all__ as __all__
