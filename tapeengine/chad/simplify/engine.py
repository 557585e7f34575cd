"""The simplifier: passes over a term, each rewriting from the inside out by the rules, until nothing changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from tapeengine.chad.simplify import linear, monad, table1
from tapeengine.chad.simplify.fission import build_pair_split, for_each_sum, replicate_inline
from tapeengine.chad.simplify.occurrences import Use, occurrences
from tapeengine.chad.simplify.table1 import Rule, is_cheap
from tapeengine.chad.target import Descend, ForEach, LDense, LTuple, MapAccum, Scope
from tapeengine.chad.terms import Build, Definition, For, Index, Let, Module, Replicate, Term, Tuple, Var
from tapeengine.chad.traverse import Names, all_names, children, map_children, substitute
from tapeengine.chad.types import Linear, Product

__all__ = ["simplify", "simplify_module"]

#: More passes than any program has needed; a bound in case two rules undo one another.
MAX_PASSES = 60


def _merged() -> Mapping[type[Term], tuple[Rule, ...]]:
    merged: dict[type[Term], tuple[Rule, ...]] = {}
    for rules in (table1.RULES, linear.RULES, monad.RULES):
        for kind, some in rules.items():
            merged[kind] = merged.get(kind, ()) + some
    del merged[Let]
    return MappingProxyType(merged)


#: The rules by the constructor that they look at; those of let are built into `Pass.let`, which counts uses once.
RULES: Mapping[type[Term], tuple[Rule, ...]] = _merged()


class Pass:
    """One pass over a term.

    Parameters
    ----------
    term : Term
        The whole term; uses of variables are counted in it once.
    names : Names
        Supplies names for the parts of split tuples.
    """

    def __init__(self, term: Term, names: Names) -> None:
        self.uses = occurrences(term)
        self.ones = monad.count_ones(term, Counter())
        self.counting = loop_indices(term)
        self.names = names
        self.changed = False

    def __call__(self, term: Term, values: dict[str, Term]) -> Term:
        """Rewrite a term, with some variables replaced."""
        if isinstance(term, Var):
            return values.get(term.name, term)
        if isinstance(term, Let):
            return self.let(term, values)
        return self.reduce(map_children(term, lambda child: self(child, values)))

    def reduce(self, term: Term) -> Term:
        """Apply rules at the head of a term as long as one fits."""
        for _ in range(20):
            for rule in self.rules(term):
                result = rule(term)
                if result is not None:
                    self.changed = True
                    term = result
                    break
            else:
                return term
        return term

    def rules(self, term: Term) -> tuple[Rule, ...]:
        """Give the rules for a term; some know more about the program than the term says."""
        if isinstance(term, Scope):
            return (self.scope,)
        if isinstance(term, Index):
            return (lambda t: linear.index_build(t, self.counting),)
        if isinstance(term, ForEach):
            return (*RULES[ForEach], lambda t: for_each_sum(t, self.names))
        return RULES.get(type(term), ())

    def scope(self, term: Term) -> Term | None:
        """Apply `monad.scope_sum`, knowing how many contributions the slot gets in the whole term."""
        assert isinstance(term, Scope)
        return monad.scope_sum(term, self.ones[term.slot])

    # letRotate, letPairSplit, letInline in one, on uses counted beforehand
    def let(self, term: Let, values: dict[str, Term]) -> Term:
        """Rewrite a let and what follows it."""
        use = self.uses.get(term.var.name, Use())
        if use.count == 0:
            self.changed = True
            return self(term.body, values)
        return self.bind(term.var, self(term.bound, values), use, term.body, values)

    def bind(self, var: Var, bound: Term, use: Use, body: Term, values: dict[str, Term]) -> Term:
        """Inline, split or keep a binding whose bound term is simplified."""
        if isinstance(bound, Let):
            self.changed = True
            return Let(bound.var, bound.bound, self.bind(var, bound.body, use, body, values))
        if is_cheap(bound) or use.inlinable(bound):
            self.changed = True
            return self(body, {**values, var.name: bound})
        if isinstance(bound, Tuple | LTuple) and bound.items:
            self.changed = True
            return self.split(var, bound, use, body, values)
        if isinstance(bound, Build | Replicate | LDense):
            whole = Let(var, bound, body)
            divided = build_pair_split(whole, self.names) or replicate_inline(whole)
            if divided is not None:
                self.changed = True
                return substitute(divided, values)
        return Let(var, bound, self(body, values))

    def split(self, var: Var, bound: Tuple | LTuple, use: Use, body: Term, values: dict[str, Term]) -> Term:
        """Bind the components of a tuple on their own."""
        parts: list[Term] = []
        kept: list[tuple[Var, Term]] = []
        for i, item in enumerate(bound.items):
            if is_cheap(item) or (isinstance(bound, Tuple) and use.part(i).inlinable(item)):
                parts.append(item)
            else:
                part = Var(self.names(f"{var.name}_{i}"), item.type)
                kept.append((part, item))
                parts.append(part)
        named = var.of if isinstance(var.of, Product) and var.of.name else None
        whole: Term = LTuple(tuple(parts)) if isinstance(var.of, Linear) else Tuple(tuple(parts), named)
        result = self(body, {**values, var.name: whole})
        for part, item in reversed(kept):
            result = Let(part, item, result)
        return result


def loop_indices(term: Term) -> set[str]:
    """Give the names of all loop indices in a term: none of them is ever negative."""
    loops = (Build, For, ForEach, Descend, MapAccum)
    found = {term.index.name} if isinstance(term, loops) else set()
    for child, _ in children(term):
        found |= loop_indices(child)
    return found


def simplify(term: Term, names: Names | None = None) -> Term:
    """Simplify a term by the rules until none fits.

    Examples
    --------
    >>> from tapeengine.chad.terms import Op, Proj, lit
    >>> from tapeengine.chad.types import FLOAT
    >>> x, y = Var("x", FLOAT), Var("y", FLOAT)
    >>> simplify(Proj(Let(y, Op("mul", (x, lit(1.0))), Tuple((y, y))), 0)) == x
    True
    """
    names = names or Names(all_names(term))
    for _ in range(MAX_PASSES):
        step = Pass(term, names)
        term = step(term, {})
        if not step.changed:
            break
    return term


def simplify_module(module: Module) -> Module:
    """Simplify every definition of a module."""
    definitions = {}
    for name, d in module.definitions.items():
        names = Names(all_names(d.body) | {p.name for p in d.params} | set(module.definitions))
        definitions[name] = Definition(d.name, d.params, d.result, simplify(d.body, names))
    return Module(module.main, definitions, module.types)
