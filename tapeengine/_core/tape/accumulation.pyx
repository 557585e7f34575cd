"""The accumulation that a reverse sweep adds into, and the geometry of the arrays that it adds through.

The cotangent of a storage is one flat buffer of the storage's size. It is allocated at the first contribution and can be
freed once the record that made the storage has been resolved. Views add into it through their own geometry, so aliases
meet in one place (EC 4.1 and 7: the cotangent of a part is never blown up to the size of the whole). Many cotangents
together are accumulated by `blocks.pxi`.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcmp, memcpy, memset
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from cpython.ref cimport Py_INCREF, Py_REFCNT
cimport cython
from tapeengine._core.tape cimport numpy_c as cnp
from tapeengine._core.tape.numpy_c cimport (
    NPY_ARRAY_ALIGNED, NPY_ARRAY_WRITEABLE, NPY_DOUBLE, NPY_INTP, PyArray_BASE, PyArray_CHKFLAGS,
    PyArray_DATA, PyArray_DIMS, PyArray_ISCARRAY, PyArray_ISCOMPLEX, PyArray_ISNOTSWAPPED, PyArray_IS_C_CONTIGUOUS,
    PyArray_NBYTES, PyArray_NDIM, PyArray_SetBaseObject, PyArray_SIZE, PyArray_STRIDES, PyArray_TYPE, PyTypeNum_ISCOMPLEX,
    ndarray, npy_intp,
)

from tapeengine._core.tape.tape cimport (
    ARRAY, SPECIAL, Head, Place, Record, Tape, op_at, record_at, record_special, tape_of,
)

import numpy

cnp.import_array()

cdef enum:
    FEW = 1 << 10           # elements up to which numpy takes longer to prepare an addition than to do it

cdef extern from *:
    """
    /* An axis repeats elements if its step is not beyond what the axes with shorter steps reach. */
    static int te_repeats(int n, const Py_ssize_t *dims) {
        for (int i = 0; i < n; i++) {
            Py_ssize_t step = Py_ABS(dims[n + i]), reach = 0;
            for (int j = 0; j < n; j++) {
                const Py_ssize_t other = Py_ABS(dims[n + j]);
                if (dims[j] > 1 && (other < step || (other == step && j > i)))
                    reach += (dims[j] - 1) * other;
            }
            if (dims[i] > 1 && step <= reach)
                return 1;
        }
        return 0;
    }
    """
    bint te_repeats(int n, const Py_ssize_t *dims) noexcept

cdef extern from "memory.h":
    void *te_aligned(size_t count, size_t size, bint zero)
    void te_free(void *data)

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyTypeObject:
        pass
    PyTypeObject PyArray_Type
    object PyArray_New(PyTypeObject *subtype, int nd, npy_intp *dims, int type, npy_intp *strides, void *data,
                       int itemsize, int flags, void *owner)


cdef void free_zeros(void *block) noexcept:
    te_free(block)


cdef void *zeros(size_t count, size_t size) except NULL:
    cdef void *block = te_aligned(count, size, True)
    if block == NULL:
        raise MemoryError(f"no memory for the accumulation array of {count:,} records ({count * size:,} bytes)")
    return block


cdef void *unset(size_t count, size_t size) except NULL:
    """Memory as `zeros` gives it, for values that are all written before they are read."""
    cdef void *block = te_aligned(count, size, False)
    if block == NULL:
        raise MemoryError(f"no memory for the values of {count:,} records ({count * size:,} bytes)")
    return block


@cython.final
@cython.no_gc
@cython.freelist(256)
cdef class View:
    """Where an array lies within its storage: offset, shape and strides in bytes."""

    def __cinit__(self):
        self.dims = self.few

    @property
    def shape(self):
        """The shape, as numpy has it."""
        cdef int i
        return tuple([self.dims[i] for i in range(self.ndim)])

    @property
    def dtype(self):
        """The dtype, as numpy has it."""
        return cnp.PyArray_DescrFromType(self.type)


cdef int make_room(View v) except -1:
    """Room for the geometry of many axes."""
    if v.ndim > 4:
        v.many = PyBytes_FromStringAndSize(NULL, 2 * v.ndim * sizeof(Py_ssize_t))
        v.dims = <Py_ssize_t *> PyBytes_AS_STRING(v.many)
    return 0


cdef View view_of(ndarray value, uint32_t storage, Py_ssize_t offset, Py_ssize_t size):
    cdef View v = View.__new__(View)
    cdef int n = PyArray_NDIM(value)
    v.storage = storage
    v.ndim = n
    v.type = PyArray_TYPE(value)
    v.offset = offset
    v.whole = offset == 0 and PyArray_SIZE(value) == size and PyArray_IS_C_CONTIGUOUS(value)
    make_room(v)
    if n:
        memcpy(v.dims, PyArray_DIMS(value), n * sizeof(Py_ssize_t))
        memcpy(v.dims + n, PyArray_STRIDES(value), n * sizeof(Py_ssize_t))
    return v


cdef ndarray array_over(char *data, int ndim, npy_intp *dims, npy_intp *strides, int type, object owner):
    """An array over memory that `owner` keeps alive."""
    cdef ndarray result = PyArray_New(
        &PyArray_Type, ndim, dims, type, strides, data, 0, NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE, NULL)
    Py_INCREF(owner)
    PyArray_SetBaseObject(result, owner)
    return result


cdef ndarray strided(char *data, View view, object owner):
    """The array that a view shows of a storage's memory, which `owner` keeps alive."""
    return array_over(data + view.offset, view.ndim, <npy_intp *> view.dims, <npy_intp *> (view.dims + view.ndim),
                      view.type, owner)


cdef object fitted(object cotangent, tuple shape, Py_ssize_t rows=0):
    """Sum the cotangent of a broadcast value over the axes along which it was broadcast.

    With `rows` 1, the first axis is that of a block of cotangents.
    """
    cdef tuple spread = cotangent.shape
    cdef Py_ssize_t extra = len(spread) - rows - len(shape), i
    if extra == 0 and spread[rows:] == shape:
        return cotangent
    if extra >= 0:      # otherwise an assignment dropped leading unit axes
        cotangent = cotangent.sum(axis=tuple([
            i for i in range(rows, len(spread)) if i < rows + extra or (shape[i - rows - extra] == 1 and spread[i] != 1)]))
    elif len(spread) > rows:
        cotangent = fitted(cotangent, shape[-extra:], rows)
    return cotangent.reshape(spread[:rows] + shape)


cdef bint needs_real(View view, object contribution):
    """Whether a contribution is complex and the view is real."""
    if PyTypeNum_ISCOMPLEX(view.type) or type(contribution) is float:
        return False
    if type(contribution) is ndarray:
        return PyArray_ISCOMPLEX(<ndarray> contribution)
    dtype = getattr(contribution, "dtype", None)    # a number of Python's kind has none
    return dtype is not None and dtype.kind == "c"


cdef object of_type(View view, object contribution):
    """A contribution in the view's dtype: only the real part is added to real numbers."""
    return contribution.real if needs_real(view, contribution) else contribution


cdef bint repeats(View view) noexcept:
    """Whether a view shows elements more than once: along a broadcast axis, or in windows that overlap."""
    return te_repeats(view.ndim, view.dims)


cdef View window(View view, int axis, Py_ssize_t k):
    """What a view shows at one place along an axis."""
    cdef View v = View.__new__(View)
    cdef int n = view.ndim
    v.storage, v.ndim, v.type, v.offset = view.storage, n - 1, view.type, view.offset + k * view.dims[n + axis]
    make_room(v)
    memcpy(v.dims, view.dims, axis * sizeof(Py_ssize_t))
    memcpy(v.dims + axis, view.dims + axis + 1, (n - 1) * sizeof(Py_ssize_t))     # the other extents, the first strides
    memcpy(v.dims + n - 1 + axis, view.dims + n + axis + 1, (n - 1 - axis) * sizeof(Py_ssize_t))
    return v


cdef int apart(View view) noexcept:
    """The shortest axis of a view with windows that overlap; -1 if none do."""
    cdef int axis, k = 0
    if not repeats(view):
        return -1
    for axis in range(view.ndim):
        if view.dims[k] < 2 or 1 < view.dims[axis] < view.dims[k]:
            k = axis
    return k


cdef View once(View view):
    """The same view with each broadcast axis cut to extent 1. The caller applies the sign of an imaginary part."""
    cdef View v = View.__new__(View)
    cdef int i
    v.storage, v.ndim, v.type, v.offset = view.storage, view.ndim, view.type, view.offset
    make_room(v)
    memcpy(v.dims, view.dims, 2 * v.ndim * sizeof(Py_ssize_t))
    for i in range(v.ndim):
        if v.dims[v.ndim + i] == 0:
            v.dims[i] = min(v.dims[i], 1)
    return v


cdef bint add_few(object target, object contribution) noexcept:
    """Add a small array to another one without the time that numpy takes to prepare it; False for any other addition."""
    cdef double *to
    cdef const double *given
    cdef Py_ssize_t k
    if not (are_numbers(target, NPY_DOUBLE) and are_numbers(contribution, NPY_DOUBLE)
            and PyArray_NDIM(<ndarray> target) == PyArray_NDIM(<ndarray> contribution) and PyArray_SIZE(<ndarray> target) < FEW
            and memcmp(PyArray_DIMS(<ndarray> target), PyArray_DIMS(<ndarray> contribution),
                       PyArray_NDIM(<ndarray> target) * sizeof(npy_intp)) == 0):
        return False
    to, given = <double *> PyArray_DATA(<ndarray> target), <const double *> PyArray_DATA(<ndarray> contribution)
    for k in range(PyArray_SIZE(<ndarray> target)):
        to[k] += given[k]
    return True


cdef bint add_rows(object target, object index, object contribution) except -1:
    """Add rows of doubles, in their order, into those that one array of numbers names; False for any other addition."""
    cdef Py_ssize_t width, k, j, row, rows, count
    cdef const npy_intp *numbers
    cdef const double *given
    cdef double *to
    if type(index) is not tuple or len(<tuple> index) != 1:
        return False
    places = (<tuple> index)[0]
    if not (are_numbers(places, NPY_INTP) and are_numbers(target, NPY_DOUBLE) and are_numbers(contribution, NPY_DOUBLE)
            and has_rows(<ndarray> contribution, <ndarray> places, <ndarray> target)):
        return False
    rows, count = PyArray_DIMS(<ndarray> target)[0], PyArray_SIZE(<ndarray> places)
    width = PyArray_SIZE(<ndarray> target) // rows if rows else 0
    numbers = <const npy_intp *> PyArray_DATA(<ndarray> places)
    for k in range(count):
        if numbers[k] < -rows or numbers[k] >= rows:
            return False
    given, to = <const double *> PyArray_DATA(<ndarray> contribution), <double *> PyArray_DATA(<ndarray> target)
    for k in range(count):
        row = numbers[k] if numbers[k] >= 0 else numbers[k] + rows
        for j in range(width):
            to[row * width + j] += given[k * width + j]
    return True


cdef bint has_rows(ndarray found, ndarray places, ndarray target) noexcept:
    """Whether an array has the shape of the rows of `target` that `places` names."""
    cdef int k, n = PyArray_NDIM(places)
    if PyArray_NDIM(target) == 0 or PyArray_NDIM(found) != n + PyArray_NDIM(target) - 1:
        return False
    for k in range(PyArray_NDIM(found)):
        if PyArray_DIMS(found)[k] != (PyArray_DIMS(places)[k] if k < n else PyArray_DIMS(target)[k - n + 1]):
            return False
    return True


cdef bint are_numbers(object x, int type_number) noexcept:
    """Whether x is a plain array of numbers of a type, in C order."""
    return (type(x) is ndarray and PyArray_TYPE(<ndarray> x) == type_number and PyArray_IS_C_CONTIGUOUS(<ndarray> x)
            and PyArray_CHKFLAGS(<ndarray> x, NPY_ARRAY_ALIGNED) and PyArray_ISNOTSWAPPED(<ndarray> x))


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

    cdef double *place(self, uint32_t id) noexcept:
        return &self.cotangent[id]

    cdef object scalar(self, uint32_t id):
        return self.place(id)[0]

    cdef int add_scalar(self, uint32_t id, object value) except -1:
        if type(value) is ndarray:
            value = value.real.sum() if value.dtype.kind == "c" else value.sum()
        elif isinstance(value, complex):
            value = value.real
        self.place(id)[0] += <double> value
        return 0

    cdef object part(self, View view):
        """The cotangents of a view, as an array over the buffer; None where nothing has been added."""
        if self.data[view.storage] == NULL:
            return None
        return strided(self.data[view.storage], view, self.owners[view.storage])

    cdef object zeros(self, View view):
        return numpy.zeros(view.shape, view.dtype)

    cdef int add_to(self, object target, object contribution) except -1:
        """Add into cotangents, in place. What a rule made in an enclosing trace becomes plain, or is refused there."""
        if type(contribution) is not ndarray:
            contribution = numpy.asarray(contribution)
        if add_few(target, contribution):
            return 0
        numpy.add(target, contribution, out=target, casting="same_kind")
        return 0

    cdef int add(self, View view, object contribution) except -1:
        """Accumulate into the cotangents of a view. A fresh array becomes the buffer of an untouched storage."""
        if view.imaginary or needs_real(view, contribution):
            return self.add_fitting(view, of_type(view, self.signed(view, contribution)))
        return self.add_fitting(view, contribution)

    cdef int add_fitting(self, View view, object contribution) except -1:
        """The same for a contribution that has the view's sign and is real where the view is."""
        cdef uint32_t s = view.storage
        cdef bint first = self.data[s] == NULL
        if repeats(view):
            view = once(view)
            return self.add_parts(view, fitted(numpy.asarray(contribution), view.shape))
        if first:
            if view.whole and type(contribution) is ndarray and self.adopts(view, contribution):
                return 0
            self.allocate(s, not view.whole)
        target = strided(self.data[s], view, self.owners[s])
        if first and view.whole:
            numpy.copyto(target, contribution, casting="same_kind")
        else:
            self.add_to(target, contribution)
        return 0

    cdef int add_parts(self, View view, object contribution) except -1:
        """Accumulate into a view without broadcast axes: into one part after the other where windows overlap."""
        cdef int axis = apart(view)
        cdef Py_ssize_t k
        if axis < 0:
            return self.add(view, contribution)
        for k in range(view.dims[axis]):
            self.add(window(view, axis, k), contribution.take(k, axis))
        return 0

    cdef bint adopts(self, View view, object contribution) except -1:
        """Take an array as the buffer of a view's storage, if no one else holds it and C code can read its numbers.

        One reference is the caller's. Cython would add one more to an argument of `add` that it assigns.
        """
        cdef ndarray array = <ndarray> contribution     # the second reference
        cdef uint32_t s = view.storage
        if not (Py_REFCNT(array) <= 2 and PyArray_BASE(array) == NULL and PyArray_TYPE(array) == view.type
                and PyArray_ISCARRAY(array) and PyArray_SIZE(array) == self.tape.places[s].size):
            return False
        self.owners[s] = array
        self.data[s] = <char *> PyArray_DATA(array)
        return True

    cdef object take(self, View view, object index):
        """Return and clear the cotangents of the written part of a view; None where there are none."""
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
        """Convert between a cotangent of a view's values and the buffer's content.

        A complex cotangent pairs with a tangent by the real part of their product, so the buffer holds the negative of
        the cotangent of an imaginary part. The conversion is its own inverse.
        """
        return -cotangent if view.imaginary and not self.forward else cotangent

    cdef int add_at(self, object target, object index, object contribution) except -1:
        """Add into elements of cotangents, once for each time that the index names them."""
        if not add_rows(target, index, contribution):
            numpy.add.at(target, index, contribution)
        return 0

    cdef object of(self, object place):
        """The cotangent of a place: an array for a View, a number for a scalar; None where it is zero."""
        if type(place) is View:
            return self.part(<View> place)
        if place is None:
            return None
        found = self.scalar(<uint32_t> place)
        return None if type(found) is float and <double> found == 0.0 else found

    cdef int stage(self, object place, object contribution) except -1:
        """Add a contribution to a place."""
        if place is None or contribution is None:
            return 0
        if type(place) is View:
            return self.add(<View> place, contribution)
        return self.add_scalar(<uint32_t> place, contribution)

    cdef int drop(self, uint32_t storage) except -1:
        """Free the buffer of a storage whose record has been resolved."""
        self.data[storage] = NULL
        self.owners[storage] = None
        return 0

include "blocks.pxi"
