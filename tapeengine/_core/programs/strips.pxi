# Operations of a path on arrays with many rows, done by native code for some rows at a time: see `staged/strips.py`.

ctypedef void (*StripCode)(char **arrays, int64_t row, int64_t rows)

cdef enum:      # operations on columns are a tuple of
    ARRAYS      # (slot,) for values, a storage for its cotangents, or an array of constants
    PLACES      # room for their addresses
    ROWS
    BEGUN       # the storages whose cotangents get their first values
    ZEROED      # those of them that begin with zeros
    ENDED       # the storages whose cotangents are used up
    CODE        # the address of the native code
                # and what keeps it


cdef int run_strips(tuple made, list owners, Reverse r) except -1:
    """Do operations on columns; `owners` has the values of slots."""
    cdef char **places = <char **> PyArray_DATA(<ndarray> made[PLACES])
    cdef Py_ssize_t k
    for k in range(PyList_GET_SIZE(<list> made[ARRAYS])):
        array = (<list> made[ARRAYS])[k]
        if type(array) is int:
            places[k] = r.data[<uint32_t> array]
        else:
            places[k] = <char *> PyArray_DATA(<ndarray> (owners[array[0]] if type(array) is tuple else array))
    (<StripCode> <void *> <Py_ssize_t> made[CODE])(places, 0, made[ROWS])
    return 0


@cython.final
@cython.no_gc
cdef class StripRecord(ArrayRecord):
    """Stands for the records of a group: their reverse steps are done a strip at a time as well."""

    cdef list owners
    cdef tuple group        # see `adopt_strips`

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        present = tuple([r.data[<uint32_t> storage] != NULL for storage in <list> self.group[1]])
        if present not in <dict> self.group[2]:
            (<dict> self.group[2])[present] = self.group[3](present)
        made = (<dict> self.group[2])[present]
        if made is None:
            return 1
        for storage in <list> (<tuple> made)[BEGUN]:
            r.allocate(storage, storage in <list> (<tuple> made)[ZEROED])
        run_strips(made, self.owners, r)
        for storage in <list> (<tuple> made)[ENDED]:
            r.drop(storage)
        return 0


@cython.final
@cython.no_gc
cdef class Stripping(Action):
    """The operations of a group, at the place of the last one."""

    cdef bint run(self, double *v) except -1:
        run_strips((<StripRecord> self.record).group[0], (<StripRecord> self.record).owners, None)
        return True


cdef Action stripping(Arena arena, tuple group):
    cdef Stripping step = Stripping.__new__(Stripping)
    cdef StripRecord record = StripRecord.__new__(StripRecord)
    if group is None:   # what an operation before the last one does is done there
        return Skipping.__new__(Skipping)
    record.owners, record.group = arena.owners, group
    step.record = record
    return step


cdef int without_strips(Arena arena) except -1:
    """Do the operations of strips one by one from now on, and those of this run now, for their values."""
    cdef ArrayPart part = arena.part
    cdef Place *place
    cdef Py_ssize_t k
    for k in range(len(part.storages)):
        place = &part.places.places[<uint32_t> part.storages[k]]
        if PyArray_SIZE(<ndarray> arena.owners[k]) != place.size:
            arena.owners[k] = PyArray_ZEROS(1, <cnp.npy_intp *> &place.size, place.type, 0)
            arena.data[k] = <char *> PyArray_DATA(<ndarray> arena.owners[k])
    for k in sorted(arena.fused):
        what, register = part.steps[k]
        arena.steps[k] = new_step(arena, what, <uint32_t> register)
        (<Action> arena.steps[k]).run(arena.v)
    if part.fused is arena.fused:
        part.fused, part.inner, part.spare, part.pool = {}, set(), [], {}
    arena.fused = part.fused
    return 0


def adopt_strips(tuple made) -> None:
    # Do operations of a path in strips from now on: (path, groups, slots of which only strips exist, slots that
    # share buffers). The groups have the numbers of their operations, with the last one: the operations on columns; the
    # storages whose cotangents they read or change; a dict of those of the reverse pass by which of these have
    # cotangents; the function that makes them, or returns None if native code cannot be made.
    cdef ArrayPart part = (<Path> made[0]).part
    part.fused, part.inner, part.shared, part.spare, part.pool = made[1], made[2], made[3], [], {}


def array_notes(Path path) -> tuple[Any, ...]:
    # The steps of a path, its slots by storage and epoch, the storages of its value with their
    # epochs, the number of doubles in each storage, the storage of each slot, the accesses as (slot, whether it is
    # written, element, register), and the slots that share buffers.
    cdef ArrayPart part = path.part
    cdef Layout layout = path.outputs
    cdef Py_ssize_t k
    return (part.steps, part.numbers,
            [layout.steps[k].n for k in range(layout.count) if layout.steps[k].kind == ARRAY], part.epochs,
            [part.places.places[k].size * (part.places.places[k].type == NPY_DOUBLE)
             for k in range(part.places.place_count)],
            part.storages,
            [(part.accesses[k].slot, part.accesses[k].writes, part.accesses[k].element, part.accesses[k].value)
             for k in range(part.access_count)],
            part.shared)


def parts_of(x) -> tuple[Any, ...]:
    # The attributes of a view, of an operand, or of a record.
    cdef View v
    cdef ArrayRecord record
    if type(x) is View:
        v = x
        return (v.storage, v.offset, v.shape, tuple([v.dims[v.ndim + k] for k in range(v.ndim)]), v.whole,
                v.type == NPY_DOUBLE and not v.imaginary, v.number, v.epoch, v.written or v.python)
    if type(x) is Operand:
        return (<Operand> x).id, (<Operand> x).constant
    record = x
    divisor = (<SumRecord> record).divisor if type(x) is SumRecord else 0.0
    return record.reads(), record.writes(), divisor, record.detail()
