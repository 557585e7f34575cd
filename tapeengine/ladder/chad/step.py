"""Runs a program's derivative in one form of the specification, and counts what its backpropagators do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from ...chad.language.derivative_types import cotangent as cotangent_type
from ...chad.language.terms import Branch, Lambda, Module, Term
from ...chad.language.traverse import children
from ...chad.language.types import LArray, Linear, LNamed, LProduct, LReal, LSum
from ...chad.language.values import Tagged
from ...chad.prepare.close import close
from ...chad.specification import Evaluator, linear, reverse_in
from ...chad.specification.evaluation import Environment, Rule
from ...chad.specification.sparse import Sparse
from ...recursion import deep
from ..derivative import Counts, Derivative
from .vectors import Additions, Cells

#: The terms whose evaluation is counted: operations on cotangents and on environment vectors that are values.
COUNTED = frozenset(linear.RULES)


def function(E: Any, t: Lambda, env: Environment) -> Callable[..., Any]:
    """The value of a function; a backpropagator, a function of a cotangent, is counted with its calls."""
    value: Callable[..., Any] = Evaluator.rules[Lambda](E, t, env)
    if not t.params or not isinstance(t.params[0].of, Linear):
        return value
    E.counts.records += 1

    def counted(d: Any) -> Any:
        E.counts.calls += 1
        return value(d)

    return counted


class Counting(Evaluator):
    """Evaluates a derivative program, and counts its backpropagators and what they do with cotangents."""

    rules: ClassVar[Mapping[type[Term], Rule]] = MappingProxyType({**Evaluator.rules, Lambda: function})

    def __init__(self, module: Module, values: Additions, slots: Cells) -> None:
        super().__init__(module, values)
        self.slots: Any = slots
        self.counts = Counts()
        self.uncounted = Uncounted(self)

    def eval(self, term: Term, env: Environment) -> Any:
        """Evaluate a term."""
        return self.rules[type(term)](self if type(term) in COUNTED else self.uncounted, term, env)


class Uncounted(Evaluator):
    """Evaluates terms of the source language; only the operations on cotangents in them are counted."""

    def __init__(self, whole: Counting) -> None:
        super().__init__(whole.module, whole.linear)
        self.counts, self.slots = whole.counts, whole.slots
        self.eval = whole.eval  # type: ignore[method-assign]

    def step(self, count: int = 1) -> None:
        """Do not count."""


def run(form: str, values: type[Additions], slots: type[Cells], module: Module, *primals: Any) -> Derivative:
    """The value and the reverse derivative of a program in one form."""
    for definition in module.definitions.values():
        check(definition.body)
    with deep():
        turned = reverse_in(module if form == "copower" else close(module), form)
    linear_values = values(turned.types)
    evaluator = Counting(turned, linear_values, slots(linear_values))
    counts, main = evaluator.counts, module.definitions[module.main]
    value, back = evaluator.run(turned.main, primals)
    records, of = counts.records, cotangent_type(main.result)

    def backpropagator(cotangent: Any) -> tuple[Any, ...]:
        counts.calls = linear_values.additions = linear_values.steps = 0
        with deep():
            found = back(given(linear_values, of, cotangent))
        counts.additions, counts.span = linear_values.additions, counts.calls
        counts.steps = linear_values.steps - counts.additions + counts.records - records
        counts.records = records
        each = zip(main.params, primals, found, strict=True)
        return tuple(full(linear_values, cotangent_type(p.of), x, d) for p, x, d in each)

    return Derivative(value, backpropagator, counts, turned)


def check(term: Term) -> None:
    """Refuse a term of another paper's language."""
    if type(term) not in Evaluator.rules and not isinstance(term, Branch):
        raise ValueError(f"{type(term).__name__} is not in the source language of CHAD")
    for part, _ in children(term):
        check(part)


def given(values: Sparse, of: Linear, z: Any) -> Any:
    """Convert a given cotangent; that of a discrete value is None."""
    match of:
        case LReal():
            return float(z)
        case LProduct(items):
            return tuple(given(values, item, part) for item, part in zip(items, z, strict=True))
        case LSum() | LNamed():
            return Tagged(z.option, given(values, values.option(of, z.option), z.payload))
    return ()


def full(values: Sparse, of: Linear, primal: Any, d: Any) -> Any:
    """A cotangent with explicit zeros, in the structure of the primal."""
    match of:
        case LReal():
            return 0.0 if d is None else d
        case LProduct(items):
            each = zip(items, primal, d or (None,) * len(items), strict=True)
            return tuple(full(values, *parts) for parts in each)
        case LSum() | LNamed():
            option = values.option(of, primal.option)
            return Tagged(primal.option, full(values, option, primal.payload, d and d.payload))
        case LArray(element):
            pairs = zip(primal, values.collect(of, d, len(primal)), strict=True)
            return tuple(full(values, element, x, part) for x, part in pairs)
    return () if primal == () else None
