# Many cotangents or tangents at once through one tape: Jacobians by blocks of rows or columns.
#
# One walk over the tape sweeps a block of them. A record sweeps the whole block if it can, otherwise one cotangent or
# tangent after the other. The memory of a block limits the number of its rows or columns: that of the largest array should
# stay in the cache.

import_array()

cdef object first_number = itemgetter(0)

cdef enum:
    FEW = 3                 # up to this many rows, or fewer columns, are swept without a block
    PROBE = 8               # rows of a first block, which measures the memory of a row
    WIDEST = 256            # the largest number of rows in a block
    CACHE = 1 << 18         # bytes of the cotangents of one storage
    LARGEST = 1 << 22       # bytes of the largest array's tangents in one block
    LEAST = 8               # columns that a block may have even if its arrays are larger
    LOOK = 1 << 17          # records, times rows or columns, between two checks for interrupts
cdef size_t BUDGET = 1 << 26    # bytes of the cotangents of one block


# -- the walk backwards ------------------------------------------------------------------------------------------------
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


# -- the walk forwards -------------------------------------------------------------------------------------------------
cdef tuple touched(ArrayRecord record):
    """The storages, and the ids of scalars, that an array record reads or writes."""
    places = [place for _, place in record.reads()] + record.writes()
    storages = {(<View> place).storage for place in places if type(place) is View}
    return storages, {place for place in places if type(place) is int}


cdef Lifetimes lifetimes_of(Tape tape, list outputs):
    """The last uses of each storage in a forward sweep over a tape; those of the outputs are read after it."""
    cdef Lifetimes found = Lifetimes.__new__(Lifetimes)
    cdef Head *h = &tape.head
    cdef uint32_t i
    cdef int kind
    found.begin(tape.place_count)
    if tape.place_count == 0:
        return found
    for i in range(h.inputs + 1, h.count):
        kind = op_at(h, i)
        if kind == READ or kind == WRITE:
            found.last[record_at(h, i).p2] = i
        elif kind == ARRAY:
            for storage in touched(<ArrayRecord> tape.arrays[record_at(h, i).p2])[0]:
                found.last[<uint32_t> storage] = i
    found.finish([(<View> place).storage for _, _, place in outputs if type(place) is View])
    return found


def last_use(Tape tape, uint32_t storage) -> int:
    """The last record of a tape that touches a storage, or a number above all ids if the program returns it."""
    return tape.head.count if tape.places[storage].returned else lifetimes_of(tape, []).last[storage]


@cython.final
cdef class Single(Reverse):
    """A single tangent, which borrows the rows of the storages of one record at a time."""

    def __dealloc__(self):
        free_zeros(self.cotangent)

    cdef int start(self, Tape tape) except -1:
        self.forward = True
        return self.begin(tape, <double *> zeros(tape.head.count, sizeof(double)))


@cython.final
cdef class Batch(Tangents):
    """A forward sweep of several tangents over one tape."""
    cdef Single single      # made when tangents are first swept one by one

    cdef int element(self, Record *record, int kind, uint32_t i) except -1:
        """Sweep a read or a write of one element."""
        cdef Py_ssize_t place = <Py_ssize_t> record.d2, row = self.tape.places[record.p2].size
        cdef uint32_t source = <uint32_t> record.d1 if kind == WRITE else 0
        cdef double *block
        if self.blocks[record.p2] is None:
            if kind == READ or source == 0 or te_rows_zero(self.scalars_of(source), self.width):
                return 0
            self.allocate(record.p2, True)
        block = <double *> self.data(record.p2) + place
        if kind == READ:
            te_rows_gather(self.scalars_of(i), block, row, self.width)
        else:
            te_rows_clear(block, row, self.width)
            if source:
                te_rows_scatter(block, self.scalars_of(source), row, self.width)
        return 0

    # -- one by one -----------------------------------------------------------------------------------------------------
    cdef int one_by_one(self, uint32_t i, ArrayRecord record) except -1:
        """Sweep an array record for each tangent separately, in the rows of the blocks that it touches."""
        cdef Py_ssize_t k
        storages, ids = touched(record)
        if self.single is None:
            self.single = Single.__new__(Single)
            self.single.start(self.tape)
        for k in range(self.width):
            for s in storages:
                self.lend(k, s)
            for id in ids:
                self.single.cotangent[<uint32_t> id] = self.scalars_of(id)[k]
            push_special(self.tape, self.single, i)
            for id in ids:
                self.scalars_of(id)[k] = self.single.cotangent[<uint32_t> id]
            for s in storages:
                self.take(k, s)
        return 0

    cdef int lend(self, Py_ssize_t k, uint32_t s) except -1:
        """Make a row of a storage's block the buffer of the single tangent."""
        if self.blocks[s] is not None:
            self.single.owners[s] = row = self.blocks[s][k]
            self.single.data[s] = <char *> PyArray_DATA(<ndarray> row)
        return 0

    cdef int take(self, Py_ssize_t k, uint32_t s) except -1:
        """Copy a buffer that the single tangent got for a storage without a block into the block, and release it."""
        if self.blocks[s] is None and self.single.owners[s] is not None:
            self.allocate(s, True)
            self.blocks[s][k] = self.single.owners[s].reshape(-1)
        self.single.drop(s)
        return 0

    # -- the sweep ------------------------------------------------------------------------------------------------------
    cdef int special(self, uint32_t i) except -1:
        """Sweep an element access or an array record."""
        cdef Record *record = record_at(&self.tape.head, i)
        cdef int kind = op_at(&self.tape.head, i)
        cdef ArrayRecord entry
        if kind == READ or kind == WRITE:
            return self.element(record, kind, i)
        if kind != ARRAY:
            return 0
        entry = <ArrayRecord> self.tape.arrays[record.p2]
        if not entry.forward_columns(self, i):
            self.one_by_one(i, entry)
        return 0

    cdef int sweep(self) except -1:
        """Compute the tangents of all records, in the order of the tape."""
        cdef uint32_t i = self.tape.head.inputs + 1, highest, look = <uint32_t> (LOOK // self.width)
        while i < self.records:
            highest = min(i + look, self.records - 1)
            while i <= highest:
                with nogil:
                    i = push_scalars(&self.tape.head, self.scalars, self.width, i, highest)
                if i <= highest:
                    self.special(i)
                    self.release(i)
                    i += 1
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


cdef uint32_t seed(Block block, list places, Py_ssize_t first) except? 0:
    """Stage a one in each row; the row's number is its index plus `first`. Returns the id at which a walk back begins."""
    cdef uint32_t top = 0, id
    cdef Py_ssize_t start, n, k, low, high
    for start, n, place in places[bisect_right(places, first, key=first_number) - 1:]:
        low, high = max(start, first), min(start + n, first + block.width)
        if low >= high:
            break
        if type(place) is View:
            seed_array(block, <View> place, low - start, high - start, low - first)
            top = block.tape.head.count - 1
        elif place:
            for k in range(low, high):
                id = <uint32_t> place + <uint32_t> (k - start)
                block.scalars_of(id)[k - first] = 1.0
                top = max(top, id)
    return top


cdef int seed_array(Block block, View view, Py_ssize_t low, Py_ssize_t high, Py_ssize_t row) except -1:
    """Stage ones for an array's numbers from low to high, in consecutive rows of the block."""
    if block.blocks[view.storage] is None:
        block.allocate(view.storage, True)
    places = numpy.unravel_index(numpy.arange(low, high), view.shape) if view.ndim else ()
    one = -1.0 if view.imaginary and type(block) is Rows else 1.0   # cotangents of imaginary parts are kept negated
    block.part(view)[(numpy.arange(row, row + high - low), *places)] = one
    return 0


cdef int take_out(Block block, list places, object into) except -1:
    """Copy the cotangents or tangents of places into rows of a matrix."""
    cdef Py_ssize_t start, n
    for start, n, place in places:
        if type(place) is View:
            part = block.part(<View> place)
            if part is not None:
                into[:, start:start + n] = part.reshape(block.width, n)
        elif place:
            put_numbers(into, start, block.scalars_of(<uint32_t> place), n, block.width)
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


def walks(Backpropagator back, Py_ssize_t count) -> int:
    """The number of walks for `count` rows or columns: on a scalar tape one for each block, otherwise one for each."""
    return (count + LINE - 1) // LINE if is_scalar_tape(back.tape) else count


cdef Py_ssize_t most_rows(Tape tape) noexcept:
    """The largest number of rows in a block: the cotangents of each storage should stay in the cache.

    Most of the cost of a walk over scalars is reading the records and the cotangents: a cache line of them for each id
    costs little more than one.
    """
    if is_scalar_tape(tape):
        return LINE
    return min(max(<Py_ssize_t> (CACHE // largest(tape)), <Py_ssize_t> PROBE), <Py_ssize_t> WIDEST)


cdef Py_ssize_t most_columns(Tape tape) noexcept:
    """The largest number of columns in a block."""
    return max(<Py_ssize_t> (LARGEST // largest(tape)), <Py_ssize_t> LEAST)


cdef Py_ssize_t fair(Py_ssize_t count, Py_ssize_t most) noexcept:
    """The number of rows or columns in the next block: blocks have about equal sizes of at most `most`."""
    cdef Py_ssize_t blocks = (count + most - 1) // most
    return (count + blocks - 1) // blocks


def matrix(
    Backpropagator back, Py_ssize_t size, Py_ssize_t columns, dtype, bint forward, told=None
) -> NDArray[Any] | None:
    """The matrix of a program's derivative, on plain numbers.

    Parameters
    ----------
    back : Backpropagator
        For a tape that depends on no outer trace; for a forward sweep one that can be swept forwards.
    size, columns : int
        The numbers of scalars in the result and in the primals.
    dtype : numpy.dtype
        The matrix's dtype.
    forward : bool
        Whether to sweep forwards, by columns.
    told : callable, optional
        Called after each block with its number of rows or columns.

    Returns
    -------
    numpy.ndarray of shape (size, columns)
        None for few rows or columns over a tape with arrays, which are swept singly.
    """
    if not is_scalar_tape(back.tape) and (columns < FEW if forward else size <= FEW):
        return None
    found = numpy.zeros((size, columns), dtype)
    inputs, outputs = places_of(back.primals), places_of([back.result])
    if forward:
        by_columns(back.tape, inputs, outputs, found.T, told)
    else:
        by_rows(back.tape, inputs, outputs, found, told)
    return found


cdef int by_columns(Tape tape, list inputs, list outputs, object found, object told) except -1:
    """Fill the rows of the transposed matrix."""
    cdef Batch batch = Batch.__new__(Batch)
    cdef Py_ssize_t first, columns = len(found)
    cdef bint scalar = is_scalar_tape(tape)
    cdef Py_ssize_t width = LINE if scalar else fair(columns, most_columns(tape))
    for first in range(0, columns, width):
        batch.begin(tape, LINE if scalar else min(width, columns - first), lifetimes_of(tape, outputs))
        seed(batch, inputs, first)
        batch.sweep()
        take_out(batch, outputs, found[first:first + width])
        if told is not None:
            told(min(width, columns - first))
    return 0


cdef int by_rows(Tape tape, list inputs, list outputs, object found, object told) except -1:
    """Fill the rows of the matrix."""
    cdef Rows rows = Rows.__new__(Rows)
    cdef Py_ssize_t first = 0, width, size = len(found), most = most_rows(tape)
    cdef size_t bytes = bytes_of_row(tape)
    cdef bint scalar = is_scalar_tape(tape), known = scalar or bytes * min(size, most) <= BUDGET
    while first < size:
        width = min(LINE, size - first) if scalar else fair(size - first, most if known else PROBE)
        rows.begin(tape, LINE if scalar else width)
        resolve_rows(rows, seed(rows, outputs, first))
        take_out(rows, inputs, found[first:first + width])
        if not known:
            bytes = tape.head.count * sizeof(double) + rows.most // width
            most = min(most, max(<Py_ssize_t> (BUDGET // bytes), <Py_ssize_t> 1))
            known = True
        first += width
        if told is not None:
            told(width)
    return 0
