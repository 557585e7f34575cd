# Traced arrays: views of storages.
from libc.stdint cimport uint32_t

cdef class Shown:           # what copies of a storage know of it, where numpy has views: windows
    cdef bint written       # since they were taken

cdef class Storage:         # owns a value buffer; its cotangents lie in a buffer of the same layout
    cdef object base        # an ndarray, or an Array of an outer trace
    cdef char *data         # of the ndarray
    cdef Py_ssize_t size    # elements
    cdef uint32_t tag, index, epoch     # the epoch counts how often the base was exchanged
    cdef int type
    cdef bint number        # of a scalar that numpy would give: it cannot be written to
    cdef bint active        # depends on an input of its trace
    cdef bint shared        # its memory was that of another primal as well: it cannot be written to
    cdef bint kept          # by the caller or by a rule: copy before the first write
    cdef bint written       # keepers copy from now on
    cdef Storage frozen     # what snapshots see: the values and the cotangents up to the next write
    cdef Shown windows      # taken of it since the last write
    cdef Shown source       # of windows: what they were taken of

cdef class Array:
    cdef object values      # a view of the storage's base
    cdef Storage storage
    cdef Py_ssize_t offset  # in bytes
    cdef uint32_t epoch
    cdef object current(self)
