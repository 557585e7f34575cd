"""Laws that a pass of the simplifier implements together: of let (CHAD Table 1), and of the monad (EC 4.2).

One function for each: ``law(term)`` is the rewritten term, or None.
"""

from __future__ import annotations

import dataclasses

from tapeengine.chad.language.target import Bind, LTuple, One, Plus, Return, Run, Scope, Then, Zero
from tapeengine.chad.language.terms import Let, Term, Tuple, Var, unit
from tapeengine.chad.language.traverse import Names, all_names, substitute
from tapeengine.chad.language.types import EVM, UNIT, Linear, Product
from tapeengine.chad.simplify.effects import is_opaque, slots_of
from tapeengine.chad.simplify.occurrences import Occurrences
from tapeengine.chad.simplify.rules import is_cheap


# let x = (let y = a in b) in e  ~>  let y = a in let x = b in e
def let_rotate(term: Term) -> Term | None:
    """Move a let out of the bound term of another."""
    match term:
        case Let(x, Let(y, a, b), e):
            return Let(y, a, Let(x, b, e))
    return None


# let x = (a, b) in e  ~>  let x1 = a in let x2 = b in e[(x1, x2)/x]
def let_pair_split(term: Term) -> Term | None:
    """Bind the components of a tuple separately."""
    match term:
        case Let(x, Tuple(items) | LTuple(items), e) if items:
            names = Names(all_names(term))
            parts = tuple(Var(names(f"{x.name}_{i}"), item.type) for i, item in enumerate(items))
            whole: Term = LTuple(parts) if isinstance(x.of, Linear) else Tuple(parts, _named(x.of))
            body = substitute(e, {x.name: whole})
            for part, item in reversed(list(zip(parts, items, strict=True))):
                body = Let(part, item, body)
            return body
    return None


def _named(of: object) -> Product | None:
    return of if isinstance(of, Product) and of.name else None


# let x = a in e  ~>  e[a/x]   (if a is cheap or used at most once in e)
def let_inline(term: Term) -> Term | None:
    """Inline a let; an occurrence in a repeated term counts as more than one use."""
    if not isinstance(term, Let):
        return None
    name = term.var.name
    if is_cheap(term.bound) or Occurrences(term).uses[name].inlinable(term.bound):
        return substitute(term.body, {name: term.bound})
    return None


# return () >> m  ~>  m        m >> return ()  ~>  m  (where m gives ())
# (let x = a in m) >> n  ~>  let x = a in m >> n        m >> (let x = a in n)  ~>  let x = a in m >> n
# (m >> n) >> o  ~>  m >> (n >> o)
def then_laws(term: Term) -> Term | None:
    """The monoid laws of sequencing; lets move out of it."""
    match term:
        case Then(Return(), m):
            return m
        case Then(m, Return(Tuple(()))) if m.type == EVM(UNIT):
            return m
        case Then(Let(x, a, m), n):
            return Let(x, a, Then(m, n))
        case Then(Then(m, n), o):
            return Then(m, Then(n, o))
        case Then(m, Let(x, a, n)):
            return Let(x, a, Then(m, n))
    return None


# return a >>= \x. m  ~>  let x = a in m        (m >> n) >>= k  ~>  m >> (n >>= k)
# (let y = a in m) >>= k  ~>  let y = a in m >>= k        (m >>= \y. n) >>= k  ~>  m >>= \y. (n >>= k)
def bind_laws(term: Term) -> Term | None:
    """The monad laws."""
    match term:
        case Bind(x, Return(a), m):
            return Let(x, a, m)
        case Bind(x, Then(m, n), k):
            return Then(m, Bind(x, n, k))
        case Bind(x, Let(y, a, m), k):
            return Let(y, a, Bind(x, m, k))
        case Bind(x, Bind(y, m, n), k):
            return Bind(y, m, Bind(x, n, k))
    return None


# scope_x (let y = a in m)  ~>  let y = a in scope_x m
# scope_x (one_x d1; ...; one_x dn; m)  ~>  m >>= \r. return (r, d1 + ... + dn)   (m does not use the slot)
def scope_sum(term: Term, everywhere: int | None = None) -> Term | None:
    """A slot whose contributions are all known is a sum.

    A function that is called in ``m`` may contribute as well, unless the known contributions are all of the whole
    program's, whose number is `everywhere`.
    """
    if not isinstance(term, Scope):
        return None
    if isinstance(term.body, Let):
        inner = term.body
        return Let(inner.var, inner.bound, dataclasses.replace(term, body=inner.body))
    given, rest = separate(term.body, term.slot)
    if rest is None or (len(given) != everywhere and any(map(is_opaque, rest))):
        return None
    *effects, last = rest
    cotangent = added(given, term.of)
    if not isinstance(last, Return):
        if last.type != EVM(UNIT):
            return None
        effects, last = [*effects, last], Return(unit())
    result: Term = Return(Tuple((last.term, cotangent)))
    for effect in reversed(effects):
        result = Then(effect, result)
    return result


def separate(body: Term, slot: str) -> tuple[list[Term], list[Term] | None]:
    """Split a sequence into the contributions to a slot and the rest, which is None if it uses the slot as well."""
    given: list[Term] = []
    rest: list[Term] = []
    pending = [body]
    while pending:
        step = pending.pop()
        match step:
            case Then(first, second):
                pending += [second, first]
            case One(name, d) if name == slot:
                given.append(d)
            case _:
                rest.append(step)
    if any(slot in slots_of(step) for step in rest):
        return given, None
    return given, rest if rest and not isinstance(body, One) else [*rest, Return(unit())]


def added(terms: list[Term], of: Linear) -> Term:
    """Add up linear terms."""
    if not terms:
        return Zero(of)
    total = terms[0]
    for term in terms[1:]:
        total = Plus(total, term)
    return total


# run (let y = a in m)  ~>  let y = a in run m
# run (one_x1 d1; ...; one_xn dn)  ~>  <d1, ..., dn>   (only contributions to the slots that it opens)
def run_sum(term: Term) -> Term | None:
    """A computation that consists of contributions is a tuple of sums."""
    if not isinstance(term, Run):
        return None
    if isinstance(term.body, Let):
        inner = term.body
        return Let(inner.var, inner.bound, dataclasses.replace(term, body=inner.body))
    found: dict[str, list[Term]] = {name: [] for name, _ in term.slots}
    pending = [term.body]
    while pending:
        step = pending.pop()
        match step:
            case Then(first, second):
                pending += [second, first]
            case One(name, d) if name in found:
                found[name].append(d)
            case Return():
                pass
            case _:
                return None
    return LTuple(tuple(added(found[name], of) for name, of in term.slots))
