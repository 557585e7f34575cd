"""Evaluation of linear operations and of environment vectors as values; costs as in EC appendix C."""

from __future__ import annotations

from typing import Any

from .. import target as T
from ..tables import entry
from ..types import EV, LArray, LProduct
from ..values import Tagged
from .evaluation import Environment, Evaluation


# cost(0) = 1 + the cost of a dense zero
@entry
def zero(E: Evaluation, t: T.Zero, env: Environment) -> Any:
    return E.linear.zero(t.of)


# cost(s + t) = 1 + cost(s) + cost(t) + the cost of the sum
@entry
def plus(E: Evaluation, t: T.Plus, env: Environment) -> Any:
    E.step()
    return E.linear.plus(T.linear_type(t), E.eval(t.left, env), E.eval(t.right, env))


# cost(<t, s>) = 1 + cost(t) + cost(s)
@entry
def ltuple(E: Evaluation, t: T.LTuple, env: Environment) -> Any:
    E.step()
    return tuple([E.eval(item, env) for item in t.items])


# cost(lfst t) = 1 + cost(t), and 1 for the zero of a zero
@entry
def lproj(E: Evaluation, t: T.LProj, env: Environment) -> Any:
    E.step()
    assert isinstance(t.term.type, LProduct)
    return E.linear.proj(t.term.type, E.eval(t.term, env), t.index)


# cost(linl t) = 1 + cost(t)
@entry
def linject(E: Evaluation, t: T.LInject, env: Environment) -> Any:
    E.step()
    return Tagged(t.index, E.eval(t.term, env))


# cost(lcastl t) = 1 + cost(t), and 1 for the zero of a zero
@entry
def lcast(E: Evaluation, t: T.LCast, env: Environment) -> Any:
    E.step()
    return E.linear.cast(t.index, t.of, E.eval(t.term, env))


# an operation on a pair: 2 + cost(t) + cost(s)
@entry
def lscale(E: Evaluation, t: T.LScale, env: Environment) -> Any:
    E.step(2)
    return E.linear.scale(E.eval(t.term, env), E.eval(t.factor, env))


@entry
def lsingle(E: Evaluation, t: T.LSingle, env: Environment) -> Any:
    E.step()
    return E.linear.from_entries([(E.eval(t.index, env), E.eval(t.term, env))])


# constant time, inflated to the size of the array (EC note 35)
@entry
def ldense(E: Evaluation, t: T.LDense, env: Environment) -> Any:
    array = E.eval(t.array, env)
    E.step(1 + len(array))
    return E.linear.from_entries(list(enumerate(array)))


@entry
def lindex(E: Evaluation, t: T.LIndex, env: Environment) -> Any:
    E.step()
    assert isinstance(t.term.type, LArray)
    return E.linear.total(t.term.type, E.eval(t.term, env), E.eval(t.index, env))


@entry
def lscatter(E: Evaluation, t: T.LScatter, env: Environment) -> Any:
    indices = E.eval(t.indices, env)
    E.step(1 + len(indices))
    n = len(indices)
    entries = E.linear.entries(E.eval(t.term, env))
    of = t.term.type
    assert isinstance(of, LArray)
    result = E.linear.zero(of)
    for k, value in entries:
        single = E.linear.from_entries([(indices[k % n], value)])
        result = E.linear.plus(of, result, single)
    return result


@entry
def ltotal(E: Evaluation, t: T.LTotal, env: Environment) -> Any:
    E.step()
    assert isinstance(t.term.type, LArray)
    return E.linear.total(t.term.type, E.eval(t.term, env))


@entry
def collect(E: Evaluation, t: T.Collect, env: Environment) -> Any:
    E.step()
    assert isinstance(t.term.type, LArray)
    return E.linear.collect(t.term.type, E.eval(t.term, env), E.eval(t.size, env))


@entry
def singleton(E: Evaluation, t: T.Singleton, env: Environment) -> Any:
    E.step()
    return [(E.eval(t.key, env), E.eval(t.term, env))]


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


@entry
def lapply(E: Evaluation, t: T.LApply, env: Environment) -> Any:
    E.step()
    function = E.eval(t.function, env)
    return function(*[E.eval(a, env) for a in t.args])


@entry
def rule(E: Evaluation, t: T.Vjp | T.Jvp, env: Environment) -> Any:
    return E.primitives.linear(t, E.linear, E.eval(t.term, env), [E.eval(a, env) for a in t.args], E.eval(t.out, env))


@entry
def ev_one(E: Evaluation, t: T.EVOne, env: Environment) -> Any:
    E.step()
    return E.linear.one(t.of, t.slot, E.eval(t.term, env))


@entry
def split(E: Evaluation, t: T.Split, env: Environment) -> Any:
    E.step()
    assert isinstance(t.term.type, EV)
    return E.linear.split(t.term.type, t.slot, E.eval(t.term, env))
