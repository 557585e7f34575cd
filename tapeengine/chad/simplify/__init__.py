"""Simplification: the rules of CHAD appendix B, Table 1, and those for what this language has beyond the paper's."""

from tapeengine.chad.simplify.engine import simplify, simplify_module

__all__ = ["simplify", "simplify_module"]
