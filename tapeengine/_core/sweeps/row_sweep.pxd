# The start and end of a Jacobian's sweeps, and its division into blocks.
from libc.stdint cimport uint32_t
from tapeengine._core.tape.blocks cimport Rows
from tapeengine._core.tape.tape cimport Tape

cdef list places_of(list layouts)
cdef bint is_scalar_tape(Tape tape) noexcept
cdef Py_ssize_t largest(Tape tape) noexcept
cdef Py_ssize_t fair(Py_ssize_t count, Py_ssize_t most) noexcept
cdef Py_ssize_t widest(Tape tape) noexcept
cdef int resolve_rows(Rows rows, uint32_t top) except -1
