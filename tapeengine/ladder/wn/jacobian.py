r"""AD of whole Jacobians as linear maps (WN Fig. 6).

    df(x) = let dx = 1 in N[e]        where f(x) = e, and N[e] : S -o T where e : T
    N[k] = 0        N[x] = dx         N[(e1, ..., en)] = N[e1] x ... x N[en]        N[pi_i(e)] = pi_i . N[e]
    N[op(e)] = dop(e) . N[e]          where dop(x1, ..., xn) = S(d1 op(x..)) >< ... >< S(dn op(x..))
    N[let x = e1 in e2] = let x = e1 in let dx = N[e1] in N[e2]
    N[if b then e1 else e2] = if b then N[e1] else N[e2]
    N[build(n, \i. e)] = V(build(n, \i. N[e]))
    N[\i. e] = L(\i. N[e])           N[f(i)] = L'(\j. if i = j then 1 else 0) . N[f]         where f : N -> t
    N[a[i]] = H(build(sz a, \j. if i = j then 1 else 0)) . N[a]          N[sum(a)] = H(build(sz a, \i. 1)) . N[a]

    fwd$f(x, dx) = df(x) @ dx         rev$f(x, dr) = dr @R df(x)

The rule for op contains e twice, directly and under N, so a value is computed once for each operation above it.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...chad.language import terms as S
from ...chad.language.traverse import free_variables
from ...chad.language.types import BOOL, INT, Named, Product
from ..operations import ROWS
from ..source import FoldLeft
from ..target import Fresh, Interface, Partial

#: The type of linear maps, without their domain and codomain.
MAP = Named("LinearMap")


def linear_map(name: str, *args: S.Term) -> Interface:
    """A constructor of linear maps."""
    return Interface(name, args, MAP)


def projection(index: int, width: int) -> S.Term:
    """``pi_index`` of a tuple: 0 >< ... >< 1 >< ... >< 0."""
    return linear_map("HCat", *(linear_map("1" if k == index else "0") for k in range(width)))


def operation(op: str, args: Sequence[S.Term]) -> S.Term:
    """``dop(args)``."""
    slopes = [linear_map("S", Partial(op, which, tuple(args), S.lit(1.0))) for which in range(len(args))]
    return linear_map("HCat", *slopes)


class Jacobian:
    """The transformation N; ``tangents`` maps each x in scope to the variable dx."""

    def __init__(self) -> None:
        self.fresh = Fresh()

    def function(self, params: Sequence[S.Var], body: S.Term) -> S.Term:
        """``df``: the linear map from the tuple of all parameters to the result."""
        tangents = {x.name: self.fresh("d" + x.name, MAP) for x in params}
        term = self.term(body, tangents)
        for k, x in reversed(list(enumerate(params))):
            term = S.Let(tangents[x.name], projection(k, len(params)), term)
        return term

    def term(self, term: S.Term, tangents: dict[str, S.Var]) -> S.Term:
        """N."""

        def n(inner: S.Term) -> S.Term:
            return self.term(inner, tangents)

        match term:
            case S.Var(name):
                return tangents[name] if name in tangents else linear_map("0")
            case S.Tuple(items):
                return linear_map("VCat", *map(n, items))
            case S.Proj(whole, index):
                assert isinstance(whole.type, Product)
                return linear_map("o", projection(index, len(whole.type.items)), n(whole))
            case S.Op(op, args, _) if op in ROWS:
                return linear_map("o", operation(op, args), linear_map("VCat", *map(n, args)))
            case S.Let(x, bound, body):
                dx = self.fresh("d" + x.name, MAP)
                return S.Let(x, bound, S.Let(dx, n(bound), self.term(body, {**tangents, x.name: dx})))
            case S.If(condition, then, orelse):
                return S.If(condition, n(then), n(orelse))
            case S.Build(width, i, body):
                return linear_map("V", S.Build(width, i, n(body)))
            case S.Index(array, index):
                return linear_map("o", one_hot(self.fresh, S.Size(array), index), n(array))
            case S.Total(array):
                j = self.fresh("j", INT)
                return linear_map("o", linear_map("H", S.Build(S.Size(array), j, linear_map("1"))), n(array))
            case S.Lambda((i,), body) if i.of == INT:
                return linear_map("L", S.Lambda((i,), n(body)))
            case S.Apply(function, (index,)):
                return linear_map("o", linear_map("at", index), n(function))
            case FoldLeft():
                return self.fold(term, tangents)
            case S.Literal() | S.Op() | S.Size():
                return linear_map("0")
        raise ValueError(f"{type(term).__name__} is not in the language of the working notes")

    def fold(self, term: FoldLeft, tangents: dict[str, S.Var]) -> S.Term:
        """Fig. 13."""
        zero, one = linear_map("0"), linear_map("1")
        inner = {x: self.fresh("d" + x, MAP) for x in tangents} | {term.pair.name: self.fresh("dt", MAP)}
        slope: S.Term = S.Let(inner[term.pair.name], linear_map("HCat", zero, one), self.term(term.body, inner))
        for x in sorted(free_variables(term.body).keys() & set(tangents)):
            slope = S.Let(inner[x], linear_map("o", tangents[x], linear_map("HCat", one, zero)), slope)
        functions = S.Lambda((term.pair,), term.body), S.Lambda((term.pair,), slope)
        parts = linear_map("VCat", self.term(term.init, tangents), self.term(term.array, tangents))
        whole = linear_map("lmFold", *functions, term.init, term.array)
        return linear_map("o", whole, linear_map("VCat", one, parts))


def one_hot(fresh: Fresh, width: S.Term, index: S.Term) -> S.Term:
    r"""``H(build(width, \j. if index = j then 1 else 0))``."""
    j = fresh("j", INT)
    chosen = S.If(S.Op("eq", (index, j), BOOL), linear_map("1"), linear_map("0"))
    return linear_map("H", S.Build(width, j, chosen))
