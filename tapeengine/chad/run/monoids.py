"""Reverse derivatives whose cotangents are elements of a commutative monoid instead of reals (EC Fig. 3, CHAD 11.3).

A reverse pass only adds cotangents and multiplies them by partials, so the same pass runs on elements of a monoid. It
starts its sums at the float 0.0; a float among cotangents therefore stands for the monoid's zero.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ...errors import CotangentError, UnsupportedError
from ...primitive import Primitive
from ..backends.convert import VALUE, Converter, Path
from ..backends.whole.passes import POLES
from ..intermediate.running import call_registered, on_leaves, parts
from ..intermediate.statements import Registered
from ..intermediate.text import compiled
from ..language.depth import with_room
from ..language.types import Float, Sum, Type
from ..lowering.passes import lower_reverse
from ..lowering.values import NotLowered
from .execute import Executable


class Scaling:
    """The edge that `Monoid.through` receives for one multiplication by a partial.

    Attributes
    ----------
    operation : str
        Always "scale": the reverse pass of a term does not name the operation of the forward pass.
    line : None
        Source lines are not known.
    """

    def __init__(self, partial: float) -> None:
        self.operation, self.partial, self.line = "scale", partial, None


class Monoid(Protocol):
    """The interface of a commutative monoid; `tapeengine.sparse.monoids` has instances.

    Attributes
    ----------
    zero : object
        The neutral element.
    one : object
        The default cotangent of each real number of a result.
    """

    zero: Any
    one: Any

    def add(self, x: Any, y: Any, /) -> Any:
        """Add two elements."""

    def through(self, edge: Any, x: Any, /) -> Any:
        """Map an element through an edge of the derivative: the counterpart of multiplying by ``edge.partial``."""


class Element:
    """An element of a monoid that supports the arithmetic of a cotangent.

    Sums call `Monoid.add`, products with a float call `Monoid.through`; a float summand stands for zero.

    Parameters
    ----------
    monoid : Monoid
    x : object
        The element.

    Examples
    --------
    >>> from tapeengine.sparse.monoids import absolute
    >>> (0.0 - 3.0 * Element(absolute(), 1.0) + float("nan")).x
    3.0
    """

    __slots__ = ("monoid", "x")
    __array_ufunc__ = None

    def __init__(self, monoid: Monoid, x: Any) -> None:
        self.monoid, self.x = monoid, x

    def __add__(self, other: Any) -> Element:
        return Element(self.monoid, self.monoid.add(self.x, other.x)) if isinstance(other, Element) else self

    __radd__ = __add__

    def __mul__(self, factor: float) -> Element:
        return Element(self.monoid, self.monoid.through(Scaling(float(factor)), self.x))

    __rmul__ = __mul__

    def __neg__(self) -> Element:
        return self.__mul__(-1.0)

    def __sub__(self, other: Any) -> Element:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Element:
        return -self


class Elements(Converter):
    """Conversion between values and leaves, where elements take the place of the cotangents of real numbers.

    * `given_elements`: the cotangents of the real numbers to come, in order.
    * `found`: the cotangents of the real numbers so far; floats and None stand for zero.
    """

    def __init__(self, types: Mapping[str, Sum], classes: Mapping[str, type]) -> None:
        super().__init__(types, classes)
        self.given_elements: Iterator[Any] = iter(())
        self.found: list[Any] = []

    def real(self, d: Any, value: Any, path: Path) -> Any:
        """Give the cotangent of a number: the next element."""
        return next(self.given_elements)

    def real_of(self, leaf: Any) -> Any:
        """Note the cotangent of a number."""
        self.found.append(leaf)
        return 0.0


class OverMonoid:
    """The reverse derivative of a program over a monoid, by the text of its intermediate form.

    It raises `UnsupportedError` where the program has no intermediate form.
    """

    def __init__(self, executable: Executable, monoid: Monoid) -> None:
        module, name = executable.closed, executable.definition.name
        try:
            lowered = lower_reverse(module, executable.reverse_terms, dense=False)
        except NotLowered as error:
            raise UnsupportedError(f"{name} has no intermediate form: {error}. {INSTEAD}") from None
        call = functools.partial(called, monoid)
        self.run = compiled(lowered.program, primitives=executable.primitives, call=call)
        self.executable, self.definition, self.monoid = executable, module.definitions[module.main], monoid

    def __call__(self, primals: Sequence[Any], cotangent: Sequence[Any] | None = None) -> tuple[Any, ...]:
        """Return the cotangent of each primal; see `Program.derivative`."""
        self.executable.at_pole(primals)
        made: tuple[Any, ...] = with_room(self.cotangents, primals, cotangent)
        return made

    def cotangents(self, primals: Sequence[Any], cotangent: Sequence[Any] | None) -> tuple[Any, ...]:
        """Run both passes."""
        self.executable.check_number(primals)
        values, each = self.elements(), list(zip(self.definition.params, primals, strict=True))
        leaves = [leaf for p, x in each for leaf in values.flat(p.of, x, f"the argument {p.name}")]
        *results, kept = self.finite("forward", *leaves)
        found = iter(self.finite("reverse", kept, *self.seed(iter(results), cotangent)))
        return tuple([self.outward(p.of, found, x) for p, x in each])

    def elements(self) -> Elements:
        """Give a conversion for one call."""
        return Elements(self.executable.closed.types, self.executable.classes)

    def finite(self, name: str, *given: Any) -> Any:
        """Run a pass; raise `UnsupportedError` at a pole."""
        try:
            return self.run[name](*given)
        except POLES as error:
            raise UnsupportedError(
                f"{self.definition.name}: a partial derivative is not finite ({error}). {INSTEAD}"
            ) from error

    def seed(self, results: Iterator[Any], cotangent: Sequence[Any] | None) -> list[Any]:
        """Give the leaves of the cotangent of the value with these leaves."""
        values, of = self.elements(), self.definition.result
        value = values.restored(of, results)
        values.given_elements = counted = itertools.count()
        values.cotangent(of, value, value, VALUE)
        count = next(counted)
        given = [self.monoid.one] * count if cotangent is None else list(cotangent)
        if len(given) != count:
            raise CotangentError(f"the result has {count} numbers, which need {count} elements, not {len(given)}")
        values.given_elements = (Element(self.monoid, x) for x in given)
        return values.cotangent(of, value, value, VALUE)

    def outward(self, of: Type, leaves: Iterator[Any], value: Any) -> Any:
        """Give the element of a real number, or the list of those of a structure's numbers."""
        values = self.elements()
        values.given(of, leaves, value)
        found = [x.x if isinstance(x, Element) else self.monoid.zero for x in values.found]
        return found[0] if isinstance(of, Float) else found


#: The advice in errors about programs that have no derivative over a monoid.
INSTEAD = "Take the backpropagator of the Python function: te.backpropagate(te.vjp(program.python, ...)[1], monoid=)"


def called(monoid: Monoid, table: Mapping[str, Primitive], s: Registered, leaves: Sequence[Any]) -> list[Any]:
    """Call a registry primitive, or a rule of one on cotangents that contain elements.

    A rule takes numbers only. It is called once for each element, on a cotangent that is 1 at the element's place and 0
    elsewhere, and gives that element's partials; the element is then scaled by each of them.
    """
    flat = [np.array(leaf, object) for leaf in leaves]
    places = [(k, at) for k, leaf in enumerate(flat) for at in np.ndindex(leaf.shape) if isinstance(leaf[at], Element)]
    if not places:
        return call_registered(table, s, leaves)
    found: list[Any] = []
    for k, at in places:
        seeded = [seeded_with(leaf, at if k == j else None) for j, leaf in enumerate(flat)]
        partials = on_leaves(table, s)([x if j in {i for i, _ in places} else leaves[j] for j, x in enumerate(seeded)])
        element: Any = flat[k][at]
        reached = [scaled(element, part) for part in parts(partials)]
        found = [a + b for a, b in zip(found, reached, strict=True)] if found else reached
    return [x.tolist() for x in found]


def seeded_with(leaf: Any, at: tuple[int, ...] | None) -> Any:
    """Give a unit cotangent in the shape of a leaf; zeros without a place."""
    seed = np.zeros(leaf.shape)
    if at is not None:
        seed[at] = 1.0
    return seed if leaf.shape else float(seed)


def scaled(element: Element, partials: Any) -> Any:
    """Scale an element by each of several partials."""
    found = np.empty(np.shape(partials), object)
    for at in np.ndindex(found.shape):
        found[at] = element * np.asarray(partials)[at]
    return found
