# The structure of a tape: which numbers each number was computed from.
#
# Each number has a slot of 64 bits, which stands for the set of inputs that the number depends on; slot 0 is the empty set.
# Inputs are divided into groups of up to 32. A set within one group is stored as the number of the group in the upper half of
# the slot and one bit per member in the lower half, so the union of two such sets is a bitwise OR, computed for whole arrays.
# The union of sets from different groups is a pair of slots; the slot then holds the index of the pair. Two numbers that depend
# on the same inputs share a slot, so reads, views, writes and functions of one number make no new slot.
#
# The pairs form a graph that is much smaller than the tape. The sets of inputs are computed from it, either for one output at a
# time, or for 64 outputs or inputs at once as the bits of a word.
# Included by linear.pyx.

cdef extern from "slots.h" nogil:
    bint is_pair(uint64_t u)
    Py_ssize_t index_of(uint64_t u)
    bint holds(uint64_t u, uint64_t v)
    bint in_one_group(uint64_t u, uint64_t v)
    int lowest_bit(uint32_t bits)
    Py_ssize_t te_unions(const char *x, Py_ssize_t dx, const char *y, Py_ssize_t dy, uint64_t *out, Py_ssize_t n)

cdef enum:
    PAUSE = 1 << 20         # records between two looks for an interrupt
    SORTED = 24             # inputs of a row that are sorted in place
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
    uint32_t *seen          # for each pair, the turn in which it was visited
    uint32_t *met           # for each input, the turn in which it was found
    uint64_t *pending
    uint32_t *into          # the inputs found
    uint32_t turn
    Py_ssize_t first, room  # the start of this turn's inputs in `into`, and the capacity of `into`


@cython.final
cdef class Slots:
    """The slots of one tape, and the current slots of its scalars and storages during a walk over the tape.

    Inputs have ids, counted from 0 in the order of their creation. `rows` are first extents that several arrays of inputs
    have in common. Such arrays have one group for each row, because a result that depends on a row of one array often
    depends on the same row of the others. The elements of other arrays fill groups in their order.
    """

    cdef Pair *pairs
    cdef Py_ssize_t count, room
    cdef uint32_t *number       # by id
    cdef readonly Py_ssize_t inputs_made
    cdef Py_ssize_t inputs_room
    cdef uint32_t *member       # by group and bit: the id
    cdef readonly Py_ssize_t groups
    cdef Py_ssize_t groups_room
    cdef dict pools             # for each first extent: its first group, and the number of bits used in its groups
    cdef Py_ssize_t used        # bits of the last group that holds single numbers and small arrays
    cdef uint64_t last
    cdef Tape tape
    cdef object scalars     # by id
    cdef list numbered      # by index of a storage of inputs: their numbers
    cdef list storages      # by index, in the order of the memory; None: no element depends on an input
    cdef object apart       # by index: whether each read of an element counts as a separate input
    cdef list outputs       # places of the result

    def __cinit__(self, Backpropagator back, apart=(), rows=()):
        self.apart = numpy.zeros(back.tape.place_count + 1, numpy.uint8)
        self.apart[list(apart)] = 1
        self.tape = back.tape
        self.outputs = places_of([back.result])
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
        """Allocate memory for a number of further pairs."""
        self.pairs = <Pair *> room_for(self.pairs, self.count + more, &self.room, sizeof(Pair))
        return 0

    cdef inline uint64_t join(self, uint64_t u, uint64_t v) noexcept nogil:
        """The slot of the union of two sets; no pair is made if one of them evidently contains the other."""
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
        """The slot of a new pair, for a union of sets from different groups."""
        cdef Py_ssize_t n = self.count
        self.pairs[n].a, self.pairs[n].b = u, v
        self.count = n + 1
        return PAIR | <uint64_t> n

    # -- inputs -------------------------------------------------------------------------------------------------------
    def inputs(self, numbers: NDArray[Any]) -> NDArray[numpy.uint64]:
        """Make inputs with the given numbers, and return their slots."""
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
        """Make n groups; return the number of the first one."""
        self.member = <uint32_t *> room_for(self.member, self.groups + n, &self.groups_room, GROUP * sizeof(uint32_t))
        memset(self.member + self.groups * GROUP, 0xFF, n * GROUP * sizeof(uint32_t))
        self.groups += n
        return self.groups - n

    cdef int together(self, Py_ssize_t n, uint64_t *slot) except -1:
        """Put a few inputs into the group that is being filled, or into a new one if they do not fit."""
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

    def ids(self, slots: NDArray[numpy.uint64]) -> NDArray[numpy.uint32]:
        """The ids of inputs, given their slots."""
        cdef object every = numpy.ascontiguousarray(slots), found = fresh(every.size)
        cdef uint64_t *slot = slots_in(every)
        cdef uint32_t *id = ids_in(found)
        cdef Py_ssize_t k
        for k in range(every.size):
            id[k] = self.member[self.place(slot[k])] if slot[k] else 0
        return found.reshape(every.shape)

    def made(self, Py_ssize_t n) -> NDArray[numpy.uint32]:
        """The ids of the last n inputs that were made."""
        return numpy.arange(self.inputs_made - n, self.inputs_made, dtype=numpy.uint32)

    def numbers_at(self, View view) -> NDArray[numpy.uint64]:
        """The numbers of the inputs that a view shows; all elements of its storage must be inputs."""
        known = self.numbered[view.storage]
        if known is None:
            known = self.numbered[view.storage] = self.numbers(self.ids(self.storages[view.storage])).astype(numpy.uint64)
        return self.shown(view, known)

    cdef inline Py_ssize_t place(self, uint64_t slot) noexcept nogil:
        """The index of an input in `member`."""
        return (slot >> 32) * GROUP + lowest_bit(<uint32_t> slot)

    def numbers(self, ids: NDArray[numpy.uint32]) -> NDArray[numpy.uint32]:
        """The numbers of inputs."""
        cdef object every = numpy.ascontiguousarray(ids), found = fresh(every.size)
        cdef uint32_t *id = ids_in(every)
        cdef uint32_t *number = ids_in(found)
        cdef Py_ssize_t k
        for k in range(every.size):
            number[k] = self.number[id[k]]
        return found

    def of_ids(self, ids: NDArray[numpy.uint32] | slice) -> NDArray[numpy.uint64]:
        """The slots of scalars."""
        return self.scalars[ids]

    def union(self, x, y) -> NDArray[numpy.uint64]:
        """The slots of the elementwise unions of two arrays of slots, which are broadcast against each other."""
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
        cdef npy_intp *sx = PyArray_STRIDES(x)
        cdef npy_intp *sy = PyArray_STRIDES(y)
        cdef Py_ssize_t i, k, n = PyArray_DIM(x, 0), m = PyArray_DIM(x, 1), dx = sx[1], dy = sy[1]
        cdef uint64_t u, v, found = 0, before_u = 0, before_v = 0
        cdef uint64_t *out = slots_in(into)
        cdef const char *px
        cdef const char *py
        with nogil:
            for i in range(n):
                px = <char *> PyArray_DATA(x) + i * sx[0]
                py = <char *> PyArray_DATA(y) + i * sy[0]
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
        """The slots of the elements that a view shows: a view of the storage's slots if the strides allow it."""
        cdef Py_ssize_t width = self.tape.places[view.storage].width, k
        strides = [view.dims[view.ndim + k] for k in range(view.ndim)]
        if all([s % width == 0 for s in strides]):
            return numpy.ndarray(view.shape, numpy.uint64, slots, 8 * (view.offset // width), [8 * (s // width) for s in strides])
        return slots[self.elements(view, strides)]

    cdef object elements(self, View view, list strides):
        at = numpy.full(view.shape, view.offset)
        for k, step in enumerate(strides):
            at = at + (numpy.arange(view.dims[k]) * step).reshape((-1,) + (1,) * (view.ndim - 1 - k))
        return at // self.tape.places[view.storage].width

    def put(self, place, slots, index=None) -> None:
        """Set the slots of the elements that a record writes; writing one part of a complex number keeps the other part's."""
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
            if any([s % self.tape.places[view.storage].width for s in strides]):  # both parts of one number
                every[at[..., ::2]] = self.union(every[at[..., ::2]], slots[..., ::2])
                every[at[..., 1::2]] = self.union(every[at[..., 1::2]], slots[..., 1::2])
        elif index is None:
            self.shown(view, every)[...] = slots
        else:
            self.shown(view, every)[index] = slots

    cdef bint fills(self, View view, object slots):
        """Whether an array of slots can be stored, without a copy, as the slots of a whole storage."""
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

    def walk(self, structure) -> None:
        """Compute the slots of all records in order: those of scalars here, those of arrays by the records' `depend`.

        The slots of a storage are freed after its last use, unless the storage belongs to the result.
        """
        cdef Lifetimes lives = lifetimes_of(self.tape, self.outputs) if self.tape.arrays else None
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
        """Compute the slots of scalar records from id i on; return the id of the first record of another kind."""
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

    def positions(self, place) -> NDArray[numpy.intp]:
        """The positions of the elements that a record reads or writes, among all numbers of the tape."""
        cdef View view
        if type(place) is not View:
            return numpy.asarray(place)
        view = <View> place
        return self.base(view.storage) + self.elements(view, [view.dims[view.ndim + k] for k in range(view.ndim)])

    def access(self, uint32_t i) -> tuple[int, int]:
        """The element that a record reads or writes, and the id of the scalar that it writes (0: a constant)."""
        cdef Record *r = record_at(&self.tape.head, i)
        return self.base(r.p2) + <Py_ssize_t> r.d2, <uint32_t> r.d1

    # -- solutions ----------------------------------------------------------------------------------------------------
    def search(self, outputs: NDArray[numpy.uint64], Py_ssize_t most) -> tuple[Any, Any]:
        """The inputs that each output depends on, found by a search from each output.

        Returns
        -------
        starts : numpy.ndarray of int64
            The index in `ids` at which each output's inputs begin.
        ids : numpy.ndarray of uint32
            The ids of the inputs, for each output in ascending order of their numbers.
            Both are None if the search would visit more than `most` slots.
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
            if used - start[k] > SORTED and not (k and out[k] == out[k - 1]):
                part = found[start[k]:used]
                part[...] = part[numpy.argsort(self.numbers(part), kind="stable")]
        return starts, found[:used] if 2 * used > found.size else found[:used].copy()

    cdef Py_ssize_t below(self, uint64_t u, Search *s, Py_ssize_t *visits) noexcept nogil:
        """Add the inputs of a slot's set to those found; return -1 if `into` is full."""
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
        """Add the inputs of one group to those found; short lists are kept sorted by insertion."""
        cdef const uint32_t *member = self.member + (word >> 32) * GROUP
        cdef const uint32_t *number = self.number
        cdef uint32_t *into = s.into
        cdef uint32_t bits = <uint32_t> word, id
        cdef bint alone = is_alone and used == s.first     # then no input can be found twice
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
            if used - s.first <= SORTED:
                while k > s.first and number[into[k - 1]] > number[id]:
                    into[k] = into[k - 1]
                    k -= 1
            into[k] = id
            used += 1
        return used

    def downwards(self, outputs, words, ends) -> None:
        """Set the bits of the outputs that depend on each pair, in `words`, and on each input, in `ends`."""
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
        """Add outputs to those that depend on a slot."""
        cdef uint32_t *member = self.member + (u >> 32) * GROUP
        cdef uint32_t bits = <uint32_t> u
        if is_pair(u):
            word[index_of(u)] |= outputs
            return
        while bits:
            end[member[lowest_bit(bits)]] |= outputs
            bits &= bits - 1

    def upwards(self, outputs, begins, masks, words, ends) -> None:
        """Compute the union of the inputs' bits `begins` over the set of each pair, in `words`, and output, in `ends`.

        `masks` has, for each group, the members whose bits are not all zero.
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

    def members(self) -> NDArray[numpy.uint32]:
        """The id of each member of each group, 2^32 - 1 for none."""
        cdef object found = fresh(self.groups * GROUP)
        if self.groups > 1:
            memcpy(PyArray_DATA(<ndarray> found), self.member, self.groups * GROUP * sizeof(uint32_t))
        found[:GROUP] = 0xFFFFFFFF
        return found

    @property
    def pair_count(self) -> int:
        """The number of pairs."""
        return self.count

    cdef inline uint64_t above(self, uint64_t u, const uint64_t *word, const uint64_t *begin, const uint32_t *mask) noexcept nogil:
        """The union of the bits of the inputs in a slot's set."""
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
    """Copy the inputs of the previous output, which has the same slot; return -1 if `into` is full."""
    cdef Py_ssize_t n = s.first - before
    if s.first + n > s.room:
        return -1
    memcpy(s.into + s.first, s.into + before, n * sizeof(uint32_t))
    return s.first + n


cdef void *room_for(void *known, Py_ssize_t wanted, Py_ssize_t *room, size_t size) except NULL:
    """Memory for at least the wanted number of items; the old block may have moved."""
    cdef Py_ssize_t more
    if known != NULL and wanted <= room[0]:
        return known
    if wanted >= 1 << 31:
        raise MemoryError(f"the structure of this tape takes {wanted:,} slots; fewer than 2^31 fit")
    more = min(max(wanted, 2 * room[0], <Py_ssize_t> 64), <Py_ssize_t> 1 << 31)
    known = enlarged(known, more, size, "slots")
    room[0] = more
    return known


include "described.pxi"
include "compressed.pxi"
include "colours.pxi"
