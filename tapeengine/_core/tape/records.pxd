# The interface between sweeps and the records of array operations.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.blocks cimport Rows, Tangents
from tapeengine._core.tape.tape cimport Head

cdef class ArrayRecord:
    cdef int reverse(self, Reverse r, uint32_t id) except -1
    cdef int forward(self, Reverse r, uint32_t id) except -1
    cdef bint reverse_rows(self, Rows rows, uint32_t id) except -1
    cdef bint forward_columns(self, Tangents t, uint32_t id) except -1
    cdef list reads(self)
    cdef list writes(self)
    cdef object keeps(self)
    cdef object called(self)
    cdef dict operands(self)
    cdef object name(self)
    cdef object detail(self)
    cdef int depend(self, object walk, uint32_t id) except -1
    cdef object parts(self, object walk, uint32_t id)
    cdef bint adds(self)

cdef uint32_t record_array(Head *h, ArrayRecord record, double value) except 0
