"""`scipy.differentiate`, whose differences are refused for traced values: the engine's derivatives are exact.

Examples
--------
>>> from tapeengine_scipy import differentiate
>>> round(float(differentiate.derivative(lambda x: x**2, 1.0).df), 9)
2.0
"""

from tapeengine_scipy._names import names_of

__all__: list[str] = []

__getattr__, __dir__ = names_of("scipy.differentiate")
