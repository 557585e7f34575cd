# Nesting: inner tapes copied to outer ones, and reverse sweeps that are recorded there.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.tape cimport Head, Tape

cdef extern from "te_scalar.h":
    ctypedef struct te_scalar:
        double value
        uint32_t id     # 0: a constant

cdef class Copies:
    cdef uint32_t tag       # of the outer trace
    cdef uint32_t *ids      # id on the inner tape -> id on the outer tape, 0 if it does not depend on the outer trace
    cdef uint32_t count, room
    cdef Py_ssize_t links   # number of links copied so far

cdef Head *outer_of(Tape tape) noexcept
cdef Copies copy_out(Tape tape)
cdef int look_in_order(Head *h, int kind, uint32_t a, uint32_t b, double c) except -1
cdef uint32_t copied_id(Tape tape, uint32_t id, uint32_t *tag) except? 0xFFFFFFFF
cdef uint32_t carried(Head *h, uint32_t tag, uint32_t id, double value) except 0
cdef Copies lifted(Tape tape, Copies copies, Head *outer)
cdef int add_recorded(Head *outer, te_scalar *to, te_scalar value) except -1
cdef int pass_on(Head *h, Copies copies, Head *outer, te_scalar *cotangent, uint32_t i) except -1
cdef int gather(Head *h, Copies copies, Head *outer, te_scalar *tangent, uint32_t i) except -1
