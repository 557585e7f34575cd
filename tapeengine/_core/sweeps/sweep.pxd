# The reverse and the forward sweep, over plain numbers or recorded on an outer tape.
from libc.stdint cimport uint32_t

from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.nested cimport Copies, te_scalar
from tapeengine._core.tape.tape cimport Head, Tape

cdef struct Counts:
    Py_ssize_t calls            # backpropagators called: records with a non-zero cotangent
    Py_ssize_t contributions

cdef class RecordedReverse(Reverse):
    cdef te_scalar *scalars     # cotangents, by id
    cdef Head *outer
    cdef Tape outer_tape
    cdef uint32_t tag           # of the outer trace
    cdef int begin_on(self, Tape tape, te_scalar *scalars, Head *outer) except -1
    cdef int check_open(self) except -1

cdef int resolve(Tape tape, Reverse r, uint32_t top, Counts *counts) except -1
cdef int push_special(Tape tape, Reverse r, uint32_t i) except -1
cdef int push(Tape tape, Reverse r) except -1
cdef int resolve_recorded(Tape tape, Copies copies, RecordedReverse r, uint32_t top) except -1
cdef int push_recorded(Tape tape, Copies copies, RecordedReverse r) except -1
