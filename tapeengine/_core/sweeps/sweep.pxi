# The sweeps over a tape: reverse, from the highest id down (DN Fig. 9), and forward, from the lowest up.
#
# Reverse, each backpropagator is called at most once. Linear factoring (DN 6) is the sum in the accumulation array: when
# the sweep reaches an id, all contributions to it have been added, so its backpropagator is called once with their sum.
#
# A record is a row of the program's derivative as a linear map (WN 2.1): a reverse sweep multiplies it from the left and
# adds to the cotangents of its parents; a forward sweep multiplies it from the right and sums their tangents. Tangents of
# storages lie in buffers like their cotangents, and writes change them in the order of the program. A zero is not passed
# on in either direction: a linear map sends zero to zero, whatever the partials are.
#
# A sweep is over plain numbers, or each of its steps is recorded on an outer tape: scalars are then swept by the opcode
# table's expressions (`nested`), and the cotangents of storages are arrays of the outer trace; rules are written with
# primitives, so their calls are recorded there.

cdef enum:
    SIGNAL_CHUNKS = 32      # chunks between two checks for interrupts: about a million records


# -- reverse -----------------------------------------------------------------------------------------------------------
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
        sweep_array(<ArrayRecord> tape.arrays[record.p2], r, i, False)
    return 0


cdef int sweep_array(ArrayRecord record, Reverse r, uint32_t i, bint forward) except -1:
    """Sweep an array record; numpy's operations in rules, and recorded ones, report no overflow and no division by 0."""
    if not r.recorded and record.called() is None:
        return record.forward(r, i) if forward else record.reverse(r, i)
    before = set_reports(QUIET)
    try:
        return record.forward(r, i) if forward else record.reverse(r, i)
    finally:
        reset_reports(before)


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


# -- forward -----------------------------------------------------------------------------------------------------------
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


cdef int push_special(Tape tape, Reverse r, uint32_t i) except -1:
    cdef Record *record = record_at(&tape.head, i)
    cdef int kind = op_at(&tape.head, i)
    if kind == ARRAY:
        return sweep_array(<ArrayRecord> tape.arrays[record.p2], r, i, True)
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


# -- recorded on an outer tape -----------------------------------------------------------------------------------------
@cython.final
cdef class RecordedReverse(Reverse):
    """The accumulation of a reverse sweep that is recorded."""

    cdef int begin_on(self, Tape tape, te_scalar *scalars, Head *outer) except -1:
        """Begin a sweep over `tape` that is recorded on the tape of `outer`, which must stay alive during the sweep."""
        self.begin(tape, NULL)
        self.recorded = True
        self.scalars = scalars
        self.outer = outer
        self.tag = outer.tag
        self.outer_tape = tape_of(outer)
        return 0

    cdef int check_open(self) except -1:
        """Raise an error if another thread has ended the outer trace, whose tape may already be being swept."""
        if self.outer.tag != self.tag:
            raise TraceError(
                "a backpropagator was called within a trace that another thread has ended. "
                "Wait for the threads that a program starts before it returns"
            )
        return 0

    cdef object scalar(self, uint32_t id):
        if self.scalars[id].id == 0:
            return self.scalars[id].value
        return new_dual(self.scalars[id].value, self.scalars[id].id, self.outer.tag)

    cdef int add_scalar(self, uint32_t id, object value) except -1:
        cdef te_scalar s
        self.check_open()
        if type(value) is Array or isinstance(value, numpy.ndarray):
            if value.dtype.kind == "c":
                value = value.real
            if type(value) is not Dual:
                value = value[()] if value.ndim == 0 else value.sum()
        if type(value) is Array:    # an array of another dtype is converted through float64
            value = value.astype(float)
            value = value[()] if type(value) is Array else value
        if type(value) is Dual:
            s.value = (<Dual> value).v
            s.id = carried(self.outer, (<Dual> value).tag, (<Dual> value).id, s.value)
        else:
            s.value = value.real
            s.id = 0
        return add_recorded(self.outer, &self.scalars[id], s)

    cdef int allocate(self, uint32_t storage, bint zero) except -1:
        cdef Place *place = &self.tape.places[storage]
        self.owners[storage] = new_array(
            self.outer, numpy.zeros(place.size, cnp.PyArray_DescrFromType(place.type)), False)
        return 0

    cdef object part(self, View view):
        if self.owners[view.storage] is None:
            return None
        return view_by(<Array> self.owners[view.storage], view)

    cdef int add(self, View view, object contribution) except -1:
        cdef bint first = self.owners[view.storage] is None
        if view.imaginary:
            contribution = self.signed(view, contribution)
        contribution = of_type(view, contribution)
        if repeats(view):
            view = once(view)
            contribution = zero_dim(contribution) if type(contribution) is Dual else contribution
            contribution = fitted(contribution if type(contribution) is Array else numpy.asarray(contribution), view.shape)
            return self.add_parts(view, contribution)
        if first:
            self.allocate(view.storage, True)
        target = self.part(view)
        target[...] = contribution if first and view.whole else target + contribution
        return 0

    cdef int add_to(self, object target, object contribution) except -1:
        target[...] = target + contribution
        return 0

    cdef int add_at(self, object target, object index, object contribution) except -1:
        add_at(target, index, contribution)
        return 0

    cdef object take(self, View view, object index):
        target = self.part(view)
        if target is None:
            return None
        part = target[Ellipsis if index is None else index]
        result = part.copy() if type(part) is Array else part
        target[Ellipsis if index is None else index] = 0.0
        return self.signed(view, result)

    cdef int drop(self, uint32_t storage) except -1:
        self.owners[storage] = None
        return 0


cdef int resolve_recorded_element(RecordedReverse r, Record *record, int kind, uint32_t i) except -1:
    """Resolve an element read or write."""
    cdef Py_ssize_t place = <Py_ssize_t> record.d2
    if kind == READ:
        if r.scalars[i].value == 0.0 and r.scalars[i].id == 0:
            return 0
        if r.owners[record.p2] is None:
            r.allocate(record.p2, True)
        owner = r.owners[record.p2]
        owner[place] = owner[place] + r.scalar(i)
    elif kind == WRITE and r.owners[record.p2] is not None:
        owner = r.owners[record.p2]
        if record.d1 != 0.0:
            r.add_scalar(<uint32_t> record.d1, owner[place])
        owner[place] = 0.0
    return 0


cdef int tell(RecordedReverse r, uint32_t id) except -1:
    """Tell the watcher which record is swept next, after so many records of the outer tape; 0 at the end."""
    r.tape.watcher.passed_on(id, r.outer_tape.watcher, r.outer.count)
    return 0


cdef int resolve_recorded(Tape tape, Copies copies, RecordedReverse r, uint32_t top) except -1:
    """Resolve the ids from top down to the last input, and record each step on the outer tape."""
    cdef Head *h = &tape.head
    cdef Record *record
    cdef uint32_t i
    cdef int kind
    cdef bint watched = tape.watcher is not None
    for i in range(top, h.inputs, -1):
        if i & 0xFFFFF == 0:
            PyErr_CheckSignals()
        if watched:
            tell(r, i)
        kind = op_at(h, i)
        if kind < SPECIAL:
            if r.scalars[i].value != 0.0 or r.scalars[i].id != 0:
                pass_on(h, copies, r.outer, r.scalars, i)
            continue
        record = record_at(h, i)
        if kind == ARRAY:
            sweep_array(<ArrayRecord> tape.arrays[record.p2], r, i, False)
        else:
            resolve_recorded_element(r, record, kind, i)
        r.check_open()
    return tell(r, 0) if watched else 0


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


cdef int push_recorded(Tape tape, Copies copies, RecordedReverse r) except -1:
    """The forward sweep with every step recorded on the tape of `r.outer`."""
    cdef Head *h = &tape.head
    cdef uint32_t i
    cdef bint watched = tape.watcher is not None
    r.forward = True
    for i in range(h.inputs + 1, h.count):
        if i & 0xFFFFF == 0:
            PyErr_CheckSignals()
        if watched:
            tell(r, i)
        if op_at(h, i) >= SPECIAL:
            push_special(tape, r, i)
            r.check_open()
        else:
            gather(h, copies, r.outer, r.scalars, i)
    return tell(r, 0) if watched else 0
