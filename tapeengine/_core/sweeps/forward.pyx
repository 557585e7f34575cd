"""The forward sweep: the tangents of a tape's ids, from the lowest to the highest, from the same records.

A record is a row of the program's derivative as a linear map (WN 2.1): a reverse sweep multiplies it from the left and
adds to the cotangents of its parents; a forward sweep multiplies it from the right and sums their tangents. Tangents of
storages lie in buffers like their cotangents, and writes change them in the order of the program. A zero tangent
contributes zero, whatever the partial is.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t

from tapeengine._core.tape.nested cimport Copies, gather
from tapeengine._core.sweeps.recorded cimport RecordedReverse
from tapeengine._core.tape.accumulation cimport Reverse
from tapeengine._core.tape.records cimport ArrayRecord
from tapeengine._core.tape.tape cimport (
    ARRAY, CHUNK_LAST, CHUNK_SHIFT, READ, SPECIAL, WRITE, Chunk, Head, Record, Tape, op_at, record_at,
)

cdef enum:
    SIGNAL_CHUNKS = 32      # chunks between two checks for interrupts: about a million records


cdef inline uint32_t push_chunk(Chunk *chunk, double *tangent, uint32_t i, uint32_t highest) noexcept nogil:
    """Sweep one chunk's records from i up to highest; stops before a special record and returns its id."""
    cdef Record *r
    cdef double t, a
    while i <= highest:
        r = &chunk.rec[i & CHUNK_LAST]
        if r.p1 == i:
            return i
        t = tangent[r.p1]
        if t != 0.0:
            t *= r.d1
        if r.p2 != i:
            a = tangent[r.p2]
            if a != 0.0:
                t += a * r.d2
        tangent[i] = t
        i += 1
    return i


# -- element accesses -------------------------------------------------------------------------------------------------
cdef int push_element(Reverse r, Record *record, int kind, uint32_t i) except -1:
    """Sweep an element read or write over plain numbers."""
    cdef Py_ssize_t place = <Py_ssize_t> record.d2
    cdef double t
    if kind == READ:
        if r.data[record.p2] != NULL:
            r.cotangent[i] = (<double *> r.data[record.p2])[place]
    elif kind == WRITE:
        t = r.cotangent[<uint32_t> record.d1] if record.d1 != 0.0 else 0.0
        if r.data[record.p2] == NULL:
            if t == 0.0:
                return 0
            r.allocate(record.p2, True)
        (<double *> r.data[record.p2])[place] = t
    return 0


cdef int push_recorded_element(RecordedReverse r, Record *record, int kind, uint32_t i) except -1:
    cdef Py_ssize_t place = <Py_ssize_t> record.d2
    if kind == READ:
        if r.owners[record.p2] is not None:
            r.add_scalar(i, r.owners[record.p2][place])
    elif kind == WRITE:
        t = r.scalar(<uint32_t> record.d1) if record.d1 != 0.0 else 0.0
        if r.owners[record.p2] is None:
            if type(t) is float and t == 0.0:
                return 0
            r.allocate(record.p2, True)
        r.owners[record.p2][place] = t
    return 0


cdef int push_special(Tape tape, Reverse r, uint32_t i) except -1:
    cdef Record *record = record_at(&tape.head, i)
    cdef int kind = op_at(&tape.head, i)
    if kind == ARRAY:
        return (<ArrayRecord> tape.arrays[record.p2]).forward(r, i)
    if type(r) is RecordedReverse:
        return push_recorded_element(<RecordedReverse> r, record, kind, i)
    return push_element(r, record, kind, i)


cdef uint32_t push_scalars(Tape tape, double *tangent, uint32_t i, uint32_t end) except? 0:
    """Sweep the scalar records from i on; stops at a special record, or at `end`, and returns that id."""
    cdef Head *h = &tape.head
    cdef uint32_t highest
    cdef int until_signals = SIGNAL_CHUNKS
    while i < end:
        highest = min(i | <uint32_t> CHUNK_LAST, end - 1)
        with nogil:
            i = push_chunk(h.chunks[i >> CHUNK_SHIFT], tangent, i, highest)
        if i <= highest:
            return i
        until_signals -= 1
        if until_signals == 0:
            until_signals = SIGNAL_CHUNKS
            PyErr_CheckSignals()
    return i


cdef int push(Tape tape, Reverse r) except -1:
    """Compute the tangents of all records, in place, from those of the inputs."""
    cdef uint32_t end = tape.head.count
    cdef uint32_t i = push_scalars(tape, r.cotangent, tape.head.inputs + 1, end)
    r.forward = True
    while i < end:
        push_special(tape, r, i)
        i = push_scalars(tape, r.cotangent, i + 1, end)
    return 0


cdef int push_recorded(Tape tape, Copies copies, RecordedReverse r) except -1:
    """The forward sweep with every step recorded on the tape of `r.outer`."""
    cdef Head *h = &tape.head
    cdef uint32_t i
    r.forward = True
    for i in range(h.inputs + 1, h.count):
        if i & 0xFFFFF == 0:
            PyErr_CheckSignals()
        if op_at(h, i) >= SPECIAL:
            push_special(tape, r, i)
            r.check_open()
        else:
            gather(h, copies, r.outer, r.scalars, i)
    return 0
