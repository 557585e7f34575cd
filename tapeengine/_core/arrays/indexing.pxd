# Reading traced arrays.
from tapeengine._core.tape.numpy_c cimport ndarray
from tapeengine._core.arrays.array cimport Array

cdef enum Kind:     # the kind of numpy's result for an index
    VIEWED          # a view, or an element
    COPIED          # a copy of that view: one of the items is an array of one whole number
    GATHERED        # a copy of the elements that index arrays name

cdef bint element_offset(Array a, ndarray value, object index, Py_ssize_t *offset) except -1
cdef tuple normalised(object index, int *kind)
cdef bint names_element(tuple index, int ndim) noexcept
cdef Py_ssize_t outer_offset(Array outer, Py_ssize_t offset) except -1
cdef object viewed(Array a, object value)
cdef Array read_part(Array a, object index, object order=*)
cdef object read_number(Array a)
cdef object get(Array a, object index)
