"""The derivative of a traced program as a linear map: tangents forwards, Hessian-vector products, ids of its scalars.

The backpropagator holds the tape; these functions are further interpreters of the same records.
"""

from libc.stdint cimport uint32_t

from tapeengine._core.sweeps.forward cimport push, push_recorded
from tapeengine._core.structures.interleave cimport ARRAY, FLOAT, FLOATS, NUMPY, Layout, build
from tapeengine._core.tape.nested cimport lifted, outer_of, te_scalar
from tapeengine._core.sweeps.recorded cimport RecordedReverse
from tapeengine._core.tape.accumulation cimport Reverse, free_zeros, zeros
from tapeengine._core.sweeps.second cimport resolve_second
from tapeengine._core.tape.tape cimport Head, Tape
from tapeengine._core.sweeps.trace cimport Backpropagator, Numbers, Recorded, Seeds, begin_seeds

from tapeengine.errors import CotangentError



cdef Seeds staged(Backpropagator back, tuple tangents, double *array):
    """Stage the tangents of all primals."""
    cdef Seeds seeds = begin_seeds(None, back.structures, "", array)
    cdef Py_ssize_t i
    if len(tangents) != len(back.primals):
        raise CotangentError(f"{len(back.primals)} primals need as many tangents, not {len(tangents)}")
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
    cdef uint32_t i, n = back.tape.head.count
    cdef te_scalar *array = <te_scalar *> zeros(n, sizeof(te_scalar))
    cdef Recorded leaves = Recorded.__new__(Recorded)
    cdef RecordedReverse r = RecordedReverse.__new__(RecordedReverse)
    try:
        for i in range(n):
            array[i].value = seeds.cotangent[i]
        r.begin_on(back.tape, array, outer)
        for i, d in seeds.duals or ():
            r.add_scalar(i, d)
        back.seed_arrays(r, seeds)
        push_recorded(back.tape, lifted(back.tape, back.tape.copies, outer), r)
        leaves.sweep = r
        return build(back.result, leaves)
    finally:
        free_zeros(array)


def hessian_product(Backpropagator back, tuple tangents):
    """The Hessian of a program with one scalar result, times a tangent, in two further sweeps over one tape.

    Returns None where the tape has array records or depends on an outer trace: nesting does it there.
    """
    cdef Tape tape = back.tape
    cdef uint32_t n = tape.head.count
    cdef double *array
    cdef Seeds seeds
    cdef Reverse r
    cdef Numbers numbers
    if tape.place_count or tape.arrays or not tape.keeps_values or back.result.count != 1:
        return None
    if back.result.steps[0].kind != FLOAT and back.result.steps[0].kind != NUMPY:
        return None
    array = <double *> zeros(3 * <size_t> n, sizeof(double))
    try:
        seeds = staged(back, tangents, array)
        if back.outer(seeds) != NULL:
            return None
        r = Reverse.__new__(Reverse)
        r.begin(tape, array)
        push(tape, r)
        if back.result.steps[0].id:
            array[n + back.result.steps[0].id] = 1.0
            resolve_second(tape, array, array + n, array + 2 * n, back.result.steps[0].id)
        numbers = Numbers.__new__(Numbers)
        numbers.cotangent = array + 2 * n
        numbers.sweep = r
        return back.rebuild(numbers)
    finally:
        free_zeros(array)


def depends_on_outer(Backpropagator back):
    """Whether the records depend on an outer trace that is still open."""
    return outer_of(back.tape) != NULL


def result_ids(Backpropagator back):
    """The ids of the result's scalars from left to right, 0 for constants; None where it has arrays."""
    cdef list ids = []
    cdef Layout layout = back.result
    cdef Py_ssize_t i, k
    for i in range(layout.count):
        kind = layout.steps[i].kind
        if kind == FLOAT or kind == NUMPY:
            ids.append(layout.steps[i].id)
        elif kind == FLOATS:
            ids.extend([layout.steps[i].id + k for k in range(layout.steps[i].n)])
        elif kind == ARRAY:
            return None
    return ids
