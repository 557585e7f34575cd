"""Primitives: records of operations with their derivative rules, what rules are made of, and the registry of all.

`record` has the `Primitive` itself, `samples` where its inputs may lie, `signatures` how its parameters are read,
`builders` and `blocks` ready-made rules, `rule_checks` what is checked of every rule, `spaces` the vector spaces that
rules act on, `local` the decorator `te.primitive`, and `registry` what an engine knows and which plugin brought it.
"""

from tapeengine.primitive.record import NotDifferentiable, Primitive, Rule
from tapeengine.primitive.samples import Sample, Uniform, uniform
from tapeengine.primitive.spaces import is_traced

__all__ = ["NotDifferentiable", "Primitive", "Rule", "Sample", "Uniform", "is_traced", "uniform"]
