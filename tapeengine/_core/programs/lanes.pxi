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
    inputs : array (inputs, n) of float64
        All arguments, a row for each input.
    rows : array of intp
        Which columns of `inputs` these lanes run.
    """

    cdef readonly Path path
    cdef readonly object inputs, rows
    cdef readonly object stops      # for each row the register at which it left the path; path.end where it did not
    cdef te_row *kept               # registers of all blocks, NULL where they are computed again

    def __init__(self, Path path, inputs, rows):
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

    def forward(self, registers, leaves, out, bint keep, stopped):
        """Compute the values of `registers` into the rows `leaves` of `out`; lanes that leave the path change nothing.

        The error that `stopped` contains is raised.
        """
        cdef Path p = self.path
        cdef Py_ssize_t n = len(self.rows), blocks = (n + TE_LANES - 1) // TE_LANES, k, b, start, first, count
        cdef Py_ssize_t between = 1 + BETWEEN // p.end
        cdef Py_ssize_t width = self.inputs.shape[1], out_width = out.shape[1], outs = len(registers)
        cdef const double *x = <const double *> PyArray_DATA(<ndarray> self.inputs)
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
                    load_rows(at, x, width, rows + first, count, p.first)
                    te_run_lanes(&bodies, p.op, p.operands, p.constants, at, p.first, p.end, stops + first)
                    for k in range(outs):
                        for l in range(count):
                            if stops[first + l] == p.end:
                                y[leaf[k] * out_width + rows[first + l]] = at[places[k]][l]
              look(stopped)
        finally:
            if keeps:
                self.kept = v
            else:
                self.let_go(v, 1)
        p.worked_in_lanes(blocks)

    def backward(self, registers, leaves, cotangents, out, stopped):
        """Store the cotangents of the inputs in the columns of `out`, from those of the values of `registers`."""
        cdef Path p = self.path
        cdef Py_ssize_t n = len(self.rows), blocks = (n + TE_LANES - 1) // TE_LANES, k, b, start, first, count
        cdef Py_ssize_t between = 1 + BETWEEN // p.end
        cdef Py_ssize_t width = self.inputs.shape[1], ct_width = cotangents.shape[1], outs = len(registers)
        cdef const double *x = <const double *> PyArray_DATA(<ndarray> self.inputs)
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
                        load_rows(v, x, width, rows + first, count, p.first)
                        te_run_lanes(&bodies, p.op, p.operands, p.constants, v, p.first, p.end, again)
                    for k in range(outs):
                        for l in range(count):
                            if stops[first + l] == p.end:
                                ct[places[k]][l] += dy[leaf[k] * ct_width + rows[first + l]]
                    memset(ct, 0, sizeof(te_row))
                    if top >= p.first:
                        te_run_lanes_back(&bodies, p.op, p.operands, p.constants, v, ct, top, p.first)
                    store_rows(dx, width, ct, rows + first, stops + first, count, p)
                    memset(ct, 0, p.first * sizeof(te_row))
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


cdef void load_rows(te_row *v, const double *x, Py_ssize_t width, const Py_ssize_t *rows, Py_ssize_t count,
                    uint32_t first) noexcept nogil:
    """Load a block of arguments; the lanes that are over repeat the last one."""
    cdef uint32_t k
    cdef int l
    if are_neighbours(rows, count):
        for k in range(1, first):
            memcpy(v[k], x + (k - 1) * width + rows[0], sizeof(te_row))
        return
    for k in range(1, first):
        for l in range(TE_LANES):
            v[k][l] = x[(k - 1) * width + rows[min(<Py_ssize_t> l, count - 1)]]



cdef void store_rows(double *x, Py_ssize_t width, const te_row *ct, const Py_ssize_t *rows, const uint32_t *stops,
                     Py_ssize_t count, Path path) noexcept nogil:
    """Store the cotangents of a block of arguments, of the lanes that took the path to its end."""
    cdef uint32_t k, end = path.end
    cdef int l
    cdef bint every = are_neighbours(rows, count)
    for l in range(count):
        every = every and stops[l] == end
    for k in range(1, path.first):
        if every:
            memcpy(x + (k - 1) * width + rows[0], ct[k], sizeof(te_row))
            continue
        for l in range(count):
            if stops[l] == end:
                x[(k - 1) * width + rows[l]] = ct[k][l]


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


def has_doubles_only(Path path):
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
    cdef list columns       # an array for each input that has lanes, None for the others
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


cdef int fill_rows(double *x, Py_ssize_t lanes, const double *v, list columns) except -1:
    """Store a row for each input: its column, or its value as often as there are lanes."""
    cdef Py_ssize_t i, l, stride
    cdef const char *column
    for i in range(1, PyList_GET_SIZE(columns)):
        one = <object> PyList_GET_ITEM(columns, i)
        column, stride = <const char *> &v[i], 0
        if one is not None:
            column, stride = <const char *> PyArray_DATA(<ndarray> one), PyArray_STRIDES(<ndarray> one)[0]
        for l in range(lanes):
            memcpy(x + l, column + l * stride, sizeof(double))
        x += lanes
    return 0


def rows_of_arguments(Plan plan, tuple primals, mapped, shared):
    """A row for each input of a plan of numbers, and whether the lanes share it; None if the arguments have another form.

    Parameters
    ----------
    plan : Plan
    primals : tuple
    mapped, shared : sequence of bool
        For each argument whether it may contain arrays with an element for each lane, and numbers that lanes share.
    """
    cdef Columns reader = Columns.__new__(Columns)
    cdef Registers registers
    cdef Py_ssize_t i
    if len(primals) != PyList_GET_SIZE(plan.primals) or plan.forms:
        return None
    registers = plan.take()
    reader.structures, reader.known, reader.v = plan.structures, plan.known, registers.v
    reader.columns = [None] * (plan.inputs + 1)
    for i in range(PyList_GET_SIZE(plan.primals)):
        reader.mapped, reader.shared = mapped[i], shared[i]
        if not reader.read(<Layout> PyList_GET_ITEM(plan.primals, i), primals[i]):
            return None
    rows = numpy.empty((plan.inputs, reader.lanes))
    fill_rows(<double *> PyArray_DATA(<ndarray> rows), reader.lanes, registers.v, reader.columns)
    plan.give(registers)
    return rows, numpy.array([one is None for one in reader.columns[1:]], bool)


@cython.final
cdef class Inputs(Leaves):
    """Leaves of arguments: columns, and numbers that lanes share; the discrete ones are those of the recording, or None."""

    cdef Plan plan
    cdef list columns
    cdef ndarray numbers
    cdef tuple known
    cdef Py_ssize_t left

    cdef object scalar(self, uint32_t id):
        column = <object> PyList_GET_ITEM(self.columns, id - 1)
        if column is not None:
            return column
        return te_float(self.plan.floats() + id, (<const double *> PyArray_DATA(self.numbers))[id - 1])

    cdef object double(self, uint32_t id, object cls):
        if cls is numpy_double and PyList_GET_ITEM(self.columns, id - 1) == <PyObject *> None:
            return self.numbers[id - 1]
        return Leaves.double(self, id, cls)

    cdef object discrete(self):
        if self.known is None:
            return None
        self.left -= 1      # `Reader` meets the last one of an argument first
        return self.known[self.left]


def arguments_of_inputs(Plan plan, list columns, ndarray numbers, bint known):
    """Arguments with the column of each input, or its number where that is None.

    Parameters
    ----------
    plan : Plan
    columns : list of array or None
    numbers : array of float64
    known : bool
        Whether the discrete leaves are those of the recording; otherwise they are None, as in cotangents.
    """
    cdef Inputs leaves = Inputs.__new__(Inputs)
    cdef Py_ssize_t i
    cdef list found = []
    leaves.plan, leaves.columns, leaves.numbers = plan, columns, numbers
    leaves.known, leaves.left = plan.known if known else None, len(plan.known)
    for i in range(PyList_GET_SIZE(plan.primals) - 1, -1, -1):
        found.append(build(<Layout> PyList_GET_ITEM(plan.primals, i), leaves))
    return tuple(found[::-1])


def inputs_of(Plan plan, tuple cotangents):
    """The cotangent of each input, from those of the arguments."""
    cdef Py_ssize_t i
    found = numpy.full(plan.inputs + 1, -0.0)   # to which any number is added without a change
    for i in range(PyList_GET_SIZE(plan.primals)):
        begin_seeds(<Layout> PyList_GET_ITEM(plan.primals, i), plan.structures, "cotangent",
                    <double *> PyArray_DATA(<ndarray> found)).match(cotangents[i])
    return found[1:]
