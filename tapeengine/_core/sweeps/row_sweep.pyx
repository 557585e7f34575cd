"""The rows of a Jacobian: one walk over the tape resolves a block of them.

The number of rows in a block is bounded by the memory for their cotangents.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t

from tapeengine._core.structures.interleave cimport ARRAY as ARRAY_LEAF, DICT, FLOAT, FLOATS, NUMPY, Layout
from tapeengine._core.tape.accumulation cimport View
from tapeengine._core.tape.records cimport ArrayRecord
from tapeengine._core.tape.blocks cimport (
    LINE, Row, Rows, put_numbers, resolve_scalars, te_rows_clear, te_rows_gather, te_rows_scatter, te_rows_zero,
)
from tapeengine._core.tape.tape cimport ARRAY, READ, WRITE, Head, Record, Tape, op_at, record_at
from tapeengine._core.sweeps.trace cimport Backpropagator

from bisect import bisect_right
from operator import itemgetter

import numpy

cdef enum:
    FEW = 3             # up to this many rows are resolved without a block
    PROBE = 8           # rows of a first block, which measures the memory of a row
    WIDEST = 256        # the largest number of rows in a block
    CACHE = 1 << 18     # bytes of the cotangents of one storage
    LOOK = 1 << 17      # records, times rows, between two checks for interrupts
cdef size_t BUDGET = 1 << 26    # bytes of the cotangents of one block


# -- the walk ----------------------------------------------------------------------------------------------------------
cdef int resolve_element(Rows rows, Record *record, int kind, uint32_t i) except -1:
    """Resolve a read or a write of one element."""
    cdef double *place
    cdef double *c = rows.scalars_of(i)
    cdef Py_ssize_t step = rows.tape.places[record.p2].size
    if rows.blocks[record.p2] is None:
        if kind == WRITE or te_rows_zero(c, rows.width):
            return 0
        rows.allocate(record.p2, True)
    place = <double *> rows.data(record.p2) + <Py_ssize_t> record.d2
    if kind == READ:
        te_rows_scatter(place, c, step, rows.width)
    else:
        if record.d1 != 0.0:
            te_rows_gather(rows.scalars_of(<uint32_t> record.d1), place, step, rows.width)
        te_rows_clear(place, step, rows.width)
    return 0


cdef int one_by_one(Rows rows, ArrayRecord record, uint32_t id) except -1:
    """Resolve a record for one cotangent after the other."""
    cdef Row row = Row.__new__(Row)
    cdef Py_ssize_t k
    row.tape = rows.tape
    row.recorded = True     # makes the record use only the methods of `row`
    row.rows = rows
    row.dropped = []
    for k in range(rows.width):
        row.k = k
        record.reverse(row, id)
    for storage in set(row.dropped):
        rows.drop(storage)
    return 0


cdef int resolve_rows(Rows rows, uint32_t top) except -1:
    """Resolve the ids from top down to the last input for all rows."""
    cdef Head *h = &rows.tape.head
    cdef uint32_t i = top, lowest, look = LOOK // rows.width + 1
    cdef ArrayRecord record
    cdef int kind
    while i > h.inputs:
        lowest = i - look if i > h.inputs + look else h.inputs + 1
        while i >= lowest:
            with nogil:
                i = resolve_scalars(h, rows.scalars, rows.width, i, lowest)
            if i < lowest:
                break
            kind = op_at(h, i)
            if kind == ARRAY:
                record = <ArrayRecord> rows.tape.arrays[record_at(h, i).p2]
                if not record.reverse_rows(rows, i):
                    one_by_one(rows, record, i)
            elif kind == READ or kind == WRITE:
                resolve_element(rows, record_at(h, i), kind, i)
            i -= 1
        PyErr_CheckSignals()
    return 0


# -- start and end -----------------------------------------------------------------------------------------------------
cdef list places_of(list layouts):
    """The places of the numbers in structures, in order: [(first number, how many, id or View or None)]."""
    cdef Layout layout
    cdef Py_ssize_t k, start = 0, n, taken
    cdef list found = []
    for layout in layouts:
        taken = 0       # used entries of the layout's `aux`
        for k in range(layout.count):
            kind = layout.steps[k].kind
            n, place = 0, None
            if kind == FLOAT or kind == NUMPY:
                n, place = 1, layout.steps[k].id
            elif kind == FLOATS:
                n, place = layout.steps[k].n, layout.steps[k].id
            elif kind == ARRAY_LEAF:
                place = layout.aux[taken]
                n = numpy.prod(place.shape, dtype=numpy.intp)
                place = place if type(place) is View else None
            taken += kind == NUMPY or kind == ARRAY_LEAF or kind >= DICT
            if n:
                found.append((start, n, place))
            start += n
    return found


cdef uint32_t seed(Rows rows, list places, Py_ssize_t first) except? 0:
    """Stage a one in each row; the row's number is its index plus `first`. Returns the id at which the walk begins."""
    cdef uint32_t top = 0, id
    cdef Py_ssize_t start, n, j
    for start, n, place in places[bisect_right(places, first, key=itemgetter(0)) - 1:]:
        if start >= first + rows.width:
            break
        if place is None or (type(place) is not View and place == 0):
            continue
        parts = None
        one = 1.0
        if type(place) is View:
            one = -1.0 if (<View> place).imaginary else 1.0     # cotangents of imaginary parts are kept negated
            if rows.blocks[(<View> place).storage] is None:
                rows.allocate((<View> place).storage, True)
            parts = rows.part(<View> place)
            top = rows.tape.head.count - 1
        for j in range(max(start, first), min(start + n, first + rows.width)):
            if parts is not None:
                parts[j - first, ...].flat[j - start] += one
            else:
                id = <uint32_t> place + <uint32_t> (j - start)
                rows.scalars_of(id)[j - first] += 1.0
                top = max(top, id)
    return top


cdef int take_out(Rows rows, list places, object into) except -1:
    """Copy the cotangents of the primals into rows of the matrix."""
    cdef Py_ssize_t start, n
    for start, n, place in places:
        if type(place) is View:
            parts = rows.part(<View> place)
            if parts is not None:
                into[:, start:start + n] = parts.reshape(rows.width, n)
            continue
        put_numbers(into, 1, start, rows.scalars_of(<uint32_t> place), n, rows.width)
    return 0


cdef size_t bytes_of_row(Tape tape) noexcept:
    """An upper bound of the memory for the cotangents of one row: all scalars and all storages."""
    cdef size_t total = tape.head.count * sizeof(double)
    cdef uint32_t s
    for s in range(tape.place_count):
        total += <size_t> tape.places[s].size * tape.places[s].width
    return total


cdef Py_ssize_t largest(Tape tape) noexcept:
    """The bytes of the largest storage."""
    cdef Py_ssize_t found = 1
    cdef uint32_t s
    for s in range(tape.place_count):
        found = max(found, tape.places[s].size * tape.places[s].width)
    return found


cdef bint is_scalar_tape(Tape tape) noexcept:
    """Whether all results that depend on the primals are scalars."""
    return tape.place_count == 0 and not tape.arrays


def walks(Backpropagator back, Py_ssize_t count):
    """The number of walks for `count` rows or columns: on a scalar tape one for each block, otherwise one for each."""
    return (count + LINE - 1) // LINE if is_scalar_tape(back.tape) else count


cdef Py_ssize_t widest(Tape tape) noexcept:
    """The largest number of rows in a block: the cotangents of each storage should stay in the cache.

    Most of the cost of a walk over scalars is reading the records and the cotangents: a cache line of them for each id
    costs little more than one.
    """
    if is_scalar_tape(tape):
        return LINE
    return min(max(<Py_ssize_t> (CACHE // largest(tape)), <Py_ssize_t> PROBE), <Py_ssize_t> WIDEST)


cdef Py_ssize_t fair(Py_ssize_t count, Py_ssize_t most) noexcept:
    """The number of rows or columns in the next block: blocks have about equal sizes of at most `most`."""
    cdef Py_ssize_t blocks = (count + most - 1) // most
    return (count + blocks - 1) // blocks


def matrix(Backpropagator back, Py_ssize_t size, Py_ssize_t columns, dtype, told=None):
    """The matrix of a program's derivative, computed by rows on plain numbers.

    Parameters
    ----------
    back : Backpropagator
        For a tape that depends on no outer trace.
    size, columns : int
        The numbers of scalars in the result and in the primals.
    dtype : numpy.dtype
        The matrix's dtype.
    told : callable, optional
        Called after each block with its number of rows.

    Returns
    -------
    numpy.ndarray of shape (size, columns)
        None for few rows over a tape with arrays, which are resolved singly.
    """
    cdef Rows rows = Rows.__new__(Rows)
    cdef Py_ssize_t first = 0, width
    cdef size_t bytes = bytes_of_row(back.tape)
    cdef Py_ssize_t most = widest(back.tape)
    cdef bint scalar = is_scalar_tape(back.tape), known = scalar or bytes * min(size, most) <= BUDGET
    if size <= FEW and not scalar:
        return None
    outputs, inputs = places_of([back.result]), places_of(back.primals)
    found = numpy.zeros((size, columns), dtype)
    while first < size:
        width = min(LINE, size - first) if scalar else fair(size - first, most if known else PROBE)
        rows.begin(back.tape, LINE if scalar else width)
        resolve_rows(rows, seed(rows, outputs, first))
        take_out(rows, inputs, found[first:first + width])
        if not known:
            bytes = back.tape.head.count * sizeof(double) + rows.most // width
            most = min(most, max(<Py_ssize_t> (BUDGET // bytes), <Py_ssize_t> 1))
            known = True
        first += width
        if told is not None:
            told(width)
    return found
