# Calls of primitives on traced values.
from libc.stdint cimport uint32_t
from tapeengine._core.scalars.scalar cimport Dual
from tapeengine._core.tape.tape cimport Head

cdef object outward(Head *h, Dual x)
cdef object stripped(Head *h, uint32_t tag, object x)
cdef object apply(object primitive, tuple args, dict static)
cdef object of_numbers(object x)
cdef uint32_t innermost_tag(object args) noexcept
cdef double scalar_value(object out) noexcept
cdef tuple wrapped(Head *h, object out, uint32_t id)
cdef tuple wrapped_parts(Head *h, object out)
cpdef bint is_foreign(object x) except -1
cpdef object as_python(object x)
