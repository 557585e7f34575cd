"""Non-finite numbers: finds the first record that produces one, in its value, its partials or a sweep.

The sweeps here go record by record and check what each record has added: to its parents' cotangents in a reverse sweep,
to its own tangent in a forward one. They are for tapes that a debug switch watches, which hold no records of kernels.
"""

from collections import namedtuple

from libc.math cimport isfinite
from libc.stdint cimport uint32_t

from tapeengine._core.sweeps.sweep cimport push_special
from tapeengine._core.sweeps.inspection cimport PartialSweep
from tapeengine._core.sweeps.linear cimport staged
from tapeengine._core.tape.accumulation cimport Reverse, View, free_zeros, zeros
from tapeengine._core.tape.records cimport ArrayRecord
from tapeengine._core.tape.tape cimport ARRAY, SPECIAL, Head, Record, Tape, op_at, record_at, value_at
from tapeengine._core.sweeps.trace cimport Backpropagator, Seeds

import numpy

#: A record (0: the staged cotangent or tangent), the argument whose cotangent is not finite (None: the result's
#: tangent), that cotangent or tangent, and the cotangents of the result or tangents of the arguments behind it.
Fault = namedtuple("Fault", "id argument found incoming")


def watch(Tape tape, watcher):
    """Notify a watcher of each array operation when it is recorded, and of each sweep."""
    tape.watcher = watcher


def watcher_of(Tape tape):
    """The watcher of a tape, or None."""
    return tape.watcher


def primitive_of(Tape tape, uint32_t i):
    """The primitive that an array record calls; None for other records."""
    if op_at(&tape.head, i) != ARRAY:
        return None
    return (<ArrayRecord> tape.arrays[record_at(&tape.head, i).p2]).called()


def operands_of(Tape tape, uint32_t i):
    """The values of a primitive's arguments that its record keeps, by the argument's number."""
    if op_at(&tape.head, i) != ARRAY:
        return {}
    return (<ArrayRecord> tape.arrays[record_at(&tape.head, i).p2]).operands()


def first_not_finite(Tape tape, uint32_t first, uint32_t last):
    """The first scalar record among ids whose value or partial is not finite, as (id, what); None if there is none."""
    cdef Head *h = &tape.head
    cdef Record *r
    cdef uint32_t i
    cdef int kind
    first = max(first, h.inputs + 1)
    for i in range(first, min(last + 1, h.count)):
        kind = op_at(h, i)
        if tape.keeps_values and kind != ARRAY and not isfinite(value_at(h, i)):
            return i, "value"
        if kind >= SPECIAL:
            continue
        r = record_at(h, i)
        if not isfinite(r.d1) or (r.p2 != i and not isfinite(r.d2)):
            return i, "partial"
    return None


cdef object held(Reverse r, object place):
    """The cotangents or tangents of a place; None where they are zero."""
    if place is None:
        return None
    return r.part(<View> place) if type(place) is View else r.scalar(<uint32_t> place)


cdef bint finite(object found) except -1:
    return found is None or bool(numpy.isfinite(found).all())


# -- the reverse sweep -------------------------------------------------------------------------------------------------
def cotangent_fault(Backpropagator back, cotangent):
    """The first step of a reverse sweep that produces a non-finite cotangent; None if there is none."""
    cdef PartialSweep sweep = PartialSweep(back, cotangent)
    cdef Head *h = &back.tape.head
    cdef uint32_t i
    for i in range(1, h.count):
        if not isfinite(sweep.cotangent[i]):
            return Fault(0, None, sweep.cotangent[i], [])
    for owner in sweep.r.owners or ():
        if not finite(owner):
            return Fault(0, None, owner, [])
    for i in range(h.count - 1, h.inputs, -1):
        fault = special_cotangent(sweep, i) if op_at(h, i) >= SPECIAL else scalar_cotangent(sweep, i)
        if fault is not None:
            return fault
    return None


cdef object scalar_cotangent(PartialSweep sweep, uint32_t i):
    cdef Record *r = record_at(&sweep.back.tape.head, i)
    cdef double c = sweep.cotangent[i]
    sweep.down_to(i)
    if not isfinite(sweep.cotangent[r.p1]):
        return Fault(i, 0, sweep.cotangent[r.p1], [c])
    if r.p2 != i and not isfinite(sweep.cotangent[r.p2]):
        return Fault(i, 1, sweep.cotangent[r.p2], [c])
    return None


cdef object special_cotangent(PartialSweep sweep, uint32_t i):
    """Resolve an array record, and check the cotangents that it adds to."""
    cdef Tape tape = sweep.back.tape
    cdef ArrayRecord entry
    if op_at(&tape.head, i) != ARRAY:
        sweep.down_to(i)
        return None
    entry = <ArrayRecord> tape.arrays[record_at(&tape.head, i).p2]
    incoming = [held(sweep.r, place) for place in entry.writes()]
    incoming = [part.copy() if isinstance(part, numpy.ndarray) else part for part in incoming]  # a write clears it
    sweep.down_to(i)
    for argument, place in entry.reads():
        found = held(sweep.r, place)
        if not finite(found):
            return Fault(i, argument, found, incoming)
    return None


# -- the forward sweep -------------------------------------------------------------------------------------------------
def tangent_fault(Backpropagator back, tuple tangents):
    """The first step of a forward sweep that produces a non-finite tangent; None if there is none."""
    cdef Tape tape = back.tape
    cdef Head *h = &tape.head
    cdef uint32_t i, end = h.count
    cdef double *array = <double *> zeros(h.count, sizeof(double))
    cdef Reverse r = Reverse.__new__(Reverse)
    cdef Seeds seeds
    try:
        seeds = staged(back, tangents, array)
        r.begin(tape, array)
        back.seed_arrays(r, seeds)
        for i in range(1, h.inputs + 1):
            if not isfinite(array[i]):
                return Fault(0, None, array[i], [])
        for owner in r.owners or ():
            if not finite(owner):
                return Fault(0, None, owner, [])
        for i in range(h.inputs + 1, end):
            fault = special_tangent(tape, r, i) if op_at(h, i) >= SPECIAL else scalar_tangent(h, array, i)
            if fault is not None:
                return fault
        return None
    finally:
        free_zeros(array)


cdef object scalar_tangent(Head *h, double *array, uint32_t i):
    cdef Record *r = record_at(h, i)
    cdef double t = array[r.p1] * r.d1 if array[r.p1] != 0.0 else 0.0
    if r.p2 != i and array[r.p2] != 0.0:
        t += array[r.p2] * r.d2
    array[i] = t
    return None if isfinite(t) else Fault(i, None, t, [array[r.p1]] if r.p2 == i else [array[r.p1], array[r.p2]])


cdef object special_tangent(Tape tape, Reverse r, uint32_t i):
    cdef int kind = op_at(&tape.head, i)
    cdef ArrayRecord entry
    push_special(tape, r, i)
    if kind != ARRAY:
        return None
    entry = <ArrayRecord> tape.arrays[record_at(&tape.head, i).p2]
    for place in entry.writes():
        found = held(r, place)
        if not finite(found):
            return Fault(i, None, found, [held(r, parent) for _, parent in entry.reads()])
    return None
