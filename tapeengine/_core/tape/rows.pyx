"""The accumulation of many cotangents that are resolved together; each gives a row of a Jacobian.

The cotangents of a storage are one block with an additional first axis: a row for each cotangent. A record whose
linear map the core knows acts on the whole block. Any other record is resolved row by row: it sees a `Row`, which is an
ordinary accumulation.
"""

from libc.stdint cimport uint32_t
from libc.string cimport memset
from cpython.ref cimport Py_REFCNT
cimport cython
from tapeengine._core.tape cimport numpy_c as cnp
from tapeengine._core.tape.numpy_c cimport PyArray_DATA, PyArray_NBYTES, ndarray

from tapeengine._core.tape.accumulation cimport Reverse, View, array_over, fitted, free_zeros, of_type, once, repeats, zeros
from tapeengine._core.tape.tape cimport SPECIAL, Head, Place, Record, Tape, op_at, record_at

import numpy

cnp.import_array()

cdef object array_class = numpy.ndarray

cdef enum:
    SPARE = 4       # blocks of one size that are kept for further storages


cdef object fitted_rows(object cotangents, tuple shape):
    """Sum the cotangents of a broadcast value, for each row, over the axes along which it was broadcast."""
    cdef tuple spread = cotangents.shape[1:]
    cdef Py_ssize_t extra = len(spread) - len(shape), width = cotangents.shape[0]
    if spread == shape:
        return cotangents
    if extra < 0:       # leading unit axes that an assignment dropped
        return fitted_rows(cotangents, shape[-extra:]).reshape((width, *shape))
    axes = tuple([i + 1 for i in range(len(spread)) if i < extra or (shape[i - extra] == 1 and spread[i] != 1)])
    return cotangents.sum(axis=axes).reshape((width, *shape))


cdef object numbers_of(object owner, double *scalars, Py_ssize_t count, Py_ssize_t width):
    """The cotangents or tangents of consecutive scalars, an array of shape (count, width) over the owner's memory."""
    cdef cnp.npy_intp dims[2]
    cdef cnp.npy_intp strides[2]
    dims[0], dims[1] = count, width
    strides[0], strides[1] = width * sizeof(double), sizeof(double)
    return array_over(<char *> scalars, 2, dims, strides, cnp.NPY_DOUBLE, owner)


cdef int put_numbers(ndarray into, int axis, Py_ssize_t start, double *scalars, Py_ssize_t count, Py_ssize_t width) except -1:
    """Copy the numbers of consecutive scalars into a matrix, whose lines along `axis` are the scalars from `start` on."""
    cdef Py_ssize_t n = min(width, cnp.PyArray_DIM(into, 1 - axis)), j, k
    cdef Py_ssize_t step = cnp.PyArray_STRIDE(into, 1 - axis)
    cdef char *line
    if cnp.PyArray_TYPE(into) != cnp.NPY_DOUBLE:
        lines = into.T if axis else into
        lines[start:start + count] = numbers_of(None, scalars, count, width)[:, :n]
        return 0
    for j in range(count):
        line = cnp.PyArray_BYTES(into) + (start + j) * cnp.PyArray_STRIDE(into, axis)
        for k in range(n):
            (<double *> (line + k * step))[0] = scalars[j * width + k]
    return 0


cdef int zero_all(double **scalars, size_t *count, size_t wanted) except -1:
    """Make `scalars` that many zeros; memory of the same size is used again, other memory is freed."""
    if scalars[0] != NULL and count[0] == wanted:
        memset(scalars[0], 0, wanted * sizeof(double))
        return 0
    free_zeros(scalars[0])
    scalars[0] = NULL
    scalars[0] = <double *> zeros(wanted, sizeof(double))
    count[0] = wanted
    return 0


@cython.final
cdef class Rows:
    """The cotangents of a block of rows, over one tape."""

    def __dealloc__(self):
        free_zeros(self.scalars)

    cdef int begin(self, Tape tape, Py_ssize_t width) except -1:
        """Begin with zeros; memory of a former block of the same width is used again."""
        tape.check_watched()
        self.tape = tape
        zero_all(&self.scalars, &self.count, <size_t> tape.head.count * width)
        if self.width != width:
            self.spare, self.weights = {}, None
        self.width = width
        self.blocks = [None] * tape.place_count
        self.held = self.most = 0
        return 0

    cdef int allocate(self, uint32_t storage, bint zero) except -1:
        """Give a storage its block of cotangents; a block that another storage of the same size dropped is reused."""
        cdef Place *place = &self.tape.places[storage]
        cdef cnp.npy_intp shape[2]
        cdef list spare = self.spare.get((place.size, place.type))
        shape[0], shape[1] = self.width, place.size
        if spare:
            block = spare.pop()
            if zero:
                memset(PyArray_DATA(<ndarray> block), 0, PyArray_NBYTES(<ndarray> block))
        elif zero:
            block = cnp.PyArray_ZEROS(2, shape, place.type, 0)
        else:
            block = cnp.PyArray_EMPTY(2, shape, place.type, 0)
        return self.adopt(storage, block)

    cdef int adopt(self, uint32_t storage, ndarray block) except -1:
        self.blocks[storage] = block
        self.held += <size_t> PyArray_NBYTES(block)
        self.most = max(self.most, self.held)
        return 0

    cdef char *data(self, uint32_t storage) noexcept:
        return <char *> PyArray_DATA(<ndarray> self.blocks[storage])

    cdef int drop(self, uint32_t storage) except -1:
        """Drop the block of a storage whose record has been resolved."""
        cdef Place *place = &self.tape.places[storage]
        block = self.blocks[storage]
        if block is None:
            return 0
        self.blocks[storage] = None
        self.held -= <size_t> PyArray_NBYTES(<ndarray> block)
        if Py_REFCNT(block) == 1 and block.base is None:    # no rule holds on to it
            spare = self.spare.setdefault((place.size, place.type), [])
            if len(spare) < SPARE:
                spare.append(block)
        return 0

    # -- scalars ------------------------------------------------------------------------------------------------------
    cdef double *scalars_of(self, uint32_t id) noexcept nogil:
        return self.scalars + <size_t> id * self.width

    cdef object scalar(self, uint32_t id):
        """The cotangents of a scalar, one for each row; None where all are zero."""
        if te_rows_zero(self.scalars_of(id), self.width):
            return None
        return numbers_of(self, self.scalars_of(id), 1, self.width)[0].copy()

    cdef int add_scalar(self, uint32_t id, object values) except -1:
        """Add to the cotangents of a scalar: a value for each row, or an array for each row, which is summed."""
        cdef ndarray found
        values = values.real if values.dtype.kind == "c" else values
        if values.ndim > 1:
            values = values.reshape(self.width, -1).sum(axis=1)
        found = numpy.ascontiguousarray(values, float)
        te_rows_add(self.scalars_of(id), <double *> PyArray_DATA(found), 1.0, self.width)
        return 0

    # -- arrays -------------------------------------------------------------------------------------------------------
    cdef object part(self, View view):
        """The cotangents of a view, along a new first axis; None where nothing has been added."""
        block = self.blocks[view.storage]
        if block is None:
            return None
        strides = tuple([view.dims[view.ndim + k] for k in range(view.ndim)])
        return numpy.ndarray((self.width, *view.shape), view.dtype, block, view.offset, (block.strides[0], *strides))

    cdef int add(self, View view, object contribution) except -1:
        """Accumulate into the cotangents of a view. A fresh array becomes the block of an untouched storage."""
        cdef uint32_t s = view.storage
        cdef bint first = self.blocks[s] is None
        if view.imaginary:
            contribution = -contribution
        contribution = of_type(view, contribution)
        if repeats(view):
            spread = numpy.broadcast_to(contribution, (self.width, *view.shape))
            view = once(view)
            return self.add(view, fitted_rows(spread, view.shape))
        if first:
            if (view.whole and Py_REFCNT(contribution) <= 2 and contribution.base is None and contribution.flags.carray
                    and contribution.dtype == view.dtype and contribution.shape == (self.width, *view.shape)):
                return self.adopt(s, contribution.reshape(self.width, -1))
            self.allocate(s, not view.whole)
        target = self.part(view)
        if first and view.whole:
            numpy.copyto(target, contribution, casting="same_kind")
        else:
            numpy.add(target, contribution, out=target, casting="same_kind")
        return 0

    cdef int stage(self, object place, object contribution) except -1:
        """Add a contribution, an array with the rows as its first axis, to a place."""
        if place is None or contribution is None:
            return 0
        if type(place) is View:
            return self.add(<View> place, contribution)
        return self.add_scalar(<uint32_t> place, contribution)


@cython.final
cdef class Row(Reverse):
    """One cotangent of a block, as an accumulation of its own: a row of zeros counts as untouched."""

    cdef double *place(self, uint32_t id) noexcept:
        return self.rows.scalars_of(id) + self.k

    cdef object scalar(self, uint32_t id):
        return self.place(id)[0]

    cdef int add_scalar(self, uint32_t id, object value) except -1:
        if type(value) is array_class:
            value = value.real.sum() if value.dtype.kind == "c" else value.sum()
        elif isinstance(value, complex):
            value = value.real
        self.place(id)[0] += <double> value
        return 0

    cdef int allocate(self, uint32_t storage, bint zero) except -1:
        return self.rows.allocate(storage, True)

    cdef object part(self, View view):
        parts = self.rows.part(view)
        if parts is None:
            return None
        part = parts[self.k, ...]
        return part if part.any() else None

    cdef int add(self, View view, object contribution) except -1:
        contribution = of_type(view, self.signed(view, numpy.asarray(contribution)))
        if repeats(view):
            view = once(view)
            return self.add(view, fitted(contribution, view.shape))
        if self.rows.blocks[view.storage] is None:
            self.rows.allocate(view.storage, True)
        target = self.rows.part(view)[self.k, ...]
        numpy.add(target, contribution, out=target, casting="same_kind")
        return 0

    cdef int drop(self, uint32_t storage) except -1:
        self.dropped.append(storage)
        return 0


# -- scalar records ---------------------------------------------------------------------------------------------------
cdef uint32_t resolve_scalars(Head *h, double *scalars, Py_ssize_t width, uint32_t i, uint32_t lowest) noexcept nogil:
    """Resolve scalar records from i down to lowest; stops before a special record and returns its id."""
    cdef Record *r
    cdef double *c
    while i >= lowest:
        if op_at(h, i) >= SPECIAL:
            return i
        c = scalars + <size_t> i * width
        if not te_rows_zero(c, width):
            r = record_at(h, i)
            te_rows_add(scalars + <size_t> r.p1 * width, c, r.d1, width)
            if r.p2 != i:
                te_rows_add(scalars + <size_t> r.p2 * width, c, r.d2, width)
        i -= 1
    return i


cdef uint32_t push_scalars(Head *h, double *scalars, Py_ssize_t width, uint32_t i, uint32_t highest) noexcept nogil:
    """Sweep the scalar records from i up to highest; stops before a special record and returns its id."""
    cdef Record *r
    cdef double *t
    while i <= highest:
        r = record_at(h, i)
        if r.p1 == i:
            return i
        t = scalars + <size_t> i * width
        if r.p2 == i:
            te_rows_set(t, scalars + <size_t> r.p1 * width, r.d1, width)
        else:
            te_rows_sum(t, scalars + <size_t> r.p1 * width, r.d1, scalars + <size_t> r.p2 * width, r.d2, width)
        i += 1
    return i
