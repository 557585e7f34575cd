# The record after which a sweep can free what it holds of each storage.
from libc.stdint cimport uint32_t

cdef class Lifetimes:
    cdef uint32_t *last         # by storage: the last record that touches it, UNENDING where the result reads it
    cdef uint32_t *order        # the storages in the order in which they end
    cdef uint32_t count, ended  # storages, and how many of them have ended
    cdef int begin(self, uint32_t count) except -1
    cdef int finish(self, list lasting) except -1
    cdef int sort(self) except -1
    cdef bint ends_at(self, uint32_t storage, uint32_t id) noexcept
    cdef bint next(self, uint32_t id, uint32_t *storage) noexcept
