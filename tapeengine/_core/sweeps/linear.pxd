# Functions that the transforms' sweeps share.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.accumulation cimport ArrayRecord, Block, Lifetimes, Reverse, Rows, Tangents
from tapeengine._core.tape.tape cimport Record, Tape

cdef class Single(Reverse):     # one tangent of a batch
    cdef int start(self, Tape tape) except -1

cdef class Batch(Tangents):
    cdef Single single      # made when tangents are first swept one by one
    cdef int element(self, Record *record, int kind, uint32_t i) except -1
    cdef int one_by_one(self, uint32_t i, ArrayRecord record) except -1
    cdef int lend(self, Py_ssize_t k, uint32_t s) except -1
    cdef int take(self, Py_ssize_t k, uint32_t s) except -1
    cdef int special(self, uint32_t i) except -1
    cdef int sweep(self) except -1

cdef Lifetimes lifetimes_of(Tape tape, list outputs)
cdef list places_of(list layouts)
cdef int take_out(Block block, list places, object into) except -1
cdef Py_ssize_t fair(Py_ssize_t count, Py_ssize_t most) noexcept
cdef Py_ssize_t most_rows(Tape tape) noexcept
cdef Py_ssize_t most_columns(Tape tape) noexcept
cdef int resolve_rows(Rows rows, uint32_t top) except -1
