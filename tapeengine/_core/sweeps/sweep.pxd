# The reverse sweep over plain numbers (DN Fig. 9, resolve).
from libc.stdint cimport uint32_t
from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.tape cimport Tape

cdef struct Counts:
    Py_ssize_t calls            # backpropagators called: records with a non-zero cotangent
    Py_ssize_t contributions

cdef int resolve(Tape tape, Reverse r, uint32_t top, Counts *counts) except -1
