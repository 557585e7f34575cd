# Operations of a path on arrays with many rows, done a strip of rows at a time: see `strips.h` and `staged/strips.py`.

cdef extern from "strips.h" nogil:
    enum:
        TE_STRIP
    ctypedef void (*te_strip_code)(char **arrays, int64_t row, int64_t rows)
    void te_run_strips(const void *ops, Py_ssize_t count, const void *columns, char **arrays, void *registers,
                       int64_t row, int64_t rows)

STRIP = TE_STRIP


@cython.final
@cython.no_gc
cdef class Strips:
    """Operations on columns of arrays."""

    cdef ndarray ops, columns   # of `te_strip` and `te_column`
    cdef ndarray registers      # the first ones have constants
    cdef ndarray places         # the addresses of the arrays
    cdef list arrays            # (slot,) for values, a storage for its cotangents, or an array of constants
    cdef int64_t rows, native   # the first rows are done by native code
    cdef te_strip_code code
    cdef list begun, zeroed     # storages whose cotangents get their first values
    cdef list ended             # and those whose are used up
    cdef object owner           # of native code

    def __init__(self, tuple made):
        self.ops, self.columns, self.registers, self.places = made[0], made[1], made[2], made[3]
        self.arrays, self.begun, self.zeroed, self.ended = made[4], made[5], made[6], made[7]
        self.rows, self.native, self.owner = made[8], made[9], made[11]
        self.code = <te_strip_code> <void *> <Py_ssize_t> made[10]

    cdef int run(self, list owners, Reverse r) except -1:
        """Run on the values of slots, and on cotangents."""
        cdef char **places = <char **> PyArray_DATA(self.places)
        cdef Py_ssize_t k
        for k in range(PyList_GET_SIZE(self.arrays)):
            array = self.arrays[k]
            if type(array) is int:
                places[k] = r.data[<uint32_t> array]
            else:
                places[k] = <char *> PyArray_DATA(<ndarray> (owners[array[0]] if type(array) is tuple else array))
        if self.native:
            self.code(places, 0, self.native)
        te_run_strips(PyArray_DATA(self.ops), PyArray_DIMS(self.ops)[0], PyArray_DATA(self.columns), places,
                      PyArray_DATA(self.registers), self.native, self.rows)
        return 0


@cython.final
@cython.no_gc
cdef class StripRecord(ArrayRecord):
    """Stands for the records of the operations: their reverse steps are done a strip at a time as well."""

    cdef list owners
    cdef tuple group        # see `fuse`

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        cdef Strips strips
        present = tuple([r.data[<uint32_t> storage] != NULL for storage in <list> self.group[1]])
        strips = (<dict> self.group[2]).get(present)
        if strips is None:
            strips = (<dict> self.group[2])[present] = self.group[3](present)
        for storage in strips.begun:
            r.allocate(storage, False)
        for storage in strips.zeroed:
            r.allocate(storage, True)
        strips.run(self.owners, r)
        for storage in strips.ended:
            r.drop(storage)
        return 0


@cython.final
@cython.no_gc
cdef class Stripping(Action):
    """Operations on columns, at the place of the last one."""

    cdef bint run(self, double *v) except -1:
        (<Strips> (<StripRecord> self.record).group[0]).run((<StripRecord> self.record).owners, None)
        return True


cdef Action stripping(Arena arena, tuple group):
    cdef Stripping step = Stripping.__new__(Stripping)
    cdef StripRecord record = StripRecord.__new__(StripRecord)
    if group is None:   # what an operation before the last one does is done there
        return Skipping.__new__(Skipping)
    record.owners, record.group = arena.owners, group
    step.record = record
    return step


def fuse(Path path, dict groups, set inner, set touched):
    # Do operations of a path a strip at a time from now on: `groups` has their numbers, with the last one of a group its
    # `Strips`, the storages whose cotangents it reads or changes, and a dict of the `Strips` of the reverse pass by which
    # of these have cotangents, with the function that makes them. Of the slots in `inner` only strips exist; no slot
    # that is touched shares its buffer.
    cdef ArrayPart part = path.part
    part.shared = {k: first for k, first in part.shared.items() if k not in touched and first not in touched}
    part.fused, part.inner, part.spare = groups, inner, []


def array_notes(Path path):
    # The steps of a path, its slots by storage and epoch, what a run leaves out, the storages of its value with their
    # epochs, the number of doubles in each storage, the storage of each slot, and (slot, whether it is written) of accesses.
    cdef ArrayPart part = path.part
    cdef Layout layout = path.outputs
    cdef Py_ssize_t k
    return (part.steps, part.numbers, part.unneeded | part.settled,
            [layout.steps[k].n for k in range(layout.count) if layout.steps[k].kind == ARRAY], part.epochs,
            [part.places.places[k].size * (part.places.places[k].type == NPY_DOUBLE)
             for k in range(part.places.place_count)],
            part.storages, [(part.accesses[k].slot, part.accesses[k].writes) for k in range(part.access_count)])


def parts_of(x):
    # The attributes of a view, of an operand, or of a record.
    cdef View v
    cdef Operand o
    cdef ArrayRecord record
    if type(x) is View:
        v = x
        return (v.storage, v.offset, v.shape, tuple([v.dims[v.ndim + k] for k in range(v.ndim)]), v.whole,
                v.type == NPY_DOUBLE and not v.imaginary)
    if type(x) is Operand:
        o = x
        return o.view, o.epoch, o.written or o.python, o.id, o.constant
    record = x
    divisor = (<SumRecord> record).divisor if type(x) is SumRecord else 0.0
    return record.reads(), record.writes(), divisor
