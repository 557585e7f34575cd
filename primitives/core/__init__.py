"""The derivative rules of NumPy, as a plugin of tapeengine like any other.

Each module holds one family of functions: its primitives, and ``RULES``, which maps numpy's functions to what is
called in their place on traced values. `tapeengine_primitives.plugin` hands all of them to the engine.
"""
