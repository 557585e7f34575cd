"""Rules of reverse CHAD for iteration.

A loop keeps the backpropagator of each step in an array. The reverse pass calls them from the last to the first, and
threads the cotangent of the carried state. Recursion needs no separate rule: see `core.call`.
"""

from __future__ import annotations

from tapeengine.chad import target as T
from tapeengine.chad.derivative_types import cotangent, reverse_primal
from tapeengine.chad.reverse.environment import Context
from tapeengine.chad.reverse.transform import Reverse
from tapeengine.chad.tables import entry
from tapeengine.chad.terms import Apply, For, Index, Proj, Size, Term, Tuple, Var, While
from tapeengine.chad.types import INT, UNIT, Linear


# D[for n (i s. t) s0]  :=  let <x, x'> = D[s0] in let n = D[n]1 in let <y, fs> = mapAccum n (i s. D[t]) x in
#     <y, \d. do <d0, _> <- descend n (i d. do <(), ds> <- scope_s ((fs ! i) d); return <ds, ()>) d; x' d0>
@entry
def for_(D: Reverse, t: For, context: Context) -> Term:
    state = Var(t.state.name, reverse_primal(t.state.of))

    def body(p: Var, n: Var) -> Term:
        step = D(t.body, D.extend(context, t.state))
        return D.let(
            "r", T.MapAccum(n, t.index, state, Proj(p, 0), step), lambda r: unwound(D, t.state, p, r, n, context)
        )

    return D.bind("p", t.init, context, lambda p: D.let("n", D.primal(t.size, context), lambda n: body(p, n)))


# D[while (s. c) (s. t) s0]: as for, with as many steps as were kept
@entry
def while_(D: Reverse, t: While, context: Context) -> Term:
    state = Var(t.state.name, reverse_primal(t.state.of))
    inner = D.extend(context, t.state)

    def body(p: Var) -> Term:
        loop = T.WhileAccum(state, Proj(p, 0), D.primal(t.condition, inner), D(t.body, inner))
        return D.let("r", loop, lambda r: unwound(D, t.state, p, r, Size(Proj(r, 1)), context))

    return D.bind("p", t.init, context, body)


def unwound(D: Reverse, state: Var, init: Var, loop: Var, n: Term, context: Context) -> Term:
    """Pair the last state of a loop with the backpropagator that runs its steps in reverse."""
    of = cotangent(state.of)

    def back(d: Var) -> Term:
        k, ds = D.fresh("k", INT), D.fresh("d", of)
        effect = Apply(Index(Proj(loop, 1), k), (ds,))
        step = D.form.scopes(D.extend((), state), effect, lambda got: Tuple((got[0], Tuple((), UNIT))))
        like = sized(of, Proj(loop, 0))
        return D.let(
            "n",
            n,
            lambda n: D.form.descend(n, k, ds, d, step, like, context, lambda got: D.back(init, Proj(got, 0))),
        )

    return D.result(Proj(loop, 0), back, of)


def sized(of: Linear, like: Term) -> tuple[Term, ...]:
    """Give the primal of a cotangent if the cotangent has sizes."""
    return (like,) if "LArray" in repr(of) else ()
