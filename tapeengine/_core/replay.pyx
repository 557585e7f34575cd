"""Recorded scalar programs, run again without Python: values, then cotangents.

A `Path` is a straight line of instructions, the program's way through its branches, with guards where it looked at a
value. The paths for arguments of one form share what they have in common from the start: at a guard with another
outcome, the run goes on in a path that forks there, with the registers that it has. Where there is none the program has
to be recorded once more.
"""

from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.exc cimport PyErr_CheckSignals
from cpython.list cimport PyList_GET_SIZE
from cpython.sequence cimport PySequence_Fast_GET_ITEM
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset
cimport cython

from tapeengine._core.interleave cimport (
    ARRAY, DICT, DISCRETE, FLOAT, FLOATS, LIST, NUMPY, OBJECT, TUPLE, Layout, Leaves, Step, build,
)
from tapeengine._core.fields cimport Fields
from tapeengine._core.nested cimport Copies, copy_out
from tapeengine._core.scalar cimport Dual, head_of_dual, new_dual
from tapeengine._core.tape cimport (
    CHUNK_LAST, CHUNK_SHIFT, CONSTANT_LEFT, CONSTANT_RIGHT, FORM_MASK, OP_MASK, SPECIAL, TE_CONSTANT, TE_EXACT, TE_TRUNC,
    Guard, Head, Record, Tape, op_arities, op_at, op_da, op_db, record1, record2, record_at, reserve, value_at,
)
from tapeengine._core.trace cimport Backpropagator, Numbers, Seeds, begin_seeds, free_zeros, zeros

cdef enum:
    LONG = 1 << 12          # instructions from which on a run lets go of the GIL
    STRETCH = 1 << 20       # instructions between two looks for an interrupt
    MOST_PATHS = 64         # that a plan keeps

#: The answer where no path fits.
MISS = object()
cdef object miss = MISS


class NotReplayable(Exception):
    """A program whose recording cannot stand for it; says why."""


class NotThisRun(NotReplayable):
    """A run that cannot be replayed, of a program whose other runs may be."""


# ---------------------------------------------------------------- from a tape to a path


@cython.final
cdef class Numbering:
    """Gives the operations, guards and constants of a tape their registers."""

    cdef Path path
    cdef uint32_t *registers    # by id
    cdef uint32_t *places       # of constants, by hash: 1 + their number
    cdef uint32_t *constant_at  # register of each constant
    cdef uint32_t mask

    def __dealloc__(self):
        free(self.registers)
        free(self.places)
        free(self.constant_at)

    cdef int begin(self, Tape tape, Py_ssize_t most) except -1:
        cdef uint32_t i
        self.mask = 64
        while self.mask < 2 * most:
            self.mask *= 2
        self.registers = <uint32_t *> calloc(tape.head.count, sizeof(uint32_t))
        self.places = <uint32_t *> calloc(self.mask, sizeof(uint32_t))
        self.constant_at = <uint32_t *> calloc(most + 1, sizeof(uint32_t))
        self.mask -= 1
        if self.registers == NULL or self.places == NULL or self.constant_at == NULL:
            raise MemoryError(f"no memory to number the {tape.head.count:,} records of a recording")
        for i in range(1, tape.head.inputs + 1):
            self.registers[i] = i
        return 0

    cdef void emit(self, int op, uint32_t a, uint32_t b) noexcept:
        cdef Path p = self.path
        p.op[p.end] = <uint8_t> op
        p.operands[p.end].a = a
        p.operands[p.end].b = b
        p.end += 1

    cdef uint32_t constant(self, double c) noexcept:
        """The number of a constant, by its bits."""
        cdef uint64_t bits
        memcpy(&bits, &c, sizeof(double))
        cdef uint32_t at = <uint32_t> ((bits * <uint64_t> 0x9E3779B97F4A7C15) >> 32) & self.mask
        cdef Path p = self.path
        while self.places[at]:
            if memcmp(&p.constants[self.places[at] - 1], &c, sizeof(double)) == 0:
                return self.places[at] - 1
            at = (at + 1) & self.mask
        p.constants[p.constant_count] = c
        p.constant_count += 1
        self.places[at] = p.constant_count
        return p.constant_count - 1

    cdef uint32_t register_of(self, double c) noexcept:
        """The register of a constant; its instruction comes before its first use."""
        cdef uint32_t number = self.constant(c)
        if self.constant_at[number] == 0:
            self.constant_at[number] = self.path.end
            self.emit(TE_CONSTANT, number, 0)
        return self.constant_at[number]

    cdef int operation(self, uint32_t i, int op, Record *r) except -1:
        cdef int form = op & FORM_MASK
        cdef uint32_t a = self.registers[r.p1], b
        if form == SPECIAL:
            raise NotReplayable("it works on arrays, or on values of a trace around it")
        if form == CONSTANT_RIGHT:
            b = self.register_of(r.d2)
        elif form == CONSTANT_LEFT:
            b, a = a, self.register_of(r.d2)
        else:
            b = 0 if r.p2 == i else self.registers[r.p2]
        self.registers[i] = self.path.end
        self.emit(op, a, b)
        return 0

    cdef void guard(self, Guard *g) noexcept:
        cdef uint32_t a, b
        if g.kind >= TE_TRUNC:
            self.emit(g.kind, self.registers[g.a], self.constant(g.c))
        else:
            a = self.registers[g.a] if g.a else self.register_of(g.c)
            b = self.registers[g.b] if g.b else self.register_of(g.c)
            self.emit(g.kind, a, b)
        self.path.guards += 1


@cython.final
cdef class Path:
    """One way through a program."""

    def __dealloc__(self):
        free(self.op)
        free(self.operands)
        free(self.constants)

    def __len__(self):
        """The number of instructions."""
        return self.end - self.first

    @property
    def nbytes(self):
        """Bytes of the instructions and their constants."""
        return len(self) * (sizeof(uint8_t) + sizeof(te_operands)) + self.constant_count * sizeof(double)

    def instructions(self):
        """Iterate over (register, opcode byte, operand, operand)."""
        cdef uint32_t i
        for i in range(self.first, self.end):
            yield i, self.op[i], self.operands[i].a, self.operands[i].b

    cdef int room(self, Py_ssize_t registers, Py_ssize_t constants) except -1:
        self.op = <uint8_t *> malloc(registers)
        self.operands = <te_operands *> malloc(registers * sizeof(te_operands))
        self.constants = <double *> malloc(constants * sizeof(double))
        if self.op == NULL or self.operands == NULL or self.constants == NULL:
            raise MemoryError(f"no memory for a recording of {registers:,} instructions")
        return 0

    cdef void fit(self) noexcept:
        """Give back the room that is not used."""
        self.op = <uint8_t *> realloc(self.op, self.end)
        self.operands = <te_operands *> realloc(self.operands, self.end * sizeof(te_operands))
        self.constants = <double *> realloc(self.constants, (self.constant_count + 1) * sizeof(double))

    cdef uint32_t run(self, double *v, uint32_t i) except? 0:
        """Run from an instruction on; the register at which the run stopped."""
        cdef uint32_t stop, reached
        if self.end - i < LONG:
            return te_replay(self.op, self.operands, self.constants, v, i, self.end)
        while True:
            stop = min(self.end, i + STRETCH)
            with nogil:
                reached = te_replay(self.op, self.operands, self.constants, v, i, stop)
            if reached < stop or stop == self.end:
                return reached
            PyErr_CheckSignals()
            i = stop

    cdef int sweep(self, double *v, double *ct, uint32_t top) except -1:
        """Sweep back from a register on."""
        cdef uint32_t lowest
        while top >= self.first:
            lowest = top - STRETCH + 1 if top - self.first >= STRETCH else self.first
            with nogil:
                te_replay_back(self.op, self.operands, v, ct, top, lowest)
            top = lowest - 1
            PyErr_CheckSignals()
        return 0

    cdef bint same(self, Path other, uint32_t i) noexcept:
        """Whether two paths have the same instruction at a register."""
        if self.op[i] != other.op[i] or self.operands[i].a != other.operands[i].a:
            return False
        if self.op[i] == TE_CONSTANT:
            return same_bits(self.constants[self.operands[i].a], other.constants[other.operands[i].a])
        if TE_TRUNC <= self.op[i] <= TE_EXACT:
            return same_bits(self.constants[self.operands[i].b], other.constants[other.operands[i].b])
        return self.operands[i].b == other.operands[i].b

    cdef uint32_t parting(self, Path other, uint32_t i) noexcept:
        """The first register from i on at which two paths part; the end of the shorter one where they do not."""
        cdef uint32_t end = min(self.end, other.end)
        while i < end and self.same(other, i):
            i += 1
        return i

    cdef object value(self, double *v):
        """The program's value, from the registers after a run."""
        cdef Found leaves = Found.__new__(Found)
        leaves.v = v
        leaves.known = self.known
        return build(self.outputs, leaves)

    cdef object traced_value(self, double *v, Backpropagator back):
        """The value as the trace around it sees it: plain, or duals of an outer trace."""
        cdef Found leaves = Found.__new__(Found)
        leaves.v = v
        leaves.known = self.known
        leaves.tape = back.tape
        leaves.copies = copy_out(back.tape)
        return build(self.outputs if leaves.copies is None else back.result, leaves)


cdef inline bint same_bits(double a, double b) noexcept:
    return memcmp(&a, &b, sizeof(double)) == 0


cdef Path path_of(Backpropagator back, object value, object structures):
    """The path that a recording took.

    Raises
    ------
    NotReplayable
        Where the recording does not say all that the program did.
    """
    cdef Head *h = &back.tape.head
    cdef Py_ssize_t most = 2 * (h.count + h.guards.count) + 1
    cdef Numbering numbering = Numbering.__new__(Numbering)
    cdef Path path = Path.__new__(Path)
    cdef uint32_t i
    cdef Py_ssize_t g = 0
    if back.tape.place_count:
        raise NotReplayable("it works on arrays")
    if h.guards.lost != NULL:
        raise NotReplayable((<bytes> h.guards.lost).decode())
    path.first = path.end = h.inputs + 1
    path.forks = {}
    path.room(path.end + most, most)
    numbering.path = path
    numbering.begin(back.tape, most)
    for i in range(h.inputs + 1, h.count + 1):
        while g < h.guards.count and h.guards.each[g].at == i:
            numbering.guard(&h.guards.each[g])
            g += 1
        if i < h.count:
            numbering.operation(i, op_at(h, i), record_at(h, i))
    path.fit()
    path.outputs = numbered(back.result, numbering.registers)
    path.known = known_leaves(back.result, value, structures)
    check_values(path, h, numbering.registers)
    return path


cdef int check_values(Path path, Head *h, uint32_t *registers) except -1:
    """Refuse a recording whose opcodes do not give the values that the program had, to the last bit."""
    cdef double *v = <double *> malloc(path.end * sizeof(double))
    cdef uint32_t i
    if v == NULL:
        raise MemoryError(f"no memory for {path.end:,} registers")
    try:
        for i in range(1, h.inputs + 1):
            v[i] = value_at(h, i)
        if path.run(v, path.first) != path.end:
            raise NotThisRun("it has a value that is not finite")
        for i in range(h.inputs + 1, h.count):
            if not same_bits(v[registers[i]], value_at(h, i)):
                raise NotReplayable("it computes values that no opcode stands for")
    finally:
        free(v)
    return 0


cdef Layout numbered(Layout layout, uint32_t *registers):
    """A layout of a result with registers in the place of ids."""
    cdef Layout result = Layout.__new__(Layout)
    cdef Step s
    cdef Py_ssize_t i
    for i in range(layout.count):
        s = layout.steps[i]
        if s.kind == ARRAY:
            raise NotReplayable("its result has arrays")
        result.add(s.kind, s.n, registers[s.id] if s.kind == FLOAT or s.kind == NUMPY else s.id)
    result.aux = layout.aux
    return result


cdef tuple written(Path path, double *v, list duals):
    """(tape, layout of the result): the records that the program would have left, from the registers after a run."""
    cdef Tape tape = Tape.__new__(Tape)
    cdef Head *h = &tape.head
    cdef uint32_t *ids = <uint32_t *> calloc(path.end, sizeof(uint32_t))
    cdef uint32_t i
    if ids == NULL:
        raise MemoryError(f"no memory to number {path.end:,} instructions")
    try:
        tape.open(2)
        reserve(h, path.first - 1)
        for i in range(1, path.first):
            ids[i] = i
            h.values[i >> CHUNK_SHIFT][i & CHUNK_LAST] = v[i]
        for i in range(path.first, path.end):
            if path.op[i] < SPECIAL:
                ids[i] = write(h, path.op[i], path.operands[i], ids, v, v[i])
        for i, dual in duals:
            head_of_dual(<Dual> dual)
            tape.note_link(i, (<Dual> dual).tag, (<Dual> dual).id)
        return tape, numbered(path.outputs, ids)
    finally:
        tape.close()
        free(ids)


cdef uint32_t write(Head *h, int op, te_operands x, uint32_t *ids, double *v, double value) except 0:
    """Record one instruction of a path."""
    cdef int form = op & FORM_MASK, code = op & OP_MASK
    if op_arities[code] == 1:
        return record1(h, op, ids[x.a], op_da(code, v[x.a], 0.0, value), 0.0, value)
    if form == CONSTANT_RIGHT:
        return record1(h, op, ids[x.a], op_da(code, v[x.a], v[x.b], value), v[x.b], value)
    if form == CONSTANT_LEFT:
        return record1(h, op, ids[x.b], op_db(code, v[x.a], v[x.b], value), v[x.a], value)
    return record2(
        h, op, ids[x.a], ids[x.b], op_da(code, v[x.a], v[x.b], value), op_db(code, v[x.a], v[x.b], value), value)


# ---------------------------------------------------------------- structures against layouts


cdef class Reader:
    """Takes a structure apart that must have a layout's form exactly; leaves go to `leaf`."""

    cdef object structures
    cdef list duals     # [(input, dual)] of an outer trace, which are taken for floats; None where there may be none

    cdef bint leaf(self, int kind, uint32_t id, object value) except -1:
        raise NotImplementedError

    cdef bint read(self, Layout layout, object value) except -1:
        """Hold a structure against a layout, from the root to its last child first; False where it does not fit."""
        cdef Py_ssize_t i, k, aux_left
        cdef Step s
        cdef list stack
        if layout.count == 1:
            return self.single(layout, value)
        if layout.count == 2 and layout.steps[0].kind == FLOATS:
            if type(value) is not (list if layout.steps[1].kind == LIST else tuple) or len(value) != layout.steps[1].n:
                return False
            return self.floats(layout.steps[0], value)
        aux_left = 0 if layout.aux is None else len(layout.aux)
        stack = [value]
        for i in range(layout.count - 1, -1, -1):
            s = layout.steps[i]
            value = stack.pop()
            aux = None
            if s.kind >= DICT or s.kind == NUMPY or s.kind == ARRAY:
                aux_left -= 1
                aux = layout.aux[aux_left]
            if s.kind == FLOATS:
                if not self.floats(s, value):
                    return False
            elif s.kind < LIST:
                if not self.fits(s.kind, aux, value) or not self.leaf(s.kind, s.id, value):
                    return False
            else:
                children = self.children(s.kind, s.n, aux, value)
                if children is None:
                    return False
                if i and layout.steps[i - 1].kind == FLOATS and s.kind <= TUPLE:
                    stack.append(children)
                else:
                    stack.extend(children)
        return True

    cdef bint single(self, Layout layout, object value) except -1:
        cdef Step s = layout.steps[0]
        if s.kind >= LIST:      # an empty container
            return self.children(s.kind, 0, layout.aux[0] if s.kind >= DICT else None, value) is not None
        return self.fits(s.kind, layout.aux[0] if s.kind == NUMPY or s.kind == ARRAY else None, value) and self.leaf(
            s.kind, s.id, value)

    cdef bint floats(self, Step s, object values) except -1:
        cdef uint32_t k
        for k in range(s.n):
            value = <object> PySequence_Fast_GET_ITEM(values, k)
            if not self.fits(FLOAT, None, value) or not self.leaf(FLOAT, s.id + k, value):
                return False
        return True

    cdef inline bint fits(self, int kind, object aux, object value) except -1:
        """Whether a leaf is of the kind that a layout says."""
        if kind == FLOAT:
            return PyFloat_CheckExact(value) or (self.duals is not None and type(value) is Dual)
        if kind == NUMPY:
            return type(value) is aux
        return kind == DISCRETE and type(value) is not Dual

    cdef object children(self, int kind, uint32_t n, object aux, object value):
        """The children of a container; None where it is another one."""
        if kind == LIST or kind == TUPLE:
            return value if type(value) is (list if kind == LIST else tuple) and len(value) == n else None
        if kind == DICT:
            return list((<dict> value).values()) if type(value) is dict and list(<dict> value) == aux else None
        if type(value) is not aux[0]:
            return None
        children, other = aux[1].take(value)
        return children if len(children) == n and other == aux[2] else None


@cython.final
cdef class Arguments(Reader):
    """Reads arguments into registers; discrete leaves must be those of the recording."""

    cdef double *v
    cdef tuple known
    cdef Py_ssize_t at

    cdef bint leaf(self, int kind, uint32_t id, object value) except -1:
        if type(value) is Dual:
            self.v[id] = (<Dual> value).v
            self.duals.append((id, value))
            return True
        if kind == FLOAT:
            self.v[id] = PyFloat_AS_DOUBLE(value)
            return True
        if kind == NUMPY:
            self.v[id] = value
            return True
        self.at += 1
        return same_leaf(value, self.known[self.at - 1])


@cython.final
cdef class Known(Reader):
    """Collects what is no register: discrete leaves, and of a result the numbers that depend on nothing."""

    cdef list found

    cdef bint leaf(self, int kind, uint32_t id, object value) except -1:
        if kind == DISCRETE or id == 0:
            self.found.append(value)
        return True


cdef bint same_leaf(object value, object known) except -1:
    """Whether a discrete leaf is the one that was recorded."""
    if value is known:
        return True
    if type(value) is not type(known):
        return False
    if hasattr(value, "dtype"):
        return value.dtype == known.dtype and value.shape == known.shape and (value == known).all()
    return value == known


cdef tuple known_leaves(Layout layout, object value, object structures):
    """What is no register, in the order in which `Reader` meets it."""
    cdef Known reader = Known.__new__(Known)
    reader.structures = structures
    reader.found = []
    reader.read(layout, value)
    return tuple(reader.found)


@cython.final
cdef class Found(Leaves):
    """The leaves of a value: registers, and what was known beforehand."""

    cdef double *v
    cdef tuple known
    cdef Py_ssize_t taken
    cdef Tape tape          # where the ids are those of a tape whose records are copied to an outer one
    cdef Copies copies

    cdef object scalar(self, uint32_t id):
        if id == 0:
            return self.discrete()
        if self.copies is None:
            return self.v[id]
        value = value_at(&self.tape.head, id)
        return new_dual(value, self.copies.ids[id], self.copies.tag) if self.copies.ids[id] else value

    cdef object discrete(self):
        self.taken += 1
        return self.known[len(self.known) - self.taken]


# ---------------------------------------------------------------- plans


@cython.final
@cython.freelist(16)
cdef class Registers:
    """The values of one run, and the room that they take."""

    def __dealloc__(self):
        if self.plan is not None and self.plan.spare_values == NULL and self.room == self.plan.most:
            self.plan.spare_values = self.v
        else:
            free(self.v)


@cython.final
cdef class Plan:
    """The paths of a program for arguments of one form.

    Parameters
    ----------
    back : Backpropagator
        Of the first recording.
    value : structure
        What the program returned then.
    primals : tuple
        Its arguments.
    structures : Structures
    """

    def __init__(self, Backpropagator back, object value, tuple primals, object structures):
        self.structures = structures
        self.primals = back.primals
        self.inputs = back.tape.head.inputs
        self.known = known_of_all(self.primals, primals, structures)
        self.paths = [path_of(back, value, structures)]
        self.grown(self.paths[0])

    cdef Registers read(self, tuple primals, list duals=None):
        """The registers of a run on these arguments; None where they have another form. Duals are added to `duals`."""
        cdef Registers registers
        cdef Arguments reader
        cdef Py_ssize_t i
        if len(primals) != PyList_GET_SIZE(self.primals):
            return None
        registers = self.take()
        reader = Arguments.__new__(Arguments)
        reader.structures = self.structures
        reader.v = registers.v
        reader.known = self.known
        reader.duals = duals
        for i in range(PyList_GET_SIZE(self.primals)):
            if not reader.read(<Layout> self.primals[i], primals[i]):
                return None
        return registers

    cdef Registers take(self):
        """Registers for a run: those of an earlier one, or fresh ones."""
        cdef Registers registers = Registers.__new__(Registers)
        registers.plan = self
        if self.spare_values == NULL:
            registers.v = <double *> malloc(self.most * sizeof(double))
            if registers.v == NULL:
                raise MemoryError(f"no memory for {self.most:,} registers")
            registers.room = self.most
        else:
            registers.v = self.spare_values
            registers.room = self.most
            self.spare_values = NULL
        return registers

    cdef double *cotangents(self) except NULL:
        """An accumulation array of zeros, for `give_back`."""
        cdef double *ct = self.spare_cotangents
        if ct == NULL:
            return <double *> zeros(self.most, sizeof(double))
        self.spare_cotangents = NULL
        return ct

    cdef void give_back(self, double *ct, uint32_t room, bint clean) noexcept:
        """Keep an accumulation array for the next sweep, if it is all zeros but for the inputs."""
        if clean and room == self.most and self.spare_cotangents == NULL:
            memset(ct, 0, (self.inputs + 1) * sizeof(double))
            self.spare_cotangents = ct
        else:
            free_zeros(ct)

    cdef void grown(self, Path path) noexcept:
        """Make the room of later runs large enough for a path."""
        if path.end <= self.most:
            return
        free(self.spare_values)
        if self.spare_cotangents != NULL:
            free_zeros(self.spare_cotangents)
        self.spare_values = self.spare_cotangents = NULL
        self.most = path.end

    def __dealloc__(self):
        free(self.spare_values)
        if self.spare_cotangents != NULL:
            free_zeros(self.spare_cotangents)

    cdef Path run(self, double *v):
        """Run along the path that the arguments take; None where none has been recorded."""
        cdef Path path = self.paths[0], other
        cdef uint32_t i = path.run(v, path.first), reached
        while i < path.end:
            for other in path.forks.get(i, ()):
                reached = other.run(v, i)
                if reached > i:
                    path, i = other, reached
                    break
            else:
                return None
        path.used += 1
        return path

    def value(self, tuple primals):
        """The program's value by replay; MISS where the program has to run."""
        cdef Registers registers = self.read(primals)
        cdef Path path = None if registers is None else self.run(registers.v)
        return miss if path is None else path.value(registers.v)

    def vjp(self, tuple primals):
        """Value and backpropagator by replay; MISS where the program has to run."""
        cdef Registers registers = self.read(primals)
        cdef Path path = None if registers is None else self.run(registers.v)
        cdef ReplayedBackpropagator back
        if path is None:
            return miss
        back = ReplayedBackpropagator.__new__(ReplayedBackpropagator)
        back.plan, back.path, back.registers = self, path, registers
        return path.value(registers.v), back

    def trace(self, tuple primals):
        """Value and backpropagator with a tape of order 2, written by replay; MISS where the program has to run.

        Duals of an outer trace among the primals are linked to the tape, and those of the value are copied out of it.
        """
        cdef list duals = []
        cdef Registers registers = self.read(primals, duals)
        cdef Path path = None if registers is None else self.run(registers.v)
        cdef Backpropagator back
        if path is None:
            return miss
        back = Backpropagator.__new__(Backpropagator)
        back.structures, back.primals = self.structures, self.primals
        back.tape, back.result = written(path, registers.v, duals)
        return path.traced_value(registers.v, back), back

    def fits(self, tuple primals):
        """Whether these arguments have the form of the plan."""
        return self.read(primals) is not None

    def add(self, Backpropagator back, object value):
        """Add the path of another recording.

        Raises
        ------
        NotReplayable
            Where the program did something else although it had seen the same.
        """
        cdef Path made = path_of(back, value, self.structures)
        cdef Path path = self.paths[0], other
        cdef uint32_t i = path.parting(made, path.first)
        while i < path.end and i < made.end:
            for other in path.forks.get(i, ()):
                if other.same(made, i):
                    path, i = other, other.parting(made, i)
                    break
            else:
                self.fork(path, made, i)
                return
        if i < path.end or i < made.end:
            raise NotReplayable("it did not do the same again although all that it looked at was the same")

    cdef int fork(self, Path path, Path made, uint32_t i) except -1:
        if path.op[i] <= TE_CONSTANT or made.op[i] <= TE_CONSTANT or path.operands[i].a != made.operands[i].a:
            raise NotReplayable("it did not do the same again although all that it looked at was the same")
        path.forks.setdefault(i, []).append(made)
        self.paths.append(made)
        self.grown(made)
        return 0


cdef tuple known_of_all(list layouts, tuple values, object structures):
    cdef list found = []
    for layout, value in zip(layouts, values):
        found.extend(known_leaves(<Layout> layout, value, structures))
    return tuple(found)


@cython.final
cdef class ReplayedBackpropagator:
    """The linear map from a cotangent of a replayed program's value to the cotangents of its primals."""

    cdef Plan plan
    cdef Path path
    cdef Registers registers

    def __call__(self, cotangent):
        """Return a tuple with one cotangent for each primal, in the primal's structure."""
        cdef uint32_t room = self.plan.most
        cdef double *ct = self.plan.cotangents()
        cdef Seeds seeds
        cdef Numbers numbers
        cdef bint clean = False
        try:
            seeds = begin_seeds(self.path.outputs, self.plan.structures, "cotangent", ct)
            seeds.match(cotangent)
            ct[0] = 0.0
            self.path.sweep(self.registers.v, ct, seeds.top)
            numbers = Numbers.__new__(Numbers)
            numbers.cotangent = ct
            result = tuple([build(<Layout> layout, numbers) for layout in self.plan.primals])
            clean = True
            return result
        finally:
            self.plan.give_back(ct, room, clean)

    @property
    def is_scalar(self):
        """Whether the value is one real number."""
        return self.path.outputs.count == 1 and (
            self.path.outputs.steps[0].kind == FLOAT or self.path.outputs.steps[0].kind == NUMPY)
