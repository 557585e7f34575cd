# Storages: their creation, views of them, and the records and callers that keep their values.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.numpy_c cimport ndarray
from tapeengine._core.arrays.array cimport Array, Storage
from tapeengine._core.tape.accumulation cimport View
from tapeengine._core.tape.tape cimport Head, tape_of

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
cdef Array ended_copy(Array a, object value)
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
cdef object differentiable(ndarray value)
cdef object constant(object out)
cdef object need_rules(Array a, object name)

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
cdef int look_at(object function, tuple operands, object outcome) except -1
cdef int note_outcome(Head *h, object function, tuple operands, dict options, object outcome) except -1
cdef object copied_once(Head *h, object x, int depth=*)
cdef ndarray seen(Array a)

# Functions of modules above this one, which set them when they are imported.
ctypedef object (*Elementwise)(int op, object ufunc, object x, object y)
ctypedef object (*Product)(object x, object y)

cdef struct Kernels:
    Elementwise elementwise
    Product product

cdef Kernels kernels
