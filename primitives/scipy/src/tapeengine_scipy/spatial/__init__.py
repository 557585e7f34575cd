"""Derivatives of `scipy.spatial`.

Examples
--------
>>> import numpy as np
>>> from tapeengine_scipy.spatial import distance
>>> distance.cdist(np.zeros((1, 2)), np.array([[3.0, 4.0]]))
array([[5.]])
"""

from tapeengine_scipy._names import names_of
from tapeengine_scipy.spatial import distance

__all__ = ["distance"]

__getattr__, __dir__ = names_of("scipy.spatial", globals())
