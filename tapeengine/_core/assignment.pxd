# Writing to traced arrays.
from tapeengine._core.array cimport Array

cdef int put(Array a, object index, object value) except -1
