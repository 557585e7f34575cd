# Interleave and deinterleave (DN Fig. 7 to 10): decompose structures into numbered scalars, and rebuild them.
from libc.stdint cimport uint32_t

cdef enum Kind:
    FLOAT       # a Python float; id
    FLOATS      # n Python floats with consecutive ids from `id` on, followed by a LIST or TUPLE step
    NUMPY       # a numpy float scalar; aux: its class
    DISCRETE    # not differentiated; its cotangent is None
    ARRAY       # a float or complex array; n: its storage; aux: the view
    LIST
    TUPLE
    DICT        # aux: the keys
    OBJECT      # aux: (class, container, container's aux)

cdef struct Step:   # one step of a layout: a leaf, or a container around the last n results
    int kind
    uint32_t n
    uint32_t id

cdef class Layout:
    cdef Step *steps
    cdef Step few[6]
    cdef Py_ssize_t count, room
    cdef list aux       # None while it is empty
    cdef int add(self, int kind, uint32_t n, uint32_t id) except -1
    cdef void note_builtin(self, bint is_one) noexcept
    cdef int keep(self, object aux) except -1

cdef class Frame:
    cdef object source, aux
    cdef list items, done
    cdef Py_ssize_t i, n
    cdef int kind

cdef class Walk:
    cdef Layout layout
    cdef object structures
    cdef dict known             # the containers of the classes met so far
    cdef list stack             # the containers around `here`; None until there is one
    cdef Frame here             # the innermost container at present
    cdef Py_ssize_t look_at     # the depth of the next check for a cycle
    cdef object root
    cdef object walk(self, object value)
    cdef object leaf(self, object value)
    cdef list floats(self, object value)
    cdef object flat(self, object value)
    cdef int push(self, Frame f) except -1
    cdef Frame frame(self, object value)
    cdef object close(self, Frame frame)
    cdef str name(self)
    cdef object path(self)

cdef class Leaves:
    cdef bint builtin       # whether the next array is a number of Python's class complex
    cdef list floats(self, uint32_t id, Py_ssize_t n)
    cdef object scalar(self, uint32_t id)
    cdef object double(self, uint32_t id, object cls)
    cdef object array(self, uint32_t storage, object view)
    cdef object discrete(self)

cdef object build(Layout layout, Leaves leaves)

cdef class Matcher:
    cdef Layout layout
    cdef object structures
    cdef object root
    cdef int scalar(self, uint32_t id, object value) except -1
    cdef int array(self, uint32_t storage, object view, object value) except -1
    cdef int match(self, object value) except -1
    cdef int match_flat(self, object value) except -1
    cdef object children(self, Py_ssize_t i, int kind, uint32_t n, object aux, object value)
