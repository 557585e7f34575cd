"""The forward sweep: the tangents of a tape's ids, from the lowest to the highest, by the records of the reverse sweep.

A record is a row of the program's derivative as a linear map (WN 2.1): read from the left it passes a cotangent to its
parents, read from the right it gathers their tangents. Tangents of storages lie in buffers like their cotangents, which
writes change in the order of the program. A tangent of exactly zero gives zero, whatever the partial is.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t

from tapeengine._core.arrays.array cimport Array
from tapeengine._core.tape.nested cimport Copies, gather
from tapeengine._core.sweeps.recorded cimport RecordedReverse
from tapeengine._core.tape.records cimport (
    AddRecord, ArrayRecord, PrimitiveRecord, ReadRecord, Reverse, View, WriteRecord, form_of,
)
from tapeengine._core.tape.tape cimport (
    ARRAY, CHUNK_LAST, CHUNK_SHIFT, FORM_MASK, READ, SPECIAL, WRITE, Chunk, Head, Record, Tape, op_at, record_at,
)

import numpy

from tapeengine.primitive.rule_checks import CheckedRule

cdef object checked_rule = CheckedRule

from tapeengine._core.arrays.assignment import add_at

cdef enum:
    SIGNAL_CHUNKS = 32      # chunks between two looks for an interrupt: about a million records


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


# -- array records ----------------------------------------------------------------------------------------------------
cdef object tangent_of(Reverse r, object place):
    """The tangent of an input or an output of a record; None where it is zero."""
    if type(place) is View:
        return r.part(<View> place)
    if place is None:
        return None
    t = r.scalar(<uint32_t> place)
    return None if type(t) is float and t == 0.0 else t


cdef object sum_of(object a, object b):
    """The sum of two tangents of one structure."""
    if b is None:
        return a
    if isinstance(b, dict):
        return {key: sum_of(a[key], b[key]) for key in b}
    if isinstance(b, (tuple, list)):
        parts = [sum_of(x, y) for x, y in zip(a, b)]
        return type(b)(*parts) if hasattr(b, "_fields") else type(b)(parts)
    return a + b


cdef int put_tangent(Reverse r, object place, object tangent) except -1:
    """Stage the tangent of an output, which may be a structure."""
    if place is None or tangent is None:
        return 0
    if type(place) is View:
        r.add(<View> place, tangent)
    elif type(place) is tuple:
        cls = place[0]
        for k, part in enumerate(place[1]):
            put_tangent(r, part, tangent[cls[k] if type(cls) is tuple else k])
    else:
        r.add_scalar(<uint32_t> place, tangent)
    return 0


cdef int push_primitive(PrimitiveRecord record, Reverse r) except -1:
    """The jvp rules of a primitive's arguments, added up."""
    rules = record.primitive.jvp_rules
    total = None
    if record.primitive.variadic and hasattr(rules[0].function, "joint"):
        tangents = {argument: tangent_of(r, place) for argument, place in record.inputs}
        tangents = {argument: t for argument, t in tangents.items() if t is not None}
        if tangents:    # what is kept begins with the index of one argument
            total = rules[0].function.joint(tangents, *record.tangent_kept[0][1:])
        return put_tangent(r, record.output, total)
    for (argument, place), kept in zip(record.inputs, record.tangent_kept):
        t = tangent_of(r, place)
        if t is None:
            continue
        function = rules[0 if record.primitive.variadic else argument].function
        part = function(t, *kept)
        if type(function) is checked_rule:
            function.check(part, form_of(record.output))
        total = part if total is None else sum_of(total, part)
        part = t = None
    put_tangent(r, record.output, total)
    return 0


cdef int push_read(ReadRecord record, Reverse r) except -1:
    t = r.part(record.source)
    if t is not None:
        r.add(record.result, t if record.index is None else t[record.index])
    return 0


cdef object writable(Reverse r, View view):
    """The tangents of a view, to write into."""
    t = r.part(view)
    if t is None:
        r.allocate(view.storage, True)
        t = r.part(view)
    return t


cdef int push_write(WriteRecord record, Reverse r) except -1:
    t = tangent_of(r, record.value)
    if t is None and r.part(record.target) is None:
        return 0
    target = writable(r, record.target)
    target[Ellipsis if record.index is None else record.index] = 0.0 if t is None else t
    return 0


cdef int push_add(AddRecord record, Reverse r) except -1:
    t = tangent_of(r, record.value)
    if t is None:
        return 0
    target = writable(r, record.target)
    if type(target) is Array:
        add_at(target, record.index, t)
    else:
        numpy.add.at(target, record.index, t)
    return 0


cdef int push_array(object record, Reverse r, uint32_t id) except -1:
    """Sweep one array record."""
    kind = type(record)
    if kind is PrimitiveRecord:
        return push_primitive(<PrimitiveRecord> record, r)
    if kind is ReadRecord:
        return push_read(<ReadRecord> record, r)
    if kind is WriteRecord:
        return push_write(<WriteRecord> record, r)
    if kind is AddRecord:
        return push_add(<AddRecord> record, r)
    return (<ArrayRecord> record).forward(r, id)


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
        return push_array(tape.arrays[record.p2], r, i)
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
    """Fill in the tangents of all records, in place, from those of the inputs."""
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
        if op_at(h, i) & FORM_MASK == SPECIAL:
            push_special(tape, r, i)
            r.check_open()
        else:
            gather(h, copies, r.outer, r.scalars, i)
    return 0
