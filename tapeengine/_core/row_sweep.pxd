# Both ends of a Jacobian's sweeps.
cdef list places_of(list layouts)
