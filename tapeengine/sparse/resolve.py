"""The reverse sweep over any commutative monoid, with one element for each number of the tape."""

from __future__ import annotations

from collections.abc import Iterable
from types import NoneType
from typing import Any

import numpy as np

from .._core.sweeps import linear
from ..errors import CotangentError, StructureError, UnsupportedError
from .colours import Graph, colour_columns, number_of, transposed
from .monoids import Edge, Monoid
from .structure import Recorded, Structure, kept_by_rules, wanted_by

#: Partial derivatives of an operation, with the numbers of their outputs and inputs.
Part = tuple[Any, Any, Any]


def backpropagated(back: Any, monoid: Monoid[Any], cotangents: Any = None) -> tuple[Any, ...]:
    """Resolve the tape of a backpropagator over a monoid.

    Parameters
    ----------
    back : Backpropagator
    monoid : Monoid
    cotangents : list, optional
        One element for each number of the result, in order; by default the monoid's `one` for each.

    Returns
    -------
    tuple
        One entry for each primal: an element, or for an array or another structure the list of its numbers' elements.
    """
    if not isinstance(monoid, Monoid):
        raise StructureError(f"backpropagate takes a monoid of tapeengine.sparse.monoids, not {monoid!r}")
    sweep = Sweep(back, monoid)
    places = linear.numbers_of_result(sweep.inner)
    count = sum(n for _, n, _ in places)
    if not isinstance(cotangents, (Iterable, NoneType)):
        raise CotangentError(f"a cotangent over a monoid is a list of its elements, not {cotangents!r}")
    given = [monoid.one] * count if cotangents is None else list(cotangents)
    if len(given) != count:
        raise CotangentError(f"the result has {count} numbers, which need {count} elements, not {len(given)}")
    for start, n, place in places:
        if place is not None and not (isinstance(place, int) and place == 0):
            for k, number in enumerate(sweep.numbers(place, n)):
                sweep.add(number, given[start + k])
    sweep.run()
    return sweep.primals()


class Sweep:
    """One sweep: the sums of elements, by the index of the tape's number."""

    def __init__(self, back: Any, monoid: Monoid[Any]) -> None:
        self.inner = getattr(back, "backpropagator", back)
        self.line = getattr(back, "line", lambda id: None)
        self.tape = self.inner.tape
        if linear.has_complex(self.tape):
            raise UnsupportedError(
                "the program computes with complex arrays, and a monoid needs real partial derivatives. "
                "Write it with real and imaginary parts"
            )
        self.monoid = monoid
        self.slots = linear.Slots(self.inner)
        self.arrived: dict[int, Any] = {}

    def numbers(self, place: Any, count: int) -> list[int]:
        """The indices of the numbers at a place on the tape."""
        if isinstance(place, int):
            return list(range(place, place + count))
        return self.slots.positions(place).ravel().tolist()

    def add(self, number: int, x: Any) -> None:
        """Add an element to a number's sum."""
        known = self.arrived.get(number)
        self.arrived[number] = x if known is None else self.monoid.add(known, x)

    def run(self) -> None:
        """Resolve all records, the last one first."""
        arrays = {id: k for k, id in enumerate(linear.array_ids(self.tape))}
        for i in range(self.tape.inputs + len(self.tape), self.tape.inputs, -1):
            if i in arrays:
                self.array(i, arrays[i])
            else:
                self.scalar(i)

    def scalar(self, i: int) -> None:
        """Resolve a record of scalars."""
        _, name, parents, partials = self.tape.record(i)
        if name == "write":
            element, assigned = self.slots.access(i)
            x = self.arrived.pop(element, None)
            if x is not None and assigned:
                self.add(assigned, self.monoid.through(Edge(name, 1.0, self.line(i)), x))
            return
        x = self.arrived.pop(i, None)
        if x is None or name == "input":
            return
        if name == "read":
            self.add(self.slots.access(i)[0], self.monoid.through(Edge(name, 1.0, self.line(i)), x))
        for parent, partial in zip(parents, partials, strict=True):
            self.add(parent, self.monoid.through(Edge(name, partial, self.line(i)), x))

    def array(self, i: int, k: int) -> None:
        """Resolve an array record, element by element."""
        name, *_ = linear.described(self.tape, k)
        self.number = k
        parts = linear.parts_of(self.tape, k, self, i)
        if parts is None:
            raise UnsupportedError(
                f"a monoid needs the partial derivatives of {name}, which gives only its products with numbers. "
                "Write it with other operations"
            )
        line = self.line(i)
        written = {number for made, _, _ in parts for number in np.ravel(made).tolist()}
        gone = self.leaving(written, linear.adds(self.tape, k))
        found: list[tuple[int, Any]] = []
        for made, read, partials in parts:
            for out, source, partial in [] if read is None else elements(made, read, partials):
                if out in gone:
                    found.append((source, self.monoid.through(Edge(name, float(partial), line), gone[out])))
        for source, x in found:
            self.add(source, x)

    def leaving(self, numbers: set[int], stays: bool) -> dict[int, Any]:
        """The sums of some elements, which are removed unless `stays` is true."""
        found = {number: self.arrived.get(number) if stays else self.arrived.pop(number, None) for number in numbers}
        return {number: x for number, x in found.items() if x is not None}

    def numbered(self, place: Any) -> Any:
        """The numbers of a place's elements."""
        return np.asarray(self.slots.positions(place))

    def of_primitive(self, i: int, primitive: Any, inputs: Any, output: Any, kept: Any) -> list[Part]:
        """The parts computed by the primitive's rules, on sums of outputs that share no input."""
        if isinstance(output, tuple):
            raise UnsupportedError(f"a monoid needs operations of one result, and {primitive.name} has several")
        made = self.numbered(i if output is None else output)
        detail = wanted_by(self.tape).get(self.number) or kept_by_rules(primitive, inputs, kept)
        parts: list[Part] = []
        for (argument, place), what in zip(inputs, kept, strict=True):
            source = self.numbered(place)
            starts, columns = self.pattern(primitive, argument, source, made, detail)
            rows = np.repeat(np.arange(made.size), np.diff(starts))
            colours = colour_columns(transposed(Graph(starts, columns, source.size)))
            partials = np.zeros(columns.size)
            rule = primitive.vjp_rules[0 if primitive.variadic else argument].function
            for colour in range(number_of(colours)):
                seed = (colours == colour).astype(float).reshape(made.shape)
                found = rule(seed if made.ndim else float(seed), *what)
                chosen = colours[rows] == colour
                if found is not None:
                    partials[chosen] = np.broadcast_to(found, source.shape).ravel()[columns[chosen]]
            parts.append((made.ravel()[rows], source.ravel()[columns], partials))
        return parts

    def pattern(self, primitive: Any, argument: int, source: Any, made: Any, detail: Any) -> tuple[Any, Any]:
        """For each element of the output, the elements of one input on which it depends."""
        if primitive.pattern is None or detail is None:  # any element may have a part, which the rule determines
            starts = np.arange(made.size + 1) * source.size
            return starts, np.tile(np.arange(source.size), made.size)
        walk = Local(self.inner, self.slots)
        first = self.slots.inputs(np.arange(source.size)).reshape(source.shape)
        sets = primitive.pattern(Recorded(walk, primitive, detail, {argument: first}, made.shape))
        starts, found = self.slots.search(np.ascontiguousarray(np.ravel(sets)), 1 << 62)
        return starts, self.slots.numbers(found).astype(np.int64)

    def primals(self) -> tuple[Any, ...]:
        """The sums of the primals."""
        found = []
        for places in linear.numbers_of_each(self.inner):
            elements: list[Any] = []
            for _, n, place in places:
                numbers = self.numbers(place, n) if place is not None else [-1] * n
                elements.extend(self.arrived.get(number, self.monoid.zero) for number in numbers)
            single = len(places) == 1 and isinstance(places[0][2], int) and places[0][1] == 1
            found.append(elements[0] if single else elements)
        return tuple(found)


class Local(Structure):
    """The attributes of a structure that a pattern needs, for a single record."""

    def __init__(self, back: Any, known: Any) -> None:
        self.back, self.slots, self.union = back, known, known.union


def elements(*numbers: Any) -> Iterable[tuple[Any, ...]]:
    """Tuples of corresponding elements of arrays that broadcast."""
    return zip(*[x.ravel().tolist() for x in np.broadcast_arrays(*numbers)], strict=True)
