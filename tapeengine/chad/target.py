"""The terms that only derivative programs have: linear operations, environment vectors, accumulation.

Four groups (EC Fig. 3, section 4.2 and section 7; CHAD Fig. 8):

* linear operations, on values of linear types: `Zero`, `Plus`, `LTuple`, `LProj`, `LInject`, `LCast`, `LScale`, and for
  arrays `LSingle`, `LDense`, `LIndex`, `LScatter`, `LTotal`, `Collect`; for functions `Singleton`, `CopowerFold`;
* rules of primitives: `Vjp` and `Jvp`;
* environment vectors: as values (`EVOne`, `Split`, with `Zero` and `Plus`), or accumulated into (`One`, `Scope`,
  `Return`, `Bind`, `Then`, `ForEach`, `Descend`, `Run`), which is the form that users see;
* loops that keep a value for each step for the reverse pass: `MapAccum` and `WhileAccum`.

A *slot* is a cell of the environment vector, named after the variable whose cotangent it holds. `Scope` opens a slot
that contains zero for the duration of its body; `Run` opens several on a separate environment vector. `One` adds to the
innermost open slot of its name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from .terms import Binds, Literal, Term, Var, element_type
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
    if not isinstance(term.type, Linear):
        raise TypeError(f"expected a linear type, got {term.type}")
    return term.type


def component_type(array: Term) -> Linear:
    """Give the type of the components of a linear array."""
    assert isinstance(array.type, LArray)
    return array.type.element


def last_and_kept(init: Term, step: Type) -> Product:
    """Give the type of a loop's last state and what it keeps, from its first state and the type of its steps."""
    assert isinstance(step, Product)
    return Product((init.type, Array(step.items[1])))


# ---------------------------------------------------------------- linear operations (EC Fig. 3)


@dataclass(frozen=True)
class Zero(Term):
    """The zero of a linear type; takes constant time."""

    of: Linear


@dataclass(frozen=True)
class Plus(Term):
    """The sum of two values of one linear type."""

    LIKE = "left"
    left: Term
    right: Term


@dataclass(frozen=True)
class LTuple(Term):
    """A tuple of linear values."""

    items: tuple[Term, ...]

    def _type(self) -> Type:
        return LProduct(tuple(map(linear_type, self.items)))


@dataclass(frozen=True)
class LProj(Term):
    """A component of a linear tuple; zero of a zero (EC's lfst and lsnd)."""

    term: Term
    index: int

    def _type(self) -> Type:
        assert isinstance(self.term.type, LProduct)
        return self.term.type.items[self.index]


@dataclass(frozen=True)
class LInject(Term):
    """A cotangent of option ``index`` of a sum (EC's linl and linr)."""

    index: int
    term: Term
    of: LSum | LNamed


@dataclass(frozen=True)
class LCast(Term):
    """The payload of a cotangent of a sum known to be of option ``index``, of type ``of`` (EC's lcastl and lcastr).

    ``like`` is the payload's primal, if its sizes are needed.
    """

    index: int
    term: Term
    of: Linear
    like: tuple[Term, ...] = ()


@dataclass(frozen=True)
class LScale(Term):
    """A linear real times a real; exactly zero where the linear real is zero."""

    term: Term
    factor: Term

    def _type(self) -> Type:
        return LReal()


@dataclass(frozen=True)
class LSingle(Term):
    """The cotangent of an array that is ``term`` at ``index`` and zero elsewhere (EC's BOne)."""

    index: Term
    term: Term

    def _type(self) -> Type:
        return LArray(linear_type(self.term))


@dataclass(frozen=True)
class LDense(Term):
    """The cotangent of an array from an array of cotangents of all its elements (EC 8.1's BArray)."""

    array: Term

    def _type(self) -> Type:
        element = element_type(self.array)
        assert isinstance(element, Linear)
        return LArray(element)


@dataclass(frozen=True)
class LScatter(Term):
    """The cotangent of an array that has ``term[k]`` added at ``indices[k]`` for each k; dual to `Gather`.

    ``size`` is the size of ``indices``.
    """

    LIKE = "term"
    indices: Term
    term: Term


@dataclass(frozen=True)
class LIndex(Term):
    """The component of a linear array at ``index`` (non-negative)."""

    term: Term
    index: Term

    def _type(self) -> Type:
        return component_type(self.term)


@dataclass(frozen=True)
class LTotal(Term):
    """The sum of the components of a linear array; dual to `Replicate`.

    ``like`` is the primal of a component, if its size is unknown when there are no components.
    """

    term: Term
    like: tuple[Term, ...] = ()

    def _type(self) -> Type:
        return component_type(self.term)


@dataclass(frozen=True)
class Collect(Term):
    """The array of the ``size`` components of a linear array (EC Fig. 8: collect, then scatter into zeros)."""

    term: Term
    size: Term

    def _type(self) -> Type:
        return Array(component_type(self.term))


@dataclass(frozen=True)
class Singleton(Term):
    """``!key (x) term``: one call in the log of calls of a function (CHAD 7.5)."""

    key: Term
    term: Term

    def _type(self) -> Type:
        return Copower(self.key.type, linear_type(self.term))


@dataclass(frozen=True)
class CopowerFold(Term):
    """The sum of ``body`` over all ``!key (x) value`` in ``term`` (CHAD Fig. 8: lcopowfold)."""

    BINDS: ClassVar[Binds] = {"body": ("key", "value")}
    LIKE = "body"
    key: Var
    value: Var
    body: Term
    term: Term


@dataclass(frozen=True)
class LLambda(Term):
    """A function into a linear type, itself an element of a monoid: tangents of functions (CHAD 7.4)."""

    BINDS: ClassVar[Binds] = {"body": ("params",)}
    params: tuple[Var, ...]
    body: Term

    def _type(self) -> Type:
        return LFunction(tuple(p.type for p in self.params), linear_type(self.body))


@dataclass(frozen=True)
class LApply(Term):
    """Application of a tangent of a function."""

    function: Term
    args: tuple[Term, ...]

    def _type(self) -> Type:
        assert isinstance(self.function.type, LFunction)
        return self.function.type.result


# ---------------------------------------------------------------- rules of registry primitives


@dataclass(frozen=True)
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


@dataclass(frozen=True)
class EVOne(Term):
    """The environment vector that is ``term`` in ``slot`` and zero elsewhere."""

    slot: str
    term: Term
    of: EV


@dataclass(frozen=True)
class Split(Term):
    """Splits an environment vector into a pair of the rest and the cotangent in ``slot``."""

    slot: str
    of: Linear
    term: Term

    def _type(self) -> Type:
        assert isinstance(self.term.type, EV)
        rest = EV(tuple(slot for slot in self.term.type.slots if slot[0] != self.slot))
        return Product((rest, self.of))


# ---------------------------------------------------------------- accumulation (EC 4.2, Fig. 6)


@dataclass(frozen=True)
class One(Term):
    """Adds ``term`` to ``slot``."""

    slot: str
    term: Term

    def _type(self) -> Type:
        return EVM(UNIT)


@dataclass(frozen=True)
class Scope(Term):
    """Opens ``slot`` with zero, runs ``body``, closes it; returns the body's result and the slot's value."""

    slot: str
    of: Linear
    body: Term

    def _type(self) -> Type:
        assert isinstance(self.body.type, EVM)
        return EVM(Product((self.body.type.result, self.of)))


@dataclass(frozen=True)
class Return(Term):
    """The computation that does nothing and returns a value."""

    term: Term

    def _type(self) -> Type:
        return EVM(self.term.type)


@dataclass(frozen=True)
class Bind(Term):
    """Runs ``first``, binds its result to ``var``, runs ``body``: ``do var <- first; body``."""

    BINDS: ClassVar[Binds] = {"body": ("var",)}
    LIKE = "body"
    var: Var
    first: Term
    body: Term


@dataclass(frozen=True)
class Then(Term):
    """Runs ``first`` for its effect, then ``second``; the two are independent."""

    LIKE = "second"
    first: Term
    second: Term


@dataclass(frozen=True)
class ForEach(Term):
    """Runs ``body`` for each ``index`` in ``range(size)``, in any order; on threads if it ``is_parallel``."""

    BINDS: ClassVar[Binds] = {"body": ("index",)}
    size: Term
    index: Var
    body: Term
    is_parallel: bool = field(default=False, compare=False)

    def _type(self) -> Type:
        return EVM(UNIT)


@dataclass(frozen=True)
class Descend(Term):
    """Runs ``body`` for ``index`` from ``size - 1`` down to 0, threading ``state`` from ``init``.

    ``body`` returns a pair: the next state, and the element at position ``index`` of an array. The computation returns
    the pair of the last state and that array. ``like`` is the primal of the first state, if that has sizes.
    """

    BINDS: ClassVar[Binds] = {"body": ("index", "state")}
    size: Term
    index: Var
    state: Var
    init: Term
    body: Term
    like: tuple[Term, ...] = ()

    def _type(self) -> Type:
        assert isinstance(self.body.type, EVM)
        return EVM(last_and_kept(self.init, self.body.type.result))


@dataclass(frozen=True)
class Run(Term):
    """Runs ``body`` on an environment vector of zeros in ``slots``; returns the linear tuple of their final values."""

    slots: tuple[tuple[str, Linear], ...]
    body: Term

    def _type(self) -> Type:
        return LProduct(tuple(of for _, of in self.slots))


# ---------------------------------------------------------------- loops that keep a value for each step


@dataclass(frozen=True)
class MapAccum(Term):
    """``state = init; for index in range(size): state, kept[index] = body``; returns ``(state, kept)``."""

    BINDS: ClassVar[Binds] = {"body": ("index", "state")}
    size: Term
    index: Var
    state: Var
    init: Term
    body: Term

    def _type(self) -> Type:
        return last_and_kept(self.init, self.body.type)


@dataclass(frozen=True)
class WhileAccum(Term):
    """``state = init; while condition: state, kept[k] = body``; returns ``(state, kept)``."""

    BINDS: ClassVar[Binds] = {"condition": ("state",), "body": ("state",)}
    state: Var
    init: Term
    condition: Term
    body: Term

    def _type(self) -> Type:
        return last_and_kept(self.init, self.body.type)


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
