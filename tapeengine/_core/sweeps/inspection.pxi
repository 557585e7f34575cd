# Inspection of a tape: its records, reverse sweeps in parts, and the first record with a number that is not finite.
#
# A non-finite number is in the value or a partial of a record, or a sweep produces it. The sweeps that find it go record
# by record and check what each record has added: to its parents' cotangents in a reverse sweep, to its own tangent in a
# forward one. They are for tapes that a debug switch watches, which hold no records of kernels.

#: A record (0: the staged cotangent or tangent), the argument whose cotangent is not finite (None: the result's
#: tangent), that cotangent or tangent, and the cotangents of the result or tangents of the arguments behind it.
Fault = namedtuple("Fault", "id argument found incoming")


cdef ArrayRecord array_record(Tape tape, uint32_t i):
    """The record of an array operation; None for other records."""
    if not 0 < i < tape.head.count:
        raise IndexError(f"the tape has no record {i}")
    return <ArrayRecord> tape.arrays[record_at(&tape.head, i).p2] if op_at(&tape.head, i) == ARRAY else None


def open_tape() -> Tape | None:
    """The tape of the latest open trace of this thread, or None."""
    cdef Head *h = innermost_here()
    return None if h == NULL else tape_of(h)


def is_swept_back_only() -> bool:
    """Whether the latest open trace of this thread supports only reverse sweeps of first order."""
    cdef Head *h = innermost_here()
    return h != NULL and not tape_of(h).keeps_tangents


def is_recorded(bint within) -> bool:
    """Whether the latest open trace of this thread is a recording, or `within` one."""
    cdef Head *h = innermost_here()
    return h != NULL and h.guards != NULL and (within or not h.guards.inner)


def last_id(Tape tape) -> int:
    """The id of the latest record."""
    return tape.head.count - 1


def value_of_id(Tape tape, uint32_t i) -> float | None:
    """The value of an id; None if the tape keeps no values."""
    if tape.head.values[0] == NULL or i == 0 or i >= tape.head.count:
        return None
    if i > tape.head.inputs and op_at(&tape.head, i) == ARRAY:
        return None
    return value_at(&tape.head, i)


def operation(Tape tape, uint32_t i) -> str:
    """The name of a record's operation, also for operations on arrays."""
    cdef ArrayRecord record = array_record(tape, i)
    return tape.record(i)[1] if record is None else record.name()


def has_array_records(Tape tape) -> bool:
    """Whether a tape has records that read or write arrays."""
    cdef uint32_t i
    if len(tape.arrays):
        return True
    for i in range(tape.head.inputs + 1, tape.head.count if tape.place_count else 0):
        if op_at(&tape.head, i) == READ or op_at(&tape.head, i) == WRITE:
            return True
    return False


def array_parents(Tape tape) -> dict[int, tuple[int, ...]]:
    """For each record that reads arrays, the records that made or last wrote those arrays; {id: ids}."""
    cdef Head *h = &tape.head
    cdef Record *r
    cdef ArrayRecord record
    cdef uint32_t i
    writers, found = {}, {}
    for i in range(h.inputs + 1, h.count if tape.place_count or tape.arrays else 0):
        r = record_at(h, i)
        kind = op_at(h, i)
        if kind == READ or kind == WRITE:
            scalar = [<uint32_t> r.d1] if kind == WRITE and r.d1 != 0.0 else []
            found[i] = tuple(scalar + ([writers[r.p2]] if r.p2 in writers else []))
            if kind == WRITE:
                writers[r.p2] = i
        elif kind == ARRAY:
            record = array_record(tape, i)
            written = [(<View> place).storage for place in record.writes() if type(place) is View]
            parents = [writers[storage] for storage in written if storage in writers]   # targets overwritten in part
            for _, place in record.reads():
                if type(place) is not View and place is not None:
                    parents.append(int(place))
                elif place is not None and (<View> place).storage in writers:
                    parents.append(writers[(<View> place).storage])
            found[i] = tuple(parents)
            for storage in written:
                writers[storage] = i
    return found


def kept_bytes(Tape tape) -> dict[int, int]:
    """Bytes of the arrays that records keep alive, {id: bytes}; an array counts once, for the first such record."""
    cdef ArrayRecord record
    cdef uint32_t i
    seen, found = {}, {}
    for i in range(tape.head.inputs + 1, tape.head.count):
        record = array_record(tape, i)
        if record is None:
            continue
        total = 0
        for value in arrays_in(record.keeps()):
            while type(value.base) is numpy.ndarray:    # a view keeps its whole base alive
                value = value.base
            if id(value) not in seen:
                seen[id(value)] = value
                total += value.nbytes
        if total:
            found[i] = total
    return found


cdef list arrays_in(object value):
    """The plain arrays in nested tuples and lists, including those behind arrays of an outer trace."""
    if isinstance(value, (tuple, list)):
        return [array for part in value for array in arrays_in(part)]
    if type(value) is Array:
        return arrays_in((<Array> value).current())
    return [value] if type(value) is numpy.ndarray else []


def watch(Tape tape, watcher) -> None:
    """Notify a watcher of each array operation when it is recorded, and of each sweep."""
    tape.watcher = watcher


def watcher_of(Tape tape):
    """The watcher of a tape, or None."""
    return tape.watcher


def primitive_of(Tape tape, uint32_t i):
    """The primitive that an array record calls; None for other records."""
    cdef ArrayRecord record = array_record(tape, i)
    return None if record is None else record.called()


def operands_of(Tape tape, uint32_t i) -> dict[int, Any]:
    """The values of a primitive's arguments that its record keeps, by the argument's number."""
    cdef ArrayRecord record = array_record(tape, i)
    return {} if record is None else record.operands()


@cython.final
cdef class PartialSweep:
    """A reverse sweep over plain numbers that can be stopped at any id."""

    cdef Backpropagator back
    cdef Reverse r
    cdef double *cotangent
    cdef uint32_t at

    def __cinit__(self, Backpropagator back, cotangent):
        cdef Seeds seeds
        self.back = back
        self.cotangent = <double *> zeros(back.tape.head.count, sizeof(double))
        seeds = begin_seeds(back.result, back.structures, "cotangent", self.cotangent)
        seeds.match(cotangent)
        self.r = Reverse.__new__(Reverse)
        self.r.begin(back.tape, self.cotangent)
        back.seed_arrays(self.r, seeds)
        self.at = back.tape.head.count - 1

    def __dealloc__(self):
        free_zeros(self.cotangent)

    cdef int down_to(self, uint32_t lowest) except -1:
        """Resolve the remaining ids, down to `lowest`."""
        cdef Head *h = &self.back.tape.head
        cdef uint32_t inputs = h.inputs
        if lowest > self.at or self.at <= inputs:
            return 0
        h.inputs = max(inputs, lowest - 1)      # a sweep ends there
        try:
            resolve(self.back.tape, self.r, self.at, NULL)
        finally:
            h.inputs = inputs
        self.at = lowest - 1
        return 0


def reverse_times(Backpropagator back, cotangent, list starts) -> list[float]:
    """The seconds that the reverse sweep spends in each part of the tape; the parts begin at the ids `starts`."""
    cdef PartialSweep sweep = PartialSweep(back, cotangent)
    cdef Py_ssize_t k
    seconds = [0.0] * len(starts)
    for k in range(len(starts) - 1, -1, -1):
        before = perf_counter()
        sweep.down_to(starts[k])
        seconds[k] = perf_counter() - before
    return seconds


def swept(Backpropagator back, cotangent, Py_ssize_t parts, progress: Callable[[int], Any]) -> tuple[Any, ...]:
    """Call a backpropagator in parts, with a call of ``progress(number of records resolved)`` after each part."""
    cdef PartialSweep sweep = PartialSweep(back, cotangent)
    cdef Head *h = &back.tape.head
    cdef uint32_t records = h.count - 1 - h.inputs, lowest
    cdef Py_ssize_t k
    cdef Numbers numbers = Numbers.__new__(Numbers)
    for k in range(parts - 1, -1, -1):
        lowest = h.inputs + 1 + <uint32_t> (<unsigned long long> records * k // parts)
        before = sweep.at
        sweep.down_to(lowest)
        if before != sweep.at:
            progress(before - sweep.at)
    numbers.cotangent = sweep.cotangent
    numbers.sweep = sweep.r
    return back.rebuild(numbers)


def first_not_finite(Tape tape, uint32_t first, uint32_t last) -> tuple[int, str] | None:
    """The first scalar record among ids whose value or partial is not finite, as (id, what); None if there is none."""
    cdef Head *h = &tape.head
    cdef Record *r
    cdef uint32_t i
    cdef int kind
    first = max(first, h.inputs + 1)
    for i in range(first, min(last + 1, h.count)):
        kind = op_at(h, i)
        if tape.keeps_values and kind != ARRAY and not isfinite(value_at(h, i)):
            return i, "value"
        if kind >= SPECIAL:
            continue
        r = record_at(h, i)
        if not isfinite(r.d1) or (r.p2 != i and not isfinite(r.d2)):
            return i, "partial"
    return None


cdef object held(Reverse r, object place):
    """The cotangents or tangents of a place; None where they are zero."""
    if place is None:
        return None
    return r.part(<View> place) if type(place) is View else r.scalar(<uint32_t> place)


cdef bint finite(object found) except -1:
    return found is None or bool(numpy.isfinite(found).all())


# -- faults in a reverse sweep -----------------------------------------------------------------------------------------
def cotangent_fault(Backpropagator back, cotangent):
    """The first step of a reverse sweep that produces a non-finite cotangent; None if there is none."""
    cdef PartialSweep sweep = PartialSweep(back, cotangent)
    cdef Head *h = &back.tape.head
    cdef uint32_t i
    for i in range(1, h.count):
        if not isfinite(sweep.cotangent[i]):
            return Fault(0, None, sweep.cotangent[i], [])
    for owner in sweep.r.owners or ():
        if not finite(owner):
            return Fault(0, None, owner, [])
    for i in range(h.count - 1, h.inputs, -1):
        fault = special_cotangent(sweep, i) if op_at(h, i) >= SPECIAL else scalar_cotangent(sweep, i)
        if fault is not None:
            return fault
    return None


cdef object scalar_cotangent(PartialSweep sweep, uint32_t i):
    cdef Record *r = record_at(&sweep.back.tape.head, i)
    cdef double c = sweep.cotangent[i]
    sweep.down_to(i)
    if not isfinite(sweep.cotangent[r.p1]):
        return Fault(i, 0, sweep.cotangent[r.p1], [c])
    if r.p2 != i and not isfinite(sweep.cotangent[r.p2]):
        return Fault(i, 1, sweep.cotangent[r.p2], [c])
    return None


cdef object special_cotangent(PartialSweep sweep, uint32_t i):
    """Resolve an array record, and check the cotangents that it adds to."""
    cdef ArrayRecord entry = array_record(sweep.back.tape, i)
    if entry is None:
        sweep.down_to(i)
        return None
    incoming = [held(sweep.r, place) for place in entry.writes()]
    incoming = [part.copy() if isinstance(part, numpy.ndarray) else part for part in incoming]  # a write clears it
    sweep.down_to(i)
    for argument, place in entry.reads():
        found = held(sweep.r, place)
        if not finite(found):
            return Fault(i, argument, found, incoming)
    return None


# -- faults in a forward sweep -----------------------------------------------------------------------------------------
def tangent_fault(Backpropagator back, tuple tangents):
    """The first step of a forward sweep that produces a non-finite tangent; None if there is none."""
    cdef Tape tape = back.tape
    cdef Head *h = &tape.head
    cdef uint32_t i, end = h.count
    cdef double *array = <double *> zeros(h.count, sizeof(double))
    cdef Reverse r = Reverse.__new__(Reverse)
    cdef Seeds seeds
    try:
        seeds = staged(back, tangents, array)
        r.begin(tape, array)
        back.seed_arrays(r, seeds)
        for i in range(1, h.inputs + 1):
            if not isfinite(array[i]):
                return Fault(0, None, array[i], [])
        for owner in r.owners or ():
            if not finite(owner):
                return Fault(0, None, owner, [])
        for i in range(h.inputs + 1, end):
            fault = special_tangent(tape, r, i) if op_at(h, i) >= SPECIAL else scalar_tangent(h, array, i)
            if fault is not None:
                return fault
        return None
    finally:
        free_zeros(array)


cdef object scalar_tangent(Head *h, double *array, uint32_t i):
    cdef Record *r = record_at(h, i)
    cdef double t = array[r.p1] * r.d1 if array[r.p1] != 0.0 else 0.0
    if r.p2 != i and array[r.p2] != 0.0:
        t += array[r.p2] * r.d2
    array[i] = t
    return None if isfinite(t) else Fault(i, None, t, [array[r.p1]] if r.p2 == i else [array[r.p1], array[r.p2]])


cdef object special_tangent(Tape tape, Reverse r, uint32_t i):
    cdef ArrayRecord entry = array_record(tape, i)
    push_special(tape, r, i)
    if entry is None:
        return None
    for place in entry.writes():
        found = held(r, place)
        if not finite(found):
            return Fault(i, None, found, [held(r, parent) for _, parent in entry.reads()])
    return None
