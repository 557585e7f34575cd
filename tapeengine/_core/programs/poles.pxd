# The test for finite elements: compiled with vector instructions in this module alone.
from libc.stdint cimport int64_t

cdef bint all_finite(const double *x, int64_t n) noexcept nogil
