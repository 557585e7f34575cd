"""The tape of a trace: records in chunks, growth and its limits, and the table of live tapes (DN 9 and 10)."""

from cpython.array cimport array as Ids, resize_smart
from libc.stdint cimport uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX

from cpython.pythread cimport PyThread_get_thread_ident
cimport cython
from tapeengine._core.tape.numpy_c cimport PyArray_DATA, PyArray_NBYTES, import_array, ndarray

from tapeengine._core.tape.opcodes cimport op_codes, op_names

from array import array
from bisect import insort
from importlib import import_module

from tapeengine.errors import TapeLimitError, TraceError

import_array()

cdef extern from "memory.h":
    void *te_zeros(size_t count, size_t size)
    void te_free(void *data)

cdef extern from "digest.h":
    uint64_t te_digest(const void *data, size_t bytes) nogil

cdef enum:
    SPARE_CHUNKS = 16       # chunks kept for the next trace, and blocks of values: about 17 MB that cause no page faults
    SPARE_GUARDS = 1 << 18  # the most guards whose memory is kept for the next recording: 6 MB
    SLAB_CHUNKS = 20        # chunks in a slab: 16.4 of its 16.8 MB
    RECORD_BYTES = 25       # a record and its opcode
    SLAB_HEAD = 64          # bytes before the first chunk of a slab
    LAST_ID = 0xFFFFFFFE
    LAST_TAG = 0xF0000000

cdef Head nobody            # its tag is that of no dual; duals that a program constructs itself have the tag 0
memset(&nobody, 0, sizeof(Head))
nobody.tag = 0xFFFFFFFF
traces.current = &nobody
traces.live = NULL
traces.count = traces.room = 0
traces.next_tag = 1
traces.recordings = 0

cdef Chunk *spare[SPARE_CHUNKS]
cdef double *spare_values[SPARE_CHUNKS]
cdef int spare_count = 0, spare_values_count = 0
cdef Guards spare_guards
memset(&spare_guards, 0, sizeof(Guards))


cdef Slab *open_slab = NULL     # the slab that chunks are taken from


cdef Chunk *new_chunk(bint long_tape) noexcept:
    """Take a spare chunk, or allocate one: alone for a short tape, from a slab for a long one."""
    global spare_count
    cdef Chunk *chunk
    if long_tape:
        return chunk_of_slab()
    if spare_count:
        spare_count -= 1
        return spare[spare_count]
    chunk = <Chunk *> malloc(sizeof(Chunk))
    if chunk != NULL:
        chunk.slab = NULL
    return chunk


cdef Chunk *chunk_of_slab() noexcept:
    global open_slab
    cdef Chunk *chunk
    if open_slab == NULL or open_slab.taken == SLAB_CHUNKS:
        open_slab = <Slab *> te_zeros(1, SLAB_HEAD + SLAB_CHUNKS * sizeof(Chunk))
        if open_slab == NULL:
            return NULL
        open_slab.taken = open_slab.used = 0
    chunk = <Chunk *> (<char *> open_slab + SLAB_HEAD + open_slab.taken * sizeof(Chunk))
    chunk.slab = open_slab
    open_slab.taken += 1
    open_slab.used += 1
    return chunk


cdef void free_chunk(Chunk *chunk) noexcept:
    global spare_count
    if chunk.slab != NULL:
        free_in_slab(chunk.slab)
    elif spare_count < SPARE_CHUNKS:
        spare[spare_count] = chunk
        spare_count += 1
    else:
        free(chunk)


cdef double *new_values() noexcept:
    """Take a spare block of values, or allocate one."""
    global spare_values_count
    if spare_values_count:
        spare_values_count -= 1
        return spare_values[spare_values_count]
    return <double *> malloc(CHUNK * sizeof(double))


cdef void free_values(double *values) noexcept:
    global spare_values_count
    if values != NULL and spare_values_count < SPARE_CHUNKS:
        spare_values[spare_values_count] = values
        spare_values_count += 1
    else:
        free(values)


cdef void free_guards(Guards *guards) noexcept:
    """Free the guards of a recording; keep the memory of the longer ones."""
    if spare_guards.room < guards.room <= SPARE_GUARDS:
        free(spare_guards.each)
        spare_guards.each, spare_guards.room = guards.each, guards.room
    else:
        free(guards.each)
    free(guards)


cdef void free_in_slab(Slab *slab) noexcept:
    """Return one chunk to its slab; the last one frees the slab."""
    global open_slab
    slab.used -= 1
    if slab.used == 0:
        if slab == open_slab:
            open_slab = NULL
        te_free(slab)


cdef Head *find(uint32_t tag) noexcept:
    """Find the live head of a tag, and make it the current one; NULL if the trace is over.

    Only its own thread finds a continuation, so a continuation never becomes the current head, which all threads share.
    """
    cdef Py_ssize_t i
    for i in range(traces.count - 1, -1, -1):
        if traces.live[i].tag != tag:
            continue
        if traces.live[i].below == 0:
            traces.current = traces.live[i]
            return traces.current
        if traces.live[i].thread == PyThread_get_thread_ident():
            return traces.live[i]
    return NULL


cdef Head *latest_trace() noexcept:
    """The latest live trace that is not a continuation."""
    cdef Py_ssize_t i = traces.count - 1
    while i >= 0 and traces.live[i].below:
        i -= 1
    return traces.live[i] if i >= 0 else &nobody


cdef void *enlarged(void *table, size_t count, size_t size, str what) except NULL:
    """The memory of a table, with room for `count` items, which takes the place of older memory, if there is any."""
    cdef void *found = realloc(table, max(count, 1) * size)
    if found == NULL:
        raise MemoryError(f"no memory for {count:,} {what}")
    return found


cdef void *larger(void *table, void *few, Py_ssize_t used, Py_ssize_t room) noexcept:
    """Enlarge a table of pointers; `few` is the table inside the head, which was not allocated separately."""
    cdef void *result = realloc(NULL if table == few else table, room * sizeof(void *))
    if result != NULL and table == few:
        memcpy(result, few, used * sizeof(void *))
    return result


cdef Head *innermost_here() noexcept:
    """The head of the latest trace of this thread, or NULL."""
    cdef unsigned long thread = PyThread_get_thread_ident()
    cdef Py_ssize_t i
    for i in range(traces.count - 1, -1, -1):
        if traces.live[i].thread == thread:
            return traces.live[i]
    return NULL


cdef int guard(Head *h, int kind, uint32_t a, uint32_t b, double c) except -1:
    """Record a guard if the trace is a recording."""
    cdef Guards *guards = h.guards
    if guards == NULL:
        return 0
    if guards.count == guards.room:
        room = 2 * guards.room if guards.room else 64
        guards.each = <Guard *> enlarged(guards.each, room, sizeof(Guard), "guards of a recording")
        guards.room = room
    guards.each[guards.count] = Guard(c, h.count, a, b, kind)
    guards.count += 1
    return 0


cdef int grow_tables(Head *h) except -1:
    cdef Py_ssize_t used = h.used - h.below, room = 2 * (h.room - h.below)
    cdef void *table = larger(h.chunks + h.below, h.few_chunks, used, room)
    if table == NULL:
        raise no_memory(h)
    h.chunks = <Chunk **> table - h.below
    table = larger(h.values + h.below, h.few_values, used, room)
    if table == NULL:
        raise no_memory(h)
    h.values = <double **> table - h.below
    h.room = h.below + room
    return 0


cdef object no_memory(Head *h):
    return TapeLimitError(
        f"no memory for another block of the tape: it holds {h.count - 1:,} records in {bytes_of(h):,} bytes. "
        "Differentiate a smaller part of the program, or recompute parts with checkpoint"
    )


cdef size_t bytes_of(Head *h) noexcept:
    cdef size_t total = 0
    cdef Py_ssize_t i
    for i in range(h.below, h.used):
        total += (h.chunks[i] != NULL) * CHUNK * RECORD_BYTES + (h.values[i] != NULL) * CHUNK * sizeof(double)
    return total


cdef int check_limits(Head *h) except -1:
    if h.count > LAST_ID - CHUNK:
        raise TapeLimitError(
            f"the tape has {h.count - 1:,} records, and ids end at {LAST_ID:,}. "
            "Differentiate a smaller part of the program, or recompute parts with checkpoint"
        )
    if h.max_bytes and bytes_of(h) + sizeof(Chunk) > h.max_bytes and h.used > h.below:
        raise TapeLimitError(
            f"the tape's limit of {h.max_bytes:,} bytes is reached with {h.count - 1:,} records. "
            "Raise Engine(max_tape_bytes=...), or recompute parts with checkpoint"
        )
    return 0


cdef int grow(Head *h) except -1:
    """Add a chunk."""
    return add_chunk(h, False)


cdef int reserve(Head *h, uint32_t n) except -1:
    """Reserve the next n ids for inputs. Inputs have no records, so a chunk of inputs alone takes no memory."""
    if n > LAST_ID - CHUNK - h.count:
        check_limits(h)
        raise TapeLimitError(f"{n:,} inputs are more than the ids, which end at {LAST_ID:,}")
    while h.limit - h.count <= n:
        add_chunk(h, h.count + n >= h.limit + CHUNK)
        n -= h.limit - CHUNK - h.count
        h.inputs += h.limit - CHUNK - h.count
        h.count = h.limit - CHUNK
    h.count += n
    h.inputs += n
    return 0


cdef int add_chunk(Head *h, bint inputs_only) except -1:
    check_limits(h)
    if h.used == h.room:
        grow_tables(h)
    cdef Chunk *chunk = NULL
    if not inputs_only:
        chunk = new_chunk(h.used >= SPARE_CHUNKS)
        if chunk == NULL:
            raise no_memory(h)
    cdef double *values = NULL
    if tape_of(h).keeps_values:
        values = new_values()
        if values == NULL:
            if chunk != NULL:
                free_chunk(chunk)
            raise no_memory(h)
    h.chunks[h.used] = h.last = chunk
    h.values[h.used] = h.last_values = values
    h.used += 1
    h.limit = <uint32_t> (h.used * CHUNK)
    return 0


cdef int room_for_one() except -1:
    """Make room for one more live trace."""
    if traces.count == traces.room:
        room = 2 * traces.room if traces.room else 16
        traces.live = <Head **> enlarged(traces.live, room, sizeof(Head *), "live traces")
        traces.room = room
    return 0


cdef int register(Head *h) except -1:
    """Enter a head into the table of live traces with an unused tag."""
    room_for_one()
    if traces.next_tag > LAST_TAG and traces.count == 0:
        traces.next_tag = 1     # live traces are ordered by tag, so tags restart only when there is none
    if traces.next_tag == 0:
        raise TapeLimitError("all tags of traces are used up, and a trace is still open: end it first")
    h.thread = PyThread_get_thread_ident()
    h.tag = traces.next_tag
    traces.next_tag += 1
    traces.live[traces.count] = h
    traces.count += 1
    traces.current = h
    return 0


cdef dict modules_above = {}


cdef object above(str name):
    """A module of the core that imports this one."""
    if name not in modules_above:
        modules_above[name] = import_module(f"tapeengine._core.{name}")
    return modules_above[name]


cdef int note_id(Ids ids, uint32_t id) except -1:
    """Add an id to ids in ascending order; nearly always it is the largest."""
    cdef Py_ssize_t count = len(ids)
    if count and ids.data.as_uints[count - 1] >= id:
        insort(ids, id)
        return 0
    resize_smart(ids, count + 1)
    ids.data.as_uints[count] = id
    return 0


@cython.final
@cython.freelist(16)
cdef class Tape:
    """The records of one trace.

    Records are added while the trace is open. Afterwards sweeps read them any number of times.
    """

    def __cinit__(self):
        memset(&self.head, 0, sizeof(Head))
        self.head.owner = <void *> self
        self.head.count = 1
        self.head.chunks = self.head.few_chunks
        self.head.values = self.head.few_values
        self.head.room = 4
        self.arrays = []

    def __dealloc__(self):
        self.close()
        cdef Py_ssize_t i
        for i in range(self.head.below, self.head.used):
            if self.head.chunks[i] != NULL:
                free_chunk(self.head.chunks[i])
            free_values(self.head.values[i])
        free(self.places)
        free(self.noted_at)
        if self.head.guards != NULL:
            free_guards(self.head.guards)
        if self.head.chunks + self.head.below != self.head.few_chunks:
            free(self.head.chunks + self.head.below)
        if self.head.values + self.head.below != self.head.few_values:
            free(self.head.values + self.head.below)

    cdef int open(self, int order) except -1:
        """Begin the trace: duals of this tape's tag are live until `close`.

        Order 0 serves reverse sweeps, 1 also forward sweeps, 2 also second-order sweeps and nesting, 3 also recordings.
        """
        self.keeps_tangents = order >= 1
        self.keeps_values = order >= 2
        cdef Head *around = innermost_here() if traces.recordings else NULL
        cdef bint inner = order < 3 and around != NULL and around.guards != NULL
        grow(&self.head)
        register(&self.head)
        return self.note_guards(inner) if order >= 3 or inner else 0

    cdef int continue_from(self, Tape tape, uint32_t tag) except -1:
        """Make the duals of a finished trace live again in this thread, under the old tag, until `close`.

        Rules of custom functions run so, since they may have captured duals of their trace. New records go here, after
        the ids of `tape`, which does not change because other threads may be sweeping it.
        """
        cdef Head *h = &self.head
        cdef Py_ssize_t i
        cdef uint32_t first = tape.mark if tape.head.count < tape.mark < LAST_ID // 2 else tape.head.count
        room_for_one()
        self.continued = tape
        self.keeps_values, self.keeps_tangents = tape.keeps_values, tape.keeps_tangents
        self.rules, self.outer_tag = tape.rules, tape.outer_tag
        h.max_bytes, h.kinds = tape.head.max_bytes, tape.head.kinds
        h.below = h.used = (<Py_ssize_t> first + CHUNK_LAST) >> CHUNK_SHIFT
        h.room += h.below
        h.chunks -= h.below
        h.values -= h.below
        h.count = h.limit = first_id(h)
        h.thread = PyThread_get_thread_ident()
        h.tag = tag
        i = traces.count
        while i > 0 and traces.live[i - 1].tag > tag:   # the table is ordered by tag
            traces.live[i] = traces.live[i - 1]
            i -= 1
        traces.live[i] = h
        traces.count += 1
        return self.note_guards(True) if tape.head.guards != NULL and tape.head.guards.inner else 0

    cdef int note_guards(self, bint inner) except -1:
        """Make the open trace a recording, which notes the values that the program looks at, or one within a recording."""
        self.head.guards = <Guards *> calloc(1, sizeof(Guards))
        if self.head.guards == NULL:
            raise MemoryError("no memory for the guards of a recording")
        self.head.guards.each, self.head.guards.room = spare_guards.each, spare_guards.room
        spare_guards.each, spare_guards.room = NULL, 0
        self.head.guards.inner, self.head.guards.copied = inner, 0 if inner else PY_SSIZE_T_MAX
        traces.recordings += 1
        self.noted, self.copied = [], {}
        return 0

    cdef int note(self, uint32_t at, tuple what) except -1:
        """Note what is done before the record with an id, or by it."""
        cdef Py_ssize_t count = len(self.noted)
        if count == self.noted_room:
            self.noted_at = <Position *> enlarged(self.noted_at, 2 * count + 16, sizeof(Position), "notes of a recording")
            self.noted_room = 2 * count + 16
        self.noted.append(what)
        self.noted_at[count] = Position(at, <uint32_t> self.head.guards.count)
        return 0

    cdef void close(self) noexcept:
        """End the trace: its duals are refused afterwards."""
        cdef Py_ssize_t i, j
        if self.head.tag == 0:
            return
        if self.head.guards != NULL:
            traces.recordings -= 1
        for i in range(traces.count - 1, -1, -1):
            if traces.live[i] == &self.head:
                for j in range(i, traces.count - 1):
                    traces.live[j] = traces.live[j + 1]
                traces.count -= 1
                break
        self.head.tag = 0
        if self.continued is not None:
            self.continued.mark = self.head.count   # so that no two calls use the same ids
        else:
            traces.current = latest_trace()

    cdef uint32_t add_place(self, Py_ssize_t size, int type, int width) except? 0xFFFFFFFF:
        """Add the layout of one more storage; return its index."""
        cdef uint32_t room
        if self.place_count == self.place_room:
            room = 2 * self.place_room if self.place_room else 16
            self.places = <Place *> enlarged(self.places, room, sizeof(Place), "traced arrays")
            self.place_room = room
        self.places[self.place_count] = Place(size, type, False, width)
        self.place_count += 1
        self.arrays_left -= size * width
        if self.arrays_left < 0:
            self.count_arrays()
        return self.place_count - 1

    cdef int count_arrays(self) except -1:
        """Count the arrays that records keep, and raise an error if they and the records are above the limit."""
        cdef Py_ssize_t limit = self.head.max_bytes, total
        if limit == 0 or self.continued is not None:
            self.arrays_left = PY_SSIZE_T_MAX
            return 0
        kept = sum(above("sweeps.linear").kept_bytes(self).values())
        total = kept + (self.head.count - first_id(&self.head)) * RECORD_BYTES
        if total > limit:
            raise TapeLimitError(
                f"the tape's limit of {limit:,} bytes is reached with {self.head.count - 1:,} records, which keep arrays of "
                f"{kept:,} bytes. Raise Engine(max_tape_bytes=...), or recompute parts with checkpoint"
            )
        self.arrays_left = max(limit - total, limit // 16)
        return 0

    cdef int watch(self, ndarray kept) except -1:
        """Let sweeps check that a plain array kept by reference has not been changed."""
        if self.watched is None:
            self.watched = {}
        self.watched[id(kept), te_digest(PyArray_DATA(kept), PyArray_NBYTES(kept))] = kept
        return 0

    cdef int check_watched(self) except -1:
        """Refuse a sweep if an array has been changed since a record kept it."""
        if self.watched is None:
            return 0
        for (_, digest), kept in self.watched.items():
            if te_digest(PyArray_DATA(<ndarray> kept), PyArray_NBYTES(<ndarray> kept)) != digest:
                raise TraceError(
                    f"a plain array of shape {kept.shape} was changed in place after the program had used it and "
                    "before its derivative was taken. Arrays of more than 32 KiB are kept by reference: give the "
                    "program a copy of this one, or write into another array")
        return 0

    cdef uint32_t link(self, uint32_t tag, uint32_t id, double value) except 0:
        """The input of this tape that stands for a dual of an outer trace (nesting, DN 10)."""
        cdef object key = (<object> tag << 32) | id
        if self.links is None:
            self.links = {}
        known = self.links.get(key)
        if known is not None:
            return known
        cdef uint32_t here = record2(&self.head, INPUT, self.head.count, 0, 0.0, 0.0, value)
        self.links[key] = here
        self.note_link(here, tag, id)
        return here

    cdef int note_link(self, uint32_t here, uint32_t tag, uint32_t id) except -1:
        """Remember that an id of this tape is a dual of an outer trace."""
        if self.link_sources is None:
            self.link_sources = []
        self.link_sources.append((here, tag, id))
        cdef Head *source = head_of(tag)
        self.head.kinds |= PYTHON_FLOATS | NUMPY_DOUBLES if source == NULL else source.kinds
        self.note_outer(tag)
        return 0

    cdef int note_double(self, uint32_t id) except -1:
        """Remember that a scalar is a numpy.float64, which its record does not tell."""
        if self.doubles is None:
            self.doubles = array("I")
        note_id(self.doubles, id)
        self.head.kinds |= NUMPY_DOUBLES
        return self.know_double(id, True)

    cdef int note_float(self, uint32_t id) except -1:
        """Remember that a scalar is a Python float, which its record does not tell."""
        if self.floats is None:
            self.floats = array("I")
        note_id(self.floats, id)
        self.head.kinds |= PYTHON_FLOATS
        return self.know_double(id, False)

    cdef int know_double(self, uint32_t id, bint is_double) except -1:
        """Correct the answer for a scalar that was asked for before its kind was noted."""
        cdef Py_ssize_t place = <Py_ssize_t> id - <Py_ssize_t> first_id(&self.head)
        if self.are_doubles is not None and 0 <= place < len(self.are_doubles):
            self.are_doubles[place] = is_double
        return 0

    cdef void note_outer(self, uint32_t tag) noexcept:
        if tag > self.outer_tag:
            self.outer_tag = tag

    def __len__(self):
        """The number of records, without those of the inputs."""
        return self.head.count - 1 - self.head.inputs

    @property
    def nbytes(self) -> int:
        """Bytes that the records take, in whole chunks."""
        return bytes_of(&self.head)

    @property
    def inputs(self) -> int:
        """The number of scalars in the primals; their ids are 1, 2, ..."""
        return self.head.inputs

    def records(self) -> Iterator[tuple[int, str, tuple[int, ...], tuple[float, ...]]]:
        """Iterate over (id, opcode name, ids of the parents, partials), from the oldest record on."""
        return map(self.record, range(self.head.inputs + 1, self.head.count))

    def record(self, uint32_t i) -> tuple[int, str, tuple[int, ...], tuple[float, ...]]:
        """One record as (id, opcode name, ids of the parents, partials)."""
        if not 0 < i < self.head.count:
            raise IndexError(f"the tape has no record {i}: its records are 1 to {self.head.count - 1}")
        cdef Record *r = record_at(&self.head, i)
        cdef int op = op_at(&self.head, i)
        if op >= SPECIAL:
            return i, ("input", "read", "write", "array")[op - INPUT], (), ()
        name = op_names[op_codes[op]].decode()
        if r.p2 == i:
            return i, name, (r.p1,), (r.d1,)
        return i, name, (r.p1, r.p2), (r.d1, r.d2)


def outside(function: Callable[..., Any], *args, **options):
    """Call a function as if this thread had no open trace, so that the arrays it makes outlive the open traces."""
    cdef unsigned long thread = PyThread_get_thread_ident()
    cdef Py_ssize_t i
    cdef set hidden = set()     # addresses and tags: threads may have continuations of one tag
    for i in range(traces.count):
        if traces.live[i].thread == thread:
            traces.live[i].thread = 0
            hidden.add((<size_t> traces.live[i], traces.live[i].tag))
    try:
        return function(*args, **options)
    finally:
        for i in range(traces.count):
            if (<size_t> traces.live[i], traces.live[i].tag) in hidden:
                traces.live[i].thread = thread


def live_traces() -> int:
    """The number of traces that are open now, in all threads."""
    return traces.count


def trace_here() -> int:
    """The tag of the outermost open trace of this thread; 0 if there is none."""
    cdef unsigned long thread = PyThread_get_thread_ident()
    cdef Py_ssize_t i
    for i in range(traces.count):
        if traces.live[i].thread == thread:
            return traces.live[i].tag
    return 0


def is_open(uint32_t tag) -> bool:
    """Whether the trace of a tag is open."""
    return find(tag) != NULL


include "nested.pxi"
