# The tangents of a tape's ids and storages along many directions at once.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.lifetimes cimport Lifetimes
from tapeengine._core.tape.accumulation cimport View
from tapeengine._core.tape.tape cimport Tape

cdef class Tangents:
    cdef Tape tape
    cdef Py_ssize_t width
    cdef uint32_t records, storages     # counts when the sweep began; rules may record more on the tape
    cdef double *scalars                # `width` contiguous numbers for each id
    cdef size_t count                   # of these numbers
    cdef list blocks                    # by storage: an array of shape (width, size), or None for zeros
    cdef dict spare                     # (size, type): blocks to reuse
    cdef Lifetimes lifetimes
    cdef object weights                 # of the random combination of directions by which a rule is checked
    cdef int begin(self, Tape tape, Py_ssize_t width, Lifetimes lifetimes) except -1
    cdef object fresh(self, uint32_t storage)
    cdef int allocate(self, uint32_t storage) except -1
    cdef int release(self, uint32_t id) except -1
    cdef int give_back(self, uint32_t storage) except -1
    cdef char *data(self, uint32_t storage) noexcept
    cdef Py_ssize_t row(self, uint32_t storage) noexcept
    cdef object part(self, View view)
    cdef object scalar(self, uint32_t id)
    cdef double *scalars_of(self, uint32_t id) noexcept nogil
    cdef object of(self, object place)
    cdef int put(self, View output, object total) except -1
    cdef int put_scalar(self, uint32_t id, object total) except -1

cdef object aligned(object tangents, Py_ssize_t axes)
