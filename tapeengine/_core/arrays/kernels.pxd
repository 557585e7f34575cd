# Kernels for elementwise operations on small float64 arrays.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.accumulation cimport ArrayRecord, Reverse, Rows, Tangents, View

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
cdef int loop_of_doubles(object function, int arguments) noexcept
cdef int compute_doubles(int op, object function, int loop, int arguments, int axes, Py_ssize_t *dims, te_operand *a,
                         te_operand *b, double *out) noexcept
cdef bint one_value(object function, double a, double b, int arguments, double *out) except -1

# Kernels for sums and products of float64 arrays.

cdef extern from "tangents.h" nogil:
    void te_sum(Py_ssize_t outer, Py_ssize_t n, Py_ssize_t inner, const double *p, double *out, double divisor)

cdef class ContractionRecord(ArrayRecord):
    cdef View result    # None if the result is the record's scalar
    cdef object place(self, uint32_t id)

cdef class SumRecord(ContractionRecord):
    cdef View source
    cdef int axis
    cdef double divisor
    cdef void extents(self, Py_ssize_t *outer, Py_ssize_t *n, Py_ssize_t *inner) noexcept
    cdef int spread(self, Reverse r, object ct) except -1

cdef class ProductRecord(ContractionRecord):
    cdef View left, right       # None where constant
    cdef object left_values, right_values
    cdef object pushed(self, object left, object right)
    cdef int add_outer(self, Reverse r, object ct) except -1

cdef void add_up(Py_ssize_t outer, Py_ssize_t n, Py_ssize_t inner, const double *p, double *out, double divisor) noexcept nogil
cdef object total(object x, int axis, bint keepdims, bint mean)
cdef object product(object x, object y)
