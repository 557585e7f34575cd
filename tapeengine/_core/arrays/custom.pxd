# Records of functions with custom derivative rules.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.records cimport ArrayRecord
from tapeengine._core.tape.tape cimport Head

cdef class CustomRecord(ArrayRecord):
    cdef object rule        # pull(cotangents of the results) and push(tangents of the arguments), lists by leaf
    cdef list inputs        # [(number of the leaf, place)]
    cdef list outputs       # places by leaf; None for discrete leaves
    cdef list captured      # [(number of the output, place of the captured value that it was computed from)]
    cdef Py_ssize_t count   # number of leaves of the arguments
    cdef uint32_t tag
    cdef object within(self, Reverse r, object function, list values)
    cdef object results(self, Head *h, object function, list values)
