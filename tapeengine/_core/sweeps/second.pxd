# The derivative of a reverse sweep along a direction.
from libc.stdint cimport uint32_t
from tapeengine._core.arrays.array cimport ProgramRecord
from tapeengine._core.tape.tape cimport Tape

cdef bint resolve_second(
    Tape tape, dict along, double *tangent, double *cotangent, double *dotted, uint32_t top) except -1
cdef ProgramRecord program_at(Tape tape, uint32_t i)
