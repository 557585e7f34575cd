# Writing to traced arrays.
from tapeengine._core.arrays.array cimport Array

cdef int put(Array a, object index, object value) except -1
