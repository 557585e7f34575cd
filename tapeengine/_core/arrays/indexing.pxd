# Reading traced arrays, and writing to them.
from tapeengine._core.tape.numpy_c cimport ndarray
from tapeengine._core.arrays.array cimport Array
from tapeengine._core.tape.accumulation cimport ArrayRecord, View

cdef object viewed(Array a, object value)
cdef Array read_part(Array a, object index, object order=*)
cdef object read_number(Array a)
cdef object get(Array a, object index)

# Records of copying reads, of writes, and of additions into elements.
cdef class ReadRecord(ArrayRecord):
    cdef View source, result
    cdef tuple index

cdef class ChangeRecord(ArrayRecord):
    cdef View target
    cdef tuple index        # normalised; None: the whole target
    cdef object value       # a View, the id of a scalar, or None for a constant
    cdef tuple shape        # of the value

cdef class WriteRecord(ChangeRecord):
    pass

cdef class AddRecord(ChangeRecord):
    pass

cdef int put(Array a, object index, object value) except -1
