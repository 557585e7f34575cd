"""The forward derivative of the imperative form: after each statement, the statement of its tangent.

This is forward CHAD (CHAD 7.4) on programs in imperative form: a statement ``y = op(x1, ..., xn)`` is followed by
``t_y = D op(x1, ..., xn; t_x1, ..., t_xn)``, so that each value stands beside its tangent and nothing is kept. Loops
and branches carry both. Whole-array operations have whole-array tangents; a discrete value has none, and neither has
one that depends on no parameter: its tangent is zero and is not written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from tapeengine.chad.generate.builder import Builder
from tapeengine.chad.generate.partials import partial
from tapeengine.chad.generate.tangent_registered import RULES as REGISTERED
from tapeengine.chad.generate.values import NotGenerated
from tapeengine.chad.imperative import (
    Assign,
    Branch,
    Carried,
    Const,
    Joined,
    Loop,
    Operand,
    Ref,
    Statement,
    renamed,
)
from tapeengine.primitive import Primitive
from tapeengine.reference.ops import OPERATIONS

__all__ = ["Tangent"]

Rule = Callable[["Tangent", Assign], Operand | None]


class Tangent:
    """Writes a block and its tangent.

    Parameters
    ----------
    builder : Builder
        Writes the statements of both.
    active : set of str
        The variables that depend on what is differentiated.
    exact : bool
        Whether products with a zero tangent are zero whatever the other factor is.
    primitives : mapping of str to Primitive
        The registry primitives that the program calls.

    Attributes
    ----------
    tangents : dict of str to Operand
        The tangent of each variable, in the axes that the variable was defined with.
    declared : dict of str to Ref
        Each variable that has a tangent, as it was defined.
    tuples : dict of str to list of Ref
        For each tuple that a primitive gave the contributions to its tangent.
    """

    def __init__(
        self,
        builder: Builder,
        active: set[str],
        exact: bool,
        primitives: Mapping[str, Primitive] = MappingProxyType({}),
    ) -> None:
        self.b = builder
        self.active = active
        self.exact = exact
        self.primitives = primitives
        self.tuples: dict[str, list[Ref]] = {}
        self.tangents: dict[str, Operand] = {}
        self.declared: dict[str, Ref] = {}

    # ------------------------------------------------------------ values and their tangents

    def give(self, x: Ref, tangent: Operand | None) -> None:
        """Say what the tangent of a variable is; None for zero."""
        if tangent is not None:
            self.tangents[x.name], self.declared[x.name] = tangent, x

    def of(self, x: Operand) -> Operand | None:
        """Give the tangent of a use of a variable, in the axes of the use; None where it is zero."""
        if not isinstance(x, Ref) or x.name not in self.tangents:
            return None
        return renamed(self.tangents[x.name], self.declared[x.name].axes, x.axes)

    def has_tangent(self, x: Operand) -> bool:
        """Tell whether a use of a variable has a tangent that is not zero."""
        return isinstance(x, Ref) and (x.name in self.tangents or x.name in self.tuples)

    def whole(self, x: Operand) -> Operand:
        """Give the tangent of a use of a variable with all its axes."""
        tangent = self.of(x)
        return self.full(Const(0.0) if tangent is None else tangent, x.axes)

    def full(self, tangent: Operand, axes: tuple[str, ...]) -> Operand:
        """Give a tangent all the axes of its variable."""
        if tangent.axes == axes:
            return tangent
        return self.b.emit("broadcast", (tangent, *(self.b.axes.sizes[a] for a in axes)), (), axes=axes)

    def fresh(self, x: Ref) -> Ref:
        """Make the variable of a tangent."""
        return self.b.fresh(f"t_{x.name}", x.axes)

    def times(self, tangent: Operand, factor: Operand) -> Operand:
        """Multiply a tangent by a factor; exactly zero where it is zero if that matters (`LScale`)."""
        if factor == Const(1.0):
            return tangent
        if factor == Const(-1.0):
            return self.b.emit("neg", (tangent,))
        return self.b.emit("scale" if self.exact else "mul", (tangent, factor))

    def total(self, parts: Sequence[Operand | None]) -> Operand | None:
        """Add up those parts of a tangent that are not zero."""
        present = [p for p in parts if p is not None]
        return self.b.total(present) if present else None

    # ------------------------------------------------------------ statements

    def block(self, statements: Sequence[Statement]) -> None:
        """Write a block with its tangent."""
        for s in statements:
            match s:
                case Assign():
                    self.b.block.append(s)
                    self.b.know([s])
                    self.assign(s)
                case Loop():
                    self.loop(s)
                case Branch():
                    self.branch(s)
                case _:
                    raise NotGenerated(f"{type(s).__name__} has no tangent")

    # D[let y = op(x1, ..., xn) in s]: CHAD 7.4
    def assign(self, s: Assign) -> None:
        """Write the tangent of an operation."""
        if s.out.name not in self.active or not any(map(self.has_tangent, s.args)):
            return
        if s.op not in RULES and s.op not in OPERATIONS:
            raise NotGenerated(f"{s.op} has no tangent")
        self.give(s.out, RULES.get(s.op, derivative)(self, s))

    # D[for n (i s. t) s0]: the state is carried with its tangent
    def loop(self, s: Loop) -> None:
        """Write a loop whose steps carry and collect tangents too."""
        both = Loop([], s.index, s.count, s.test, s.condition, list(s.carried), list(s.collected))
        carried = [c for c in s.carried if c.var.name in self.active]
        starts = [self.whole_as(c.init, c.var) for c in carried]
        with self.b.inner() as both.body:
            for c in carried:
                self.give(c.var, self.fresh(c.var))
            self.block(s.body)
            lasts = [self.whole_as(c.last, c.var) for c in carried]
            collected = [self.collect(out, x) for out, x in s.collected if out.name in self.active]
        self.b.block.append(both)
        both.collected += collected
        for c, start, last in zip(carried, starts, lasts, strict=True):
            var = self.tangents[c.var.name]
            assert isinstance(var, Ref)
            both.carried.append(Carried(var, start, last, self.fresh(c.out)))
            self.give(c.out, both.carried[-1].out)

    def whole_as(self, x: Operand, of: Ref) -> Operand:
        """Give the tangent of an operand with all its axes, under the names of a variable that takes it over."""
        tangent = self.whole(x)
        if isinstance(tangent, Const) or not isinstance(x, Ref):
            return self.full(tangent, of.axes)
        return renamed(tangent, x.axes, of.axes)

    def collect(self, out: Ref, x: Operand) -> tuple[Ref, Operand]:
        """Let the steps of a loop collect a tangent."""
        made = self.fresh(out)
        self.give(out, made)
        return made, self.whole(x)

    # D[if c then t else s]: the branch that is taken, with its tangent
    def branch(self, s: Branch) -> None:
        """Write a branch that gives tangents too."""
        active = [j for j in s.joined if j.out.name in self.active]
        blocks: list[list[Statement]] = []
        gives: list[list[Operand]] = []
        for statements, operands in ((s.then, [j.then for j in active]), (s.orelse, [j.orelse for j in active])):
            with self.b.inner() as body:
                self.block(statements)
                gives.append([self.whole(x) for x in operands])
            blocks.append(body)
        self.b.block.append(Branch(s.condition, blocks[0], blocks[1], joined=list(s.joined)))
        for j, then, orelse in zip(active, *gives, strict=True):
            made = self.fresh(j.out)
            self.b.block[-1].joined.append(Joined(made, then, orelse))  # type: ignore[union-attr]
            self.give(j.out, made)


# D[op(t1, ..., tn)]: each partial derivative times the tangent of its argument
def derivative(T: Tangent, s: Assign) -> Operand | None:
    parts = []
    for which, x in enumerate(s.args):
        tangent = T.of(x)
        factor = None if tangent is None else partial(T.b, s.op, which, s.args, s.out)
        if tangent is not None and factor is not None:
            parts.append(scaled(T, tangent, factor))
    return T.total(parts)


def scaled(T: Tangent, tangent: Operand, factor: Operand) -> Operand:
    """Multiply a tangent by a partial derivative; one that is a reciprocal is divided by."""
    made = T.b.made.get(factor.name) if isinstance(factor, Ref) else None
    if made is not None and made.op == "div" and made.args[0] == Const(1.0) and not T.exact:
        return T.b.emit("div", (tangent, made.args[1]))
    return T.times(tangent, factor)


# D[t / s]: (dt - (t / s) ds) / s
def quotient(T: Tangent, s: Assign) -> Operand | None:
    if T.exact:
        return derivative(T, s)
    over, under = T.of(s.args[0]), T.of(s.args[1])
    if under is not None:
        over = T.total([over, T.b.emit("neg", (T.times(under, s.out),))])
    return None if over is None else T.b.emit("div", (over, s.args[1]))


# D[t * t]: 2 t dt; D[t * s]: dt s + ds t
def product(T: Tangent, s: Assign) -> Operand | None:
    x, y = s.args
    tangent = T.of(x)
    if x == y and tangent is not None:
        return T.times(T.b.emit("mul", (Const(2.0), tangent)), x)
    return derivative(T, s)


# D[t ** n] for a literal n: n t ** (n - 1) dt
def power(T: Tangent, s: Assign) -> Operand | None:
    x, n = s.args
    tangent = T.of(x)
    if T.exact or not isinstance(n, Const) or n.value == 0 or tangent is None:
        return derivative(T, s)
    rest = T.b.emit("pow", (x, Const(n.value - 1.0)))
    return T.times(T.b.emit("mul", (Const(float(n.value)), tangent)), rest)


# D[sum (t1 * ... * tn)]: one sum for each factor that has a tangent
def contraction(T: Tangent, s: Assign) -> Operand | None:
    axes, parts = T.b.axes.union(*s.args), []
    for which, x in enumerate(s.args):
        tangent = T.of(x)
        if tangent is None or x in s.args[:which]:
            continue
        if s.args.count(x) > 1:
            tangent = T.b.emit("mul", (Const(float(s.args.count(x))), tangent))
        others = [y for k, y in enumerate(s.args) if k != which]
        parts.append(summed(T, tangent, others, axes, s.out.axes))
    return T.total(parts)


def summed(
    T: Tangent, tangent: Operand, others: Sequence[Operand], axes: Sequence[str], out: tuple[str, ...]
) -> Operand:
    """Sum a product with a tangent over the axes that the result does not have, also where nothing varies along one."""
    present = T.b.axes.union(tangent, *others)
    for a in axes:
        if a not in present and a not in out:
            tangent = T.b.emit("mul", (T.b.emit("real", (T.b.axes.sizes[a],)), tangent))
    if T.exact:
        for other in others:
            tangent = T.times(tangent, other)
        others = ()
    if all(a in out for a in present):
        for other in others:
            tangent = T.times(tangent, other)
        return tangent
    return T.b.contract([tangent, *others], tuple(a for a in out if a in present))


# D[sum (x ! (i + j) * w ! j)]: linear in either factor
def correlate(T: Tangent, s: Assign) -> Operand | None:
    x, w, size = s.args
    ahead = T.b.emit("correlate", (T.whole(x), w, size), (), axes=s.out.axes) if T.of(x) is not None else None
    other = T.b.emit("correlate", (x, T.whole(w), size), (), axes=s.out.axes) if T.of(w) is not None else None
    return T.total([ahead, other])


# D[t ! i], D[scan (+) t], ...: operations that are linear in their first argument act on its tangent
def linear(T: Tangent, s: Assign) -> Operand:
    return T.b.emit(s.op, (T.whole(s.args[0]), *s.args[1:]), s.params, axes=s.out.axes)


def broadcast(T: Tangent, s: Assign) -> Operand | None:
    return T.of(s.args[0])


def same(T: Tangent, s: Assign) -> Operand | None:
    return T.of(s.args[0])


# D[if c then t else s] along an axis
def where(T: Tangent, s: Assign) -> Operand:
    test, a, b = s.args
    given = [Const(0.0) if d is None else d for d in (T.of(a), T.of(b))]
    return T.b.emit("where", (test, *given), kind="float")


# D[fold max t]: the tangent of the first largest element
def extreme(T: Tangent, s: Assign) -> Operand:
    x = s.args[0]
    tangent, dim = T.whole(x), s.params[0]
    which = T.b.emit("arg" + s.op, (x,), s.params, axes=s.out.axes, kind="int")
    if not s.out.axes:
        return T.b.emit("item", (tangent, which), (dim,), axes=())
    return T.b.emit("gather", (tangent, which), ((dim,), x.axes), axes=s.out.axes)


# D[fold maximum t]: the mean of the tangents of all that are the largest
def shared(T: Tangent, s: Assign) -> Operand | None:
    x = s.args[0]
    tangent = T.of(x)
    if tangent is None:
        return None
    shares = T.b.emit("shares", (x,), (*s.params, s.op), axes=x.axes)
    return summed(T, T.full(tangent, x.axes), (shares,), x.axes, s.out.axes)


# D[fold (*) t]: each tangent times the product of all other elements
def prod(T: Tangent, s: Assign) -> Operand | None:
    x = s.args[0]
    tangent = T.of(x)
    if tangent is None:
        return None
    others = T.b.emit("others", (x,), s.params, axes=x.axes)
    return summed(T, T.full(tangent, x.axes), (others,), x.axes, s.out.axes)


# D[[t1, ..., tn]] and D[t ++ s]: the tangents in the same places
def placed(T: Tangent, s: Assign) -> Operand:
    sizes = s.args[2:] if s.op == "concatenate" else ()
    parts = s.args[: len(s.args) - len(sizes)]
    return T.b.emit(s.op, (*map(T.whole, parts), *sizes), s.params, axes=s.out.axes)


# D[scatter t i s]: the tangents of the values added into that of the base
def scatter(T: Tangent, s: Assign) -> Operand:
    base, index, values = s.args
    return T.b.emit("scatter", (T.whole(base), index, T.whole(values)), (), axes=s.out.axes)


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "mul": product,
        "div": quotient,
        "pow": power,
        "contract": contraction,
        "correlate": correlate,
        **dict.fromkeys(("item", "gather", "window", "prefix", "windows", "cumsum"), linear),
        "broadcast": broadcast,
        "nonempty": same,
        "where": where,
        "largest": extreme,
        "smallest": extreme,
        "most": shared,
        "least": shared,
        "prod": prod,
        "stack": placed,
        "concatenate": placed,
        "scatter": scatter,
        **REGISTERED,
    }
)
