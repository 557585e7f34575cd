"""Records of array operations, and the accumulation that a reverse sweep adds into.

A record holds geometry, ids and what its rules keep; no values beyond that. The cotangent of a storage is one flat
buffer of the storage's size, allocated at the first contribution and dropped once the record that made the storage has
been resolved. Views add into it through their own geometry, so aliases meet in one place (EC 4.1 and 7: a cotangent of
a part is never blown up to the size of the whole).
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from cpython.object cimport PyObject, visitproc
from cpython.ref cimport Py_INCREF, Py_REFCNT
cimport cython
cimport numpy as cnp
from numpy cimport (
    NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE, NPY_BOOL, NPY_DOUBLE, NPY_FLOAT, PyArray_ISCOMPLEX, PyArray_CHKFLAGS, PyArray_DATA, PyArray_DIMS, PyArray_IS_C_CONTIGUOUS,
    PyArray_NDIM, PyArray_SetBaseObject, PyArray_SIZE, PyArray_STRIDES, PyArray_TYPE, ndarray, npy_intp,
)

from tapeengine._core.tape.tape cimport Place, Tape

cdef extern from *:
    """
    static traverseproc te_traverse_itself;
    static int (*te_visit_kept)(PyObject *, visitproc, void *);
    static int te_traverse_tape(PyObject *tape, visitproc visit, void *arg) {
        int stop = te_traverse_itself(tape, visit, arg);
        return stop ? stop : te_visit_kept(tape, visit, arg);
    }
    static void te_traverse_with(PyObject *tape_type, int (*visit_kept)(PyObject *, visitproc, void *)) {
        PyTypeObject *type = (PyTypeObject *)tape_type;
        te_traverse_itself = type->tp_traverse;
        te_visit_kept = visit_kept;
        type->tp_traverse = te_traverse_tape;
    }
    """
    void te_traverse_with(object tape_type, int (*visit_kept)(PyObject *, visitproc, void *) noexcept)

import numpy

from tapeengine.primitive.rule_checks import CheckedRule

cnp.import_array()

cdef object float64 = numpy.dtype(float)
cdef object checked_rule = CheckedRule

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyTypeObject:
        pass
    PyTypeObject PyArray_Type
    object PyArray_New(PyTypeObject *subtype, int nd, npy_intp *dims, int type, npy_intp *strides, void *data,
                       int itemsize, int flags, void *owner)


@cython.final
@cython.no_gc
@cython.freelist(256)
cdef class View:
    """Where an array lies within its storage: offset, shape and strides in bytes."""

    def __cinit__(self):
        self.dims = self.few

    def __dealloc__(self):
        if self.dims != self.few:
            free(self.dims)

    @property
    def shape(self):
        """The shape, as numpy has it."""
        cdef int i
        return tuple([self.dims[i] for i in range(self.ndim)])

    @property
    def dtype(self):
        """The dtype, as numpy has it."""
        return cnp.PyArray_DescrFromType(self.type)


cdef View view_of(ndarray value, uint32_t storage, Py_ssize_t offset, Py_ssize_t size):
    cdef View v = View.__new__(View)
    cdef int n = PyArray_NDIM(value)
    v.storage = storage
    v.ndim = n
    v.type = PyArray_TYPE(value)
    v.offset = offset
    v.whole = offset == 0 and PyArray_SIZE(value) == size and PyArray_IS_C_CONTIGUOUS(value)
    if n > 4:
        v.dims = <Py_ssize_t *> malloc(2 * n * sizeof(Py_ssize_t))
        if v.dims == NULL:
            v.dims = v.few
            raise MemoryError("no memory for the geometry of an array")
    if n:
        memcpy(v.dims, PyArray_DIMS(value), n * sizeof(Py_ssize_t))
        memcpy(v.dims + n, PyArray_STRIDES(value), n * sizeof(Py_ssize_t))
    return v


cdef ndarray strided(char *data, View view, object owner):
    """An array over memory that `owner` keeps alive."""
    cdef ndarray result = PyArray_New(
        &PyArray_Type, view.ndim, <npy_intp *> view.dims, view.type, <npy_intp *> (view.dims + view.ndim),
        data + view.offset, 0, NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE, NULL)
    Py_INCREF(owner)
    PyArray_SetBaseObject(result, owner)
    return result


cdef object fitted(object cotangent, tuple shape):
    """The cotangent of a value that was broadcast: summed over the axes that it was spread over."""
    cdef tuple spread = cotangent.shape
    if spread == shape:
        return cotangent
    cdef Py_ssize_t extra = len(spread) - len(shape)
    if extra < 0:   # ones in front that an assignment dropped
        return cotangent.reshape(shape) if len(spread) == 0 else fitted(cotangent, shape[-extra:]).reshape(shape)
    axes = tuple([i for i in range(len(spread)) if i < extra or (shape[i - extra] == 1 and spread[i] != 1)])
    return cotangent.sum(axis=axes).reshape(shape)


cdef object of_type(View view, object contribution):
    """A contribution to real numbers that were stored among complex ones: its real part."""
    if view.type != NPY_DOUBLE and view.type != NPY_FLOAT:
        return contribution
    if type(contribution) is ndarray:
        return contribution.real if PyArray_ISCOMPLEX(<ndarray> contribution) else contribution
    if type(contribution) is float:
        return contribution
    return contribution.real if contribution.dtype.kind == "c" else contribution


cdef bint repeats(View view) noexcept:
    """Whether a view shows elements more than once: a broadcast axis."""
    cdef int i
    for i in range(view.ndim):
        if view.dims[view.ndim + i] == 0 and view.dims[i] > 1:
            return True
    return False


cdef View once(View view):
    """The same view with each broadcast axis of extent 1; a sign is left to the caller."""
    cdef View v = View.__new__(View)
    cdef int i
    v.storage, v.ndim, v.type, v.offset = view.storage, view.ndim, view.type, view.offset
    if v.ndim > 4:
        v.dims = <Py_ssize_t *> malloc(2 * v.ndim * sizeof(Py_ssize_t))
        if v.dims == NULL:
            v.dims = v.few
            raise MemoryError("no memory for the geometry of an array")
    memcpy(v.dims, view.dims, 2 * v.ndim * sizeof(Py_ssize_t))
    for i in range(v.ndim):
        if v.dims[v.ndim + i] == 0:
            v.dims[i] = min(v.dims[i], 1)
    return v


cdef class Reverse:
    """The accumulation of one reverse sweep over plain numbers."""

    def __dealloc__(self):
        free(self.data)

    cdef int begin(self, Tape tape, double *cotangent) except -1:
        self.tape = tape
        self.cotangent = cotangent
        if tape.place_count:
            self.owners = [None] * tape.place_count
            self.data = <char **> calloc(tape.place_count, sizeof(char *))
            if self.data == NULL:
                raise MemoryError(f"no memory for the table of {tape.place_count:,} traced arrays")
        return 0

    cdef int allocate(self, uint32_t storage, bint zero) except -1:
        """Give a storage its buffer of cotangents."""
        cdef Place *place = &self.tape.places[storage]
        cdef npy_intp size = place.size
        cdef ndarray owner = cnp.PyArray_ZEROS(1, &size, place.type, 0) if zero else cnp.PyArray_EMPTY(
            1, &size, place.type, 0)
        self.owners[storage] = owner
        self.data[storage] = <char *> PyArray_DATA(owner)
        return 0

    cdef object scalar(self, uint32_t id):
        return self.cotangent[id]

    cdef int add_scalar(self, uint32_t id, object value) except -1:
        if type(value) is ndarray:
            value = value.real.sum() if value.dtype.kind == "c" else value.sum()
        elif isinstance(value, complex):
            value = value.real
        self.cotangent[id] += <double> value
        return 0

    cdef object part(self, View view):
        """The cotangents of a view, as an array over the buffer; None where nothing has been added."""
        if self.data[view.storage] == NULL:
            return None
        return strided(self.data[view.storage], view, self.owners[view.storage])

    cdef object zeros(self, View view):
        return numpy.zeros(view.shape, view.dtype)

    cdef int add_to(self, object target, object contribution) except -1:
        """Add into cotangents, in place."""
        numpy.add(target, contribution, out=target, casting="same_kind")
        return 0

    cdef int add(self, View view, object contribution) except -1:
        """Accumulate into the cotangents of a view. A fresh array becomes the buffer of an untouched storage."""
        cdef uint32_t s = view.storage
        cdef ndarray array
        cdef bint first = self.data[s] == NULL
        if view.imaginary:
            contribution = self.signed(view, contribution)
        contribution = of_type(view, contribution)
        if repeats(view):
            view = once(view)
            return self.add(view, fitted(numpy.asarray(contribution), view.shape))
        if first:
            if view.whole and type(contribution) is ndarray:
                array = <ndarray> contribution  # the second reference, after the caller's: nobody else holds it
                if (Py_REFCNT(contribution) <= 2 and contribution.base is None and PyArray_TYPE(array) == view.type
                        and PyArray_IS_C_CONTIGUOUS(array) and PyArray_SIZE(array) == self.tape.places[s].size
                        and PyArray_CHKFLAGS(array, NPY_ARRAY_WRITEABLE)):
                    self.owners[s] = array
                    self.data[s] = <char *> PyArray_DATA(array)
                    return 0
            self.allocate(s, not view.whole)
        target = strided(self.data[s], view, self.owners[s])
        if first and view.whole:
            numpy.copyto(target, contribution, casting="same_kind")
        else:
            self.add_to(target, contribution)
        return 0

    cdef object take(self, View view, object index):
        """The cotangents of the written part of a view, which are cleared; None where there are none."""
        target = self.part(view)
        if target is None:
            return None
        if index is None:
            result = target.copy()
            target[...] = 0
        else:
            result = numpy.array(target[index])
            target[index] = 0
        return self.signed(view, result)

    cdef object signed(self, View view, object cotangent):
        """A cotangent of a view's values as what lies in the buffer, and back: a complex cotangent pairs with a tangent
        by the real part of their product, so that the one of an imaginary part lies there as its negative."""
        return -cotangent if view.imaginary and not self.forward else cotangent

    cdef int drop(self, uint32_t storage) except -1:
        """Let go of a storage whose record has been resolved."""
        self.data[storage] = NULL
        self.owners[storage] = None
        return 0


cdef class ArrayRecord:
    """An operation on arrays; subclasses know its backward rule."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        raise NotImplementedError

    cdef int forward(self, Reverse r, uint32_t id) except -1:
        """The forward rule, of records that the forward sweep does not know."""
        raise NotImplementedError


@cython.final
@cython.no_gc
cdef class PrimitiveRecord(ArrayRecord):
    """A call of a primitive: its inputs on the tape, and what each one's rules keep."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        cdef bint any = False
        ct = self.cotangent(r, self.output, id)
        if ct is None:
            return 0
        rules = self.primitive.vjp_rules
        variadic = self.primitive.variadic
        for (argument, place), kept in zip(self.inputs, self.kept):
            function = rules[0 if variadic else argument].function
            contribution = function(ct, *kept)
            if contribution is None:
                continue
            if type(function) is checked_rule:
                function.check(contribution, form_of(place))
            if type(place) is View:
                r.add(<View> place, contribution)
            else:
                r.add_scalar(place, contribution)
            contribution = None
        self.forget(r, self.output)
        return 0

    cdef object cotangent(self, Reverse r, object output, uint32_t id):
        """The cotangent of the output in its structure; None where all of it is zero."""
        if type(output) is View:
            return r.part(<View> output)
        if type(output) is not tuple:
            return None if output is None else r.scalar(<uint32_t> output)
        parts = [self.cotangent(r, part, id) for part in output[1]]
        if all(part is None for part in parts):
            return None
        parts = [
            r.zeros(<View> place) if part is None and type(place) is View else part
            for part, place in zip(parts, output[1])
        ]
        return rebuilt(output[0], parts)

    def forget(self, Reverse r, output):
        if type(output) is View:
            r.drop((<View> output).storage)
        elif type(output) is tuple:
            for part in output[1]:
                self.forget(r, part)


cdef object form_of(object place):
    """What fits a place, as `CheckedRule.check` wants it."""
    if type(place) is View:
        return place.shape, place.dtype
    if type(place) is tuple:
        return place[0], [form_of(part) for part in place[1]]
    return None if place is None else ((), float64)


cdef object rebuilt(cls, list parts):
    """A structure of outputs around other leaves."""
    if cls is list:
        return parts
    if type(cls) is tuple:      # a dict, by its keys
        return dict(zip(cls, parts))
    return tuple(parts) if cls is tuple else cls(*parts)


cdef bint may_repeat(tuple index) except -1:
    """Whether a normalised index may name one element twice."""
    for item in index:
        if type(item) is ndarray and PyArray_TYPE(<ndarray> item) != NPY_BOOL:
            return True
    return False


@cython.final
@cython.no_gc
cdef class ReadRecord(ArrayRecord):
    """A read that numpy answers with a copy: by arrays of indices or masks, or (index None) of all elements."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        ct = r.part(self.result)
        if ct is None:
            return 0
        if self.index is None:
            r.add(self.source, ct)
        else:
            if r.owners[self.source.storage] is None:
                r.allocate(self.source.storage, True)
            self.scatter(r, ct)
        r.drop(self.result.storage)
        return 0

    def scatter(self, Reverse r, ct):
        """Add into the places that were read, as often as each was."""
        target = r.part(self.source)
        ct = r.signed(self.source, ct)
        if not may_repeat(self.index) and not repeats(self.source):
            target[self.index] += ct
        else:
            numpy.add.at(target, self.index, ct)


@cython.final
@cython.no_gc
cdef class AddRecord(ArrayRecord):
    """An addition into elements, as often as each is named (`ufunc.at`): the value's cotangent is a read."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        target = r.part(self.target)
        if target is None:
            return 0
        ct = r.signed(self.target, fitted(target[self.index], self.shape))
        if type(self.value) is View:
            r.add(<View> self.value, ct)
        else:
            r.add_scalar(self.value, ct)
        return 0


@cython.final
@cython.no_gc
cdef class WriteRecord(ArrayRecord):
    """A write: the cotangent of the overwritten part goes to the value and is cleared."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        ct = r.take(self.target, self.index)
        if ct is None or self.value is None:
            return 0
        if self.index is not None and may_repeat(self.index):
            ct = numpy.where(self.last_writes(ct.shape), ct, 0)
        ct = fitted(ct, self.shape)
        if type(self.value) is View:
            r.add(<View> self.value, ct)
        else:
            r.add_scalar(self.value, ct)
        return 0

    def last_writes(self, tuple shape):
        """Which of the written values stayed: where one place is written twice, the last one does."""
        order = numpy.empty(self.target.shape, numpy.intp)
        number = numpy.arange(numpy.prod(shape, dtype=numpy.intp)).reshape(shape)
        order[self.index] = number
        return order[self.index] == number


# -- garbage -----------------------------------------------------------------------------------------------------------
cdef int visit_kept(PyObject *tape, visitproc visit, void *arg) noexcept:
    """Show the garbage collector what the records of a tape keep, as if the tape held it itself.

    Records are not tracked, since there is one for each operation. What they keep may be any object, also one that
    holds the tape's backpropagator; only what nobody else can reach through a record or the list of records is shown.
    """
    cdef list arrays = (<Tape> tape).arrays
    cdef PrimitiveRecord record
    cdef PyObject *entry
    cdef Py_ssize_t k
    cdef int stop = 0
    if arrays is None or Py_REFCNT(arrays) > 2:     # that of the tape, and the one here
        return 0
    for k in range(PyList_GET_SIZE(arrays)):
        entry = <PyObject *> PyList_GET_ITEM(arrays, k)
        if entry.ob_refcnt > 1 or type(<object> entry) is not PrimitiveRecord:
            continue
        record = <PrimitiveRecord> entry
        if record.kept is not None:
            stop = visit(<PyObject *> record.kept, arg)
        if stop == 0 and record.tangent_kept is not None:
            stop = visit(<PyObject *> record.tangent_kept, arg)
        if stop == 0 and record.primitive is not None:
            stop = visit(<PyObject *> record.primitive, arg)
        if stop:
            return stop
    return 0


te_traverse_with(Tape, visit_kept)
