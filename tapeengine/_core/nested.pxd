# Nesting: inner tapes copied to outer ones, and reverse sweeps that are recorded there.
from libc.stdint cimport uint32_t
from tapeengine._core.tape cimport Head, Tape

cdef extern from "te_scalar.h":
    ctypedef struct te_scalar:
        double value
        uint32_t id     # 0: a constant

cdef class Copies:
    cdef uint32_t tag       # of the outer trace
    cdef uint32_t *ids      # id on the inner tape -> id on the outer tape, 0 where it does not depend on it
    cdef uint32_t count

cdef Copies copy_out(Tape tape)
cdef Copies lifted(Tape tape, Copies copies, Head *outer)
cdef int resolve_recorded(Tape tape, Copies copies, Head *outer, te_scalar *cotangent, uint32_t top) except -1
