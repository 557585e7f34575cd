# The backpropagator, and the two ends of a sweep: staging cotangents, and putting results together.
from libc.stdint cimport uint32_t
from tapeengine._core.structures.interleave cimport Layout, Leaves, Matcher
from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.sweeps.sweep cimport Counts, RecordedReverse
from tapeengine._core.tape.nested cimport te_scalar
from tapeengine._core.tape.tape cimport Head, Tape

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
