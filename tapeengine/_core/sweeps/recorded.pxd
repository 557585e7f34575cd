# The reverse sweep with every step recorded on an outer tape.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.nested cimport Copies, te_scalar
from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.tape cimport Head, Tape

cdef class RecordedReverse(Reverse):
    cdef te_scalar *scalars     # cotangents, by id
    cdef Head *outer
    cdef Tape outer_tape
    cdef uint32_t tag           # of the outer trace
    cdef int begin_on(self, Tape tape, te_scalar *scalars, Head *outer) except -1
    cdef int check_open(self) except -1

cdef int resolve_recorded(Tape tape, Copies copies, RecordedReverse r, uint32_t top) except -1
