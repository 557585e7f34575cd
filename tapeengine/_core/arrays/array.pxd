# Traced arrays: views of storages.
from libc.stdint cimport uint32_t

cdef class Storage:         # owns a value buffer; its cotangents lie in a buffer of the same layout
    cdef object base        # an ndarray, or an Array of an outer trace
    cdef char *data         # of the ndarray
    cdef Py_ssize_t size    # number of elements
    cdef uint32_t tag, index, epoch     # the epoch counts replacements of the base
    cdef int type
    cdef bint number        # stands for a scalar: it cannot be written to
    cdef bint python        # for a complex number of Python, which adapts to arrays
    cdef bint active        # whether it depends on an input of its trace
    cdef bint shared        # another primal shares its memory: it cannot be written to
    cdef bint kept          # the caller or a rule refers to it: copy before the first write
    cdef bint written       # it was written: rules that keep values copy them
    cdef int lent           # how many buffers of plain programs show its memory: it can hold no traced values
    cdef Storage frozen     # the storage that snapshots show, up to the next write

cdef class Array:
    cdef object __weakref__
    cdef object values      # this view of the storage's base
    cdef Storage storage
    cdef Py_ssize_t offset  # in bytes
    cdef uint32_t epoch
    cdef object current(self)
