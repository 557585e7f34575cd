# Reading traced arrays.
from numpy cimport ndarray
from tapeengine._core.array cimport Array

cdef bint element_offset(Array a, ndarray value, object index, Py_ssize_t *offset) except -1
cdef bint is_basic(object index) except -1
cdef object plain_index(object index)
cdef Py_ssize_t outer_offset(Array outer, Py_ssize_t offset) except -1
cdef object viewed(Array a, object value)
cdef Array read_part(Array a, object index)
cdef object get(Array a, object index)
