"""Lowering of the terms that occur only in derivative programs: linear operations and computations; and of loops."""

from __future__ import annotations

from collections.abc import Mapping

from ..intermediate.statements import BoxOf, Const, Operand, Pack, Unpack, Var
from ..language import target as T
from ..language import terms as S
from ..language.tables import entry
from ..language.types import LArray, Linear, LSum
from . import values as V
from .lower import Lower, Rule
from .patterns import is_zero, leaf_types, part, stored
from .source import changed

#: The rules that are one expression.
SHORT: Mapping[type[S.Term], Rule] = {
    T.Zero: lambda L, t, env: V.ZERO,
    T.Plus: lambda L, t, env: L.plus(L(t.left, env), L(t.right, env), t.type),
    T.LProj: lambda L, t, env: part(L(t.term, env), t.index),
    T.Return: lambda L, t, env: L(t.term, env),
}


@entry
def tuple_(L: Lower, t: T.LTuple, env: V.Env) -> V.Value:
    items = tuple(L(x, env) for x in t.items)
    likes = tuple(x.like for x in items if isinstance(x, V.Zero))
    return V.Zero(V.Tup(likes)) if items and len(likes) == len(items) else V.Tup(items)  # type: ignore[arg-type]


@entry
def inject(L: Lower, t: T.LInject, env: V.Env) -> V.Value:
    value = L(t.term, env)
    if isinstance(value, V.Zero):
        return V.ZERO
    if isinstance(t.of, LSum):
        return V.Tup(tuple(value if k == t.index else V.ZERO for k in range(len(t.of.options))))
    out = L.b.fresh("d", BoxOf(t.of.name, linear=True))
    L.b.add(Pack(out, t.index, tuple(L.flat(L.in_box(value, T.linear_type(t.term)), stored(t.term.type), dense=False))))
    return out


@entry
def cast(L: Lower, t: T.LCast, env: V.Env) -> V.Value:
    value = L(t.term, env)
    if isinstance(t.term.type, LSum) or isinstance(value, V.Zero):
        return part(value, t.index)
    of = stored(t.of)
    outs = [L.b.fresh("d", x) for x in leaf_types(of, dense=False)]
    L.b.add(Unpack(tuple(outs), L.operand(value), t.index))
    found = L.from_box(of, iter(outs))
    return L.full(found, t.of, L(t.like[0], env)) if t.like else found


@entry
def scale(L: Lower, t: T.LScale, env: V.Env) -> V.Value:
    d = L(t.term, env)
    if isinstance(d, V.Zero):
        return V.ZERO
    factor = L.number(t.factor, env)
    if isinstance(factor, Const) and factor.value == -1:
        return L.b.compute("neg", L.operand(d), hint="d")
    return L.b.compute("mul", L.operand(d), factor, hint="d")


@entry
def single(L: Lower, t: T.LSingle, env: V.Env) -> V.Value:
    value = L(t.term, env)
    return V.ZERO if isinstance(value, V.Zero) else V.Single(L.number(t.index, env), value)


@entry
def dense(L: Lower, t: T.LDense, env: V.Env) -> V.Value:
    if isinstance(t.array, S.Build):
        found = changed(L, t.array, env)
        if isinstance(found, V.Rows):
            return V.Owed(V.ZERO, lambda _: found)
    made = L(t.array, env)
    return V.ZERO if is_zero(made) else made


@entry
def scattered(L: Lower, t: T.LScatter, env: V.Env) -> V.Value:
    indices, values = L(t.indices, env), L(t.term, env)
    if isinstance(values, V.Zero):
        return V.ZERO
    assert isinstance(t.type, LArray)
    return V.Scattered(indices, L.collected(values, L.size(indices), t.type))


@entry
def index(L: Lower, t: T.LIndex, env: V.Env) -> V.Value:
    value = L(t.term, env)
    wrapped = isinstance(t.index, S.Op) and t.index.op == "imod" and isinstance(t.index.args[1], S.Size)
    i = L.number(t.index.args[0] if wrapped else t.index, env)  # type: ignore[attr-defined]
    if isinstance(value, V.Zero):
        return V.ZERO
    if isinstance(value, V.ARRAYS):
        return L.index(value, i)
    raise V.NotLowered("a component of a sum of cotangents")


@entry
def total(L: Lower, t: T.LTotal, env: V.Env) -> V.Value:
    """The sum of all entries."""
    value = L(t.term, env)
    assert isinstance(t.term.type, LArray)
    like = L(t.like[0], env) if t.like else None
    return L.summed(value, t.term.type, like)


@entry
def collect(L: Lower, t: T.Collect, env: V.Env) -> V.Value:
    value = L(t.term, env)
    assert isinstance(t.term.type, LArray)
    if isinstance(value, V.Rows) and value.size is not None:
        return V.Rows(L.number(t.size, env), value.element)
    if isinstance(value, V.ARRAYS):
        return value
    return L.collected(value, L.number(t.size, env), t.term.type)


@entry
def rule(L: Lower, t: T.Vjp | T.Jvp, env: V.Env) -> V.Value:
    """The rule of a primitive for the cotangent, or the tangent, of an argument."""
    d = L(t.term, env)
    if isinstance(d, V.Zero):
        return V.ZERO
    name, like = ("vjp", t.out) if isinstance(t, T.Vjp) else ("jvp", t.args[t.argument])
    d = L.full(d, T.linear_type(t.term), L(like, env))
    values = [(d, t.term.type), *((L(x, env), x.type) for x in (*t.args, t.out))]
    return L.registered(t.name, name, t.argument, values, t.static, t.of)


@entry
def run(L: Lower, t: T.Run, env: V.Env) -> V.Value:
    slots = [L.preset.pop(name) if name in L.preset else L.slot(of, env.get(name)) for name, of in t.slots]
    return L.with_slots([name for name, _ in t.slots], slots, lambda: L.perform(t.body, env))[1]


# ---------------------------------------------------------------- computations


@entry
def one(L: Lower, t: T.One, env: V.Env) -> V.Value:
    L.slots[t.slot][-1].add(L(t.term, env))
    return V.Tup(())


@entry
def scope(L: Lower, t: T.Scope, env: V.Env) -> V.Value:
    slot = L.slot(t.of, env.get(t.slot))
    result, closed = L.with_slots([t.slot], [slot], lambda: L.perform(t.body, env))
    return V.Tup((result, part(closed, 0)))


@entry
def bind(L: Lower, t: T.Bind, env: V.Env) -> V.Value:
    env[t.var.name] = L.perform(t.first, env)
    return L.perform(t.body, env)


@entry
def then(L: Lower, t: T.Then, env: V.Env) -> V.Value:
    L.perform(t.first, env)
    return L.perform(t.second, env)


@entry
def for_each(L: Lower, t: T.ForEach, env: V.Env) -> V.Value:
    with L.b.loop(L.natural(t.size, env), down=True, hint=t.index.name, is_parallel=t.is_parallel) as body:
        env[t.index.name] = body.step
        L.perform(t.body, env)
    return V.Tup(())


@entry
def descend(L: Lower, t: T.Descend, env: V.Env) -> V.Value:
    n = L.natural(t.size, env)
    init = L(t.init, env)
    of = t.init.type
    if isinstance(of, Linear):
        init = L.full(init, of, L(t.like[0], env) if t.like else None)
    each = t.body.type.result.items[1]  # type: ignore[attr-defined]

    def step(i: Var, state: V.Value) -> tuple[V.Value, V.Value]:
        env[t.index.name], env[t.state.name] = i, state
        found = L.perform(t.body, env)
        return part(found, 0), L.full(part(found, 1), each, None)

    return V.Tup(L.iterate(n, init, of, step, t.state.name, down=True))


# ---------------------------------------------------------------- loops, of which derivatives also keep values


@entry
def counted(L: Lower, t: S.For | T.MapAccum, env: V.Env) -> V.Value:
    n = L.natural(t.size, env)
    init = L(t.init, env)

    def step(i: Var, state: V.Value) -> tuple[V.Value, V.Value]:
        env[t.index.name], env[t.state.name] = i, state
        found = L(t.body, env)
        return (found, V.Tup(())) if isinstance(t, S.For) else (part(found, 0), part(found, 1))

    both = L.iterate(n, init, t.init.type, step, t.state.name, t.index.name)
    return both[0] if isinstance(t, S.For) else V.Tup(both)


@entry
def conditional(L: Lower, t: S.While | T.WhileAccum, env: V.Env) -> V.Value:
    init = L(t.init, env)

    def test(state: V.Value) -> Operand:
        env[t.state.name] = state
        return L.number(t.condition, env)

    def step() -> tuple[V.Value, V.Value]:
        found = L(t.body, env)
        return (found, V.Tup(())) if isinstance(t, S.While) else (part(found, 0), part(found, 1))

    both = L.repeat(init, t.init.type, test, step, t.state.name)
    return both[0] if isinstance(t, S.While) else V.Tup(both)
