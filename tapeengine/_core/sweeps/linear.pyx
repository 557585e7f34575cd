"""The derivative of a traced program as a linear map: forward sweeps, Hessian-vector products, Jacobians by blocks.

Jacobians with few entries that are not zero are computed from their structure (`slots.pxi`).
The backpropagator holds the tape, and these functions interpret its records.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset
from cpython.exc cimport PyErr_CheckSignals
cimport cython
from libc.math cimport isfinite

from tapeengine._core.sweeps.trace cimport (
    Backpropagator, Numbers, Recorded, Seeds, begin_seeds, push, push_recorded, push_scalars as push_numbers, push_special,
    resolve,
)
from tapeengine._core.structures.interleave cimport ARRAY as ARRAY_LEAF, DICT, FLOAT, FLOATS, NUMPY, Layout, build
from tapeengine._core.tape.tape cimport lifted, outer_of, te_scalar
from tapeengine._core.tape.accumulation cimport (
    LINE, ArrayRecord, Block, Lifetimes, Reverse, Row, Rows, Tangents, View, free_zeros, push_scalars, put_numbers,
    resolve_scalars, te_rows_clear, te_rows_gather, te_rows_scatter, te_rows_zero, zeros,
)
from tapeengine._core.scalars.scalar cimport partial_a, partial_b, value_of_op
from tapeengine._core.tape.opcodes cimport CONSTANT_LEFT, OP_ADD, OP_MUL, OP_NEG, OP_SUB, op_codes, op_forms
from tapeengine._core.tape.tape cimport (
    ARRAY, CHUNK_LAST, READ, WRITE, Head, Record, Tape, enlarged, innermost_here, op_at, record_at, SPECIAL, tape_of,
    value_at,
)
from tapeengine._core.tape.numpy_c cimport (
    PyArray_DATA, PyArray_DIM, PyArray_STRIDES, PyTypeNum_ISCOMPLEX, import_array, ndarray, npy_intp,
)
from tapeengine._core.arrays.array cimport Array, CustomRecord, ProgramRecord

from bisect import bisect_right
from operator import itemgetter
from collections import namedtuple
from time import perf_counter

import numpy

from tapeengine.errors import CotangentError

include "second.pxi"


cdef Seeds staged(Backpropagator back, tuple tangents, double *array):
    """Stage the tangents of all primals."""
    cdef Seeds seeds = begin_seeds(None, back.structures, "", array)
    cdef Py_ssize_t i
    if len(tangents) != len(back.primals):
        raise CotangentError(f"{len(back.primals)} primals need {len(back.primals)} tangents, not {len(tangents)}")
    for i in range(len(tangents)):
        seeds.layout = back.primals[i]
        seeds.root = f"tangents[{i}]"
        seeds.match(tangents[i])
    return seeds


def jvp(Backpropagator back, tuple tangents):
    """The tangent of the program's result: the forward sweep over the tape."""
    cdef double *array = <double *> zeros(back.tape.head.count, sizeof(double))
    cdef Seeds seeds
    cdef Reverse r
    cdef Numbers numbers
    cdef Head *outer
    try:
        back.tape.check_watched()
        if back.tape.watcher is not None:
            back.tape.watcher.tangents(back, tangents)
        seeds = staged(back, tangents, array)
        outer = back.outer(seeds)
        if outer != NULL:
            return jvp_recorded(back, seeds, outer)
        r = Reverse.__new__(Reverse)
        r.begin(back.tape, array)
        back.seed_arrays(r, seeds)
        push(back.tape, r)
        numbers = Numbers.__new__(Numbers)
        numbers.cotangent = array
        numbers.sweep = r
        return build(back.result, numbers)
    finally:
        free_zeros(array)


cdef object jvp_recorded(Backpropagator back, Seeds seeds, Head *outer):
    cdef te_scalar *array = <te_scalar *> zeros(back.tape.head.count, sizeof(te_scalar))
    cdef Recorded leaves
    try:
        leaves = back.begin_recorded(seeds, array, outer)
        push_recorded(back.tape, lifted(back.tape, back.tape.copies, outer), leaves.sweep)
        return build(back.result, leaves)
    finally:
        free_zeros(array)


def hessian_product(Backpropagator back, tuple tangents, Backpropagator within=None) -> tuple[Any, ...] | None:
    """The Hessian of a program with one scalar result, times a tangent, by two further sweeps over one tape.

    Where the program ran inside another trace (see `is_twice`), `within` gives the layout of the tangents and products.
    Returns None if the tape has records of arrays, a call of a program is not finite, or the tangents depend on an outer
    trace; nesting handles these cases.
    """
    cdef Tape tape = back.tape
    cdef uint32_t n = tape.head.count, k
    cdef Backpropagator face = back if within is None else within
    cdef double *array
    cdef double *outer
    cdef Seeds seeds
    cdef Numbers numbers
    if not has_scalars_only(back):
        return None
    array = <double *> zeros(3 * <size_t> n, sizeof(double))
    outer = array
    try:
        if within is not None:
            outer = <double *> zeros(within.tape.head.count, sizeof(double))
        seeds = staged(face, tangents, outer)
        if face.outer(seeds) != NULL:
            return None
        if within is not None:
            for k, _, id in tape.link_sources or ():
                array[k] = outer[<uint32_t> id]
        if not sweep_twice(back, array):
            return None
        if within is not None:
            memset(outer, 0, within.tape.head.count * sizeof(double))
            for k, _, id in tape.link_sources or ():
                outer[<uint32_t> id] += array[2 * <size_t> n + k]
        numbers = Numbers.__new__(Numbers)
        numbers.cotangent = array + 2 * <size_t> n if within is None else outer
        return face.rebuild(numbers)
    finally:
        if outer != array:
            free_zeros(outer)
        free_zeros(array)


cdef bint has_scalars_only(Backpropagator back) noexcept:
    """Whether a tape holds only scalars, with their values, and calls of programs; its result is a scalar."""
    cdef Tape tape = back.tape
    if tape.place_count or not tape.keeps_values or back.result.count != 1:
        return False
    for record in tape.arrays:
        if type(record) is not ProgramRecord:
            return False
    return back.result.steps[0].kind == FLOAT or back.result.steps[0].kind == NUMPY


cdef bint sweep_twice(Backpropagator back, double *tangent) except -1:
    """Compute tangents, cotangents and their derivatives, which lie one after another; False if some are not known.

    A program's directional derivative is a program itself, of the values x and the tangents dx of the arguments. Its
    cotangents are both that a call needs: those of <dotted, f(x)> + <cotangent, Df(x) dx> with respect to x and to dx.
    """
    cdef Tape tape = back.tape
    cdef uint32_t n = tape.head.count, top = back.result.steps[0].id
    cdef uint32_t i = push_numbers(tape, tangent, tape.head.inputs + 1, top + 1)
    cdef double *cotangent = tangent + n
    cdef double *dotted = cotangent + n
    cdef Py_ssize_t count
    cdef ProgramRecord record
    cdef dict along = {}
    cdef tuple found, made
    while i <= top:
        if op_at(&tape.head, i) == ARRAY:
            record = tape.arrays[record_at(&tape.head, i).p2]
            made = record.made[1].along(record.made[0], record.given, record.tangents(tangent))
            if made is None:
                return False
            tangent[i], along[i] = made
        i = push_numbers(tape, tangent, i + 1, top + 1)
    cotangent[top] = top > 0
    i = resolve_second(tape, tangent, cotangent, dotted, top)
    while i:
        record = tape.arrays[record_at(&tape.head, i).p2]
        count = len(record.given)
        found = along[i]((dotted[i], cotangent[i]))
        if not record.add(found[:count], None, dotted) or not record.add(found[count:], None, cotangent):
            return False
        i = resolve_second(tape, tangent, cotangent, dotted, i - 1)
    return True


def is_twice(Backpropagator back) -> bool:
    """Whether `hessian_product` supports the tape of a program that ran on the primals of the trace that is now open.

    It must hold only scalars, and depend on that trace by its primals, and on no other trace.
    """
    cdef Head *h = innermost_here()
    if h == NULL or not has_scalars_only(back):
        return False
    return all([tag == h.tag and id <= h.inputs for _, tag, id in back.tape.link_sources or ()])


def has_calls(Backpropagator back, is_call: Callable[[Any], bool]) -> bool:
    """Whether a tape holds scalars and calls of functions of scalars with such rules, which the core may record itself."""
    cdef Tape tape = back.tape
    if tape.place_count or back.result.count != 1 or not tape.arrays:
        return False
    return all([type(r) is CustomRecord and is_call((<CustomRecord> r).rule) for r in tape.arrays])


def depends_on_outer(Backpropagator back) -> bool:
    """Whether the records depend on an outer trace that is still open."""
    return outer_of(back.tape) != NULL


def result_ids(Backpropagator back) -> list[int] | None:
    """The ids of the result's scalars from left to right, 0 for constants; None if the result has arrays."""
    cdef Layout layout = back.result
    cdef list ids = []
    cdef Py_ssize_t i, k
    for i in range(layout.count):
        kind = layout.steps[i].kind
        if kind == FLOAT or kind == NUMPY:
            ids.append(layout.steps[i].id)
        elif kind == FLOATS:
            ids.extend([layout.steps[i].id + k for k in range(layout.steps[i].n)])
        elif kind == ARRAY_LEAF:
            return None
    return ids

include "many.pxi"

include "inspection.pxi"

include "slots.pxi"
