"""The last record that uses each storage in a forward sweep: after it, the storage's memory can be reused.

A sweep then holds only what later records still read, and it reuses freed memory while it is still in the cache.
"""

from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free
cimport cython

cdef enum:
    UNENDING = 0xFFFFFFFF


@cython.final
@cython.no_gc
cdef class Lifetimes:
    """The storages of a tape in the order of the last records that touch them."""

    def __dealloc__(self):
        free(self.last)
        free(self.order)

    cdef int begin(self, uint32_t count) except -1:
        """Begin with `count` storages that no record uses yet."""
        self.count = count
        self.last = <uint32_t *> calloc(count + 1, sizeof(uint32_t))
        self.order = <uint32_t *> calloc(count + 1, sizeof(uint32_t))
        if self.last == NULL or self.order == NULL:
            raise MemoryError(f"no memory for the lifetimes of {count:,} traced arrays")
        return 0

    cdef int finish(self, list lasting) except -1:
        """Sort the storages once `last` is complete; those in `lasting` are kept until the sweep ends."""
        for storage in lasting:
            self.last[<uint32_t> storage] = UNENDING
        return self.sort()

    cdef int sort(self) except -1:
        """Sort the storages by their last records, without those that are kept until the sweep ends."""
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
        """Find the next storage that no record after `id` uses; False where there is none."""
        if self.ended == self.count or self.last[self.order[self.ended]] > id:
            return False
        storage[0] = self.order[self.ended]
        self.ended += 1
        return True
