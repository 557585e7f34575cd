"""The structure of a tape: which numbers each number was computed from.

Each number has a slot, which stands for a set of inputs: a number of 64 bits. Inputs lie in groups of up to 32; a set
within one group is the group in the upper half and a bit for each of its members in the lower one, so that a union is an
OR, whole arrays at a time. Where groups meet, the union is a pair of slots, which has a number of its own. The slot 0 is the empty
set. A number that depends on what another one does, shares that one's slot, so that reads, views, writes and functions of one
number cost nothing. Pairs are a tape of their own, much shorter than the first one, that is solved for sets: number by
number, or for blocks of 64 outputs or inputs as bits of one word.
"""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset
cimport cython
cimport numpy as cnp
from numpy cimport PyArray_DATA, PyTypeNum_ISCOMPLEX, ndarray

from tapeengine._core.sweeps.batch cimport Batch, lifetimes_of
from tapeengine._core.tape.lifetimes cimport Lifetimes
from tapeengine._core.tape.accumulation cimport Reverse, View
from tapeengine._core.tape.records cimport ArrayRecord
from tapeengine._core.sweeps.row_sweep cimport fair, places_of, resolve_rows, widest
from tapeengine._core.tape.rows cimport Rows
from tapeengine._core.tape.tape cimport ARRAY, CHUNK_LAST, READ, SPECIAL, WRITE, Head, Record, Tape, op_at, record_at
from tapeengine._core.sweeps.trace cimport Backpropagator

import numpy

cnp.import_array()

cdef extern from "slots.h" nogil:
    bint is_pair(uint64_t u)
    Py_ssize_t index_of(uint64_t u)
    bint holds(uint64_t u, uint64_t v)
    bint in_one_group(uint64_t u, uint64_t v)
    int lowest_bit(uint32_t bits)
    Py_ssize_t te_unions(const char *x, Py_ssize_t dx, const char *y, Py_ssize_t dy, uint64_t *out, Py_ssize_t n)

cdef enum:
    LOOK = 1 << 20          # records between two looks for an interrupt
    LARGEST = 1 << 22       # bytes of the largest array's block of tangents
    LEAST = 8               # columns that a block may have, however large its arrays are
    FEW = 24                # inputs of a row that are sorted in place
    GROUP = 32              # inputs of a group
cdef uint64_t ONE = 1, PAIR = <uint64_t> 1 << 63, BEGIN = 0x9E3779B97F4A7C15    # of a key


cdef inline uint64_t *slots_in(object x) noexcept:
    return <uint64_t *> PyArray_DATA(<ndarray> x)


cdef inline uint32_t *ids_in(object x) noexcept:
    return <uint32_t *> PyArray_DATA(<ndarray> x)


cdef object fresh(Py_ssize_t n):
    return numpy.empty(n, numpy.uint32)


cdef object longs(Py_ssize_t n):
    return numpy.zeros(n, numpy.int64)


cdef inline int64_t *longs_in(object x) noexcept:
    return <int64_t *> PyArray_DATA(<ndarray> x)


cdef struct Pair:
    uint64_t a
    uint64_t b


cdef struct Search:
    uint32_t *seen          # by pair and by input: the turn in which it was met
    uint32_t *met
    uint64_t *pending
    uint32_t *into          # the inputs found
    uint32_t turn
    Py_ssize_t first, room  # where those of this turn begin, and how many there may be


@cython.final
cdef class Slots:
    """The slots of one tape, and the slots that its scalars and its storages have as it is walked.

    Inputs have ids, from 0 on in the order in which they are made. `rows` are the extents that several arrays of
    inputs have in front: those have a group for each row, since what is computed from one row of one often needs the
    same row of the others. Any other array has its elements in groups as they follow each other.
    """

    cdef Pair *pairs
    cdef Py_ssize_t count, room
    cdef uint32_t *number       # by id
    cdef readonly Py_ssize_t inputs_made
    cdef Py_ssize_t inputs_room
    cdef uint32_t *member       # by group and bit: the id
    cdef readonly Py_ssize_t groups
    cdef Py_ssize_t groups_room
    cdef dict pools             # by the extent in front: the first of its groups, and how many bits each has used
    cdef Py_ssize_t used        # bits of the last group that holds single numbers and small arrays
    cdef uint64_t last
    cdef Tape tape
    cdef object scalars     # by id
    cdef list numbered      # by index of a storage of inputs: their numbers
    cdef list storages      # by index, in the order of the memory; None: nothing there depends on an input
    cdef object apart       # by index: whether each read of an element is an input of its own
    cdef list lasting       # storages of the result

    def __cinit__(self, Backpropagator back, apart=(), rows=()):
        self.apart = numpy.zeros(back.tape.place_count + 1, numpy.uint8)
        self.apart[list(apart)] = 1
        self.tape = back.tape
        self.lasting = [(<View> place).storage for _, _, place in places_of([back.result]) if type(place) is View]
        self.scalars = numpy.zeros(back.tape.head.count, numpy.uint64)
        self.storages = [None] * back.tape.place_count
        self.numbered = [None] * back.tape.place_count
        self.pools = {extent: (0, GROUP) for extent in rows}
        self.used = GROUP
        self.groups = 1
        self.reserve(0)

    def __dealloc__(self):
        free(self.pairs)
        free(self.number)
        free(self.member)

    def __len__(self):
        return self.count + self.inputs_made

    cdef int reserve(self, Py_ssize_t more) except -1:
        """Make room for the unions of so many pairs of slots."""
        self.pairs = <Pair *> room_for(self.pairs, self.count + more, &self.room, sizeof(Pair))
        return 0

    cdef inline uint64_t join(self, uint64_t u, uint64_t v) noexcept nogil:
        """The slot of the union of two, one of them where it is seen at once to hold the other."""
        cdef Pair *p
        if u == v or v == 0:
            return u
        if u == 0:
            return v
        if u < v:       # pairs are larger than words, later ones larger than earlier ones
            u, v = v, u
        if not is_pair(u):
            return u | v if u >> 32 == v >> 32 else self.pair(u, v)
        p = &self.pairs[index_of(u)]
        if holds(p.a, v) or holds(p.b, v):
            return u
        if is_pair(p.a) and (holds(self.pairs[index_of(p.a)].a, v) or holds(self.pairs[index_of(p.a)].b, v)):
            return u
        if p.b >> 32 == v >> 32 and not is_pair(v):
            return self.pair(p.a, p.b | v)
        return self.pair(u, v)

    cdef inline uint64_t pair(self, uint64_t u, uint64_t v) noexcept nogil:
        """The slot of a union that no group holds."""
        cdef Py_ssize_t n = self.count
        self.pairs[n].a, self.pairs[n].b = u, v
        self.count = n + 1
        return PAIR | <uint64_t> n

    # -- inputs -------------------------------------------------------------------------------------------------------
    def inputs(self, numbers):
        """Slots of further inputs with these numbers."""
        cdef Py_ssize_t n = numbers.size, rows = len(numbers) if numbers.ndim else 1
        every = numpy.ascontiguousarray(numbers, numpy.uint32)
        cdef object found = numpy.empty(numbers.shape, numpy.uint64)
        self.number = <uint32_t *> room_for(self.number, self.inputs_made + n, &self.inputs_room, sizeof(uint32_t))
        memcpy(self.number + self.inputs_made, PyArray_DATA(<ndarray> every), n * sizeof(uint32_t))
        if n <= GROUP:
            self.together(n, slots_in(found))
        elif n // rows <= GROUP and rows in self.pools:
            self.by_rows(rows, n // rows, slots_in(found))
        else:
            self.in_turn(n, slots_in(found))
        self.inputs_made += n
        return found

    cdef Py_ssize_t more_groups(self, Py_ssize_t n) except -1:
        """Make some groups; the number of the first one."""
        self.member = <uint32_t *> room_for(self.member, self.groups + n, &self.groups_room, GROUP * sizeof(uint32_t))
        memset(self.member + self.groups * GROUP, 0xFF, n * GROUP * sizeof(uint32_t))
        self.groups += n
        return self.groups - n

    cdef int together(self, Py_ssize_t n, uint64_t *slot) except -1:
        """Put a few inputs into one group, beside the few before them."""
        cdef Py_ssize_t k
        if self.used + n > GROUP:
            self.last, self.used = <uint64_t> self.more_groups(1), 0
        for k in range(n):
            slot[k] = self.input(self.last, self.used + k, self.inputs_made + k)
        self.used += n
        return 0

    cdef int by_rows(self, Py_ssize_t rows, Py_ssize_t width, uint64_t *slot) except -1:
        """Put each row into the group that it shares with the same row of other arrays."""
        cdef Py_ssize_t first, used, i, j
        cdef uint32_t id = <uint32_t> self.inputs_made
        cdef uint32_t *member
        cdef uint64_t above
        first, used = self.pools[rows]
        if used + width > GROUP:
            first, used = self.more_groups(rows), 0
        for i in range(rows):
            member = self.member + (first + i) * GROUP + used
            above = <uint64_t> (first + i) << 32
            for j in range(width):
                member[j] = id
                slot[0] = above | ONE << (used + j)
                slot += 1
                id += 1
        self.pools[rows] = first, used + width
        return 0

    cdef int in_turn(self, Py_ssize_t n, uint64_t *slot) except -1:
        """Fill groups with inputs as they follow each other."""
        cdef Py_ssize_t first = self.more_groups((n + GROUP - 1) // GROUP), k
        for k in range(n):
            slot[k] = self.input(first + k // GROUP, k % GROUP, self.inputs_made + k)
        return 0

    cdef inline uint64_t input(self, uint64_t group, Py_ssize_t bit, Py_ssize_t id) noexcept nogil:
        self.member[group * GROUP + bit] = <uint32_t> id
        return group << 32 | ONE << bit

    def ids(self, slots):
        """The ids of inputs, of each of which there is the slot."""
        cdef object every = numpy.ascontiguousarray(slots), found = fresh(every.size)
        cdef uint64_t *slot = slots_in(every)
        cdef uint32_t *id = ids_in(found)
        cdef Py_ssize_t k
        for k in range(every.size):
            id[k] = self.member[self.place(slot[k])] if slot[k] else 0
        return found.reshape(every.shape)

    def made(self, Py_ssize_t n):
        """The ids of the inputs that were made last."""
        return numpy.arange(self.inputs_made - n, self.inputs_made, dtype=numpy.uint32)

    def numbers_at(self, View view):
        """The numbers of the inputs in a storage that holds nothing else, where a view shows them."""
        known = self.numbered[view.storage]
        if known is None:
            known = self.numbered[view.storage] = self.numbers(self.ids(self.storages[view.storage])).astype(numpy.uint64)
        return self.shown(view, known)

    cdef inline Py_ssize_t place(self, uint64_t slot) noexcept nogil:
        """Where the id of an input lies among all members."""
        return (slot >> 32) * GROUP + lowest_bit(<uint32_t> slot)

    def numbers(self, ids):
        """The numbers of inputs."""
        cdef object every = numpy.ascontiguousarray(ids), found = fresh(every.size)
        cdef uint32_t *id = ids_in(every)
        cdef uint32_t *number = ids_in(found)
        cdef Py_ssize_t k
        for k in range(every.size):
            number[k] = self.number[id[k]]
        return found

    def of_ids(self, ids):
        """The slots of scalars."""
        return self.scalars[ids]

    def union(self, x, y):
        """The slots of the unions of two arrays of slots, element by element; they broadcast."""
        x, y = numpy.broadcast_arrays(x, y)
        cdef object found = numpy.empty(x.shape, numpy.uint64), made = found
        if x.size and (x.ndim > 2 or x.ndim == 2 and x.flags.c_contiguous and y.flags.c_contiguous):
            rows = (1, x.size) if x.flags.c_contiguous and y.flags.c_contiguous else (-1, x.shape[x.ndim - 1])
            x, y, made = x.reshape(rows), y.reshape(rows), found.reshape(rows)
        while x.ndim < 2:
            x, y, made = x[None], y[None], made[None]
        self.reserve(x.size)
        if x.size:
            self.unite(x, y, made)
        return found

    cdef int unite(self, ndarray x, ndarray y, ndarray into) except -1:
        """Write the unions of two matrices of slots."""
        cdef Py_ssize_t i, k, n = x.shape[0], m = x.shape[1], dx = x.strides[1], dy = y.strides[1]
        cdef uint64_t u, v, found = 0, before_u = 0, before_v = 0
        cdef uint64_t *out = slots_in(into)
        cdef const char *px
        cdef const char *py
        with nogil:
            for i in range(n):
                px = <char *> PyArray_DATA(x) + i * x.strides[0]
                py = <char *> PyArray_DATA(y) + i * y.strides[0]
                k = 0
                while True:
                    k += te_unions(px + k * dx, dx, py + k * dy, dy, out + k, m - k)
                    if k == m:
                        break
                    u, v = (<const uint64_t *> (px + k * dx))[0], (<const uint64_t *> (py + k * dy))[0]
                    if u != before_u or v != before_v:
                        found = self.join(u, v)
                        before_u, before_v = u, v
                    out[k] = found
                    k += 1
                out += m
        return 0

    # -- the walk -----------------------------------------------------------------------------------------------------
    def get(self, place):
        """The slots of what a record reads."""
        cdef View view
        if type(place) is not View:
            return self.scalars[place]
        view = <View> place
        slots = self.storages[view.storage]
        if slots is None:
            return numpy.zeros(view.shape, numpy.uint64)
        return self.shown(view, slots)

    cdef object shown(self, View view, object slots):
        """The elements of a storage that a view shows, in the memory of the storage's slots where they lie evenly."""
        cdef Py_ssize_t width = self.tape.places[view.storage].width, k
        strides = [view.dims[view.ndim + k] for k in range(view.ndim)]
        if all(s % width == 0 for s in strides):
            return numpy.ndarray(view.shape, numpy.uint64, slots, 8 * (view.offset // width), [8 * (s // width) for s in strides])
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
        if index is None and self.fills(view, slots):
            self.storages[view.storage] = slots.reshape(-1)
            return
        if self.storages[view.storage] is None:
            self.storages[view.storage] = numpy.zeros(self.tape.places[view.storage].size, numpy.uint64)
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

    cdef bint fills(self, View view, object slots):
        """Whether some slots, which nothing else holds, can become those of a whole storage."""
        cdef Py_ssize_t step = self.tape.places[view.storage].width
        cdef int k
        if type(slots) is not ndarray or slots.base is not None or slots.shape != view.shape or view.offset:
            return False
        if view.type != self.tape.places[view.storage].type or slots.size != self.tape.places[view.storage].size:
            return False
        for k in range(view.ndim - 1, -1, -1):
            if view.dims[view.ndim + k] != step:
                return False
            step *= view.dims[k]
        return slots.dtype == numpy.uint64 and slots.flags.c_contiguous

    def walk(self, structure):
        """Walk the tape upwards: scalars here, records of arrays by their own methods, which ask the `structure`.

        The slots of a storage that no later record uses are dropped, unless it is the result's.
        """
        cdef Lifetimes lives = lifetimes_of(self.tape, self.lasting) if self.tape.arrays else None
        cdef uint32_t storage
        cdef Head *h = &self.tape.head
        cdef uint32_t i = h.inputs + 1, n = h.count
        cdef uint64_t *slot = slots_in(self.scalars)
        cdef Record *r
        cdef int kind
        while i < n:
            self.reserve(n - i)
            with nogil:
                i = self.operations(h, i, n, slot)
            if i == n:
                break
            r = record_at(h, i)
            kind = op_at(h, i)
            if kind == ARRAY:
                structure.number = r.p2
                (<ArrayRecord> self.tape.arrays[r.p2]).depend(structure, i)
                while lives.next(i, &storage):
                    self.storages[storage] = None
            elif kind == READ or kind == WRITE:
                self.element(r, kind, slot, i)
            i += 1

    cdef uint32_t operations(self, Head *h, uint32_t i, uint32_t n, uint64_t *slot) noexcept nogil:
        """Walk over operations on scalars; the id of the first record of another kind."""
        cdef uint32_t end
        cdef uint64_t u, v
        cdef Record *r
        while i < n:
            r, end = record_at(h, i), min(n, (i | CHUNK_LAST) + 1)
            while i < end:
                if r.p1 == i:
                    return i
                u = slot[r.p1]
                if r.p2 != i:
                    v = slot[r.p2]
                    u = u | v if in_one_group(u, v) else self.join(u, v)
                slot[i] = u
                i += 1
                r += 1
        return n

    cdef int element(self, Record *r, int kind, uint64_t *slot, uint32_t i) except -1:
        """Read or write one element."""
        cdef uint32_t assigned
        every = self.storages[r.p2]
        if every is None:
            if kind == READ:
                return 0
            every = self.storages[r.p2] = numpy.zeros(self.tape.places[r.p2].size, numpy.uint64)
        if kind == READ:
            slot[i] = slots_in(every)[<Py_ssize_t> r.d2]
            if (<uint8_t *> PyArray_DATA(<ndarray> self.apart))[r.p2]:
                self.number = <uint32_t *> room_for(self.number, self.inputs_made + 1, &self.inputs_room, sizeof(uint32_t))
                self.number[self.inputs_made] = self.number[self.member[self.place(slot[i])]]
                self.together(1, &slot[i])
                self.inputs_made += 1
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

    def positions(self, place):
        """The numbers of what a record reads or writes, among all of the tape's numbers."""
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
        ids : numpy.ndarray of uint32
            Inputs, by their numbers in ascending order.
            None for both where more than `most` slots would be visited.
        """
        cdef Py_ssize_t n = outputs.size, k, used = 0, visits = 0
        cdef object every = numpy.ascontiguousarray(outputs, numpy.uint64)
        cdef object starts = longs(n + 1), found = fresh(16 * n + 64)
        cdef object seen = numpy.zeros(self.count + 1, numpy.uint32), met = numpy.zeros(self.inputs_made + 1, numpy.uint32)
        cdef object pending = numpy.empty(self.count + 2, numpy.uint64)
        cdef int64_t *start = longs_in(starts)
        cdef uint64_t *out = slots_in(every)
        cdef Search s
        s.seen, s.met, s.pending, s.turn = ids_in(seen), ids_in(met), slots_in(pending), 0
        s.into, s.room = ids_in(found), found.size
        for k in range(n):
            s.first = start[k]
            while True:
                s.turn += 1
                used = again(&s, start[k - 1]) if k and out[k] == out[k - 1] else self.below(out[k], &s, &visits)
                if used >= 0:
                    break
                found = numpy.concatenate([found[:start[k]], fresh(2 * found.size)])
                s.into, s.room = ids_in(found), found.size
            start[k + 1] = used
            if visits > most:
                return None, None
            if used - start[k] > FEW and not (k and out[k] == out[k - 1]):
                part = found[start[k]:used]
                part[...] = part[numpy.argsort(self.numbers(part), kind="stable")]
        return starts, found[:used] if 2 * used > found.size else found[:used].copy()

    cdef Py_ssize_t below(self, uint64_t u, Search *s, Py_ssize_t *visits) noexcept nogil:
        """Add the inputs below a slot to those found; -1 where there is no more room."""
        cdef Py_ssize_t top = 1, used = s.first, which
        s.pending[0] = u
        while top and used >= 0:
            top -= 1
            u = s.pending[top]
            visits[0] += 1
            if not is_pair(u):
                used = self.bits(u, s, used, top == 0)
            elif s.seen[index_of(u)] != s.turn:
                s.seen[index_of(u)] = s.turn
                s.pending[top] = self.pairs[index_of(u)].b
                s.pending[top + 1] = self.pairs[index_of(u)].a
                top += 2
        return used

    cdef Py_ssize_t bits(self, uint64_t word, Search *s, Py_ssize_t used, bint is_alone) noexcept nogil:
        """Add the inputs of a word to those found; most rows are short: sorted as they come."""
        cdef const uint32_t *member = self.member + (word >> 32) * GROUP
        cdef const uint32_t *number = self.number
        cdef uint32_t *into = s.into
        cdef uint32_t bits = <uint32_t> word, id
        cdef bint alone = is_alone and used == s.first     # nothing is met twice then
        cdef Py_ssize_t k
        if used + GROUP > s.room:
            return -1
        while bits:
            id = member[lowest_bit(bits)]
            bits &= bits - 1
            if not alone:
                if s.met[id] == s.turn:
                    continue
                s.met[id] = s.turn
            k = used
            if used - s.first <= FEW:
                while k > s.first and number[into[k - 1]] > number[id]:
                    into[k] = into[k - 1]
                    k -= 1
            into[k] = id
            used += 1
        return used

    def downwards(self, outputs, words, ends):
        """Give each pair, in `words`, and each input, in `ends`, the bits of the outputs that were computed from it."""
        cdef Py_ssize_t k, n = outputs.size
        cdef uint64_t *out = slots_in(outputs)
        cdef uint64_t *word = slots_in(words)
        cdef uint64_t *end = slots_in(ends)
        with nogil:
            for k in range(n):
                self.hand_down(out[k], ONE << k, word, end)
            for k in range(self.count - 1, -1, -1):
                if word[k]:
                    self.hand_down(self.pairs[k].a, word[k], word, end)
                    self.hand_down(self.pairs[k].b, word[k], word, end)

    cdef inline void hand_down(self, uint64_t u, uint64_t outputs, uint64_t *word, uint64_t *end) noexcept nogil:
        """Give a slot the outputs that were computed from it."""
        cdef uint32_t *member = self.member + (u >> 32) * GROUP
        cdef uint32_t bits = <uint32_t> u
        if is_pair(u):
            word[index_of(u)] |= outputs
            return
        while bits:
            end[member[lowest_bit(bits)]] |= outputs
            bits &= bits - 1

    def upwards(self, outputs, begins, masks, words, ends):
        """Give each pair, in `words`, and each output, in `ends`, the bits that the inputs below it begin with.

        `masks` are the bits of the inputs of each group that begin with any.
        """
        cdef Py_ssize_t k, n = outputs.size
        cdef uint64_t *out = slots_in(outputs)
        cdef uint64_t *end = slots_in(ends)
        cdef uint64_t *word = slots_in(words)
        cdef uint64_t *begin = slots_in(begins)
        cdef uint32_t *mask = ids_in(masks)
        with nogil:
            for k in range(self.count):
                word[k] = self.above(self.pairs[k].a, word, begin, mask) | self.above(self.pairs[k].b, word, begin, mask)
            for k in range(n):
                end[k] = self.above(out[k], word, begin, mask)

    def members(self):
        """The id of each member of each group, 2^32 - 1 for none."""
        cdef object found = fresh(self.groups * GROUP)
        if self.groups > 1:
            memcpy(PyArray_DATA(<ndarray> found), self.member, self.groups * GROUP * sizeof(uint32_t))
        found[:GROUP] = 0xFFFFFFFF
        return found

    @property
    def pair_count(self):
        """How many pairs there are."""
        return self.count

    cdef inline uint64_t above(self, uint64_t u, const uint64_t *word, const uint64_t *begin, const uint32_t *mask) noexcept nogil:
        """The chosen inputs that a slot holds."""
        cdef uint32_t *member = self.member + (u >> 32) * GROUP
        cdef uint32_t bits = <uint32_t> u
        cdef uint64_t found = 0
        if is_pair(u):
            return word[index_of(u)]
        bits &= mask[u >> 32]
        while bits:
            found |= begin[member[lowest_bit(bits)]]
            bits &= bits - 1
        return found


cdef Py_ssize_t again(Search *s, Py_ssize_t before) noexcept nogil:
    """Add the inputs of the row before once more; -1 where there is no more room."""
    cdef Py_ssize_t n = s.first - before
    if s.first + n > s.room:
        return -1
    memcpy(s.into + s.first, s.into + before, n * sizeof(uint32_t))
    return s.first + n


cdef void *room_for(void *known, Py_ssize_t wanted, Py_ssize_t *room, size_t size) except NULL:
    """Memory for so many items, which may have moved."""
    cdef Py_ssize_t more
    cdef void *found
    if known != NULL and wanted <= room[0]:
        return known
    if wanted >= 1 << 31:
        raise MemoryError(f"the structure of this tape takes {wanted:,} slots; fewer than 2^31 fit")
    more = min(max(wanted, 2 * room[0], <Py_ssize_t> 64), <Py_ssize_t> 1 << 31)
    found = realloc(known, more * size)
    if found == NULL:
        raise MemoryError(f"no memory for {more:,} slots")
    room[0] = more
    return found


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


def has_complex(Tape tape):
    """Whether there are arrays of complex numbers."""
    return any([PyTypeNum_ISCOMPLEX(tape.places[k].type) for k in range(tape.place_count)])


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


def places_key(Backpropagator back):
    """What tells where the numbers of the primals and of the result are: equal where they are in the same places."""
    cdef uint64_t key = BEGIN
    cdef list others = []
    for ends in (back.primals, [back.result]):
        for start, n, place in places_of(ends):
            key = mixed(key, <uint64_t> start)
            key = mixed(key, <uint64_t> n)
            if type(place) is View or place is None:
                others.append(geometry_key(place))
            else:
                key = mixed(key, <uint64_t> place)
    return key, tuple(others)


def scalars_key(Tape tape):
    """A number that tells how the records of scalars are linked: equal where the structure is."""
    cdef Head *h = &tape.head
    cdef uint64_t key = BEGIN
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


def extents_of_reads(Tape tape, storages):
    """The extents in front of what is read out of some storages by indices."""
    found = []
    for entry in tape.arrays if storages else ():
        places = (<ArrayRecord> entry).reads()
        if len(places) == 1 and type(places[0][1]) is View and (<View> places[0][1]).storage in storages:
            found.extend([(<View> place).shape[0] for place in (<ArrayRecord> entry).writes()
                          if type(place) is View and (<View> place).ndim])
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
    cdef uint32_t *id = ids_in(found)
    with nogil:
        for i in range(h.inputs + 1, h.count):
            if op_at(h, i) == READ and flag[record_at(h, i).p2]:
                id[n] = i
                n += 1
    return found[:n].copy()


cdef int mark_reads(Tape tape, object ids, int kind) except -1:
    """Have a sweep pass reads by (INPUT), or take them as what they are (READ)."""
    cdef Py_ssize_t k
    cdef uint32_t *id = ids_in(ids)
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


# -- rows of their own records ------------------------------------------------------------------------------------------
def lowest_records(Tape tape, storages, ids):
    """The lowest record that each scalar was computed by; 0 where not all of them are operations on scalars.

    Elements that were read from the given storages, none of which is written, count as operations without arguments.
    """
    cdef Head *h = &tape.head
    cdef object wanted = numpy.zeros(tape.place_count + 1, numpy.uint8), lows = fresh(h.count)
    wanted[list(storages)] = 1
    cdef uint8_t *flag = <uint8_t *> PyArray_DATA(<ndarray> wanted)
    cdef uint32_t *low = ids_in(lows)
    cdef uint32_t i
    cdef Record *r
    with nogil:
        for i in range(h.inputs + 1):
            low[i] = 0xFFFFFFFF
        for i in range(h.inputs + 1, h.count):
            r = record_at(h, i)
            if r.p1 == i:
                low[i] = i if op_at(h, i) == READ and flag[r.p2] else 0
            else:
                low[i] = min(i, low[r.p1] if r.p2 == i else min(low[r.p1], low[r.p2]))
    return lows[ids]


def rows_of_records(Backpropagator back, ids, lows, starts, places):
    """The partial derivatives of scalars: each is swept over its own records alone, from its id down to its lowest one.

    Parameters
    ----------
    back : Backpropagator
        Of a tape that depends on no outer trace.
    ids, lows : numpy.ndarray of uint32
        The scalars, in ascending order of the rows, and what `lowest_records` gives for them.
    starts : numpy.ndarray of int64
        Where each row's entries begin, as in a CSR matrix.
    places : numpy.ndarray of uint32
        The ids of what each entry is the derivative by: inputs and element reads.

    Returns
    -------
    numpy.ndarray of float64
    """
    cdef Head *h = &back.tape.head
    cdef Py_ssize_t n = ids.size, k, e, worked = 0
    cdef object found = numpy.empty(places.size), begins = numpy.zeros(h.inputs + 1)
    cdef object window = numpy.zeros(1 + int((ids - numpy.minimum(lows, ids)).max(initial=0)))
    cdef uint32_t *id = ids_in(ids)
    cdef uint32_t *low = ids_in(lows)
    cdef uint32_t *place = ids_in(places)
    cdef int64_t *start = longs_in(starts)
    cdef double *out = <double *> PyArray_DATA(<ndarray> found)
    cdef Window w
    w.begins, w.inputs = <double *> PyArray_DATA(<ndarray> begins), h.inputs
    for k in range(n):
        if start[k] == start[k + 1]:    # a record without a lowest one would lie outside of the window
            continue
        w.above = <double *> PyArray_DATA(<ndarray> window)
        w.low = low[k]
        at(&w, id[k])[0] = 1.0
        if low[k] != 0xFFFFFFFF:
            sweep_window(h, &w, id[k])
            worked += id[k] - low[k]
        for e in range(start[k], start[k + 1]):
            out[e] = at(&w, place[e])[0]
            at(&w, place[e])[0] = 0.0
        if worked > LOOK:
            worked = 0
            PyErr_CheckSignals()
    return found


cdef struct Window:
    double *begins      # cotangents of the inputs, by id, and of the records from the lowest one on
    double *above
    uint32_t inputs, low


cdef inline double *at(Window *w, uint32_t i) noexcept nogil:
    return w.begins + i if i <= w.inputs else w.above + (i - w.low)


cdef void sweep_window(Head *h, Window *w, uint32_t i) noexcept nogil:
    """Resolve the records from one down to the lowest one; what was read keeps its cotangent."""
    cdef Record *r
    cdef double c
    while i >= w.low:
        c = w.above[i - w.low]
        r = record_at(h, i)
        if c != 0.0 and r.p1 != i:
            w.above[i - w.low] = 0.0
            at(w, r.p1)[0] += c * r.d1
            if r.p2 != i:
                at(w, r.p2)[0] += c * r.d2
        i -= 1


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
    cdef uint32_t *id = ids_in(reads)
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
            numpy.add.at(rows.part(<View> place), (row, *at), -1.0 if (<View> place).imaginary else 1.0)
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
cdef object uncoloured(Py_ssize_t n):
    return numpy.full(n, -1, numpy.int32)


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
    cdef object colours = uncoloured(n), taken = longs(n + 1)
    cdef int32_t *colour = <int32_t *> PyArray_DATA(<ndarray> colours)
    cdef int64_t *by = longs_in(taken)
    cdef int64_t *s = longs_in(starts)
    cdef int64_t *o = longs_in(others)
    cdef int64_t *t = longs_in(back_starts)
    cdef int64_t *p = longs_in(back_others)
    cdef int64_t *turn = longs_in(order)
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
    cdef object colours = uncoloured(n), taken = longs(n + 1)
    cdef int32_t *colour = <int32_t *> PyArray_DATA(<ndarray> colours)
    cdef int64_t *by = longs_in(taken)
    cdef int64_t *s = longs_in(starts)
    cdef int64_t *o = longs_in(others)
    cdef int64_t *turn = longs_in(order)
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


def acyclic(order, starts, others, trees):
    """Colour a graph so that every cycle has three colours (Gebremedhin, Tarafdar, Pothen and Walther 2009, 3).

    What two colours have in common is a forest then; its trees are kept as sets of edges, which are joined. `trees` has
    for each entry of `others` the same edge of the two places that it has there; it is changed.
    """
    cdef Py_ssize_t n = starts.size - 1, k
    cdef object colours = uncoloured(n), taken = longs(n + 1), first = longs(2 * n), seen_by = longs(2 * trees.size)
    cdef int32_t *colour = <int32_t *> PyArray_DATA(<ndarray> colours)
    cdef int64_t *by = longs_in(taken)
    cdef int64_t *met = longs_in(first)         # by colour: the vertex that met it last, and through which edge
    cdef int64_t *edge = met + n
    cdef int64_t *seen = longs_in(seen_by)      # by tree: likewise, and from which neighbour
    cdef int64_t *tree = longs_in(trees)
    cdef int64_t *via = seen + <Py_ssize_t> trees.size
    cdef int64_t *s = longs_in(starts)
    cdef int64_t *o = longs_in(others)
    cdef int64_t *turn = longs_in(order)
    cdef int64_t v, w, x, i, j, t
    cdef int32_t c
    with nogil:
        for k in range(n):
            v = turn[k]
            for i in range(s[v], s[v + 1]):
                if o[i] != v and colour[o[i]] >= 0:
                    by[colour[o[i]]] = k + 1
            for i in range(s[v], s[v + 1]):     # a tree that is met through two neighbours would become a cycle
                w = o[i]
                if w == v or colour[w] < 0:
                    continue
                for j in range(s[w], s[w + 1]):
                    x = o[j]
                    if x == v or x == w or colour[x] < 0 or by[colour[x]] == k + 1:
                        continue
                    t = root(tree, j)
                    if seen[t] != k + 1:
                        seen[t], via[t] = k + 1, w
                    elif via[t] != w:
                        by[colour[x]] = k + 1
            c = 0
            while by[c] == k + 1:
                c += 1
            colour[v] = c
            for i in range(s[v], s[v + 1]):     # join the trees that now meet in v, and those beyond its neighbours
                w = o[i]
                if w == v or colour[w] < 0:
                    continue
                if met[colour[w]] != k + 1:
                    met[colour[w]], edge[colour[w]] = k + 1, i
                else:
                    tree[root(tree, i)] = root(tree, edge[colour[w]])
                for j in range(s[w], s[w + 1]):
                    if o[j] != v and o[j] != w and colour[o[j]] == c:
                        tree[root(tree, i)] = root(tree, j)
    return colours


cdef inline int64_t root(int64_t *tree, int64_t i) noexcept nogil:
    while tree[i] != i:
        tree[i] = tree[tree[i]]
        i = tree[i]
    return i


def eliminated(rows, others, sums, left, mirror):
    """The order in which the entries of a symmetric matrix follow from products with the sums of its columns.

    A sum that has a single entry left is that entry, which is subtracted from the sum of its mirror image. Those that
    have one to begin with come first.

    Parameters
    ----------
    rows, others, mirror : numpy.ndarray of int64
        The row and the column of each entry, and the place of its mirror image.
    sums : numpy.ndarray of int64
        The number of the sum that each entry is in; that of the sum that it follows from afterwards.
    left : numpy.ndarray of int64
        How many entries off the diagonal are in each sum; changed.

    Returns
    -------
    sources, rests : numpy.ndarray of int64
        The sums that entries follow from, in order, and those from which they are subtracted.
    """
    cdef Py_ssize_t m = others.size, k = 0, head = 0, tail = 0
    cdef object last = longs(left.size), queue = longs(left.size), sources = longs(m), rests = longs(m)
    cdef int64_t *row = longs_in(rows)
    cdef int64_t *of = longs_in(sums)
    cdef int64_t *count = longs_in(left)
    cdef int64_t *entry = longs_in(last)
    cdef int64_t *waiting = longs_in(queue)
    cdef int64_t *source = longs_in(sources)
    cdef int64_t *rest = longs_in(rests)
    cdef int64_t *o = longs_in(others)
    cdef int64_t *back = longs_in(mirror)
    cdef int64_t p, q, here, there
    with nogil:
        for p in range(m):
            if o[p] != row[p]:
                entry[of[p]] ^= p       # of those that are left, when it is one
                if count[of[p]] == 1:
                    waiting[tail] = of[p]
                    tail += 1
        while head < tail:
            here = waiting[head]
            head += 1
            if count[here] != 1:
                continue
            p = entry[here]
            q = back[p]
            there = of[q]
            source[k], rest[k] = here, there
            k += 1
            of[q] = here
            count[here] = 0
            count[there] -= 1
            entry[there] ^= q
            if count[there] == 1:
                waiting[tail] = there
                tail += 1
    return sources[:k], rests[:k]


def substitute(numbers, sources, rests):
    """Subtract sums that are entries from others, in place, in the order that `eliminated` gives."""
    cdef double *number = <double *> PyArray_DATA(<ndarray> numbers)
    cdef int64_t *source = longs_in(sources)
    cdef int64_t *rest = longs_in(rests)
    cdef Py_ssize_t k, n = sources.size
    with nogil:
        for k in range(n):
            number[rest[k]] -= number[source[k]]


def by_degree(starts, others, bint last):
    """An order of a graph's vertices by degrees: the smallest last, or the largest incidence first.

    With `last`, the vertex of the least degree among those that are left comes last, and so on from the end (Matula
    and Beck 1983). Without, the next vertex is the one with the most neighbours that are in the order already.
    """
    cdef Py_ssize_t n = starts.size - 1, k, most, at
    cdef object degrees = numpy.diff(starts) if last else longs(n)
    cdef object heads = longs(n + 1) - 1, following = longs(n), before = longs(n), order = longs(n)
    cdef int64_t *degree = longs_in(degrees)
    cdef int64_t *head = longs_in(heads)
    cdef int64_t *after = longs_in(following)
    cdef int64_t *prior = longs_in(before)
    cdef int64_t *turn = longs_in(order)
    cdef int64_t *s = longs_in(starts)
    cdef int64_t *o = longs_in(others)
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
