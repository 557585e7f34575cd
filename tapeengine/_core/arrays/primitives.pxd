# The record of a primitive's call.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.blocks cimport ArrayRecord, Tangents

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
