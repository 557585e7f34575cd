"""Lowering of source terms, with one function for each constructor."""

from __future__ import annotations

from collections.abc import Mapping

from ..intermediate import statements as F
from ..intermediate.operations import REAL, WHOLE
from ..language import target as T
from ..language import terms as S
from ..language import written
from ..language.sugar import lower_map
from ..language.tables import entry
from ..language.types import Array, Float, Named
from . import patterns as P
from . import values as V
from .lower import ONE, Lower, Rule
from .options import told_apart

#: The rules that are one expression.
SHORT: Mapping[type[S.Term], Rule] = {
    S.Var: lambda L, t, env: env[t.name],
    S.Op: lambda L, t, env: L.b.compute(t.op, *(L.number(a, env) for a in t.args)),
    S.Proj: lambda L, t, env: P.part(L(t.term, env), t.index),
    S.Lambda: lambda L, t, env: V.Closure(tuple(p.name for p in t.params), t.body, env),
    S.Apply: lambda L, t, env: L.apply(L(t.function, env), [L(a, env) for a in t.args], t.type),
    S.Call: lambda L, t, env: L.call(t, [L(a, env) for a in t.args]),
    S.Size: lambda L, t, env: L.size(L(t.array, env)),
    S.Map: lambda L, t, env: L(lower_map(t, L.variable), env),
    S.Total: lambda L, t, env: L.total(L(t.array, env), t.type == Float(), t.in_pairs),
}


@entry
def literal(L: Lower, t: S.Literal, env: V.Env) -> V.Value:
    of: F.Type = P.leaf_type(t.of)
    return F.Const(float(t.value) if of == REAL else t.value, of)


@entry
def primitive(L: Lower, t: S.Primitive, env: V.Env) -> V.Value:
    args = [(L(a, env), a.type) for a in t.args]
    return L.registered(t.name, "value", 0, args, t.static, t.of)


@entry
def tuple_(L: Lower, t: S.Tuple, env: V.Env) -> V.Value:
    items = [L(x, env) for x in t.items]
    d = P.tangent_type(t.type)
    if d is not None:
        items[1] = L.beside(items[1], d, items[0])
    return V.Tup(tuple(items))


@entry
def update(L: Lower, t: S.Update | T.LUpdate, env: V.Env) -> V.Value:
    value, item = L(t.term, env), L(t.item, env)
    return P.changed(value, {t.index: item}, len(P.options(t.type)))


# ---------------------------------------------------------------- sums


@entry
def inject(L: Lower, t: S.Inject, env: V.Env) -> V.Value:
    payload = L(t.term, env)
    if isinstance(t.of, Named):
        out = L.b.fresh("box", F.BoxOf(t.of.name))
        L.b.add(F.Pack(out, t.index, tuple(L.flat(payload, t.term.type, dense=False))))
        return out
    return V.Member(F.Const(t.index, WHOLE), tuple(payload if k == t.index else None for k in range(len(t.of.options))))


@entry
def resize(L: Lower, t: S.Resize, env: V.Env) -> V.Value:
    value, n = L(t.term, env), len(P.options(t.of))
    if isinstance(value, V.Member):
        return V.Member(value.tag, (*value.options, *[None] * (n - len(value.options))))
    return V.Tup(tuple(P.part(value, k) if k < len(P.options(t.term.type)) else V.ZERO for k in range(n)))


@entry
def case(L: Lower, t: S.Case, env: V.Env) -> V.Value:
    value = L(t.term, env)
    if isinstance(value, V.Member) and isinstance(value.tag, F.Const):
        return branch(L, t, int(value.tag.value), value, env)  # type: ignore[arg-type]
    tag = L.operand(value.tag) if isinstance(value, V.Member) else L.b.option(value)  # type: ignore[arg-type]
    some = [k for k, x in enumerate(value.options) if x is not None] if isinstance(value, V.Member) else None
    own = t.by_option
    possible = [k for k in own if some is None or k in some or (k == S.OTHERS and not own.keys() >= set(some))]

    def go(left: list[int]) -> V.Value:
        if len(left) == 1:
            return branch(L, t, left[0], value, env)
        test = L.b.compute("eq", tag, F.Const(left[0], WHOLE))
        return L.choose(test, lambda: branch(L, t, left[0], value, env), lambda: go(left[1:]), t.type)

    return go(told_apart(t, possible))


def branch(L: Lower, t: S.Case, k: int, value: V.Value, env: V.Env) -> V.Value:
    """Write one branch of a case."""
    b = t.branch(k)
    assert b is not None
    if b is t.by_option.get(S.OTHERS):
        return L.evaluated(b.body, env)
    if isinstance(value, V.Member):
        payload = value.options[k]
        assert payload is not None
    else:
        assert isinstance(value, F.Var)
        payload = unpacked(L, value, k, b.var)
    env[b.var.name] = payload
    return L.evaluated(b.body, env)


def unpacked(L: Lower, box: F.Var, option: int, var: S.Var) -> V.Value:
    """Unpack a box."""
    outs = [L.b.fresh(var.name, of) for of in P.leaf_types(var.of, dense=False)]
    L.b.add(F.Unpack(tuple(outs), box, option))
    return L.restored(var.of, iter(outs), dense=False)


@entry
def if_(L: Lower, t: S.If, env: V.Env) -> V.Value:
    condition = L.number(t.condition, env)
    return L.choose(condition, lambda: L.evaluated(t.then, env), lambda: L.evaluated(t.orelse, env), t.type)


# ---------------------------------------------------------------- arrays


@entry
def build(L: Lower, t: S.Build, env: V.Env) -> V.Value:
    found = changed(L, t, env)
    if found is not None:
        return found
    size = L.natural(t.size, env)
    same = component(t, size, env)
    if same is not None:
        return same

    def at(i: F.Operand) -> V.Value:
        env[t.index.name] = i
        return L(t.body, env)

    return L.build(size, at, t.index.name, L.keeps, t.is_parallel)


def changed(L: Lower, t: S.Build, env: V.Env) -> V.Value | None:
    """Write an array that differs from another in one element, if the term has that form."""
    change, longer = written.written(t), written.shortened(t)
    if change is not None:
        array = L(change.array, env)
        if P.is_changeable(array):
            place = L.number(change.place.args[0] if change.is_there else change.place, env)  # type: ignore[attr-defined]
            return L.replaced(array, place, change.is_there, L(change.value, env))
    if longer is not None:
        array = L(longer, env)
        if P.is_changeable(array):
            return L.changed(array, None, None)
    return None


def component(t: S.Build, size: F.Operand, env: V.Env) -> V.Value | None:
    """Give ``[a[i].k for i in range(len(a))]`` without a copy."""
    path = []
    body = t.body
    while isinstance(body, S.Proj):
        path.append(body.index)
        body = body.term
    if not isinstance(body, S.Index) or not isinstance(body.array, S.Var) or body.index != t.index:
        return None
    array = env[body.array.name]
    if not isinstance(array, V.Rows) or array.size != size:
        return None
    element = array.element
    for k in reversed(path):
        element = P.part(element, k)
    return V.Rows(size, element)


@entry
def elements(L: Lower, t: S.Elements, env: V.Env) -> V.Value:
    items = tuple(L(x, env) for x in t.items)
    if isinstance(t.of, Float):
        items = tuple(L.flat(x, t.of, True)[0] for x in items)
    return V.Items(items, t.of)


@entry
def index(L: Lower, t: S.Index, env: V.Env) -> V.Value:
    array = L(t.array, env)
    if t.measured and isinstance(array, V.Rows) and array.size is not None:
        return L.element(array.element, L.number(t.index, env), False)
    return L.index(array, L.number(t.index, env))


@entry
def replicate(L: Lower, t: S.Replicate, env: V.Env) -> V.Value:
    n = L.natural(t.size, env)
    value = L(t.term, env)
    return V.Rows(n, V.ZERO) if P.is_zero(value) else V.Pull(n, lambda _: value)


@entry
def gather(L: Lower, t: S.Gather, env: V.Env) -> V.Value:
    array, indices = L(t.array, env), L(t.indices, env)
    if isinstance(array, V.Items):
        array = L.rows(array)
    return L.build(L.size(indices), lambda k: L.index(array, L.operand(L.index(indices, k))))


@entry
def scatter(L: Lower, t: S.Scatter, env: V.Env) -> V.Value:
    array, indices, values = L(t.array, env), L(t.indices, env), L(t.values, env)
    made = L.copy(array)
    n = L.b.compute("iequal", L.size(indices), L.size(values))
    size = L.size(made)
    with L.b.loop(n, hint="k") as body:
        index = L.operand(L.index(indices, body.step))
        L.b.add(F.Check(index, size))
        L.add_element(made.element, index, L.index(values, body.step))
    return made


@entry
def filter_(L: Lower, t: S.Filter, env: V.Env) -> V.Value:
    array = L.rows(L(t.array, env))
    of = Array(t.var.of)
    found = [L.b.new(a, ()) for a in P.array_types(of, dense=False)]
    if not found:
        raise V.NotLowered("a selection of values without leaves")
    with L.b.loop(L.size(array)) as body:
        x = env[t.var.name] = L.index(array, body.step, t.var.name)
        then, _ = L.b.branch(L.number(t.condition, env))
        with L.b.inside(then):
            for a, leaf in zip(found, L.flat(x, t.var.of, dense=False), strict=True):
                L.b.add(F.Append(a, leaf))
        assert then.flow is not None
        L.b.add(then.flow)
    return L.restored(of, iter(found), dense=False)


@entry
def concatenate(L: Lower, t: S.Concatenate, env: V.Env) -> V.Value:
    of = t.type
    assert isinstance(of, Array)
    first, second = L(t.first, env), L(t.second, env)
    if isinstance(second, V.Items) and len(second.items) == 1 and P.is_changeable(first):
        return L.changed(first, None, second.items[0])
    return L.concatenated(first, second, of)


# ---------------------------------------------------------------- loops; those of numbers of steps are in `linear`


@entry
def fold(L: Lower, t: S.Fold, env: V.Env) -> V.Value:
    array = L.rows(L(t.array, env))
    first = L.index(array, F.Const(0, WHOLE))
    n = L.b.compute("isub", L.size(array), ONE)

    def step(i: F.Var, state: V.Value) -> tuple[V.Value, V.Value]:
        env[t.left.name] = state
        env[t.right.name] = L.element(array.element, L.b.compute("iadd", i, ONE), False)
        return L(t.body, env), V.Tup(())

    return L.iterate(n, first, t.body.type, step, t.left.name)[0]


@entry
def scan(L: Lower, t: S.Scan, env: V.Env) -> V.Value:
    init = L(t.init, env)
    array = L(t.array, env)
    array = L.rows(array) if isinstance(array, V.Items) else array

    def step(i: F.Var, state: V.Value) -> tuple[V.Value, V.Value]:
        env[t.state.name] = state
        env[t.var.name] = L.index(array, i)
        following = L(t.body, env)
        return following, following

    return L.iterate(L.size(array), init, t.init.type, step, t.state.name)[1]
