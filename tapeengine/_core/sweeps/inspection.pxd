# Partial sweeps, for inspection.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.sweeps.trace cimport Backpropagator

cdef class PartialSweep:
    cdef Backpropagator back
    cdef Reverse r
    cdef double *cotangent
    cdef uint32_t at
    cdef int down_to(self, uint32_t lowest) except -1
