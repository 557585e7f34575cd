"""The columns of a Jacobian: one walk over the tape sweeps a block of unit tangents.

The number of columns in a block is bounded so that the tangents of the largest array should stay in the cache.
"""

from libc.stdint cimport uint32_t

from tapeengine._core.sweeps.batch cimport Batch, lifetimes_of
from tapeengine._core.tape.accumulation cimport View
from tapeengine._core.tape.blocks cimport LINE, put_numbers
from tapeengine._core.sweeps.row_sweep cimport fair, is_scalar_tape, largest, places_of
from tapeengine._core.sweeps.trace cimport Backpropagator

import numpy

cdef enum:
    FEW = 3                 # fewer columns are swept without a block
    LARGEST = 1 << 22       # bytes of the largest array's tangents in one block
    LEAST = 8               # columns that a block may have even if its arrays are larger


cdef int seed(Batch batch, list places, Py_ssize_t first) except -1:
    """Stage a one in each row of the block; the row's input is its number plus `first`."""
    cdef Py_ssize_t start, n, k, low, high
    for start, n, place in places:
        low, high = max(start, first), min(start + n, first + batch.width)
        if low >= high or place is None:
            continue
        if type(place) is View:
            seed_array(batch, <View> place, low - start, high - start, low - first)
        else:
            for k in range(low, high):
                batch.scalars_of(<uint32_t> place + <uint32_t> (k - start))[k - first] = 1.0
    return 0


cdef int seed_array(Batch batch, View view, Py_ssize_t low, Py_ssize_t high, Py_ssize_t row) except -1:
    """Stage unit tangents for an array's numbers from low to high, in consecutive rows of the block."""
    if batch.blocks[view.storage] is None:
        batch.allocate(view.storage, True)
    places = numpy.unravel_index(numpy.arange(low, high), view.shape) if view.ndim else ()
    batch.part(view)[(numpy.arange(row, row + high - low), *places)] = 1
    return 0


cdef int take_out(Batch batch, list places, object into) except -1:
    """Copy the tangents of the result's numbers into columns of the matrix."""
    cdef Py_ssize_t start, n
    for start, n, place in places:
        if type(place) is View:
            part = batch.part(<View> place)
            if part is not None:
                into[start:start + n] = part.reshape(batch.width, n).T
        elif place:
            put_numbers(into, 0, start, batch.scalars_of(<uint32_t> place), n, batch.width)
    return 0


def matrix(Backpropagator back, Py_ssize_t size, Py_ssize_t columns, dtype, told=None):
    """The matrix of a program's derivative, computed by columns on plain numbers.

    Parameters
    ----------
    back : Backpropagator
        For a tape that depends on no outer trace and that can be swept forwards.
    size, columns : int
        The numbers of scalars in the result and in the primals.
    dtype : numpy.dtype
        The matrix's dtype.
    told : callable, optional
        Called after each block with its number of columns.

    Returns
    -------
    numpy.ndarray of shape (size, columns)
        None for few columns over a tape with arrays, which are swept singly.
    """
    cdef Batch batch = Batch.__new__(Batch)
    cdef Py_ssize_t first, width
    cdef Py_ssize_t most = max(<Py_ssize_t> (LARGEST // largest(back.tape)), <Py_ssize_t> LEAST)
    cdef bint scalar = is_scalar_tape(back.tape)
    if columns < FEW and not scalar:
        return None
    inputs, outputs = places_of(back.primals), places_of([back.result])
    lasting = [(<View> place).storage for _, _, place in outputs if type(place) is View]
    found = numpy.zeros((size, columns), dtype)
    width = LINE if scalar else fair(columns, most)
    for first in range(0, columns, width):
        batch.begin(back.tape, LINE if scalar else min(width, columns - first), lifetimes_of(back.tape, lasting))
        seed(batch, inputs, first)
        batch.sweep()
        take_out(batch, outputs, found[:, first:first + width])
        if told is not None:
            told(min(width, columns - first))
    return found
