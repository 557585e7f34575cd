# Recorded scalar programs, run again.
from libc.stdint cimport uint32_t
from tapeengine._core.programs.paths cimport Path

cdef class Registers:       # the values of one run
    cdef Plan plan
    cdef double *v
    cdef uint32_t room

cdef class Plan:            # all paths for arguments of one form
    cdef uint32_t most      # registers of the longest path
    cdef double *spare_values
    cdef double *spare_cotangents
    cdef object structures
    cdef list primals       # a layout for each argument
    cdef tuple known        # discrete leaves
    cdef readonly list paths
    cdef readonly uint32_t inputs
    cdef Registers read(self, tuple primals, list duals=*)
    cdef Registers take(self)
    cdef double *cotangents(self) except NULL
    cdef void give_back(self, double *ct, uint32_t room, bint clean) noexcept
    cdef void grown(self, Path path) noexcept
    cdef Path run(self, double *v)
    cdef int fork(self, Path path, Path made, uint32_t i) except -1
