"""Sums and means of float64 arrays: values with numpy's pairwise order of additions, rules that add in place.

`summed` does the same to plain arrays, for passes that are written as operations on whole arrays.
"""

from libc.math cimport isfinite
from libc.stdint cimport uint32_t
cimport cython
from tapeengine._core.tape cimport numpy_c as cnp
from tapeengine._core.tape.numpy_c cimport (
    NPY_DOUBLE, PyArray_DATA, PyArray_DIMS, PyArray_EMPTY, PyArray_IS_C_CONTIGUOUS, PyArray_NDIM, PyArray_SIZE, ndarray,
    npy_intp,
)

from tapeengine._core.arrays.array cimport Array
from tapeengine._core.arrays.elementwise cimport plain_double, report, te_sum_of
from tapeengine._core.tape.accumulation cimport Reverse, View, view_of
from tapeengine._core.tape.records cimport ArrayRecord
from tapeengine._core.tape.blocks cimport Rows, Tangents
from tapeengine._core.scalars.scalar cimport Dual, new_dual
from tapeengine._core.arrays.storing cimport SUMMED, head_of_array, is_recording, keeps_values, new_array, note, operand
from tapeengine._core.tape.tape cimport ARRAY, Head, record_special, tape_of

import numpy

from tapeengine._core.arrays.calls import zero_dim

cnp.import_array()

cdef object array_class = numpy.ndarray


@cython.final
@cython.no_gc
cdef class SumRecord(ArrayRecord):
    """A sum over all axes or over one, divided by a number (1 for a sum)."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        if self.result is None:
            ct = r.scalar(id)
            if type(ct) is float and <double> ct == 0.0:
                return 0
            ct = ct / self.divisor if self.divisor != 1.0 else ct
        else:
            ct = r.part(self.result)
            if ct is None:
                return 0
            if self.divisor != 1.0:
                ct = ct / self.divisor
        self.spread(r, ct)
        if self.result is not None:
            r.drop(self.result.storage)
        return 0

    cdef int forward(self, Reverse r, uint32_t id) except -1:
        t = r.part(self.source)
        if t is None:
            return 0
        t = numpy.sum(t, axis=None if self.result is None else self.axis)
        t = t / self.divisor if self.divisor != 1.0 else t
        if self.result is None:
            return r.add_scalar(id, t)
        return r.add(self.result, numpy.reshape(t, self.result.shape))

    cdef bint reverse_rows(self, Rows rows, uint32_t id) except -1:
        cdef Py_ssize_t axes = self.source.ndim
        ct = rows.scalar(id) if self.result is None else rows.part(self.result)
        if ct is None:
            return True
        if self.divisor != 1.0:
            ct = ct / self.divisor
        spread = ct.reshape((rows.width,) + (1,) * axes) if self.result is None else numpy.expand_dims(ct, self.axis + 1)
        rows.add(self.source, spread)
        if self.result is not None:
            rows.drop(self.result.storage)
        return True

    cdef bint forward_columns(self, Tangents many, uint32_t id) except -1:
        """Sum the tangents over all axes or over one; the summed array is C-contiguous in its storage."""
        cdef Py_ssize_t outer, n, inner, k, row = many.row(self.source.storage), to
        cdef char *t = many.data(self.source.storage)
        cdef char *out
        if t == NULL:
            return True
        if self.result is None:
            out, to = <char *> many.scalars_of(id), sizeof(double)
        else:
            block = many.blocks[self.result.storage] = many.fresh(self.result.storage, False)
            out, to = <char *> PyArray_DATA(<ndarray> block), many.row(self.result.storage)
        self.extents(&outer, &n, &inner)
        for k in range(many.width):
            add_up(outer, n, inner, <double *> (t + self.source.offset + k * row), <double *> (out + k * to),
                   self.divisor)
        return True

    cdef list reads(self):
        return [(0, self.source)]

    cdef list writes(self):
        return [self.result]

    cdef object detail(self):
        return None if self.result is None else self.axis

    cdef int depend(self, object walk, uint32_t id) except -1:
        if self.result is None:
            walk.put(id, walk.over(walk.get(self.source), None).reshape(()))
        else:
            walk.put(self.result, walk.over(walk.get(self.source), (self.axis,)).reshape(self.result.shape))
        return 0

    cdef object parts(self, object walk, uint32_t id):
        source = walk.numbered(self.source)
        made = walk.numbered(id if self.result is None else self.result)
        if self.result is not None:
            shape = source.shape
            made = made.reshape((*shape[:self.axis], 1, *shape[self.axis + 1:]))
        return [(made, source, 1.0 / self.divisor)]

    cdef void extents(self, Py_ssize_t *outer, Py_ssize_t *n, Py_ssize_t *inner) noexcept:
        """The extents of the axes before, along and after the sum; a sum over all axes counts as one axis."""
        cdef int k
        outer[0] = n[0] = inner[0] = 1
        for k in range(self.source.ndim):
            if self.axis < 0 or k == self.axis:
                n[0] *= self.source.dims[k]
            elif k < self.axis:
                outer[0] *= self.source.dims[k]
            else:
                inner[0] *= self.source.dims[k]

    cdef int spread(self, Reverse r, object ct) except -1:
        """Add the cotangent to every element that was summed."""
        cdef Py_ssize_t outer, n, inner, i, j, k
        cdef View v = self.source
        cdef double *acc
        cdef double *c
        cdef double one
        cdef bint first
        if r.recorded or not v.whole or (self.result is not None and type(ct) is not array_class):
            if self.result is not None:
                ct = numpy.expand_dims(ct, self.axis)
            elif type(ct) is Dual:
                ct = zero_dim(ct)
            return r.add(v, numpy.broadcast_to(ct, v.shape))
        first = r.data[v.storage] == NULL
        if first:
            r.allocate(v.storage, False)
        acc = <double *> r.data[v.storage]
        self.extents(&outer, &n, &inner)
        if self.result is None:
            one = ct
            if first:
                for i in range(n):
                    acc[i] = one
            else:
                for i in range(n):
                    acc[i] += one
            return 0
        if not PyArray_IS_C_CONTIGUOUS(<ndarray> ct):
            ct = numpy.ascontiguousarray(ct)
        c = <double *> PyArray_DATA(<ndarray> ct)
        if inner == 1:      # one number for each row
            for i in range(outer):
                one = c[i]
                if first:
                    for j in range(n):
                        acc[j] = 0.0 + one
                else:
                    for j in range(n):
                        acc[j] += one
                acc += n
            return 0
        if first:
            for i in range(outer):
                for j in range(n):
                    for k in range(inner):
                        acc[(i * n + j) * inner + k] = 0.0 + c[i * inner + k]
            return 0
        for i in range(outer):
            for j in range(n):
                for k in range(inner):
                    acc[(i * n + j) * inner + k] += c[i * inner + k]
        return 0


cdef void add_up(Py_ssize_t outer, Py_ssize_t n, Py_ssize_t inner, const double *p, double *out, double divisor) noexcept nogil:
    """`te_sum`, compiled once."""
    te_sum(outer, n, inner, p, out, divisor)


cdef object total(object x, int axis, bint keepdims, bint mean):
    """The sum of a traced float64 array over one axis (all: axis < 0), or its mean; NotImplemented for other arrays."""
    cdef SumRecord record
    cdef Array a = <Array> x
    cdef Head *h
    cdef ndarray values, out
    cdef Py_ssize_t n, outer, inner
    cdef double *p
    cdef double v, divisor = 1.0
    cdef uint32_t id
    if a.storage.type != NPY_DOUBLE or not a.storage.active or keepdims:
        return NotImplemented
    current = a.current()
    h = head_of_array(a)
    if not plain_double(current) or keeps_values(h) or tape_of(h).link_sources is not None:
        return NotImplemented
    values = <ndarray> current
    if PyArray_SIZE(values) == 0 or PyArray_NDIM(values) == 0:
        return NotImplemented
    if not PyArray_IS_C_CONTIGUOUS(values):
        return NotImplemented
    if mean:
        divisor = <double> (PyArray_SIZE(values) if axis < 0 else PyArray_DIMS(values)[axis])
    p = <double *> PyArray_DATA(values)
    record = SumRecord.__new__(SumRecord)
    record.source = view_of(values, a.storage.index, a.offset, a.storage.size)
    record.axis = axis
    record.divisor = divisor
    if axis >= PyArray_NDIM(values):
        return NotImplemented
    if axis < 0 or PyArray_NDIM(values) == 1:
        v = te_sum_of(p, PyArray_SIZE(values))
        v = v if divisor == 1.0 else v / divisor
        report(numpy.mean if mean else numpy.sum, values, None)
        if is_recording(h):
            note(h, h.count, (SUMMED, operand(h, a), record))
        id = record_special(h, ARRAY, <uint32_t> len(tape_of(h).arrays), 0.0, 0.0, v)
        tape_of(h).arrays.append(record)
        return new_dual(v, id, h.tag)
    shape = (<object> values).shape
    out = numpy.empty(shape[:axis] + shape[axis + 1:])
    record.extents(&outer, &n, &inner)
    add_up(outer, n, inner, p, <double *> PyArray_DATA(out), divisor)
    report(numpy.mean if mean else numpy.sum, values, axis)
    result = new_array(h, out, True)
    record.result = view_of(out, (<Array> result).storage.index, 0, PyArray_SIZE(out))
    if is_recording(h):
        note(h, h.count, (SUMMED, operand(h, a), record))
    record_special(h, ARRAY, <uint32_t> len(tape_of(h).arrays), 0.0, 0.0, 0.0)
    tape_of(h).arrays.append(record)
    return result


def summed(x, axis=None):
    """``x.sum(axis)``; of plain doubles without the time that numpy takes to prepare it.

    Along an axis this is for matrices. A total that is not finite is left to numpy, which reports an overflow.
    """
    cdef npy_intp *dims
    cdef ndarray made
    cdef int along
    cdef double total
    if not plain_double(x) or not PyArray_IS_C_CONTIGUOUS(<ndarray> x) or PyArray_SIZE(<ndarray> x) == 0:
        return x.sum(axis)
    if axis is None:
        total = te_sum_of(<double *> PyArray_DATA(<ndarray> x), PyArray_SIZE(<ndarray> x))
        return total if isfinite(total) else x.sum()
    if PyArray_NDIM(<ndarray> x) != 2:
        return x.sum(axis)
    along = axis
    dims = PyArray_DIMS(<ndarray> x)
    made = PyArray_EMPTY(1, &dims[1 - along], NPY_DOUBLE, False)
    add_up(1 if along == 0 else dims[0], dims[along], dims[1] if along == 0 else 1, <double *> PyArray_DATA(<ndarray> x),
           <double *> PyArray_DATA(made), 1.0)
    return made
