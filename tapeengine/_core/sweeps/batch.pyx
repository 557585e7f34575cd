"""Many tangents through one tape with arrays, swept forwards record by record: Jacobians by blocks of columns.

A record sweeps all tangents at once if it can, otherwise one after the other.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t
cimport numpy as cnp
from numpy cimport PyArray_DATA, ndarray

from tapeengine._core.sweeps.forward cimport push_scalars, push_special
from tapeengine._core.tape.accumulation cimport Reverse, View
from tapeengine._core.tape.lifetimes cimport Lifetimes
from tapeengine._core.tape.records cimport ArrayRecord
from tapeengine._core.tape.tangents cimport Tangents
from tapeengine._core.tape.tape cimport ARRAY, READ, WRITE, Head, Record, Tape, op_at, record_at

cnp.import_array()

cdef enum:
    SIGNAL_RECORDS = 4096   # special records between two checks for interrupts


cdef set touched(ArrayRecord record):
    """The storages that an array record reads or writes."""
    places = [place for _, place in record.reads()] + record.writes()
    return {(<View> place).storage for place in places if type(place) is View}


cdef Lifetimes lifetimes_of(Tape tape, list lasting):
    """The last uses of each storage in a forward sweep over a tape; the storages `lasting` are read after it."""
    cdef Lifetimes found = Lifetimes.__new__(Lifetimes)
    cdef Head *h = &tape.head
    cdef uint32_t i
    cdef int kind
    found.begin(tape.place_count)
    for i in range(h.inputs + 1, h.count):
        kind = op_at(h, i)
        if kind == READ or kind == WRITE:
            found.last[record_at(h, i).p2] = i
        elif kind == ARRAY:
            for storage in touched(<ArrayRecord> tape.arrays[record_at(h, i).p2]):
                found.last[<uint32_t> storage] = i
    found.finish(lasting)
    return found


cdef class Batch(Tangents):
    """A forward sweep of several tangents over one tape."""

    cdef int element(self, Record *record, int kind, uint32_t i) except -1:
        """Sweep a read or a write of one element."""
        cdef Py_ssize_t k, place = <Py_ssize_t> record.d2, row = self.tape.places[record.p2].size
        cdef uint32_t source = <uint32_t> record.d1 if kind == WRITE else 0
        cdef double *block
        if self.blocks[record.p2] is None:
            if kind == READ or source == 0 or self.scalar_is_zero(source):
                return 0
            self.allocate(record.p2)
        block = <double *> self.data(record.p2) + place
        for k in range(self.width):
            if kind == READ:
                self.scalars[k * self.records + i] = block[k * row]
            else:
                block[k * row] = self.scalars[k * self.records + source] if source else 0.0
        return 0

    # -- one by one -----------------------------------------------------------------------------------------------------
    cdef int one_by_one(self, uint32_t i, ArrayRecord record) except -1:
        """Sweep an array record for each tangent separately, in the rows of the blocks that it touches."""
        cdef Reverse r
        storages = touched(record)
        if self.single is None:
            self.single = [self.alone(k) for k in range(self.width)]
        for k in range(self.width):
            r = <Reverse> self.single[k]
            for s in storages:
                self.lend(r, k, s)
            push_special(self.tape, r, i)
        for s in storages:
            self.take(s)
        return 0

    cdef Reverse alone(self, Py_ssize_t k):
        cdef Reverse r = Reverse.__new__(Reverse)
        r.begin(self.tape, self.scalars + k * self.records)
        return r

    cdef int lend(self, Reverse r, Py_ssize_t k, uint32_t s) except -1:
        """Make a row of a storage's block the buffer of a single tangent."""
        if self.blocks[s] is not None:
            r.owners[s] = row = self.blocks[s][k]
            r.data[s] = <char *> PyArray_DATA(<ndarray> row)
        return 0

    cdef int take(self, uint32_t s) except -1:
        """Copy the buffers that single tangents have for a storage into its block, and release them."""
        cdef Reverse r
        cdef Py_ssize_t k
        fresh = self.blocks[s] is None
        if fresh and any([(<Reverse> r).owners[s] is not None for r in self.single]):
            self.allocate(s)
        for k in range(self.width):
            r = <Reverse> self.single[k]
            if fresh and r.owners[s] is not None:
                self.blocks[s][k] = r.owners[s].reshape(-1)
            r.drop(s)
        return 0

    # -- the sweep ------------------------------------------------------------------------------------------------------
    cdef int special(self, uint32_t i) except -1:
        """Sweep an element access or an array record."""
        cdef Record *record = record_at(&self.tape.head, i)
        cdef int kind = op_at(&self.tape.head, i)
        cdef ArrayRecord entry
        if kind == READ or kind == WRITE:
            return self.element(record, kind, i)
        if kind != ARRAY:
            return 0
        entry = <ArrayRecord> self.tape.arrays[record.p2]
        if not entry.forward_columns(self, i):
            self.one_by_one(i, entry)
        return 0

    cdef int sweep(self) except -1:
        """Compute the tangents of all records, in the order of the tape."""
        cdef uint32_t i = self.tape.head.inputs + 1, stop = i
        cdef Py_ssize_t until_signals = SIGNAL_RECORDS, k
        while i < self.records:
            for k in range(self.width):
                stop = push_scalars(self.tape, self.scalars + k * self.records, i, self.records)
            i = stop
            if i < self.records:
                self.special(i)
                self.release(i)
                i += 1
            until_signals -= 1
            if until_signals == 0:
                until_signals = SIGNAL_RECORDS
                PyErr_CheckSignals()
        return 0
