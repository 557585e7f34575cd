# The accumulation of a reverse sweep, and the geometry of arrays.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.numpy_c cimport ndarray, npy_intp
from tapeengine._core.tape.tape cimport Tape

cdef class View:            # the geometry of an array within its storage; holds no values
    cdef uint32_t storage
    cdef int ndim, type
    cdef bint whole         # C-contiguous, and all of the storage
    cdef bint imaginary     # the imaginary parts of a complex storage
    cdef bint number        # a number, which is no array of shape ()
    cdef uint32_t epoch     # in a recording, when an operation reads it: of its storage,
    cdef bint written       # whether the storage was written before, so that a record keeps a copy,
    cdef bint python        # and whether the array stands for a complex number of Python
    cdef Py_ssize_t offset  # in bytes
    cdef Py_ssize_t few[8]
    cdef Py_ssize_t *dims   # shape, then strides in bytes
    cdef bytes many         # their memory, of more than four axes

cdef class Reverse:         # one reverse sweep's accumulation
    cdef Tape tape
    cdef bint recorded      # whether the sweep is recorded on an outer tape
    cdef bint forward       # whether it is a sweep of tangents
    cdef double *cotangent  # of scalars by id
    cdef char **data        # buffers of cotangents by storage; NULL before the first contribution
    cdef list owners        # the objects that own these buffers
    cdef int begin(self, Tape tape, double *cotangent) except -1
    cdef int allocate(self, uint32_t storage, bint zero) except -1
    cdef double *place(self, uint32_t id) noexcept
    cdef object scalar(self, uint32_t id)
    cdef int add_scalar(self, uint32_t id, object value) except -1
    cdef object part(self, View view)
    cdef int add(self, View view, object contribution) except -1
    cdef int add_fitting(self, View view, object contribution) except -1
    cdef int add_parts(self, View view, object contribution) except -1
    cdef bint adopts(self, View view, object contribution) except -1
    cdef object signed(self, View view, object cotangent)
    cdef object take(self, View view, object index)
    cdef object zeros(self, View view)
    cdef int drop(self, uint32_t storage) except -1
    cdef int add_to(self, object target, object contribution) except -1
    cdef int add_at(self, object target, object index, object contribution) except -1
    cdef object of(self, object place)
    cdef int stage(self, object place, object contribution) except -1

cdef View view_of(ndarray value, uint32_t storage, Py_ssize_t offset, Py_ssize_t size)
cdef ndarray array_over(char *data, int ndim, npy_intp *dims, npy_intp *strides, int type, object owner)
cdef ndarray strided(char *data, View view, object owner)
cdef bint repeats(View view) noexcept
cdef View once(View view)
cdef View window(View view, int axis, Py_ssize_t k)
cdef int apart(View view) noexcept
cdef object fitted(object cotangent, tuple shape, Py_ssize_t rows=*)
cdef object of_type(View view, object contribution)

cdef void free_zeros(void *block) noexcept
cdef void *zeros(size_t count, size_t size) except NULL
cdef void *unset(size_t count, size_t size) except NULL
