# Which array operations of a path a run needs: those that lead to its value or to a check, or that may raise an error.

@cython.final
cdef class Needs:
    """Walks a path from its end, and marks the registers and slots that are read."""

    cdef Path path
    cdef ArrayPart part
    cdef bytearray registers, slots

    cdef void register(self, uint32_t i) noexcept:
        if i:
            self.registers[i] = 1

    cdef int operand(self, Operand o) except -1:
        if o.view is not None:
            self.slots[self.part.slot(o.view.storage, o.epoch)] = 1
        else:
            self.register(o.id)
        return 0

    cdef int outputs(self) except -1:
        """Mark what the program's value consists of."""
        cdef Layout layout = self.path.outputs
        cdef Py_ssize_t i
        for i in self.path.outputs_at():
            self.registers[i] = 1
        for i in range(layout.count):
            if layout.steps[i].kind == ARRAY and layout.steps[i].n != CONSTANT_ARRAY:
                self.slots[self.part.slot(layout.steps[i].n, self.part.epochs[layout.steps[i].n])] = 1
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
        if what[0] == MOVED:
            self.slots[self.part.slot(what[1], what[2])] = 1
        for item in what:
            for o in item if type(item) is list else (item,):
                if type(o) is Operand:
                    self.operand(<Operand> o)
        return 0

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
    part.unneeded, part.settled, part.by_rows = set(), set(), set()
    needs.outputs()
    for i in range(path.end - 1, path.first - 1, -1):
        needs.instruction(i)
    written = {part.accesses[k].slot for k in range(part.access_count) if part.accesses[k].writes}
    for what, _ in part.steps:
        if what[0] == WRITTEN or what[0] == ADDED:
            written.add(part.slot((<Operand> what[1]).view.storage, (<Operand> what[1]).epoch))
    for k in range(len(part.steps)):
        what = part.steps[k][0]
        if what[0] == MADE and part.slot(what[1], 0) not in written:
            part.settled.add(k)
    return 0
