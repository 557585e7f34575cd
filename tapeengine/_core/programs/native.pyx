"""Programs whose two passes run on the register machine: conversion between Python values and registers.

A `Form` describes how values of a type lie in registers, leaf by leaf. If a value does not fit exactly, or the machine
refers an operation to Python, the result is None or that of the function `again`.
"""

cimport cython
from tapeengine._core.tape cimport numpy_c as cnp
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact, PyFloat_FromDouble
from cpython.list cimport PyList_CheckExact, PyList_GET_ITEM, PyList_GET_SIZE, PyList_New, PyList_SET_ITEM
from cpython.long cimport PyLong_AsDouble, PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.number cimport PyNumber_Float
from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject
from cpython.object cimport PyObject_GenericSetAttr
from cpython.sequence cimport PySequence_Fast_ITEMS
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from libc.math cimport fmod, isfinite
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset
from tapeengine._core.tape.numpy_c cimport (
    NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, NPY_BOOL, NPY_CORDER, NPY_DOUBLE, NPY_INT64, PyArray_CheckExact, PyArray_NBYTES,
    PyArray_NewCopy,
    PyArray_CHKFLAGS, PyArray_DATA, PyArray_DIMS, PyArray_EMPTY, PyArray_ISALIGNED, PyArray_ISNOTSWAPPED, PyArray_NDIM,
    PyArray_IS_C_CONTIGUOUS, PyArray_IS_F_CONTIGUOUS, PyArray_ISCARRAY_RO, PyArray_SIZE, PyArray_STRIDES, PyArray_TYPE, ndarray, npy_intp,
)

from tapeengine._core.programs.machine cimport (
    TE_DONE, TE_LONG, TE_POLE, TE_RANK, Code, te_allocate, te_arena, te_arena_of, te_array, te_block, te_describe, te_free,
    te_offer,
    te_is_plain, te_memory, te_more, te_trim, te_used, te_word,
)
from tapeengine._core.arrays.array cimport Array, ProgramRecord, Storage, geometry, new_array
from tapeengine._core.scalars.scalar cimport Dual, is_numpy, new_dual
from tapeengine._core.tape.accumulation cimport record_array
from tapeengine._core.tape.tape cimport ARRAY, Head, Tape, head_of, record2, tape_of, traces

import numpy

from tapeengine._core.tape.above import ABOVE
from tapeengine._core.structures.constructors import may_hide, hidden, takes_fields
from tapeengine._core.structures.interleave import held
from tapeengine.errors import StructureError

cdef extern from "finite.h" nogil:
    int te_all_finite(const double *x, int64_t n)
    int te_copy_finite(double *to, const double *x, int64_t n)

cdef extern from "attributes.h":
    object te_instance(object cls, object nothing)
    unsigned int te_class_version(PyObject *x)
    bint te_is_usual(object cls)
    bint te_is_stored(object cls, object name)
    Py_ssize_t te_place_of(object x, object name, object value)
    Py_ssize_t te_attribute_count(object x)
    PyObject **te_slot(PyObject *x, Py_ssize_t at)
    bint te_set_attribute(object x, Py_ssize_t at, object value)

cdef extern from *:
    ctypedef struct PyFloatObject:
        double ob_fval
    Py_ssize_t references "Py_REFCNT" (PyObject *x)
    int PyGC_Disable()
    int PyGC_Enable()

cnp.import_array()

include "poles.pxi"

cdef object float64 = numpy.float64

cdef enum Kind:
    FLOAT = 0
    INT = 1
    BOOL = 2
    TUPLE = 3
    RECORD = 4
    ROWS = 5
    BOX = 6
    SUM = 7

cdef enum:
    REFERENCE = 3 # the kind of an array whose elements are references
    LEAVES = 32   # the largest number of leaves of an element or of an option
    DEPTH = 4000  # the nesting depth of records beyond which this conversion is not used
    CHECKED = 1 << 20 # the number of parts after which a value is checked for containing itself
    SMALL = 512   # the largest number of registers on the C stack
    SEARCHES = 3
    FEW = 16      # the number of words stored in the backpropagator object itself

#: Arguments of at most this many bytes are copied, since the caller may change them between the passes.
COPIED = 32 * 1024
cdef Py_ssize_t most_copied = COPIED
#: The largest array in bytes that a program keeps between runs.
cdef enum:
    OFFERS = 4         # at most so many arrays for results are made before a run
    OFFERED = 1 << 14  # the least bytes of each
cdef Py_ssize_t most_spared = 4 * 1024 * 1024
#: For arrays of at most this many numbers the machine is faster than one call of numpy.
FEW_NUMBERS = 128

cdef Py_ssize_t integers = 0   # how many integers have been taken as floats

cdef tuple KINDS = ("float", "int", "bool", "tuple", "record", "rows", "box", "sum")
cdef int[3] types = [NPY_DOUBLE, NPY_INT64, NPY_BOOL]


@cython.final
cdef class Form:
    """The form of a value.

    Parameters
    ----------
    kind : {"float", "int", "bool", "tuple", "record", "rows", "box", "sum"}
        Rows are an array of any type, with a column for each leaf of its element; a box is a member of a recursive sum.
        Only compiled code takes boxes, sums, and rows of other elements than numbers and records and tuples of numbers.
    rank : int
        The number of dimensions of an array; 0 is a scalar.
    items : tuple of Form
        The parts of a tuple or a record; the element of rows; the options of a box or a sum.
    cls : type, optional
        The class of a record.
    fields : tuple of str
        The names of its parts.
    lists : int
        The number of outer axes of a result that are lists: none, one or all.
    values : tuple, optional
        What an integer in a result chooses among, such as texts; the value itself of a tuple without parts.
    """
    cdef readonly Kind kind
    cdef readonly int rank, lists
    cdef tuple items, fields, values
    cdef object cls
    cdef readonly bint discrete
    cdef bint has_references # to rows, or to members of sums
    cdef bint has_array, is_plain, can_change   # a dictionary or a dataclass that is not frozen, or what has one inside
    cdef bint needs_like      # whether the structure of a cotangent takes more than the form: arrays and discrete parts
    cdef readonly int width, real_width   # the numbers of leaves, and of leaves with cotangents
    cdef int[LEAVES] real_at  # where each leaf with a cotangent lies in a linear record
    cdef int[LEAVES] words, strides, sizes   # of each leaf: words, bytes in an array, and bytes of its own elements
    cdef int[LEAVES] kinds    # of each leaf: the kind of its numbers, or REFERENCE
    cdef bint[LEAVES] real    # whether each leaf has a cotangent
    cdef PyObject **parts     # the items of the tuple
    cdef int count, total     # the number of items, and that of the words of all leaves
    cdef int last, last_leaf, last_real  # the last item of a record that is a box, and its leaf; -1 for none
    cdef int[LEAVES] places   # where the fields of a record lie, see `attributes.h`
    cdef unsigned int version # of the class that has them there; 0 if they are looked up by name
    cdef unsigned int read_version # of the class whose objects give the fields that are stored; 0 if that is unknown
    cdef int searches         # how often to look where they lie, since classes may change
    cdef int held             # the number of fields that are not in slots; -1 if no attribute may hide one of the class

    def __init__(self, str kind, int rank=0, tuple items=(), cls=None, tuple fields=(), int lists=0, tuple values=None):
        if rank > TE_RANK:
            raise ValueError(f"an array of {rank} dimensions; the machine has at most {TE_RANK}")
        self.kind = <Kind> <int> KINDS.index(kind)
        self.rank, self.cls, self.fields, self.lists = rank, cls, fields, lists
        self.values = values
        self.is_plain = self.kind == RECORD and takes_fields(cls)
        self.held = <int> held(cls, fields) if self.kind == RECORD and may_hide(cls, fields) else -1
        self.searches = SEARCHES if self.is_plain and len(fields) <= LEAVES else 0
        self.fill(items)

    def fill(self, tuple items) -> None:
        """Set the parts, after construction, because those of a box refer to the box."""
        cdef Form item
        cdef int i, k, n = 0
        self.items, self.parts, self.count = items, PySequence_Fast_ITEMS(items), <int> len(items)
        self.last, self.last_leaf, self.total = -1, -1, 0
        self.has_array = self.rank > 0 or self.kind >= ROWS
        self.has_references = self.kind >= ROWS or self.values is not None
        self.discrete = self.kind != FLOAT and self.kind != BOX
        self.can_change = self.cls is dict or (self.is_plain and not self.cls.__dataclass_params__.frozen)
        for item in items:
            self.has_array |= item.has_array
            self.has_references |= item.has_references
            self.can_change |= item.can_change
            self.needs_like |= item.needs_like
            self.discrete &= item.discrete
            if self.kind == BOX and item.width > LEAVES:
                raise ValueError("an option of too many leaves")
        self.needs_like |= self.has_array or (self.kind >= TUPLE and self.discrete)
        self.width, self.real_width = 1, not self.discrete
        self.words[0] = self.total = 1 + self.rank
        self.sizes[0] = 1 if self.kind == BOOL else 8
        self.strides[0] = 8 * self.words[0] if self.rank else self.sizes[0]
        self.kinds[0] = INT if self.kind == SUM else min(<int> self.kind, <int> REFERENCE)
        self.real[0] = self.kind == FLOAT or self.kind == BOX
        if self.kind < TUPLE or self.kind == BOX:
            return
        if self.kind == SUM:
            n = 1
        self.real_width, self.total = 0, n
        for i, item in enumerate(items):
            if item.kind == BOX and self.kind == RECORD:
                self.last, self.last_leaf, self.last_real = i, n, self.real_width
            self.real_width += item.real_width
            if self.kind >= ROWS and n + item.width > LEAVES:
                raise ValueError("an element of too many leaves")
            for k in range(min(item.width, LEAVES - n)): # only the first leaves: a longer tuple is never an element
                self.words[n + k] = 2 if self.kind == ROWS else item.words[k]
                self.strides[n + k] = 16 if self.kind == ROWS else item.strides[k]
                self.sizes[n + k] = item.strides[k] if self.kind == ROWS else item.sizes[k]
                self.kinds[n + k] = REFERENCE if self.kind == ROWS and item.words[k] > 1 else item.kinds[k]
                self.real[n + k] = item.real[k]
                self.total += self.words[n + k]
            n += item.width
        self.width = n
        i = n = 0
        for k in range(min(self.width, <int> LEAVES)):
            if self.real[k]:
                self.real_at[i] = n
                i, n = i + 1, n + 8 * self.words[k]

    def leaves(self) -> list[Form]:
        """The scalars and arrays of the form, in order."""
        cdef list found = []
        add_leaves(self, found)
        return found


cdef int add_leaves(Form form, list to) except -1:
    cdef Form item
    cdef list inside = [] if form.kind == ROWS else to
    if form.kind < TUPLE or form.kind > ROWS:
        to += [form] * form.width
        return 0
    for item in form.items:
        add_leaves(item, inside)
    if form.kind == ROWS:
        for item in inside:
            to.append(form if item.rank or item.kind >= TUPLE else Form(KINDS[item.kind], 1))
    return 0


ctypedef char *te_place
ctypedef te_place[LEAVES] te_places


cdef struct Cursor:
    te_word *registers
    const int32_t *at    # the register of each leaf
    int leaf
    te_arena arena       # memory for copies
    int records          # the number of enclosing records
    int poles            # the number of non-finite numbers returned
    PyObject *offered    # arrays in whose memory results may lie: a list, or NULL


cdef int take_scalar(Form form, object x, te_word *to) except -1:
    cdef int overflow = 0
    if form.kind == FLOAT:
        if PyFloat_CheckExact(x) or type(x) is float64:
            to.f = PyFloat_AS_DOUBLE(x)
            return True
        if not PyLong_CheckExact(x):
            return False
        global integers
        integers += 1
        try:
            to.f = PyLong_AsDouble(x)
        except OverflowError:
            return False
        return True
    if form.kind == BOOL:
        to.i = x is True
        return x is True or x is False
    if not PyLong_CheckExact(x):
        return False
    to.i = PyLong_AsLongLongAndOverflow(x, &overflow)
    return overflow == 0


cdef inline bint is_list(x) noexcept:
    return PyList_CheckExact(x) or PyTuple_CheckExact(x)


cdef te_array *described(te_memory *memory, int rank, int kind) except NULL:
    """Describe an array that is not there yet."""
    cdef te_array *made = te_describe(memory, rank, kind)
    if made == NULL:
        raise MemoryError
    return made


cdef int allocate(te_array *made) except -1:
    if te_allocate(made):
        raise MemoryError
    return 0


cdef int take_lists(Form form, object x, te_word *to, te_memory *memory) except -1:
    """Copy the numbers of lists, of lists or tuples in lists, and of arrays in these, of equal lengths."""
    cdef te_array *made = described(memory, form.rank, <int> form.kind)
    cdef char *at
    cdef int k, j
    row = x
    for k in range(form.rank):
        if PyArray_CheckExact(row) and PyArray_NDIM(<ndarray> row) == form.rank - k:
            for j in range(k, form.rank):
                made.shape[j] = PyArray_DIMS(<ndarray> row)[j - k]
            break
        if not is_list(row):
            return False
        made.shape[k] = len(row)
        row = row[0] if made.shape[k] else ()
    if k and size(made) == 0:
        return False
    allocate(made)
    to.p, at = made, made.data
    return copy_rows(form, x, made, 0, &at)


cdef int copy_rows(Form form, object x, te_array *made, int axis, char **at) except -1:
    """Write the numbers of one axis on; return False if they are not as many as expected, or not of the kind."""
    cdef te_word w
    cdef Py_ssize_t i
    cdef bint of_list = PyList_CheckExact(x)
    cdef int size = 1 if form.kind == BOOL else 8
    if PyArray_CheckExact(x):
        if not is_array(form, x, -axis) or not has_shape(<ndarray> x, made, axis):
            return False
        x = numpy.require(x, requirements="CA")
        memcpy(at[0], PyArray_DATA(<ndarray> x), PyArray_NBYTES(<ndarray> x))
        at[0] += PyArray_NBYTES(<ndarray> x)
        return True
    if not is_list(x) or len(x) != made.shape[axis]:
        return False
    if axis < form.rank - 1:
        for y in tuple(x):
            if not copy_rows(form, y, made, axis + 1, at):
                return False
        return True
    for i in range(made.shape[axis]):   # no number's conversion changes the list
        if not take_scalar(form, <object> (PyList_GET_ITEM(x, i) if of_list else PyTuple_GET_ITEM(x, i)), &w):
            return False
        if size == 1:
            at[0][0] = <char> w.i
        else:
            memcpy(at[0], &w, 8)
        at[0] += size
    return True


cdef bint has_shape(ndarray x, te_array *like, int axis) noexcept:
    """Whether the lengths of an array are those of another one from an axis on."""
    cdef int k
    for k in range(axis, like.rank):
        if PyArray_DIMS(x)[k - axis] != like.shape[k]:
            return False
    return True


cdef int take_array(Form form, object x, te_word *to, te_memory *memory, bint copies) except -1:
    """Describe an array of the caller; its memory is shared unless it is copied.

    Of several axes without elements programs do not compare all sizes: dual numbers run on these.
    """
    cdef te_array *made
    cdef int k
    cdef ndarray array
    if is_list(x):
        return take_lists(form, x, to, memory)
    if not is_array(form, x, 0) or is_hollow(<ndarray> x) or not PyArray_ISALIGNED(<ndarray> x):
        return False
    array = x
    made = described(memory, form.rank, <int> form.kind)
    for k in range(form.rank):
        made.shape[k] = PyArray_DIMS(array)[k]
        made.strides[k] = PyArray_STRIDES(array)[k]
    if copies:
        allocate(made)
        array = numpy.ascontiguousarray(array)
        memcpy(made.data, PyArray_DATA(array), PyArray_NBYTES(array))
    else:
        made.data = <char *> PyArray_DATA(array)
    to.p = made
    return True


cdef inline bint is_hollow(ndarray x) noexcept:
    """Whether an array has several axes and no elements."""
    return PyArray_NDIM(x) > 1 and PyArray_SIZE(x) == 0


include "fields.pxi"


cdef inline bint has_parts(Form form, x) except -1:
    """Whether a value is a record of a form's class, or a tuple of so many parts."""
    return is_record_of(form, x) if form.kind == RECORD else form.kind == TUPLE and is_tuple_of(form, x)


cdef int take(Form form, object x, Cursor *c, te_memory *memory) except -1:
    """Write the leaves of a value into their registers; return False if it does not have this form."""
    cdef te_word *to
    cdef PyObject *item
    cdef Py_ssize_t i
    if form.values is not None:     # the cotangent of what has no real numbers
        return x is None
    if form.kind < TUPLE:
        to = c.registers + c.at[c.leaf]
        c.leaf += 1
        return take_array(form, x, to, memory, c.records > 0) if form.rank else take_scalar(form, x, to)
    if form.kind >= ROWS:
        return take_references(form, x, c, memory)
    if not has_parts(form, x):
        return False
    c.records += form.kind == RECORD
    for i in range(form.count):
        item, y = form.parts[i], part_of(form, x, i)
        if (<Form> item).kind == FLOAT and (<Form> item).rank == 0 and PyFloat_CheckExact(y):
            c.registers[c.at[c.leaf]].f = PyFloat_AS_DOUBLE(y)
            c.leaf += 1
        elif not take(<Form> item, y, c, memory):
            return False
    c.records -= form.kind == RECORD
    return True


# ---------------------------------------------------------------- references: rows, boxes, sums


cdef char *room(Cursor *c, int64_t size) except NULL:
    """Allocate memory that lives as long as the values that a run keeps."""
    cdef char *at = c.arena.top
    if c.arena.end - at < size:
        at = te_more(&c.arena, size)
        if at == NULL:
            raise MemoryError
    c.arena.top = at + size
    return at


cdef int take_references(Form form, object x, Cursor *c, te_memory *memory) except -1:
    """Copy a value with references; each leaf has a register: an array, the address of a box, or a number."""
    cdef char[LEAVES * 16] words
    cdef te_places to
    cdef te_array *made
    cdef int k, done
    for k in range(form.width):
        to[k] = words + 16 * k
        memset(to[k], 0, 16)
    c.arena = te_arena_of(memory)
    try:
        done = fill(form, x, to, c, 0)
    finally:
        te_used(memory, &c.arena)
    for k in range(form.width):
        if form.words[k] > 1:
            made = described(memory, 1, form.kinds[k])
            made.strides[0] = form.sizes[k]
            made.data, made.shape[0] = (<char **> to[k])[0], (<int64_t *> to[k])[1]
            c.registers[c.at[c.leaf]].p = made
        else:
            memcpy(&c.registers[c.at[c.leaf]], to[k], 8)
        c.leaf += 1
    return done


cdef int same(bint holds) except -1:
    """Refuse primals that have changed since their program ran."""
    if not holds:
        raise ValueError("a primal was changed since its program ran")
    return 0


cdef int option_of(Form form, object x) except -2:
    """The index of the option of a sum to which a value belongs; -1 for none."""
    cdef int k
    cdef PyObject *option
    for k in range(form.count):
        option = form.parts[k]
        if type(x) is (<Form> option).cls or (x is None and is_unit(option)):
            return k if x is None or is_record_of(<Form> option, x) else -1
    return -1


cdef inline bint is_unit(PyObject *form) noexcept:
    """Whether a form is that of None."""
    return (<Form> form).kind == TUPLE and (<Form> form).count == 0


cdef int fill(Form form, object x, char **to, Cursor *c, int depth) except -1:
    """Write the words of a value's leaves to memory; return False if it does not have this form."""
    if form.kind == BOX:
        return fill_box(form, x, to[0], c, depth)
    if form.kind < TUPLE:
        return fill_numbers(form, x, to[0], c) if form.rank else fill_number(form, x, to[0])
    if form.kind == RECORD:
        return is_record_of(form, x) and fill_parts(form, x, to, c, depth, -1)
    if form.kind == TUPLE:
        return is_tuple_of(form, x) and fill_parts(form, x, to, c, depth, -1)
    return fill_rows(form, x, to, c, depth) if form.kind == ROWS else fill_sum(form, x, to, c, depth)


cdef inline bint is_tuple_of(Form form, x) noexcept:
    """Whether a value is a tuple of so many parts; the form without any is that of None."""
    return PyTuple_CheckExact(x) and PyTuple_GET_SIZE(x) == form.count if form.count else x is None


cdef inline int fill_number(Form form, object x, char *to) except -1:
    cdef te_word w
    if form.kind == FLOAT and PyFloat_CheckExact(x):
        (<double *> to)[0] = PyFloat_AS_DOUBLE(x)
        return True
    if not take_scalar(form, x, &w):
        return False
    memcpy(to, &w, form.sizes[0])
    return True


cdef int fill_parts(Form form, object x, char **to, Cursor *c, int depth, int but) except -1:
    """Write the parts of a tuple or a record, but for one."""
    cdef int i, done
    cdef PyObject *part
    for i in range(form.count):
        part = form.parts[i]
        if i != but:
            y = field_of(form, x, i) if form.kind == RECORD else <object> PyTuple_GET_ITEM(x, i)
            if (<Form> part).kind == FLOAT and (<Form> part).rank == 0:
                done = fill_number(<Form> part, y, to[0])
            else:
                done = fill(<Form> part, y, to, c, depth)
            if not done:
                return False
        to += (<Form> part).width
    return True


cdef int fill_sum(Form form, object x, char **to, Cursor *c, int depth) except -1:
    """Write the number of an option, its leaves, and leaves for the other options."""
    cdef int i, option = option_of(form, x)
    if option < 0 or depth > DEPTH:
        return False
    (<int64_t *> to[0])[0] = option
    to += 1
    for i in range(form.count):
        if i != option:
            nothing(<Form> form.parts[i], to, c)
        elif not fill(<Form> form.parts[i], x, to, c, depth + 1):
            return False
        to += (<Form> form.parts[i]).width
    return True


cdef int fill_box(Form form, object x, char *to, Cursor *c, int depth) except -1:
    """Write the number of an option and its leaves to memory of their own, and its address.

    The last box of a record comes after its other fields, in a loop: a list of a thousand records has a flat C stack.
    """
    cdef int k, option
    cdef char *record
    cdef PyObject *part
    cdef te_places inside
    while True:
        option = option_of(form, x)
        if option < 0 or depth > DEPTH:
            return False
        part = form.parts[option]
        record = room(c, 8 * (1 + (<Form> part).total))
        (<int64_t *> record)[0] = option
        (<char **> to)[0] = record
        record += 8
        for k in range((<Form> part).width):
            inside[k] = record
            record += 8 * (<Form> part).words[k]
        depth += 1
        if (<Form> part).last < 0:
            return fill(<Form> part, x, inside, c, depth)
        if not fill_parts(<Form> part, x, inside, c, depth, (<Form> part).last):
            return False
        to = inside[(<Form> part).last_leaf]
        form, x = <Form> (<Form> part).parts[(<Form> part).last], field_of(<Form> part, x, (<Form> part).last)


cdef int nothing(Form form, char **to, Cursor *c) except -1:
    """Write leaves that are never read: zeros, and empty arrays."""
    cdef int k, word
    for k in range(form.width):
        memset(to[k], 0, form.strides[k])
        if form.words[k] > 1:
            (<char **> to[k])[0] = room(c, 8)
    return 0


cdef int fill_numbers(Form form, object x, char *to, Cursor *c) except -1:
    """Copy an array of numbers."""
    cdef te_array like
    cdef int64_t n = length_of(x)
    cdef char *data
    if form.rank != 1 or n < 0:
        return False
    data = room(c, form.sizes[0] * n + 8)
    (<char **> to)[0], (<int64_t *> to)[1] = data, n
    like.rank, like.shape[0] = 1, n
    return copy_rows(form, x, &like, 0, &data)


cdef int fill_rows(Form form, object x, char **to, Cursor *c, int depth) except -1:
    """Copy an array of any type into columns."""
    cdef Form element = form.items[0]
    cdef Py_ssize_t i, n
    cdef int k
    cdef te_places at
    if not (PyList_CheckExact(x) or PyTuple_CheckExact(x) or PyArray_CheckExact(x)) or element.width == 0:
        return False
    if PyArray_CheckExact(x) and (PyArray_NDIM(<ndarray> x) < 1 or is_hollow(<ndarray> x)):
        return False
    n = len(x)
    if element.rank and is_array(element, x, 1):
        return fill_matrix(numpy.ascontiguousarray(x), n, to[0], c)
    for k in range(element.width):
        at[k] = room(c, n * element.strides[k] + 8)
        (<char **> to[k])[0], (<int64_t *> to[k])[1] = at[k], n
    for i in range(n):
        if i >= len(x) or not fill(element, x[i], at, c, depth):
            return False
        for k in range(element.width):
            at[k] += element.strides[k]
    return True


cdef int fill_matrix(ndarray x, Py_ssize_t n, char *to, Cursor *c) except -1:
    """Copy the rows of an array, and where each of them lies."""
    cdef Py_ssize_t i, each = PyArray_STRIDES(x)[0]
    cdef char *data = room(c, PyArray_NBYTES(x) + 8)
    cdef char **rows = <char **> room(c, 16 * n + 8)
    memcpy(data, PyArray_DATA(x), PyArray_NBYTES(x))
    for i in range(n):
        rows[2 * i], (<int64_t *> rows)[2 * i + 1] = data + i * each, PyArray_DIMS(x)[1]
    (<char **> to)[0], (<int64_t *> to)[1] = <char *> rows, n
    return True


cdef object undifferentiated(Form form, object like):
    """The cotangent of a value without real numbers: None for each number, in the structure of the value."""
    is_number = form.kind < TUPLE and not PyList_CheckExact(like) and not PyTuple_CheckExact(like)
    return None if is_number else ABOVE.undifferentiated(like)


cdef object made_of(Form form, char **of, object like, Cursor *c):
    """Build a cotangent from its real leaves in memory, in the structure of its primal; NULL stands for zeros."""
    if form.kind == BOX:
        return made_of_box(form, of, like, c)
    if form.discrete:
        return undifferentiated(form, like)
    if form.kind == FLOAT:
        return numbers_of(NULL if of == NULL else of[0], like, c) if form.rank else number_of(of, c)
    if form.kind <= RECORD:
        return made_of_parts(form, of, like, c, -1)
    return rows_of(form, of, like, c) if form.kind == ROWS else made_of_sum(form, of, like, c)


cdef inline object number_of(char **of, Cursor *c):
    cdef double x = 0.0 if of == NULL else (<double *> of[0])[0]
    c.poles += not isfinite(x)
    return PyFloat_FromDouble(x)


cdef object made_of_parts(Form form, char **of, object like, Cursor *c, int but):
    """Build a tuple or a record, with None in place of one part."""
    cdef int i
    cdef PyObject *part
    made = te_instance(form.cls, ()) if form.is_plain else PyTuple_New(form.count)
    for i in range(form.count):
        part = form.parts[i]
        if (<Form> part).kind == FLOAT and (<Form> part).rank == 0:
            y = number_of(of, c)
        else:
            y = None if i == but else made_of(<Form> part, of, part_like(form, like, i), c)
        if of != NULL:
            of += (<Form> part).real_width
        if form.is_plain:
            set_field(form, made, i, y)
            continue
        Py_INCREF(y)
        PyTuple_SET_ITEM(made, i, y)
    return made if form.kind == TUPLE or form.is_plain else record_of(form, made)


cdef object made_of_sum(Form form, char **of, object like, Cursor *c):
    cdef int i, option = option_of(form, like)
    same(option >= 0)
    for i in range(option if of != NULL else 0):
        of += (<Form> form.parts[i]).real_width
    return made_of(<Form> form.parts[option], of, like, c)


cdef object made_of_box(Form form, char **of, object like, Cursor *c):
    """Build a member of a recursive sum; the last box of a record comes after its other fields, in a loop."""
    cdef int option, levels = 0
    cdef bint goes_on
    cdef char *record
    cdef te_places inside
    cdef PyObject *part
    cdef PyObject *above = NULL
    first = around = None
    while True:
        option = option_of(form, like)
        record = NULL if of == NULL else (<char **> of[0])[0]
        same(option >= 0 and levels <= DEPTH and (record == NULL or (<int64_t *> record)[0] == option))
        levels += 1
        part, of = form.parts[option], NULL if record == NULL else inside
        if record != NULL:
            real_places(<Form> part, record + 8, inside)
        goes_on = (<Form> part).last >= 0 and (<Form> part).is_plain
        y = made_of_parts(<Form> part, of, like, c, (<Form> part).last) if goes_on else made_of(<Form> part, of, like, c)
        if above == NULL:
            first = y
        else:
            set_field(<Form> above, around, (<Form> above).last, y)
        if not goes_on:
            return first
        form, like = <Form> (<Form> part).parts[(<Form> part).last], field_of(<Form> part, like, (<Form> part).last)
        of = NULL if of == NULL else inside + (<Form> part).last_real
        above, around = part, y


cdef void real_places(Form form, char *record, char **to) noexcept:
    """The addresses of the real leaves of an option in its linear record."""
    cdef int k
    for k in range(form.real_width):
        to[k] = record + form.real_at[k]


cdef object numbers_of(char *of, object like, Cursor *c):
    """An array of floats; zeros if the address is NULL."""
    cdef char *data = NULL if of == NULL else (<char **> of)[0]
    cdef Py_ssize_t i, n = len(like)
    cdef npy_intp size
    same(data == NULL or (<int64_t *> of)[1] == n)
    c.poles += data != NULL and not te_all_finite(<double *> data, n)
    if PyArray_CheckExact(like):
        size = n
        array = PyArray_EMPTY(1, &size, NPY_DOUBLE, False)
        if data == NULL:
            memset(PyArray_DATA(array), 0, 8 * n)
        else:
            memcpy(PyArray_DATA(array), data, 8 * n)
        return array
    made = [0.0 if data == NULL else (<double *> data)[i] for i in range(n)]
    return tuple(made) if PyTuple_CheckExact(like) else made


cdef object rows_of(Form form, char **of, object like, Cursor *c):
    """The cotangent of an array of any type."""
    cdef Form element = form.items[0]
    cdef Py_ssize_t i, n = len(like)
    cdef int k, count = 0
    cdef te_places at
    cdef int[LEAVES] strides
    for k in range(element.width):
        if element.real[k]:
            at[count] = NULL if of == NULL else (<char **> of[count])[0]
            same(at[count] == NULL or (<int64_t *> of[count])[1] == n)
            strides[count] = 8 * element.words[k]
            count += 1
    if element.rank and PyArray_CheckExact(like) and PyArray_NDIM(<ndarray> like) == 2:
        return matrix_of(at[0], <ndarray> like, c)
    made = []
    for i in range(n):
        made.append(made_of(element, NULL if count == 0 or at[0] == NULL else at, like[i], c))
        for k in range(count):
            at[k] += strides[k]
    if PyArray_CheckExact(like):
        return numpy.array(made, dtype=numpy.float64).reshape(like.shape)
    return tuple(made) if PyTuple_CheckExact(like) else made


cdef object matrix_of(char *rows, ndarray like, Cursor *c):
    """The cotangent of an array of two axes from its rows; zeros if there are none."""
    cdef Py_ssize_t i, m = PyArray_DIMS(like)[1]
    cdef ndarray made = PyArray_EMPTY(2, PyArray_DIMS(like), NPY_DOUBLE, False)
    cdef double *at = <double *> PyArray_DATA(made)
    cdef double *row
    for i in range(PyArray_DIMS(like)[0]):
        row = NULL if rows == NULL else (<double **> rows)[2 * i]
        if row == NULL:
            memset(at, 0, 8 * m)
        else:
            same((<int64_t *> rows)[2 * i + 1] == m)
            c.poles += not te_all_finite(row, m)
            memcpy(at, row, 8 * m)
        at += m
    return made


cdef object given_references(Form form, Cursor *c, object like):
    """The cotangent of a value with references, from its registers."""
    cdef char[LEAVES * 16] words
    cdef te_places of
    cdef te_array *array
    cdef int k, n = 0
    for k in range(form.width):
        if form.real[k]:
            of[n] = words + 16 * n
            if form.words[k] > 1:
                array = c.registers[c.at[c.leaf]].p
                (<char **> of[n])[0], (<int64_t *> of[n])[1] = array.data, array.shape[0]
            else:
                memcpy(of[n], &c.registers[c.at[c.leaf]], 8)
            n += 1
        c.leaf += 1
    return made_of(form, of, like, c)


cdef object kept(Form form, object x):
    """The value of a primal that a backpropagator keeps: a copy of what may change, but for large arrays."""
    if not form.has_array and not form.can_change:
        return x
    cdef Py_ssize_t i
    cdef list parts = []
    if has_parts(form, x):
        for i in range(form.count):
            parts.append(kept(<Form> form.parts[i], part_of(form, x, i)))
        return tuple(parts) if form.kind == TUPLE else record_of(form, tuple(parts))
    return kept_array(x)


cpdef object kept_array(object x):
    """A copy of a list or a small array, and of those in a list, a tuple or a dict."""
    if PyArray_CheckExact(x):
        return PyArray_NewCopy(<ndarray> x, NPY_CORDER) if PyArray_NBYTES(<ndarray> x) <= most_copied else x
    if type(x) is dict:
        return {key: kept_array(part) for key, part in x.items()}
    if is_list(x):
        made = [y if PyFloat_CheckExact(y) else kept_array(y) for y in x]
        return made if PyList_CheckExact(x) else tuple(made)
    return x


cdef object given_list(te_array *x, int axis, object like, double **at):
    """The numbers of an array of floats from an axis on as a list, or as an array where `like` is one."""
    cdef Py_ssize_t i
    cdef npy_intp n = x.shape[axis]
    if PyArray_CheckExact(like):
        same(PyArray_NDIM(<ndarray> like) == x.rank - axis and has_shape(<ndarray> like, x, axis))
        made = PyArray_EMPTY(x.rank - axis, PyArray_DIMS(<ndarray> like), NPY_DOUBLE, False)
        memcpy(PyArray_DATA(made), at[0], PyArray_NBYTES(<ndarray> made))
        at[0] += PyArray_SIZE(<ndarray> made)
        return made
    same(len(like) == n)
    if axis < x.rank - 1:
        made = [given_list(x, axis + 1, like[i], at) for i in range(n)]
    else:
        made = [at[0][i] for i in range(n)]
        at[0] += n
    return tuple(made) if PyTuple_CheckExact(like) else made


cdef list offers_like(tuple given, te_offer *to):
    """Make arrays for the cotangents of large arrays, the arguments of a program."""
    cdef list made = []
    cdef int k = 0
    for x in given:
        if k < OFFERS and PyArray_CheckExact(x) and PyArray_TYPE(<ndarray> x) == NPY_DOUBLE:
            to[k].size = PyArray_NBYTES(<ndarray> x)
            if to[k].size >= OFFERED:
                x = PyArray_EMPTY(PyArray_NDIM(<ndarray> x), PyArray_DIMS(<ndarray> x), NPY_DOUBLE, False)
                to[k].data = <char *> PyArray_DATA(<ndarray> x)
                made.append(x)
                k += 1
    to[k].size = 0
    return made


cdef object give_array(te_array *x, object like, Cursor *c):
    """Copy an array of the machine, which is in C order, to a numpy array; to a list if `like` is one."""
    cdef npy_intp[TE_RANK] dims
    cdef int k
    cdef double *at = <double *> x.data
    if is_list(like):
        c.poles += not te_all_finite(at, size(x))
        return given_list(x, 0, like, &at)
    for k in range(x.rank):
        dims[k] = x.shape[k]
    for k in range(PyList_GET_SIZE(<list> c.offered) if c.offered != NULL else 0):
        made = (<list> c.offered)[k]
        if (PyArray_DATA(<ndarray> made) == x.data and PyArray_NDIM(<ndarray> made) == x.rank
                and memcmp(PyArray_DIMS(<ndarray> made), dims, x.rank * sizeof(npy_intp)) == 0):
            del (<list> c.offered)[k]   # a second result in this memory is a copy
            c.poles += not te_all_finite(at, size(x))
            return made
    made = PyArray_EMPTY(x.rank, dims, types[x.kind], False)
    if x.kind == FLOAT:
        c.poles += not te_copy_finite(<double *> PyArray_DATA(<ndarray> made), at, PyArray_SIZE(<ndarray> made))
    else:
        memcpy(PyArray_DATA(<ndarray> made), x.data, PyArray_NBYTES(<ndarray> made))
    return made


cdef inline object part_like(Form form, object like, Py_ssize_t i):
    """A part of a primal whose cotangent has the part's structure; None where the form alone gives that."""
    if form.kind == RECORD and like is not None and (<Form> form.parts[i]).needs_like:
        return field_of(form, like, i)
    if form.kind == TUPLE and like is not None:
        return <object> PyTuple_GET_ITEM(like, i)
    return None


cdef object given_records(Form form, Cursor *c):
    """A list of tuples or records of numbers, from their columns."""
    cdef Form element = form.items[0]
    cdef int k
    columns = []
    for k in range(form.width):
        columns.append(give_array(c.registers[c.at[c.leaf + k]].p, None, c).tolist())
    c.leaf += form.width
    return list(zip(*columns)) if element.kind == TUPLE else [record_of(element, x) for x in zip(*columns)]


cdef object give(Form form, Cursor *c, bint cotangent, object like):
    """Build a value from its leaves in registers; in a cotangent discrete parts are None, and `like` is the primal."""
    cdef te_word w
    cdef Form item
    cdef Py_ssize_t i
    if cotangent and form.discrete:
        c.leaf += form.width
        return undifferentiated(form, like)
    if form.kind == ROWS and not cotangent:
        return given_records(form, c)
    if form.kind >= ROWS:
        return given_references(form, c, like)
    if form.kind < TUPLE:
        w = c.registers[c.at[c.leaf]]
        c.leaf += 1
        if form.rank:
            made = give_array(w.p, like, c)
            return made if form.lists == 0 or cotangent else made.tolist() if form.lists == form.rank else list(made)
        if form.values is not None:
            return form.values[w.i]
        return w.f if form.kind == FLOAT else w.i if form.kind == INT else w.i != 0
    if form.values is not None:
        return form.values[0]
    made = PyTuple_New(PyTuple_GET_SIZE(form.items))
    for i in range(PyTuple_GET_SIZE(form.items)):
        item = <Form> PyTuple_GET_ITEM(form.items, i)
        if item.kind == FLOAT and item.rank == 0:
            part = PyFloat_FromDouble(c.registers[c.at[c.leaf]].f)
            c.leaf += 1
        else:
            part = give(item, c, cotangent, part_like(form, like, i))
        Py_INCREF(part)
        PyTuple_SET_ITEM(made, i, part)
    return made if form.kind == TUPLE else record_of(form, made)


cdef uint64_t extents(list leaves, te_word *r, const int32_t *at) noexcept:
    """Hash the lengths of all arrays of reals in registers; a cotangent must have the value's lengths."""
    cdef uint64_t found = 0
    cdef Py_ssize_t k
    cdef int i
    cdef PyObject *form
    for k in range(PyList_GET_SIZE(leaves)):
        form = PyList_GET_ITEM(leaves, k)
        for i in range((<Form> form).rank if (<Form> form).kind == FLOAT else 0):
            found = found * <uint64_t> 0x9E3779B97F4A7C15 + <uint64_t> r[at[k]].p.shape[i] + 1
    return found


@cython.final
@cython.freelist(16)
cdef class Backpropagator:
    """The reverse pass of one run. It may be called any number of times, from any thread.

    Attributes
    ----------
    given : tuple
        The primals.
    steps : int
        The number of instructions that the forward pass ran.
    has_integers : bool
        Whether integers were given where the program takes floats.
    """

    cdef Native native
    cdef readonly tuple given
    cdef te_memory memory
    cdef te_word *words
    cdef te_word[FEW] few
    cdef uint64_t extents
    cdef readonly int64_t steps
    cdef readonly bint has_integers
    cdef bint at_pole   # whether a cotangent was not finite

    def __cinit__(self):
        self.words = self.few

    def __dealloc__(self):
        if self.native is not None and self.native.forward is not None:   # the collector may have cleared either
            self.native.forward.end(&self.memory)
        te_free(&self.memory)
        if self.words != self.few:
            free(self.words)

    @property
    def nbytes(self) -> int:
        """The bytes that loops keep for the reverse pass, without the program's own arrays."""
        cdef te_block *block = self.memory.blocks
        total = self.memory.capacity * sizeof(te_word)
        while block != NULL:
            total += block.end - <char *> block
            block = block.before
        return total

    cdef int hold(self, te_word *r) except -1:
        """Copy the registers that the reverse pass needs."""
        cdef int shared = self.native.forward.shared
        if shared > FEW:
            self.words = <te_word *> malloc(shared * sizeof(te_word))
            if self.words == NULL:
                self.words = self.few
                raise MemoryError
        memcpy(self.words, r, shared * sizeof(te_word))
        te_trim(&self.memory)
        return 0

    cdef object pull(self, cotangent):
        """One cotangent for each primal by the reverse pass; None if it refers the cotangent to another way."""
        cdef int64_t passed = 0
        found = self.native.back(self, cotangent, &passed)
        if self.native.promotion is not None:
            self.native.count(passed)
        return found

    def __call__(self, cotangent) -> tuple[Any, ...]:
        """Return one cotangent for each primal."""
        found = self.pull(cotangent)
        if found is None and self.native.longer is not None and self.native.better is not None:
            made = self.native.better.ahead(self.given)
            found = None if made is None else made[1](cotangent)
        if found is None and self.at_pole:
            poles = self.native.poles
            return (poles.vjp_at_pole(self.given) or poles.pole_vjp(self.given))[1](cotangent)
        if found is None and self.native.again is not None:
            return self.native.again(self.given)[1](cotangent)
        return found

    def passed(self, cotangent) -> int:
        """The number of instructions that a call runs."""
        cdef int64_t passed = 0
        self.native.back(self, cotangent, &passed)
        return passed


@cython.final
cdef class Native:
    """A program as a forward and a reverse pass for the machine.

    Parameters
    ----------
    forward, reverse : Code
    params : tuple of Form
        The forms of the primals, and of their cotangents in the reverse pass.
    result : Form
        The form of the value.
    cotangent : Form
        The form of the value's cotangent.
    again : callable, optional
        Computes value and backpropagator in another way, if the machine refers an operation to Python or a value is not
        finite. Without it the result is None in the first case, and the non-finite value in the second.

    Attributes
    ----------
    poles : object, optional
        Decides where numbers are not finite: ``is_plain(primals)`` tells whether the plain program has such a value as
        well, and does not raise an error; ``pole_vjp(primals)`` computes cotangents that are not finite, and so does
        ``vjp_at_pole(primals)`` in less time, or it gives None.
    better : Native, optional
        The same program as faster code, which is used from now on.
    most_few : int
        The most numbers of an array for which it is faster than numpy's operations, if numpy can run the program.
    """
    cdef Code forward, reverse
    cdef Form params, result, cotangent
    cdef list gradient_leaves, result_leaves, cotangent_leaves
    cdef readonly object again
    cdef readonly Native better
    cdef public Py_ssize_t most_few
    cdef public object poles
    cdef object promotion, longer
    cdef int64_t passed, promoted_after

    def __init__(self, Code forward, Code reverse, tuple params, Form result, Form cotangent, again=None):
        self.forward, self.reverse, self.again, self.most_few = forward, reverse, again, FEW_NUMBERS
        self.params, self.result, self.cotangent = Form("tuple", items=params), result, cotangent
        if forward.shared != reverse.shared:
            raise ValueError(f"the passes share {forward.shared} and {reverse.shared} registers")
        self.gradient_leaves, self.result_leaves = self.params.leaves(), result.leaves()
        self.cotangent_leaves = cotangent.leaves()
        given = len(self.gradient_leaves)
        leaves = given, len(self.result_leaves), len(self.cotangent_leaves), given
        if leaves != (forward.param_count, forward.result_count, reverse.param_count, reverse.result_count):
            raise ValueError("the parameters and results of the passes do not match their forms")

    def promote_after(self, int64_t instructions, promotion: Callable[[], Native | None]) -> None:
        """After this many instructions, call ``promotion()`` for faster code of the program; it may return None."""
        self.promoted_after, self.promotion = instructions, promotion

    def replace_if_long(self, longer: Callable[[], Native | None]) -> None:
        """Once a loop is too long to run without checks for interrupts, call ``longer()`` for code that has them."""
        self.longer = longer

    def promote(self) -> None:
        """Request the faster code now, and repeatedly for that code as well."""
        self.promoted_after = -1
        self.count(0)
        if self.better is not None:
            self.better.promote()

    cdef int count(self, int64_t passed) except -1:
        """Count instructions that have run."""
        self.passed += passed
        if self.passed > self.promoted_after and self.promotion is not None:
            promotion, self.promotion = self.promotion, None
            self.replace(promotion())
        return 0

    cdef void replace(self, Native better) noexcept:
        self.better = better
        if better is not None:
            better.poles = self.poles

    def vjp(self, *primals) -> tuple[Any, Backpropagator] | None:
        """Run the program; return (value, backpropagator), or None if the machine cannot take these primals.

        Raises
        ------
        ZeroDivisionError
            At a pole, if there is no `again`.
        """
        return self.ahead(primals)

    cdef object ahead(self, tuple primals):
        if self.better is not None:
            return self.better.ahead(primals)
        made = self.run_ahead(primals)
        if made is None and self.longer is not None and self.better is not None:
            return self.better.ahead(primals)
        if self.promotion is not None and made is not None:
            self.count((<Backpropagator> <object> PyTuple_GET_ITEM(made, 1)).steps)
        return made

    cdef object run_ahead(self, tuple primals):
        cdef Backpropagator made = Backpropagator.__new__(Backpropagator)
        cdef Code code = self.forward
        cdef te_word[SMALL] small
        cdef te_word *r = small
        cdef Py_ssize_t before
        cdef Cursor c
        made.native, made.given = self, kept(self.params, primals)
        if code.registers > SMALL:
            r = allocated(code.registers)
        try:
            code.begin(r)
            c = Cursor(r, code.params, 0, te_arena(NULL, NULL, NULL), 0, 0, NULL)
            before = integers
            if self.params.has_references:
                code.reopen(&made.memory)
            if not take(self.params, made.given, &c, &made.memory):
                return None
            made.has_integers = integers != before
            if not self.is_done(code.run(r, &made.memory, &made.memory, &made.steps)):   # both passes may be one
                return None
            if not self.are_plain(self.result_leaves, r, code.results, BOOL):
                return None
            made.hold(r)
            made.extents = extents(self.result_leaves, r, code.results)
            c = Cursor(r, code.results, 0, te_arena(NULL, NULL, NULL), 0, 0, NULL)
            value = give(self.result, &c, False, None)
            is_taken = self.again is None or self.are_finite(self.result_leaves, r, code.results, &c)
            if not is_taken and (self.poles is None or not self.poles.is_plain(made.given)):
                return None
            return value, made
        finally:
            if r != small:
                free(r)

    cdef object back(self, Backpropagator made, cotangent, int64_t *passed):
        cdef Code code = self.reverse
        cdef te_word[SMALL] small
        cdef te_word *r = small
        cdef te_offer[OFFERS + 1] offers
        cdef list offered = offers_like(made.given, offers)
        cdef te_memory memory = te_memory(NULL, 0, 0, NULL, NULL, NULL, &offers[0])
        cdef Cursor c
        cdef bint collects = False
        if code.registers > SMALL:
            r = allocated(code.registers)
        try:
            memcpy(r, made.words, code.shared * sizeof(te_word))
            code.begin(r)
            c = Cursor(r, code.params, 0, te_arena(NULL, NULL, NULL), 0, 0, NULL)
            if not take(self.cotangent, cotangent, &c, &memory):
                return None
            if extents(self.cotangent_leaves, r, code.params) != made.extents:
                return None
            if not self.is_done(code.run(r, &memory, &made.memory, passed)):
                return None
            if not self.are_plain(self.gradient_leaves, r, code.results, FLOAT):
                return None
            c = Cursor(r, code.results, 0, te_arena(NULL, NULL, NULL), 0, 0, <PyObject *> offered)
            # The collector would visit all new objects of a tree repeatedly, and free none.
            collects = self.params.has_array and PyGC_Disable()
            given = give(self.params, &c, True, made.given)
            if self.again is None or self.are_finite(self.gradient_leaves, r, code.results, &c):
                return given
            made.at_pole = self.poles is not None
            return None
        finally:
            if collects:
                PyGC_Enable()
            code.end(&memory)
            if r != small:
                free(r)

    cdef int is_done(self, int status) except -1:
        """Whether a run reached its end."""
        if status == TE_POLE and self.again is None:
            raise ZeroDivisionError("a pole")
        if status == TE_LONG and self.better is None and self.longer is not None:
            self.replace(self.longer())
            if self.better is None:
                self.longer = None   # there is no such code
        return status == TE_DONE

    cdef bint are_plain(self, list leaves, te_word *r, const int32_t *at, Kind last) noexcept:
        """Whether the arrays in registers can be returned, up to the last of the kinds of numbers: they are in C order."""
        cdef Py_ssize_t k
        cdef PyObject *form
        for k in range(PyList_GET_SIZE(leaves)):
            form = PyList_GET_ITEM(leaves, k)
            if (<Form> form).rank and (<Form> form).kind <= last:   # not references, nor what has no cotangent
                if r[at[k]].p.capacity == 0 and not te_is_plain(r[at[k]].p):
                    return False
        return True

    cdef bint are_finite(self, list leaves, te_word *r, const int32_t *at, Cursor *c) noexcept:
        """Whether the numbers in registers are finite, and those of the arrays that were given."""
        cdef Py_ssize_t k
        cdef PyObject *form
        for k in range(PyList_GET_SIZE(leaves) if c.poles == 0 else 0):
            form = PyList_GET_ITEM(leaves, k)
            if (<Form> form).kind == FLOAT and not (<Form> form).rank and not isfinite(r[at[k]].f):
                return False
        return c.poles == 0


# ---------------------------------------------------------------- passes on whole arrays


cdef int take_whole(Form form, object x, list to, object spare) except -1:
    """Append the leaves of a value as numpy takes them; return False if it does not have this form.

    A list may be written to the spare array, if there is one and it has the list's size.
    """
    cdef Py_ssize_t i
    if form.kind < TUPLE:
        if form.rank:
            if PyList_CheckExact(x) and form.kind == FLOAT and form.rank <= 2:
                x = floats_of(x, spare)
            if not is_array(form, x, 0) or is_hollow(<ndarray> x):
                return False
        elif type(x) is float64 and form.kind == FLOAT:
            x = <double> x
        elif not (PyFloat_CheckExact(x) if form.kind == FLOAT else PyLong_CheckExact(x) if form.kind == INT
                  else x is True or x is False):
            return False
        to.append(x)
        return True
    if not has_parts(form, x):
        return False
    for i in range(form.count):
        if not take_whole(<Form> form.parts[i], part_of(form, x, i), to, spare):
            return False
    return True


cdef bint is_array(Form form, object x, int more) noexcept:
    """Whether a value is an array of a form, or of some more axes."""
    return (PyArray_CheckExact(x) and PyArray_NDIM(<ndarray> x) == form.rank + more
            and PyArray_TYPE(<ndarray> x) == types[<int> form.kind] and PyArray_ISNOTSWAPPED(<ndarray> x))


cdef object give_whole(Form form, object leaves, object like, bint cotangent, PyObject *spare):
    """Build a value from its leaves; in a cotangent discrete parts have none, and `like` is the primal."""
    cdef Py_ssize_t i
    if cotangent and form.discrete:
        return undifferentiated(form, like)
    if form.kind < TUPLE:
        x = next(leaves)
        if form.rank == 0:
            return x if PyFloat_CheckExact(x) else PyNumber_Float(x)
        if PyList_CheckExact(like) or (not cotangent and form.lists and form.lists == form.rank):
            return listed(x, spare)
        return x if cotangent or form.lists == 0 else list(x)
    made = PyTuple_New(PyTuple_GET_SIZE(form.items))
    for i in range(PyTuple_GET_SIZE(form.items)):
        part = give_whole(<Form> PyTuple_GET_ITEM(form.items, i), leaves, part_like(form, like, i), cotangent, NULL)
        Py_INCREF(part)
        PyTuple_SET_ITEM(made, i, part)
    return made if form.kind == TUPLE else record_of(form, made)


cdef object listed(ndarray x, PyObject *spare):
    """An array as a list of Python's numbers; see `list_of_doubles`."""
    cdef double *at = <double *> PyArray_DATA(x)
    if PyArray_TYPE(x) != NPY_DOUBLE or not PyArray_ISCARRAY_RO(x):
        return x.tolist()
    return list_of_doubles(PyArray_NDIM(x), PyArray_DIMS(x), &at, spare)


cdef list list_of_doubles(int rank, npy_intp *dims, double **at, PyObject *spare):
    """The numbers of an array in C order as lists; faster than numpy's `tolist`, which looks at each number's type.

    Lists and numbers of an earlier result to which nothing else refers are used again: to free and allocate them takes
    as long as a product of matrices of their size.
    """
    cdef Py_ssize_t i, n = dims[0]
    cdef bint again = is_ours(spare) and PyList_CheckExact(<object> spare) and PyList_GET_SIZE(<object> spare) == n
    cdef list made = <list> spare if again else PyList_New(n)
    cdef PyObject *old = NULL
    for i in range(n):
        if again:
            old = PyList_GET_ITEM(made, i)
        if rank == 1 and is_ours(old) and PyFloat_CheckExact(<object> old):
            (<PyFloatObject *> old).ob_fval = at[0][i]
            continue
        x = list_of_doubles(rank - 1, dims + 1, at, old) if rank > 1 else PyFloat_FromDouble(at[0][i])
        Py_INCREF(x)
        PyList_SET_ITEM(made, i, x)
        Py_XDECREF(old)
    if rank == 1:
        at[0] += n
    return made


cdef inline bint is_ours(PyObject *x):
    """Whether there is an object to which only its holder refers."""
    return x != NULL and references(x) == 1


@cython.final
cdef class Whole:
    """A program whose two passes are functions of numbers and numpy's arrays.

    Parameters
    ----------
    forward : callable
        ``forward(*leaves) -> (results, kept)``; it raises an error where Python may.
    reverse : callable
        ``reverse(kept, *cotangents) -> cotangents``, one for each real leaf.
    params, result : Form
        The forms of the primals as a tuple, and of the value.
    passes : object
        `WholePasses`, which converts other cotangents.
    other : callable
        ``other(primals)`` is another backpropagator, for cotangents that are not finite.
    """
    cdef object forward, reverse, passes, other
    cdef Form params, result
    cdef list last      # the last value, if it is a list
    cdef object spare   # an array for the next cotangent: memory that is in use costs less than fresh pages

    def __init__(self, forward, reverse, tuple params, Form result, passes, other):
        self.forward, self.reverse, self.passes, self.other = forward, reverse, passes, other
        self.params, self.result = Form("tuple", items=params), result
        if result.has_references or any([x.kind != FLOAT and x.rank == 0 for x in result.leaves()]):
            raise ValueError("a value that is built otherwise")

    def vjp(self, *primals) -> tuple[Any, WholeBackpropagator] | None:
        """Run the program; return (value, backpropagator), or None if it may raise an error or has other arguments."""
        return self.ahead(primals)

    cdef object ahead(self, tuple primals):
        cdef WholeBackpropagator made = WholeBackpropagator.__new__(WholeBackpropagator)
        made.whole, made.leaves, made.given = self, [], kept(self.params, primals)
        if not take_whole(self.params, made.given, made.leaves, None):
            return None
        try:
            results, made.held = self.forward(*made.leaves)
        except (ArithmeticError, ValueError, IndexError):
            return None
        if not is_finite(results):
            return None
        made.results = results
        if self.result.has_array:
            results, made.results = self.passes.given_and_kept(results, made.held, made.leaves, self.result.lists)
        return self.value_of(results), made

    cdef object value_of(self, results):
        """Build the value, from the lists of the last one if that is gone."""
        cdef list last = self.last
        self.last = None
        value = give_whole(self.result, iter(results), None, False, <PyObject *> last)
        if PyList_CheckExact(value) and PyArray_NBYTES(<ndarray> results[0]) * 4 <= most_spared:
            self.last = value
        return value


@cython.final
cdef class WholeBackpropagator:
    """The reverse pass of one run on whole arrays.

    Attributes
    ----------
    given : tuple
        The primals.
    """

    cdef Whole whole
    cdef readonly tuple given
    cdef object results, held
    cdef list leaves

    def __call__(self, cotangent) -> tuple[Any, ...]:
        """Return one cotangent for each primal."""
        cdef Whole whole = self.whole
        cdef list given = []
        spare, whole.spare = whole.spare, None
        if not (whole.result.width == 1 and take_whole(whole.result, cotangent, given, spare) and self.fits(given[0])):
            given = whole.passes.cotangents_in(cotangent, self.results)
        try:
            found = None if given is None else whole.reverse(self.held, *given)
        except (ArithmeticError, ValueError, IndexError):
            found = None
        if found is None or not is_finite(found):
            return whole.other(self.given)(cotangent)
        found = give_whole(whole.params, iter(owned(found, given + self.leaves)), self.given, True, NULL)
        spare = None
        if (PyList_CheckExact(cotangent) and PyList_GET_SIZE(given) == 1 # nothing else refers to the array of a list
                and references(<PyObject *> PyList_GET_ITEM(given, 0)) == 1
                and PyArray_NBYTES(<ndarray> PyList_GET_ITEM(given, 0)) <= most_spared):
            whole.spare = given[0]
        return found

    cdef bint fits(self, x):
        """Whether a cotangent of the value's form has its shape."""
        return not PyArray_CheckExact(x) or x.shape == self.results[0].shape


cdef class Enterable:
    """A program that an engine may run directly, once its passes exist."""

    cdef public object ways   # see `run`
    cdef public tuple arrays  # where arguments need no `check_lists` if they have arrays there; () if they always need it
    cdef public Py_ssize_t places # how many arguments a call may give by position
    cdef public object watched    # compares what the program has looked at outside with what is there now
    cdef public dict by_kinds     # the programs for arguments, by what `kind_of` of the frontend gives for these
    cdef public object rule_of    # what makes the rule of a call that is one record; None if none has been
    cdef public tuple tangent     # the form of tangents of all primals, and what `run` takes for them; None if unknown
    cdef public int may_give_integers   # which floats of the value may be integers in Python: (1) 0, (2) 1, (4) any
    cdef public tuple along       # the same form, and the program of directional derivatives; None if unknown

    def __call__(self, *args, **named):
        """Run the program as ordinary Python; on traced values it leaves one record with its own derivative."""
        if traces.count == 0:
            return (self.python if self.calls_itself else self.function)(*args, **named)
        found = None if named or len(args) > self.places else call_at_once(self, args)
        return self.called(args, named) if found is None else found

    def at_once(self, tuple primals):
        """The same as `at`, for Python."""
        return self.at(primals)

    cdef Enterable at(self, tuple primals):
        """The program for primals of such kinds if it runs directly, and what it has looked at is the same; else None."""
        found = self.by_kinds.get(class_of(primals)) if self.by_kinds else None
        cdef Enterable entered = found if found is not None and self.function.__code__ is self.code else self
        if entered.ways is None and entered.tangent is None and entered.along is None:
            return None
        return entered if entered.watched is None or entered.watched.same() else None

    cdef Enterable given_at(self, tuple primals):
        """The same for the arguments of a call; None if it gives more by position than the function takes there."""
        return self.at(primals) if PyTuple_GET_SIZE(primals) <= self.places else None

    def jvp_at_once(self, tuple primals, tuple tangents) -> tuple[Any, Any] | None:
        """Return (value, tangent) of the program; None if it cannot run directly."""
        cdef Enterable entered = self.given_at(primals)
        if entered is None or entered.tangent is None:
            return None
        if entered.arrays is not None and not are_arrays(entered.arrays, primals):
            return None
        if not have_tangents(<Form> entered.tangent[0], primals, tangents):
            return None
        made = run(entered.tangent[1], None, primals + tangents)
        if made is None:
            return entered.executable.jvp_at_pole(primals, tangents)
        if type(made[1]) is not Backpropagator or (<Backpropagator> made[1]).has_integers:
            return None
        if entered.may_give_integers and may_be_integer(made[0][0], entered.may_give_integers):
            return None
        return None if has_infinity(made[0][0]) else made[0]

    def along_at_once(self, engine, tuple primals, tuple tangents) -> tuple[Any, Backpropagator] | None:
        """Return ((value, tangent), backpropagator) of the directional derivative; None if it cannot run directly."""
        return self.beside(engine, primals, tangents)

    cdef tuple beside(self, engine, tuple primals, tuple tangents):
        cdef Enterable entered = self.given_at(primals)
        if entered is None or entered.along is None:
            return None
        if not have_tangents(<Form> entered.along[0], primals, tangents):
            return None
        made = (<Enterable> entered.along[1]).vjp(engine, primals + tangents)
        return made if made is not None and type(made[1]) is Backpropagator else None

    def hvp_at_once(self, engine, tuple primals, tuple tangents) -> tuple[Any, ...] | None:
        """Return the products with the Hessian for all primals; None if the program cannot run directly."""
        made = self.beside(engine, primals, tangents)
        if made is None or type(made[0][0]) is not float:
            return None
        found = (<Backpropagator> made[1]).pull((0.0, 1.0))
        return None if found is None else found[:len(primals)]

    def vjp_at_once(self, engine, tuple primals, dict keywords) -> tuple[Any, Callable[[Any], tuple[Any, ...]]] | None:
        """Return (value, backpropagator) of the program; None if it cannot run directly."""
        return None if keywords else self.vjp(engine, primals)

    cdef object vjp(self, engine, tuple primals):
        cdef Enterable entered = self.given_at(primals)
        return None if entered is None or entered.ways is None else entered.run(engine, primals)

    cdef object run(self, engine, tuple primals):
        if self.arrays is not None and not are_arrays(self.arrays, primals):
            try:
                self.check_lists(primals)
            except StructureError:      # such classes run on dual numbers, or are refused
                return None
        made = run(self.ways, engine, primals)
        if made is not None:
            back = <object> PyTuple_GET_ITEM(made, 1)
            if ((type(back) is Backpropagator and (<Backpropagator> back).has_integers)
                    or (self.may_give_integers and may_be_integer(<object> PyTuple_GET_ITEM(made, 0), self.may_give_integers))):
                return self.of_integers(primals, made)
        return made

    cdef tuple ran(self, tuple values):
        """What the core records of a call at plain values of traced arguments; None if only Python can record it."""
        cdef Enterable entered = self.at(values)
        if entered is None or entered.ways is None or entered.rule_of is None:
            return None
        engine = entered.rule_of.engine
        if engine.switches is not None:
            return None
        try:
            made = entered.run(engine, values)
        except ArithmeticError:     # which numpy's numbers may not raise
            return None
        return None if made is None else (entered, entered.rule_of, made[0], made[1])


include "calling.pxi"


cdef bint may_be_integer(x, int which) except -1:
    """Whether a float outside lists and arrays may be an integer in Python; of a record the program finds out."""
    cdef double v
    if type(x) is float:
        v = PyFloat_AS_DOUBLE(x)
        return (which & 1 and v == 0.0) or (which & 2 and v == 1.0) or (which & 4 and fmod(v, 1.0) == 0.0)
    if type(x) is tuple:
        for part in <tuple> x:
            if may_be_integer(part, which):
                return True
        return False
    return not (PyList_CheckExact(x) or PyLong_CheckExact(x) or type(x) is bool or PyArray_CheckExact(x))


cdef bint have_tangents(Form form, tuple primals, tuple tangents) except -1:
    """Whether primals of a form have tangents of their classes, lengths and shapes: loops go through the primals' sizes."""
    return len(primals) == len(tangents) and alike(form, primals, tangents, 0)


#: The number of products from which on BLAS multiplies matrices faster than loops: that of 24 x 24 matrices.
LARGE = 24**3


#: How many parts a tuple may have of which a program is compiled for each part: a second for 300 parts.
MOST_PARTS = 256
cdef Py_ssize_t most_parts = MOST_PARTS


cpdef object class_of(x, int depth=0):
    """Return what decides the type of a number, an array, or a list, tuple or dict of these; None for another value.

    Of vectors and matrices of float64 it is the number of axes: axes of one element, and sizes of matrices for BLAS, decide
    more than that.
    """
    of = type(x)
    if of is float or of is int or of is bool or of is float64:
        return of
    if of is Dual:
        return float64 if is_numpy(x) else float
    if PyArray_CheckExact(x):
        return axes_of(<cnp.ndarray> x)
    if depth == DEEPEST or not (of is list or of is tuple or of is dict) or not len(x):
        return None
    if of is not list:
        found = [of] if of is tuple else [of, tuple(x)]
        for item in x if of is tuple else (<dict> x).values():
            part = class_of(item, depth + 1)
            if part is None:
                return None
            found.append(part)
        return None if of is tuple and len(found) > most_parts else tuple(found)
    one = class_of((<list> x)[0], depth + 1)
    return None if one is None or not are_all(<list> x, one, depth + 1) else (list, one)


cdef bint are_all(list x, one, int depth) except -1:
    """Whether all elements of a list have one class."""
    cdef Py_ssize_t i
    for i in range(1, len(x)):
        if not (one is float and PyFloat_CheckExact(x[i])) and class_of(x[i], depth) != one:
            return False
    return True


cdef enum:
    DEEPEST = 8     # lists of lists of which Python finds the class


cdef object axes_of(cnp.ndarray x):
    cdef Py_ssize_t rows, columns, n = cnp.PyArray_NDIM(x)
    if cnp.PyArray_TYPE(x) != cnp.NPY_DOUBLE or not cnp.PyArray_ISNOTSWAPPED(x) or not 1 <= n <= 2:
        return None
    rows, columns = cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, n - 1)
    if rows == 1 or columns == 1 or (n == 2 and rows * columns * min(rows, columns) >= <Py_ssize_t> LARGE):
        return None
    return VECTOR if n == 1 else MATRIX


cdef tuple VECTOR = (ndarray, 1), MATRIX = (ndarray, 2)


def enter(program, tuple primals, dict keywords, engine) -> tuple[Any, Callable[[Any], tuple[Any, ...]]] | None:
    """Return (value, backpropagator) of an `Enterable` program; None if it cannot run directly."""
    return (<Enterable> program).vjp(engine, primals) if not keywords and isinstance(program, Enterable) else None


cdef bint are_arrays(tuple places, tuple primals) except -1:
    """Whether there are such places, the index of a primal and names of fields in it, with arrays at all of them."""
    cdef tuple place
    cdef Py_ssize_t i
    for place in places:
        x = primals[place[0]] if place[0] < len(primals) else None
        for i in range(1, len(place)):
            x = x.get(place[i]) if type(x) is dict else getattr(x, place[i], None)
        if not PyArray_CheckExact(x):
            return False
    return len(places) > 0


def run(ways: tuple[Any, ...], engine, tuple primals) -> tuple[Any, Callable[[Any], tuple[Any, ...]]] | None:
    """Run the passes of a program; return (value, backpropagator), or None if all refer these primals to Python.

    The passes are `native`, which runs all arguments. Where that is None, `few` runs arguments with few numbers, and
    `whole` the rest. ``others(engine, primals)`` runs what these do not take, such as rows of different lengths.
    """
    cdef PyObject *native = PyTuple_GET_ITEM(ways, 0)
    cdef PyObject *few = PyTuple_GET_ITEM(ways, 1)
    cdef PyObject *whole = PyTuple_GET_ITEM(ways, 2)
    made = None
    if not is_ragged(primals):
        if <object> native is None and <object> few is not None:
            if has_few((<Native> few).params, primals, (<Native> few).most_few):
                native = few
        if <object> native is not None:
            made = (<Native> native).ahead(primals)
        elif <object> whole is not None:
            made = (<Whole> whole).ahead(primals)
    return made if made is not None else (<object> PyTuple_GET_ITEM(ways, 3))(engine, primals)


def is_ragged(tuple values) -> bool:
    """Whether there is a list whose rows have different lengths, which no array holds.

    Examples
    --------
    >>> is_ragged(([[1.0], [2.0, 3.0]],)), is_ragged(([[1.0], [2.0]], [1.0, 2.0]))
    (True, False)
    """
    cdef Py_ssize_t n, first
    for x in values:
        first = -1
        if PyList_CheckExact(x):
            for row in <list> x:
                n = length_of(row)
                if n < 0:
                    break
                if n != first >= 0:
                    return True
                first = n
    return False


cdef inline Py_ssize_t length_of(row) noexcept:
    """The length of a list, a tuple or an array; -1 for other values."""
    if PyArray_CheckExact(row):
        return PyArray_DIMS(<ndarray> row)[0] if PyArray_NDIM(<ndarray> row) else -1
    return PyList_GET_SIZE(row) if PyList_CheckExact(row) else PyTuple_GET_SIZE(row) if PyTuple_CheckExact(row) else -1


def fits(Form form, value, check: Callable[[tuple[Any, ...]], None]) -> bool:
    """Whether a value of any depth has just the types of a form: no integer for a float, no other sequence for a list.

    ``check((value,))`` refuses large values that contain themselves.
    """
    cdef list pending = [form, value]
    cdef Py_ssize_t seen = 0
    while pending:
        x = pending.pop()
        seen += 1
        if seen == CHECKED:
            check((value,))
        if not is_of(<Form> pending.pop(), x, pending):
            return False
    return True


cdef inline bint is_number(Form form, object x) noexcept:
    """Whether a value is a number of a form."""
    return PyFloat_CheckExact(x) if form.kind == FLOAT else PyLong_CheckExact(x) if form.kind == INT else type(x) is bool


cdef bint is_of(Form form, object x, list pending) except -1:
    """Whether a value is of a form, apart from parts that are appended with their forms."""
    cdef Form item = form
    cdef int rank = 0
    cdef Py_ssize_t i
    if form.kind < TUPLE and form.rank == 0:
        return is_number(form, x)
    if PyArray_CheckExact(x):
        while item.kind == ROWS:
            rank, item = rank + 1, <Form> PyTuple_GET_ITEM(item.items, 0)
        return item.kind < TUPLE and is_array(item, x, rank)
    if form.kind == BOX or form.kind == SUM:
        i = option_of(form, x)
        return i >= 0 and is_of(<Form> PyTuple_GET_ITEM(form.items, i), x, pending)
    if form.kind < TUPLE or form.kind == ROWS:
        if not PyList_CheckExact(x) or form.rank > 1:
            return False
        for i in range(PyList_GET_SIZE(x)):
            y = <object> PyList_GET_ITEM(x, i)
            if form.kind == ROWS:
                pending.append(<Form> PyTuple_GET_ITEM(form.items, 0))
                pending.append(y)
            elif not is_number(form, y):
                return False
        return True
    if form.kind == TUPLE and x is None:
        return form.count == 0
    if not has_parts(form, x) or (form.cls is dict and len(<dict> x) != form.count):
        return False
    for i in range(form.count):
        item, y = <Form> form.parts[i], part_of(form, x, i)
        if item.kind >= TUPLE or item.rank:
            pending.append(item)
            pending.append(y)
        elif not is_number(item, y):
            return False
    return True


def are_alike(Form form, x, y) -> bool:
    """Whether two values of a form have the same classes, lengths and shapes in all parts."""
    return alike(form, x, y, 0)


cdef bint alike(Form form, x, y, int depth) except -1:
    cdef Py_ssize_t i, n = form.count if form.kind == RECORD else length_of(x)
    if type(x) is not type(y) or depth > DEPTH:
        return False
    if form.kind == BOX:
        i = option_of(form, x)
        return i >= 0 and alike(<Form> form.parts[i], x, y, depth + 1)
    if PyArray_CheckExact(x):
        return x.shape == y.shape
    if form.kind != RECORD and n != length_of(y):
        return False
    for i in range(n if form.count else 0):
        if not alike(<Form> form.parts[min(i, form.count - 1)], part_of(form, x, i), part_of(form, y, i), depth + 1):
            return False
    return True


cdef bint has_few(Form form, object x, Py_ssize_t most_few) except -1:
    """Whether a value of a form has few numbers in each array and each sequence."""
    cdef bint is_record = form.kind == RECORD and type(x) is form.cls
    cdef Py_ssize_t i, n = form.count if is_record else length_of(x)
    if PyArray_CheckExact(x):
        return PyArray_SIZE(<ndarray> x) <= most_few
    if n > most_few and form.kind != TUPLE and form.kind != RECORD:
        return False
    for i in range(n):
        if not has_few(<Form> form.parts[min(i, form.count - 1)] if form.count else form, part_of(form, x, i), most_few):
            return False
    return True


def leaves(Form form, tuple primals) -> list[Any] | None:
    """The leaves of primals as numpy takes them; None for other values than those of the form."""
    cdef list found = []
    return found if take_whole(form, primals, found, None) else None


def floats_of(list rows, spare=None):
    """A list of floats, or of lists of equally many floats, as an array; None for other lists.

    It is the spare array, if that has the same shape.
    """
    cdef Py_ssize_t i, width, n = len(rows)
    cdef bint is_flat = n > 0 and PyFloat_CheckExact(rows[0])
    if not is_flat and (n == 0 or not PyList_CheckExact(rows[0])):
        return None
    width = n if is_flat else len(rows[0])
    cdef object shape = (width,) if is_flat else None
    if shape is None:
        shape = (n, width)
    made = spare if spare is not None and spare.shape == shape else numpy.empty(shape)
    cdef double *to = <double *> PyArray_DATA(<ndarray> made)
    if is_flat:
        return made if copy_floats(rows, n, to) else None
    for i in range(n):
        if not PyList_CheckExact(rows[i]) or not copy_floats(rows[i], width, to + i * width):
            return None
    return made


cdef bint copy_floats(list x, Py_ssize_t n, double *to) except -1:
    """Write the floats of a list; return False if they are not n, or not all floats."""
    cdef Py_ssize_t i
    if PyList_GET_SIZE(x) != n:
        return False
    for i in range(n):
        y = <object> PyList_GET_ITEM(x, i)
        if not PyFloat_CheckExact(y):
            return False
        to[i] = PyFloat_AS_DOUBLE(y)
    return True


def owned(found: Sequence[Any], list given) -> list[Any]:
    """The result of a reverse pass, in which every array is a fresh copy."""
    cdef list result = []
    for x in found:
        if PyArray_CheckExact(x):
            if not PyArray_CHKFLAGS(<ndarray> x, NPY_ARRAY_OWNDATA | NPY_ARRAY_WRITEABLE) or is_among(x, given, result):
                x = numpy.array(x)
        elif type(x) is float64:
            x = <double> x
        result.append(x)
    return result


cdef bint is_among(x, list given, list result) noexcept:
    for y in given:
        if x is y:
            return True
    for y in result:
        if x is y:
            return True
    return False


cdef int64_t size(te_array *x) noexcept nogil:
    cdef int64_t n = 1
    cdef int k
    for k in range(x.rank):
        n *= x.shape[k]
    return n


cdef te_word *allocated(int n) except NULL:
    cdef te_word *made = <te_word *> malloc(n * sizeof(te_word))
    if made == NULL:
        raise MemoryError
    return made
