# The reverse and the forward sweep over plain numbers.
from libc.stdint cimport uint32_t

from tapeengine._core.sweeps.recorded cimport RecordedReverse
from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.nested cimport Copies
from tapeengine._core.tape.tape cimport Tape

cdef struct Counts:
    Py_ssize_t calls            # backpropagators called: records with a non-zero cotangent
    Py_ssize_t contributions

cdef int resolve(Tape tape, Reverse r, uint32_t top, Counts *counts) except -1
cdef int push_special(Tape tape, Reverse r, uint32_t i) except -1
cdef int push(Tape tape, Reverse r) except -1
cdef int push_recorded(Tape tape, Copies copies, RecordedReverse r) except -1
