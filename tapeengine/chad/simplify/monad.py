"""Rules for accumulation: the laws of the environment vector monad (EC 4.2).

Contributions inside the scope of their slot become a plain sum, so the derivative of straight-line code needs no
environment vector, as in CHAD Fig. 1(d).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

from tapeengine.chad.simplify.effects import is_opaque, slots_of
from tapeengine.chad.simplify.table1 import Rule
from tapeengine.chad.target import Bind, ForEach, LTuple, One, Plus, Return, Run, Scope, Then, Zero
from tapeengine.chad.terms import Let, Term, Tuple, unit
from tapeengine.chad.types import EVM, UNIT, Linear, LUnit


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


# one_x zero  ~>  return ()
def one_zero(term: Term) -> Term | None:
    """A contribution of zero, or to a discrete variable."""
    match term:
        case One(_, d) if isinstance(d, Zero) or d.type == LUnit():
            return Return(unit())
        case One(slot, Let(y, a, d)):
            return Let(y, a, One(slot, d))
        case ForEach(_, _, Return()):
            return Return(unit())
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


RULES: Mapping[type[Term], tuple[Rule, ...]] = MappingProxyType(
    {
        Then: (then_laws,),
        Bind: (bind_laws,),
        One: (one_zero,),
        ForEach: (one_zero,),
        Scope: (scope_sum,),
        Run: (run_sum,),
    }
)
