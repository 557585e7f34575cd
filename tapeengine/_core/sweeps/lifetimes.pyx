"""Which storages a record touches, and after which record a forward sweep needs what it has of a storage no more.

What a sweep holds at a time is then what is still to be read, not all that was ever made; and memory that comes free is
used again while it is still in the cache.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free
cimport cython

from tapeengine._core.arrays.custom cimport CustomRecord
from tapeengine._core.arrays.elementwise cimport ARRAY_VIEW, ElementwiseRecord
from tapeengine._core.arrays.products cimport ProductRecord
from tapeengine._core.tape.records cimport AddRecord, PrimitiveRecord, ReadRecord, View, WriteRecord
from tapeengine._core.arrays.sums cimport SumRecord
from tapeengine._core.tape.tape cimport ARRAY, READ, WRITE, Head, Tape, op_at, record_at

cdef enum:
    UNENDING = 0xFFFFFFFF


cdef list touched(object entry):
    """The storages that an array record reads or writes."""
    cdef ElementwiseRecord e
    kind = type(entry)
    if kind is ElementwiseRecord:
        e = <ElementwiseRecord> entry
        found = [e.result]
        if e.a.source == ARRAY_VIEW:
            found.append(e.a.place)
        if e.b.source == ARRAY_VIEW:
            found.append(e.b.place)
        return found
    if kind is PrimitiveRecord:
        places = [p for _, p in (<PrimitiveRecord> entry).inputs] + leaves((<PrimitiveRecord> entry).output)
    elif kind is ReadRecord:
        places = [(<ReadRecord> entry).source, (<ReadRecord> entry).result]
    elif kind is WriteRecord:
        places = [(<WriteRecord> entry).target, (<WriteRecord> entry).value]
    elif kind is AddRecord:
        places = [(<AddRecord> entry).target, (<AddRecord> entry).value]
    elif kind is ProductRecord:
        places = [(<ProductRecord> entry).left, (<ProductRecord> entry).right, (<ProductRecord> entry).result]
    elif kind is SumRecord:
        places = [(<SumRecord> entry).source, (<SumRecord> entry).result]
    else:
        custom = <CustomRecord?> entry
        places = [p for _, p in (<CustomRecord> custom).inputs + (<CustomRecord> custom).captured]
        places += (<CustomRecord> custom).outputs
    return [(<View> place).storage for place in places if type(place) is View]


cdef list leaves(object output):
    """The places of a primitive's outputs."""
    return [leaf for part in output[1] for leaf in leaves(part)] if type(output) is tuple else [output]


@cython.final
@cython.no_gc
cdef class Lifetimes:
    """The storages of a tape in the order of the last records that touch them."""

    def __dealloc__(self):
        free(self.last)
        free(self.order)

    cdef int begin(self, Tape tape, list lasting) except -1:
        """Look through a tape; the storages `lasting` never end."""
        self.count = tape.place_count
        self.last = <uint32_t *> calloc(self.count + 1, sizeof(uint32_t))
        self.order = <uint32_t *> calloc(self.count + 1, sizeof(uint32_t))
        if self.last == NULL or self.order == NULL:
            raise MemoryError(f"no memory for the lifetimes of {self.count:,} traced arrays")
        self.note(tape)
        for storage in lasting:
            self.last[<uint32_t> storage] = UNENDING
        return self.sort()

    cdef int note(self, Tape tape) except -1:
        """Note for each storage the last record that touches it."""
        cdef Head *h = &tape.head
        cdef uint32_t i
        cdef int kind
        for i in range(h.inputs + 1, h.count):
            kind = op_at(h, i)
            if kind == READ or kind == WRITE:
                self.last[record_at(h, i).p2] = i
            elif kind == ARRAY:
                for storage in touched(tape.arrays[record_at(h, i).p2]):
                    self.last[<uint32_t> storage] = i
        return 0

    cdef int sort(self) except -1:
        """Put the storages in order by their last records; those that never end are left out."""
        cdef uint32_t s, k = 0
        ending = sorted([(self.last[s], s) for s in range(self.count) if self.last[s] != UNENDING])
        self.count = <uint32_t> len(ending)
        for _, storage in ending:
            self.order[k] = storage
            k += 1
        return 0

    cdef bint ends_at(self, uint32_t storage, uint32_t id) noexcept:
        return self.last[storage] == id

    cdef bint next(self, uint32_t id, uint32_t *storage) noexcept:
        """The next storage that no record after `id` touches; False where there is none."""
        if self.ended == self.count or self.last[self.order[self.ended]] > id:
            return False
        storage[0] = self.order[self.ended]
        self.ended += 1
        return True
