"""Simplification: the rules of CHAD appendix B, Table 1, and rules for constructs that the paper's language lacks."""

from .engine import simplify, simplify_module

__all__ = ["simplify", "simplify_module"]
