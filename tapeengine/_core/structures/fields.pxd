# Objects that are made of named fields.
cdef class Fields:
    cdef readonly type cls
    cdef tuple fields
    cdef list paths         # how each field is written after the object
    cdef frozenset own
    cdef tuple whole        # what a layout keeps of an object without other attributes: (class, container, None)
    cdef list children(self, object value)
    cdef object rest(self, object value)
    cdef object built(self, object rest, object children)
