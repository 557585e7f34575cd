# The derivative of a reverse sweep along a direction.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.tape cimport Tape

cdef uint32_t resolve_second(
    Tape tape, double *tangent, double *cotangent, double *dotted, uint32_t top) except? 0
