# Straight lines of instructions.
from libc.stdint cimport uint8_t, uint32_t
from tapeengine._core.structures.interleave cimport Layout
from tapeengine._core.sweeps.trace cimport Backpropagator

cdef extern from "replay.h" nogil:
    ctypedef struct te_operands:
        uint32_t a, b
    uint32_t te_replay(const uint8_t *op, const te_operands *operands, const double *constants, double *v, uint32_t i,
                       uint32_t end)
    void te_replay_back(const uint8_t *op, const te_operands *operands, const double *v, double *ct, uint32_t last,
                        uint32_t first)

cdef class Path:            # one way through a program: a straight line of instructions
    cdef uint8_t *op
    cdef te_operands *operands
    cdef double *constants
    cdef readonly uint32_t first, end   # registers of the first instruction and after the last; inputs come before
    cdef readonly uint32_t guards
    cdef readonly long used
    cdef uint32_t constant_count
    cdef Layout outputs     # ids are registers
    cdef tuple known        # of the value: what is no register
    cdef readonly dict forks    # register of a guard -> paths that go another way there
    cdef int room(self, Py_ssize_t registers, Py_ssize_t constants) except -1
    cdef void fit(self) noexcept
    cdef uint32_t run(self, double *v, uint32_t i) except? 0
    cdef int sweep(self, double *v, double *ct, uint32_t top) except -1
    cdef bint same(self, Path other, uint32_t i) noexcept
    cdef uint32_t parting(self, Path other, uint32_t i) noexcept
    cdef object value(self, double *v)
    cdef object traced_value(self, double *v, Backpropagator back)

cdef Path path_of(Backpropagator back, object value, object structures)
cdef tuple written(Path path, double *v, list duals)
