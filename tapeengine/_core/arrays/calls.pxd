# Calls of primitives on traced values.
from libc.stdint cimport uint32_t
from tapeengine._core.scalars.scalar cimport Dual
from tapeengine._core.tape.tape cimport Head, Tape
from tapeengine._core.tape.accumulation cimport ArrayRecord, Reverse, Tangents

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

# The record of a primitive's call.

cdef class PrimitiveRecord(ArrayRecord):
    cdef object primitive
    cdef object output      # a View, the id of a scalar, None for a discrete output, or (class, outputs)
    cdef list inputs        # [(argument, View or id)]
    cdef list kept          # what the vjp rule of each input keeps
    cdef list tangent_kept  # what the jvp rules keep, on tapes for forward sweeps
    cdef bint narrow        # whether it keeps values in single precision, which numpy converted for a double result
    cdef object cotangent(self, Reverse r, object output)
    cdef tuple wide(self, tuple kept)
    cdef bint joint_columns(self, Tangents many, object rule) except -1
