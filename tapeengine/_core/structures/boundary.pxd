# The boundary of a trace: values that enter and leave it.
from libc.stdint cimport uint32_t
from tapeengine._core.arrays.array cimport Array
from tapeengine._core.structures.interleave cimport Walk
from tapeengine._core.tape.tape cimport Copies
from tapeengine._core.scalars.scalar cimport Dual
from tapeengine._core.tape.tape cimport Tape

cdef enum:
    CONSTANT_ARRAY = 0xFFFFFFFF     # in a layout: an array in the result that depends on no input

cdef class Inputs(Walk):
    cdef Tape tape
    cdef object array_seen  # the first array among the primals, until there is a second one
    cdef Array array_made   # its traced array
    cdef list arrays        # all arrays: [(first address, address after the last, index, values, traced array)]
    cdef object source_seen, source_made    # the first container among the primals, and the one made of it
    cdef list containers    # all of them, each before the one made of it; None until there is a second one
    cdef list twice         # what was made of containers that were given twice: [(container, keys, contents)]
    cdef list every         # as `twice`, but of all containers; for recordings only, else None
    cdef list unwritten     # for a recording, the arrays that are not differentiated, each before its bytes
    cdef list late          # complex scalars and the arrays from which they are read
    cdef Dual dual(self, double value)
    cdef object array(self, object value)
    cdef object read_later(self, object a)
    cdef int finish(self) except -1
    cdef int note_container(self, object source, object made) except -1
    cdef int note_twice(self) except -1
    cdef tuple contents(self, object made)
    cdef bint has_changed(self, list noted) except -1
    cdef int check_containers(self) except -1

cdef class Outputs(Walk):
    cdef Tape tape
    cdef Copies copies
    cdef object array(self, Array a)
    cdef object values(self, Array a)
    cdef int check_earlier(self, uint32_t tag) except -1
    cdef object plain_array(self, object value, bint number)
    cdef object objects(self, object value)

cdef bint given_twice(object structures, tuple primals) except -1
cdef int protect_shared(list arrays) except -1
cdef Outputs begin_outputs(Tape tape, object structures, str root)
