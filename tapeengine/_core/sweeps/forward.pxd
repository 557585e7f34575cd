# The forward sweep: tangents of all ids, from the lowest to the highest.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.nested cimport Copies
from tapeengine._core.sweeps.recorded cimport RecordedReverse
from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.tape cimport Tape

cdef uint32_t push_scalars(Tape tape, double *tangent, uint32_t i, uint32_t end) except? 0
cdef int push_special(Tape tape, Reverse r, uint32_t i) except -1
cdef int push(Tape tape, Reverse r) except -1
cdef int push_recorded(Tape tape, Copies copies, RecordedReverse r) except -1
