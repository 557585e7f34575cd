"""The reverse derivative over any commutative monoid in place of the linear real (EC Fig. 3, CHAD 11.3)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tapeengine.chad.depth import deep
from tapeengine.chad.derivative_types import cotangent as cotangent_type
from tapeengine.chad.linear import Sparse
from tapeengine.chad.monoids import Monoid, Scaling
from tapeengine.chad.program import Program
from tapeengine.chad.specification.evaluator import Evaluator
from tapeengine.chad.types import Float, LArray, Linear, LProduct, LReal

__all__ = ["Element", "Over", "backpropagated"]


class Element(NamedTuple):
    """An element of a monoid that replaces a real; a bare float would be added as a number."""

    x: Any


class Over(Sparse):
    """Sparse cotangents whose reals are elements of a monoid.

    Examples
    --------
    >>> from tapeengine.sparse.monoids import index_sets
    >>> Over(index_sets()).plus(LReal(), Element(frozenset([1])), Element(frozenset())).x
    frozenset({1})
    """

    def __init__(self, monoid: Monoid, types: Any = None) -> None:
        super().__init__(types)
        self.monoid = monoid

    def zero(self, of: Linear) -> Any:
        """Give the zero of a type."""
        return Element(self.monoid.zero) if isinstance(of, LReal) else super().zero(of)

    def plus(self, of: Linear, a: Any, b: Any) -> Any:
        """Add two values of a type."""
        return Element(self.monoid.add(a.x, b.x)) if isinstance(of, LReal) else super().plus(of, a, b)

    def scale(self, a: Any, factor: float) -> Any:
        """Apply a factor to an element."""
        return Element(self.monoid.through(Scaling(factor), a.x))


def backpropagated(program: Program, primals: Sequence[Any], monoid: Monoid) -> tuple[Any, ...]:
    """Evaluate the reverse derivative of a program with one real result over a monoid.

    Parameters
    ----------
    program : te.Program
    primals : sequence
    monoid : Monoid

    Returns
    -------
    tuple
        For each parameter an element, or elements in tuples and lists; None instead of a tuple without contributions.

    Examples
    --------
    >>> import tapeengine as te
    >>> from tapeengine.sparse.monoids import absolute
    >>> @te.program
    ... def f(x: float, y: float) -> float:
    ...     return x * y - 2.0 * x
    >>> backpropagated(f, (3.0, 2.0), absolute())
    (4.0, 3.0)
    """
    of = program.executable
    if not isinstance(of.definition.result, Float):
        raise TypeError(f"{program.__name__} returns no real number; take one of its numbers")
    linear = Over(monoid, of.reverse_terms.types)
    inside = of.inward(primals)
    _, back = Evaluator(of.reverse_terms, linear, of.primitives).run(of.module.main, inside)
    whole_type = LProduct(tuple(cotangent_type(p.of) for p in of.definition.params))
    with deep():
        whole = back(Element(monoid.one))
        found = [linear.proj(whole_type, whole, i) for i in range(len(inside))]
        return tuple(_bare(_listed(linear, t, x, y)) for t, x, y in zip(whole_type.items, found, inside, strict=True))


def _listed(linear: Over, of: Linear, cotangent: Any, primal: Any) -> Any:
    """The cotangent of an array as the list of its elements'."""
    return linear.collect(of, cotangent, len(primal)) if isinstance(of, LArray) else cotangent


def _bare(cotangent: Any) -> Any:
    """A cotangent with elements in place of reals; None without contributions."""
    if isinstance(cotangent, Element):
        return cotangent.x
    if isinstance(cotangent, (tuple, list)):
        return type(cotangent)(map(_bare, cotangent))
    return cotangent
