r"""Split builds and loops of contributions into whole-array operations.

``let a = build n (i. (y, \d. m)) in e`` becomes a build of primals, and the code of the backpropagator at each place
where ``a`` is used: Table 1's mapPairSplit and letPairSplit in one, for builds whose bodies have lets. Values that the
backpropagator captures are evaluated again if that costs nothing, and kept in an array otherwise, so that no work is
done twice. Loops over contributions then become sums and arrays, as in CHAD Fig. 2(d).
"""

from __future__ import annotations

from ..language.target import ForEach, LDense, LIndex, LScatter, LSingle, LTotal, LTuple, One, Return, Then, Zero
from ..language.terms import Build, Index, Lambda, Let, Op, Proj, Replicate, Size, Term, Tuple, Var, lets, opened
from ..language.traverse import Names, children, free_variables, freshen, map_children, substitute
from ..language.types import EVM, Function
from .lengths import Lengths, Place
from .rules import is_cheap


def is_reread(term: Term) -> bool:
    """Tell whether evaluating a term again costs no more than reading it from an array."""
    match term:
        case Index(array, i):
            return is_reread(array) and is_reread(i)
        case Size(array):
            return is_reread(array)
        case Op("iadd" | "isub", args):
            return all(map(is_reread, args))
    return is_cheap(term)


def only_indexed(term: Term, name: str, by_parts: bool = False) -> bool:
    """Tell whether an array is used as ``size a`` and ``a ! k``; `by_parts` as ``fst (a ! k)``, ``snd (a ! k)``."""
    match term:
        case Var(other):
            return other != name
        case Proj(Index(Var(other), k), _) if other == name and by_parts:
            return only_indexed(k, name, by_parts)
        case Index(Var(other), k) | LIndex(Var(other), k) if other == name and not by_parts:
            return only_indexed(k, name)
        case Size(Var(other)) if other == name:
            return True
    return all(only_indexed(child, name, by_parts) for child, _ in children(term))


# let a = build n (i. lets in (y, \d. m)) in e  ~>
#     let y' = build n (i. lets in y) in let v' = build n (i. lets in v) in ... in
#     e[y' ! k / fst (a ! k), (\d. m)[k/i, v' ! k / v] / snd (a ! k), n / size a]
def build_pair_split(term: Term, names: Names) -> Term | None:
    """Split a build of tuples whose uses are components; n is a variable or a number."""
    if not isinstance(term, Let) or not isinstance(term.bound, Build):
        return None
    build = term.bound
    bindings, last = opened(build.body)
    if not is_reread(build.size) or not isinstance(last, Tuple) or not any(isinstance(x, Lambda) for x in last.items):
        return None
    if any(isinstance(v.of, Function | EVM) for v, _ in bindings) or not only_indexed(term.body, term.var.name, True):
        return None
    return Splitter(term.var, build, bindings, last, names).around(term.body)


class Splitter:
    """Splits one build; `kept` collects the arrays that it makes."""

    def __init__(self, var: Var, build: Build, bindings: list[tuple[Var, Term]], last: Tuple, names: Names) -> None:
        self.name, self.build, self.last, self.names = var.name, build, last, names
        self.kept: list[tuple[Var, Term]] = []
        self.again: list[tuple[Var, Term]] = []
        captured = {n for item in last.items if isinstance(item, Lambda) for n in free_variables(item)}
        needed = self.closed(bindings, captured)
        before: list[tuple[Var, Term]] = []
        for v, bound in bindings:
            if is_reread(bound):
                self.again.append((v, bound))
                before.append((v, bound))
            elif v.name in needed:
                array = self.array(v.name, before, bound)
                self.again.append((v, Index(array, build.index)))
                before.append((v, Index(array, build.index)))
            else:
                before.append((v, bound))
        self.parts = [x if isinstance(x, Lambda) else self.array(self.name, before, x) for x in last.items]

    def closed(self, bindings: list[tuple[Var, Term]], captured: set[str]) -> set[str]:
        """Give the captured variables, including those captured by bindings that are evaluated again."""
        needed = set(captured)
        for v, bound in reversed(bindings):
            if v.name in needed and is_reread(bound):
                needed |= set(free_variables(bound))
        return needed

    def array(self, hint: str, before: list[tuple[Var, Term]], term: Term) -> Var:
        """Keep the values of a term for all indices."""
        build = freshen(Build(self.build.size, self.build.index, lets(before, term)), self.names)
        var = Var(self.names(hint), build.type)
        self.kept.append((var, build))
        return var

    def around(self, body: Term) -> Term:
        """Rewrite the body that uses the build, with the arrays bound around it."""
        return lets(self.kept, self.rewrite(body))

    def rewrite(self, term: Term) -> Term:
        """Replace the uses of the build."""
        match term:
            case Proj(Index(Var(name), k), i) if name == self.name:
                part = self.parts[i]
                if isinstance(part, Var):
                    return Index(part, self.rewrite(k))
                code = freshen(Let(self.build.index, self.rewrite(k), lets(self.again, part)), self.names)
                return code
            case Size(Var(name)) if name == self.name:
                return self.build.size
            case Build(n, j, Proj(Index(Var(name), Var(k)), i)) if name == self.name and n == self.build.size:
                part = self.parts[i]
                if isinstance(part, Var) and k == j.name:
                    return part
        return map_children(term, self.rewrite)


# let a = replicate n t in e  ~>  e[t / a ! k, n / size a]   (for t and n that are cheap)
def replicate_inline(term: Term) -> Term | None:
    """Replace a replicate that is only indexed and measured."""
    match term:
        case Let(var, Replicate(n, t) | LDense(Replicate(n, t)), body) if (
            is_reread(n) and is_cheap(t) and only_indexed(body, var.name)
        ):
            return elements_replaced(body, var.name, t, n)
    return None


def elements_replaced(term: Term, name: str, element: Term, n: Term) -> Term:
    """Replace every element of an array by a term, and its size by another."""
    match term:
        case Index(Var(other), _) | LIndex(Var(other), _) if other == name:
            return element
        case Size(Var(other)) if other == name:
            return n
    return map_children(term, lambda child: elements_replaced(child, name, element, n))


# for i < n: m; m'  ~>  (for i < n: m); (for i < n: m')
# for i < n: let v = e in m  ~>  let v' = build n (i. e) in for i < n: m[v' ! i / v]
# for i < n: one_x d  ~>  one_x (the sum of d over i, see `Sums`)
def for_each_sum(term: Term, names: Names, lengths: Lengths) -> Term | None:
    """Replace a loop that consists of contributions by one contribution to each slot."""
    if not isinstance(term, ForEach) or not is_reread(term.size) or not contributes(term.body):
        return None
    n, i = term.size, term.index
    match term.body:
        case Then(first, second):
            return Then(ForEach(n, i, first), freshen(ForEach(n, i, second), names))
        case Let(v, e, m) if is_reread(e):
            return ForEach(n, i, substitute(m, {v.name: e}))
        case Let(_, Tuple() | LTuple(), _):
            return None
        case Let(v, e, m):
            values = freshen(Build(n, i, e), names)
            var = Var(names(v.name), values.type)
            return Let(var, values, ForEach(n, i, substitute(m, {v.name: Index(var, i)})))
        case One(slot, d):
            return One(slot, Sums(n, i, names, lengths)(d, slot))
    return None


def contributes(term: Term) -> bool:
    """Tell whether a computation consists of contributions only."""
    match term:
        case One():
            return True
        case Then(first, second):
            return contributes(first) and contributes(second)
        case Let(_, e, m):
            return not isinstance(e.type, Function | EVM) and contributes(m)
        case Return(value):
            return value == Tuple(())
    return False


class Sums:
    """The sum of a linear term over an index: one-hots at the index become an array, other one-hots a scatter.

    An array of cotangents has one for each element of its primal. So a loop becomes an array if it is known to run over
    as many indices as the primal has elements, and otherwise a scatter. A loop may run zero times, so an access to an
    element that is not known to exist must stay inside the loop.
    """

    def __init__(self, n: Term, i: Var, names: Names, lengths: Lengths) -> None:
        self.n, self.i, self.names, self.lengths = n, i, names, lengths

    def each(self, term: Term) -> Term:
        """Give the array of the values of a term at all indices."""
        return freshen(Build(self.n, self.i, term), self.names)

    def __call__(self, d: Term, primal: Place) -> Term:
        """Add up a cotangent of ``primal``."""
        match d:
            case LSingle(Var(name), e) if name == self.i.name and self.lengths.has_size(primal, self.n):
                return LDense(self.each(e))
            case LSingle(k, e) if k != self.i and self.lengths.has_index(primal, k):
                return LSingle(k, self(e, (primal, k)))
            case LSingle(k, e):
                return LScatter(self.each(k), LDense(self.each(e)))
            case LTuple(items):
                return LTuple(tuple(self(item, (primal, part)) for part, item in enumerate(items)))
            case Zero():
                return d
        return LTotal(LDense(self.each(d)))
