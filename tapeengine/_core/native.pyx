"""Programs whose two passes run on the register machine: from Python's values to registers and back.

A `Form` says how values of a type lie in registers, leaf by leaf. What does not fit it exactly, and what the machine
refers to Python, is answered with None, or by the function `again`.
"""

cimport cython
cimport numpy as cnp
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.list cimport PyList_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy
from numpy cimport (
    NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, NPY_BOOL, NPY_DOUBLE, NPY_INT64, PyArray_CheckExact, PyArray_CHKFLAGS, PyArray_DATA, PyArray_DIMS, PyArray_EMPTY, PyArray_ISALIGNED,
    PyArray_IS_C_CONTIGUOUS, PyArray_IS_F_CONTIGUOUS, PyArray_ISNOTSWAPPED, PyArray_NDIM, PyArray_SIZE, PyArray_STRIDES,
    PyArray_TYPE, ndarray, npy_intp,
)

from tapeengine._core.machine cimport (
    TE_DONE, TE_POLE, TE_RANK, Code, te_all_finite, te_allocate, te_array, te_describe, te_block, te_free, te_memory, te_trim, te_word,
)

import numpy

cnp.import_array()

cdef object float64 = numpy.float64

cdef enum Kind:
    FLOAT = 0
    INT = 1
    BOOL = 2
    TUPLE = 3
    RECORD = 4

cdef enum:
    SMALL = 512   # registers that lie on the C stack
    FEW = 16      # words that a backpropagator has room for in itself

#: Arguments of at most this many bytes are copied, since the caller may change them between the passes.
COPIED = 32 * 1024
cdef Py_ssize_t most_copied = COPIED

cdef int[3] types = [NPY_DOUBLE, NPY_INT64, NPY_BOOL]


@cython.final
cdef class Form:
    """The form of a value.

    Parameters
    ----------
    kind : {"float", "int", "bool", "tuple", "record"}
    rank : int
        The number of dimensions of an array; 0 is a scalar.
    items : tuple of Form
        The parts of a tuple or a record.
    cls : type, optional
        The class of a record.
    fields : tuple of str
        The names of its parts.
    """

    cdef readonly Kind kind
    cdef readonly int rank
    cdef tuple items, fields
    cdef object cls
    cdef readonly bint discrete
    cdef bint has_array

    def __init__(self, str kind, int rank=0, tuple items=(), cls=None, tuple fields=()):
        if rank > TE_RANK:
            raise ValueError(f"an array of {rank} dimensions; the machine has at most {TE_RANK}")
        self.kind = {"float": FLOAT, "int": INT, "bool": BOOL, "tuple": TUPLE, "record": RECORD}[kind]
        self.rank, self.items, self.cls, self.fields = rank, items, cls, fields
        self.has_array = rank > 0 or any([(<Form> item).has_array for item in items])
        self.discrete = all([item.discrete for item in items]) if self.kind >= TUPLE else self.kind != FLOAT

    def leaves(self):
        """The scalars and arrays of the form, in order."""
        return [self] if self.kind < TUPLE else [leaf for item in self.items for leaf in item.leaves()]


cdef struct Cursor:
    te_word *registers
    const int32_t *at    # the register of each leaf
    int leaf


cdef int take_scalar(Form form, object x, te_word *to) except -1:
    cdef int overflow = 0
    if form.kind == FLOAT:
        if PyFloat_CheckExact(x) or type(x) is float64:
            to.f = PyFloat_AS_DOUBLE(x)
            return True
        if not PyLong_CheckExact(x):
            return False
        to.f = float(x)
        return True
    if form.kind == BOOL:
        to.i = x is True
        return x is True or x is False
    if not PyLong_CheckExact(x):
        return False
    to.i = PyLong_AsLongLongAndOverflow(x, &overflow)
    return overflow == 0


cdef int take_list(Form form, list x, te_word *to, te_memory *memory) except -1:
    """Copy the numbers of a list into an array."""
    cdef te_word w
    cdef Py_ssize_t i
    cdef te_array *made = te_describe(memory, 1, <int> form.kind)
    if made == NULL:
        raise MemoryError
    made.shape[0] = len(x)
    if te_allocate(made):
        raise MemoryError
    for i in range(made.shape[0]):
        if i >= len(x) or not take_scalar(form, x[i], &w):
            return False
        if form.kind == BOOL:
            made.data[i] = <char> w.i
        else:
            memcpy(made.data + 8 * i, &w, 8)
    to.p = made
    return True


cdef int take_array(Form form, object x, te_word *to, te_memory *memory) except -1:
    """Describe an array of the caller's; its memory stays the caller's."""
    cdef te_array *made
    cdef int k
    cdef ndarray array
    if PyList_CheckExact(x) and form.rank == 1:
        return take_list(form, x, to, memory)
    if not PyArray_CheckExact(x):
        return False
    array = x
    if PyArray_NDIM(array) != form.rank or PyArray_TYPE(array) != types[<int> form.kind]:
        return False
    if not (PyArray_ISALIGNED(array) and PyArray_ISNOTSWAPPED(array)):
        return False
    made = te_describe(memory, form.rank, <int> form.kind)
    if made == NULL:
        raise MemoryError
    made.data = <char *> PyArray_DATA(array)
    for k in range(form.rank):
        made.shape[k] = PyArray_DIMS(array)[k]
        made.strides[k] = PyArray_STRIDES(array)[k]
    to.p = made
    return True


cdef int take(Form form, object x, Cursor *c, te_memory *memory) except -1:
    """Write the leaves of a value into their registers; False where it has not this form."""
    cdef te_word *to
    cdef Py_ssize_t i
    if form.kind < TUPLE:
        to = c.registers + c.at[c.leaf]
        c.leaf += 1
        return take_array(form, x, to, memory) if form.rank else take_scalar(form, x, to)
    if form.kind == TUPLE:
        if not PyTuple_CheckExact(x) or PyTuple_GET_SIZE(x) != PyTuple_GET_SIZE(form.items):
            return False
        for i in range(PyTuple_GET_SIZE(form.items)):
            if not take(<Form> PyTuple_GET_ITEM(form.items, i), <object> PyTuple_GET_ITEM(x, i), c, memory):
                return False
        return True
    if type(x) is not form.cls:
        return False
    for i in range(PyTuple_GET_SIZE(form.items)):
        part = getattr(x, <str> PyTuple_GET_ITEM(form.fields, i))
        if not take(<Form> PyTuple_GET_ITEM(form.items, i), part, c, memory):
            return False
    return True


cdef object kept(Form form, object x):
    """A primal as the backpropagator keeps it: lists and small arrays are copied."""
    if not form.has_array:
        return x
    if form.kind == TUPLE and PyTuple_CheckExact(x) and PyTuple_GET_SIZE(x) == PyTuple_GET_SIZE(form.items):
        return tuple([kept(item, part) for item, part in zip(form.items, x)])
    if PyList_CheckExact(x):
        return list(x)
    return x.copy() if PyArray_CheckExact(x) and x.nbytes <= most_copied else x


cdef object give_array(te_array *x, object like):
    """A numpy array of its own from an array of the machine, which lies in C order; a list where `like` is one."""
    cdef npy_intp[TE_RANK] dims
    cdef int k
    if PyList_CheckExact(like):
        return [(<double *> x.data)[k] for k in range(x.shape[0])]
    for k in range(x.rank):
        dims[k] = x.shape[k]
    made = PyArray_EMPTY(x.rank, dims, types[x.kind], False)
    memcpy(PyArray_DATA(made), x.data, made.nbytes)
    return made


cdef inline object part_like(Form form, object like, Py_ssize_t i):
    if form.kind == TUPLE and like is not None:
        return <object> PyTuple_GET_ITEM(like, i)
    if form.kind == RECORD and like is not None and (<Form> PyTuple_GET_ITEM(form.items, i)).has_array:
        return getattr(like, <str> PyTuple_GET_ITEM(form.fields, i))
    return None


cdef object give(Form form, Cursor *c, bint cotangent, object like):
    """Make the value whose leaves are in registers; of a cotangent, discrete parts are None, and `like` is its primal."""
    cdef te_word w
    cdef Py_ssize_t i
    if cotangent and form.discrete:
        c.leaf += len(form.leaves())
        return None
    if form.kind < TUPLE:
        w = c.registers[c.at[c.leaf]]
        c.leaf += 1
        if form.rank:
            return give_array(w.p, like)
        return w.f if form.kind == FLOAT else w.i if form.kind == INT else w.i != 0
    made = PyTuple_New(PyTuple_GET_SIZE(form.items))
    for i in range(PyTuple_GET_SIZE(form.items)):
        part = give(<Form> PyTuple_GET_ITEM(form.items, i), c, cotangent, part_like(form, like, i))
        Py_INCREF(part)
        PyTuple_SET_ITEM(made, i, part)
    return made if form.kind == TUPLE else form.cls(*made)


@cython.final
@cython.freelist(16)
cdef class Backpropagator:
    """The reverse pass of one run. It may be called any number of times, from any thread.

    Attributes
    ----------
    steps : int
        The instructions that the forward pass went through.
    """

    cdef Native native
    cdef tuple primals
    cdef te_memory memory
    cdef te_word *words
    cdef te_word[FEW] few
    cdef readonly int64_t steps

    def __cinit__(self):
        self.words = self.few

    def __dealloc__(self):
        te_free(&self.memory)
        if self.words != self.few:
            free(self.words)

    @property
    def nbytes(self):
        """The bytes that the steps of loops keep, without the program's own arrays."""
        cdef te_block *block = self.memory.blocks
        total = self.memory.capacity * sizeof(te_word)
        while block != NULL:
            total += block.end - <char *> block
            block = block.before
        return total

    cdef int hold(self, te_word *r) except -1:
        """Copy what the reverse pass needs."""
        cdef int shared = self.native.forward.shared
        if shared > FEW:
            self.words = <te_word *> malloc(shared * sizeof(te_word))
            if self.words == NULL:
                self.words = self.few
                raise MemoryError
        memcpy(self.words, r, shared * sizeof(te_word))
        te_trim(&self.memory)
        return 0

    def __call__(self, cotangent):
        """One cotangent for each primal."""
        cdef int64_t passed
        found = self.native.back(self, cotangent, &passed)
        if found is None and self.native.again is not None:
            return self.native.again(self.primals)[1](cotangent)
        return found

    def passed(self, cotangent):
        """How many instructions a call goes through."""
        cdef int64_t passed = 0
        self.native.back(self, cotangent, &passed)
        return passed

    @property
    def given(self):
        """The primals."""
        return self.primals


@cython.final
cdef class Native:
    """A program as a forward and a reverse pass for the machine.

    Parameters
    ----------
    forward, reverse : Code
    params : tuple of Form
        Of the primals, and in the reverse pass of their cotangents.
    result : Form
        Of the value.
    cotangent : Form
        Of the value's cotangent.
    again : callable, optional
        Takes the primals and gives value and backpropagator some other way: for what the machine refers to Python, and
        where a value is not finite. Without it None stands for the former, and the latter is an answer.
    """

    cdef Code forward, reverse
    cdef Form params, result, cotangent
    cdef readonly object again

    def __init__(self, Code forward, Code reverse, tuple params, Form result, Form cotangent, again=None):
        self.forward, self.reverse, self.again = forward, reverse, again
        self.params, self.result, self.cotangent = Form("tuple", items=params), result, cotangent
        if forward.shared != reverse.shared:
            raise ValueError(f"the passes share {forward.shared} and {reverse.shared} registers")
        leaves = len(self.params.leaves()), len(result.leaves()), len(cotangent.leaves()), len(self.params.leaves())
        if leaves != (forward.param_count, forward.result_count, reverse.param_count, reverse.result_count):
            raise ValueError("the passes have other parameters and results than their forms")

    def vjp(self, *primals):
        """Run the program; give (value, backpropagator), or None where the machine is not for these primals.

        Raises
        ------
        ZeroDivisionError
            At a pole, where there is no `again`.
        """
        return self.ahead(primals)

    cdef object ahead(self, tuple primals):
        cdef Backpropagator made = Backpropagator.__new__(Backpropagator)
        cdef Code code = self.forward
        cdef te_word[SMALL] small
        cdef te_word *r = small
        cdef Cursor c
        made.native, made.primals = self, kept(self.params, primals)
        if code.registers > SMALL:
            r = allocated(code.registers)
        try:
            code.begin(r)
            c = Cursor(r, code.params, 0)
            if not take(self.params, made.primals, &c, &made.memory):
                return None
            if not self.is_done(code.run(r, &made.memory, NULL, &made.steps)):
                return None
            c = Cursor(r, code.results, 0)
            if not self.is_given(self.result, &c, False):
                return None
            made.hold(r)
            c = Cursor(r, code.results, 0)
            return give(self.result, &c, False, None), made
        finally:
            if r != small:
                free(r)

    cdef object back(self, Backpropagator made, cotangent, int64_t *passed):
        cdef Code code = self.reverse
        cdef te_word[SMALL] small
        cdef te_word *r = small
        cdef te_memory memory = te_memory(NULL, 0, 0, NULL, NULL)
        cdef Cursor c
        if code.registers > SMALL:
            r = allocated(code.registers)
        try:
            memcpy(r, made.words, code.shared * sizeof(te_word))
            code.begin(r)
            c = Cursor(r, code.params, 0)
            if not take(self.cotangent, cotangent, &c, &memory):
                return None
            if not self.is_done(code.run(r, &memory, &made.memory, passed)):
                return None
            c = Cursor(r, code.results, 0)
            if not self.is_given(self.params, &c, True):
                return None
            c = Cursor(r, code.results, 0)
            return give(self.params, &c, True, made.primals)
        finally:
            te_free(&memory)
            if r != small:
                free(r)

    cdef int is_done(self, int status) except -1:
        """Whether a run has reached its end."""
        if status == TE_POLE and self.again is None:
            raise ZeroDivisionError("a pole")
        return status == TE_DONE

    cdef int is_given(self, Form form, Cursor *c, bint cotangent) except -1:
        """Whether the leaves in registers may be given: finite, and arrays of the machine's own."""
        cdef te_word w
        cdef Py_ssize_t i
        if form.kind >= TUPLE:
            for i in range(PyTuple_GET_SIZE(form.items)):
                if not self.is_given(<Form> PyTuple_GET_ITEM(form.items, i), c, cotangent):
                    return False
            return True
        w = c.registers[c.at[c.leaf]]
        c.leaf += 1
        if cotangent and form.discrete:
            return True
        if form.rank and w.p.capacity == 0:
            return False
        if form.kind != FLOAT or self.again is None:
            return True
        return te_all_finite(<double *> w.p.data, size(w.p)) if form.rank else isfinite(w.f)


cdef class Enterable:
    """A program that an engine may enter without a detour: `native` is its passes on the machine, once they are known."""

    cdef public Native native
    cdef public tuple arrays  # the arguments that must not be lists


def enter(program, tuple primals, dict keywords):
    """Give (value, backpropagator) of an `Enterable` program; None where there is no short way."""
    cdef Native native
    if not isinstance(program, Enterable) or keywords:
        return None
    native = (<Enterable> program).native
    if native is None:
        return None
    if (<Enterable> program).arrays is not None:
        for i in (<Enterable> program).arrays:
            if i < len(primals) and PyList_CheckExact(primals[i]):
                return None
    return native.ahead(primals)


def leaves(tuple forms, tuple primals):
    """The primals in a list, if each is exactly a float or an array of its form; None if one is not."""
    cdef Py_ssize_t i
    cdef Form form
    if len(forms) != len(primals):
        return None
    for i in range(len(forms)):
        form = forms[i]
        x = primals[i]
        if form.rank:
            if not PyArray_CheckExact(x) or PyArray_NDIM(<ndarray> x) != form.rank:
                return None
            if PyArray_TYPE(<ndarray> x) != types[<int> form.kind] or not PyArray_ISNOTSWAPPED(<ndarray> x):
                return None
        elif form.kind != FLOAT or not PyFloat_CheckExact(x):
            return None
    return list(primals)


def owned(found, list given):
    """What a reverse pass gave, each array in memory of its own: no view, no array of `given`, none twice."""
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
    for y in given + result:
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
