# The array operations of a path: the notes of a recording, and the buffers on which a run repeats the operations.

cdef enum:
    MOST_SPARE = 2          # the number of buffers of finished runs that are kept for later ones
    POOLED = 1 << 10        # the smallest number of elements of a cotangent's buffer that is kept
    MOST_POOLED = 8         # the number of such buffers of one size


@cython.final
cdef class ArrayPart:
    """The arrays of a path: one slot for the values of each storage and epoch (the time between copies of it)."""

    cdef Tape places            # the sizes of the storages
    cdef dict numbers           # storage << 32 | epoch -> slot
    cdef list storages          # of each slot
    cdef list steps             # (note, register)
    cdef Access *accesses
    cdef Py_ssize_t access_count, access_room
    cdef uint32_t *specials     # registers of steps and accesses, the last one first
    cdef Py_ssize_t special_count
    cdef dict inputs            # storage -> View
    cdef dict epochs            # of each storage, at the end
    cdef dict shared            # slot -> an earlier one, whose buffer it takes, see `shared_slots`
    cdef list spare             # buffers of finished runs
    cdef dict pool              # buffers of cotangents, see `PooledReverse`
    cdef dict fused             # numbers of the steps that are done in strips, see `adopt_strips`
    cdef set inner              # slots of which only strips exist
    cdef bint writes_inputs

    def __dealloc__(self):
        free(self.accesses)
        free(self.specials)

    cdef uint32_t slot(self, uint32_t storage, uint32_t epoch) except? 0xFFFFFFFF:
        """The slot of a storage; made when an operation first gives it values."""
        cdef PyObject *found = PyDict_GetItemWithError(self.numbers, <uint64_t> storage << 32 | epoch)
        if found == NULL:
            raise NotReplayable("it calls a function with a derivative of its own, or a custom one")
        return <object> found

    cdef int make(self, uint32_t storage, uint32_t epoch) except -1:
        key = <uint64_t> storage << 32 | epoch
        if key not in self.numbers:
            self.numbers[key] = len(self.storages)
            self.storages.append(storage)
        self.epochs[storage] = epoch
        return 0

    cdef int access(self, uint32_t storage, Py_ssize_t element, uint32_t value, bint writes, bint constant) except -1:
        if self.access_count == self.access_room:
            self.access_room = 2 * self.access_room + 16
            self.accesses = <Access *> enlarged(self.accesses, self.access_room, sizeof(Access), "accesses to elements")
        self.accesses[self.access_count] = Access(
            self.slot(storage, self.epochs.get(storage, 0)), storage, value, writes, constant, element)
        self.access_count += 1
        self.writes_inputs = self.writes_inputs or writes and storage in self.inputs
        return 0

    cdef Arena arena(self, Path path):
        """Return buffers for a run."""
        return self.spare.pop() if self.spare else new_arena(self, path)


@cython.final
cdef class Arena:
    """The buffers of one run, and its steps, which hold the addresses of their operands in these buffers."""

    cdef ArrayPart part
    cdef double *v
    cdef char **data        # of each slot
    cdef list owners
    cdef list steps
    cdef list small         # buffers of cotangents, see `PooledReverse`
    cdef dict inputs        # storage -> array
    cdef dict fused         # see `ArrayPart`
    cdef Path path

    cdef int release(self) except -1:
        """Return the buffers for later runs, unless these need others or the collector has cleared what keeps them."""
        cdef ArrayPart part = self.part
        if part is not None and part.spare is not None and len(part.spare) < MOST_SPARE and self.fused is part.fused:
            part.spare.append(self)
        return 0

    def __dealloc__(self):
        free(self.v)
        free(self.data)

    cdef ndarray shown(self, View view, uint32_t epoch):
        """A view of a storage's values."""
        cdef uint32_t k = self.part.slot(view.storage, epoch)
        return strided(self.data[k], view, self.owners[k])

    cdef object operand(self, object o):
        """An operand of an operation: an array of this run, a scalar's register, or a constant."""
        if type(o) is View:
            shown = self.shown(<View> o, (<View> o).epoch)
            return FromRegister(0, place=shown) if (<View> o).python else shown
        return FromRegister((<Operand> o).id) if (<Operand> o).id else (<Operand> o).constant


@cython.final
cdef class FromRegister:
    """Stands for an operand that is a scalar in a register."""

    cdef uint32_t number
    cdef bint double        # whether it is a numpy.float64
    cdef object place       # the array without axes that holds it, if it is a complex number of Python

    def __init__(self, uint32_t number, bint double=False, place=None):
        self.number, self.double, self.place = number, double, place


cdef object number_of(object place, double *v):
    """The present number of an operand; arrays and constants are themselves."""
    if type(place) is not FromRegister:
        return place
    if (<FromRegister> place).place is not None:
        return (<FromRegister> place).place.item()
    number = v[(<FromRegister> place).number]
    return numpy.float64(number) if (<FromRegister> place).double else number


cdef Arena new_arena(ArrayPart part, Path path):
    cdef Arena arena = Arena.__new__(Arena)
    cdef ndarray owner
    cdef cnp.npy_intp none = 0
    cdef Py_ssize_t k
    cdef Place *place
    arena.part, arena.path, arena.fused = part, path, part.fused
    arena.v = <double *> enlarged(NULL, path.end, sizeof(double), "registers")
    arena.data = <char **> enlarged(NULL, len(part.storages), sizeof(char *), "arrays")
    arena.owners, arena.small = [], [None] * part.places.place_count
    for k in range(len(part.storages)):
        place = &part.places.places[<uint32_t> part.storages[k]]
        owner = (<ndarray> arena.owners[part.shared[k]] if k in part.shared
                 else PyArray_ZEROS(1, &none if k in part.inner else <cnp.npy_intp *> &place.size, place.type, 0))
        arena.owners.append(owner)
        arena.data[k] = <char *> PyArray_DATA(owner)
    arena.inputs = {storage: arena.shown(<View> view, 0) for storage, view in part.inputs.items()}
    arena.steps = [
        stripping(arena, part.fused[k]) if k in part.fused else new_step(arena, what, <uint32_t> register)
        for k, (what, register) in enumerate(part.steps)]
    return arena


@cython.final
cdef class PooledReverse(Reverse):
    """The accumulation of a replay, in buffers of earlier replays that nothing else refers to."""

    cdef dict pool          # (size, type) -> arrays
    cdef list small         # the last buffer of each storage with fewer elements, which stays its own
    cdef object resolved    # the last dropped buffer, which its record may still read

    cdef int allocate(self, uint32_t storage, bint zero) except -1:
        cdef Place *place = &self.tape.places[storage]
        cdef list spare
        cdef object owner
        if place.size < POOLED:
            owner = self.small[storage]
            if Py_REFCNT(owner) > 2 or owner is None:   # the list has one reference, this function the other
                Reverse.allocate(self, storage, zero)
                self.small[storage] = self.owners[storage]
                return 0
        else:
            self.collect()
            spare = self.pool.get((place.size, place.type))
            if not spare:
                return Reverse.allocate(self, storage, zero)
            owner = spare.pop()
        self.owners[storage], self.data[storage] = owner, <char *> PyArray_DATA(<ndarray> owner)
        if zero:
            memset(self.data[storage], 0, place.size * place.width)
        return 0

    cdef int drop(self, uint32_t storage) except -1:
        if self.tape.places[storage].size >= POOLED:
            self.collect()
            self.resolved = self.owners[storage]
        return Reverse.drop(self, storage)

    cdef int collect(self) except -1:
        """Keep the dropped buffer for later use, if nothing else refers to it."""
        cdef list spare
        owner, self.resolved = self.resolved, None
        if is_free(owner):
            spare = self.pool.setdefault((PyArray_SIZE(<ndarray> owner), PyArray_TYPE(<ndarray> owner)), [])
            if len(spare) < MOST_POOLED:
                spare.append(owner)
        return 0


cdef bint is_free(object owner) noexcept:
    """Whether nothing else refers to an array, so that it can be a buffer again."""
    return (type(owner) is ndarray and Py_REFCNT(owner) == 1 and PyArray_ISNOTSWAPPED(<ndarray> owner)
            and PyArray_CHKFLAGS(<ndarray> owner, NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_WRITEABLE | NPY_ARRAY_OWNDATA))


cdef int copy_into(ndarray target, ndarray values) except -1:
    """Copy numbers; as bytes where both arrays have them in the same order, which numpy takes longer to find out."""
    if (PyArray_TYPE(target) == PyArray_TYPE(values) and PyArray_TYPE(target) < NPY_OBJECT and PyArray_ISNOTSWAPPED(values)
            and PyArray_IS_C_CONTIGUOUS(target) and PyArray_IS_C_CONTIGUOUS(values)
            and PyArray_NBYTES(target) == PyArray_NBYTES(values)):
        memcpy(PyArray_DATA(target), PyArray_DATA(values), PyArray_NBYTES(values))
        return 0
    return PyArray_CopyInto(target, values)


# -- steps -------------------------------------------------------------------------------------------------------------
cdef class Action:
    """An operation of a run. Its record is None if no derivative depends on it."""

    cdef ArrayRecord record
    cdef list copies        # (array, operand): copies that the record keeps of operands that change later

    cdef bint run(self, double *v) except -1:
        """Repeat the operation; return False if the program would take another path."""
        raise NotImplementedError

    cdef int keep_copies(self) except -1:
        if self.copies is not None:
            for kept, values in self.copies:
                copy_into(<ndarray> kept, <ndarray> values)
        return 0

    cdef object kept(self, object values, object o):
        """The value that a rule keeps of an operand: the array, or a copy if its storage had been written to."""
        if type(o) is not View or (<View> o).python or not (<View> o).written:
            return values
        kept = numpy.empty(values.shape, values.dtype)
        if self.copies is None:
            self.copies = []
        self.copies.append((kept, values))
        return kept


@cython.final
@cython.no_gc
cdef class Skipping(Action):
    """Nothing."""

    cdef bint run(self, double *v) except -1:
        return True


cdef Action new_step(Arena arena, tuple what, uint32_t register):
    cdef int kind = what[0]
    if kind == COMPUTED:
        return computing(arena, what[1], what[2], what[3], what[4])
    if kind == CALLED:
        return calling(arena, what, register)
    if kind == SUMMED:
        return summing(arena, what[1], what[2], register)
    if kind == MULTIPLIED:
        return multiplying(arena, what[1], what[2], register)
    if kind == COPIED_PART:
        return copying_part(arena, what[1], what[2], what[3])
    if kind == WRITTEN:
        return writing(arena, what)
    if kind == ADDED:
        return adding(arena, what)
    if kind == LOOKED:
        return looking(arena, what)
    if kind == RULED:
        return ruling(arena, what, register)
    return filling(arena, what)


@cython.final
@cython.no_gc
cdef class Computing(Action):
    """An elementwise kernel."""

    cdef object function
    cdef int op, loop, arguments, axes
    cdef bint empty
    cdef Py_ssize_t dims[4]
    cdef te_operand a, b
    cdef double *out

    cdef bint run(self, double *v) except -1:
        if not self.empty:
            compute_doubles(self.op, self.function, self.loop, self.arguments, self.axes, self.dims, &self.a, &self.b,
                            self.out)
        self.keep_copies()
        return True


cdef Action computing(Arena arena, object function, object a, object b, ElementwiseRecord noted):
    cdef Computing step = Computing.__new__(Computing)
    cdef ElementwiseRecord record = ElementwiseRecord.__new__(ElementwiseRecord)
    cdef uint32_t k
    cdef int axis
    step.function, step.arguments = function, 2 if b is None else 3
    step.loop = loop_of_doubles(function, step.arguments)
    step.op, step.axes, step.dims = noted.op, noted.axes, noted.dims
    for axis in range(noted.axes):
        step.empty = step.empty or noted.dims[axis] == 0
    record.op, record.axes, record.result, record.dims = noted.op, noted.axes, noted.result, noted.dims
    record.a, record.b = noted.a, noted.b
    step.record = record
    k = arena.part.slot(noted.result, 0)
    step.out = <double *> arena.data[k]
    if noted.v != NULL:
        record.v, record.v_owner = step.out, arena.owners[k]
    record.a_owner = place_operand(arena, step, a, &step.a, &record.a, noted.a_owner)
    if b is not None:
        record.b_owner = place_operand(arena, step, b, &step.b, &record.b, noted.b_owner)
    return step


cdef object place_operand(Arena arena, Computing step, object o, te_operand *values, Elementwise *kept, object owner):
    """Set the addresses of an operand's values, and of those that the record keeps; return their owner."""
    cdef uint32_t k
    cdef View view
    values.strides = kept.strides
    if type(o) is Operand:
        return place_number(arena, <Operand> o, values, kept, owner)
    view = <View> o
    k = arena.part.slot(view.storage, view.epoch)
    values.data = arena.data[k] + view.offset
    if kept.values.data == NULL:
        return None
    owner = step.kept(arena.shown(view, view.epoch), o) if view.written else arena.owners[k]
    kept.values.data = <char *> PyArray_DATA(<ndarray> owner) if view.written else values.data
    return owner


cdef object place_number(Arena arena, Operand o, te_operand *values, Elementwise *kept, object owner):
    """The same for a scalar, or a constant."""
    if o.id:
        values.data = <char *> &arena.v[o.id]
        kept.place = o.id
        owner = None
    elif type(o.constant) is ndarray:
        values.data = <char *> PyArray_DATA(<ndarray> o.constant)
        return owner
    else:
        values.data = <char *> &kept.constant
    if kept.values.data != NULL:
        kept.values.data = values.data
    return owner


@cython.final
@cython.no_gc
cdef class Summing(Action):
    """A sum or a mean."""

    cdef const double *source
    cdef double *out
    cdef Py_ssize_t outer, n, inner
    cdef double divisor

    cdef bint run(self, double *v) except -1:
        add_up(self.outer, self.n, self.inner, self.source, self.out, self.divisor)
        return True


cdef Action summing(Arena arena, View o, SumRecord record, uint32_t register):
    cdef Summing step = Summing.__new__(Summing)
    cdef ndarray source = arena.shown(o, o.epoch)
    step.record = record
    step.source = <double *> PyArray_DATA(source)
    step.outer, step.n, step.inner, step.divisor = 1, PyArray_SIZE(source), 1, record.divisor
    step.out = &arena.v[register]
    if record.result is not None:
        record.extents(&step.outer, &step.n, &step.inner)
        step.out = <double *> PyArray_DATA(arena.shown(record.result, 0))
    return step


@cython.final
@cython.no_gc
cdef class Multiplying(Action):
    """A product of a matrix and a vector, or of two vectors."""

    cdef object left, right, out
    cdef uint32_t register
    cdef int loop           # of numpy.matmul, which calls BLAS; -1 where numpy prepares the product
    cdef char *data[3]
    cdef cnp.npy_intp sizes[4], steps[9]

    cdef bint run(self, double *v) except -1:
        if self.loop >= 0:
            (<ufunc *> matmul).functions[self.loop](self.data, self.sizes, self.steps, (<ufunc *> matmul).data[self.loop])
        elif self.out is None:
            v[self.register] = PyArray_MatrixProduct(self.left, self.right)
        else:
            PyArray_MatrixProduct2(self.left, self.right, <ndarray> self.out)
        self.keep_copies()
        return True

    cdef int prepare(self, ndarray left, ndarray right) except -1:
        """Set what the loop reads, as `numpy.matmul` does; a single row or column takes another way there."""
        cdef cnp.npy_intp *strides = PyArray_STRIDES(left)
        self.sizes[0] = self.sizes[3] = 1
        self.sizes[1], self.sizes[2] = PyArray_DIMS(left)[0], PyArray_DIMS(left)[1]
        self.steps[3], self.steps[4], self.steps[5], self.steps[7] = strides[0], strides[1], PyArray_STRIDES(right)[0], 8
        self.data = [<char *> PyArray_DATA(left), <char *> PyArray_DATA(right), <char *> PyArray_DATA(<ndarray> self.out)]
        if self.sizes[1] > 1 and self.sizes[2] > 1:
            self.loop = loop_of_doubles(matmul, 3)
        return 0


cdef Action multiplying(Arena arena, list operands, ProductRecord noted, uint32_t register):
    cdef Multiplying step = Multiplying.__new__(Multiplying)
    cdef ProductRecord record = ProductRecord.__new__(ProductRecord)
    step.left, step.right = arena.operand(operands[0]), arena.operand(operands[1])
    step.register = register
    record.left, record.right, record.result = noted.left, noted.right, noted.result
    if noted.left is not None:
        record.right_values = step.kept(step.right, operands[1])
    if noted.right is not None:
        record.left_values = step.kept(step.left, operands[0])
    step.loop = -1
    if noted.result is not None:
        step.out = arena.shown(noted.result, 0)
        step.prepare(step.left, step.right)
    step.record = record
    return step


@cython.final
@cython.no_gc
cdef class Copying(Action):
    """A copy of some elements, or of all."""

    cdef object index
    cdef ndarray source, out
    cdef bint takes     # rows that one array of numbers names

    cdef bint run(self, double *v) except -1:
        if self.takes:
            PyArray_TakeFrom(self.source, self.index, 0, self.out, NPY_WRAP)
        else:
            copy_into(self.out, self.source if self.index is None else <ndarray> (<object> self.source)[self.index])
        return True


cdef Action copying_part(Arena arena, View source, object index, ReadRecord record):
    cdef Copying step = Copying.__new__(Copying)
    step.source, step.index = arena.shown(source, source.epoch), index
    step.out = arena.shown(record.result, 0)
    step.record = record
    if type(index) is tuple and len(index) == 1 and type(index[0]) is array_class and index[0].dtype == numpy.intp:
        step.takes = PyArray_IS_C_CONTIGUOUS(step.source) and PyArray_IS_C_CONTIGUOUS(step.out)
        step.index = index[0] if step.takes else index
    return step


@cython.final
@cython.no_gc
cdef class Filling(Action):
    """Constant values, or those of the storage before it is written to."""

    cdef ndarray source, out

    cdef bint run(self, double *v) except -1:
        copy_into(self.out, self.source)
        return True


cdef Action filling(Arena arena, tuple what):
    cdef Filling step = Filling.__new__(Filling)
    cdef uint32_t k
    if what[0] == MADE:
        k = arena.part.slot(what[1], 0)
        step.out = arena.owners[k]
        step.source = what[2].ravel("K")
    else:
        k = arena.part.slot(what[1], what[2])
        step.source = arena.owners[k]
        step.out = arena.owners[arena.part.slot(what[1], what[2] + 1)]
    return step


@cython.final
@cython.no_gc
cdef class Writing(Action):
    """An assignment."""

    cdef object target, index, value

    cdef bint run(self, double *v) except -1:
        self.target[self.index] = number_of(self.value, v)
        return True


cdef Action writing(Arena arena, tuple what):
    cdef Writing step = Writing.__new__(Writing)
    cdef View target = what[1]
    cdef WriteRecord noted = what[5]
    index, gathers = what[2], what[3]
    step.target, step.index = arena.shown(target, target.epoch), index
    step.value = arena.operand(what[4])
    if not gathers:
        part = step.target[index if any([item is Ellipsis for item in index]) else (*index, Ellipsis)]
        if part.ndim or type(step.value) is FromRegister:
            step.target, step.index = part, Ellipsis
    change(step, WriteRecord.__new__(WriteRecord), noted, what[4])
    return step


cdef int change(Action step, ChangeRecord record, ChangeRecord noted, object value) except -1:
    """Give a step the record of a change of elements, if a derivative depends on it."""
    if noted is not None:
        record.target, record.index, record.shape, record.value = noted.target, noted.index, noted.shape, noted.value
        if type(noted.value) is int:
            record.value = (<Operand> value).id
        step.record = record
    return 0


@cython.final
@cython.no_gc
cdef class Adding(Action):
    """An addition to elements, once for each time that an element is indexed."""

    cdef object target, index, value

    cdef bint run(self, double *v) except -1:
        numpy.add.at(self.target, self.index, number_of(self.value, v))
        return True


cdef Action adding(Arena arena, tuple what):
    cdef Adding step = Adding.__new__(Adding)
    cdef AddRecord noted = what[4]
    step.target, step.index = arena.operand(what[1]), what[2]
    step.value = arena.operand(what[3])
    change(step, AddRecord.__new__(AddRecord), noted, what[3])
    return step


@cython.final
@cython.no_gc
cdef class Looking(Action):
    """A decision on arrays: a run must come to the same one, or take another path."""

    cdef object function, outcome
    cdef list operands
    cdef dict options

    cdef bint run(self, double *v) except -1:
        return same_leaf(self.function(*filled(self.operands, v), **self.options), self.outcome)


cdef Action looking(Arena arena, tuple what):
    cdef Looking step = Looking.__new__(Looking)
    step.function, step.options, step.outcome = what[1], what[3], what[4]
    step.operands = [arena.operand(o) for o in what[2]]
    return step


cdef list filled(list operands, double *v):
    """Operands in which registers are replaced by their values."""
    return [number_of(x, v) for x in operands]


# -- calls of functions with rules of their own ------------------------------------------------------------------------
@cython.final
@cython.no_gc
cdef class Ruling(Action):
    """A call of a function that returns its derivative with its results."""

    cdef object function
    cdef Tape places
    cdef list operands
    cdef list outputs       # the place of each result, see `placed_output`

    cdef bint run(self, double *v) except -1:
        cdef Py_ssize_t k
        cdef CustomRecord record = <CustomRecord> self.record
        results = record.within(self.places, self.function, filled(self.operands, v))
        if not results:
            return False
        record.rule = results.pop()
        for k in range(PyList_GET_SIZE(self.outputs)):
            if not store(self.outputs[k], results[k], v):
                return False
        return True


cdef Action ruling(Arena arena, tuple what, uint32_t register):
    cdef Ruling step = Ruling.__new__(Ruling)
    cdef CustomRecord noted = what[5], record = CustomRecord.__new__(CustomRecord)
    cdef list specs = what[2], discrete = list(what[4])
    step.function, step.places = what[1], arena.part.places
    step.operands = [
        FromRegister((<Operand> o).id, double) if type(o) is Operand and (<Operand> o).id else arena.operand(o)
        for o, double in zip(specs, what[3])]
    step.outputs = [placed_output(arena, place, discrete, register) for place in noted.outputs]
    record.count, record.captured = noted.count, []
    record.inputs = [(k, place if type(place) is View else (<Operand> specs[k]).id) for k, place in noted.inputs]
    record.outputs = [register if type(place) is int else place for place in noted.outputs]
    step.record = record
    return step


cdef int join_calls(Path path, Path made, uint32_t end) except -1:
    """Let the calls of two paths that agree up to a register share what they recorded by themselves."""
    cdef uint32_t i
    if path.part is None or made.part is None:
        return 0
    for i in range(path.first, end):
        if path.op[i] == TE_STEP:
            what = path.part.steps[path.operands[i].a][0]
            if what[0] == RULED:
                what[1].join(made.part.steps[made.operands[i].a][0][1])
    return 0


# -- calls of primitives -----------------------------------------------------------------------------------------------
@cython.final
@cython.no_gc
cdef class Calling(Action):
    """A call of a primitive's function, and the values that its rules keep."""

    cdef object function
    cdef list operands
    cdef dict options
    cdef object output      # the places of the output's parts, see `placed_output`
    cdef list kept_places   # for each rule the values it keeps, with `FromRegister`; None if all are constant
    cdef tuple all_kept     # all operands, for the rules that keep them
    cdef bint plain         # no operand is a scalar
    cdef bint into          # the function writes into the output by itself

    cdef bint run(self, double *v) except -1:
        cdef PrimitiveRecord record
        operands = self.operands if self.plain else filled(self.operands, v)
        if self.into:
            self.function(*operands, **self.options)
        else:
            out = self.function(*operands, **self.options) if self.options else self.function(*operands)
            if not store(self.output, out, v):
                return False
        self.keep_copies()
        if self.kept_places is not None:
            record = <PrimitiveRecord> self.record
            known = {}
            record.kept = [tuple([kept_now(place, v, known) for place in places]) for places in self.kept_places]
        return True


@cython.final
cdef class Seen:
    """Stands for a part of an output that has no derivative and may have influenced the program."""

    cdef object value

    def __init__(self, value):
        self.value = value


cdef object kept_now(object place, double *v, dict known):
    """A kept value in this run; a complex number is numpy's, as in `Kept` of ``calls.pxi``. Rules share tuples, which are `known`."""
    if type(place) is tuple:
        if id(place) not in known:
            known[id(place)] = tuple([kept_now(part, v, known) for part in place])
        return known[id(place)]
    found = number_of(place, v)
    return numpy.complex128(found) if type(found) is complex else found


cdef bint is_fixed(object place, dict known) except -1:
    """Whether a kept value is the same object in every run. Rules share tuples, which are `known`."""
    if type(place) is tuple:
        if id(place) not in known:
            known[id(place)] = all([is_fixed(part, known) for part in place])
        return known[id(place)]
    return type(place) is not FromRegister


cdef bint store(object place, object out, double *v) except -1:
    """Store an output for later steps; return False if its form differs from the recorded one."""
    cdef ndarray values, target
    if type(place) is ndarray:
        target = <ndarray> place
        if type(out) is not ndarray:
            if PyArray_NDIM(target) or isinstance(out, (list, tuple, dict)) or out.__class__ is ndarray:
                return False
            out = numpy.array(out)
        values = <ndarray> out
        if PyArray_TYPE(values) != PyArray_TYPE(target) or not same_form(values, target):
            if PyArray_TYPE(values) != PyArray_TYPE(target) or dense(values):
                return False
            values = <ndarray> out.copy("K")
            if not same_form(values, target):
                return False
        copy_into(target, values)
        return True
    if type(place) is FromRegister:
        if type(out) is not float and type(out) is not numpy.float64:
            return False
        v[(<FromRegister> place).number] = out
        return True
    if type(place) is Seen:
        return same_leaf(out, (<Seen> place).value)
    cls, parts = place
    if type(cls) is tuple:
        if type(out) is not dict or tuple(out) != cls:
            return False
        out = list(out.values())
    elif type(out) is not cls or len(out) != len(parts):
        return False
    for inner, part in zip(parts, out):
        if not store(inner, part, v):
            return False
    return True


cdef bint same_form(ndarray a, ndarray b) noexcept:
    """Whether two arrays have the same shape and the same layout in memory."""
    cdef int k
    if PyArray_NDIM(a) != PyArray_NDIM(b):
        return False
    for k in range(PyArray_NDIM(a)):
        if PyArray_DIMS(a)[k] != PyArray_DIMS(b)[k]:
            return False
        if PyArray_DIMS(a)[k] > 1 and PyArray_STRIDES(a)[k] != PyArray_STRIDES(b)[k]:
            return PyArray_SIZE(a) == 0
    return True


cdef Action calling(Arena arena, tuple what, uint32_t register):
    cdef Calling step = Calling.__new__(Calling)
    cdef PrimitiveRecord noted = what[5], record = PrimitiveRecord.__new__(PrimitiveRecord)
    primitive, specs = what[1], what[2]
    step.function, step.options = primitive.primal, what[3]
    step.operands = [arena.operand(o) for o in specs]
    step.plain = not any([type(x) is FromRegister for x in step.operands])
    step.output = placed_output(arena, noted.output, list(what[4]), register)
    step.into = (isinstance(primitive.primal, numpy.ufunc) and primitive.primal.nout == 1 and not step.options
                 and type(step.output) is array_class and len(step.operands) == primitive.primal.nin)
    if step.into:
        step.options = {"out": step.output}     # by name: some functions warn of a third argument
    record.primitive, record.narrow = primitive, noted.narrow
    record.output = noted.output if type(noted.output) is not int else register
    record.inputs = [
        (k, place if type(place) is View else (<Operand> specs[k]).id) for k, place in noted.inputs]
    places = []
    for (k, _), kept in zip(noted.inputs, noted.kept):
        rule = primitive.vjp_rules[0 if primitive.variadic else k]
        places.append(tuple([
            kept_place(arena, step, needed, item, specs, noted.output) for needed, item in zip(rule.needs, kept)]))
    known = {}
    if all([is_fixed(place, known) for place in places]):
        record.kept = places
    else:
        step.kept_places = places
    step.record = record
    return step


cdef object kept_place(Arena arena, Calling step, tuple needed, object item, list specs, object output):
    """The value that a rule keeps, or its place: see `kept_by` of ``calls.pxi``."""
    if needed[0] == "arg":
        return step.kept(step.operands[needed[1]], specs[needed[1]])
    if needed[0] == "all":
        if step.all_kept is None:
            step.all_kept = tuple([step.kept(x, o) for x, o in zip(step.operands, specs)])
        return step.all_kept
    if needed[0] == "static":
        return step.options[needed[1]]
    return kept_output(step.output, item) if needed[0] == "out" else item


cdef object kept_output(object place, object item):
    """The output in the form that a rule keeps."""
    if type(place) is Seen:
        return (<Seen> place).value
    if type(place) is FromRegister:
        return FromRegister((<FromRegister> place).number, type(item) is not float)
    if type(place) is not tuple:
        return place
    cls, parts = place
    if type(cls) is tuple:
        raise NotReplayable("it calls a primitive whose rules keep a dict")
    parts = [kept_output(part, inner) for part, inner in zip(parts, item)]
    if not all([is_fixed(part, {}) for part in parts]):
        raise NotReplayable("it calls a primitive whose rules keep several numbers")
    return tuple(parts) if cls is tuple else parts if cls is list else cls(*parts)


cdef object placed_output(Arena arena, object place, list discrete, uint32_t register):
    """The places of an output's parts."""
    if type(place) is View:
        return arena.shown(<View> place, 0)
    if type(place) is tuple:
        return place[0], [placed_output(arena, part, discrete, register) for part in place[1]]
    return Seen(discrete.pop(0)) if place is None else FromRegister(register)


# -- from notes to steps -----------------------------------------------------------------------------------------------
cdef ArrayPart array_part(Tape tape, list primals):
    """The arrays of a recording before its first operation: its arguments."""
    cdef ArrayPart part = ArrayPart.__new__(ArrayPart)
    cdef Layout layout
    cdef Py_ssize_t i
    cdef uint32_t k
    part.places = Tape.__new__(Tape)
    part.places.rules, part.places.head.max_bytes = tape.rules, tape.head.max_bytes
    for k in range(tape.place_count):
        part.places.add_place(tape.places[k].size, tape.places[k].type, tape.places[k].width)
    part.numbers, part.storages, part.steps, part.fused, part.inner = {}, [], [], {}, set()
    part.inputs, part.epochs, part.spare, part.pool = {}, {}, [], {}
    for layout in primals:
        views = [item for item in layout.aux or () if type(item) is View]
        for i in range(layout.count):
            if layout.steps[i].kind == ARRAY:
                part.inputs[layout.steps[i].n] = views.pop(0)
                part.make(layout.steps[i].n, 0)
    return part


cdef int add_note(ArrayPart part, tuple what, uint32_t *registers, uint32_t register) except -1:
    """Make a step from a note: its operands become registers and slots."""
    for item in what:
        for o in item if type(item) is list else (item,):
            if type(o) is View:
                part.slot((<View> o).storage, (<View> o).epoch)
            elif type(o) is Operand:
                (<Operand> o).id = registers[(<Operand> o).id]
    if what[0] == MADE:
        part.make(what[1], 0)
    elif what[0] == MOVED:
        part.slot(what[1], what[2])
        part.make(what[1], what[2] + 1)
    elif what[0] == WRITTEN or what[0] == ADDED:
        part.writes_inputs = part.writes_inputs or (<View> what[1]).storage in part.inputs
    elif isinstance(what[len(what) - 1], ArrayRecord):
        for place in (<ArrayRecord> what[len(what) - 1]).writes():
            if type(place) is View:
                part.make((<View> place).storage, 0)
    part.steps.append((what, register))
    return 0


# -- comparing two recordings ------------------------------------------------------------------------------------------
cdef bint same_note(object x, object y, bint outcomes) except -1:
    """Whether two notes describe the same operation on the same operands; if `outcomes`, with the same outcome."""
    cdef int kind
    if x[0] != y[0] or len(x) != len(y):
        return False
    kind = x[0]
    if kind == MADE:        # the contents of numpy.empty differ each time
        return x[1] == y[1]
    for k in range(1, len(x)):
        if (kind == LOOKED or kind == CALLED or kind == RULED) and k == 4:
            if outcomes and not same_leaf(x[k], y[k]):
                return False
        elif isinstance(x[k], ArrayRecord) or x[k] is None or y[k] is None:
            if outcomes and not same_record(x[k], y[k]):
                return False
        elif not same_part(x[k], y[k]):
            return False
    return True


cdef bint same_part(object x, object y) except -1:
    cdef Operand a, b
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if type(x) is View:
        return (<View> x).epoch == (<View> y).epoch and same_view(x, y)
    if type(x) is Operand:
        a, b = x, y
        return a.id == b.id and same_part(a.constant, b.constant)
    if isinstance(x, (list, tuple)):
        return len(x) == len(y) and all([same_part(p, q) for p, q in zip(x, y)])
    if type(x) is dict:
        return list(x) == list(y) and all([same_part(x[key], y[key]) for key in x])
    return callable(x) or same_leaf(x, y)


cdef bint same_view(View a, View b) noexcept:
    return (a.storage == b.storage and a.ndim == b.ndim and a.type == b.type and a.offset == b.offset
            and memcmp(a.dims, b.dims, 2 * a.ndim * sizeof(Py_ssize_t)) == 0)


cdef bint same_record(object x, object y) except -1:
    """Whether the outputs of two records have the same form, if the form depends on values."""
    if type(x) is not type(y):
        return False
    if type(x) is CustomRecord:
        return same_place((list, (<CustomRecord> x).outputs), (list, (<CustomRecord> y).outputs))
    return type(x) is not PrimitiveRecord or same_place((<PrimitiveRecord> x).output, (<PrimitiveRecord> y).output)


cdef bint same_place(object x, object y) except -1:
    if type(x) is View and type(y) is View:
        return same_view(x, y)
    if type(x) is tuple and type(y) is tuple:
        return x[0] == y[0] and len(x[1]) == len(y[1]) and all([same_place(p, q) for p, q in zip(x[1], y[1])])
    return type(x) is type(y)
