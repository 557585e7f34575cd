# Calls of primitives on traced values.
from libc.stdint cimport uint32_t
from tapeengine._core.scalars.scalar cimport Dual
from tapeengine._core.tape.tape cimport Head, Tape
from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.blocks cimport ArrayRecord

cdef object outward(Head *h, Dual x)
cdef object stripped(Head *h, uint32_t tag, object x)
cdef object apply(object primitive, tuple args, dict static)
cdef object of_numbers(object x)
cpdef bint is_foreign(object x) except -1
cpdef object as_python(object x)

cdef class CustomRecord(ArrayRecord):
    cdef object rule        # pull(cotangents of the results) and push(tangents of the arguments), lists by leaf
    cdef list inputs        # [(number of the leaf, place)]
    cdef list outputs       # places by leaf; None for discrete leaves
    cdef list captured      # [(number of the output, place of the captured value that it was computed from)]
    cdef Py_ssize_t count   # number of leaves of the arguments
    cdef uint32_t tag
    cdef list within(self, Tape tape, object function, list values)
