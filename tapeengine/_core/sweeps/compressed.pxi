# Compressed sweeps: one sweep for each colour of a Jacobian's rows or columns; and sweeps of single rows over only the records
# that a row depends on. Included by slots.pxi.

@cython.final
cdef class Cut(ArrayRecord):
    """Replaces a read whose result counts as an input: it passes no cotangents on."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        return 0


def written(Tape tape) -> set[int]:
    """The storages that a record creates or writes to."""
    cdef Head *h = &tape.head
    cdef uint32_t i
    found = set()
    for entry in tape.arrays:
        found.update([(<View> place).storage for place in (<ArrayRecord> entry).writes() if type(place) is View])
    for i in range(h.inputs + 1, h.count):
        if op_at(h, i) == WRITE:
            found.add(record_at(h, i).p2)
    return found


def extents_of_reads(Tape tape, storages: Iterable[int]) -> list[int]:
    """The first extents of the arrays that records read from some storages by indices."""
    found = []
    for entry in tape.arrays if storages else ():
        places = (<ArrayRecord> entry).reads()
        if len(places) == 1 and type(places[0][1]) is View and (<View> places[0][1]).storage in storages:
            found.extend([(<View> place).shape[0] for place in (<ArrayRecord> entry).writes()
                          if type(place) is View and (<View> place).ndim])
    return found


def reads_of(Tape tape, storages: Iterable[int]) -> NDArray[numpy.uint32]:
    """The ids of the element reads from some storages; no record may write to these."""
    cdef Head *h = &tape.head
    cdef uint32_t i
    cdef Py_ssize_t n = 0
    cdef object wanted = numpy.zeros(tape.place_count + 1, numpy.uint8)
    wanted[list(storages)] = 1
    cdef uint8_t *flag = <uint8_t *> PyArray_DATA(<ndarray> wanted)
    cdef object found = fresh(h.count)
    cdef uint32_t *id = ids_in(found)
    with nogil:
        for i in range(h.inputs + 1, h.count):
            if op_at(h, i) == READ and flag[record_at(h, i).p2]:
                id[n] = i
                n += 1
    return found[:n].copy()


cdef int mark_reads(Tape tape, object ids, int kind) except -1:
    """Set the opcode of element reads: INPUT makes sweeps skip them, READ is their own."""
    cdef Py_ssize_t k
    cdef uint32_t *id = ids_in(ids)
    for k in range(ids.size):
        tape.head.chunks[id[k] >> 15].op[id[k] & 32767] = <uint8_t> kind
    return 0


def compressed_rows(
    Backpropagator back, colours, Py_ssize_t count, list taken, list cut, reads
) -> NDArray[numpy.float64]:
    """Cotangents of sums of outputs.

    Parameters
    ----------
    back : Backpropagator
        Of a tape that depends on no outer trace.
    colours : numpy.ndarray of int32
        For each number of the result the sum that it belongs to, -1 for none.
    count : int
        The number of sums.
    taken : list of (int, View or id)
        The numbers whose cotangents are returned: their count and their place.
    cut : list of int
        Indices of the array records that the sweep skips.
    reads : numpy.ndarray of uint32
        Ids of the element reads that the sweep skips; their cotangents are the last columns of the result.

    Returns
    -------
    numpy.ndarray of shape (count, numbers taken)
    """
    cdef Tape tape = back.tape
    cdef Rows rows = Rows.__new__(Rows)
    cdef Py_ssize_t first, step, k, n, at = 0
    places = []
    for n, place in taken:
        places.append((at, n, place))
        at += n
    found = numpy.zeros((count, at + reads.size))
    entries = [tape.arrays[k] for k in cut]
    step = fair(count, min(most_rows(tape), count)) if count else 1
    try:
        for k in cut:
            tape.arrays[k] = Cut.__new__(Cut)
        mark_reads(tape, reads, SPECIAL)
        for first in range(0, count, step):
            rows.begin(tape, min(step, count - first))
            stage(rows, places_of([back.result]), colours, first, None)
            resolve_rows(rows, tape.head.count - 1)
            take_out(rows, places, found[first:first + rows.width])
            take_reads(rows, found[first:first + rows.width], at, reads)
    finally:
        for k, entry in zip(cut, entries):
            tape.arrays[k] = entry
        mark_reads(tape, reads, READ)
    return found


# -- rows of their own records ------------------------------------------------------------------------------------------
def lowest_records(Tape tape, storages: Iterable[int], ids: NDArray[numpy.uint32]) -> NDArray[numpy.uint32]:
    """The lowest id among the records that each scalar depends on; 0 if one of these is not a scalar operation.

    Reads of elements of the given storages, to which no record may write, count as operations without arguments.
    """
    cdef Head *h = &tape.head
    cdef object wanted = numpy.zeros(tape.place_count + 1, numpy.uint8), lows = fresh(h.count)
    wanted[list(storages)] = 1
    cdef uint8_t *flag = <uint8_t *> PyArray_DATA(<ndarray> wanted)
    cdef uint32_t *low = ids_in(lows)
    cdef uint32_t i
    cdef Record *r
    with nogil:
        for i in range(h.inputs + 1):
            low[i] = 0xFFFFFFFF
        for i in range(h.inputs + 1, h.count):
            r = record_at(h, i)
            if r.p1 == i:
                low[i] = i if op_at(h, i) == READ and flag[r.p2] else 0
            else:
                low[i] = min(i, low[r.p1] if r.p2 == i else min(low[r.p1], low[r.p2]))
    return lows[ids]


def rows_of_records(Backpropagator back, ids, lows, starts, places) -> NDArray[numpy.float64]:
    """The partial derivatives of scalars: each sweep covers the records from the scalar's id down to its lowest record.

    Parameters
    ----------
    back : Backpropagator
        Of a tape that depends on no outer trace.
    ids, lows : numpy.ndarray of uint32
        The scalars, in ascending order of the rows, and the result of `lowest_records` for them.
    starts : numpy.ndarray of int64
        The index at which each row's entries begin, as in a CSR matrix.
    places : numpy.ndarray of uint32
        The id of the input or element read with respect to which each entry is the derivative.

    Returns
    -------
    numpy.ndarray of float64
    """
    cdef Head *h = &back.tape.head
    cdef Py_ssize_t n = ids.size, k, e, worked = 0
    cdef object found = numpy.empty(places.size), begins = numpy.zeros(h.inputs + 1)
    cdef object window = numpy.zeros(1 + int((ids - numpy.minimum(lows, ids)).max(initial=0)))
    cdef uint32_t *id = ids_in(ids)
    cdef uint32_t *low = ids_in(lows)
    cdef uint32_t *place = ids_in(places)
    cdef int64_t *start = longs_in(starts)
    cdef double *out = <double *> PyArray_DATA(<ndarray> found)
    cdef Window w
    w.begins, w.inputs = <double *> PyArray_DATA(<ndarray> begins), h.inputs
    for k in range(n):
        if start[k] == start[k + 1]:    # a record without a lowest one would lie outside of the window
            continue
        w.above = <double *> PyArray_DATA(<ndarray> window)
        w.low = low[k]
        at(&w, id[k])[0] = 1.0
        if low[k] != 0xFFFFFFFF:
            sweep_window(h, &w, id[k])
            worked += id[k] - low[k]
        for e in range(start[k], start[k + 1]):
            out[e] = at(&w, place[e])[0]
            at(&w, place[e])[0] = 0.0
        if worked > PAUSE:
            worked = 0
            PyErr_CheckSignals()
    return found


cdef struct Window:
    double *begins      # cotangents of the inputs, by id, and of the records from the lowest one on
    double *above
    uint32_t inputs, low


cdef inline double *at(Window *w, uint32_t i) noexcept nogil:
    return w.begins + i if i <= w.inputs else w.above + (i - w.low)


cdef void sweep_window(Head *h, Window *w, uint32_t i) noexcept nogil:
    """Resolve the records from id i down to the lowest one; element reads keep their cotangents."""
    cdef Record *r
    cdef double c
    while i >= w.low:
        c = w.above[i - w.low]
        r = record_at(h, i)
        if c != 0.0 and r.p1 != i:
            w.above[i - w.low] = 0.0
            at(w, r.p1)[0] += c * r.d1
            if r.p2 != i:
                at(w, r.p2)[0] += c * r.d2
        i -= 1


cdef int take_reads(Rows rows, ndarray part, Py_ssize_t at, object reads) except -1:
    cdef Py_ssize_t k, j, row = part.shape[1]
    cdef double *into = <double *> PyArray_DATA(part)
    cdef uint32_t *id = ids_in(reads)
    for k in range(reads.size):
        for j in range(rows.width):
            into[j * row + at + k] = rows.scalars_of(id[k])[j]
    return 0


cdef int stage(Block block, list places, object colours, Py_ssize_t first, object weights) except -1:
    """Stage a one, or its weight, at each number of places, in the row of its sum or direction."""
    cdef Py_ssize_t start, n, j, k
    for start, n, place in places:
        of = colours[start:start + n]
        chosen = numpy.flatnonzero((of >= first) & (of < first + block.width))
        if place is None or not chosen.size:
            continue
        row = of[chosen] - first
        ones = numpy.ones(len(chosen)) if weights is None else weights[start + chosen]
        if type(place) is View:
            if block.blocks[(<View> place).storage] is None:
                block.allocate((<View> place).storage, True)
            at = numpy.unravel_index(chosen, place.shape) if place.shape else ()
            part = block.part(<View> place)
            if type(block) is Rows:     # a result may show an element twice
                numpy.add.at(part, (row, *at), -ones if (<View> place).imaginary else ones)
            else:
                part[(row, *at)] = ones
        elif place:
            for j, k, one in zip(chosen.tolist(), row.tolist(), ones.tolist()):
                block.scalars_of(<uint32_t> place + <uint32_t> j)[k] += <double> one
    return 0


def compressed_columns(
    Backpropagator back, colours, Py_ssize_t count, Py_ssize_t size, weights=None
) -> NDArray[numpy.float64]:
    """The tangents of the result along (weighted) sums of inputs, as an array of shape (count, size)."""
    cdef Batch batch = Batch.__new__(Batch)
    cdef Py_ssize_t first, step = fair(count, most_columns(back.tape)) if count else 1
    inputs, outputs = places_of(back.primals), places_of([back.result])
    found = numpy.zeros((count, size))
    for first in range(0, count, step):
        batch.begin(back.tape, min(step, count - first), lifetimes_of(back.tape, outputs))
        stage(batch, inputs, colours, first, weights)
        batch.sweep()
        take_out(batch, outputs, found[first:first + batch.width])
    return found
