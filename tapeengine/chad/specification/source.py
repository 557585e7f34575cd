"""Evaluation of source terms. The comment above each rule is its cost in EC appendix C.

Arrays, which the appendix lacks, cost one step for each element in addition to the cost of the element's term.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..language import terms as S
from ..language.functions import added
from ..language.tables import entry, table
from ..language.terms import Term
from ..language.types import Float
from ..language.values import Tagged
from ..primitives import evaluate_op
from .evaluation import Environment, Evaluation, Rule, strict
from .primitives import primal


# cost(x) = 1
@entry
def variable(E: Evaluation, t: S.Var, env: Environment) -> Any:
    E.step()
    return env[t.name]


# cost(let x = s in t) = 1 + cost(s) + cost(t)
@entry
def let(E: Evaluation, t: S.Let, env: Environment) -> Any:
    E.step()
    return E.eval(t.body, {**env, t.var.name: E.eval(t.bound, env)})


# cost(case r of {inl x -> s | inr y -> t}) = 1 + cost(r) + cost(the branch taken)
@entry
def case(E: Evaluation, t: S.Case, env: Environment) -> Any:
    E.step()
    value = E.eval(t.term, env)
    branch = t.branch(value.option)
    assert branch is not None
    return E.eval(branch.body, {**env, branch.var.name: value.payload})


# as a case on a value of two options
@entry
def if_(E: Evaluation, t: S.If, env: Environment) -> Any:
    E.step()
    return E.eval(t.then if E.eval(t.condition, env) else t.orelse, env)


# cost(\x. t) = 1 + |FV(\x. t)|
@entry
def lambda_(E: Evaluation, t: S.Lambda, env: Environment) -> Any:
    closure = E.captured(t, env)
    E.step(1 + len(closure))
    names = [p.name for p in t.params]
    body = t.body
    if len(names) == 1:
        (name,) = names
        return lambda x: E.eval(body, {**closure, name: x})
    return lambda *args: E.eval(body, {**closure, **dict(zip(names, args, strict=True))})


@entry
def build(E: Evaluation, t: S.Build, env: Environment) -> Any:
    n = E.eval(t.size, env)
    E.step(1 + max(n, 0))
    name = t.index.name
    return [E.eval(t.body, {**env, name: i}) for i in range(n)]


@entry
def map_(E: Evaluation, t: S.Map, env: Environment) -> Any:
    arrays = [E.eval(a, env) for a in t.arrays]
    names = [v.name for v in t.vars]
    result = [E.eval(t.body, {**env, **dict(zip(names, xs, strict=True))}) for xs in zip(*arrays, strict=False)]
    E.step(1 + len(result))
    return result


@entry
def fold(E: Evaluation, t: S.Fold, env: Environment) -> Any:
    array = E.eval(t.array, env)
    E.step(1 + len(array))
    if len(array) == 0:
        raise IndexError("fold of an empty array")
    state = array[0]
    for x in array[1:]:
        state = E.eval(t.body, {**env, t.left.name: state, t.right.name: x})
    return state


@entry
def scan(E: Evaluation, t: S.Scan, env: Environment) -> Any:
    state = E.eval(t.init, env)
    array = E.eval(t.array, env)
    E.step(1 + len(array))
    states = []
    for x in array:
        state = E.eval(t.body, {**env, t.state.name: state, t.var.name: x})
        states.append(state)
    return states


@entry
def filter_(E: Evaluation, t: S.Filter, env: Environment) -> Any:
    array = E.eval(t.array, env)
    E.step(1 + len(array))
    return [x for x in array if E.eval(t.condition, {**env, t.var.name: x})]


@entry
def for_(E: Evaluation, t: S.For, env: Environment) -> Any:
    n = E.eval(t.size, env)
    state = E.eval(t.init, env)
    E.step(1 + max(n, 0))
    for i in range(n):
        state = E.eval(t.body, {**env, t.index.name: i, t.state.name: state})
    return state


@entry
def while_(E: Evaluation, t: S.While, env: Environment) -> Any:
    state = E.eval(t.init, env)
    E.step()
    while E.eval(t.condition, {**env, t.state.name: state}):
        E.step()
        state = E.eval(t.body, {**env, t.state.name: state})
    return state


def operation(E: Evaluation, t: S.Op, *args: Any) -> Any:
    E.step(len(args) > 1)
    return evaluate_op(t.op, list(args))


def primitive(E: Evaluation, t: S.Primitive, *args: Any) -> Any:
    E.step(len(args))
    return primal(E.primitives, t, *args)


def indexed(E: Evaluation, t: S.Index, array: Any, i: int) -> Any:
    if not -len(array) <= i < len(array):
        raise IndexError(f"index {i} is out of range for an array of size {len(array)}")
    return array[i]


def sized(E: Evaluation, found: list[Any]) -> list[Any]:
    """Count a step for each element."""
    E.step(len(found))
    return found


def total(E: Evaluation, t: S.Total, array: Any) -> Any:
    E.step(len(array))
    if t.in_pairs and isinstance(t.type, Float):
        return float(np.sum(array))
    return sum(array, 0.0 if isinstance(t.type, Float) else 0)


def scatter(E: Evaluation, t: S.Scatter, array: Any, indices: Any, values: Any) -> Any:
    E.step(len(values))
    result = sized(E, list(array))
    for i, x in zip(indices, values, strict=True):
        result[i] = added(result[i], x)
    return result


def replicate(E: Evaluation, t: S.Replicate, n: int, x: Any) -> Any:
    return sized(E, [x] * n)


STRICT = strict(
    {
        # cost(r) = 1
        S.Literal: (1, lambda E, t: t.value),
        # cost(op(t)) = 1 + cost(t), where the arguments of an n-ary operation are a tuple
        S.Op: (1, operation),
        S.Primitive: (1, primitive),
        # cost(<t1, ..., tn>) = 1 + cost(t1) + ... + cost(tn)
        S.Tuple: (1, lambda E, t, *items: items),
        # cost(fst t) = 1 + cost(t)
        S.Proj: (1, lambda E, t, x: x[t.index]),
        # cost(t with i = s) = 1 + cost(t) + cost(s)
        S.Update: (1, lambda E, t, x, y: (*x[: t.index], y, *x[t.index + 1 :])),
        # cost(inl t) = 1 + cost(t)
        S.Inject: (1, lambda E, t, x: Tagged(t.index, x)),
        # as a projection
        S.Resize: (1, lambda E, t, x: x),
        # cost(t s) = 1 + cost(t) + cost(s) + cost(the body)
        S.Apply: (1, lambda E, t, function, *args: function(*args)),
        S.Call: (1, lambda E, t, *args: E.call(t.name, args)),
        # as a tuple
        S.Elements: (1, lambda E, t, *items: list(items)),
        S.Index: (1, indexed),
        S.Size: (1, lambda E, t, array: len(array)),
        S.Total: (1, total),
        S.Gather: (1, lambda E, t, array, indices: sized(E, [array[i] for i in indices])),
        S.Scatter: (1, scatter),
        S.Replicate: (1, replicate),
        S.Concatenate: (1, lambda E, t, a, b: sized(E, [*a, *b])),
    }
)
RULES: Mapping[type[Term], Rule] = {**table(globals()), **STRICT}
