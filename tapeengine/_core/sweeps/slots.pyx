"""The structure of a tape: which numbers each number was computed from.

Each number has a slot. An input has a slot of its own; a number that depends on what another one does, shares that
one's slot, so that reads, views, writes and functions of one number cost nothing; where two meet, the union of both is
a slot with two parents. Slot 0 is the empty set. The slots are a tape of their own, much shorter than the first one,
that is solved for sets: number by number, or for blocks of 64 outputs or inputs as bits of one word.
"""

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport free, realloc
cimport cython
cimport numpy as cnp
from numpy cimport PyArray_DATA, PyArray_SIZE, ndarray

from tapeengine._core.sweeps.batch cimport Batch, lifetimes_of
from tapeengine._core.tape.accumulation cimport Reverse, View
from tapeengine._core.tape.records cimport ArrayRecord
from tapeengine._core.sweeps.row_sweep cimport fair, places_of, resolve_rows, widest
from tapeengine._core.tape.rows cimport Rows
from tapeengine._core.tape.tape cimport ARRAY, READ, SPECIAL, WRITE, Head, Record, Tape, op_at, record_at
from tapeengine._core.sweeps.trace cimport Backpropagator

import numpy

cnp.import_array()

cdef enum:
    LARGEST = 1 << 22       # bytes of the largest array's block of tangents
    LEAST = 8               # columns that a block may have, however large its arrays are
    FEW = 24                # slots of a row that are sorted in place
cdef uint64_t ONE = 1


cdef uint32_t *slots_in(object x) noexcept:
    return <uint32_t *> PyArray_DATA(<ndarray> x)


cdef object fresh(Py_ssize_t n):
    return numpy.empty(n, numpy.uint32)


@cython.final
cdef class Slots:
    """The slots of one tape, and the slots that its scalars and its storages have as it is walked."""

    cdef uint32_t *a        # the parents of a union; an input has 0 and its number, from 1 on
    cdef uint32_t *b
    cdef Py_ssize_t count, room
    cdef Tape tape
    cdef object scalars     # by id
    cdef list storages      # by index, in the order of the memory; None: nothing there depends on an input
    cdef object apart       # by index: whether each read of an element is an input of its own

    def __cinit__(self, Backpropagator back, apart=()):
        self.apart = numpy.zeros(back.tape.place_count + 1, numpy.uint8)
        self.apart[list(apart)] = 1
        self.tape = back.tape
        self.scalars = numpy.zeros(back.tape.head.count, numpy.uint32)
        self.storages = [None] * back.tape.place_count
        self.count = 1
        self.reserve(0)

    def __dealloc__(self):
        free(self.a)
        free(self.b)

    def __len__(self):
        return self.count

    cdef int reserve(self, Py_ssize_t more) except -1:
        """Make room for further slots."""
        cdef Py_ssize_t room = self.count + more
        cdef void *a
        cdef void *b
        if room <= self.room:
            return 0
        if room >= 1 << 32:
            raise MemoryError(f"the structure of this tape takes {room:,} slots; at most 2^32 fit")
        room = min(max(room, 2 * self.room, <Py_ssize_t> 1024), (<Py_ssize_t> 1 << 32) - 1)
        a = realloc(self.a, room * sizeof(uint32_t))
        self.a = <uint32_t *> a if a != NULL else self.a
        b = realloc(self.b, room * sizeof(uint32_t))
        self.b = <uint32_t *> b if b != NULL else self.b
        if a == NULL or b == NULL:
            raise MemoryError(f"no memory for {room:,} slots")
        self.a[0] = self.b[0] = 0
        self.room = room
        return 0

    cdef inline uint32_t join(self, uint32_t u, uint32_t v) noexcept nogil:
        """The slot of the union of two, one of them where it holds the other."""
        cdef uint32_t w
        if u < v:
            w, u, v = u, v, u
        if v == 0 or u == v or self.a[u] == v or (self.a[u] and self.b[u] == v):
            return u
        w = self.a[u]
        if w and self.a[w] and (self.a[w] == v or self.b[w] == v):
            return u
        w = <uint32_t> self.count
        self.a[w], self.b[w] = u, v
        self.count += 1
        return w

    def inputs(self, numbers):
        """Slots of inputs with these numbers."""
        cdef Py_ssize_t k, n = numbers.size
        cdef object found = numpy.ascontiguousarray(numbers, numpy.uint32)
        cdef uint32_t *number = slots_in(found)
        self.reserve(n)
        for k in range(n):
            self.a[self.count + k], self.b[self.count + k] = 0, number[k] + 1
        result = numpy.arange(self.count, self.count + n, dtype=numpy.uint32).reshape(numbers.shape)
        self.count += n
        return result

    def numbers(self, slots):
        """The numbers of inputs."""
        cdef object given = numpy.ascontiguousarray(slots)
        cdef object found = fresh(given.size)
        cdef uint32_t *slot = slots_in(given)
        cdef uint32_t *number = slots_in(found)
        cdef Py_ssize_t k
        for k in range(given.size):
            number[k] = self.b[slot[k]] - 1
        return found

    def of_ids(self, ids):
        """The slots of scalars."""
        return self.scalars[ids]

    def union(self, x, y):
        """The slots of the unions of two arrays of slots, element by element; they broadcast."""
        x, y = numpy.broadcast_arrays(x, y)
        shape = x.shape
        x, y = numpy.ascontiguousarray(x), numpy.ascontiguousarray(y)
        cdef object found = fresh(x.size)
        cdef uint32_t *u = slots_in(x)
        cdef uint32_t *v = slots_in(y)
        cdef uint32_t *out = slots_in(found)
        cdef Py_ssize_t k, n = x.size
        self.reserve(n)
        with nogil:
            for k in range(n):
                if k and u[k] == u[k - 1] and v[k] == v[k - 1]:
                    out[k] = out[k - 1]
                else:
                    out[k] = self.join(u[k], v[k])
        return found.reshape(shape)

    # -- the walk -----------------------------------------------------------------------------------------------------
    def get(self, place):
        """The slots of what a record reads."""
        cdef View view
        if type(place) is not View:
            return self.scalars[place]
        view = <View> place
        slots = self.storages[view.storage]
        if slots is None:
            return numpy.zeros(view.shape, numpy.uint32)
        return self.shown(view, slots)

    cdef object shown(self, View view, object slots):
        """The elements of a storage that a view shows, in the memory of the storage's slots where they lie evenly."""
        cdef Py_ssize_t width = self.tape.places[view.storage].width, k
        strides = [view.dims[view.ndim + k] for k in range(view.ndim)]
        if all(s % width == 0 for s in strides):
            return numpy.ndarray(view.shape, numpy.uint32, slots, 4 * (view.offset // width), [4 * (s // width) for s in strides])
        return slots[self.elements(view, strides)]

    cdef object elements(self, View view, list strides):
        at = numpy.full(view.shape, view.offset)
        for k, step in enumerate(strides):
            at = at + (numpy.arange(view.dims[k]) * step).reshape((-1,) + (1,) * (view.ndim - 1 - k))
        return at // self.tape.places[view.storage].width

    def put(self, place, slots, index=None):
        """Give what a record writes its slots. A part of a complex number leaves the other part what it has."""
        cdef View view
        if type(place) is not View:
            self.scalars[place] = slots
            return
        view = <View> place
        if self.storages[view.storage] is None:
            self.storages[view.storage] = numpy.zeros(self.tape.places[view.storage].size, numpy.uint32)
        every = self.storages[view.storage]
        strides = [view.dims[view.ndim + k] for k in range(view.ndim)]
        if view.type != self.tape.places[view.storage].type:
            at = self.elements(view, strides)
            at = at if index is None else at[index]
            slots = numpy.broadcast_to(slots, at.shape)
            every[at] = self.union(every[at], slots)
            if any(s % self.tape.places[view.storage].width for s in strides):  # both parts of one number
                every[at[..., ::2]] = self.union(every[at[..., ::2]], slots[..., ::2])
                every[at[..., 1::2]] = self.union(every[at[..., 1::2]], slots[..., 1::2])
        elif index is None:
            self.shown(view, every)[...] = slots
        else:
            self.shown(view, every)[index] = slots

    def walk(self, structure):
        """Walk the tape upwards: scalars here, records of arrays by their own methods, which ask the `structure`."""
        cdef Head *h = &self.tape.head
        cdef uint32_t i = h.inputs + 1, n = h.count
        cdef uint32_t *slot = slots_in(self.scalars)
        cdef Record *r
        cdef int kind
        while i < n:
            self.reserve(n - i)
            with nogil:
                while i < n:
                    r = record_at(h, i)
                    if r.p1 == i:
                        break
                    slot[i] = slot[r.p1] if r.p2 == i else self.join(slot[r.p1], slot[r.p2])
                    i += 1
            if i == n:
                break
            kind = op_at(h, i)
            if kind == ARRAY:
                structure.number = r.p2
                (<ArrayRecord> self.tape.arrays[r.p2]).depend(structure, i)
            elif kind == READ or kind == WRITE:
                self.element(r, kind, slot, i)
            i += 1

    cdef int element(self, Record *r, int kind, uint32_t *slot, uint32_t i) except -1:
        """Read or write one element."""
        cdef uint32_t assigned
        every = self.storages[r.p2]
        if every is None:
            if kind == READ:
                return 0
            every = self.storages[r.p2] = numpy.zeros(self.tape.places[r.p2].size, numpy.uint32)
        if kind == READ:
            assigned = slots_in(every)[<Py_ssize_t> r.d2]
            if (<uint8_t *> PyArray_DATA(<ndarray> self.apart))[r.p2]:
                self.a[self.count], self.b[self.count] = 0, self.b[assigned]
                assigned = <uint32_t> self.count
                self.count += 1
            slot[i] = assigned
        else:
            assigned = <uint32_t> r.d1
            slots_in(every)[<Py_ssize_t> r.d2] = slot[assigned] if assigned else 0
        return 0

    # -- numbers of the tape's numbers: ids of scalars, then the elements of storages ------------------------------------
    cdef Py_ssize_t base(self, uint32_t storage):
        cdef uint32_t k
        cdef Py_ssize_t found = self.tape.head.count
        for k in range(storage):
            found += self.tape.places[k].size
        return found

    def numbered(self, place):
        """The numbers of what a record reads or writes."""
        cdef View view
        if type(place) is not View:
            return numpy.asarray(place)
        view = <View> place
        return self.base(view.storage) + self.elements(view, [view.dims[view.ndim + k] for k in range(view.ndim)])

    def access(self, uint32_t i):
        """The element that a scalar is read from or written to, and the id of what is written (0: a constant)."""
        cdef Record *r = record_at(&self.tape.head, i)
        return self.base(r.p2) + <Py_ssize_t> r.d2, <uint32_t> r.d1

    # -- solutions ----------------------------------------------------------------------------------------------------
    def search(self, outputs, Py_ssize_t most):
        """The inputs that each output was computed from, found by going down from each.

        Returns
        -------
        starts : numpy.ndarray of int64
            Where each output's inputs begin.
        slots : numpy.ndarray of uint32
            Slots of inputs, by their numbers in ascending order.
            None for both where more than `most` slots would be visited.
        """
        cdef Py_ssize_t n = outputs.size, k, used = 0, visits = 0
        cdef object given = numpy.ascontiguousarray(outputs)
        cdef object starts = numpy.zeros(n + 1, numpy.int64), found = fresh(4 * n + 64)
        cdef object seen = numpy.zeros(self.count, numpy.uint32), pending = fresh(self.count)
        cdef int64_t *start = <int64_t *> PyArray_DATA(<ndarray> starts)
        cdef uint32_t *out = slots_in(given)
        for k in range(n):
            if k and out[k] == out[k - 1] and start[k] - start[k - 1] <= found.size - used:
                found[used:used + start[k] - start[k - 1]] = found[start[k - 1]:start[k]]
                used += start[k] - start[k - 1]
            elif out[k]:
                while True:
                    used = self.below(out[k], <uint32_t> k + 1, found, start[k], slots_in(seen), slots_in(pending), &visits)
                    if used >= 0:
                        break
                    found = numpy.concatenate([found[:start[k]], fresh(2 * found.size + 1024)])
                    slots_in(seen)[out[k]] = 0
                    seen[seen == k + 1] = 0
            start[k + 1] = used
            if visits > most:
                return None, None
        return starts, found[:used].copy()

    cdef Py_ssize_t below(self, uint32_t u, uint32_t turn, object found, Py_ssize_t used, uint32_t *seen, uint32_t *pending,
                          Py_ssize_t *visits) noexcept:
        """Add the inputs below a slot to those found; -1 where there is no more room."""
        cdef Py_ssize_t top = 1, first = used, room = PyArray_SIZE(<ndarray> found), k
        cdef uint32_t *into = slots_in(found)
        cdef uint32_t p, number
        pending[0] = u
        seen[u] = turn
        while top:
            top -= 1
            u = pending[top]
            visits[0] += 1
            p = self.a[u]
            if p:
                if seen[p] != turn:
                    seen[p] = turn
                    pending[top] = p
                    top += 1
                p = self.b[u]
                if seen[p] != turn:
                    seen[p] = turn
                    pending[top] = p
                    top += 1
                continue
            if used == room:
                return -1
            k = used
            number = self.b[u]
            if used - first <= FEW:     # most rows are short: sorted as they come
                while k > first and self.b[into[k - 1]] > number:
                    into[k] = into[k - 1]
                    k -= 1
            into[k] = u
            used += 1
        if used - first > FEW:
            part = found[first:used]
            part[...] = part[numpy.argsort(self.numbers(part), kind="stable")]
        return used

    def by_outputs(self, outputs, inputs):
        """What `search` finds, by a walk downwards for each block of 64 outputs; `inputs` are slots in order."""
        cdef Py_ssize_t first, width, k, n = outputs.size, m = inputs.size
        cdef object given = numpy.ascontiguousarray(outputs), words = numpy.empty(self.count, numpy.uint64)
        cdef uint32_t *out = slots_in(given)
        cdef uint64_t *word = <uint64_t *> PyArray_DATA(<ndarray> words)
        cdef uint32_t u
        counts, parts = numpy.zeros(n + 1, numpy.int64), []
        for first in range(0, n, 64):
            width = min(<Py_ssize_t> 64, n - first)
            words[...] = 0
            for k in range(width):
                word[out[first + k]] |= ONE << k
            with nogil:
                for u in range(<uint32_t> self.count - 1, 0, -1):
                    if word[u] and self.a[u]:
                        word[self.a[u]] |= word[u]
                        word[self.b[u]] |= word[u]
            seen = words[inputs]
            for k in range(width):
                part = inputs[(seen >> numpy.uint64(k)) & numpy.uint64(1) != 0]
                counts[first + k + 1] = part.size
                parts.append(part)
        return numpy.cumsum(counts), numpy.concatenate(parts) if parts else fresh(0)

    def by_inputs(self, outputs, inputs):
        """What `search` finds, by a walk upwards for each block of 64 inputs."""
        cdef Py_ssize_t first, width, k, m = inputs.size
        cdef object given = numpy.ascontiguousarray(inputs), words = numpy.empty(self.count, numpy.uint64)
        cdef uint32_t *source = slots_in(given)
        cdef uint64_t *word = <uint64_t *> PyArray_DATA(<ndarray> words)
        cdef uint32_t u
        rows, parts = [fresh(0)], [fresh(0)]
        for first in range(0, m, 64):
            width = min(<Py_ssize_t> 64, m - first)
            words[...] = 0
            for k in range(width):
                word[source[first + k]] = ONE << k
            with nogil:
                for u in range(1, <uint32_t> self.count):
                    if self.a[u]:
                        word[u] = word[self.a[u]] | word[self.b[u]]
            seen = words[outputs]
            any_seen = numpy.flatnonzero(seen)
            seen = seen[any_seen]
            for k in range(width):
                part = any_seen[(seen >> numpy.uint64(k)) & numpy.uint64(1) != 0]
                rows.append(part.astype(numpy.uint32))
                parts.append(numpy.full(part.size, source[first + k], numpy.uint32))
        row = numpy.concatenate(rows)
        order = numpy.argsort(row, kind="stable")
        counts = numpy.bincount(row, minlength=outputs.size)
        return numpy.concatenate([[0], numpy.cumsum(counts)]).astype(numpy.int64), numpy.concatenate(parts)[order]


# -- records as they are read from outside ------------------------------------------------------------------------------
def numbers_of_primals(Backpropagator back):
    """Where the numbers of the primals are: [(first number, how many, id or View or None)]."""
    return places_of(back.primals)


def numbers_of_result(Backpropagator back):
    """Where the numbers of the result are."""
    return places_of([back.result])


def numbers_of_each(Backpropagator back):
    """Where the numbers of each primal are."""
    return [places_of([layout]) for layout in back.primals]


def array_ids(Tape tape):
    """The ids of the records of arrays."""
    cdef uint32_t i
    return [i for i in range(tape.head.inputs + 1, tape.head.count) if op_at(&tape.head, i) == ARRAY]


def storage_of(View view):
    """The storage that a view shows."""
    return view.storage


def described(Tape tape, uint32_t k):
    """A record of arrays: (name, primitive, [(argument, place)], places of results, what its structure needs beside)."""
    cdef ArrayRecord record = <ArrayRecord> tape.arrays[k]
    return record.name(), record.called(), record.reads(), record.writes(), record.detail()


def parts_of(Tape tape, uint32_t k, walk, uint32_t id):
    """The partial derivatives of a record of arrays one by one; see `ArrayRecord.parts`."""
    return (<ArrayRecord> tape.arrays[k]).parts(walk, id)


def adds(Tape tape, uint32_t k):
    """Whether what was there before stays, beside what a record of arrays writes."""
    return (<ArrayRecord> tape.arrays[k]).adds()


def geometry_key(place):
    """What tells one place from another: an id, or a storage with the geometry of a view."""
    cdef View view
    cdef int k
    if type(place) is not View:
        return place
    view = <View> place
    return view.storage, view.offset, view.type, tuple([view.dims[k] for k in range(2 * view.ndim)])


def scalars_key(Tape tape):
    """A number that tells how the records of scalars are linked: equal where the structure is."""
    cdef Head *h = &tape.head
    cdef uint64_t key = 0x9E3779B97F4A7C15
    cdef uint32_t i
    cdef Record *r
    with nogil:
        for i in range(h.inputs + 1, h.count):
            r = record_at(h, i)
            if r.p1 == i:
                key = mixed(key, (<uint64_t> op_at(h, i) << 32) | r.p2)
                if op_at(h, i) == WRITE:
                    key = mixed(key, <uint64_t> r.d1)
                if op_at(h, i) == WRITE or op_at(h, i) == READ:
                    key = mixed(key, <uint64_t> r.d2)
            else:
                key = mixed(key, (<uint64_t> r.p1 << 32) | (r.p2 if r.p2 != i else 0))
    return key


cdef inline uint64_t mixed(uint64_t key, uint64_t more) noexcept nogil:
    key = (key ^ more) * <uint64_t> 0xFF51AFD7ED558CCD
    return key ^ (key >> 32)


# -- compressed sweeps --------------------------------------------------------------------------------------------------
@cython.final
cdef class Cut(ArrayRecord):
    """Replaces a read whose result counts as an input: it does not pass the cotangents on."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        return 0


def written(Tape tape):
    """The storages that are made by a record or written to."""
    cdef Head *h = &tape.head
    cdef uint32_t i
    found = set()
    for entry in tape.arrays:
        found.update([(<View> place).storage for place in (<ArrayRecord> entry).writes() if type(place) is View])
    for i in range(h.inputs + 1, h.count):
        if op_at(h, i) == WRITE:
            found.add(record_at(h, i).p2)
    return found


def reads_of(Tape tape, storages):
    """The ids of scalars that were read from some storages, none of which is written."""
    cdef Head *h = &tape.head
    cdef uint32_t i
    cdef Py_ssize_t n = 0
    cdef object wanted = numpy.zeros(tape.place_count + 1, numpy.uint8)
    wanted[list(storages)] = 1
    cdef uint8_t *flag = <uint8_t *> PyArray_DATA(<ndarray> wanted)
    cdef object found = fresh(h.count)
    cdef uint32_t *id = slots_in(found)
    with nogil:
        for i in range(h.inputs + 1, h.count):
            if op_at(h, i) == READ and flag[record_at(h, i).p2]:
                id[n] = i
                n += 1
    return found[:n].copy()


cdef int mark_reads(Tape tape, object ids, int kind) except -1:
    """Have a sweep pass reads by (INPUT), or take them as what they are (READ)."""
    cdef Py_ssize_t k
    cdef uint32_t *id = slots_in(ids)
    for k in range(ids.size):
        tape.head.chunks[id[k] >> 15].op[id[k] & 32767] = <uint8_t> kind
    return 0


def compressed_rows(Backpropagator back, colours, Py_ssize_t count, list taken, list cut, reads):
    """Cotangents of sums of outputs.

    Parameters
    ----------
    back : Backpropagator
        Of a tape that depends on no outer trace.
    colours : numpy.ndarray of int32
        For each number of the result the sum that it belongs to, -1 for none.
    count : int
        How many sums there are.
    taken : list of (int, View or id)
        Of what the cotangents are wanted: how many numbers, and where.
    cut : list of int
        Numbers of array records that are passed by.
    reads : numpy.ndarray of uint32
        Ids of element reads that are passed by; their cotangents are the last ones of the result.

    Returns
    -------
    numpy.ndarray of shape (count, numbers taken)
    """
    cdef Tape tape = back.tape
    cdef Rows rows
    cdef Py_ssize_t first, width, step, k, n, at
    cdef double *into
    found = numpy.zeros((count, sum([n for n, _ in taken]) + reads.size))
    entries = [tape.arrays[k] for k in cut]
    step = fair(count, min(widest(tape), count)) if count else 1
    try:
        for k in cut:
            tape.arrays[k] = Cut.__new__(Cut)
        mark_reads(tape, reads, SPECIAL)
        for first in range(0, count, step):
            rows = Rows.__new__(Rows)
            rows.begin(tape, min(step, count - first))
            stage_sums(rows, places_of([back.result]), colours, first)
            resolve_rows(rows, tape.head.count - 1)
            at = 0
            part = found[first:first + rows.width]
            for n, place in taken:
                if type(place) is View:
                    cotangents = rows.part(<View> place)
                    if cotangents is not None:
                        part[:, at:at + n] = cotangents.reshape(rows.width, n)
                else:
                    copy_out(part[:, at:at + n], rows.scalars + <size_t> <uint32_t> place * rows.width, rows.width, 1)
                at += n
            take_reads(rows, part, at, reads)
    finally:
        for k, entry in zip(cut, entries):
            tape.arrays[k] = entry
        mark_reads(tape, reads, READ)
    return found


cdef int copy_out(ndarray into, const double *source, Py_ssize_t step, Py_ssize_t row) noexcept:
    """Copy the numbers of scalars that follow each other: `step` from one to the next, `row` from one sweep to the next."""
    cdef Py_ssize_t j, k
    cdef double *line
    for j in range(into.shape[0]):
        line = <double *> (<char *> PyArray_DATA(into) + j * into.strides[0])
        for k in range(into.shape[1]):
            line[k] = source[k * step + j * row]
    return 0


cdef int take_reads(Rows rows, ndarray part, Py_ssize_t at, object reads) except -1:
    cdef Py_ssize_t k, j, row = part.shape[1]
    cdef double *into = <double *> PyArray_DATA(part)
    cdef uint32_t *id = slots_in(reads)
    for k in range(reads.size):
        for j in range(rows.width):
            into[j * row + at + k] = rows.scalars[<size_t> id[k] * rows.width + j]
    return 0


cdef int stage_sums(Rows rows, list places, object colours, Py_ssize_t first) except -1:
    """Stage a one at each number of the result, in the row of its sum."""
    cdef Py_ssize_t start, n, j
    for start, n, place in places:
        of = colours[start:start + n]
        chosen = numpy.flatnonzero((of >= first) & (of < first + rows.width))
        if place is None or not chosen.size:
            continue
        row = of[chosen] - first
        if type(place) is View:
            if rows.blocks[(<View> place).storage] is None:
                rows.allocate((<View> place).storage, True)
            at = numpy.unravel_index(chosen, place.shape) if place.shape else ()
            numpy.add.at(rows.part(<View> place), (row, *at), 1.0)
        elif place:
            for j, k in zip(chosen.tolist(), row.tolist()):
                rows.scalars[<size_t> (<uint32_t> place + <uint32_t> j) * rows.width + <Py_ssize_t> k] += 1.0
    return 0


def compressed_columns(Backpropagator back, colours, Py_ssize_t count, Py_ssize_t size, weights=None):
    """Tangents of the result along sums of inputs, which may have weights: an array of shape (count, size)."""
    cdef Batch batch
    cdef Py_ssize_t first, step, start, n, k, largest_block = 1
    inputs, outputs = places_of(back.primals), places_of([back.result])
    lasting = [(<View> place).storage for _, _, place in outputs if type(place) is View]
    found = numpy.zeros((count, size))
    for k in range(back.tape.place_count):
        largest_block = max(largest_block, back.tape.places[k].size * back.tape.places[k].width)
    step = fair(count, max(<Py_ssize_t> (LARGEST // largest_block), <Py_ssize_t> LEAST)) if count else 1
    for first in range(0, count, step):
        batch = Batch.__new__(Batch)
        batch.begin(back.tape, min(step, count - first), lifetimes_of(back.tape, lasting))
        stage_directions(batch, inputs, colours, first, weights)
        batch.sweep()
        part = found[first:first + batch.width]
        for start, n, place in outputs:
            if type(place) is View:
                tangents = batch.part(<View> place)
                if tangents is not None:
                    part[:, start:start + n] = tangents.reshape(batch.width, n)
            elif place:
                copy_out(part[:, start:start + n], batch.scalars + <uint32_t> place, 1, batch.records)
    return found


cdef int stage_directions(Batch batch, list places, object colours, Py_ssize_t first, object weights) except -1:
    """Stage a one, or its weight, at each number of the primals, in the row of its direction."""
    cdef Py_ssize_t start, n, j, k
    for start, n, place in places:
        of = colours[start:start + n]
        chosen = numpy.flatnonzero((of >= first) & (of < first + batch.width))
        if place is None or not chosen.size:
            continue
        row = of[chosen] - first
        if type(place) is View:
            if batch.blocks[(<View> place).storage] is None:
                batch.allocate((<View> place).storage)
            at = numpy.unravel_index(chosen, place.shape) if place.shape else ()
            batch.part(<View> place)[(row, *at)] = 1.0 if weights is None else weights[start + chosen]
        else:
            for j, k in zip(chosen.tolist(), row.tolist()):
                batch.scalars[k * batch.records + <uint32_t> place + j] = 1.0 if weights is None else weights[start + j]
    return 0


# -- colours ------------------------------------------------------------------------------------------------------------
def greedy(order, starts, others, back_starts, back_others):
    """Colour vertices so that no two with a common neighbour share a colour: each in turn gets the least that is free.

    Parameters
    ----------
    order : numpy.ndarray of int64
        The vertices in the order in which they are coloured.
    starts, others, back_starts, back_others : numpy.ndarray of int64
        The neighbours of vertices, and the vertices of neighbours, as in a CSR matrix and its transpose.

    Returns
    -------
    numpy.ndarray of int32
    """
    cdef Py_ssize_t n = starts.size - 1, k
    cdef object colours = numpy.full(n, -1, numpy.int32), taken = numpy.zeros(n + 1, numpy.int64)
    cdef int32_t *colour = <int32_t *> PyArray_DATA(<ndarray> colours)
    cdef int64_t *by = <int64_t *> PyArray_DATA(<ndarray> taken)
    cdef int64_t *s = <int64_t *> PyArray_DATA(<ndarray> starts)
    cdef int64_t *o = <int64_t *> PyArray_DATA(<ndarray> others)
    cdef int64_t *t = <int64_t *> PyArray_DATA(<ndarray> back_starts)
    cdef int64_t *p = <int64_t *> PyArray_DATA(<ndarray> back_others)
    cdef int64_t *turn = <int64_t *> PyArray_DATA(<ndarray> order)
    cdef int64_t v, i, j
    cdef int32_t c
    with nogil:
        for k in range(n):
            v = turn[k]
            for i in range(s[v], s[v + 1]):
                for j in range(t[o[i]], t[o[i] + 1]):
                    if colour[p[j]] >= 0:
                        by[colour[p[j]]] = k + 1
            c = 0
            while by[c] == k + 1:
                c += 1
            colour[v] = c
    return colours


def star(order, starts, others):
    """Colour a graph so that no path of four vertices has two colours (Gebremedhin, Manne and Pothen 2005, 4.1)."""
    cdef Py_ssize_t n = starts.size - 1, k
    cdef object colours = numpy.full(n, -1, numpy.int32), taken = numpy.zeros(n + 1, numpy.int64)
    cdef int32_t *colour = <int32_t *> PyArray_DATA(<ndarray> colours)
    cdef int64_t *by = <int64_t *> PyArray_DATA(<ndarray> taken)
    cdef int64_t *s = <int64_t *> PyArray_DATA(<ndarray> starts)
    cdef int64_t *o = <int64_t *> PyArray_DATA(<ndarray> others)
    cdef int64_t *turn = <int64_t *> PyArray_DATA(<ndarray> order)
    cdef int64_t v, w, x, i, j, l
    cdef int32_t c
    with nogil:
        for k in range(n):
            v = turn[k]
            for i in range(s[v], s[v + 1]):
                w = o[i]
                if w == v:
                    continue
                if colour[w] >= 0:
                    by[colour[w]] = k + 1
                for j in range(s[w], s[w + 1]):
                    x = o[j]
                    if x == v or x == w or colour[x] < 0 or by[colour[x]] == k + 1:
                        continue
                    if colour[w] < 0:
                        by[colour[x]] = k + 1
                        continue
                    for l in range(s[x], s[x + 1]):
                        if o[l] != w and o[l] != x and colour[o[l]] == colour[w]:
                            by[colour[x]] = k + 1
                            break
            c = 0
            while by[c] == k + 1:
                c += 1
            colour[v] = c
    return colours


def by_degree(starts, others, bint last):
    """An order of a graph's vertices by degrees: the smallest last, or the largest incidence first.

    With `last`, the vertex of the least degree among those that are left comes last, and so on from the end (Matula
    and Beck 1983). Without, the next vertex is the one with the most neighbours that are in the order already.
    """
    cdef Py_ssize_t n = starts.size - 1, k, most, at
    cdef object degrees = numpy.diff(starts) if last else numpy.zeros(n, numpy.int64)
    cdef object heads = numpy.full(n + 1, -1, numpy.int64), following = numpy.full(n, -1, numpy.int64)
    cdef object before = numpy.full(n, -1, numpy.int64), order = numpy.empty(n, numpy.int64)
    cdef int64_t *degree = <int64_t *> PyArray_DATA(<ndarray> degrees)
    cdef int64_t *head = <int64_t *> PyArray_DATA(<ndarray> heads)
    cdef int64_t *after = <int64_t *> PyArray_DATA(<ndarray> following)
    cdef int64_t *prior = <int64_t *> PyArray_DATA(<ndarray> before)
    cdef int64_t *turn = <int64_t *> PyArray_DATA(<ndarray> order)
    cdef int64_t *s = <int64_t *> PyArray_DATA(<ndarray> starts)
    cdef int64_t *o = <int64_t *> PyArray_DATA(<ndarray> others)
    cdef int64_t v, w, i
    with nogil:
        for k in range(n - 1, -1, -1):
            chain(k, degree[k], head, after, prior)
        at = 0
        for k in range(n):
            if last:
                while head[at] < 0:
                    at += 1
            else:
                while head[at] < 0:
                    at -= 1
            v = head[at]
            unchain(v, at, head, after, prior)
            turn[n - 1 - k if last else k] = v
            degree[v] = -1
            for i in range(s[v], s[v + 1]):
                w = o[i]
                if w == v or degree[w] < 0:
                    continue
                unchain(w, degree[w], head, after, prior)
                degree[w] += -1 if last else 1
                chain(w, degree[w], head, after, prior)
                if last and degree[w] < at or not last and degree[w] > at:
                    at = degree[w]
    return order


cdef inline void chain(int64_t v, int64_t degree, int64_t *head, int64_t *after, int64_t *prior) noexcept nogil:
    """Put a vertex in front of those of one degree."""
    after[v] = head[degree]
    prior[v] = -1
    if head[degree] >= 0:
        prior[head[degree]] = v
    head[degree] = v


cdef inline void unchain(int64_t v, int64_t degree, int64_t *head, int64_t *after, int64_t *prior) noexcept nogil:
    if prior[v] >= 0:
        after[prior[v]] = after[v]
    else:
        head[degree] = after[v]
    if after[v] >= 0:
        prior[after[v]] = prior[v]
