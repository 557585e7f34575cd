# Objects that consist of named fields.
cdef class Fields:
    cdef readonly object cls
    cdef tuple fields
    cdef list paths         # the text of each field in a path, after the object
    cdef frozenset own
    cdef object check       # of an object whose class has code that runs where a field is read; None for other classes
    cdef tuple whole        # the layout's entry for an object without other attributes: (class, container, None)
    cdef list children(self, object value)
    cdef object rest(self, object value)
    cdef object built(self, object rest, object children)
