# Which array operations of a path a run needs: those that lead to its value or to a check, or that may raise an error.
# And which buffers: values that only elementwise operations read, and no record keeps, leave theirs to later operations.

@cython.final
cdef class Needs:
    """Walks a path from its end, and marks the registers and slots that are read."""

    cdef Path path
    cdef ArrayPart part
    cdef bytearray registers, slots
    cdef bytearray kept         # slots that more than elementwise operations read
    cdef dict last_reads        # number of an operation -> slots that no later one reads

    cdef void register(self, uint32_t i) noexcept:
        if i:
            self.registers[i] = 1

    cdef int operand(self, object o) except -1:
        if type(o) is View:
            self.keep(self.part.slot((<View> o).storage, (<View> o).epoch))
        elif type(o) is Operand:
            self.register((<Operand> o).id)
        return 0

    cdef int keep(self, uint32_t slot) except -1:
        self.slots[slot] = self.kept[slot] = 1
        return 0

    cdef int outputs(self) except -1:
        """Mark what the program's value consists of."""
        cdef Layout layout = self.path.outputs
        cdef Py_ssize_t i
        for i in self.path.outputs_at():
            self.registers[i] = 1
        for i in range(layout.count):
            if layout.steps[i].kind == ARRAY and layout.steps[i].n != CONSTANT_ARRAY:
                self.keep(self.part.slot(layout.steps[i].n, self.part.epochs[layout.steps[i].n]))
        return 0

    cdef int instruction(self, uint32_t i) except -1:
        """Mark what an instruction reads, if it is needed."""
        cdef int op = self.path.op[i]
        cdef te_operands x = self.path.operands[i]
        if op == TE_STEP:
            return self.step(x.a, i)
        if op == TE_ACCESS:
            return self.access(&self.part.accesses[x.a], i)
        if op == TE_CALL:
            for place in self.path.calls[x.a][1]:
                if type(place) is FromRegister:
                    self.register((<FromRegister> place).number)
        elif op > TE_CONSTANT or op < TE_CONSTANT and (self.registers[i] or not te_total(op_codes[op])):
            self.register(x.a)
            if op < TE_TRUNC and (op > TE_CONSTANT or op_arities[op_codes[op]] == 2):
                self.register(x.b)
        return 0

    cdef int access(self, Access *access, uint32_t i) except -1:
        self.kept[access.slot] = 1
        if not access.writes:
            if self.registers[i]:
                self.slots[access.slot] = 1
        elif self.slots[access.slot]:
            self.register(access.value)
        return 0

    cdef int step(self, uint32_t k, uint32_t i) except -1:
        what = self.part.steps[k][0]
        if is_pure(what) and not self.registers[i] and not any([self.slots[s] for s in self.made(what)]):
            self.part.unneeded.add(k)
            return 0
        if what[0] == COMPUTED:
            return self.computed(k, what[2], what[3], what[4])
        if what[0] == MOVED:
            self.keep(self.part.slot(what[1], what[2]))
        for item in what:
            for o in item if type(item) is list else (item,):
                self.operand(o)
        return 0

    cdef int computed(self, uint32_t k, object a, object b, ElementwiseRecord record) except -1:
        """Mark the operands of an elementwise operation, which reads them last if nothing has marked them."""
        if record.v != NULL:
            self.kept[self.part.slot(record.result, 0)] = 1
        self.last_reads[k] = []
        self.read(k, a, record.a.values.data != NULL)
        if b is not None:
            self.read(k, b, record.b.values.data != NULL)
        return 0

    cdef int read(self, uint32_t k, object o, bint keeps) except -1:
        cdef uint32_t slot
        if type(o) is Operand:
            return self.operand(o)
        slot = self.part.slot((<View> o).storage, (<View> o).epoch)
        if not self.slots[slot]:
            self.last_reads[k].append(slot)
        self.slots[slot] = 1
        self.kept[slot] |= keeps
        return 0

    cdef dict shared(self):
        """The slots that take the buffer of an earlier one, with that slot."""
        cdef dict found = {}, free = {}     # number of elements -> slots with buffers that nothing reads any longer
        cdef list spare
        cdef Py_ssize_t k
        mine = set()
        for k in sorted(self.last_reads):
            slot = self.part.slot((<ElementwiseRecord> self.part.steps[k][0][4]).result, 0)
            if not self.kept[slot]:
                mine.add(slot)
                spare = free.get(self.size(slot))
                if spare:
                    found[slot] = spare.pop()
            for slot in self.last_reads[k]:
                if slot in mine and not self.kept[slot]:
                    free.setdefault(self.size(slot), []).append(found.get(slot, slot))
        return found

    cdef Py_ssize_t size(self, uint32_t slot):
        return self.part.places.places[<uint32_t> self.part.storages[slot]].size

    cdef list made(self, tuple what):
        """The slots that an operation fills."""
        if what[0] == MOVED:
            return [self.part.slot(what[1], what[2] + 1)]
        if what[0] == MADE:
            return [self.part.slot(what[1], 0)]
        if what[0] == COMPUTED:
            return [self.part.slot((<ElementwiseRecord> what[4]).result, 0)]
        if what[0] == SUMMED:
            return self.of_place((<SumRecord> what[2]).result)
        if what[0] == MULTIPLIED:
            return self.of_place((<ProductRecord> what[2]).result)
        return self.of_place((<ReadRecord> what[3]).result if what[0] == COPIED_PART else (<PrimitiveRecord> what[5]).output)

    cdef list of_place(self, object place):
        return [self.part.slot((<View> place).storage, 0)] if type(place) is View else []


cdef bint is_pure(tuple what) except -1:
    """Whether an operation only fills what it makes, and cannot raise an error."""
    if what[0] == CALLED:
        return isinstance(what[1].primal, ufunc_class) and what[1].primal.nout == 1
    return what[0] in (MADE, MOVED, COMPUTED, SUMMED, MULTIPLIED, COPIED_PART)


cdef int find_needed(Path path) except -1:
    """Find the operations that no run needs to do, and those that one run does for all: arrays of constants."""
    cdef ArrayPart part = path.part
    cdef Needs needs = Needs.__new__(Needs)
    cdef uint32_t i
    cdef Py_ssize_t k
    needs.path, needs.part = path, part
    needs.registers, needs.slots = bytearray(path.end), bytearray(len(part.storages))
    needs.kept, needs.last_reads = bytearray(len(part.storages)), {}
    part.unneeded, part.settled = set(), set()
    needs.outputs()
    for i in range(path.end - 1, path.first - 1, -1):
        needs.instruction(i)
    written = {part.accesses[k].slot for k in range(part.access_count) if part.accesses[k].writes}
    for what, _ in part.steps:
        if what[0] == WRITTEN or what[0] == ADDED:
            written.add(part.slot((<View> what[1]).storage, (<View> what[1]).epoch))
    for k in range(len(part.steps)):
        what = part.steps[k][0]
        if what[0] == MADE and part.slot(what[1], 0) not in written:
            part.settled.add(k)
    part.shared = needs.shared()
    return 0
