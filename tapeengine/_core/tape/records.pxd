# Records of array operations, and the accumulation of a reverse sweep.
from libc.stdint cimport uint32_t
from numpy cimport ndarray
from tapeengine._core.tape.nested cimport te_scalar
from tapeengine._core.tape.tape cimport Head, Tape

cdef class View:            # the geometry of an array within its storage; holds no values
    cdef uint32_t storage
    cdef int ndim, type
    cdef bint whole         # C-contiguous, and all of the storage
    cdef bint imaginary     # the imaginary parts of a complex storage
    cdef Py_ssize_t offset  # in bytes
    cdef Py_ssize_t few[8]
    cdef Py_ssize_t *dims   # shape, then strides in bytes

cdef class Reverse:         # one reverse sweep's accumulation
    cdef Tape tape
    cdef bint recorded      # on an outer tape
    cdef bint forward       # of tangents
    cdef double *cotangent  # of scalars, by id
    cdef char **data        # of storages, by index; NULL before the first contribution
    cdef list owners        # what owns that memory
    cdef int begin(self, Tape tape, double *cotangent) except -1
    cdef int allocate(self, uint32_t storage, bint zero) except -1
    cdef object scalar(self, uint32_t id)
    cdef int add_scalar(self, uint32_t id, object value) except -1
    cdef object part(self, View view)
    cdef int add(self, View view, object contribution) except -1
    cdef object signed(self, View view, object cotangent)
    cdef object take(self, View view, object index)
    cdef object zeros(self, View view)
    cdef int drop(self, uint32_t storage) except -1
    cdef int add_to(self, object target, object contribution) except -1

cdef class ArrayRecord:
    cdef int reverse(self, Reverse r, uint32_t id) except -1
    cdef int forward(self, Reverse r, uint32_t id) except -1

cdef View view_of(ndarray value, uint32_t storage, Py_ssize_t offset, Py_ssize_t size)
cdef ndarray strided(char *data, View view, object owner)
cdef bint repeats(View view) noexcept
cdef View once(View view)
cdef object fitted(object cotangent, tuple shape)
cdef object of_type(View view, object contribution)

cdef class PrimitiveRecord(ArrayRecord):
    cdef object primitive
    cdef object output      # a View, the id of a scalar, None for what is discrete, or (class, outputs)
    cdef list inputs        # [(argument, View or id)]
    cdef list kept          # of the vjp rule of each of the inputs
    cdef list tangent_kept  # of the jvp rules, where the tape is swept forwards
    cdef object cotangent(self, Reverse r, object output, uint32_t id)

cdef object rebuilt(cls, list parts)
cdef object form_of(object place)
cdef bint may_repeat(tuple index) except -1

cdef class ReadRecord(ArrayRecord):
    cdef View source, result
    cdef tuple index

cdef class WriteRecord(ArrayRecord):
    cdef View target
    cdef tuple index        # normalised; None: all of the target
    cdef object value       # a View, the id of a scalar, or None for a constant
    cdef tuple shape        # of the value

cdef class AddRecord(ArrayRecord):
    cdef View target
    cdef tuple index
    cdef object value       # a View or the id of a scalar
    cdef tuple shape
