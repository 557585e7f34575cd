"""The tangents of a tape's ids and storages along many directions at once; each gives a column of a Jacobian.

The tangents of a storage are one block with a row for each direction. A block is freed once the last record that
touches its storage has been swept, and is reused for the next storage of the same size: fresh memory would cost a page
fault for every 4 KiB, which is more than most rules cost.
"""

from cpython.ref cimport Py_REFCNT
from libc.stdint cimport uint32_t
from libc.string cimport memcpy
from tapeengine._core.tape cimport numpy_c as cnp
from tapeengine._core.tape.numpy_c cimport (
    PyArray_DATA, PyArray_ISCARRAY, PyArray_TYPE, ndarray, npy_intp,
)

from tapeengine._core.tape.lifetimes cimport Lifetimes
from tapeengine._core.tape.accumulation cimport View, array_over, free_zeros
from tapeengine._core.tape.rows cimport numbers_of, te_rows_zero, zero_all
from tapeengine._core.tape.tape cimport Place, Tape

import numpy

cnp.import_array()

cdef enum:
    MOST_AXES = 64      # of numpy's arrays
    MOST_SPARE = 4      # kept blocks of one size


cdef object aligned(object tangents, Py_ssize_t axes):
    """Insert unit axes after the block's first axis, so that the block broadcasts like a single tangent."""
    cdef Py_ssize_t missing = axes + 1 - tangents.ndim
    if missing <= 0:
        return tangents
    return tangents.reshape((tangents.shape[0],) + (1,) * missing + tangents.shape[1:])


cdef class Tangents:
    """The accumulation of a forward sweep along many directions."""

    def __dealloc__(self):
        free_zeros(self.scalars)

    cdef int begin(self, Tape tape, Py_ssize_t width, Lifetimes lifetimes) except -1:
        """Begin with zeros everywhere; memory of a former block of the same width is used again."""
        tape.check_watched()
        self.tape = tape
        self.records = tape.head.count
        self.storages = tape.place_count
        zero_all(&self.scalars, &self.count, <size_t> self.records * width)
        if self.width != width:
            self.spare, self.weights = {}, None
        self.width = width
        self.blocks = [None] * self.storages
        self.lifetimes = lifetimes
        return 0

    # -- memory -------------------------------------------------------------------------------------------------------
    cdef object fresh(self, uint32_t storage):
        """An uninitialised block for a storage."""
        cdef Place *place = &self.tape.places[storage]
        spare = self.spare.get((place.size, place.type))
        if spare:
            return spare.pop()
        return numpy.empty((self.width, place.size), cnp.PyArray_DescrFromType(place.type))

    cdef int allocate(self, uint32_t storage) except -1:
        """Give a storage a block of zeros."""
        block = self.fresh(storage)
        block[...] = 0
        self.blocks[storage] = block
        return 0

    cdef int give_back(self, uint32_t storage) except -1:
        """Drop a storage's block, and keep it for reuse where nothing else refers to it."""
        cdef Place *place = &self.tape.places[storage]
        block = self.blocks[storage]
        if block is not None:
            self.blocks[storage] = None
            spare = self.spare.setdefault((place.size, place.type), [])
            if len(spare) < MOST_SPARE:
                spare.append(block)
        return 0

    cdef int release(self, uint32_t id) except -1:
        """Drop the blocks of storages that no record after `id` touches."""
        cdef uint32_t storage
        while self.lifetimes.next(id, &storage):
            self.give_back(storage)
        return 0

    cdef char *data(self, uint32_t storage) noexcept:
        """The memory of a storage's block; NULL where its tangents are zero."""
        block = self.blocks[storage]
        return NULL if block is None else <char *> PyArray_DATA(<ndarray> block)

    cdef Py_ssize_t row(self, uint32_t storage) noexcept:
        """The distance in bytes between the rows of a storage's block."""
        return self.tape.places[storage].size * self.tape.places[storage].width

    # -- reading ------------------------------------------------------------------------------------------------------
    cdef object part(self, View view):
        """The tangents of a view, with the directions as an additional first axis; None where they are zero."""
        cdef npy_intp dims[65]
        cdef npy_intp strides[65]
        cdef int k
        block = self.blocks[view.storage]
        if block is None:
            return None
        if view.ndim >= MOST_AXES:
            raise ValueError(f"an array of {view.ndim} axes leaves none for the columns of a Jacobian")
        dims[0] = self.width
        strides[0] = self.row(view.storage)
        for k in range(view.ndim):
            dims[k + 1] = view.dims[k]
            strides[k + 1] = view.dims[view.ndim + k]
        return array_over(
            <char *> PyArray_DATA(<ndarray> block) + view.offset, view.ndim + 1, dims, strides, view.type, block)

    cdef double *scalars_of(self, uint32_t id) noexcept nogil:
        return self.scalars + <size_t> id * self.width

    cdef object scalar(self, uint32_t id):
        """The tangents of a scalar; None where they are zero."""
        if te_rows_zero(self.scalars_of(id), self.width):
            return None
        return numbers_of(self, self.scalars_of(id), 1, self.width)[0].copy()

    cdef object of(self, object place):
        """The tangents of an input of a record; None where they are zero."""
        if place is None:
            return None
        return self.part(<View> place) if type(place) is View else self.scalar(<uint32_t> place)

    # -- writing ------------------------------------------------------------------------------------------------------
    cdef int put(self, View output, object total) except -1:
        """Stage the tangents of an output; an array without other references becomes the block of its storage."""
        cdef uint32_t s = output.storage
        cdef ndarray array
        if total is None:
            return 0
        array = <ndarray?> total    # two references: this one and the caller's
        if (output.whole and self.blocks[s] is None and Py_REFCNT(total) <= 2 and total.base is None
                and PyArray_ISCARRAY(array) and PyArray_TYPE(array) == output.type):
            self.blocks[s] = total.reshape(self.width, -1)
            return 0
        if self.blocks[s] is None:
            if output.whole:
                self.blocks[s] = self.fresh(s)
            else:
                self.allocate(s)
        self.part(output)[...] = total
        return 0

    cdef int put_scalar(self, uint32_t id, object total) except -1:
        """Stage the tangents of a scalar."""
        cdef object found = numpy.ascontiguousarray(total.real, numpy.float64)
        memcpy(self.scalars_of(id), PyArray_DATA(<ndarray> found), self.width * sizeof(double))
        return 0
