"""The terms that only derivative programs have: linear operations, environment vectors, accumulation.

Four groups (EC Fig. 3, section 4.2 and section 7; CHAD Fig. 8):

* linear operations, on values of linear types: `Zero`, `Plus`, `LTuple`, `LProj`, `LUpdate`, `LInject`, `LCast`,
  `LScale`, and for arrays `LSingle`, `LDense`, `LIndex`, `LScatter`, `LTotal`, `Collect`; for functions `Singleton`,
  `CopowerFold`;
* rules of primitives: `Vjp` and `Jvp`;
* environment vectors: as values (`EVOne`, `Split`, with `Zero` and `Plus`), or accumulated into (`One`, `Scope`,
  `Return`, `Bind`, `Then`, `ForEach`, `Descend`, `Run`), which is the form that users see;
* loops that keep a value for each step for the reverse pass: `MapAccum` and `WhileAccum`.

A *slot* is a cell of the environment vector, named after the variable whose cotangent it holds. `Scope` opens a slot
that contains zero for the duration of its body; `Run` opens several on a separate environment vector. `One` adds to the
innermost open slot of its name.
"""

from __future__ import annotations

from dataclasses import field

from .terms import Literal, Term, Update, Var, element_type, of_kind
from .types import (
    EV,
    EVM,
    UNIT,
    Array,
    Copower,
    LArray,
    LFunction,
    Linear,
    LNamed,
    LProduct,
    LReal,
    LSum,
    Product,
    Type,
)


def linear_type(term: Term) -> Linear:
    """Give the linear type of a term."""
    return of_kind(term, Linear, "expected a linear type, got")  # type: ignore[no-any-return]


def last_and_kept(init: Term, step: Type) -> Product:
    """Give the type of a loop's last state and what it keeps, from its first state and the type of its steps."""
    assert isinstance(step, Product)
    return Product((init.type, Array(step.items[1])))


# ---------------------------------------------------------------- linear operations (EC Fig. 3)


class Zero(Term):
    """The zero of a linear type; takes constant time."""

    of: Linear


class Plus(Term, gives=lambda t: t.left.type):
    """The sum of two values of one linear type."""

    left: Term
    right: Term


class LTuple(Term, gives=lambda t: LProduct(tuple(map(linear_type, t.items)))):
    """A tuple of linear values."""

    items: tuple[Term, ...]


class LProj(Term, gives=lambda t: t.term.type.items[t.index]):
    """A component of a linear tuple; zero of a zero (EC's lfst and lsnd)."""

    term: Term
    index: int


class LUpdate(Update):
    """A linear tuple with another component."""


class LInject(Term):
    """A cotangent of option ``index`` of a sum (EC's linl and linr)."""

    index: int
    term: Term
    of: LSum | LNamed


class LCast(Term):
    """The payload of a cotangent of a sum known to be of option ``index``, of type ``of`` (EC's lcastl and lcastr).

    ``like`` is the payload's primal, if its sizes are needed.
    """

    index: int
    term: Term
    of: Linear
    like: tuple[Term, ...] = ()


class LScale(Term, gives=lambda t: LReal()):
    """A linear real times a real; exactly zero where the linear real is zero."""

    term: Term
    factor: Term


class LSingle(Term, gives=lambda t: LArray(linear_type(t.term))):
    """The cotangent of an array that is ``term`` at ``index`` and zero elsewhere (EC's BOne)."""

    index: Term
    term: Term


class LDense(Term, gives=lambda t: LArray(element_type(t.array))):  # type: ignore[arg-type]
    """The cotangent of an array from an array of cotangents of all its elements (EC 8.1's BArray)."""

    array: Term


class LScatter(Term, gives=lambda t: t.term.type):
    """The cotangent of an array that has ``term[k]`` added at ``indices[k]`` for each k; dual to `Gather`.

    ``size`` is the size of ``indices``.
    """

    indices: Term
    term: Term


class LIndex(Term, gives=lambda t: t.term.type.element):
    """The component of a linear array at ``index`` (non-negative)."""

    term: Term
    index: Term


class LTotal(Term, gives=lambda t: t.term.type.element):
    """The sum of the components of a linear array; dual to `Replicate`.

    ``like`` is the primal of a component, if its size is unknown when there are no components.
    """

    term: Term
    like: tuple[Term, ...] = ()


class Collect(Term, gives=lambda t: Array(t.term.type.element)):
    """The array of the ``size`` components of a linear array (EC Fig. 8: collect, then scatter into zeros)."""

    term: Term
    size: Term


class Singleton(Term, gives=lambda t: Copower(t.key.type, linear_type(t.term))):
    """``!key (x) term``: one call in the log of calls of a function (CHAD 7.5)."""

    key: Term
    term: Term


class CopowerFold(Term, binds={"body": ("key", "value")}, gives=lambda t: t.body.type):
    """The sum of ``body`` over all ``!key (x) value`` in ``term`` (CHAD Fig. 8: lcopowfold)."""

    key: Var
    value: Var
    body: Term
    term: Term


class LLambda(
    Term, binds={"body": ("params",)}, gives=lambda t: LFunction(tuple(p.type for p in t.params), linear_type(t.body))
):
    """A function into a linear type, itself an element of a monoid: tangents of functions (CHAD 7.4)."""

    params: tuple[Var, ...]
    body: Term


class LApply(Term, gives=lambda t: t.function.type.result):
    """Application of a tangent of a function."""

    function: Term
    args: tuple[Term, ...]


# ---------------------------------------------------------------- rules of registry primitives


class Rule(Term):
    """A rule of a registry primitive at ``args`` and ``out``, for argument ``argument``."""

    name: str
    argument: int
    term: Term
    args: tuple[Term, ...]
    out: Term
    static: tuple[tuple[str, object], ...]
    of: Linear


class Vjp(Rule):
    """The cotangent of the argument from that of the output, ``term``."""


class Jvp(Rule):
    """The contribution of the argument's tangent, ``term``, to that of the output."""


# ---------------------------------------------------------------- environment vectors as values (EC 2, 4.1)


class EVOne(Term):
    """The environment vector that is ``term`` in ``slot`` and zero elsewhere."""

    slot: str
    term: Term
    of: EV


class Split(Term, gives=lambda t: Product((without(t.term.type, t.slot), t.of))):
    """Splits an environment vector into a pair of the rest and the cotangent in ``slot``."""

    slot: str
    of: Linear
    term: Term


def without(of: EV, slot: str) -> EV:
    """Give the type of environment vectors without a slot."""
    return EV(tuple(s for s in of.slots if s[0] != slot))


# ---------------------------------------------------------------- accumulation (EC 4.2, Fig. 6)


class One(Term, gives=lambda t: EVM(UNIT)):
    """Adds ``term`` to ``slot``."""

    slot: str
    term: Term


class Scope(Term, gives=lambda t: EVM(Product((t.body.type.result, t.of)))):
    """Opens ``slot`` with zero, runs ``body``, closes it; returns the body's result and the slot's value."""

    slot: str
    of: Linear
    body: Term


class Return(Term, gives=lambda t: EVM(t.term.type)):
    """The computation that does nothing and returns a value."""

    term: Term


class Bind(Term, binds={"body": ("var",)}, gives=lambda t: t.body.type):
    """Runs ``first``, binds its result to ``var``, runs ``body``: ``do var <- first; body``."""

    var: Var
    first: Term
    body: Term


class Then(Term, gives=lambda t: t.second.type):
    """Runs ``first`` for its effect, then ``second``; the two are independent."""

    first: Term
    second: Term


class ForEach(Term, binds={"body": ("index",)}, gives=lambda t: EVM(UNIT)):
    """Runs ``body`` for each ``index`` in ``range(size)``, in any order; on threads if it ``is_parallel``."""

    size: Term
    index: Var
    body: Term
    is_parallel: bool = field(default=False, compare=False)


class Descend(Term, binds={"body": ("index", "state")}, gives=lambda t: EVM(last_and_kept(t.init, t.body.type.result))):
    """Runs ``body`` for ``index`` from ``size - 1`` down to 0, threading ``state`` from ``init``.

    ``body`` returns a pair: the next state, and the element at position ``index`` of an array. The computation returns
    the pair of the last state and that array. ``like`` is the primal of the first state, if that has sizes.
    """

    size: Term
    index: Var
    state: Var
    init: Term
    body: Term
    like: tuple[Term, ...] = ()


class Run(Term, gives=lambda t: LProduct(tuple(of for _, of in t.slots))):
    """Runs ``body`` on an environment vector of zeros in ``slots``; returns the linear tuple of their final values."""

    slots: tuple[tuple[str, Linear], ...]
    body: Term


# ---------------------------------------------------------------- loops that keep a value for each step


class MapAccum(Term, binds={"body": ("index", "state")}, gives=lambda t: last_and_kept(t.init, t.body.type)):
    """``state = init; for index in range(size): state, kept[index] = body``; returns ``(state, kept)``."""

    size: Term
    index: Var
    state: Var
    init: Term
    body: Term


class WhileAccum(
    Term, binds={"condition": ("state",), "body": ("state",)}, gives=lambda t: last_and_kept(t.init, t.body.type)
):
    """``state = init; while condition: state, kept[k] = body``; returns ``(state, kept)``."""

    state: Var
    init: Term
    condition: Term
    body: Term


def scaled(d: Term, factor: Term) -> Term:
    """Multiply a linear real by a real; a literal one is omitted."""
    return d if isinstance(factor, Literal) and factor.value == 1 else LScale(d, factor)


def added(terms: list[Term], of: Linear) -> Term:
    """Add up tangents."""
    if not terms:
        return Zero(of)
    total = terms[0]
    for term in terms[1:]:
        total = Plus(total, term)
    return total
