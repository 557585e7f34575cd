# Paths run on many arguments at a time, in blocks of lanes.

cdef enum:
    BETWEEN = 1 << 16       # instructions between two looks for an interrupt
    KEPT_BYTES = 1 << 21    # of registers that a forward run keeps for the reverse one: what stays in a cache

#: The number of lanes in a block.
LANES = TE_LANES


@cython.final
cdef class Lanes:
    """Some rows of arguments that take a path: run forwards once, then backwards as often as wanted.

    Parameters
    ----------
    path : Path
    inputs : Inputs
        The arguments of all lanes.
    rows : array of intp
        Which of them these lanes are.
    """

    cdef readonly Path path
    cdef readonly Inputs inputs
    cdef readonly object rows
    cdef readonly object stops      # for each row the register at which it left the path; path.end where it did not
    cdef te_row *kept               # registers of all blocks, NULL where they are computed again

    def __init__(self, Path path, Inputs inputs, rows: NDArray[Any]):
        self.path, self.inputs, self.rows = path, inputs, rows
        self.stops = numpy.full(len(rows) + TE_LANES, path.end, numpy.uint32)

    def __dealloc__(self):
        self.let_go(self.kept, (len(self.rows) + TE_LANES - 1) // TE_LANES if self.rows is not None else 0)

    cdef void let_go(self, te_row *v, Py_ssize_t blocks) noexcept:
        """Leave the registers of one block to the next call."""
        if v != NULL and blocks == 1 and self.path is not None and self.path.spare_rows == NULL:
            self.path.spare_rows = v
        else:
            free_zeros(v)

    cdef te_row *registers(self, Py_ssize_t blocks) except NULL:
        """Room for the registers of some blocks."""
        cdef te_row *v = self.path.spare_rows
        if blocks == 1 and v != NULL:
            self.path.spare_rows = NULL
            return v
        return <te_row *> unset(blocks * self.path.end, sizeof(te_row))

    def forward(self, registers, leaves, out, bint keep, stopped) -> None:
        """Compute the values of `registers` into the rows `leaves` of `out`; lanes that leave the path change nothing.

        The error that `stopped` contains is raised.
        """
        cdef Path p = self.path
        cdef Py_ssize_t n = len(self.rows), blocks = (n + TE_LANES - 1) // TE_LANES, k, b, start, first, count
        cdef Py_ssize_t between = 1 + BETWEEN // p.end
        cdef Py_ssize_t width = out.shape[1], outs = len(registers)
        cdef Lines x = self.inputs.lines
        cdef double *y = <double *> PyArray_DATA(<ndarray> out)
        cdef const Py_ssize_t *rows = <const Py_ssize_t *> PyArray_DATA(<ndarray> self.rows)
        cdef const uint32_t *places = <const uint32_t *> PyArray_DATA(<ndarray> registers)
        cdef const uint32_t *leaf = <const uint32_t *> PyArray_DATA(<ndarray> leaves)
        cdef uint32_t *stops = <uint32_t *> PyArray_DATA(<ndarray> self.stops)
        cdef bint keeps = keep and (blocks == 1 or blocks * p.end * sizeof(te_row) <= KEPT_BYTES)
        cdef te_row *v = self.registers(blocks if keeps else 1)
        cdef te_row *at = v
        cdef te_bodies bodies = p.lanes     # another thread may compile the path meanwhile
        cdef int l
        try:
            for start in range(0, blocks, between):
              with nogil:
                for b in range(start, min(start + between, blocks)):
                    first, count = b * TE_LANES, min(<Py_ssize_t> TE_LANES, n - b * TE_LANES)
                    if keeps:
                        at = v + b * p.end
                    load_rows(at, &x, rows + first, count, p.first)
                    te_run_lanes(&bodies, p.op, p.operands, p.constants, at, p.first, p.end, stops + first)
                    for k in range(outs):
                        for l in range(count):
                            if stops[first + l] == p.end:
                                y[leaf[k] * width + rows[first + l]] = at[places[k]][l]
              look(stopped)
        finally:
            if keeps:
                self.kept = v
            else:
                self.let_go(v, 1)
        p.worked_in_lanes(blocks)

    def tangents(self, registers, leaves, given, out, stopped) -> None:
        """Store the tangents of the values of `registers` in the rows `leaves` of `out`, from those of the inputs."""
        cdef Path p = self.path
        cdef Py_ssize_t n = len(self.rows), blocks = (n + TE_LANES - 1) // TE_LANES, k, b, first, count
        cdef Py_ssize_t between = 1 + BETWEEN // p.end, width = out.shape[1], outs = len(registers)
        cdef Lines x = self.inputs.lines
        cdef const double *dx = <const double *> PyArray_DATA(<ndarray> given)
        cdef double *dy = <double *> PyArray_DATA(<ndarray> out)
        cdef const Py_ssize_t *rows = <const Py_ssize_t *> PyArray_DATA(<ndarray> self.rows)
        cdef const uint32_t *places = <const uint32_t *> PyArray_DATA(<ndarray> registers)
        cdef const uint32_t *leaf = <const uint32_t *> PyArray_DATA(<ndarray> leaves)
        cdef uint32_t *stops = <uint32_t *> PyArray_DATA(<ndarray> self.stops)
        cdef uint32_t again[TE_LANES]   # where the lanes stop is known
        cdef te_bodies bodies = p.lanes
        cdef te_row *v = self.kept
        cdef te_row *t = <te_row *> zeros(p.end, sizeof(te_row))
        cdef int l
        memset(again, 0, sizeof(again))
        try:
            if self.kept == NULL:
                v = self.registers(1)
            for b in range(blocks):
                if b % between == 0:
                    look(stopped)
                with nogil:
                    first, count = b * TE_LANES, min(<Py_ssize_t> TE_LANES, n - b * TE_LANES)
                    if self.kept != NULL:
                        v = self.kept + b * p.end
                    else:
                        load_rows(v, &x, rows + first, count, p.first)
                        te_run_lanes(&bodies, p.op, p.operands, p.constants, v, p.first, p.end, again)
                    for k in range(1, p.first):
                        for l in range(count):
                            t[k][l] = dx[k * width + rows[first + l]]
                    te_lanes_forward(p.op, p.operands, v, t, p.first, p.end)
                    for k in range(outs):
                        for l in range(count):
                            if stops[first + l] == p.end:
                                dy[leaf[k] * width + rows[first + l]] = t[places[k]][l]
        finally:
            free_zeros(t)
            if self.kept == NULL:
                self.let_go(v, 1)

    def backward(self, registers, leaves, cotangents, out, stopped) -> None:
        """Store the cotangents of the inputs in the columns of `out`, from those of the values of `registers`."""
        cdef Path p = self.path
        cdef Py_ssize_t n = len(self.rows), blocks = (n + TE_LANES - 1) // TE_LANES, k, b, start, first, count
        cdef Py_ssize_t between = 1 + BETWEEN // p.end
        cdef Py_ssize_t width = cotangents.shape[1], outs = len(registers)
        cdef Lines x = self.inputs.lines
        cdef const double *dy = <const double *> PyArray_DATA(<ndarray> cotangents)
        cdef double *dx = <double *> PyArray_DATA(<ndarray> out)
        cdef const Py_ssize_t *rows = <const Py_ssize_t *> PyArray_DATA(<ndarray> self.rows)
        cdef const uint32_t *places = <const uint32_t *> PyArray_DATA(<ndarray> registers)
        cdef const uint32_t *leaf = <const uint32_t *> PyArray_DATA(<ndarray> leaves)
        cdef uint32_t *stops = <uint32_t *> PyArray_DATA(<ndarray> self.stops)
        cdef uint32_t again[TE_LANES]   # where the lanes stop is known
        cdef uint32_t top = 0
        cdef te_row *v = self.kept
        cdef te_row *ct = p.spare_zeros
        cdef te_bodies bodies = p.lanes
        cdef bint done = False
        cdef int l
        p.spare_zeros = NULL
        memset(again, 0, sizeof(again))
        if ct == NULL:
            ct = <te_row *> zeros(p.end, sizeof(te_row))
        for k in range(outs):
            top = max(top, places[k])
        try:
            if self.kept == NULL:
                v = self.registers(1)
            for start in range(0, blocks, between):
              with nogil:
                for b in range(start, min(start + between, blocks)):
                    first, count = b * TE_LANES, min(<Py_ssize_t> TE_LANES, n - b * TE_LANES)
                    if self.kept != NULL:
                        v = self.kept + b * p.end
                    else:
                        load_rows(v, &x, rows + first, count, p.first)
                        te_run_lanes(&bodies, p.op, p.operands, p.constants, v, p.first, p.end, again)
                    for k in range(outs):
                        for l in range(count):
                            if stops[first + l] == p.end:
                                ct[places[k]][l] += dy[leaf[k] * width + rows[first + l]]
                    memset(ct, 0, sizeof(te_row))
                    if top >= p.first:
                        te_run_lanes_back(&bodies, p.op, p.operands, p.constants, v, ct, top, p.first)
                    store_rows(dx, width, ct, rows + first, stops + first, count, p)
              look(stopped)
            done = True
        finally:
            if done and p.spare_zeros == NULL:
                p.spare_zeros = ct      # of which nothing is left but zeros
            else:
                free_zeros(ct)
            if self.kept == NULL:
                self.let_go(v, 1)


cdef int look(object stopped) except -1:
    """Raise an interrupt, or the error of another thread."""
    PyErr_CheckSignals()
    if stopped:
        raise stopped[0]
    return 0


cdef struct Lines:          # of `Inputs`
    const double *rows
    const double *numbers
    const uint32_t *mapped
    Py_ssize_t count, width


cdef void load_rows(te_row *v, const Lines *x, const Py_ssize_t *rows, Py_ssize_t count, uint32_t first) noexcept nogil:
    """Load a block of arguments; the lanes that are over repeat the last one."""
    cdef Py_ssize_t k
    cdef uint32_t after = 1
    cdef int l
    for k in range(x.count):
        te_spread(v, x.numbers, after, x.mapped[k])
        after = x.mapped[k] + 1
        for l in range(TE_LANES):
            v[x.mapped[k]][l] = x.rows[k * x.width + rows[min(<Py_ssize_t> l, count - 1)]]
    te_spread(v, x.numbers, after, first)


cdef void store_rows(double *x, Py_ssize_t width, te_row *ct, const Py_ssize_t *rows, const uint32_t *stops,
                     Py_ssize_t count, Path path) noexcept nogil:
    """Take the cotangents of a block of arguments, of the lanes that took the path to its end; leave zeros."""
    cdef uint32_t k, end = path.end
    cdef int l
    cdef bint every = are_neighbours(rows, count)
    for l in range(count):
        every = every and stops[l] == end
    if every:
        te_take(x + rows[0], width, ct, path.first)
        return
    for k in range(1, path.first):
        for l in range(count):
            if stops[l] == end:
                x[k * width + rows[l]] = ct[k][l]
    memset(ct, 0, path.first * sizeof(te_row))


cdef bint are_neighbours(const Py_ssize_t *rows, Py_ssize_t count) noexcept nogil:
    """Whether a block is full, of rows that follow each other."""
    cdef int l
    for l in range(1, TE_LANES):
        if l >= count or rows[l] != rows[0] + l:
            return False
    return True


@cython.final
cdef class Register:
    """In the place of a number of a program's value: where a run has it."""

    cdef readonly uint32_t number
    cdef readonly uint32_t turn     # when its cotangent is added, among those of the value

    def __init__(self, uint32_t number):
        self.number = number


@cython.final
cdef class Places(Leaves):
    """The leaves of a value: registers, and constants that are known before the run."""

    cdef tuple known        # None if constants do not matter
    cdef Py_ssize_t taken
    cdef list registers

    cdef object scalar(self, uint32_t id):
        if id == 0:
            return 0.0 if self.known is None else self.discrete()
        self.registers.append(Register(id))
        return self.registers[len(self.registers) - 1]

    cdef object discrete(self):
        if self.known is None:
            return None
        self.taken += 1
        return self.known[len(self.known) - self.taken]

    cdef object array(self, uint32_t storage, object view):
        return view     # of a path without arrays: a constant


def has_doubles_only(Path path) -> bool:
    """Whether the numbers of a path's value are Python's floats and numpy's doubles."""
    for kind in path.outputs.aux or ():
        if isinstance(kind, type) and kind is not numpy.float64:
            return False
    return True


@cython.final
cdef class Turns(Matcher):
    """Counts the numbers of a value in the order in which a backpropagator adds their cotangents."""

    cdef uint32_t count

    cdef int scalar(self, uint32_t id, object value) except -1:
        if type(value) is Register:
            (<Register> value).turn = self.count
            self.count += 1
        return True

    cdef int array(self, uint32_t storage, object view, object value) except -1:
        return True


cdef tuple with_registers(Path path, tuple known):
    cdef Places leaves = Places.__new__(Places)
    leaves.known, leaves.registers = known, []
    return build(path.outputs, leaves), leaves.registers


def registers_of_value(Path path):
    """A path's value with a `Register` in the place of each number that is computed."""
    cdef Turns turns = Turns.__new__(Turns)
    value, registers = with_registers(path, path.known)
    shape, others = with_registers(path, None)
    turns.layout = path.outputs
    turns.match(shape)
    for register, other in zip(registers, others):
        (<Register> register).turn = (<Register> other).turn
    return value


@cython.final
cdef class Columns(Reader):
    """Reads the arguments of all lanes: for a number that lanes share its value, for another one its values in all lanes.

    Discrete leaves must be those of the recording.
    """

    cdef double *v
    cdef dict columns       # an array for each input that has lanes
    cdef tuple known
    cdef Py_ssize_t at, lanes
    cdef bint mapped, shared    # which numbers the argument may contain

    cdef bint fits(self, int kind, object aux, object value) except -1:
        if kind == FLOAT and self.mapped and type(value) is array_class:
            return PyArray_NDIM(<ndarray> value) == 1 and (value.dtype is double_dtype or value.dtype == double_dtype)
        if kind == DISCRETE and not self.shared and hasattr(value, "shape"):
            return False    # each lane has an element of it
        return (self.shared or kind == DISCRETE) and Reader.fits(self, kind, aux, value)

    cdef bint leaf(self, int kind, uint32_t id, object value) except -1:
        if kind == DISCRETE:
            self.at += 1
            return same_leaf(value, self.known[self.at - 1])
        if type(value) is not array_class:
            self.v[id] = value
            return True
        self.columns[id] = value
        if self.lanes == 0:
            self.lanes = PyArray_DIMS(<ndarray> value)[0]
        return self.lanes == PyArray_DIMS(<ndarray> value)[0]

    cdef bint floats(self, Step s, object values) except -1:
        if self.shared and te_read_floats(PySequence_Fast_ITEMS(values), s.n, self.v + s.id) == <Py_ssize_t> s.n:
            return True
        return Reader.floats(self, s, values)


@cython.final
cdef class Inputs:
    """The arguments of all lanes: a row for each input that has lanes, and one number for each that lanes share.

    Attributes
    ----------
    mapped : array of uint32
        The registers of the inputs that have lanes, in their order.
    rows : array (mapped, lanes) of float64
    numbers : array of float64
        By register; it has no numbers where inputs have lanes.
    """

    cdef Plan plan
    cdef readonly ndarray mapped, rows, numbers
    cdef Lines lines

    cdef int fill(self, Columns reader) except -1:
        """Copy what has been read."""
        cdef Py_ssize_t k, n = self.plan.inputs + 1
        cdef list registers = sorted(reader.columns)
        self.rows, self.numbers = numpy.empty((len(registers), reader.lanes)), numpy.empty(n)
        self.mapped = numpy.array(registers, numpy.uint32)
        self.lines = Lines(<double *> PyArray_DATA(self.rows), <double *> PyArray_DATA(self.numbers),
                           <uint32_t *> PyArray_DATA(self.mapped), len(registers), reader.lanes)
        memcpy(PyArray_DATA(self.numbers), reader.v, n * sizeof(double))
        for k in range(self.lines.count):
            copy_column(<double *> self.lines.rows + k * reader.lanes, <ndarray> reader.columns[registers[k]])
        return 0

    cdef Py_ssize_t row_from(self, uint32_t register) noexcept:
        """The first row of a register that is not lower."""
        cdef Py_ssize_t low = 0, high = self.lines.count, middle
        while low < high:
            middle = (low + high) // 2
            if self.lines.mapped[middle] < register:
                low = middle + 1
            else:
                high = middle
        return low

    def arguments(self, rows: Sequence[NDArray[Any]] | NDArray[Any], ndarray numbers, bint known) -> tuple[Any, ...]:
        """Arguments that consist of `rows` and `numbers`.

        Parameters
        ----------
        rows : sequence of arrays of float64
            For the inputs that have lanes.
        numbers : array of float64
            By register, for those that lanes share.
        known : bool
            Whether the discrete leaves are those of the recording; otherwise they are None, as in cotangents.
        """
        cdef Filled leaves = Filled.__new__(Filled)
        leaves.plan, leaves.cotangent, leaves.inputs = self.plan, <double *> PyArray_DATA(numbers), self
        leaves.rows = list(rows)
        leaves.known, leaves.left = self.plan.known if known else None, len(self.plan.known)
        found = [build(<Layout> layout, leaves) for layout in self.plan.primals[::-1]]
        return tuple(found[::-1])

    def cotangents(self, ndarray found) -> tuple[Any, ...]:
        """The cotangents of the arguments, from a row for each register: the sum over all lanes where they share a number."""
        cdef ndarray sums = numpy.empty_like(self.numbers)
        cdef const double *rows = <const double *> PyArray_DATA(found)
        cdef double *out = <double *> PyArray_DATA(sums)
        cdef Py_ssize_t k, after = 1, until
        for k in range(self.lines.count + 1):
            until = self.lines.mapped[k] if k < self.lines.count else len(sums)
            add_up(until - after, self.lines.width, 1, rows + after * self.lines.width, out + after, 1.0)
            after = until + 1
        if 2 * self.lines.count < len(sums):    # a view would keep the rows of all shared inputs
            return self.arguments(found[self.mapped], sums, False)
        return self.arguments([found[k] for k in self.mapped.tolist()], sums, False)


cdef int copy_column(double *x, ndarray column) except -1:
    cdef Py_ssize_t l, stride = PyArray_STRIDES(column)[0]
    for l in range(PyArray_DIMS(column)[0]):
        memcpy(x + l, <const char *> PyArray_DATA(column) + l * stride, sizeof(double))
    return 0


def inputs_of_arguments(Plan plan, tuple primals, mapped: Sequence[bool], shared: Sequence[bool]) -> Inputs | None:
    """The `Inputs` of a plan of numbers; None if the arguments have another form.

    Parameters
    ----------
    plan : Plan
    primals : tuple
    mapped, shared : sequence of bool
        For each argument whether it may contain arrays with an element for each lane, and numbers that lanes share.
    """
    cdef Columns reader = Columns.__new__(Columns)
    cdef Inputs inputs = Inputs.__new__(Inputs)
    cdef Registers registers
    cdef Py_ssize_t i
    if len(primals) != PyList_GET_SIZE(plan.primals) or plan.forms:
        return None
    registers = plan.take()
    reader.structures, reader.known, reader.v = plan.structures, plan.known, registers.v
    reader.columns = {}
    for i in range(PyList_GET_SIZE(plan.primals)):
        reader.mapped, reader.shared = mapped[i], shared[i]
        if not reader.read(<Layout> PyList_GET_ITEM(plan.primals, i), primals[i]):
            return None
    inputs.plan = plan
    inputs.fill(reader)
    plan.give(registers)
    return inputs


@cython.final
cdef class Filled(Cotangents):
    """Leaves of arguments: columns, and numbers that lanes share; the discrete ones are those of the recording, or None."""

    cdef Inputs inputs
    cdef list rows
    cdef tuple known
    cdef Py_ssize_t left

    cdef object scalar(self, uint32_t id):
        cdef Py_ssize_t k = self.inputs.row_from(id)
        if k < self.inputs.lines.count and self.inputs.lines.mapped[k] == id:
            return self.rows[k]
        return Cotangents.scalar(self, id)

    cdef list floats(self, uint32_t id, Py_ssize_t n):
        if self.inputs.row_from(id) < self.inputs.row_from(id + <uint32_t> n):
            return Leaves.floats(self, id, n)
        return Cotangents.floats(self, id, n)

    cdef object discrete(self):
        if self.known is None:
            return None
        self.left -= 1      # `Reader` meets the last one of an argument first
        return self.known[self.left]


def inputs_of(Plan plan, tuple cotangents) -> NDArray[Any]:
    """The cotangent of each input, from those of the arguments, by register."""
    cdef Py_ssize_t i
    found = numpy.full(plan.inputs + 1, -0.0)   # to which any number is added without a change
    for i in range(PyList_GET_SIZE(plan.primals)):
        begin_seeds(<Layout> PyList_GET_ITEM(plan.primals, i), plan.structures, "cotangent",
                    <double *> PyArray_DATA(<ndarray> found)).match(cotangents[i])
    return found
