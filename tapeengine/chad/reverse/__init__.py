"""Reverse-mode CHAD in its four forms: one set of rules over an abstract environment (EC Fig. 2 beside Fig. 6)."""

from tapeengine.chad.reverse.environment import Accumulating, Form, Snoc, Vectors
from tapeengine.chad.reverse.transform import FORMS, Reverse, reverse

__all__ = ["FORMS", "Accumulating", "Form", "Reverse", "Snoc", "Vectors", "reverse"]
