"""The reverse sweep over plain numbers: from the highest id down, each backpropagator at most once (DN Fig. 9).

Linear factoring (DN 6) is the sum in the accumulation array: when the sweep reaches an id, all contributions to it have
been added, so its backpropagator is called once with their sum. A zero cotangent is not passed on: a linear map sends
zero to zero, whatever the partials are.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t

from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.records cimport ArrayRecord
from tapeengine._core.tape.tape cimport (
    ARRAY, CHUNK_LAST, CHUNK_SHIFT, INPUT, READ, WRITE, Chunk, Head, Record, Tape, op_at, record_at,
)

cdef enum:
    SIGNAL_CHUNKS = 32      # chunks between two checks for interrupts: about a million records


cdef inline uint32_t resolve_chunk(Chunk *chunk, double *cotangent, uint32_t i, uint32_t lowest) noexcept nogil:
    """Resolve one chunk's records from i down to lowest; stops before a special record and returns its id."""
    cdef Record *r
    cdef double c
    while i >= lowest:
        r = &chunk.rec[i & CHUNK_LAST]
        if r.p1 == i:
            return i
        c = cotangent[i]
        if c != 0.0:
            cotangent[r.p1] += c * r.d1
            cotangent[r.p2] += c * r.d2     # p2 == i without a second parent: that element is used up
        i -= 1
    return i


cdef void count_chunk(Chunk *chunk, double *cotangent, uint32_t i, uint32_t lowest, Counts *counts) noexcept nogil:
    """Count the calls and contributions of `resolve_chunk`, by resolving one record at a time."""
    cdef Record *r
    while i >= lowest:
        r = &chunk.rec[i & CHUNK_LAST]
        if r.p1 == i:
            return
        if cotangent[i] != 0.0:
            counts.calls += 1
            counts.contributions += 1 if r.p2 == i else 2
            resolve_chunk(chunk, cotangent, i, i)
            cotangent[i] = 0.0
        i -= 1


cdef int special(Tape tape, Reverse r, Record *record, int kind, uint32_t i) except -1 with gil:
    """Resolve an element access whose buffer does not exist yet, or an array operation."""
    if kind == READ:
        if r.cotangent[i] != 0.0:
            r.allocate(record.p2, True)
            (<double *> r.data[record.p2])[<Py_ssize_t> record.d2] += r.cotangent[i]
    elif kind == ARRAY:
        (<ArrayRecord> tape.arrays[record.p2]).reverse(r, i)
    return 0


cdef inline int element(Tape tape, Reverse r, Head *h, uint32_t i) except -1 nogil:
    """Resolve a special record: element accesses without the GIL (EC 4.1: no one-hot arrays), others with it."""
    cdef Record *record = record_at(h, i)
    cdef int kind = op_at(h, i)
    cdef double *cotangent = r.cotangent
    cdef double *place
    if kind == ARRAY or (kind == READ and r.data[record.p2] == NULL):
        return special(tape, r, record, kind, i)
    if kind == READ:
        (<double *> r.data[record.p2])[<Py_ssize_t> record.d2] += cotangent[i]
    elif kind == WRITE and r.data[record.p2] != NULL:
        place = <double *> r.data[record.p2] + <Py_ssize_t> record.d2
        if record.d1 != 0.0:
            cotangent[<uint32_t> record.d1] += place[0]
        place[0] = 0.0
    return 0


cdef int resolve(Tape tape, Reverse r, uint32_t top, Counts *counts) except -1:
    """Resolve the ids from top down to the last input, in place; `counts` may be NULL."""
    cdef Head *h = &tape.head
    cdef uint32_t i = top, lowest, base
    cdef Chunk *chunk
    cdef int until_signals = SIGNAL_CHUNKS * CHUNK_LAST
    with nogil:
        while i > h.inputs:
            chunk = h.chunks[i >> CHUNK_SHIFT]
            base = i & ~(<uint32_t> CHUNK_LAST)
            lowest = base if base > h.inputs else h.inputs + 1
            until_signals -= i - lowest + 1
            while i >= lowest:
                if counts != NULL:
                    count_chunk(chunk, r.cotangent, i, lowest, counts)
                i = resolve_chunk(chunk, r.cotangent, i, lowest)
                if i < lowest:
                    break
                if counts != NULL and op_at(h, i) != INPUT:
                    counts.calls += 1
                element(tape, r, h, i)
                i -= 1
            if until_signals < 0:
                until_signals = SIGNAL_CHUNKS * CHUNK_LAST
                with gil:
                    PyErr_CheckSignals()
    return 0
