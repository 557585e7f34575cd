# Complex scalars of a trace: two parts, each a float or a dual.
cdef class ComplexDual:
    cdef object re
    cdef object im
    cdef bint numpys        # whether it behaves as numpy.complex128, which divides and raises differently

cdef ComplexDual new(object re, object im)
cdef object of_parts(object re, object im)
cdef object from_array(object a)
cdef object as_arrays(object args)
cdef object as_complex(object x)
cdef object plain(object z)
cdef object seen(object z)
cdef object exactly(object z, object value)
cdef object product(ComplexDual a, ComplexDual b)
cdef object quotient(ComplexDual a, ComplexDual b)
cdef object operated(object x, object y, int op)
