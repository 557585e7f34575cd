"""Which terms may raise, and which of those have a value that nothing needs.

Raising is an effect: what a program raises, its derivative raises. A transformation may drop or move a term only if
`may_raise` says that it cannot raise (dropping), or that it is evaluated in any case (moving). `drops_errors` tells
of a whole program whether such terms are among what its result does not depend on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tapeengine.chad import terms as S
from tapeengine.chad.primitives import evaluate_op
from tapeengine.chad.terms import Literal, Module, Term, Var
from tapeengine.chad.traverse import children, same

__all__ = ["drops_errors", "may_raise"]

#: Scalar operations for which Python raises on some numbers.
PARTIAL_OPS = frozenset(
    "div mod pow log log2 log10 log1p sqrt exp exp2 expm1 sinh cosh asin acos acosh atanh tan gamma lgamma polygamma "
    "ifloordiv imod ipow trunc floor ceil round".split()
)
#: Operations that are total where the second argument is a number other than zero.
DIVISIONS = frozenset(("div", "mod", "ifloordiv", "imod"))
PARTIAL_TERMS = (S.Fold, S.Gather, S.Scatter, S.Primitive, S.Apply, S.Call)
#: How deep loops are nested whose unused parts are looked for.
DEEPEST = 3

Bounds = Mapping[str, Term]


def may_raise(term: Term, bounds: Bounds = MappingProxyType({})) -> bool:
    """Tell whether evaluating a term may raise.

    Parameters
    ----------
    term : Term
    bounds : mapping of str to Term
        For indices of loops around the term how many steps these have.

    Examples
    --------
    >>> from tapeengine.chad.terms import Op, lit
    >>> may_raise(Op("div", (lit(1.0), lit(2.0)))), may_raise(Op("log", (lit(1.0),)))
    (False, True)
    """
    if isinstance(term, S.Lambda):
        return False
    if _raises(term, bounds):
        return True
    inner = bounds
    if isinstance(term, S.Build | S.For):
        inner = {**bounds, term.index.name: term.size}
    return any(may_raise(child, inner) for child, _ in children(term))


def _raises(term: Term, bounds: Bounds) -> bool:
    """Tell whether a term may raise once its parts have values."""
    if isinstance(term, S.Op):
        if term.op in DIVISIONS and isinstance(term.args[1], Literal):
            return term.args[1].value == 0
        return term.op in PARTIAL_OPS
    if isinstance(term, S.Index):
        at = term.index
        return not (isinstance(at, Var) and at.name in bounds and _at_most(bounds[at.name], S.Size(term.array)))
    return isinstance(term, PARTIAL_TERMS)


def _at_most(size: Term, limit: Term) -> bool:
    """Tell whether a size is another one, or the smaller of it and something else."""
    if isinstance(size, S.Op) and size.op == "imin":
        return any(_at_most(part, limit) for part in size.args)
    return same(size, limit)


def drops_errors(module: Module) -> bool:
    """Tell whether a part of a program may raise although the result does not depend on its value.

    Examples
    --------
    >>> from tapeengine.chad.terms import Definition, Index, Let, lit
    >>> from tapeengine.chad.types import FLOAT, Array
    >>> xs, y = Var("xs", Array(FLOAT)), Var("y", FLOAT)
    >>> unused = Let(y, Index(xs, lit(100)), lit(1.0))
    >>> drops_errors(Module("f", {"f": Definition("f", (xs,), FLOAT, unused)}))
    True
    """
    for definition in module.definitions.values():
        needs = Needs()
        needs.visit(definition.body, ALL, {})
        if needs.drops:
            return True
    return False


#: What is needed of a value: nothing; all of it; of a product something of each part; of an array its size, or
#: something of all or of some of its elements.
Need = Any
ALL, NOTHING, SIZE = "all", None, "size"


def _elements(need: Need) -> Need:
    return need[1] if isinstance(need, tuple) and need[0] in ("each", "some") else NOTHING if need == SIZE else need


def _either(a: Need, b: Need) -> Need:
    """Give what is needed where two needs meet."""
    if a is NOTHING or b is NOTHING or a == b:
        return b if a is NOTHING else a
    if isinstance(a, list) and isinstance(b, list):
        return [_either(x, y) for x, y in zip(a, b, strict=True)]
    if a == SIZE or b == SIZE:
        return b if a == SIZE else a
    if isinstance(a, tuple) and isinstance(b, tuple):
        return ("some" if a[0] == b[0] == "some" else "each", _either(a[1], b[1]))
    return ALL


class Needs:
    """Goes through a term from what is needed of it to what is needed of its variables."""

    def __init__(self) -> None:
        self.drops = False
        self.of: dict[str, Need] = {}
        self.functions: dict[str, list[Need]] = {}
        self.uniform: set[str] = set()
        self.constants: dict[str, Any] = {}
        self.depth = 0

    def add(self, var: str, need: Need) -> None:
        """Note that something of a variable is needed."""
        self.of[var] = _either(self.of.get(var), need)

    def is_uniform(self, array: Term, bounds: Bounds) -> bool:
        """Tell whether all elements of an array are one term, which does not depend on where it stands."""
        match array:
            case Var(name):
                return name in self.uniform
            case S.Let(_, _, body):
                return self.is_uniform(body, bounds)
            case S.If(_, then, orelse):
                return self.is_uniform(then, bounds) or self.is_uniform(orelse, bounds)
            case S.Build(_, index, body):
                return self.tried(body, ALL, bounds, index) is NOTHING
            case S.Map(variables, body, _):
                return all(self.tried(body, ALL, bounds, v) is NOTHING for v in variables)
        return isinstance(array, S.Replicate)

    def constant(self, term: Term) -> Any:
        """Give the value of a term of numbers alone, None for any other."""
        if isinstance(term, Literal):
            return term.value
        if isinstance(term, Var):
            return self.constants.get(term.name)
        if not isinstance(term, S.Op):
            return None
        args = [self.constant(arg) for arg in term.args]
        try:
            return None if None in args else evaluate_op(term.op, args)
        except ArithmeticError:
            return None

    def take(self, var: Var) -> Need:
        """Give what is needed of a variable whose scope ends."""
        return self.of.pop(var.name, NOTHING)

    def visit(self, term: Term, need: Need, bounds: Bounds) -> None:
        """Note what is needed for a term of which something is needed."""
        if need is NOTHING:
            self.drops = self.drops or may_raise(term, bounds)
            return
        rule = RULES.get(type(term))
        if rule is not None:
            rule(self, term, need, bounds)
            return
        for child, binders in children(term):
            self.visit(child, ALL, bounds)
            for binder in binders:
                self.take(binder)

    def tried(self, term: Term, need: Need, bounds: Bounds, var: Var) -> Need:
        """Give what a term needs of a variable, without noting anything."""
        before = self.drops, dict(self.of)
        self.visit(term, need, bounds)
        found = self.of.get(var.name, NOTHING)
        self.drops, self.of = before
        return found


Rule = Callable[[Needs, Any, Need, Bounds], None]


def let(N: Needs, t: S.Let, need: Need, bounds: Bounds) -> None:
    if isinstance(t.bound, S.Lambda):
        N.functions[t.var.name] = [N.tried(t.bound.body, ALL, bounds, p) for p in t.bound.params]
    if N.is_uniform(t.bound, bounds):
        N.uniform.add(t.var.name)
    N.constants[t.var.name] = N.constant(t.bound)
    N.visit(t.body, need, bounds)
    N.visit(t.bound, N.take(t.var), bounds)


def tuple_(N: Needs, t: S.Tuple, need: Need, bounds: Bounds) -> None:
    for i, item in enumerate(t.items):
        N.visit(item, need[i] if isinstance(need, list) else ALL, bounds)


def proj(N: Needs, t: S.Proj, need: Need, bounds: Bounds) -> None:
    parts = len(t.term.type.items)  # type: ignore[attr-defined]
    N.visit(t.term, [need if i == t.index else NOTHING for i in range(parts)], bounds)


def if_(N: Needs, t: S.If, need: Need, bounds: Bounds) -> None:
    N.visit(t.condition, ALL, bounds)
    known = N.constant(t.condition)
    for branch in (t.then, t.orelse) if known is None else (t.then if known else t.orelse,):
        N.visit(branch, need, bounds)


def case(N: Needs, t: S.Case, need: Need, bounds: Bounds) -> None:
    N.visit(t.term, ALL, bounds)
    for branch in t.branches:
        N.visit(branch.body, need, bounds)
        N.take(branch.var)


def apply(N: Needs, t: S.Apply, need: Need, bounds: Bounds) -> None:
    known = N.functions.get(t.function.name) if isinstance(t.function, Var) else None
    N.visit(t.function, ALL, bounds)
    if isinstance(t.function, S.Lambda):
        known = [N.tried(t.function.body, ALL, bounds, p) for p in t.function.params]
    for arg, part in zip(t.args, known or [ALL] * len(t.args), strict=True):
        N.visit(arg, part, bounds)


def build(N: Needs, t: S.Build, need: Need, bounds: Bounds) -> None:
    N.visit(t.size, ALL, bounds)
    inner = {**bounds, t.index.name: t.size}
    if isinstance(need, tuple) and need[0] == "some":
        N.drops = N.drops or may_raise(t.body, inner)
    N.visit(t.body, _elements(need), inner)
    N.take(t.index)


def map_(N: Needs, t: S.Map, need: Need, bounds: Bounds) -> None:
    if isinstance(need, tuple) and need[0] == "some":
        N.drops = N.drops or may_raise(t.body, bounds)
    N.visit(t.body, _elements(need), bounds)
    kind = need[0] if isinstance(need, tuple) else "each"
    for var, array in zip(t.vars, t.arrays, strict=True):
        part = N.take(var)
        N.visit(array, SIZE if part is NOTHING else (kind, part), bounds)


def elements(N: Needs, t: S.Elements, need: Need, bounds: Bounds) -> None:
    some = isinstance(need, tuple) and need[0] == "some"
    for item in t.items:
        N.drops = N.drops or (some and may_raise(item, bounds))
        N.visit(item, _elements(need), bounds)


def index(N: Needs, t: S.Index, need: Need, bounds: Bounds) -> None:
    N.drops = N.drops or (_raises(t, bounds) and N.is_uniform(t.array, bounds))
    N.visit(t.index, ALL, bounds)
    N.visit(t.array, ("each" if isinstance(t.array, Var) else "some", need), bounds)  # what has a name is computed


def replicate(N: Needs, t: S.Replicate, need: Need, bounds: Bounds) -> None:
    N.visit(t.size, ALL, bounds)
    N.visit(t.term, _elements(need), bounds)


def concatenate(N: Needs, t: S.Concatenate, need: Need, bounds: Bounds) -> None:
    N.visit(t.first, need, bounds)
    N.visit(t.second, need, bounds)


def loop(N: Needs, t: S.For | S.While, need: Need, bounds: Bounds) -> None:
    inner = bounds
    if isinstance(t, S.For):
        N.visit(t.size, ALL, bounds)
        inner = {**bounds, t.index.name: t.size}
    N.depth += 1
    if isinstance(t, S.While):
        need = _either(need, N.tried(t.condition, ALL, inner, t.state))
    while True:
        wider = ALL if N.depth > DEEPEST else _either(need, N.tried(t.body, need, inner, t.state))
        if wider == need:
            break
        need = wider
    N.depth -= 1
    if isinstance(t, S.While):
        N.visit(t.condition, ALL, inner)
    N.visit(t.body, need, inner)
    N.take(t.state)
    if isinstance(t, S.For):
        N.take(t.index)
    N.visit(t.init, need, bounds)


RULES: Mapping[type[Term], Rule] = MappingProxyType(
    {
        Var: lambda N, t, need, _: N.add(t.name, need),
        S.Let: let,
        S.Tuple: tuple_,
        S.Proj: proj,
        S.If: if_,
        S.Case: case,
        S.Apply: apply,
        S.Build: build,
        S.Map: map_,
        S.Elements: elements,
        S.Index: index,
        S.Size: lambda N, t, _, bounds: N.visit(t.array, SIZE, bounds),
        S.Replicate: replicate,
        S.Concatenate: concatenate,
        S.For: loop,
        S.While: loop,
    }
)
