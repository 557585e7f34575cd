# Strips: elementwise operations in a row, done for some rows of their arrays at a time, so that these stay in the cache.
#
# Each operation reads and writes the same rows of what the others make, and adds to the same rows of cotangents. So each
# element is computed, and each cotangent summed, in the order of one operation after the other: the bits are the same.

cdef enum:
    CACHED = 1 << 17        # bytes that the values and cotangents of some rows may take
    TOGETHER = 64           # the rows are a multiple of this, so that numpy's loops group elements as they do in whole arrays


cdef struct Target:         # where an operation adds to the cotangents of an operand
    char *acc               # NULL if it does not
    Py_ssize_t step         # bytes to the next row; 0: the buffer holds some rows only
    bint assign


cdef struct Member:
    Py_ssize_t row          # bytes of a row of the result
    char *some              # the cotangents of some rows, if only the strip itself contributes to them
    char *ct                # the cotangents of the result; NULL if there are none
    Py_ssize_t step
    bint reached, clear     # whether a later operation contributes to `some`, and not to all of it
    int makers[2]           # the operations of the strip that make the operands; -1: another one
    Target to[2]


@cython.final
@cython.no_gc
cdef class Strip(Action):
    """Some elementwise operations on arrays of equally many rows."""

    cdef list steps         # `Computing`
    cdef Py_ssize_t rows, block
    cdef Member *members
    cdef char *memory

    def __dealloc__(self):
        free(self.members)
        free(self.memory)

    cdef bint run(self, double *v) except -1:
        cdef Py_ssize_t at, k
        for at in range(0, self.rows, self.block):
            for k in range(PyList_GET_SIZE(self.steps)):
                (<Computing> PyList_GET_ITEM(self.steps, k)).run_rows(self.rows, at, min(self.block, self.rows - at))
        return True

    cdef int reverse(self, Reverse r) except -1:
        cdef Py_ssize_t k, at, count = PyList_GET_SIZE(self.steps)
        for k in range(count - 1, -1, -1):
            self.aim(r, k)
        for at in range(0, self.rows, self.block):
            self.reverse_rows(at, min(self.block, self.rows - at))
        for k in range(count):
            if self.members[k].ct != NULL and self.members[k].step:
                r.drop(self.record_of(k).result)
        return 0

    cdef ElementwiseRecord record_of(self, Py_ssize_t k):
        return <ElementwiseRecord> (<Computing> PyList_GET_ITEM(self.steps, k)).record

    cdef int aim(self, Reverse r, Py_ssize_t k) except -1:
        """Find where the cotangents of an operation lie, and where those of its operands."""
        cdef Member *m = &self.members[k]
        cdef ElementwiseRecord record = self.record_of(k)
        m.ct, m.step = r.data[record.result], m.row
        if m.ct == NULL and m.reached:
            m.ct, m.step = m.some, 0
        m.reached = False
        m.to[0].acc = m.to[1].acc = NULL
        if m.ct != NULL:
            self.aim_at(r, &record.a, m.makers[0], &m.to[0])
            self.aim_at(r, &record.b, m.makers[1], &m.to[1])
        return 0

    cdef int aim_at(self, Reverse r, Elementwise *operand, int maker, Target *to) except -1:
        cdef Member *made
        if operand.source == CONSTANT_OPERAND:
            return 0
        if maker >= 0 and r.data[operand.place] == NULL:
            made = &self.members[maker]
            to.assign = operand.whole and not made.reached
            if not made.reached:
                made.reached, made.clear = True, not operand.whole
            to.acc, to.step = made.some + operand.offset, 0
            return 0
        to.assign = operand.whole and r.data[operand.place] == NULL
        if r.data[operand.place] == NULL:
            r.allocate(operand.place, not to.assign)
        to.acc = r.data[operand.place] + operand.offset
        to.step = r.tape.places[operand.place].size // self.rows * sizeof(double)
        return 0

    cdef int reverse_rows(self, Py_ssize_t at, Py_ssize_t n) noexcept:
        cdef Py_ssize_t k
        cdef Member *m
        cdef int which
        for k in range(PyList_GET_SIZE(self.steps) - 1, -1, -1):
            m = &self.members[k]
            if m.ct == m.some and m.clear:
                memset(m.some, 0, n * m.row)
        for k in range(PyList_GET_SIZE(self.steps) - 1, -1, -1):
            m = &self.members[k]
            for which in range(2):
                if m.to[which].acc != NULL:
                    contribute_rows(self.record_of(k), which, self.rows, at, n, <double *> (m.ct + at * m.step),
                                    m.to[which].acc + at * m.to[which].step, m.to[which].assign)
        return 0


@cython.final
cdef class StripRecord(ArrayRecord):
    """Sweeps back through a strip."""

    cdef Strip strip

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        return self.strip.reverse(r)


cdef Py_ssize_t rows_of(list steps) noexcept:
    """The number of rows of the arrays that operations make; 0 if some operation does not fit."""
    cdef Py_ssize_t rows = 0, size, k
    for k in range(PyList_GET_SIZE(steps)):
        size = (<Computing> PyList_GET_ITEM(steps, k)).dims[0]
        rows = size if k == 0 else min(rows, size)
    for k in range(PyList_GET_SIZE(steps)):
        if not (<Computing> PyList_GET_ITEM(steps, k)).by_rows(rows):
            return 0
    return rows


cdef int make_strips(Arena arena) except -1:
    """Put strips in place of operations that follow one another."""
    cdef list steps = [], places = []
    cdef Py_ssize_t k
    cdef uint32_t last = 0, register
    for k in range(PyList_GET_SIZE(arena.steps)):
        step = <object> PyList_GET_ITEM(arena.steps, k)
        register = (<tuple> PyList_GET_ITEM(arena.part.steps, k))[1]
        steps.append(step)
        if type(step) is Computing and (register == last + 1 or not places) and rows_of(steps):
            places.append(k)
        else:
            steps.pop()
            if register != last + 1 or type(step) is not Skipping:
                make_strip(arena, steps, places)
                steps, places = [], []
                if type(step) is Computing and rows_of([step]):
                    steps, places = [step], [k]
        last = register
    return make_strip(arena, steps, places)


cdef int make_strip(Arena arena, list steps, list places) except -1:
    """Make a strip of operations at some places among the steps, if their arrays are too large for the cache."""
    cdef Strip strip = Strip.__new__(Strip)
    cdef StripRecord record
    cdef Action last
    cdef Py_ssize_t total = 0, count = PyList_GET_SIZE(steps), k, j
    cdef Member *m
    cdef ElementwiseRecord made
    if count < 2:
        return 0
    strip.steps, strip.rows = steps, rows_of(steps)
    for k in range(count):
        total += size_of(strip.record_of(k)) // strip.rows * sizeof(double)
    strip.block = max(TOGETHER, CACHED // (2 * total) // TOGETHER * TOGETHER)
    if strip.block >= strip.rows:
        return 0
    strip.members = <Member *> zeros_for(count, sizeof(Member), "operations")
    strip.memory = <char *> room_for(NULL, total, strip.block, "rows of cotangents")
    total = 0
    for k in range(count):
        m, made = &strip.members[k], strip.record_of(k)
        m.row, m.some = size_of(made) // strip.rows * sizeof(double), strip.memory + total * strip.block
        m.makers[0] = m.makers[1] = -1
        total += m.row
        for j in range(k):
            if strip.record_of(j).result == made.a.place:
                m.makers[0] = j
            if strip.record_of(j).result == made.b.place:
                m.makers[1] = j
    record, last = StripRecord.__new__(StripRecord), Skipping.__new__(Skipping)
    record.strip, last.record = strip, record
    arena.part.by_rows.update(places)
    for k in places:
        arena.steps[k] = Skipping.__new__(Skipping)
    arena.steps[places[0]], arena.steps[places[count - 1]] = strip, last
    return 0


cdef Py_ssize_t size_of(ElementwiseRecord record) noexcept:
    """The number of elements of a result."""
    cdef Py_ssize_t size = 1
    cdef int axis
    for axis in range(record.axes):
        size *= record.dims[axis]
    return size


cdef bint lies_in_rows(Elementwise *operand, int axes, Py_ssize_t *dims, Py_ssize_t rows, Py_ssize_t size) noexcept:
    """Whether each of some rows of a result has its operand in the same row of a storage of some size."""
    cdef Py_ssize_t row = size // rows * sizeof(double), end
    cdef int axis
    end = operand.offset + (dims[0] // rows - 1) * operand.strides[0] + sizeof(double)
    for axis in range(axes):
        if operand.strides[axis] < 0:
            return False
        end += (dims[axis] - 1) * operand.strides[axis] if axis else 0
    return size % rows == 0 and dims[0] // rows * operand.strides[0] == row and end <= row
