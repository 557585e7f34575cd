"""Evaluation of linear operations and of environment vectors as values; costs as in EC appendix C."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..language import target as T
from ..language.tables import entry, table
from ..language.terms import Term
from ..language.values import Tagged
from .evaluation import Environment, Evaluation, Rule, strict
from .primitives import linear_map


# cost(lcastl t) = 1 + cost(t), and 1 for the zero of a zero
@entry
def lcast(E: Evaluation, t: T.LCast, env: Environment) -> Any:
    E.step()
    return E.linear.cast(t.index, t.of, E.eval(t.term, env))


@entry
def ltotal(E: Evaluation, t: T.LTotal, env: Environment) -> Any:
    E.step()
    return E.linear.total(t.term.type, E.eval(t.term, env))  # type: ignore[arg-type]


@entry
def copower_fold(E: Evaluation, t: T.CopowerFold, env: Environment) -> Any:
    of = T.linear_type(t)
    result = E.linear.zero(of)
    for key, value in E.eval(t.term, env):
        E.step()
        result = E.linear.plus(of, result, E.eval(t.body, {**env, t.key.name: key, t.value.name: value}))
    return result


@entry
def llambda(E: Evaluation, t: T.LLambda, env: Environment) -> Any:
    closure = E.captured(t, env)
    E.step(1 + len(closure))
    names = [p.name for p in t.params]
    return lambda *args: E.eval(t.body, {**closure, **dict(zip(names, args, strict=True))})


# constant time, inflated to the size of the array (EC note 35)
def dense(E: Evaluation, t: T.LDense, array: Any) -> Any:
    E.step(len(array))
    return E.linear.from_entries(list(enumerate(array)))


def scattered(E: Evaluation, t: T.LScatter, indices: Any, array: Any) -> Any:
    E.step(len(indices))
    result = E.linear.zero(T.linear_type(t))
    for k, value in E.linear.entries(array):
        single = E.linear.from_entries([(indices[k % len(indices)], value)])
        result = E.linear.plus(T.linear_type(t), result, single)
    return result


#: The zero, a sum, a projection and a cast also cost what the linear type counts: that of a dense zero, of the sum, and
#: 1 for the zero of a zero. An operation on a pair costs 2 + cost(t) + cost(s).
STRICT = strict(
    {
        T.Zero: (0, lambda E, t: E.linear.zero(t.of)),
        T.Plus: (1, lambda E, t, a, b: E.linear.plus(T.linear_type(t), a, b)),
        T.LTuple: (1, lambda E, t, *items: items),
        T.LProj: (1, lambda E, t, a: E.linear.proj(t.term.type, a, t.index)),
        T.LUpdate: (
            1,
            lambda E, t, a, x: tuple(
                x if k == t.index else E.linear.proj(t.term.type, a, k) for k in range(len(t.type.items))
            ),
        ),
        T.LInject: (1, lambda E, t, a: Tagged(t.index, a)),
        T.LScale: (2, lambda E, t, d, factor: E.linear.scale(d, factor)),
        T.LSingle: (1, lambda E, t, i, d: E.linear.from_entries([(i, d)])),
        T.LDense: (1, dense),
        T.LIndex: (1, lambda E, t, a, i: E.linear.total(t.term.type, a, i)),
        T.LScatter: (1, scattered),
        T.Collect: (1, lambda E, t, a, n: E.linear.collect(t.term.type, a, n)),
        T.Singleton: (1, lambda E, t, key, d: [(key, d)]),
        T.LApply: (1, lambda E, t, function, *args: function(*args)),
        T.Vjp: (0, lambda E, t, d, *args: linear_map(E.primitives, t, E.linear, d, *args)),
        T.Jvp: (0, lambda E, t, d, *args: linear_map(E.primitives, t, E.linear, d, *args)),
        T.EVOne: (1, lambda E, t, d: E.linear.one(t.of, t.slot, d)),
        T.Split: (1, lambda E, t, vector: E.linear.split(t.term.type, t.slot, vector)),
    }
)
RULES: Mapping[type[Term], Rule] = {**table(globals()), **STRICT}
