"""Evaluation of source terms. The comment above each rule is its cost in EC appendix C.

Arrays, which the appendix lacks, cost one step for each element in addition to the cost of the element's term.
"""

from __future__ import annotations

from typing import Any

from .. import terms as S
from ..functions import added
from ..primitives import evaluate_op
from ..tables import entry
from ..types import Float
from ..values import Tagged
from .evaluation import Environment, Evaluation


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


# cost(r) = 1
@entry
def literal(E: Evaluation, t: S.Literal, env: Environment) -> Any:
    E.step()
    return t.value


# cost(op(t)) = 1 + cost(t), where the arguments of an n-ary operation are a tuple
@entry
def op(E: Evaluation, t: S.Op, env: Environment) -> Any:
    E.step(1 + (len(t.args) > 1))
    return evaluate_op(t.op, [E.eval(a, env) for a in t.args])


@entry
def primitive(E: Evaluation, t: S.Primitive, env: Environment) -> Any:
    args = [E.eval(a, env) for a in t.args]
    E.step(1 + len(args))
    return E.primitives.primal(t, args)


# cost(<t1, ..., tn>) = 1 + cost(t1) + ... + cost(tn)
@entry
def tuple_(E: Evaluation, t: S.Tuple, env: Environment) -> Any:
    E.step()
    return tuple([E.eval(item, env) for item in t.items])


# cost(fst t) = 1 + cost(t)
@entry
def proj(E: Evaluation, t: S.Proj, env: Environment) -> Any:
    E.step()
    return E.eval(t.term, env)[t.index]


# cost(inl t) = 1 + cost(t)
@entry
def inject(E: Evaluation, t: S.Inject, env: Environment) -> Any:
    E.step()
    return Tagged(t.index, E.eval(t.term, env))


# cost(case r of {inl x -> s | inr y -> t}) = 1 + cost(r) + cost(the branch taken)
@entry
def case(E: Evaluation, t: S.Case, env: Environment) -> Any:
    E.step()
    value = E.eval(t.term, env)
    branch = t.branches[value.option]
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


# cost(t s) = 1 + cost(t) + cost(s) + cost(the body)
@entry
def apply(E: Evaluation, t: S.Apply, env: Environment) -> Any:
    E.step()
    function = E.eval(t.function, env)
    if len(t.args) == 1:
        return function(E.eval(t.args[0], env))
    return function(*[E.eval(a, env) for a in t.args])


@entry
def call(E: Evaluation, t: S.Call, env: Environment) -> Any:
    E.step()
    return E.call(t.name, [E.eval(a, env) for a in t.args])


@entry
def build(E: Evaluation, t: S.Build, env: Environment) -> Any:
    n = E.eval(t.size, env)
    E.step(1 + max(n, 0))
    name = t.index.name
    return [E.eval(t.body, {**env, name: i}) for i in range(n)]


# as a tuple
@entry
def elements(E: Evaluation, t: S.Elements, env: Environment) -> Any:
    E.step()
    return [E.eval(item, env) for item in t.items]


@entry
def index(E: Evaluation, t: S.Index, env: Environment) -> Any:
    E.step()
    array = E.eval(t.array, env)
    i = E.eval(t.index, env)
    if not -len(array) <= i < len(array):
        raise IndexError(f"index {i} is out of range for an array of size {len(array)}")
    return array[i]


@entry
def size(E: Evaluation, t: S.Size, env: Environment) -> Any:
    E.step()
    return len(E.eval(t.array, env))


@entry
def map_(E: Evaluation, t: S.Map, env: Environment) -> Any:
    arrays = [E.eval(a, env) for a in t.arrays]
    names = [v.name for v in t.vars]
    result = [E.eval(t.body, {**env, **dict(zip(names, xs, strict=True))}) for xs in zip(*arrays, strict=False)]
    E.step(1 + len(result))
    return result


@entry
def total(E: Evaluation, t: S.Total, env: Environment) -> Any:
    array = E.eval(t.array, env)
    E.step(1 + len(array))
    return sum(array, 0.0 if isinstance(t.type, Float) else 0)


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
def gather(E: Evaluation, t: S.Gather, env: Environment) -> Any:
    array = E.eval(t.array, env)
    indices = E.eval(t.indices, env)
    E.step(1 + len(indices))
    return [array[i] for i in indices]


@entry
def scatter(E: Evaluation, t: S.Scatter, env: Environment) -> Any:
    result = list(E.eval(t.array, env))
    indices = E.eval(t.indices, env)
    values = E.eval(t.values, env)
    E.step(1 + len(result) + len(values))
    for i, x in zip(indices, values, strict=True):
        result[i] = added(result[i], x)
    return result


@entry
def replicate(E: Evaluation, t: S.Replicate, env: Environment) -> Any:
    n = E.eval(t.size, env)
    E.step(1 + max(n, 0))
    return [E.eval(t.term, env)] * n


@entry
def filter_(E: Evaluation, t: S.Filter, env: Environment) -> Any:
    array = E.eval(t.array, env)
    E.step(1 + len(array))
    return [x for x in array if E.eval(t.condition, {**env, t.var.name: x})]


@entry
def concatenate(E: Evaluation, t: S.Concatenate, env: Environment) -> Any:
    result = [*E.eval(t.first, env), *E.eval(t.second, env)]
    E.step(1 + len(result))
    return result


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
