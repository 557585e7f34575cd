"""Plans: which sums of rows and columns of a Jacobian are swept, and how its entries are recovered from them.

Sums of rows are swept backwards, sums of columns forwards. If inputs are read by indices or one by one, as in a loop
over observations, rows are coloured by their reads: rows that read the same input in two places then share no entry,
and the results of one sweep at all reads of an input are added up. So a sum over observations costs as many sweeps as
one observation has results, however often an input is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._core.sweeps import linear
from .colours import Graph, colour_acyclic, colour_columns, colour_star, distinct, mirrored, number_of, transposed
from .structure import Rows, Structure

#: Up to ALONE columns of at least LONG numbers are swept singly.
ALONE, LONG = 4, 1 << 14
#: Rows over their own records: as many sweeps of them are always cheap; sweeps in blocks cost less by this factor.
FEW, LANES = 4, 4
#: The lowest record of what was computed by none.
NONE = 0xFFFFFFFF
#: A plan with both rows and columns must keep tangents as well, so its cost must be below this part of the others.
WORTH = 0.7


class Entries(NamedTuple):
    """The places of a matrix's entries, as in a CSR matrix."""

    starts: Any
    columns: Any
    shape: tuple[int, int]

    @property
    def rows(self) -> Any:
        """The row of each entry."""
        return np.repeat(np.arange(self.shape[0]), np.diff(self.starts))


class Own(NamedTuple):
    """Rows that are swept over their own records alone; see `linear.rows_of_records`.

    What one result needs often lies together on the tape, as in a loop over observations: then all rows together cost
    as much as a few sweeps, whatever they share.
    """

    ids: Any
    lows: Any
    starts: Any
    places: Any


class Plan(NamedTuple):
    """The steps that compute the entries of a Jacobian.

    Attributes
    ----------
    entries : Entries
    backward, forward : numpy.ndarray of int32
        The sum that contains each row and each column; -1 for none.
    counts : (int, int)
        The numbers of sums of rows and of columns.
    source : numpy.ndarray of int
        The position of each number among those of the sweeps, concatenated.
    firsts : numpy.ndarray of int, or None
        The beginning of each entry's numbers, if several are added up.
    taken, cut, reads
        Where cotangents are read off; see `linear.compressed_rows`.
    dense : dict of str to int
        Operations without a pattern, and their number of calls.
    own : Own, optional
        Rows that are swept over their own records; there are no sums then.
    steps : pair of numpy.ndarray of int64, optional
        What is subtracted from what before the entries are read off; see `linear.eliminated`.
    dtype : numpy.dtype
        Of the matrix.
    """

    entries: Entries
    backward: Any
    forward: Any
    counts: tuple[int, int]
    source: Any
    firsts: Any
    taken: list[tuple[int, Any]]
    cut: list[int]
    reads: Any
    dense: dict[str, int]
    own: Own | None = None
    steps: tuple[Any, Any] | None = None
    dtype: Any = np.float64

    @np.errstate(all="ignore")
    def values(self, back: Any, along: Callable[[Any], Any] | None = None) -> Any:
        """Sweep, and return the values of the entries.

        Parameters
        ----------
        back : Backpropagator
        along : callable, optional
            The derivative along one direction, for a few columns of long arrays, which do not fit the cache as a block.
        """
        if self.own is not None:
            return self.read_off(linear.rows_of_records(back, *self.own))
        size = self.entries.shape[0]
        parts = []
        if self.counts[0]:
            parts.append(linear.compressed_rows(back, self.backward, self.counts[0], self.taken, self.cut, self.reads))
        if along is not None and self.counts[1] <= ALONE and max(self.entries.shape) >= LONG:
            parts.extend(along((self.forward == k).astype(float)) for k in range(self.counts[1]))
        elif self.counts[1]:
            parts.append(linear.compressed_columns(back, self.forward, self.counts[1], size))
        if not parts:
            return np.zeros(self.source.size)
        numbers = parts[0].reshape(-1) if len(parts) == 1 else np.concatenate([part.reshape(-1) for part in parts])
        return self.read_off(numbers)

    def read_off(self, numbers: Any) -> Any:
        """The values of the entries from the numbers of the sweeps, which may be changed."""
        if self.steps is not None:
            linear.substitute(numbers, *self.steps)
        found = numbers if self.source is None else numbers[self.source]
        return found if self.firsts is None or not found.size else np.add.reduceat(found, self.firsts)


def plan_of(structure: Structure, shape: tuple[int, int]) -> Plan:
    """Return the cheapest plan for a program with this structure."""
    found = structure.rows(always=not structure.apart)
    if found is None:  # too many reads for a search: use blocks of bits instead
        return plan_of(Structure(structure.back), shape)
    numbers = structure.slots.numbers(found.ids).astype(np.int64)
    row = np.repeat(np.arange(shape[0]), np.diff(found.starts))
    is_first = np.ones(numbers.size, bool)
    is_first[1:] = (numbers[1:] != numbers[:-1]) | (row[1:] != row[:-1])
    firsts = np.flatnonzero(is_first)
    counts = np.bincount(row[firsts], minlength=shape[0])
    entries = Entries(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), numbers[firsts], shape)
    own = _own_records(structure, found, min(counts.max(initial=0), np.bincount(entries.columns).max(initial=0)))
    if own is not None:
        return _own_plan(entries, own, None if firsts.size == numbers.size else firsts, dict(structure.dense))
    taken, reads, place_of, width = _harvest(structure)
    places = place_of[found.ids].astype(np.int64)
    by_rows = Graph(found.starts, places, width)
    backward, forward = _colours(by_rows, Graph(entries.starts, entries.columns, shape[1]))
    sweeps = number_of(backward), number_of(forward)
    dense = dict(structure.dense)
    chosen = backward[row] >= 0
    source = np.where(chosen, backward[row] * width + places, sweeps[0] * width + forward[numbers] * shape[0] + row)
    several: Any = firsts
    if not chosen.all():  # each number of a column is an entry
        keep = chosen | is_first
        several = np.flatnonzero(is_first[keep])
        source = source[keep]
    several = None if several.size == source.size else several
    source = source.astype(np.int32) if source.max(initial=0) < 1 << 31 else source
    return Plan(entries, backward, forward, sweeps, source, several, taken, structure.cut, reads, dense)


def _own_plan(entries: Entries, own: Own, firsts: Any, dense: dict[str, int]) -> Plan:
    none = [np.full(extent, -1, np.int32) for extent in entries.shape]
    return Plan(entries, none[0], none[1], (0, 0), None, firsts, [], [], None, dense, own)


def _own_records(structure: Structure, rows: Rows, sweeps: int) -> Own | None:
    """Rows over their own records, where that costs no more than a few sweeps, or than the `sweeps` of all records."""
    ids, tape = structure.scalar_outputs, structure.back.tape
    places = structure.scalar_inputs
    if not structure.alone or ids is None or places is None:
        return None
    lows = linear.lowest_records(tape, structure.apart, ids)
    kept = rows.starts[1:] > rows.starts[:-1]
    if not kept.all():  # constants have no entries, and no records to be swept
        lows[~kept] = NONE
    records = int(np.where(lows == NONE, 0, ids.astype(np.int64) - lows + 1).sum())
    if (lows == 0).any() or records > max(FEW, sweeps / LANES) * len(tape):
        return None
    found = places[rows.ids]
    return Own(ids, lows, rows.starts, found) if found.all() else None


def _harvest(structure: Structure) -> tuple[list[tuple[int, Any]], Any, Any, int]:
    """The places where cotangents are read off, and the number of each input there."""
    reads = linear.reads_of(structure.back.tape, structure.apart)
    found = [part.ravel() for part, _ in structure.taken]
    taken = [(part.size, place) for part, place in structure.taken]
    every = np.concatenate([np.zeros(0, np.uint32), *found, structure.slots.ids(structure.slots.of_ids(reads))])
    place_of = np.zeros(int(every.max(initial=0)) + 1, np.int64)
    place_of[every] = np.arange(every.size)
    return taken, reads, place_of, int(every.size)


def _colours(by_rows: Graph, entries: Graph) -> tuple[Any, Any]:
    """Colours of rows and of columns (rows only, columns only, or both); -1 for those that are not swept."""
    of_rows, of_columns = _coloured_rows(by_rows), colour_columns(entries)
    no_rows, no_columns = np.full_like(of_rows, -1), np.full_like(of_columns, -1)
    rows, columns = number_of(of_rows), number_of(of_columns)
    best = min(rows, columns)
    found = (of_rows, no_columns) if rows <= columns else (no_rows, of_columns)
    if best < 8:
        return found
    for dense in _dense_rows(entries, best):
        some = _coloured_rows(_only(by_rows, dense))
        some[~dense] = -1
        rest = colour_columns(_only(entries, ~dense))
        cost = number_of(some) + number_of(rest)
        if cost < WORTH * best:
            best, found = cost, (some, rest)
    return found


def _coloured_rows(graph: Graph) -> Any:
    return colour_columns(transposed(graph))


def _dense_rows(entries: Graph, most: int) -> list[Any]:
    """Sets of a few rows with the most entries, which may each deserve a sweep of their own."""
    extents = np.diff(entries.starts)
    found, limit = [], int(extents.max(initial=0)) // 2
    while limit >= 1:
        chosen = extents > limit
        if 0 < np.count_nonzero(chosen) < most:
            found.append(chosen)
        limit //= 2
    return found


def _only(graph: Graph, rows: Any) -> Graph:
    """A pattern in which all but some rows are empty."""
    extents = np.diff(graph.starts)
    kept = np.repeat(rows, extents)
    counts = np.where(rows, extents, 0)
    return Graph(np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), graph.others[kept], graph.size)


def columns_plan(entries: Entries) -> Plan:
    """Return a plan by columns for a known pattern."""
    forward = colour_columns(Graph(entries.starts, entries.columns, entries.shape[1]))
    return _forward(entries, forward, forward[entries.columns] * entries.shape[0] + entries.rows, {})


def symmetric_plan(rows: Rows, numbers: Any, size: int, dense: dict[str, int], colouring: str) -> Plan:
    """Return a plan by columns for a symmetric matrix, such as a Hessian, of which one half suffices.

    An entry is recovered in its own row or in its column: where no other entry has the same colour, or, with an
    acyclic colouring, where the others are known (Gebremedhin, Manne and Pothen 2005, 5.2 and 6.2).
    """
    row = np.repeat(np.arange(size), np.diff(rows.starts))
    keys = distinct(np.concatenate([row * size + numbers, numbers * size + row]))
    row, column = keys // max(size, 1), keys % max(size, 1)
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=size))]).astype(np.int64)
    graph = Graph(starts, column, size)
    colours = COLOURINGS[colouring](graph)
    source = colours[column].astype(np.int64) * size + row
    left = np.bincount(source[row != column], minlength=size * number_of(colours))
    sources, rests = linear.eliminated(row, column, source, left, mirrored(graph))
    later = np.isin(rests, sources)  # sums from which another entry is read later
    found = _forward(Entries(starts, column, (size, size)), colours, source, dense)
    return found._replace(steps=(sources[later], rests[later])) if later.any() else found


#: Colourings of symmetric patterns, by their names.
COLOURINGS = {"star": colour_star, "acyclic": colour_acyclic}


def _forward(entries: Entries, forward: Any, source: Any, dense: dict[str, int]) -> Plan:
    none = np.full(entries.shape[0], -1, np.int32)
    return Plan(entries, none, forward, (0, number_of(forward)), source, None, [], [], np.zeros(0, np.uint32), dense)
