# Queries of the tape for the Python modules of tapeengine.sparse: the places of primals and results, and keys that are equal
# for tapes of equal structure. Included by slots.pxi.

def numbers_of_primals(Backpropagator back) -> list[tuple[int, int, Any]]:
    """The places of the primals' numbers: [(first number, count, id or View or None)]."""
    return places_of(back.primals)


def numbers_of_result(Backpropagator back) -> list[tuple[int, int, Any]]:
    """The places of the result's numbers."""
    return places_of([back.result])


def numbers_of_each(Backpropagator back) -> list[list[tuple[int, int, Any]]]:
    """The places of the numbers of each primal."""
    return [places_of([layout]) for layout in back.primals]


def has_complex(Tape tape) -> bool:
    """Whether the tape has arrays of complex numbers."""
    return any([PyTypeNum_ISCOMPLEX(tape.places[k].type) for k in range(tape.place_count)])


def array_ids(Tape tape) -> list[int]:
    """The ids of the records of arrays."""
    cdef uint32_t i
    return [i for i in range(tape.head.inputs + 1, tape.head.count) if op_at(&tape.head, i) == ARRAY]


def storage_of(View view) -> int:
    """The storage that a view shows."""
    return view.storage


def described(Tape tape, uint32_t k) -> tuple[str, Any, list[tuple[int, Any]], list[Any], Any]:
    """An array record: (name, primitive, [(argument, place)], places of results, details of its structure)."""
    cdef ArrayRecord record = <ArrayRecord> tape.arrays[k]
    return record.name(), record.called(), record.reads(), record.writes(), record.detail()


def parts_of(Tape tape, uint32_t k, walk, uint32_t id) -> list[tuple[Any, Any, Any]] | None:
    """The partial derivatives of a record of arrays one by one; see `ArrayRecord.parts`."""
    return (<ArrayRecord> tape.arrays[k]).parts(walk, id)


def adds(Tape tape, uint32_t k) -> bool:
    """Whether an array record adds to the elements that it writes, so that these also depend on their old values."""
    return (<ArrayRecord> tape.arrays[k]).adds()


def geometry_key(place):
    """A key of a place: its id, or its storage with the geometry of the view."""
    cdef View view
    cdef int k
    if type(place) is not View:
        return place
    view = <View> place
    return view.storage, view.offset, view.type, tuple([view.dims[k] for k in range(2 * view.ndim)])


def places_key(Backpropagator back):
    """A key of the places of the primals' and the result's numbers: equal keys mean equal places."""
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


def scalars_key(Tape tape) -> int:
    """A hash of the parents of all scalar records: tapes of equal structure have equal hashes."""
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
