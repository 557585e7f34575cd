"""The derivative rules of NumPy, as an ordinary plugin of tapeengine.

Each module holds one family of functions: its primitives, and ``RULES``, which maps numpy's functions to their
replacements for traced values. `tapeengine_primitives.plugin` passes all of them to the engine.
"""
