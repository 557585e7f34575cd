# The sweeps, and the backpropagator.
from libc.stdint cimport uint32_t
from tapeengine._core.structures.interleave cimport Layout, Leaves, Matcher
from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.tape cimport Copies, te_scalar
from tapeengine._core.tape.tape cimport Head, Tape

# The reverse and the forward sweep, over plain numbers or recorded on an outer tape.
cdef struct Counts:
    Py_ssize_t calls            # backpropagators called: records with a non-zero cotangent
    Py_ssize_t contributions

cdef class RecordedReverse(Reverse):
    cdef te_scalar *scalars     # cotangents, by id
    cdef Head *outer
    cdef Tape outer_tape
    cdef uint32_t tag           # of the outer trace
    cdef int begin_on(self, Tape tape, te_scalar *scalars, Head *outer) except -1
    cdef int check_open(self) except -1

cdef int resolve(Tape tape, Reverse r, uint32_t top, Counts *counts) except -1
cdef int push_special(Tape tape, Reverse r, uint32_t i) except -1
cdef uint32_t push_scalars(Tape tape, double *tangent, uint32_t i, uint32_t end) except? 0
cdef int push(Tape tape, Reverse r) except -1
cdef int push_recorded(Tape tape, Copies copies, RecordedReverse r) except -1

# The two ends of a sweep: staging cotangents, and putting results together.
cdef class Seeds(Matcher):
    cdef double *cotangent
    cdef uint32_t top
    cdef list duals         # [(id, dual)] staged cotangents that are themselves being differentiated
    cdef list arrays        # [(View, array)]
    cdef uint32_t tag(self) noexcept

cdef class Numbers(Leaves):
    cdef double *cotangent
    cdef Reverse sweep

cdef class Recorded(Leaves):
    cdef RecordedReverse sweep

cdef class Backpropagator:
    cdef readonly Tape tape
    cdef list primals
    cdef Layout result
    cdef object structures
    cdef public object way      # what wrote the tape, if it writes the same records each time
    cdef object run(self, object cotangent, Counts *counts)
    cdef int seed_arrays(self, Reverse r, Seeds seeds) except -1
    cdef object rebuild(self, Leaves leaves)
    cdef Head *outer(self, Seeds seeds) noexcept
    cdef object run_recorded(self, Seeds seeds, Head *outer)
    cdef Recorded begin_recorded(self, Seeds seeds, te_scalar *array, Head *outer)

cdef Seeds begin_seeds(Layout layout, object structures, object root, double *array)
