"""The transposed derivative of each operation, but for scalar ones, which have partial derivatives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tapeengine.chad.generate.reverse_boxes import RULES as OF_BOXES
from tapeengine.chad.generate.reverse_registered import RULES as REGISTERED
from tapeengine.chad.imperative import Assign, Const, Operand, Ref

if TYPE_CHECKING:
    from tapeengine.chad.generate.reverse import Reverse

__all__ = ["RULES"]


# D[t * s] and D[sum (t * s)]: the other factor, summed over what the operand does not have
def product(R: Reverse, s: Assign, ct: Operand) -> None:
    axes = R.b.axes.union(*s.args)
    done: list[Operand] = []
    for which, x in enumerate(s.args):
        if x in done:
            continue
        done.append(x)
        others = [y for k, y in enumerate(s.args) if k != which]
        count = s.args.count(x)
        given = R.b.emit("mul", (Const(float(count)), ct)) if count > 1 else ct
        R.contribute(x, given, others, axes)


# D[t / s]: d / y, and minus that times the quotient
def quotient(R: Reverse, s: Assign, ct: Operand) -> None:
    x, y = s.args
    if R.exact:
        R.partials(s, ct)
        return
    part = R.b.emit("div", (ct, y))
    R.contribute(x, part, (), s.out.axes)
    R.contribute(y, R.b.emit("neg", (part,)), (s.out,), s.out.axes)


# D[sum (x ! (i + j) * w ! j)]: each factor's cotangent is a correlation or a convolution again
def correlate(R: Reverse, s: Assign, ct: Operand) -> None:
    x, w, _ = s.args
    whole = R.full(ct, s.out)
    sizes = R.b.axes.sizes
    if isinstance(w, Ref) and w.name in R.active:
        R.one(w, R.b.emit("correlate", (x, whole, sizes[w.axes[0]]), (), axes=w.axes))
    if isinstance(x, Ref) and x.name in R.active:
        R.one(x, R.b.emit("convolve", (whole, w, sizes[x.axes[0]]), (), axes=x.axes))


def windows(R: Reverse, s: Assign, ct: Operand) -> None:
    x = s.args[0]
    R.one(x, R.b.emit("unwindows", (R.full(ct, s.out),), (), axes=x.axes))


# D[x ! i] for one element, or for an array of indices: the bag of one-hots (EC section 7)
def item(R: Reverse, s: Assign, ct: Operand) -> None:
    R.one_at(s.args[0], s.op, s.args[1:], (*s.params, s.out.axes), ct)


# D[t ! i] where i counts from the first element on: one array, with zeros behind it
def window(R: Reverse, s: Assign, ct: Operand) -> None:
    x, start, _ = s.args
    if start != Const(0) or not isinstance(x, Ref) or x.name not in R.local:
        item(R, s, ct)
    elif x.name in R.active:
        dim = s.params[0]
        assert isinstance(dim, int)
        size = R.b.axes.sizes[R.declared[x.name].axes[dim]]
        R.one(x, R.b.emit("unwindow", (R.full(ct, s.out), size), (dim,), axes=x.axes))


# D[t ! i] where i counts from the first element on and not all positions count
def reach(R: Reverse, s: Assign, ct: Operand) -> None:
    x = s.args[0]
    if isinstance(x, Ref) and x.name in R.active:
        dim = s.params[0]
        assert isinstance(dim, int)
        size = R.b.axes.sizes[x.axes[dim]]
        R.one(x, R.b.emit("unreach", (R.full(ct, s.out), size), (dim,), axes=x.axes))


# rows of different sizes are filled up with zeros: only the elements have a cotangent
def pad(R: Reverse, s: Assign, ct: Operand) -> None:
    x = s.args[0]
    R.one(x, R.cut(R.full(ct, s.out), s.out.axes, x.axes))


def broadcast(R: Reverse, s: Assign, ct: Operand) -> None:
    R.contribute(s.args[0], ct, (), s.out.axes)


# D[if c then t else s] along an axis: a linear map sends zero to zero, so that the branch not taken gets exactly zero
def where(R: Reverse, s: Assign, ct: Operand) -> None:
    test, a, b = s.args
    if isinstance(a, Ref) and a.name in R.active:
        R.contribute(a, R.b.emit("where", (test, ct, Const(0.0)), kind="float"), (), s.out.axes)
    if isinstance(b, Ref) and b.name in R.active:
        R.contribute(b, R.b.emit("where", (test, Const(0.0), ct), kind="float"), (), s.out.axes)


# D[fold max t]: of all combinations that the fold makes, those with the first largest element hand on the cotangent
def extreme(R: Reverse, s: Assign, ct: Operand) -> None:
    x = s.args[0]
    assert isinstance(x, Ref)
    which = R.b.emit("arg" + s.op, (x,), s.params, axes=s.out.axes, kind="int")
    R.one_at(x, "put", (which,), ((s.params[0],), x.axes, s.out.axes), ct)


# D[fold maximum t]: equals share the cotangent
def shared(R: Reverse, s: Assign, ct: Operand) -> None:
    shares = R.b.emit("shares", (s.args[0],), (*s.params, s.op), axes=s.args[0].axes)
    R.contribute(s.args[0], ct, (shares,), s.args[0].axes)


def prod(R: Reverse, s: Assign, ct: Operand) -> None:
    x = s.args[0]
    assert isinstance(x, Ref)
    R.contribute(x, ct, (R.b.emit("others", (x,), s.params, axes=x.axes),), x.axes)


# D[scan (+) t]: the cotangent of an element is the sum of the cotangents of all sums from it on
def cumsum(R: Reverse, s: Assign, ct: Operand) -> None:
    R.one(s.args[0], R.b.emit("cumsum_back", (R.full(ct, s.out),), s.params, axes=s.out.axes))


def same(R: Reverse, s: Assign, ct: Operand) -> None:
    R.one(s.args[0], ct)


# D[[t1, ..., tn]]: ds ! i for each i
def stack(R: Reverse, s: Assign, ct: Operand) -> None:
    axis = s.out.axes[-1]
    for i, x in enumerate(s.args):
        part = ct
        if axis in ct.axes:
            rest = tuple(a for a in ct.axes if a != axis)
            part = R.b.emit("item", (ct, Const(i)), (ct.axes.index(axis),), axes=rest)
        R.one(x, part)


# D[t ++ s]: the two parts of the cotangent
def concatenate(R: Reverse, s: Assign, ct: Operand) -> None:
    a, b, size_a, size_b = s.args
    whole = R.full(ct, s.out)
    dim = len(s.out.axes) - 1
    for x, start, size in ((a, Const(0), size_a), (b, size_a, size_b)):
        R.one(x, R.b.emit("window", (whole, start, size), (dim,), axes=x.axes))


# D[scatter t i s]: the cotangent of the base as it is, that of the values gathered
def scatter(R: Reverse, s: Assign, ct: Operand) -> None:
    base, index, values = s.args
    whole = R.full(ct, s.out)
    R.one(base, whole)
    if isinstance(values, Ref) and values.name in R.active:
        R.one(values, R.b.emit("gather", (whole, index), ((0,), s.out.axes), axes=values.axes))


RULES: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "mul": product,
        "div": quotient,
        "correlate": correlate,
        "windows": windows,
        "contract": product,
        "item": item,
        "gather": item,
        "window": window,
        "prefix": window,
        "broadcast": broadcast,
        "where": where,
        "largest": extreme,
        "smallest": extreme,
        "most": shared,
        "least": shared,
        "prod": prod,
        "cumsum": cumsum,
        "nonempty": same,
        "nonempty_rows": same,
        "pad": pad,
        "reach": reach,
        "stack": stack,
        "concatenate": concatenate,
        "scatter": scatter,
        **OF_BOXES,
        **REGISTERED,
    }
)
