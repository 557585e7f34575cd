"""Sums and recursion: a case is a branch on the number of the option, a recursive call is a call of two passes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeengine.chad import terms as S
from tapeengine.chad.generate.boxes import canonical, declared, measured, operands, unpacked
from tapeengine.chad.generate.lower_control import branch, choice
from tapeengine.chad.generate.values import Boxed, Choice, Member, NotGenerated, NotWhole, Value
from tapeengine.chad.imperative import Call, Const, Operand, Ref
from tapeengine.chad.types import Product

if TYPE_CHECKING:
    from tapeengine.chad.generate.lower import Lower, Scope

__all__ = ["RULES"]


def inject(L: Lower, t: S.Inject, scope: Scope) -> Value:
    return Member(t.of, t.index, L(t.term, scope))


def case(L: Lower, t: S.Case, scope: Scope) -> Value:
    """Where the option is known now, there is nothing to choose."""
    value = L(t.term, scope)
    match value:
        case Member(_, k, payload):
            taken = t.branches[k]
            return L(taken.body, scope.bind(**{taken.var.name: payload}))
        case Choice(_, tag, _):
            return one_of(L, value, L.force(tag), t.branches, scope)
        case Boxed(ref):
            return one_of(L, value, L.b.emit("option", (ref,), kind="int"), t.branches, scope)
    raise NotGenerated(f"a case of a {type(value).__name__}")


def one_of(
    L: Lower, value: Choice | Boxed, tag: Operand, branches: tuple[S.Branch, ...], scope: Scope, k: int = 0
) -> Value:
    """Take the branch of option k, or of one behind it."""

    def taken(inner: Scope) -> Value:
        return L(branches[k].body, inner.bind(**{branches[k].var.name: payload(L, value, k, branches[k].var)}))

    if k == len(branches) - 1:
        return taken(scope)
    test = L.b.emit("eq", (tag, Const(k)))
    choose = choice if test.axes else branch
    return choose(L, test, taken, lambda inner: one_of(L, value, tag, branches, inner, k + 1), scope)


def payload(L: Lower, value: Choice | Boxed, k: int, var: S.Var) -> Value:
    """Give the payload of option k."""
    if isinstance(value, Choice):
        return value.options[k]
    of = L.layout.options(value.of)[k]
    return unpacked(L, value.ref, of, "" if isinstance(of, Product) and of.name else var.name, tag=True)


def call(L: Lower, t: S.Call, scope: Scope) -> Value:
    """A definition is written in place of its call, so that arrays run through it, unless it is recursive."""
    if t.name in L.recursive:
        return recursive_call(L, t, scope)
    if t.name not in L.module.definitions:
        raise NotGenerated("a call of functions of which there are none")
    definition = L.module.definitions[t.name]
    values = {p.name: L(a, scope) for p, a in zip(definition.params, t.args, strict=True)}
    return L(definition.body, replace(scope, env=values))


def recursive_call(L: Lower, t: S.Call, scope: Scope) -> Value:
    """Call the forward pass of a definition; its residuals are among those of the caller (EC section 3)."""
    if scope.is_whole:
        raise NotWhole("a recursive call inside a build")
    definition = L.module.definitions[t.name]
    L.unit(t.name)
    args: list[Operand] = []
    for param, arg in zip(definition.params, t.args, strict=True):
        args += operands(L.settled(canonical(L, L(arg, scope), param.of)))
    outs: list[Ref] = []
    value = declared(L, definition.result, "y", outs)
    L.b.block.append(Call(t.name, tuple(outs), tuple(args), L.b.names("kept")))
    measured(L, value)
    return value


RULES: Mapping[type[S.Term], Any] = MappingProxyType({S.Inject: inject, S.Case: case, S.Call: call})
