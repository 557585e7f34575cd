# Kernels for matrix-vector and dot products on float64 arrays.
from tapeengine._core.tape.accumulation cimport Reverse, View
from tapeengine._core.tape.records cimport ArrayRecord

cdef class ProductRecord(ArrayRecord):
    cdef View left, right, result   # left, right: None where constant; result: None for a dot product
    cdef object left_values, right_values
    cdef int add_outer(self, Reverse r, object ct) except -1

cdef object product(object x, object y)
