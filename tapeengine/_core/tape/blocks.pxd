# The accumulation of many cotangents or tangents that a sweep takes together.
from libc.stdint cimport uint32_t

from tapeengine._core.tape.numpy_c cimport ndarray
from tapeengine._core.tape.accumulation cimport Reverse, View
from tapeengine._core.tape.tape cimport Head, Tape

cdef extern from "rows.h" nogil:
    void te_rows_add(double *to, const double *source, double partial, Py_ssize_t width)
    void te_rows_set(double *to, const double *source, double partial, Py_ssize_t width)
    void te_rows_sum(double *to, const double *source, double first, const double *other, double second, Py_ssize_t width)
    bint te_rows_zero(const double *source, Py_ssize_t width)
    void te_rows_gather(double *to, const double *source, Py_ssize_t step, Py_ssize_t width)
    void te_rows_scatter(double *to, const double *source, Py_ssize_t step, Py_ssize_t width)
    void te_rows_clear(double *to, Py_ssize_t step, Py_ssize_t width)
    void te_rows_scale(Py_ssize_t width, int axes, const Py_ssize_t *dims, const double *ct, const double *partial, char *acc,
                       Py_ssize_t step, const Py_ssize_t *strides, bint assign, bint selects)

cdef enum:
    LINE = 8                    # rows, or columns, of a block over a tape of scalars: a cache line for each id

cdef class Block:
    cdef Tape tape
    cdef Py_ssize_t width
    cdef double *scalars        # `width` contiguous numbers for each id
    cdef size_t count           # of these numbers
    cdef list blocks            # by storage: an array of shape (width, size); None for zeros
    cdef dict spare             # by size and type: blocks to reuse
    cdef object weights         # of the random combination of rows by which rules are checked
    cdef int start(self, Tape tape, Py_ssize_t width) except -1
    cdef object fresh(self, uint32_t storage, bint zero)
    cdef int adopt(self, uint32_t storage, object block) except -1
    cdef int allocate(self, uint32_t storage, bint zero) except -1
    cdef int keep(self, uint32_t storage, object block) except -1
    cdef char *data(self, uint32_t storage) noexcept
    cdef Py_ssize_t row(self, uint32_t storage) noexcept
    cdef double *scalars_of(self, uint32_t id) noexcept nogil
    cdef object scalar(self, uint32_t id)
    cdef object part(self, View view)

cdef class Rows(Block):
    cdef size_t held, most      # bytes of all blocks: now, and the maximum so far
    cdef int begin(self, Tape tape, Py_ssize_t width) except -1
    cdef int drop(self, uint32_t storage) except -1
    cdef int add_scalar(self, uint32_t id, object values) except -1
    cdef int add(self, View view, object contribution) except -1
    cdef int stage(self, object place, object contribution) except -1

cdef class Row(Reverse):        # one cotangent of a block
    cdef Rows rows
    cdef Py_ssize_t k
    cdef list dropped           # storages that the record has dropped

cdef class Lifetimes:
    cdef uint32_t *last         # by storage: the last record that touches it, UNENDING where the result reads it
    cdef uint32_t *order        # the storages in the order in which they end
    cdef uint32_t count, ended  # storages, and how many of them have ended
    cdef int begin(self, uint32_t count) except -1
    cdef int finish(self, list lasting) except -1
    cdef bint ends_at(self, uint32_t storage, uint32_t id) noexcept
    cdef bint next(self, uint32_t id, uint32_t *storage) noexcept

cdef class Tangents(Block):
    cdef uint32_t records               # when the sweep began; rules may record more on the tape
    cdef Lifetimes lifetimes
    cdef int begin(self, Tape tape, Py_ssize_t width, Lifetimes lifetimes) except -1
    cdef int release(self, uint32_t id) except -1
    cdef object of(self, object place)
    cdef int put(self, object place, object total) except -1

cdef int put_numbers(ndarray into, Py_ssize_t start, double *scalars, Py_ssize_t count, Py_ssize_t width) except -1
cdef object aligned(object tangents, Py_ssize_t axes)
cdef uint32_t resolve_scalars(Head *h, double *scalars, Py_ssize_t width, uint32_t i, uint32_t lowest) noexcept nogil
cdef uint32_t push_scalars(Head *h, double *scalars, Py_ssize_t width, uint32_t i, uint32_t highest) noexcept nogil

cdef class ArrayRecord:
    cdef int reverse(self, Reverse r, uint32_t id) except -1
    cdef int forward(self, Reverse r, uint32_t id) except -1
    cdef bint reverse_rows(self, Rows rows, uint32_t id) except -1
    cdef bint forward_columns(self, Tangents t, uint32_t id) except -1
    cdef list reads(self)
    cdef list writes(self)
    cdef object keeps(self)
    cdef object called(self)
    cdef dict operands(self)
    cdef object name(self)
    cdef object detail(self)
    cdef int depend(self, object walk, uint32_t id) except -1
    cdef object parts(self, object walk, uint32_t id)
    cdef bint adds(self)

cdef uint32_t record_array(Head *h, ArrayRecord record, double value) except 0
