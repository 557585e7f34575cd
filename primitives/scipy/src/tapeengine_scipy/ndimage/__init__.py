"""Derivatives of `scipy.ndimage`: filters and interpolation of images, with SciPy's own signatures.

Examples
--------
>>> import numpy as np
>>> from tapeengine_scipy import ndimage
>>> ndimage.uniform_filter(np.array([0.0, 3.0, 0.0]), 3)
array([1., 1., 1.])
"""

from tapeengine_scipy._own_code import rules_of
from tapeengine_scipy._passing import names_of

_RULES = rules_of("scipy.ndimage")
globals().update(_RULES)
__all__ = [*_RULES]

__getattr__, __dir__ = names_of("scipy.ndimage")
