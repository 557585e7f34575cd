# Reading traced arrays.
from numpy cimport ndarray
from tapeengine._core.arrays.array cimport Array

cdef enum Kind:     # of an index, by how numpy answers it
    VIEWED          # with a view, or an element
    COPIED          # with a copy of that view: an array of one whole number stands among the items
    GATHERED        # with a copy of the places that arrays name

cdef bint element_offset(Array a, ndarray value, object index, Py_ssize_t *offset) except -1
cdef tuple normalised(object index, int *kind)
cdef bint names_element(tuple index, int ndim) noexcept
cdef Py_ssize_t outer_offset(Array outer, Py_ssize_t offset) except -1
cdef object viewed(Array a, object value)
cdef Array read_part(Array a, object index, object order=*)
cdef object read_number(Array a)
cdef object get(Array a, object index)
