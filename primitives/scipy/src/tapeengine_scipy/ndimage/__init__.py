"""Derivatives of `scipy.ndimage`: filters and interpolation of images, with SciPy's own signatures.

Examples
--------
>>> import numpy as np
>>> from tapeengine_scipy import ndimage
>>> ndimage.uniform_filter(np.array([0.0, 3.0, 0.0]), 3)
array([1., 1., 1.])
"""

from tapeengine_scipy._names import names_of

__all__: list[str] = []

__getattr__, __dir__ = names_of("scipy.ndimage", globals())
