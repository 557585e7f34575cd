# The tape: records in chunks, the table of live tapes, and the inline functions that record.
from libc.stdint cimport uint8_t, uint32_t
from tapeengine._core.tape.numpy_c cimport ndarray

# Sweeps recognise a special record by p1 == its own id.
cdef enum Special:
    SPECIAL = 0xC0  # from here on not a scalar operation
    INPUT = 0xC0    # an input of the trace, or a link to a dual of an outer trace
    READ = 0xC1     # element read: p2 is the storage, d2 the offset
    WRITE = 0xC2    # element write: p2 is the storage, d2 the offset, d1 the id of the assigned scalar (0: a constant)
    ARRAY = 0xC3    # array operation: p2 is its index among the tape's array records

cdef enum:
    CHUNK_SHIFT = 15
    CHUNK = 1 << 15
    CHUNK_LAST = (1 << 15) - 1

# The classes of numbers in a trace. Where it has both, `counts_as_double` finds the kind of each scalar from the records.
cdef enum Kinds:
    PYTHON_FLOATS = 1   # primals of type float, results of `math`
    NUMPY_DOUBLES = 2   # primals of type numpy.float64, elements and results of arrays, results of ufuncs

cdef struct Record:     # DN 10.2: the defunctionalised backpropagator, Contrib of up to two parents
    double d1, d2       # partials with respect to the parents
    uint32_t p1, p2     # ids of the parents; p2 == own id where there is no second one

cdef struct Slab:       # a large block of chunks
    Py_ssize_t taken    # chunks taken from it so far
    Py_ssize_t used     # of these, chunks still in use

cdef struct Chunk:
    Record rec[1 << 15]
    uint8_t op[1 << 15]
    Slab *slab          # the slab that holds the chunk, NULL for a chunk allocated alone

cdef struct Guard:      # a look of the program at a value before the record `at`, with its outcome (see replay.h)
    double c            # the constant, if the comparison is with one
    uint32_t at
    uint32_t a, b       # ids; 0 is the constant
    int kind

cdef struct Guards:
    Guard *each
    Py_ssize_t count, room, copied      # those before `copied` are on the tape around an inner trace
    const char *lost    # why the recording cannot be replayed, NULL where it can
    bint inner          # of a trace within a recording, which gets its guards with its records: see nested.pxi

cdef struct Position:   # of a note: the id of the record that follows it, or is its own, and the number of guards before
    uint32_t at, guards

cdef struct Head:
    uint32_t tag        # names the trace in its duals; 0: the trace is over
    uint32_t count      # the next id; ids begin at 1
    uint32_t limit      # the first id that does not fit the last chunk
    uint32_t inputs     # ids up to here belong to the primals
    uint32_t kinds      # a sum of Kinds
    Chunk *last
    double *last_values # NULL where values are not kept
    Chunk **chunks
    double **values
    Py_ssize_t used     # chunks in use
    Py_ssize_t room     # chunks that the tables have room for
    size_t max_bytes    # 0: no limit
    Py_ssize_t below    # of a continued tape: its number of chunks, which `chunks` and `values` are shifted by; else 0
    unsigned long thread
    void *owner         # the Tape, borrowed
    Guards *guards      # NULL except on a recording, and on traces within one
    Chunk *few_chunks[4]    # the tables of a short tape
    double *few_values[4]

cdef struct Place:      # layout of a storage's cotangent: elements of one type, in the storage's memory order
    Py_ssize_t size
    short type          # numpy's type number
    short returned      # whether the program returns its values
    int width           # bytes of an element

cdef struct Traces:     # live traces of all threads, the oldest first; protected by the GIL
    Head *current       # the head used last, or one that matches no dual
    Head **live
    Py_ssize_t count
    Py_ssize_t room
    uint32_t next_tag
    Py_ssize_t recordings   # how many of them record guards

cdef Traces traces

cdef object above(str name)
cdef void *enlarged(void *table, size_t count, size_t size, str what) except NULL
cdef int grow(Head *h) except -1
cdef int reserve(Head *h, uint32_t n) except -1
cdef Head *find(uint32_t tag) noexcept
cdef Head *innermost_here() noexcept
cdef int guard(Head *h, int kind, uint32_t a, uint32_t b, double c) except -1

cdef inline Head *head_of(uint32_t tag) noexcept:
    """The live head of a tag, or NULL where the trace is over."""
    if traces.current.tag == tag:
        return traces.current
    return find(tag)

cdef inline uint32_t record2(Head *h, int op, uint32_t p1, uint32_t p2, double d1, double d2, double value) except 0:
    """Record an operation with two parents."""
    cdef uint32_t i = h.count
    cdef Record *r
    if i == h.limit:
        grow(h)
    r = &h.last.rec[i & CHUNK_LAST]
    r.d1 = d1
    r.d2 = d2
    r.p1 = p1
    r.p2 = p2
    h.last.op[i & CHUNK_LAST] = <uint8_t> op
    if h.last_values != NULL:
        h.last_values[i & CHUNK_LAST] = value
    h.count = i + 1
    return i

cdef inline uint32_t record1(Head *h, int op, uint32_t p1, double d1, double constant, double value) except 0:
    """Record an operation with one parent; `constant` is its other operand, if it has one."""
    return record2(h, op, p1, h.count, d1, constant, value)

cdef inline uint32_t record_special(Head *h, int kind, uint32_t p2, double d1, double d2, double value) except 0:
    """Record an input, an element access or an array operation."""
    h.kinds |= NUMPY_DOUBLES
    return record2(h, kind, h.count, p2, d1, d2, value)

cdef inline uint32_t record_function(Head *h, int op, uint32_t p1, double d1, int kind, double value) except 0:
    """Record a function of one scalar, whose result is of a kind of its own; d2 keeps the kind."""
    h.kinds |= kind
    return record2(h, op, p1, h.count, d1, <double> kind, value)

cdef inline Record *record_at(Head *h, uint32_t i) noexcept nogil:
    return &h.chunks[i >> CHUNK_SHIFT].rec[i & CHUNK_LAST]

cdef inline int op_at(Head *h, uint32_t i) noexcept nogil:
    return h.chunks[i >> CHUNK_SHIFT].op[i & CHUNK_LAST]

cdef inline double value_at(Head *h, uint32_t i) noexcept nogil:
    return h.values[i >> CHUNK_SHIFT][i & CHUNK_LAST]

cdef class Tape:
    cdef Head head
    cdef bint keeps_values   # of scalars, for second-order sweeps and nesting
    cdef bint keeps_tangents # operands that rules for tangents need, for forward sweeps
    cdef dict links          # (outer tag << 32 | outer id) -> id, made with the first link
    cdef list link_sources   # [(id, outer tag, outer id)] in the order of the links
    cdef object doubles      # sorted ids of the numpy.float64 whose records do not tell their class, or None
    cdef object floats       # sorted ids of Python's floats whose records do not tell their class, or None
    cdef bytearray are_doubles     # for each scalar whether it counts as a numpy.float64, computed as far as needed
    cdef uint32_t outer_tag  # of the latest outer trace that this tape depends on, 0 where there is none
    cdef object copies       # the records copied to that trace's tape
    cdef readonly list arrays      # array records, in the order of the tape
    cdef dict watched       # plain arrays that records keep by reference, keyed by identity and digest
    cdef Place *places      # layouts of storages, by index
    cdef uint32_t place_count, place_room
    cdef Py_ssize_t arrays_left     # bytes of new arrays before those that records keep are counted
    cdef readonly object rules     # the rules of the trace's dispatcher
    cdef object watcher      # of the debug switch: notified of recorded array operations and of sweeps
    cdef Tape continued     # the tape that this one continues during one call of a rule
    cdef uint32_t mark      # continuations of this tape have used the ids below it; 0 before the first one
    cdef list noted          # what a recording notes about arrays; None on other tapes
    cdef Position *noted_at  # where they stand among the records and the guards
    cdef Py_ssize_t noted_room
    cdef bint changes_containers    # whether the program of a recording changed a list, dict or object of its arguments
    cdef dict copied         # plain arrays that the recording has copied, by identity
    cdef object __weakref__

    cdef int open(self, int order) except -1
    cdef int continue_from(self, Tape tape, uint32_t tag) except -1
    cdef int watch(self, ndarray kept) except -1
    cdef int check_watched(self) except -1
    cdef void close(self) noexcept
    cdef int note_guards(self, bint inner) except -1
    cdef int note(self, uint32_t at, tuple what) except -1
    cdef int count_arrays(self) except -1
    cdef uint32_t add_place(self, Py_ssize_t size, int type, int width) except? 0xFFFFFFFF
    cdef uint32_t link(self, uint32_t tag, uint32_t id, double value) except 0
    cdef int note_link(self, uint32_t here, uint32_t tag, uint32_t id) except -1
    cdef int note_double(self, uint32_t id) except -1
    cdef int note_float(self, uint32_t id) except -1
    cdef int know_double(self, uint32_t id, bint is_double) except -1
    cdef void note_outer(self, uint32_t tag) noexcept

cdef inline Tape tape_of(Head *h):
    return <Tape> h.owner

cdef inline uint32_t first_id(Head *h) noexcept nogil:
    """The smallest id that the tape can have a record for; smaller ids belong to the tape that it continues."""
    return <uint32_t> (h.below << CHUNK_SHIFT)

# Nesting: inner tapes copied to outer ones, and reverse sweeps that are recorded there.
cdef extern from "te_scalar.h":
    ctypedef struct te_scalar:
        double value
        uint32_t id     # 0: a constant

cdef class Copies:
    cdef uint32_t tag       # of the outer trace
    cdef uint32_t *ids      # id on the inner tape -> id on the outer tape, 0 if it does not depend on the outer trace
    cdef uint32_t count, room
    cdef Py_ssize_t links   # number of links copied so far

cdef Head *outer_of(Tape tape) noexcept
cdef Copies copy_out(Tape tape)
cdef int look_in_order(Head *h, int kind, uint32_t a, uint32_t b, double c) except -1
cdef uint32_t copied_id(Tape tape, uint32_t id, uint32_t *tag) except? 0xFFFFFFFF
cdef uint32_t carried(Head *h, uint32_t tag, uint32_t id, double value) except 0
cdef Copies lifted(Tape tape, Copies copies, Head *outer)
cdef int add_recorded(Head *outer, te_scalar *to, te_scalar value) except -1
cdef int pass_on(Head *h, Copies copies, Head *outer, te_scalar *cotangent, uint32_t i) except -1
cdef int gather(Head *h, Copies copies, Head *outer, te_scalar *tangent, uint32_t i) except -1
