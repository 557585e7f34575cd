"""The terms of the CHAD frontend: the source language.

Contract
--------
* A term is a frozen dataclass. Its fields hold subterms (`Term` or a tuple of them), binders (`Var`) and plain data;
  ``type`` is its type, computed when the term is built. `Term.BINDS` says which binders are in scope in which subterm.
* Binders are unique within one definition (EC section 2: "we assume that all variable names are unique"); every
  transformation keeps this. `tapeengine.chad.language.traverse` implements free variables, substitution, size and
  rebuilding once for all constructors, so that a pass handles only the constructors that concern it.
* Evaluation is call by value, left to right. Values: float, int, bool, tuple (`Product`; the unit value is ``()``),
  `tapeengine.chad.language.values.Tagged` (`Sum`), sequences (`Array`; numpy arrays or lists), callables (`Function`).
* Source terms are in this file. Target terms (linear operations, environment vectors, accumulation) are in
  `tapeengine.chad.language.target`, over the same base class, so that a derivative program is a term like any other.
* `Module` is a whole program: named, possibly mutually recursive definitions, and the recursive sum types they use.
* A module can be differentiated if it contains no `Lambda`, `Apply` or `Function` type (`close` removes them).
  Everything else in this file may occur.

`reverse` gives for each definition ``f(x1, ..., xn)`` a definition ``f`` whose body has the type
``Product((result, Function((D2 result,), LProduct(D2 x1, ..., D2 xn))))``. After `simplify` the body is a chain of
`Let` that ends in ``Tuple((primal, Lambda((ct,), Run(slots, computation))))``. The free variables of a
`Lambda` over a cotangent are the residuals between the forward and the reverse pass. Where control flow
separates the passes, values of function type remain in the term: a `Case` or `If` whose branches are pairs of a
primal and such a `Lambda`; a `Build`, `Map`, `MapAccum`, `WhileAccum` whose elements are such pairs. No such function
is ever called twice on one residual, and their code is known statically, so that they can be turned into tagged
tuples of residuals and arrays of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, ClassVar, dataclass_transform

from .types import BOOL, EMPTY, FLOAT, INT, Array, Function, Named, Product, Sum, Type
from .values import bits_of

#: For each field of subterms that has binders in scope, the fields that hold these binders.
Binds = Mapping[str, tuple[str, ...]]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
@dataclass(frozen=True)
class Term:
    """Base class of all terms, which makes each of them a frozen dataclass.

    The keywords of a subclass are ``gives``, the function that gives the type of a term (by default that in its field
    ``of``), and ``binds``.
    """

    BINDS: ClassVar[Binds] = {}
    GIVES: ClassVar[Callable[[Any], Type]]

    type: Type = field(init=False, repr=False, compare=False)

    def __init_subclass__(cls, gives: Callable[[Any], Type] | None = None, binds: Binds | None = None) -> None:
        cls.GIVES, cls.BINDS = gives or cls.GIVES, binds or cls.BINDS
        dataclass(frozen=True)(cls)
        cls.__init__ = constructor(cls)  # type: ignore[method-assign]


def constructor(cls: type[Term]) -> Callable[..., None]:
    """Write the ``__init__`` of a class of terms, which takes half the time of a frozen dataclass's."""
    own = [f for f in fields(cls) if f.init]
    scope: dict[str, Any] = {"gives": cls.GIVES} | {f"_{f.name}": f.default for f in own}
    given = ", ".join(f.name if f.default is MISSING else f"{f.name}=_{f.name}" for f in own)
    lines = ["held = self.__dict__", *(f"held[{f.name!r}] = {f.name}" for f in own), "held['type'] = gives(self)"]
    exec(f"def __init__(self, {given}):\n    " + "\n    ".join(lines), scope)
    return scope["__init__"]  # type: ignore[no-any-return]


Term.GIVES = operator.attrgetter("of")


def of_kind(term: Term, kind: type[Any], wanted: str) -> Any:
    """Give the type of a term, which must be of a kind."""
    if not isinstance(term.type, kind):
        raise TypeError(f"{wanted} {term.type}")
    return term.type


def element_type(array: Term) -> Type:
    """Give the type of the elements of an array term."""
    return of_kind(array, Array, "expected an array, got").element  # type: ignore[no-any-return]


class Var(Term):
    """A variable, or its binder."""

    name: str
    of: Type


class Let(Term, binds={"body": ("var",)}, gives=lambda t: t.body.type):
    """``let var = bound in body``."""

    var: Var
    bound: Term
    body: Term


class Literal(Term):
    """A float, an int or a bool. A zero that absorbs stays zero in a product, also with an infinity or a NaN."""

    value: float | int | bool
    of: Type
    absorbs: bool = False

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Literal) and self.key == other.key)

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells it apart from others."""
        return bits_of(self.value, self.of == FLOAT), self.of, self.absorbs


class Op(Term):
    """A scalar operation, by its name in `tapeengine.chad.primitives`, on floats, ints or bools."""

    op: str
    args: tuple[Term, ...]
    of: Type = FLOAT


class Primitive(Term):
    """A registry primitive, by its name, on whole values: ``primal(*args, **static)``.

    ``static`` holds its keyword arguments, which are not differentiated, as pairs of a name and a hashable value.
    """

    name: str
    args: tuple[Term, ...]
    static: tuple[tuple[str, object], ...]
    of: Type


class Tuple(Term, gives=lambda t: t.of or Product(tuple(item.type for item in t.items))):
    """An n-ary tuple. ``of`` is its product type if that has a name; otherwise it is derived from the items."""

    items: tuple[Term, ...]
    of: Product | None = None


class Proj(Term, gives=lambda t: of_kind(t.term, Product, "projection from").items[t.index]):
    """Component ``index`` of a tuple."""

    term: Term
    index: int


def updated(of: Any, k: int, item: Type) -> Any:
    """Give a product of types with another one at a place."""
    return of if of.items[k] == item else replace(of, items=(*of.items[:k], item, *of.items[k + 1 :]))


class Update(Term, gives=lambda t: updated(t.term.type, t.index, t.item.type)):
    """A tuple with another component ``index``: its size does not depend on the number of components."""

    term: Term
    index: int
    item: Term


class Inject(Term):
    """Option ``index`` of the sum type ``of``."""

    index: int
    term: Term
    of: Sum | Named


class Resize(Term):
    """A member of a sum, its tangent or its cotangent, as that of the sum ``of`` with more or fewer options last."""

    term: Term
    of: Type


class Branch(Term, binds={"body": ("var",)}, gives=lambda t: t.body.type):
    """One branch of a `Case`: ``var -> body``. It occurs only there."""

    var: Var
    body: Term


#: Stands for all options of a sum that have no branch of their own.
OTHERS = -1


class Case(Term, gives=lambda t: t.branches[0].type):
    """Matches a sum, with one branch for each option, in order.

    `options`: where there is not a branch for each, the option of each branch. The last may be `OTHERS`, whose variable
    is of the unit type and not used; else the value has one of these options.
    """

    term: Term
    branches: tuple[Branch, ...]
    options: tuple[int, ...] = ()

    @property
    def by_option(self) -> dict[int, Branch]:
        """The branches by their options."""
        return dict(zip(self.options or range(len(self.branches)), self.branches, strict=True))

    def branch(self, option: int) -> Branch | None:
        """Give the branch for an option; None if the value has another one."""
        return self.by_option.get(option, self.by_option.get(OTHERS))


class If(Term, gives=lambda t: t.then.type):
    """A conditional on a bool; only the chosen branch is evaluated."""

    condition: Term
    then: Term
    orelse: Term


class Lambda(Term, binds={"body": ("params",)}, gives=lambda t: Function(tuple(p.type for p in t.params), t.body.type)):
    """A function that captures the variables free in it."""

    params: tuple[Var, ...]
    body: Term


class Apply(Term, gives=lambda t: of_kind(t.function, Function, "application of").result):
    """Application of a function value to all its arguments."""

    function: Term
    args: tuple[Term, ...]


class Call(Term):
    """Call of a definition of the module; ``of`` is its result type."""

    name: str
    args: tuple[Term, ...]
    of: Type


class Build(Term, binds={"body": ("index",)}, gives=lambda t: Array(t.body.type)):
    """``[body for index in range(size)]`` (EC section 7); if it ``is_parallel``, its steps may run on threads."""

    size: Term
    index: Var
    body: Term
    is_parallel: bool = field(default=False, compare=False)


class Elements(Term, gives=lambda t: Array(t.of)):
    """``[item, ...]``: an array given by its items; ``of`` is the type of its elements."""

    items: tuple[Term, ...]
    of: Type


class Index(Term, gives=lambda t: element_type(t.array)):
    """``array[index]``; negative indices count from the end, and an index out of range raises IndexError, as in Python.

    A row that is only `measured` need not exist: a numpy matrix without rows still has columns.
    """

    array: Term
    index: Term
    measured: bool = field(default=False, compare=False)


class Size(Term, gives=lambda t: INT):
    """``len(array)``."""

    array: Term


class Map(Term, binds={"body": ("vars",)}, gives=lambda t: Array(t.body.type)):
    """``[body for vars in zip(arrays)]``, as long as the shortest array; all are equally long if it ``broadcasts``.

    If it ``is_parallel``, its steps may run on threads.
    """

    vars: tuple[Var, ...]
    body: Term
    arrays: tuple[Term, ...]
    broadcasts: bool = field(default=False, compare=False)
    is_parallel: bool = field(default=False, compare=False)


class Total(Term, gives=lambda t: element_type(t.array)):
    """``sum(array)`` of an array of floats or ints; 0 for an empty one. ``in_pairs``: as `np.sum` adds floats."""

    array: Term
    in_pairs: bool = field(default=False, kw_only=True)


class Fold(Term, binds={"body": ("left", "right")}, gives=lambda t: t.body.type):
    """Reduces a non-empty array with an associative ``body`` of ``left`` and ``right`` (EC section 7)."""

    left: Var
    right: Var
    body: Term
    array: Term


class Scan(Term, binds={"body": ("state", "var")}, gives=lambda t: Array(t.body.type)):
    """All states but the first of ``state = body(state, var)`` for ``var`` in ``array``, starting at ``init``."""

    state: Var
    var: Var
    init: Term
    body: Term
    array: Term


class Gather(Term, gives=lambda t: t.array.type):
    """``[array[i] for i in indices]``."""

    array: Term
    indices: Term


class Scatter(Term, gives=lambda t: t.array.type):
    """A copy of ``array`` (of floats) with ``values[k]`` added at ``indices[k]`` for each k."""

    array: Term
    indices: Term
    values: Term


class Replicate(Term, gives=lambda t: Array(t.term.type)):
    """``[term] * size``, with ``term`` evaluated once."""

    size: Term
    term: Term


class Filter(Term, binds={"condition": ("var",)}, gives=lambda t: t.array.type):
    """``[var for var in array if condition]``."""

    var: Var
    condition: Term
    array: Term


class Concatenate(Term, gives=lambda t: t.first.type):
    """Two arrays, one after the other."""

    first: Term
    second: Term


class For(Term, binds={"body": ("index", "state")}, gives=lambda t: t.init.type):
    """``state = init; for index in range(size): state = body``; returns the last state."""

    size: Term
    index: Var
    state: Var
    init: Term
    body: Term


class While(Term, binds={"condition": ("state",), "body": ("state",)}, gives=lambda t: t.init.type):
    """``state = init; while condition: state = body``; returns the last state."""

    state: Var
    init: Term
    condition: Term
    body: Term


@dataclass(frozen=True)
class Definition:
    """A named function of a module.

    * `body`: its free variables are the parameters.
    * `kind`: which parts of the result are lists in Python (`tapeengine.chad.language.kinds`).
    """

    name: str
    params: tuple[Var, ...]
    result: Type
    body: Term
    kind: Any = field(default=None, compare=False)


@dataclass(frozen=True)
class Module:
    """A whole program.

    * `main`: the name of the program's main definition.
    * `types`: the sum type of each `Named` type.
    * `by_numpy`: whether it uses numpy's operations on whole arrays, whose order and functions differ from Python's.
    * `copies`: whether functions that call themselves change arrays that they are given, which would be copied at each
      call.
    * `mixes`, `chooses`: whether integers become floats where they are elements of lists, or where floats are chosen
      as well.
    """

    main: str
    definitions: Mapping[str, Definition]
    types: Mapping[str, Sum] = field(default_factory=dict)
    by_numpy: bool = False
    copies: bool = False
    mixes: bool = False
    chooses: int = 0


#: The class of a literal's value, which its text in a derivative is that of.
PLAIN: Mapping[Type, type[float | int | bool]] = {BOOL: bool, INT: int, FLOAT: float}


def lit(value: float | int | bool) -> Literal:
    """Make a literal of the type of a Python value. It is a plain number, also for a member of an enumeration.

    Examples
    --------
    >>> lit(2).type, lit(2.0).type, lit(True).type
    (Int(), Float(), Bool())
    """
    of = BOOL if isinstance(value, bool) else INT if isinstance(value, int) else FLOAT
    return Literal(PLAIN[of](value), of)


#: The tangent of a constant.
NOUGHT = Literal(0.0, FLOAT, absorbs=True)


def counted(truth: Term) -> If:
    """Give 1 for true and 0 for false."""
    return If(truth, lit(1), lit(0))


def lets(bindings: Iterable[tuple[Var, Term]], body: Term) -> Term:
    """Put bindings around a term, the first one outermost."""
    for var, bound in reversed(list(bindings)):
        body = Let(var, bound, body)
    return body


def opened(term: Term) -> tuple[list[tuple[Var, Term]], Term]:
    """Split a term into its outer bindings and the term inside them: the inverse of `lets`."""
    found = []
    while isinstance(term, Let):
        found.append((term.var, term.bound))
        term = term.body
    return found, term


def parts(term: Term) -> tuple[Term, ...]:
    """Give the parts of a tuple: the terms that it is made of, or its projections."""
    if isinstance(term, Tuple):
        return term.items
    return tuple(Proj(term, k) for k in range(len(of_kind(term, Product, "parts of").items)))


#: A tuple of so many parts with another part is an `Update`; one of fewer is written out, so that each part is known.
MANY = 4


def unit() -> Tuple:
    """Make the unit, which is ``None``."""
    return Tuple(())


def tuple_of(items: Iterable[Term]) -> Tuple:
    """Make a tuple of Python's, which may have no items."""
    made = tuple(items)
    return Tuple(made, None if made else EMPTY)
