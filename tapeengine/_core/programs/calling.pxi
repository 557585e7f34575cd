# Calls of programs whose passes run by themselves: such a call is one record, which the core makes without Python.
#
# It takes numbers and arrays of one trace that depends on no other one, mixed with plain ones, also in lists and tuples.

cdef enum:
    NESTED = 8      # lists in lists of which the arguments of such a call are made

cdef struct Taken:
    uint32_t tag        # of the trace of the arguments
    Py_ssize_t count    # of their leaves


cdef object taken(object x, list inputs, Taken *c, int depth):
    """The plain value of an argument, or of a part of one; None for what only Python takes."""
    cdef Storage s
    cdef Py_ssize_t k
    cdef list parts
    if type(x) is tuple or type(x) is list:
        parts = []
        for k in range(len(x)):
            part = taken(x[k], inputs, c, depth + 1) if depth < NESTED else None
            if part is None:
                return None
            parts.append(part)
        return parts if type(x) is list else tuple(parts)
    c.count += 1
    if type(x) is Dual:
        inputs.append((c.count - 1, (<Dual> x).id))
        c.tag = c.tag or (<Dual> x).tag
        if c.tag != (<Dual> x).tag:
            return None
        return numpy.float64((<Dual> x).v) if is_numpy(x) else (<Dual> x).v
    if type(x) is Array:
        s = (<Array> x).storage
        value = (<Array> x).current()
        inputs.append((c.count - 1, geometry(<Array> x)))
        c.tag = c.tag or s.tag
        is_taken = s.active and not s.number and not s.python and isinstance(value, numpy.ndarray) and s.tag == c.tag
        return value.copy("K") if is_taken else None
    return x if type(x) is float or type(x) is int or type(x) is bool or type(x) is numpy.ndarray else None


cdef object call_at_once(Enterable program, tuple args):
    """Call a program, which leaves one record; None if the core cannot make it."""
    cdef ProgramRecord record = ProgramRecord.__new__(ProgramRecord)
    cdef Taken c = Taken(0, 0)
    cdef Tape tape
    cdef Array made
    record.inputs, record.captured = [], []
    values = taken(args, record.inputs, &c, 0)
    cdef Head *h = head_of(c.tag) if c.tag and values is not None else NULL
    tape = tape_of(h) if h != NULL and h.guards == NULL else None
    if tape is None or tape.watcher is not None or (tape.outer_tag and head_of(tape.outer_tag) != NULL):
        return None
    record.made, record.given = program.ran(values), values
    if record.made is None or head_of(c.tag) != h:
        return None
    value, record.tag, record.count = record.made[2], c.tag, c.count
    if type(value) is float:    # the trace goes on to take its numbers for floats of Python
        record.outputs = [record2(h, ARRAY, h.count, <uint32_t> len(tape.arrays), 0.0, 0.0, value)]
        tape.arrays.append(record)
        tape.note_float(h.count - 1)
        return new_dual(value, h.count - 1, h.tag)
    if type(value) is not numpy.ndarray or value.dtype != float:
        return None
    made = new_array(h, value, True)
    record.outputs = [geometry(made)]
    record_array(h, record, 0.0)
    return made
