"""Finds the structure of a tape: the slots of its numbers, by the patterns that operations declare."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._core.sweeps import linear
from ..primitive.patterns import elementwise


class Rows(NamedTuple):
    """The inputs on which each output depends, as in a CSR matrix.

    Attributes
    ----------
    starts : numpy.ndarray of int64, shape (outputs + 1,)
    ids : numpy.ndarray of uint32
        Inputs as the slots count them; those of one output are in ascending order of their numbers.
    """

    starts: Any
    ids: Any


class Recorded:
    """One record, for its pattern; see `tapeengine.primitive.patterns.Call`."""

    def __init__(
        self, walk: Structure, primitive: Any, kept: Any, sets: dict[int, Any], shape: tuple[int, ...]
    ) -> None:
        self.spaces, self.static, self.values = kept
        self.primal = getattr(primitive, "primal", None)
        self.sets, self.shape = sets, shape
        self.union = walk.union
        self.over, self.grouped = walk.over, walk.grouped


class Structure:
    """The slots of a traced program.

    Parameters
    ----------
    back : Backpropagator
    apart : bool
        Whether each read of an input (by indices or element by element) counts as a separate input with the number of
        the element; then no two such reads overlap.

    Attributes
    ----------
    dense : Counter of str
        Operations without a pattern, whose results count as dependent on all of their arguments.
    taken : list of (ids, place)
        The values that count as inputs, and their places; `cut` has the numbers of the records that read them.
    """

    def __init__(self, back: Any, apart: bool = False) -> None:
        self.back = back
        self.alone = apart
        self.dense: Counter[str] = Counter()
        self.taken: list[tuple[Any, Any]] = []
        self.cut: list[int] = []
        self.places = linear.numbers_of_primals(back)
        arrays = {linear.storage_of(place) for _, _, place in self.places if not isinstance(place, int | None)}
        self.apart = arrays - linear.written(back.tape) if apart else set()
        self.slots = linear.Slots(back, self.apart, self._shared_extents())
        self.get, self.put, self.union = self.slots.get, self.slots.put, self.slots.union
        self.wanted = wanted_by(back.tape)
        self.number = 0  # the present record
        for start, count, place in self.places:
            self._begin(start, count, place)
        self.slots.walk(self)

    def _shared_extents(self) -> list[int]:
        """The leading extents that several input arrays share."""
        found = [place.shape[0] for _, _, place in self.places if getattr(place, "shape", ())]
        counts = Counter(found + linear.extents_of_reads(self.back.tape, self.apart))
        return [extent for extent, count in counts.items() if count > 1]

    def _begin(self, start: int, count: int, place: Any) -> None:
        numbers = np.arange(start, start + count)
        found = self.slots.inputs(numbers.reshape(getattr(place, "shape", (count,))))
        if isinstance(place, int):
            for k in range(count):
                self.slots.put(place + k, found[k])
        elif place is not None:
            self.slots.put(place, found)
        if place is not None:
            self.taken.append((self.slots.made(count), place))

    @property
    def outputs(self) -> Any:
        """The slots of the result's numbers."""
        found = [np.zeros(0, np.uint64)]
        for _, count, place in linear.numbers_of_result(self.back):
            if place is None or (isinstance(place, int) and place == 0):
                found.append(np.zeros(count, np.uint64))
            elif isinstance(place, int):
                found.append(self.slots.of_ids(slice(place, place + count)))
            else:
                found.append(np.ravel(self.slots.get(place)))
        return np.concatenate(found)

    @property
    def scalar_outputs(self) -> Any:
        """The ids of the result's numbers (0: a constant); None where some are elements of arrays."""
        found = [np.zeros(0, np.uint32)]
        for _, count, place in linear.numbers_of_result(self.back):
            if place is not None and not isinstance(place, int):
                return None
            found.append(np.arange(place, place + count, dtype=np.uint32) if place else np.zeros(count, np.uint32))
        return np.concatenate(found)

    @property
    def scalar_inputs(self) -> Any:
        """The id on the tape of each input, by the order in which they were made; 0 for elements of arrays."""
        found = np.zeros(self.slots.inputs_made, np.uint32)
        for made, place in self.taken:
            if isinstance(place, int):
                found[made] = np.arange(place, place + made.size)
        reads = linear.reads_of(self.back.tape, self.apart)
        found[self.slots.ids(self.slots.of_ids(reads))] = reads
        return found

    @property
    def inputs(self) -> Any:
        """All inputs, by their numbers in ascending order."""
        found = np.concatenate([np.zeros(0, np.uint32), *[part.ravel() for part, _ in self.taken]])
        return found[np.argsort(self.slots.numbers(found), kind="stable")]

    # -- records ------------------------------------------------------------------------------------------------------
    def primitive(self, i: int, primitive: Any, inputs: Any, made: list[Any], kept: Any) -> None:
        """Give a primitive's results their slots: by its pattern, or all slots of its arguments."""
        kept = self.wanted.get(self.number) or kept_by_rules(primitive, inputs, kept)
        if primitive.pattern is None or kept is None:
            self.all_of(i, inputs, made, primitive.name)
            return
        sets = {argument: np.asarray(self.get(place)) for argument, place in inputs}
        for place in made:
            if place is not None:
                call = Recorded(self, primitive, kept, sets, () if isinstance(place, int) else place.shape)
                self.put(place, primitive.pattern(call))

    def separate(self, numbers: Any, output: Any) -> Any:
        """Replace what one record reads from an input by separate inputs."""
        found = self.slots.inputs(numbers)
        self.taken.append((self.slots.made(numbers.size), output))
        self.cut.append(self.number)
        return found

    def all_of(self, i: int, inputs: Any, made: list[Any], name: str) -> None:
        """Let all results depend on all inputs."""
        self.dense[name] += 1
        whole = np.zeros((), np.uint64)
        for _, place in inputs:
            whole = self.union(whole, self.over(np.asarray(self.get(place)), None).reshape(()))
        for place in made:
            if place is not None:
                self.put(place, whole if isinstance(place, int) else np.broadcast_to(whole, place.shape))

    # -- unions -------------------------------------------------------------------------------------------------------
    def over(self, sets: Any, axes: tuple[int, ...] | None) -> Any:
        """The unions over axes (None: all), which keep extent 1; computed by halving."""
        axes = tuple(range(sets.ndim)) if axes is None else axes
        shape = tuple(1 if axis in axes else extent for axis, extent in enumerate(sets.shape))
        kept = [axis for axis in range(sets.ndim) if axis not in axes]
        found = np.transpose(sets, (*axes, *kept)).reshape(
            math.prod(sets.shape[axis] for axis in axes), *(sets.shape[axis] for axis in kept)
        )
        if not len(found):
            return np.zeros(shape, np.uint64)
        while len(found) > 1:
            half = len(found) // 2
            joined = self.union(found[:half], found[half : 2 * half])
            found = joined if len(found) % 2 == 0 else np.concatenate([joined, found[-1:]])
        return found[0].reshape(shape)

    def grouped(self, sets: Any, groups: Any, count: int) -> Any:
        """The union of each group; neighbours in a group are joined until one set per group remains."""
        sets, groups = np.ravel(sets), np.ravel(groups)
        order = np.argsort(groups, kind="stable")
        sets, groups = sets[order], groups[order]
        while True:
            same = np.flatnonzero(groups[1:] == groups[:-1])
            if not same.size:
                break
            first = np.flatnonzero(np.concatenate([[True], groups[1:] != groups[:-1]]))
            rank = np.arange(groups.size) - np.repeat(first, np.diff([*first, groups.size]))
            pairs = np.flatnonzero((rank % 2 == 0) & np.concatenate([groups[1:] == groups[:-1], [False]]))
            sets[pairs] = self.union(sets[pairs], sets[pairs + 1])
            keep = rank % 2 == 0
            sets, groups = sets[keep], groups[keep]
        found = np.zeros(count, np.uint64)
        found[groups] = sets
        return found

    # -- the solution -------------------------------------------------------------------------------------------------
    def rows(self, always: bool = True) -> Rows | None:
        """The inputs of each output: by a search from each output if that is short, otherwise by blocks of bits.

        If `always` is false, return None instead of using blocks of bits.
        """
        outputs, count = self.outputs, sum(part.size for part, _ in self.taken)
        blocks = (min(outputs.size, count) + 63) // 64
        found = self.slots.search(outputs, len(self.slots) * max(blocks, 1) // 2 + 4 * outputs.size + 1024)
        if found[0] is None and not always:
            return None
        if found[0] is None and outputs.size <= count:
            found = by_outputs(self.slots, outputs, self.inputs)
        elif found[0] is None:
            found = by_inputs(self.slots, outputs, self.inputs)
        return Rows(*found)


def by_outputs(known: Any, outputs: Any, inputs: Any) -> tuple[Any, Any]:
    """What `Slots.search` finds, by a walk downwards for each block of 64 outputs; `inputs` are ids in order."""
    words, ends = np.empty(known.pair_count, np.uint64), np.empty(known.inputs_made, np.uint64)
    counts, parts = [0], [np.zeros(0, np.uint32)]
    for first in range(0, outputs.size, 64):
        block = np.ascontiguousarray(outputs[first : first + 64])
        words[...] = ends[...] = 0
        known.downwards(block, words, ends)
        for k, bits in enumerate(bits_of(ends[inputs], block.size)):
            parts.append(inputs[bits])
            counts.append(counts[first + k] + parts[-1].size)
    return np.array(counts), np.concatenate(parts)


def by_inputs(known: Any, outputs: Any, inputs: Any) -> tuple[Any, Any]:
    """What `Slots.search` finds, by a walk upwards for each block of 64 inputs."""
    members = known.members()
    filled = np.flatnonzero(members < known.inputs_made)
    places = np.zeros(known.inputs_made, np.int64)
    places[members[filled]] = filled
    group = members.size // max(known.groups, 1)
    words, ends = np.empty(known.pair_count, np.uint64), np.empty(outputs.size, np.uint64)
    begins, masks = np.zeros(known.inputs_made, np.uint64), np.empty(known.groups, np.uint32)
    rows, parts = [np.zeros(0, np.int64)], [np.zeros(0, np.uint32)]
    for first in range(0, inputs.size, 64):
        chosen = inputs[first : first + 64]
        begins[chosen] = np.uint64(1) << np.arange(chosen.size, dtype=np.uint64)
        masks[...] = 0
        at = places[chosen]
        np.bitwise_or.at(masks, at // group, np.uint32(1) << (at % group).astype(np.uint32))
        known.upwards(outputs, begins, masks, words, ends)
        seen = np.flatnonzero(ends)
        for k, bits in enumerate(bits_of(ends[seen], chosen.size)):
            rows.append(seen[bits])
            parts.append(np.full(rows[-1].size, chosen[k]))
    row = np.concatenate(rows)
    counts = np.bincount(row, minlength=outputs.size)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return starts, np.concatenate(parts)[np.argsort(row, kind="stable")]


def bits_of(words: Any, count: int) -> Any:
    """For each of the first bits, in which of some words it is set."""
    return ((words >> np.uint64(k)) & np.uint64(1) != 0 for k in range(count))


def wanted_by(tape: Any) -> Any:
    """What patterns asked records to keep, by the number of the record; nothing on a tape that a replay wrote."""
    return getattr(tape.rules, "wanted", None) or {}


def kept_by_rules(primitive: Any, inputs: Any, kept: Any) -> Any:
    """Data for the pattern of a record that was not asked to keep it, from what its rules keep; None if incomplete.

    Returns
    -------
    (spaces, static, values) or None
    """
    if primitive.pattern is elementwise:
        return (), {}, {}
    spaces: dict[int, Any] = {}
    static: dict[str, Any] = {}
    for (argument, _), values in zip(inputs, kept, strict=True):
        for (kind, key), value in zip(
            primitive.vjp_rules[0 if primitive.variadic else argument].needs, values, strict=True
        ):
            if kind == "static":
                static[key] = value
            elif kind == "space":
                spaces[key] = value
            elif kind == "all_spaces":
                spaces.update(enumerate(value))
    missing = set(primitive.static_names) - static.keys() - {"dtype", "keepdims"}
    whole = primitive.variadic or len(spaces) == len(primitive.args)
    return ([spaces[k] for k in sorted(spaces)], static, {}) if whole and not missing else None


# -- keys --------------------------------------------------------------------------------------------------------------
def key_of(back: Any) -> Any:
    """Return a key of the structure: it is equal for tapes with the same records.

    It depends on shapes, indices, axes and the path that the program took, but not on the values of traced numbers.
    """
    tape = back.tape
    if back.way is not None:
        return back.way, linear.depends_on_outer(back)
    wanted = wanted_by(tape)
    records = tuple(_record_key(*linear.described(tape, k), wanted.get(k)) for k in range(len(tape.arrays)))
    return linear.depends_on_outer(back), linear.scalars_key(tape), linear.places_key(back), records


def _record_key(name: str, primitive: Any, inputs: Any, outputs: Any, detail: Any, wanted: Any) -> Any:
    given = tuple((k, linear.geometry_key(place)) for k, place in inputs)
    made = tuple(linear.geometry_key(place) for place in outputs)
    return name if primitive is None else primitive, given, made, _digest(detail), _digest(wanted)


def _digest(x: Any) -> Any:
    """Return a hashable object that is equal for equal values, and only for them."""
    simple: Callable[[Any], Any] | None = _DIGESTS.get(type(x))
    if simple is not None:
        return simple(x)
    try:
        hash(x)
    except TypeError:
        return object()
    return x


def _of_array(x: Any) -> Any:
    if x.size <= 8:
        return x.shape, x.dtype.str, x.tobytes()
    return x.shape, x.dtype.str, hashlib.blake2b(np.ascontiguousarray(x).data, digest_size=16).digest()


_DIGESTS: Any = {
    np.ndarray: _of_array,
    slice: lambda x: ("slice", x.start, x.stop, x.step),
    tuple: lambda x: tuple(map(_digest, x)),
    dict: lambda x: tuple((key, _digest(value)) for key, value in x.items()),
}
