"""Lowering of loops."""

from __future__ import annotations

from .. import target as T
from .. import terms as S
from ..intermediate.operations import WHOLE
from ..intermediate.statements import Const, Operand
from ..tables import entry
from ..types import Linear
from . import values as V
from .blocks import Block
from .lower import ONE, Lower
from .patterns import part


@entry
def counted(L: Lower, t: S.For | T.MapAccum, env: V.Env) -> V.Value:
    n = L.natural(t.size, env)
    init = L(t.init, env)
    kept: list[V.Value] = []

    def step(body: Block, state: V.Value) -> V.Value:
        env[t.index.name], env[t.state.name] = body.step, state
        found = L(t.body, env)
        if isinstance(t, S.For):
            return found
        kept.append(L.kept_element(part(found, 1), n, body))
        return part(found, 0)

    last = L.iterate(n, init, t.init.type, step, t.state.name, t.index.name)
    return V.Tup((last, V.Rows(n, kept[0]))) if kept else last


@entry
def conditional(L: Lower, t: S.While | T.WhileAccum, env: V.Env) -> V.Value:
    init = L(t.init, env)
    kept: list[V.Value] = []

    def test(state: V.Value) -> Operand:
        env[t.state.name] = state
        return L.number(t.condition, env)

    def step(body: Block, state: V.Value) -> V.Value:
        found = L(t.body, env)
        if isinstance(t, S.While):
            return found
        kept.append(L.only_functions(part(found, 1), body))
        return part(found, 0)

    last, n = L.repeat(init, t.init.type, test, step, t.state.name)
    return V.Tup((last, V.Rows(n, kept[0]))) if kept else last


@entry
def fold(L: Lower, t: S.Fold, env: V.Env) -> V.Value:
    array = L.rows(L(t.array, env))
    first = L.index(array, Const(0, WHOLE))
    n = L.b.compute("isub", L.size(array), ONE)

    def step(body: Block, state: V.Value) -> V.Value:
        env[t.left.name] = state
        k = L.b.compute("iadd", body.step, ONE)
        env[t.right.name] = L.element(array.element, k, False)
        return L(t.body, env)

    return L.iterate(n, first, t.body.type, step, t.left.name)


@entry
def scan(L: Lower, t: S.Scan, env: V.Env) -> V.Value:
    init = L(t.init, env)
    array = L(t.array, env)
    array = L.rows(array) if isinstance(array, V.Items) else array
    kept: list[V.Value] = []
    n = L.size(array)

    def step(body: Block, state: V.Value) -> V.Value:
        env[t.state.name] = state
        env[t.var.name] = L.index(array, body.step)
        state = L(t.body, env)
        kept.append(L.kept_element(state, n, body))
        return state

    L.iterate(n, init, t.init.type, step, t.state.name)
    return V.Rows(n, kept[0])


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
    kept: list[V.Value] = []
    each = t.body.type.result.items[1]  # type: ignore[attr-defined]

    def step(body: Block, state: V.Value) -> V.Value:
        env[t.index.name], env[t.state.name] = body.step, state
        found = L.perform(t.body, env)
        kept.append(L.kept_element(L.full(part(found, 1), each, None), n, body))
        state = part(found, 0)
        return L.full(state, of, None) if isinstance(of, Linear) else state

    last = L.iterate(n, init, of, step, t.state.name, down=True)
    return V.Tup((last, V.Rows(n, kept[0])))
