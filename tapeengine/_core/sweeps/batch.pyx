"""Many tangents through one tape with arrays, swept forwards record by record: Jacobians by blocks of columns.

A record sweeps all tangents at once if it can, otherwise one after the other.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t
cimport cython
from tapeengine._core.tape cimport numpy_c as cnp
from tapeengine._core.tape.numpy_c cimport PyArray_DATA, ndarray

from tapeengine._core.sweeps.sweep cimport push_special
from tapeengine._core.tape.accumulation cimport Reverse, View, free_zeros, zeros
from tapeengine._core.tape.records cimport ArrayRecord
from tapeengine._core.tape.blocks cimport (
    Lifetimes, Tangents, push_scalars, te_rows_clear, te_rows_gather, te_rows_scatter, te_rows_zero,
)
from tapeengine._core.tape.tape cimport ARRAY, READ, WRITE, Head, Record, Tape, op_at, record_at

cnp.import_array()

cdef enum:
    LOOK = 1 << 17      # records, times tangents, between two checks for interrupts


cdef tuple touched(ArrayRecord record):
    """The storages, and the ids of scalars, that an array record reads or writes."""
    places = [place for _, place in record.reads()] + record.writes()
    storages = {(<View> place).storage for place in places if type(place) is View}
    return storages, {place for place in places if type(place) is int}


cdef Lifetimes lifetimes_of(Tape tape, list lasting):
    """The last uses of each storage in a forward sweep over a tape; the storages `lasting` are read after it."""
    cdef Lifetimes found = Lifetimes.__new__(Lifetimes)
    cdef Head *h = &tape.head
    cdef uint32_t i
    cdef int kind
    found.begin(tape.place_count)
    if tape.place_count == 0:
        return found
    for i in range(h.inputs + 1, h.count):
        kind = op_at(h, i)
        if kind == READ or kind == WRITE:
            found.last[record_at(h, i).p2] = i
        elif kind == ARRAY:
            for storage in touched(<ArrayRecord> tape.arrays[record_at(h, i).p2])[0]:
                found.last[<uint32_t> storage] = i
    found.finish(lasting)
    return found


@cython.final
cdef class Single(Reverse):
    """A single tangent, which borrows the rows of the storages of one record at a time."""

    def __dealloc__(self):
        free_zeros(self.cotangent)

    cdef int start(self, Tape tape) except -1:
        self.forward = True
        return self.begin(tape, <double *> zeros(tape.head.count, sizeof(double)))


cdef class Batch(Tangents):
    """A forward sweep of several tangents over one tape."""

    cdef int element(self, Record *record, int kind, uint32_t i) except -1:
        """Sweep a read or a write of one element."""
        cdef Py_ssize_t place = <Py_ssize_t> record.d2, row = self.tape.places[record.p2].size
        cdef uint32_t source = <uint32_t> record.d1 if kind == WRITE else 0
        cdef double *block
        if self.blocks[record.p2] is None:
            if kind == READ or source == 0 or te_rows_zero(self.scalars_of(source), self.width):
                return 0
            self.allocate(record.p2, True)
        block = <double *> self.data(record.p2) + place
        if kind == READ:
            te_rows_gather(self.scalars_of(i), block, row, self.width)
        else:
            te_rows_clear(block, row, self.width)
            if source:
                te_rows_scatter(block, self.scalars_of(source), row, self.width)
        return 0

    # -- one by one -----------------------------------------------------------------------------------------------------
    cdef int one_by_one(self, uint32_t i, ArrayRecord record) except -1:
        """Sweep an array record for each tangent separately, in the rows of the blocks that it touches."""
        cdef Py_ssize_t k
        storages, ids = touched(record)
        if self.single is None:
            self.single = Single.__new__(Single)
            self.single.start(self.tape)
        for k in range(self.width):
            for s in storages:
                self.lend(k, s)
            for id in ids:
                self.single.cotangent[<uint32_t> id] = self.scalars_of(id)[k]
            push_special(self.tape, self.single, i)
            for id in ids:
                self.scalars_of(id)[k] = self.single.cotangent[<uint32_t> id]
            for s in storages:
                self.take(k, s)
        return 0

    cdef int lend(self, Py_ssize_t k, uint32_t s) except -1:
        """Make a row of a storage's block the buffer of the single tangent."""
        if self.blocks[s] is not None:
            self.single.owners[s] = row = self.blocks[s][k]
            self.single.data[s] = <char *> PyArray_DATA(<ndarray> row)
        return 0

    cdef int take(self, Py_ssize_t k, uint32_t s) except -1:
        """Copy a buffer that the single tangent got for a storage without a block into the block, and release it."""
        if self.blocks[s] is None and self.single.owners[s] is not None:
            self.allocate(s, True)
            self.blocks[s][k] = self.single.owners[s].reshape(-1)
        self.single.drop(s)
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
        cdef uint32_t i = self.tape.head.inputs + 1, highest, look = <uint32_t> (LOOK // self.width)
        while i < self.records:
            highest = min(i + look, self.records - 1)
            while i <= highest:
                with nogil:
                    i = push_scalars(&self.tape.head, self.scalars, self.width, i, highest)
                if i <= highest:
                    self.special(i)
                    self.release(i)
                    i += 1
            PyErr_CheckSignals()
        return 0
