# Paths: straight lines of instructions, made from a recording's tape and guards, and run without Python.

cdef enum:
    LONG = 1 << 12          # a run of at least this many instructions releases the GIL
    STRETCH = 1 << 20       # instructions between two checks for an interrupt


@cython.final
cdef class Numbering:
    """Assigns registers to the operations, guards and constants of a tape."""

    cdef Path path
    cdef uint32_t *registers    # by id
    cdef uint32_t *places       # a hash table of constants: 1 + their number
    cdef uint32_t *constant_at  # register of each constant
    cdef uint32_t mask
    cdef double **values        # of the tape
    cdef list notes             # of the tape

    def __dealloc__(self):
        free(self.registers)
        free(self.places)
        free(self.constant_at)

    cdef int begin(self, Tape tape) except -1:
        cdef uint32_t i
        self.values, self.notes = tape.head.values, tape.noted
        self.registers = <uint32_t *> zeros_for(tape.head.count, sizeof(uint32_t), "records of a recording")
        for i in range(1, tape.head.inputs + 1):
            self.registers[i] = i
        self.mask = 31
        return self.widen()

    cdef int widen(self) except -1:
        """Double the hash table, of which at most half is used."""
        cdef uint32_t k, size = 2 * (self.mask + 1)
        free(self.places)
        self.places = NULL
        self.places = <uint32_t *> zeros_for(size, sizeof(uint32_t), "constants of a recording")
        self.constant_at = <uint32_t *> enlarged(self.constant_at, size, sizeof(uint32_t), "constants of a recording")
        self.mask = size - 1
        for k in range(self.path.constant_count):
            self.places[self.place(self.path.constants[k])] = k + 1
        return 0

    cdef void emit(self, int op, uint32_t a, uint32_t b) noexcept:
        cdef Path p = self.path
        p.op[p.end] = <uint8_t> op
        p.operands[p.end].a = a
        p.operands[p.end].b = b
        p.end += 1

    cdef uint32_t place(self, double c) noexcept:
        """Where the hash table has a constant, by its bits, or has room for it."""
        cdef uint64_t bits
        memcpy(&bits, &c, sizeof(double))
        cdef uint32_t at = <uint32_t> ((bits * <uint64_t> 0x9E3779B97F4A7C15) >> 32) & self.mask
        while self.places[at] and not same_bits(self.path.constants[self.places[at] - 1], c):
            at = (at + 1) & self.mask
        return at

    cdef uint32_t constant(self, double c) except? 0xFFFFFFFF:
        """The number of a constant."""
        cdef Path p = self.path
        cdef uint32_t at = self.place(c)
        if self.places[at] == 0:
            if 2 * p.constant_count >= self.mask:
                self.widen()
                at = self.place(c)
            p.constants[p.constant_count] = c
            self.constant_at[p.constant_count] = 0
            p.constant_count += 1
            self.places[at] = p.constant_count
        return self.places[at] - 1

    cdef uint32_t register_of(self, double c) except? 0:
        """The register of a constant, whose instruction precedes its first use."""
        cdef uint32_t number = self.constant(c)
        if self.constant_at[number] == 0:
            self.constant_at[number] = self.path.end
            self.emit(TE_CONSTANT, number, 0)
        return self.constant_at[number]

    cdef uint32_t numbers(self, Head *h, uint32_t i, uint32_t stop) noexcept:
        """Emit operations without constants, from a record on; return the record of the first other one."""
        cdef Path p = self.path
        cdef uint32_t start, reached, last
        cdef Chunk *chunk
        while i < stop:
            start, last = i & ~<uint32_t> CHUNK_LAST, min(stop - 1, i | CHUNK_LAST)
            chunk = h.chunks[i >> CHUNK_SHIFT]
            reached = te_number(<te_record *> chunk.rec - start, chunk.op - start, i, last + 1, self.registers,
                                p.op, p.operands, p.end)
            p.end += reached - i
            i = reached
            if i <= last:
                break
        return i

    cdef int operation(self, uint32_t i, int op, Record *r) except -1:
        cdef int form = op_forms[op]
        cdef uint32_t a = self.registers[r.p1], b
        if op >= SPECIAL:
            return self.special(i, op, r)
        if form == CONSTANT_RIGHT:
            b = self.register_of(r.d2)
        elif form == CONSTANT_LEFT:
            b, a = a, self.register_of(r.d2)
        else:
            b = 0 if r.p2 == i else self.registers[r.p2]
        self.registers[i] = self.path.end
        self.emit(op, a, b)
        return 0

    cdef int special(self, uint32_t i, int op, Record *r) except -1:
        """Handle an access to an element; array operations come from the notes of the recording."""
        cdef ArrayPart part = self.path.part
        cdef bint constant = op == WRITE and r.d1 == 0.0
        cdef uint32_t value
        if op == ARRAY_OPERATION and self.registers[i]:
            return 0
        if op != READ and op != WRITE:
            raise NotReplayable("it calls a function with a derivative of its own" if op == ARRAY_OPERATION
                                else "it works on values of an enclosing trace")
        if op == READ:
            self.registers[i] = value = self.path.end
        elif constant:
            value = self.register_of(self.values[i >> CHUNK_SHIFT][i & CHUNK_LAST])
        else:
            value = self.registers[<uint32_t> r.d1]
        part.access(r.p2, <Py_ssize_t> r.d2, value, op == WRITE, constant)
        self.emit(TE_ACCESS, <uint32_t> part.access_count - 1, 0)
        return 0

    cdef int noted(self, uint32_t at, tuple what, uint32_t next) except -1:
        """Handle a note: an array operation, or a decision on arrays."""
        cdef ArrayPart part = self.path.part
        if what[0] == TE_CALL:      # emitted at its guard
            return 0
        if what[0] == POKED:
            part.slot(what[1], what[2])
            part.access(what[1], what[3], self.register_of(what[4]), True, True)
            self.emit(TE_ACCESS, <uint32_t> part.access_count - 1, 0)
            return 0
        if at == next and isinstance(what[len(what) - 1], ArrayRecord):     # which follows the note
            self.registers[at] = self.path.end
        add_note(part, what, self.registers, self.path.end)
        self.path.guards += what[0] == LOOKED
        self.emit(TE_STEP, <uint32_t> len(part.steps) - 1, 0)
        return 0

    cdef int selection(self, uint32_t i, Guard *g) except -1:
        """Emit an operation that selects among operands, with all of its operands."""
        cdef int op = g.kind & ~TE_SELECTION
        cdef uint32_t a = self.registers[g.a] if g.a else self.register_of(g.c), b = 0
        cdef int form = 0 if g.a and g.b else CONSTANT_RIGHT if g.a else CONSTANT_LEFT
        if op_arities[op] == 2:
            b = self.registers[g.b] if g.b else self.register_of(g.c)
        else:
            form = 0
        self.registers[i] = self.path.end
        self.emit(op + form, a, b)
        return 0

    cdef int guard(self, Guard *g) except -1:
        cdef uint32_t a, b
        if g.kind == TE_CALL:
            return self.call(self.notes[<Py_ssize_t> g.c], self.registers[g.a])
        if g.kind >= TE_TRUNC:
            a, b = self.registers[g.a], self.constant(g.c)
        else:
            a = self.registers[g.a] if g.a else self.register_of(g.c)
            b = self.registers[g.b] if g.b else self.register_of(g.c)
        self.emit(g.kind, a, b)
        self.path.guards += 1
        return 0

    cdef int call(self, tuple what, uint32_t register) except -1:
        """Emit a call of the function that gives the value of the operation in a register."""
        self.path.calls.append(
            (what[1], [FromRegister(self.registers[id]) if id else constant for id, constant in what[2]]))
        self.emit(TE_CALL, <uint32_t> len(self.path.calls) - 1, register)
        return 0


@cython.final
cdef class Path:
    """One path through a program."""

    cdef uint8_t *op
    cdef te_operands *operands
    cdef double *constants
    cdef readonly uint32_t first, end   # registers of the first instruction and after the last; inputs come before
    cdef readonly uint32_t guards
    cdef readonly uint32_t shared   # operations and guards that repeat others
    cdef long long last     # the time of its last run, in runs of its plan
    cdef uint32_t constant_count
    cdef Layout outputs     # ids are registers
    cdef tuple known        # the constant leaves of the value
    cdef bytes example      # the inputs of its recording, unless it works on arrays
    cdef readonly dict forks    # register of a guard -> paths that fork there
    cdef ArrayPart part         # None if there are only scalars
    cdef list calls         # (function, operands) of values that a function of Python gives
    cdef te_bodies single, lanes    # native code for one run, and for lanes; no entries where there is none
    cdef list code              # keeps it alive
    cdef object compiler        # makes it; None if nothing does
    cdef long long work, lane_work  # the instructions that are run until then
    cdef te_row *spare_rows     # registers and zeroed cotangents of a block of lanes; NULL while in use
    cdef te_row *spare_zeros

    def __dealloc__(self):
        free(self.op)
        free(self.operands)
        free(self.constants)
        free_zeros(self.spare_rows)
        free_zeros(self.spare_zeros)

    def __len__(self):
        """The number of instructions."""
        return self.end - self.first

    @property
    def nbytes(self) -> int:
        """The bytes of the instructions, their constants, and where native code runs."""
        return (len(self) * (sizeof(uint8_t) + sizeof(te_operands)) + self.constant_count * sizeof(double)
                + len(self.example or b"")
                + (self.single.entries + self.lanes.entries) * sizeof(te_entry))

    @property
    def is_native(self) -> bool:
        """Whether native code runs it."""
        return self.single.entries > 0 or self.lanes.entries > 0 or self.part is not None and len(self.part.fused) > 0

    @property
    def has_arrays(self) -> bool:
        """Whether it works on arrays, so that it does not run in lanes."""
        return self.part is not None and self.part.special_count > 0

    def data(self) -> tuple[bytes, bytes, bytes]:
        """The bytes of the opcodes, of the operands, and of the constants."""
        cdef Py_ssize_t n = len(self)
        return (self.op[self.first:self.end], (<char *> (self.operands + self.first))[:n * sizeof(te_operands)],
                (<char *> self.constants)[:self.constant_count * sizeof(double)])

    def outputs_at(self) -> set[int]:
        """The registers of the numbers of its value."""
        cdef Step s
        cdef Py_ssize_t i
        found = set()
        for i in range(self.outputs.count):
            s = self.outputs.steps[i]
            if s.kind in (FLOAT, NUMPY, FLOATS):
                found.update(range(s.id, s.id + (s.n if s.kind == FLOATS else 1)))
        return found - {0}

    def adopt(self, bytes schedule, Py_ssize_t values, Py_ssize_t cotangents, bint in_lanes, code) -> None:
        """Run by native code from now on; see `te_bodies` in ``replay.h``."""
        cdef te_bodies made
        made.schedule, made.entries = <te_entry *> <char *> schedule, len(schedule) // sizeof(te_entry) - 1
        made.values, made.cotangents = <te_code> <void *> values, <te_code> <void *> cotangents
        self.code.append((schedule, code))
        if in_lanes:
            self.lanes = made
        else:
            self.single = made

    cdef int compiled_by(self, object compiler) except -1:
        """Let a function compile this path once it has been run often."""
        if compiler is not None and (self.part is None or self.part.special_count):
            self.compiler, self.code = compiler, []
            self.work = self.lane_work = compiler.worth(len(self))
        return 0

    cdef int worked(self) except -1:
        """Count the instructions of a run, and the numbers in the arrays that it computes."""
        cdef uint32_t k
        if self.compiler is not None and self.work >= 0:
            self.work -= self.end - self.first
            for k in range(0 if self.part is None else self.part.places.place_count):
                self.work -= self.part.places.places[k].size
            if self.work < 0:
                self.compiler(self, False)
        return 0

    cdef int worked_in_lanes(self, Py_ssize_t blocks) except -1:
        """Count a run of blocks of lanes."""
        if self.compiler is not None and self.lane_work >= 0:
            self.lane_work -= 2 * blocks * (self.end - self.first)
            if self.lane_work < 0:
                self.compiler(self, True)
        return 0

    def constant_values(self) -> list[float]:
        """The constants in the order of their numbers."""
        return [self.constants[k] for k in range(self.constant_count)]

    def instruction(self, uint32_t i) -> tuple[int, int, int, int]:
        """(register, opcode byte, operand, operand) of the instruction of a register."""
        return i, self.op[i], self.operands[i].a, self.operands[i].b

    def instructions(self) -> Iterator[tuple[int, int, int, int]]:
        """Iterate over the instructions."""
        return map(self.instruction, range(self.first, self.end))

    cdef int room(self, Py_ssize_t registers, Py_ssize_t constants) except -1:
        self.op = <uint8_t *> enlarged(NULL, registers, 1, "instructions")
        self.operands = <te_operands *> enlarged(NULL, registers, sizeof(te_operands), "instructions")
        self.constants = <double *> enlarged(NULL, constants, sizeof(double), "constants")
        return 0

    cdef void fit(self) noexcept:
        """Free unused memory."""
        self.op = <uint8_t *> realloc(self.op, self.end)
        self.operands = <te_operands *> realloc(self.operands, self.end * sizeof(te_operands))
        self.constants = <double *> realloc(self.constants, (self.constant_count + 1) * sizeof(double))

    cdef uint32_t run(self, double *v, uint32_t i) except? 0:
        """Run from an instruction on; return the register at which the run stopped."""
        while True:
            i = self.stretch(v, i)
            if i == self.end or self.op[i] != TE_CALL:
                return i
            if not self.call(v, i):
                return self.operands[i].b
            i += 1

    cdef bint call(self, double *v, uint32_t i) except -1:
        """Compute the value of the operation before by a Python function; False where the program may raise an error."""
        cdef uint32_t register = self.operands[i].b
        cdef list operands
        function, places = self.calls[self.operands[i].a]
        operands = filled(places, v)
        try:
            if type(function) is not ufunc_class or not one_value(
                    function, operands[0], operands[len(operands) - 1], <int> len(operands) + 1, &v[register]):
                v[register] = function(*operands)
        except Exception as error:      # the program raises as well, or knows what to do
            pass_on(error)
            return False
        return isfinite(v[register]) or te_total(op_codes[self.op[register]])

    cdef uint32_t stretch(self, double *v, uint32_t i) except? 0:
        """Run up to a call of a function, or to a guard that fails."""
        cdef uint32_t stop, reached
        cdef te_bodies bodies = self.single     # another thread may compile the path meanwhile
        if self.end - i < LONG:
            return te_run(&bodies, self.op, self.operands, self.constants, v, i, self.end)
        if bodies.entries:
            with nogil:
                reached = te_run(&bodies, self.op, self.operands, self.constants, v, i, self.end)
            return reached
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
        cdef te_bodies bodies = self.single
        if bodies.entries:
            if top >= self.first:
                with nogil:
                    te_run_back(&bodies, self.op, self.operands, self.constants, v, ct, top)
            return 0
        if self.end - self.first < LONG:
            if top >= self.first:
                te_replay_back(self.op, self.operands, v, ct, top, self.first)
            return 0
        while top >= self.first:
            lowest = top - STRETCH + 1 if top - self.first >= STRETCH else self.first
            with nogil:
                te_replay_back(self.op, self.operands, v, ct, top, lowest)
            top = lowest - 1
            PyErr_CheckSignals()
        return 0

    cdef bint same(self, Path other, uint32_t i) except -1:
        """Whether two paths have the same instruction at a register."""
        cdef Access *a
        cdef Access *b
        if self.op[i] != other.op[i] or self.operands[i].a != other.operands[i].a:
            return False
        if self.op[i] == TE_STEP:
            return same_note(self.part.steps[self.operands[i].a][0], other.part.steps[self.operands[i].a][0], True)
        if self.op[i] == TE_ACCESS:
            a, b = &self.part.accesses[self.operands[i].a], &other.part.accesses[self.operands[i].a]
            return a.slot == b.slot and a.value == b.value and a.writes == b.writes and a.element == b.element
        if self.op[i] == TE_CALL:
            return (self.calls[self.operands[i].a][0] is other.calls[self.operands[i].a][0]
                    and spelled_call(self, self.operands[i].a, i) == spelled_call(other, self.operands[i].a, i))
        if self.op[i] == TE_CONSTANT:
            return same_bits(self.constants[self.operands[i].a], other.constants[other.operands[i].a])
        if TE_TRUNC <= self.op[i] <= TE_EXACT:
            return same_bits(self.constants[self.operands[i].b], other.constants[other.operands[i].b])
        return self.operands[i].b == other.operands[i].b

    cdef bint may_part(self, Path other, uint32_t i) except -1:
        """Whether two paths may fork at an instruction: both have a guard on the same values there."""
        if self.op[i] == TE_STEP and other.op[i] == TE_STEP:
            return same_note(self.part.steps[self.operands[i].a][0], other.part.steps[other.operands[i].a][0], False)
        if self.op[i] == TE_EXACT or other.op[i] == TE_EXACT:   # one of them may have raised an error here
            return True
        return (TE_CONSTANT < self.op[i] <= TE_NAN and TE_CONSTANT < other.op[i] <= TE_NAN
                and self.operands[i].a == other.operands[i].a)

    cdef uint32_t parting(self, Path other, uint32_t i) except? 0:
        """The first register from i on at which two paths fork; if they do not, the end of the shorter one."""
        cdef uint32_t end = min(self.end, other.end)
        while i < end and self.same(other, i):
            i += 1
        return i

    cdef uint32_t run_arrays(self, Arena arena) except? 0:
        """Run from the first instruction on; return the register at which the run stopped."""
        cdef uint32_t i = self.first, k
        cdef Access *access
        cdef double *element
        while True:
            i = te_replay(self.op, self.operands, self.constants, arena.v, i, self.end)
            if i == self.end or self.op[i] < TE_ACCESS:
                return i
            k = self.operands[i].a
            if self.op[i] == TE_CALL:
                if not self.call(arena.v, i):
                    return self.operands[i].b
            elif self.op[i] == TE_ACCESS:
                access = &self.part.accesses[k]
                element = <double *> arena.data[access.slot] + access.element
                if access.writes:
                    element[0] = arena.v[access.value]
                else:
                    arena.v[i] = element[0]
            elif not (<Action> PyList_GET_ITEM(arena.steps, k)).run(arena.v):
                return i
            i += 1

    cdef int sweep_arrays(self, Arena arena, Reverse r, uint32_t top) except -1:
        """Sweep back from a register on."""
        cdef ArrayPart part = self.part
        cdef Py_ssize_t k
        cdef uint32_t i
        cdef Action step
        for k in range(part.special_count):
            i = part.specials[k]
            if i > top:
                continue
            if i < top:
                te_replay_back(self.op, self.operands, arena.v, r.cotangent, top, i + 1)
            if self.op[i] == TE_ACCESS:
                self.sweep_access(&part.accesses[self.operands[i].a], r, i)
            else:
                step = <Action> PyList_GET_ITEM(arena.steps, self.operands[i].a)
                if step.record is not None and step.record.reverse(r, i):   # native code cannot be made
                    without_strips(arena)
                    (<Action> PyList_GET_ITEM(arena.steps, self.operands[i].a)).record.reverse(r, i)
                r.cotangent[i] = 0.0
            top = i - 1
        if top >= self.first:
            te_replay_back(self.op, self.operands, arena.v, r.cotangent, top, self.first)
        return 0

    cdef int sweep_access(self, Access *access, Reverse r, uint32_t i) except -1:
        """Resolve an access to an element, as `sweep.element` does."""
        cdef double *place
        if r.data[access.storage] == NULL:
            if access.writes or r.cotangent[i] == 0.0:
                return 0
            r.allocate(access.storage, True)
        place = <double *> r.data[access.storage] + access.element
        if not access.writes:
            place[0] += r.cotangent[i]
            r.cotangent[i] = 0.0
        else:
            if not access.constant:
                r.cotangent[access.value] += place[0]
            place[0] = 0.0
        return 0

    cdef object value(self, double *v, Arena arena=None):
        """The program's value, from the registers after a run."""
        cdef Found leaves
        if self.outputs.count == 1 and self.outputs.steps[0].kind == FLOAT and self.outputs.steps[0].id:
            return v[self.outputs.steps[0].id]
        leaves = Found.__new__(Found)
        leaves.v, leaves.arena = v, arena
        leaves.known = self.known
        return build(self.outputs, leaves)

    cdef object traced_value(self, double *v, Backpropagator back):
        """The value for the enclosing code: plain, or duals of an outer trace."""
        cdef Found leaves = Found.__new__(Found)
        leaves.v = v
        leaves.known = self.known
        leaves.tape = back.tape
        leaves.copies = copy_out(back.tape)
        return build(self.outputs if leaves.copies is None else back.result, leaves)


cdef inline bint same_bits(double a, double b) noexcept:
    return te_same_bits(a, b)


cdef Path path_of(Recording recording, bint shares):
    """The path that a recording took.

    Raises
    ------
    NotReplayable
        If the recording lacks something that the program did.
    """
    cdef Tape tape = recording.tape
    cdef Head *h = &tape.head
    cdef list noted = tape.noted
    cdef Py_ssize_t most = 2 * (h.count + h.guards.count + len(noted)) + 1, n = 0
    cdef Numbering numbering = Numbering.__new__(Numbering)
    cdef Path path = Path.__new__(Path)
    cdef uint32_t i = h.inputs + 1, stop
    cdef Py_ssize_t g = 0
    cdef bint selected, looks
    path.first = path.end = h.inputs + 1
    path.forks, path.calls = {}, []
    path.room(path.end + most, most)
    if tape.place_count or any([what[0] != TE_CALL for what in noted]):  # np.sum of a number has no array
        path.part = array_part(tape, recording.primals)
    numbering.path = path
    numbering.begin(tape)
    while i <= h.count:
        selected = False
        while True:
            looks = g < h.guards.count and h.guards.each[g].at == i
            if n < len(noted) and tape.noted_at[n].at <= i and (not looks or tape.noted_at[n].guards <= g):
                numbering.noted(tape.noted_at[n].at, noted[n], i)
                n += 1
            elif looks:
                selected = h.guards.each[g].kind >= TE_SELECTION
                if selected:
                    numbering.selection(i, &h.guards.each[g])
                else:
                    numbering.guard(&h.guards.each[g])
                g += 1
            else:
                break
        if i < h.count and not selected:
            numbering.operation(i, op_at(h, i), record_at(h, i))
        stop = min(h.count, h.guards.each[g].at) if g < h.guards.count else h.count
        i = numbering.numbers(h, i + 1, min(stop, tape.noted_at[n].at) if n < len(noted) else stop)
    path.fit()
    path.outputs = kept_layout(recording.outputs, numbering.registers)
    path.known = recording.constants
    if path.part is None:
        check_values(path, recording, numbering.registers)
    else:
        list_specials(path)
    return shared(path) if shares else path


cdef int list_specials(Path path) except -1:
    """List the registers of a path's array operations and element accesses, the last one first."""
    cdef ArrayPart part = path.part
    cdef uint32_t i
    part.specials = <uint32_t *> enlarged(NULL, path.end + 1, sizeof(uint32_t), "instructions")
    for i in range(path.end - 1, path.first - 1, -1):
        if path.op[i] == TE_ACCESS or path.op[i] == TE_STEP:
            part.specials[part.special_count] = i
            part.special_count += 1
    part.shared = shared_slots(path)
    return 0


cdef int check_values(Path path, Recording recording, uint32_t *registers) except -1:
    """Refuse a recording whose opcodes do not compute the same bits as the program."""
    cdef Head *h = &recording.tape.head
    cdef double *v = <double *> enlarged(NULL, path.end, sizeof(double), "registers")
    cdef uint32_t i = h.inputs + 1, stop
    try:
        recording.fill(v)
        if path.run(v, path.first) != path.end:
            raise NotThisRun("it has a value that is not finite")
        path.example = (<char *> (v + 1))[:h.inputs * sizeof(double)]
        while i < h.count:
            stop = min(h.count - 1, i | CHUNK_LAST) + 1
            if not te_have_values(v, registers, h.values[i >> CHUNK_SHIFT] - (i & ~<uint32_t> CHUNK_LAST), i, stop):
                raise NotReplayable("it computes values that no opcode explains")
            i = stop
    finally:
        free(v)
    return 0


cdef tuple written(Path path, double *v, list duals):
    """(tape, layout of the result): the records that the program would leave, made from the registers of a run."""
    cdef Tape tape = Tape.__new__(Tape)
    cdef Head *h = &tape.head
    cdef uint32_t *ids = <uint32_t *> zeros_for(path.end, sizeof(uint32_t), "instructions")
    cdef uint32_t i
    try:
        tape.open(2)
        if h.guards != NULL:
            h.guards.lost = b"it differentiates a staged program"
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
        return tape, kept_layout(path.outputs, ids)
    finally:
        tape.close()
        free(ids)


cdef uint32_t write(Head *h, int op, te_operands x, uint32_t *ids, double *v, double value) except 0:
    """Record one instruction of a path."""
    cdef int form = op_forms[op], code = op_codes[op]
    if op_selects[code]:
        return record_selection(h, code, 0 if form == CONSTANT_LEFT else ids[x.a],
                                0 if form == CONSTANT_RIGHT else ids[x.b], v[x.a], v[x.b], value)
    if op_arities[code] == 1:
        return record1(h, op, ids[x.a], partial_a(code, v[x.a], 0.0, value), 0.0, value)
    if form == CONSTANT_RIGHT:
        return record1(h, op, ids[x.a], partial_a(code, v[x.a], v[x.b], value), v[x.b], value)
    if form == CONSTANT_LEFT:
        return record1(h, op, ids[x.b], partial_b(code, v[x.a], v[x.b], value), v[x.a], value)
    return record2(
        h, op, ids[x.a], ids[x.b], partial_a(code, v[x.a], v[x.b], value), partial_b(code, v[x.a], v[x.b], value), value)


@cython.final
cdef class Found(Leaves):
    """The leaves of a value: registers, and constants of the recording."""

    cdef double *v
    cdef tuple known
    cdef Py_ssize_t taken
    cdef Arena arena
    cdef dict arrays        # copies of whole storages, so that results that share a storage still do
    cdef Tape tape          # set if the ids are those of a tape whose records are copied to an outer one
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
        value = self.known[len(self.known) - self.taken]
        return value.copy("K") if type(value) is array_class else value

    cdef object array(self, uint32_t storage, object view):
        cdef ArrayPart part
        if storage == CONSTANT_ARRAY:
            return numpy.array(view)
        part = self.arena.part
        if self.arrays is None:
            self.arrays = {}
        whole = self.arrays.get(storage)
        if whole is None:
            whole = self.arrays[storage] = self.arena.owners[part.slot(storage, part.epochs[storage])].copy()
        found = strided(<char *> PyArray_DATA(<ndarray> whole), <View> view, whole)
        return found[()] if (<View> view).number else found
