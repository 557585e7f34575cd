# Objects that consist of named fields.
cdef class Fields:
    cdef readonly object cls
    cdef tuple fields
    cdef list paths         # the text of each field in a path, after the object
    cdef frozenset own
    cdef bint computes      # whether code of the class may run where a field is read
    cdef tuple whole        # the layout's entry for an object without other attributes: (class, container, None)
    cdef list children(self, object value)
    cdef object rest(self, object value)
    cdef object check(self, object value, list parts)
    cdef object built(self, object rest, object children)
