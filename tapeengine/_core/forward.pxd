# The forward sweep: tangents of all ids, from the lowest to the highest.
from tapeengine._core.nested cimport Copies
from tapeengine._core.recorded cimport RecordedReverse
from tapeengine._core.records cimport Reverse
from tapeengine._core.tape cimport Tape

cdef int push(Tape tape, Reverse r) except -1
cdef int push_recorded(Tape tape, Copies copies, RecordedReverse r) except -1
