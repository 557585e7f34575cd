# Traced arrays: views of storages.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.numpy_c cimport ndarray
from tapeengine._core.tape.accumulation cimport View, ArrayRecord, Reverse, Tangents
from tapeengine._core.tape.tape cimport Head, tape_of, Tape

cdef class Storage:         # owns a value buffer; its cotangents lie in a buffer of the same layout
    cdef object base        # an ndarray, or an Array of an outer trace
    cdef char *data         # of the ndarray
    cdef Py_ssize_t size    # number of elements
    cdef uint32_t tag, index, epoch     # the epoch counts replacements of the base
    cdef int type
    cdef bint number        # stands for a scalar: it cannot be written to
    cdef bint python        # for a complex number of Python, which adapts to arrays
    cdef bint active        # whether it depends on an input of its trace
    cdef bint shared        # another primal shares its memory: it cannot be written to
    cdef bint kept          # the caller or a rule refers to it: copy before the first write
    cdef bint written       # it was written: rules that keep values copy them
    cdef bint still         # snapshots show it, and nothing writes to it
    cdef int lent           # how many buffers of plain programs show its memory: it can hold no traced values
    cdef Storage frozen     # the storage that snapshots show, up to the next write

cdef class Array:
    cdef object __weakref__
    cdef object values      # this view of the storage's base
    cdef Storage storage
    cdef Py_ssize_t offset  # in bytes
    cdef uint32_t epoch
    cdef object current(self)

# Storages: their creation, views of them, and the records and callers that keep their values.

# The memory that the elements of an array lie in.
ctypedef struct Extent:
    char *first
    char *last      # after the last element

cdef ndarray plain(object value)
cpdef object numbers_of(object x)
cpdef object constant_of(object x)
cdef object unlifted(object x)
cdef Head *head_of_array(Array a) except NULL
cdef bint dense(ndarray value) noexcept
cdef Extent extent(ndarray value) noexcept
cdef ndarray native(ndarray value)
cdef Array new_array(Head *h, object value, bint active)
cdef Array array_over(Storage s, object value, Py_ssize_t offset)
cdef View geometry(Array a)
cdef View everything(Storage s)
cdef Array view_by(Array a, View view)
cdef int make_writable(Storage s) except -1
cdef Array snapshot(Array a)
cdef object keep(Head *h, object x)
cdef object held(Head *h, object x, int depth=*)
cdef int check_depth(int depth) except -1
cpdef bint is_traced(object x) noexcept

# The entries about arrays in a recording. Each entry is a tuple that begins with one of these.
cdef enum Noting:
    MADE        # storage, values: an array that depends on no input
    MOVED       # storage, epoch: its values were copied to the next epoch
    CALLED      # primitive, operands, static arguments, discrete parts of the output, record
    COMPUTED    # ufunc, operand, operand or None, record: an elementwise kernel
    MULTIPLIED  # operands, record
    SUMMED      # operand, record
    COPIED_PART # operand, index, record
    WRITTEN     # target, index, whether it gathers, value, record or None
    POKED       # storage, epoch, element, number
    ADDED       # target, index, value, record or None
    RULED       # function with a rule of its own, operands, which are numpy.float64, discrete results, record
    LOOKED      # function, operands, options, outcome: the program looked at values

cdef class Operand:         # a value that a recorded operation reads, if it is no array of the recording
    cdef uint32_t id        # of a scalar
    cdef object constant    # a value that depends on no input

cdef inline bint is_recording(Head *h) noexcept:
    return h != NULL and h.guards != NULL and not h.guards.inner

cdef inline bint keeps_values(Head *h) noexcept:
    """Whether a tape is for second-order sweeps, which know no kernels; a recording is swept only once."""
    return tape_of(h).keeps_values and not is_recording(h)

cdef object operand(Head *h, object x)
cpdef bint errors_are_seen() except -1
cdef int errors_raised() noexcept
cdef int note(Head *h, uint32_t at, tuple what) except -1

# Functions of modules above this one, which set them when they are imported.
ctypedef object (*Elementwise)(int op, object ufunc, object x, object y)
ctypedef object (*Product)(object x, object y)

cdef struct Kernels:
    Elementwise elementwise
    Product product

cdef Kernels kernels

# Records of copying reads, of writes, and of additions into elements.
cdef class ReadRecord(ArrayRecord):
    cdef View source, result
    cdef tuple index

cdef class ChangeRecord(ArrayRecord):
    cdef View target
    cdef tuple index        # normalised; None: the whole target
    cdef object value       # a View, the id of a scalar, or None for a constant
    cdef tuple shape        # of the value

cdef class WriteRecord(ChangeRecord):
    pass

cdef class AddRecord(ChangeRecord):
    pass

# Calls of primitives on traced values.

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
    cdef object ruled(self)     # the rule
    cdef list within(self, Tape tape, object function, list values)

cdef class ProgramRecord(CustomRecord):
    cdef tuple made         # the program, what makes the rule of a call and its second order, value and backpropagator
    cdef tuple given        # the arguments as plain values
    cdef bint add(self, tuple found, Reverse r, double *to) except -1
    cdef tuple tangents(self, double *tangent)

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
