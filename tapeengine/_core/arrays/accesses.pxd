# Records of copying reads, of writes, and of additions into elements.
from tapeengine._core.tape.accumulation cimport View
from tapeengine._core.tape.blocks cimport ArrayRecord

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
