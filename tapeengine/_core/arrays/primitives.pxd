# The record of a primitive's call.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.records cimport ArrayRecord
from tapeengine._core.tape.tangents cimport Tangents

cdef class PrimitiveRecord(ArrayRecord):
    cdef object primitive
    cdef object output      # a View, the id of a scalar, None for what is discrete, or (class, outputs)
    cdef list inputs        # [(argument, View or id)]
    cdef list kept          # of the vjp rule of each of the inputs
    cdef list tangent_kept  # of the jvp rules, where the tape is swept forwards
    cdef object cotangent(self, Reverse r, object output, uint32_t id)
    cdef bint joint_columns(self, Tangents many, object rule) except -1
