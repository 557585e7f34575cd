# Complex scalars of a trace: two parts, each a float or a dual.
cdef class ComplexDual:
    cdef object re
    cdef object im
    cdef bint numpys        # whether it behaves as numpy.complex128, which divides and raises differently

cdef object from_array(object a)
cdef object as_arrays(object args)
