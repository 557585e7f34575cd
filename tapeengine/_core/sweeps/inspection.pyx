"""Inspection of a tape: the operations and parents of its records, and reverse sweeps in parts, to measure progress."""

from libc.stdint cimport uint32_t
from time import perf_counter

from tapeengine._core.arrays.array cimport Array
from tapeengine._core.tape.accumulation cimport Reverse, View, free_zeros, zeros
from tapeengine._core.tape.records cimport ArrayRecord
from tapeengine._core.sweeps.sweep cimport resolve
from tapeengine._core.tape.tape cimport (
    ARRAY, READ, WRITE, Head, Record, Tape, innermost_here, op_at, record_at, tape_of, value_at,
)
from tapeengine._core.sweeps.trace cimport Backpropagator, Numbers, Seeds, begin_seeds

import numpy


def open_tape():
    """The tape of the latest open trace of this thread, or None."""
    cdef Head *h = innermost_here()
    return None if h == NULL else tape_of(h)


def is_swept_back_only():
    """Whether the latest open trace of this thread supports only reverse sweeps of first order."""
    cdef Head *h = innermost_here()
    return h != NULL and not tape_of(h).keeps_tangents


def is_recorded():
    """Whether the latest open trace of this thread is a recording."""
    cdef Head *h = innermost_here()
    return h != NULL and h.guards != NULL


def last_id(Tape tape):
    """The id of the latest record."""
    return tape.head.count - 1


def value_of_id(Tape tape, uint32_t i):
    """The value of an id; None if the tape keeps no values."""
    if tape.head.values[0] == NULL or i == 0 or i >= tape.head.count:
        return None
    if i > tape.head.inputs and op_at(&tape.head, i) == ARRAY:
        return None
    return value_at(&tape.head, i)


def operation(Tape tape, uint32_t i):
    """The name of a record's operation, also for operations on arrays."""
    if op_at(&tape.head, i) != ARRAY:
        return tape.record(i)[1]
    return (<ArrayRecord> tape.arrays[record_at(&tape.head, i).p2]).name()


def has_array_records(Tape tape):
    """Whether a tape has records that read or write arrays."""
    cdef uint32_t i
    if len(tape.arrays):
        return True
    for i in range(tape.head.inputs + 1, tape.head.count if tape.place_count else 0):
        if op_at(&tape.head, i) == READ or op_at(&tape.head, i) == WRITE:
            return True
    return False


def array_parents(Tape tape):
    """For each record that reads arrays, the records that made or last wrote those arrays; {id: ids}."""
    cdef Head *h = &tape.head
    cdef Record *r
    cdef ArrayRecord record
    cdef uint32_t i
    writers, found = {}, {}
    for i in range(h.inputs + 1, h.count if tape.place_count or tape.arrays else 0):
        r = record_at(h, i)
        kind = op_at(h, i)
        if kind == READ or kind == WRITE:
            scalar = [<uint32_t> r.d1] if kind == WRITE and r.d1 != 0.0 else []
            found[i] = tuple(scalar + ([writers[r.p2]] if r.p2 in writers else []))
            if kind == WRITE:
                writers[r.p2] = i
        elif kind == ARRAY:
            record = <ArrayRecord> tape.arrays[r.p2]
            written = [(<View> place).storage for place in record.writes() if type(place) is View]
            parents = [writers[storage] for storage in written if storage in writers]   # targets overwritten in part
            for _, place in record.reads():
                if type(place) is not View and place is not None:
                    parents.append(int(place))
                elif place is not None and (<View> place).storage in writers:
                    parents.append(writers[(<View> place).storage])
            found[i] = tuple(parents)
            for storage in written:
                writers[storage] = i
    return found


def kept_bytes(Tape tape):
    """Bytes of the arrays that records keep alive, {id: bytes}; an array counts once, for the first such record."""
    cdef Head *h = &tape.head
    cdef uint32_t i
    seen, found = {}, {}
    for i in range(h.inputs + 1, h.count):
        if op_at(h, i) != ARRAY:
            continue
        total = 0
        for value in arrays_in((<ArrayRecord> tape.arrays[record_at(h, i).p2]).keeps()):
            while type(value.base) is numpy.ndarray:    # a view keeps its whole base alive
                value = value.base
            if id(value) not in seen:
                seen[id(value)] = value
                total += value.nbytes
        if total:
            found[i] = total
    return found


cdef list arrays_in(object value):
    """The plain arrays in nested tuples and lists, including those behind arrays of an outer trace."""
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in arrays_in(part)]
    if type(value) is Array:
        return arrays_in((<Array> value).current())
    return [value] if type(value) is numpy.ndarray else []


cdef class PartialSweep:
    """A reverse sweep over plain numbers that can be stopped at any id."""

    def __cinit__(self, Backpropagator back, cotangent):
        cdef Seeds seeds
        self.back = back
        self.cotangent = <double *> zeros(back.tape.head.count, sizeof(double))
        seeds = begin_seeds(back.result, back.structures, "cotangent", self.cotangent)
        seeds.match(cotangent)
        self.r = Reverse.__new__(Reverse)
        self.r.begin(back.tape, self.cotangent)
        back.seed_arrays(self.r, seeds)
        self.at = back.tape.head.count - 1

    def __dealloc__(self):
        free_zeros(self.cotangent)

    cdef int down_to(self, uint32_t lowest) except -1:
        """Resolve the remaining ids, down to `lowest`."""
        cdef Head *h = &self.back.tape.head
        cdef uint32_t inputs = h.inputs
        if lowest > self.at or self.at <= inputs:
            return 0
        h.inputs = max(inputs, lowest - 1)      # a sweep ends there
        try:
            resolve(self.back.tape, self.r, self.at, NULL)
        finally:
            h.inputs = inputs
        self.at = lowest - 1
        return 0


def reverse_times(Backpropagator back, cotangent, list starts):
    """The seconds that the reverse sweep spends in each part of the tape; the parts begin at the ids `starts`."""
    cdef PartialSweep sweep = PartialSweep(back, cotangent)
    cdef Py_ssize_t k
    seconds = [0.0] * len(starts)
    for k in range(len(starts) - 1, -1, -1):
        before = perf_counter()
        sweep.down_to(starts[k])
        seconds[k] = perf_counter() - before
    return seconds


def swept(Backpropagator back, cotangent, Py_ssize_t parts, progress):
    """Call a backpropagator in parts, with a call of ``progress(number of records resolved)`` after each part."""
    cdef PartialSweep sweep = PartialSweep(back, cotangent)
    cdef Head *h = &back.tape.head
    cdef uint32_t records = h.count - 1 - h.inputs, lowest
    cdef Py_ssize_t k
    cdef Numbers numbers = Numbers.__new__(Numbers)
    for k in range(parts - 1, -1, -1):
        lowest = h.inputs + 1 + <uint32_t> (<unsigned long long> records * k // parts)
        before = sweep.at
        sweep.down_to(lowest)
        if before != sweep.at:
            progress(before - sweep.at)
    numbers.cotangent = sweep.cotangent
    numbers.sweep = sweep.r
    return back.rebuild(numbers)
