"""Primitives: records of operations with their derivative rules, tools for writing rules, and the registry.

`record` defines `Primitive`, `samples` the inputs at which it is checked, `signatures` reads parameters, `builders` and
`blocks` make common rules, `rule_checks` checks the results of rules, `spaces` defines the vector spaces that rules
act on, `local` the decorator `te.primitive`, and `registry` what an engine knows and which plugin provides it.
"""

from .record import NotDifferentiable, Primitive, Rule
from .samples import Sample, Uniform, uniform
from .spaces import is_traced

__all__ = ["NotDifferentiable", "Primitive", "Rule", "Sample", "Uniform", "is_traced", "uniform"]
