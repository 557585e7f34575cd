"""Derivative rules for SciPy, as a plugin of tapeengine.

Import SciPy's submodules from here, as in ``from tapeengine_scipy import linalg``: their functions have SciPy's own
signatures and accept plain and traced values. The ufuncs of `scipy.special` may also be imported from SciPy.
"""

from tapeengine_scipy._version import __version__

__all__ = ["__version__"]
