"""Reverse-mode CHAD: EC Fig. 6 and 8 with one mutable environment vector, the form that runs."""

from .module import RULES, reverse

__all__ = ["RULES", "reverse"]
