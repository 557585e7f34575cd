"""The reverse sweep over any commutative monoid: one element of it for each number of the tape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tapeengine._core.sweeps import slots
from tapeengine.errors import CotangentError, UnsupportedError
from tapeengine.sparse.colours import Graph, colour_columns, transposed
from tapeengine.sparse.monoids import Edge, Monoid
from tapeengine.sparse.structure import Recorded, Structure, kept_by_rules

__all__ = ["backpropagated"]

#: An operation's part: numbers of outputs, numbers of inputs, and the partial derivatives.
Part = tuple[Any, Any, Any]


def backpropagated(back: Any, monoid: Monoid[Any], cotangents: Any = None) -> tuple[Any, ...]:
    """Resolve the tape of a backpropagator over a monoid.

    Parameters
    ----------
    back : Backpropagator
    monoid : Monoid
    cotangents : list, optional
        One element for each number of the result, in order; the monoid's `one` for each where there are none.

    Returns
    -------
    tuple
        One entry for each primal: an element, or for an array or another structure the list of those of its numbers.
    """
    sweep = Sweep(back, monoid)
    places = slots.numbers_of_result(sweep.inner)
    count = sum(n for _, n, _ in places)
    given = [monoid.one] * count if cotangents is None else list(cotangents)
    if len(given) != count:
        raise CotangentError(f"the result has {count} numbers, which need as many elements, not {len(given)}")
    for start, n, place in places:
        if place is not None and not (isinstance(place, int) and place == 0):
            for k, number in enumerate(sweep.numbers(place, n)):
                sweep.add(number, given[start + k])
    sweep.run()
    return sweep.primals()


class Sweep:
    """One sweep: what has arrived, by the number of the tape's number."""

    def __init__(self, back: Any, monoid: Monoid[Any]) -> None:
        self.inner = getattr(back, "backpropagator", back)
        self.line = getattr(back, "line", lambda id: None)
        self.tape = self.inner.tape
        self.monoid = monoid
        self.slots = slots.Slots(self.inner)
        self.arrived: dict[int, Any] = {}

    def numbers(self, place: Any, count: int) -> list[int]:
        """The numbers of a place on the tape."""
        if isinstance(place, int):
            return list(range(place, place + count))
        return self.slots.numbered(place).ravel().tolist()

    def add(self, number: int, x: Any) -> None:
        """Let something arrive."""
        known = self.arrived.get(number)
        self.arrived[number] = x if known is None else self.monoid.add(known, x)

    def run(self) -> None:
        """Resolve all records, the last one first."""
        arrays = {id: k for k, id in enumerate(slots.array_ids(self.tape))}
        for i in range(self.tape.inputs + len(self.tape), self.tape.inputs, -1):
            if i in arrays:
                self.array(i, arrays[i])
            else:
                self.scalar(i)

    def scalar(self, i: int) -> None:
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
        """Resolve a record of arrays, element by element."""
        kind, primitive, _, output, detail = slots.described(self.tape, k)
        name = kind if primitive is None else primitive.name
        line = self.line(i)
        made: list[tuple[int, Any]] = []
        parts = list(self.parts(i, k))
        kept = kind == "add"
        gone: dict[int, Any] = {}
        for number in {number for outputs, _, _ in parts for number in outputs} | self.overwritten(
            kind, output, detail
        ):
            x = self.arrived.get(number) if kept else self.arrived.pop(number, None)
            if x is not None:
                gone[number] = x
        for outputs, sources, partials in parts:
            for out, source, partial in zip(outputs, sources, partials, strict=True):
                if out in gone:
                    made.append((source, self.monoid.through(Edge(name, float(partial), line), gone[out])))
        for source, x in made:
            self.add(source, x)

    def overwritten(self, kind: str, output: Any, detail: Any) -> set[int]:
        """The elements that a write has cleared, whatever was written."""
        if kind != "write":
            return set()
        numbers = self.slots.numbered(output)
        return set(np.ravel(numbers if detail[0] is None else numbers[detail[0]]).tolist())

    def parts(self, i: int, k: int) -> Iterator[Part]:
        """For each input of a record which elements of the output it has a part in, and how much."""
        kind, primitive, inputs, output, detail = slots.described(self.tape, k)
        kept = slots.kept_of(self.tape, k)
        if kind == "custom":
            raise UnsupportedError(
                "a function with a derivative rule of its own says what it does to numbers only. "
                "Use the function without its rule where the monoid is another one"
            )
        if kind == "primitive":
            yield from self.of_primitive(i, primitive, inputs, output, kept, detail)
            return
        for position, (argument, place) in enumerate(inputs):
            source = self.slots.numbered(place)
            if kind == "read" and detail is not None:
                source = source[detail]
            outputs, partials = self.of_core(i, kind, argument, source, output, kept, detail, position)
            shape = np.broadcast_shapes(outputs.shape, source.shape)
            yield tuple(np.broadcast_to(x, shape).ravel().tolist() for x in (outputs, source, partials))  # type: ignore[misc]

    def of_core(
        self, i: int, kind: str, argument: int, source: Any, output: Any, kept: Any, detail: Any, position: int
    ) -> tuple[Any, Any]:
        """Elements of the output that broadcast against those of an input, and the partials."""
        made = np.asarray(i) if output is None else self.slots.numbered(output)
        if kind == "elementwise":
            return made, kept[argument]
        if kind == "sum":
            return made if detail is None else np.expand_dims(made.reshape(-1), 1).reshape(
                _kept(source.shape, detail)
            ), kept
        if kind == "product":
            lines = made[:, None] if made.ndim else made
            return lines, kept[1 - argument] if argument == 1 or made.ndim == 0 else kept[1][None, :]
        if kind == "read":
            return made.reshape(source.shape) if detail is None else made, 1.0
        index, _ = detail
        numbers = made if index is None else made[index]
        return numbers, 1.0

    def of_primitive(self, i: int, primitive: Any, inputs: Any, output: Any, kept: Any, detail: Any) -> Iterator[Part]:
        """The parts by the primitive's rules, on sums of outputs that share no input."""
        if isinstance(output, tuple):
            raise UnsupportedError(f"{primitive.name} has several results, whose parts are known for numbers only")
        made = np.asarray(i if output is None or isinstance(output, int) else self.slots.numbered(output))
        detail = detail or kept_by_rules(primitive, inputs, kept)
        for (argument, place), what in zip(inputs, kept, strict=True):
            source = np.asarray(self.slots.numbered(place))
            starts, columns = self.pattern(primitive, argument, source, made, detail)
            rows = np.repeat(np.arange(made.size), np.diff(starts))
            colours = colour_columns(transposed(Graph(starts, columns, source.size)))
            partials = np.zeros(columns.size)
            rule = primitive.vjp_rules[0 if primitive.variadic else argument].function
            for colour in range(int(colours.max(initial=-1)) + 1):
                seed = (colours == colour).astype(float).reshape(made.shape)
                found = rule(seed if made.ndim else float(seed), *what)
                chosen = colours[rows] == colour
                if found is not None:
                    partials[chosen] = np.broadcast_to(found, source.shape).ravel()[columns[chosen]]
            yield made.ravel()[rows].tolist(), source.ravel()[columns].tolist(), partials.tolist()

    def pattern(self, primitive: Any, argument: int, source: Any, made: Any, detail: Any) -> tuple[Any, Any]:
        """For each element of the output the elements of one input that it depends on."""
        if primitive.pattern is None or detail is None:  # every element may have a part, and the rule says which
            starts = np.arange(made.size + 1) * source.size
            return starts, np.tile(np.arange(source.size), made.size)
        walk = Local(self.inner, self.slots)
        first = self.slots.inputs(np.arange(source.size)).reshape(source.shape)
        sets = primitive.pattern(Recorded(walk, primitive, detail, {argument: first}, made.shape))
        starts, found = self.slots.search(np.ascontiguousarray(np.ravel(sets)), 1 << 62)
        return starts, self.slots.numbers(found).astype(np.int64)

    def primals(self) -> tuple[Any, ...]:
        """What has arrived at the primals."""
        found = []
        for places in slots.numbers_of_each(self.inner):
            elements: list[Any] = []
            for _, n, place in places:
                numbers = self.numbers(place, n) if place is not None else [-1] * n
                elements.extend(self.arrived.get(number, self.monoid.zero) for number in numbers)
            single = len(places) == 1 and isinstance(places[0][2], int) and places[0][1] == 1
            found.append(elements[0] if single else elements)
        return tuple(found)


class Local(Structure):
    """What a pattern needs of a structure, for one record alone."""

    def __init__(self, back: Any, known: Any) -> None:
        self.back, self.slots = back, known


def _kept(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], 1, *shape[axis + 1 :])
