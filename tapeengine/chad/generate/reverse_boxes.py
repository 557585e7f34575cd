"""Boxes, lists and recursive calls in the reverse pass: cotangents that hold only what was contributed (EC 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeengine.chad.imperative import Assign, Call, Const, Operand, Ref, Unpack

if TYPE_CHECKING:
    from tapeengine.chad.generate.reverse import Reverse

__all__ = ["BOXED", "RULES", "call", "is_accumulated", "none", "unpack"]

#: The kinds of variables whose cotangent may be None.
BOXED = ("box", "list")


def none(R: Reverse, kind: str = "box") -> Ref:
    """Give the zero cotangent of a box or a list."""
    return R.b.emit("none", (), axes=(), kind=kind)


def is_accumulated(param: Ref) -> bool:
    """Tell whether callers of a recursive definition hand in what the cotangent of a parameter is added to."""
    return bool(param.axes) or param.kind == "list"


# D[case t of {..., inj_k x -> s, ...}]: the cotangent of t is inj_k of the cotangent of x (EC Fig. 2)
def unpack(R: Reverse, s: Unpack) -> None:
    """Contribute to a box what its leaves were given."""
    cts = [R.take(out.name) if out.name in R.active else None for out in s.outs]
    if any(ct is not None for ct in cts):
        parts = [_leaf(R, ct, out) for ct, out in zip(cts, s.outs, strict=True)]
        R.one(s.value, R.b.emit("pack", parts, axes=(), kind="box"))


def _leaf(R: Reverse, ct: Operand | None, of: Ref) -> Operand:
    """Give the cotangent of a leaf as it stands in a box."""
    if ct is None:
        return none(R) if of.axes or of.kind != "float" else Const(0.0)
    return R.full(ct, of)


# D[inj_k t]: the cotangent of t is what the cotangent of the sum has for option k
def pack(R: Reverse, s: Assign, ct: Operand) -> None:
    outs = tuple(R.b.fresh("d", x.axes, x.kind) for x in s.args)
    R.b.block.append(Unpack(outs, ct, is_cotangent=True))
    for x, d in zip(s.args, outs, strict=True):
        if isinstance(x, Ref) and x.name in R.active:
            R.one(x, _filled(R, d) if d.axes else d)


def _filled(R: Reverse, d: Ref) -> Ref:
    """Give the cotangent of an array that may be None."""
    sizes = [R.b.axes.sizes[a] for a in d.axes]
    return R.b.emit("filled", (d, *sizes), axes=d.axes)


# D[[t1, ..., tn]]: ds ! i for each i
def list_(R: Reverse, s: Assign, ct: Operand) -> None:
    for i, x in enumerate(s.args):
        R.one(x, R.b.emit("share", (ct, Const(i)), axes=(), kind=x.kind))


# D[t ! i]: a contribution to one element
def element(R: Reverse, s: Assign, ct: Operand) -> None:
    R.one_at(s.args[0], "element", s.args[1:], (s.out.axes,), ct)


# D[t ++ s]: the two parts of the cotangent
def join(R: Reverse, s: Assign, ct: Operand) -> None:
    a, b = s.args
    size = R.b.emit("length", (a,), axes=(), kind="int")
    R.one(a, R.b.emit("before", (ct, size), axes=(), kind="list"))
    R.one(b, R.b.emit("behind", (ct, size), axes=(), kind="list"))


# D[replicate n t]: the sum of the cotangents of all elements
def repeat(R: Reverse, s: Assign, ct: Operand) -> None:
    R.one(s.args[0], R.b.emit("all_shares", (ct,), axes=(), kind=s.args[0].kind))


# D[f(t1, ..., tn)]: the reverse pass of f, with the residuals of this call
def call(R: Reverse, s: Call) -> None:
    """Call the reverse pass of a recursive definition; arrays and lists are added to by the callee."""
    cts = [(out, R.take(out.name)) for out in s.outs if out.name in R.active]
    if all(ct is None for _, ct in cts):
        return
    args = [R.full(R.zero(out) if ct is None else ct, out) for out, ct in cts]
    into, outs, given = [], [], []
    for param, x in zip(R.units[s.name].params, s.args, strict=True):
        if param.name not in R.active:
            continue
        if is_accumulated(param):
            into.append(_accumulator(R, x))
        else:
            outs.append(R.b.fresh(f"d_{x.name}" if isinstance(x, Ref) else "d", (), param.kind))
            given.append((x, outs[-1]))
    R.b.block.append(Call(s.name, tuple(outs), tuple(args), s.kept, tuple(into), backwards=True))
    for x, d in given:
        R.one(x, d)


def _accumulator(R: Reverse, x: Operand) -> Ref:
    """Give what the callee adds to; where nobody wants that, something to throw away."""
    assert isinstance(x, Ref)
    slot = R.slot(x.name) if x.name in R.active else R.zeros(x)
    return Ref(slot.name, x.axes, slot.kind)


RULES: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {"pack": pack, "list": list_, "element": element, "join": join, "repeat": repeat}
)
