"""Jacobians of scalar programs: one walk over the tape serves a block of cotangents, or of tangents.

Most of the cost of a walk is reading the records and the accumulation array. With a cache line of cotangents for each
id, eight of them cost little more than one.
"""

from libc.stdint cimport uint32_t
from libc.string cimport memset
from numpy cimport PyArray_DATA, ndarray

from tapeengine._core.tape.tape cimport SPECIAL, Head, Record, Tape, op_at, record_at
from tapeengine._core.sweeps.linear cimport scalar_ids
from tapeengine._core.sweeps.trace cimport Backpropagator
from tapeengine._core.tape.accumulation cimport free_zeros, zeros

import numpy

cdef extern from "block.h" nogil:
    const uint32_t TE_BLOCK
    void te_block_add(double *to, const double *source, double partial)
    void te_block_set(double *to, const double *source, double partial)
    void te_block_sum(double *to, const double *source, double first, const double *other, double second)
    bint te_block_zero(const double *block)


cdef void resolve_block(Head *h, double *cotangent, uint32_t top) noexcept nogil:
    """Resolve the ids from top down for a block of cotangents."""
    cdef uint32_t i
    cdef Record *r
    cdef double *c
    for i in range(top, h.inputs, -1):
        c = cotangent + <size_t> i * TE_BLOCK
        if op_at(h, i) >= SPECIAL or te_block_zero(c):
            continue
        r = record_at(h, i)
        te_block_add(cotangent + <size_t> r.p1 * TE_BLOCK, c, r.d1)
        if r.p2 != i:
            te_block_add(cotangent + <size_t> r.p2 * TE_BLOCK, c, r.d2)


cdef void push_block(Head *h, double *tangent, uint32_t top) noexcept nogil:
    """Compute the tangents of the ids up to top for a block of tangents of the inputs; previous content is not read."""
    cdef uint32_t i
    cdef Record *r
    cdef double *t
    for i in range(h.inputs + 1, top + 1):
        t = tangent + <size_t> i * TE_BLOCK
        if op_at(h, i) >= SPECIAL:
            memset(t, 0, TE_BLOCK * sizeof(double))
            continue
        r = record_at(h, i)
        if r.p2 == i:
            te_block_set(t, tangent + <size_t> r.p1 * TE_BLOCK, r.d1)
        else:
            te_block_sum(t, tangent + <size_t> r.p1 * TE_BLOCK, r.d1, tangent + <size_t> r.p2 * TE_BLOCK, r.d2)


cdef bint is_scalar_tape(Tape tape) noexcept:
    """Whether all results that depend on the primals are scalars."""
    return tape.place_count == 0 and not tape.arrays


cdef void reverse_rows(
    Head *h, double *block, const uint32_t *outputs, double *rows, uint32_t first, uint32_t width
) noexcept nogil:
    """Resolve a block of outputs, and copy the cotangents of the inputs to the matrix."""
    cdef uint32_t k, j, top = 0
    if first:
        memset(block, 0, <size_t> h.count * TE_BLOCK * sizeof(double))
    for k in range(width):
        if outputs[first + k]:
            block[<size_t> outputs[first + k] * TE_BLOCK + k] = 1.0
        top = max(top, outputs[first + k])
    resolve_block(h, block, top)
    for j in range(h.inputs):
        for k in range(width):
            rows[<size_t> (first + k) * h.inputs + j] = block[<size_t> (j + 1) * TE_BLOCK + k]


cdef void forward_columns(
    Head *h, double *block, const uint32_t *outputs, uint32_t m, double *rows, uint32_t first, uint32_t width
) noexcept nogil:
    """Sweep the tangents of a block of inputs forward, and copy the tangents of the outputs to the matrix."""
    cdef uint32_t k, i, top = 0
    for i in range(m):
        top = max(top, outputs[i])
    memset(block, 0, <size_t> (h.inputs + 1) * TE_BLOCK * sizeof(double))
    for k in range(width):
        block[<size_t> (first + k + 1) * TE_BLOCK + k] = 1.0
    push_block(h, block, top)
    for i in range(m):
        for k in range(width):
            rows[<size_t> i * h.inputs + first + k] = block[<size_t> outputs[i] * TE_BLOCK + k]


def walks(Backpropagator back, Py_ssize_t count):
    """The number of walks for `count` rows or columns: on a scalar tape one for each block, otherwise one for each."""
    return (count + TE_BLOCK - 1) // TE_BLOCK if is_scalar_tape(back.tape) else count


def matrix(Backpropagator back, outputs, bint forward, told=None):
    """The Jacobian of the scalars with the ids `outputs` (0: a constant), by blocks of rows or of columns.

    `told` is called after each block with its number of rows or columns.

    Returns
    -------
    numpy.ndarray of shape (len(outputs), number of scalars in the primals)
        None if the tape has array records.
    """
    cdef Head *h = &back.tape.head
    cdef uint32_t *ids
    cdef uint32_t count
    cdef double *rows
    cdef double *block
    cdef uint32_t first, width, lines = h.inputs if forward else <uint32_t> len(outputs)
    if not is_scalar_tape(back.tape):
        return None
    result = numpy.zeros((len(outputs), h.inputs))
    if result.size == 0:
        return columns_of_primals(back, result)
    given = numpy.array(outputs, numpy.uint32)
    count = <uint32_t> given.size
    ids = <uint32_t *> PyArray_DATA(<ndarray> given)
    rows = <double *> PyArray_DATA(<ndarray> result)
    block = <double *> zeros(h.count, TE_BLOCK * sizeof(double))
    try:
        for first in range(0, lines, TE_BLOCK):
            width = min(TE_BLOCK, lines - first)
            with nogil:
                if forward:
                    forward_columns(h, block, ids, count, rows, first, width)
                else:
                    reverse_rows(h, block, ids, rows, first, width)
            if told is not None:
                told(width)
    finally:
        free_zeros(block)
    return columns_of_primals(back, result)


cdef object columns_of_primals(Backpropagator back, object result):
    """The columns of the primals, which may be some of the inputs of the tape only; see `Backpropagator.chosen`."""
    cdef list columns = []
    for layout in back.primals:
        columns += scalar_ids(layout)
    if columns == list(range(1, back.tape.head.inputs + 1)):
        return result
    return numpy.ascontiguousarray(result[:, [i - 1 for i in columns]])
