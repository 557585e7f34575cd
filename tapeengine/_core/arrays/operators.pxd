# The operators of traced arrays.
from tapeengine._core.arrays.array cimport Array

cdef object operate(object ufunc, object x, object y, int op=*)
cdef object ufunc_call(object ufunc, tuple inputs)
cdef object in_place(Array a, object ufunc, object y, int op=*)
cdef object compared(object x, object y, int kind)
