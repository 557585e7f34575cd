# Records resolved for many cotangents at once.
from libc.stdint cimport uint32_t
from tapeengine._core.sweeps.rows cimport Rows

cdef int resolve_array(Rows rows, object entry, uint32_t id) except -1
