# The accumulation of a reverse sweep, and the geometry of arrays.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.numpy_c cimport ndarray, npy_intp
from tapeengine._core.tape.tape cimport Tape, Head

cdef class View:            # the geometry of an array within its storage; holds no values
    cdef uint32_t storage
    cdef int ndim, type
    cdef bint whole         # C-contiguous, and all of the storage
    cdef bint imaginary     # the imaginary parts of a complex storage
    cdef bint number        # a number, which is no array of shape ()
    cdef uint32_t epoch     # in a recording, when an operation reads it: of its storage,
    cdef bint written       # whether the storage was written before, so that a record keeps a copy,
    cdef bint python        # and whether the array stands for a complex number of Python
    cdef Py_ssize_t offset  # in bytes
    cdef Py_ssize_t few[8]
    cdef Py_ssize_t *dims   # shape, then strides in bytes
    cdef bytes many         # their memory, of more than four axes

cdef class Reverse:         # one reverse sweep's accumulation
    cdef Tape tape
    cdef bint recorded      # whether the sweep is recorded on an outer tape
    cdef bint forward       # whether it is a sweep of tangents
    cdef double *cotangent  # of scalars by id
    cdef char **data        # buffers of cotangents by storage; NULL before the first contribution
    cdef list owners        # the objects that own these buffers
    cdef int begin(self, Tape tape, double *cotangent) except -1
    cdef int allocate(self, uint32_t storage, bint zero) except -1
    cdef double *place(self, uint32_t id) noexcept
    cdef object scalar(self, uint32_t id)
    cdef int add_scalar(self, uint32_t id, object value) except -1
    cdef object part(self, View view)
    cdef int add(self, View view, object contribution) except -1
    cdef int add_fitting(self, View view, object contribution) except -1
    cdef int add_parts(self, View view, object contribution) except -1
    cdef bint adopts(self, View view, object contribution) except -1
    cdef object signed(self, View view, object cotangent)
    cdef object take(self, View view, object index)
    cdef object zeros(self, View view)
    cdef int drop(self, uint32_t storage) except -1
    cdef int add_to(self, object target, object contribution) except -1
    cdef int add_at(self, object target, object index, object contribution) except -1
    cdef object of(self, object place)
    cdef int stage(self, object place, object contribution) except -1

cdef View view_of(ndarray value, uint32_t storage, Py_ssize_t offset, Py_ssize_t size)
cdef ndarray strided(char *data, View view, object owner)
cdef bint repeats(View view) noexcept
cdef View once(View view)
cdef object fitted(object cotangent, tuple shape, Py_ssize_t rows=*)
cdef object of_type(View view, object contribution)

cdef void free_zeros(void *block) noexcept
cdef void *zeros(size_t count, size_t size) except NULL
cdef void *unset(size_t count, size_t size) except NULL

# The accumulation of many cotangents or tangents that a sweep takes together.

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
