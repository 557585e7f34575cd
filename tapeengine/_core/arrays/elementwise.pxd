# Kernels for elementwise operations on small float64 arrays.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.accumulation cimport Reverse, View
from tapeengine._core.tape.blocks cimport ArrayRecord, Rows, Tangents

cdef extern from "kernels.h" nogil:
    ctypedef struct te_operand:
        char *data
        Py_ssize_t strides[4]
    void te_accumulate(int op, int which, int axes, const Py_ssize_t *dims, const double *ct, const te_operand *a,
                       const te_operand *b, const double *v, char *acc, const Py_ssize_t *sacc, int assign)
    enum:
        TE_SHORT
    ctypedef struct te_offsets:
        Py_ssize_t a, b
    void te_next_row(te_offsets *o, int axes, const Py_ssize_t *dims, const Py_ssize_t *sa, const Py_ssize_t *sb,
                     const Py_ssize_t *sacc)
    int te_values(int op, int axes, Py_ssize_t rows, const Py_ssize_t *dims, const te_operand *a, const te_operand *b,
                  double *out)
    int te_reads(int op, int which)
    bint te_selects(int op, int which)
    double te_sum_of(const double *a, Py_ssize_t n)

cdef enum Source:
    CONSTANT
    SCALAR      # a dual
    ARRAY_VIEW

cdef struct Operand:
    Source source
    uint32_t place          # id of the scalar, index of the storage
    Py_ssize_t offset       # within the storage, in bytes
    Py_ssize_t strides[4]   # strides of its cotangents, for the shape of the result
    te_operand values       # if the partials need them; a copy has its own strides
    bint whole              # whether it is the whole storage, in the order of the result
    double constant         # the value of a constant scalar

cdef class ElementwiseRecord(ArrayRecord):
    cdef int op, axes
    cdef uint32_t result
    cdef Py_ssize_t dims[4]
    cdef Operand a, b
    cdef object a_owner, b_owner, v_owner
    cdef double *v
    cdef int contribute(self, Reverse r, Operand *operand, int which) except -1
    cdef View view(self, Operand *operand)
    cdef object partial(self, int which)
    cdef double *find_partial(self, int which, te_operand *found) except? NULL
    cdef int reverse_recorded(self, Reverse r) except -1
    cdef object times(self, int which)
    cdef int add_rows(self, Rows rows, Operand *operand, int which) except -1
    cdef double *dense_partial(self, int which, Py_ssize_t *strides) except NULL
    cdef object block_for(self, Tangents many, uint32_t id)
    cdef int push_columns(self, Tangents many, int which, Operand *operand, object block, bint assign) except -1
    cdef object place(self, Operand *operand)
    cdef int contribute_recorded(self, Reverse r, Operand *operand, int which, object ct) except -1
    cdef int push_one(self, Reverse r, Operand *operand, int which) except -1
    cdef int forward_recorded(self, Reverse r) except -1

cdef object elementwise(int op, object ufunc, object x, object y)
cdef bint plain_double(object x) noexcept
cdef int loop_of_doubles(object function, int arguments) noexcept
cdef int compute_doubles(int op, object function, int loop, int arguments, int axes, Py_ssize_t *dims, te_operand *a,
                         te_operand *b, double *out) noexcept
cdef bint one_value(object function, double a, double b, int arguments, double *out) except -1
cdef int report(object function, object x, object y) except -1
