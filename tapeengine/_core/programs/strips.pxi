# Operations of a path on arrays with many rows, done a strip of rows at a time: see `strips.h` and `staged/strips.py`.

cdef extern from "strips.h" nogil:
    enum:
        TE_STRIP
    ctypedef struct te_strip:
        pass
    ctypedef struct te_column:
        pass
    ctypedef void (*te_strip_code)(char **arrays, int64_t row, int64_t rows)
    void te_run_strips(const te_strip *ops, Py_ssize_t count, const te_column *columns, char **arrays, double *registers,
                       int64_t row, int64_t rows)


@cython.final
@cython.no_gc
cdef class Strips:
    """Operations on columns of arrays.

    Parameters
    ----------
    rows : int
    ops, columns : bytes
        Of `te_strip` and `te_column`.
    arrays : list
        What the columns are part of: (slot,) for values, a storage for its cotangents, or an array of constants.
    constants : list
        The numbers in the first registers.
    registers : int
    begun, ended : list
        The storages whose cotangents get their first values, with whether as zeros, and those whose are used up.
    """

    cdef int64_t rows, native_rows
    cdef bytes ops, columns
    cdef list arrays, begun, ended
    cdef double *registers
    cdef char **places
    cdef te_strip_code code
    cdef object owner       # of native code

    def __init__(self, rows, bytes ops, bytes columns, list arrays, list constants, registers, list begun, list ended):
        cdef Py_ssize_t k, i
        self.rows, self.ops, self.columns, self.arrays = rows, ops, columns, arrays
        self.begun, self.ended = begun, ended
        self.registers = <double *> room_for(NULL, registers + 1, TE_STRIP * sizeof(double), "strips")
        self.places = <char **> room_for(NULL, len(arrays) + 1, sizeof(char *), "strips")
        for k in range(len(constants)):
            for i in range(TE_STRIP):
                self.registers[k * TE_STRIP + i] = constants[k]

    def __dealloc__(self):
        free(self.registers)
        free(self.places)

    def adopt(self, Py_ssize_t address, Py_ssize_t rows, owner):
        """Let native code do the first `rows` rows from now on."""
        self.code, self.native_rows, self.owner = <te_strip_code> <void *> address, rows, owner

    cdef int run(self, list owners, Reverse r) except -1:
        """Run on the values of slots, and on cotangents."""
        cdef Py_ssize_t k
        for k in range(PyList_GET_SIZE(self.arrays)):
            array = <object> PyList_GET_ITEM(self.arrays, k)
            if type(array) is int:
                self.places[k] = r.data[<uint32_t> array]
                continue
            self.places[k] = <char *> PyArray_DATA(<ndarray> (owners[array[0]] if type(array) is tuple else array))
        if self.code != NULL:
            self.code(self.places, 0, self.native_rows)
        te_run_strips(<te_strip *> <char *> self.ops, len(self.ops) // sizeof(te_strip), <te_column *> <char *> self.columns,
                      self.places, self.registers, self.native_rows, self.rows)
        return 0


@cython.final
@cython.no_gc
cdef class StripRecord(ArrayRecord):
    """Stands for the records of the operations: their reverse steps are done a strip at a time as well."""

    cdef list owners, storages
    cdef dict made          # which of the storages have cotangents -> Strips
    cdef object make

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        cdef Strips strips
        present = tuple([r.data[<uint32_t> storage] != NULL for storage in self.storages])
        strips = self.made.get(present)
        if strips is None:
            strips = self.made[present] = self.make(present)
        for storage, zero in strips.begun:
            r.allocate(storage, zero)
        strips.run(self.owners, r)
        for storage in strips.ended:
            r.drop(storage)
        return 0


@cython.final
@cython.no_gc
cdef class Stripping(Action):
    """Operations on columns."""

    cdef Strips strips
    cdef list owners

    cdef bint run(self, double *v) except -1:
        self.strips.run(self.owners, None)
        return True


cdef Action stripping(Arena arena, tuple group):
    """The operations of a group, at the place of its last one; nothing (group None) at those of the others."""
    if group is None:
        return Skipping.__new__(Skipping)
    return group_of_strips(arena, group)


cdef Action group_of_strips(Arena arena, tuple group):
    cdef Stripping step = Stripping.__new__(Stripping)
    cdef StripRecord record = StripRecord.__new__(StripRecord)
    step.strips, record.storages, record.made, record.make, _ = group
    step.owners = record.owners = arena.owners
    step.record = record
    return step


# -- what the operations of a path read and make, for `staged/strips.py` -----------------------------------------------
def array_steps(Path path):
    """(operations in their order, slots of the value, (storage, number of doubles) of each slot).

    An operation is (its number, ufunc or primitive, output, shape, operands, options, slots that it reads, that it
    makes, that it writes into), with None in place of the function if it is none that works on columns.
    """
    cdef ArrayPart part = path.part
    cdef Layout layout = path.outputs
    cdef Needs needs = Needs.__new__(Needs)
    cdef list found = []
    cdef uint32_t i, storage
    cdef Py_ssize_t k
    for i in range(path.first, path.end):
        if path.op[i] == TE_ACCESS:
            slots = [part.accesses[path.operands[i].a].slot]
            writes = part.accesses[path.operands[i].a].writes
            found.append((-1, None, -1, (), [], {}, [] if writes else slots, [], slots if writes else []))
        elif path.op[i] == TE_STEP and path.operands[i].a not in part.unneeded and path.operands[i].a not in part.settled:
            found.append(step_described(part, path.operands[i].a))
    outputs = [part.slot(layout.steps[k].n, part.epochs[layout.steps[k].n]) for k in range(layout.count)
               if layout.steps[k].kind == ARRAY and layout.steps[k].n != CONSTANT_ARRAY]
    sizes = [(storage, part.places.places[storage].size if part.places.places[storage].type == NPY_DOUBLE else 0)
             for storage in part.storages]
    return found, outputs, sizes


cdef tuple step_described(ArrayPart part, Py_ssize_t k):
    cdef list reads = [], makes = [], writes = []
    what = part.steps[k][0]
    for item in what:
        for o in item if type(item) is list else (item,):
            if type(o) is Operand and (<Operand> o).view is not None:
                reads.append(part.slot((<Operand> o).view.storage, (<Operand> o).epoch))
    if what[0] == MOVED:
        reads.append(part.slot(what[1], what[2]))
        makes.append(part.slot(what[1], what[2] + 1))
    elif what[0] == MADE:
        makes.append(part.slot(what[1], 0))
    elif what[0] == WRITTEN or what[0] == ADDED:
        writes.append(reads[0])
    elif what[0] != LOOKED:
        places_made(part, record_writes(what[len(what) - 1]), makes)
    return (k, *function_described(part, what), reads, makes, writes)


cdef list record_writes(ArrayRecord record):
    return record.writes()


cdef int places_made(ArrayPart part, list places, list slots) except -1:
    for place in places:
        if type(place) is View:
            slots.append(part.slot((<View> place).storage, 0))
    return 0


cdef tuple function_described(ArrayPart part, tuple what):
    """(function, output, shape, operands, options); no function if the operation cannot work on columns."""
    cdef ElementwiseRecord e
    cdef SumRecord s
    cdef ReadRecord copied
    cdef PrimitiveRecord called
    cdef View out = None
    cdef object options = {}, function = None
    cdef list operands = []
    if what[0] == COMPUTED:
        e = what[4]
        shape = tuple([e.dims[k] for k in range(e.axes)])
        operands = [elementwise_operand(part, what[2], &e.a, e.axes, e.dims)]
        if what[3] is not None:
            operands.append(elementwise_operand(part, what[3], &e.b, e.axes, e.dims))
        return op_names[e.op].decode(), part.slot(e.result, 0), shape, operands, options
    if what[0] == SUMMED:
        s = what[2]
        function, out, options = "sum", s.result, {"axis": s.axis, "divisor": s.divisor}
        operands = [view_operand(part, what[1], True)]
    elif what[0] == COPIED_PART:
        copied = what[3]
        function, out, options = "take", copied.result, {"index": what[2]}
        operands = [view_operand(part, what[1], True)]
    elif what[0] == CALLED:
        called = what[5]
        function, options = what[1], what[3]
        out = called.output if type(called.output) is View else None
        operands = [view_operand(part, o, any([k == i for i, _ in called.inputs])) for k, o in enumerate(what[2])]
    if out is None or not out.whole or out.type != NPY_DOUBLE:
        return None, -1, (), [], options
    return function, part.slot(out.storage, 0), out.shape, operands, options


cdef object elementwise_operand(ArrayPart part, Operand o, Elementwise *kept, int axes, Py_ssize_t *dims):
    """An operand broadcast to the shape of the result; see `view_operand`."""
    cdef View view = o.view
    if view is None and not o.id:
        if type(o.constant) is not ndarray:
            return kept.constant
        return array_over(<char *> PyArray_DATA(<ndarray> o.constant), axes, <cnp.npy_intp *> dims,
                          <cnp.npy_intp *> kept.strides, NPY_DOUBLE, o.constant)
    if o.id or o.written or o.python or view.imaginary:
        return None
    return (part.slot(view.storage, o.epoch), kept.source == ARRAY_VIEW, view.offset, tuple([dims[k] for k in range(axes)]),
            tuple([kept.strides[k] for k in range(axes)]), kept.whole)


cdef object view_operand(ArrayPart part, Operand o, bint active):
    """(slot, whether it has a derivative, offset, shape, strides, whether it is whole), a constant, or None."""
    cdef View view = o.view
    if view is None:
        return None if o.id else o.constant
    if o.written or o.python or view.imaginary or view.type != NPY_DOUBLE:
        return None
    return (part.slot(view.storage, o.epoch), active, view.offset, view.shape,
            tuple([view.dims[view.ndim + k] for k in range(view.ndim)]), view.whole)


def fuse(Path path, dict groups, set inner):
    """Do operations of a path a strip at a time from now on.

    Parameters
    ----------
    groups : dict
        The numbers of the operations. With the last one of each group: its `Strips`, the storages that it works on, a
        dict, and the function that makes the `Strips` of the reverse pass, which the dict keeps.
    inner : set of int
        The slots of which only strips exist.
    """
    cdef ArrayPart part = path.part
    touched = inner.union(*[group[4] for group in groups.values() if group is not None])
    part.shared = {k: first for k, first in part.shared.items() if k not in touched and first not in touched}
    part.fused, part.inner = groups, inner
    part.spare = []
