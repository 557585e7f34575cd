# Records of calls of programs whose passes run by themselves: see `calling.pxi`.
#
# The plain reverse sweep calls the backpropagator that the run has left, and `hessian_product` that of the directional
# derivative. All else gets the rule of a custom function, which is made when it is first needed.

@cython.final
cdef class ProgramRecord(CustomRecord):
    """One call: its arguments as plain values, its value and its backpropagator."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        place = self.outputs[0]
        cotangent = own(r.of(place))
        if r.recorded or cotangent is None:
            return CustomRecord.reverse(self, r, id)
        self.add(self.made[3](cotangent), r, NULL)
        if type(place) is View:
            r.drop((<View> place).storage)
        return 0

    cdef bint add(self, tuple found, Reverse r, double *to) except -1:
        """Add the cotangents of arguments to a sweep's, or to those of numbers; False if one of these is not finite."""
        cdef list parts = []
        cdef tuple pair
        cdef uint32_t id
        cdef bint is_finite = True
        add_parts(self.given, found, parts)
        for pair in self.inputs:
            part = parts[<Py_ssize_t> pair[0]]
            if r is not None:
                r.stage(pair[1], part)
                continue
            id = pair[1]
            to[id] += <double> part
            is_finite = is_finite and isfinite(to[id])
        return is_finite

    cdef tuple tangents(self, double *tangent):
        """The tangents of the arguments, None for plain leaves."""
        cdef list parts = [None] * self.count
        cdef tuple pair
        for pair in self.inputs:
            parts[<Py_ssize_t> pair[0]] = tangent[<uint32_t> pair[1]]
        parts.reverse()
        return shaped(self.given, parts)

    cdef object ruled(self):
        if self.rule is None:
            self.rule = self.made[1](self.made[0], self.given, self.made[2], self.made[3])
        return self.rule


cdef int add_parts(object given, object found, list to) except -1:
    """Append the cotangents of the leaves of an argument, or of a tuple of arguments."""
    cdef Py_ssize_t k
    if type(given) is not tuple and type(given) is not list:
        to.append(found)
        return 0
    for k in range(len(given)):
        add_parts(given[k], None if found is None else found[k], to)
    return 0


cdef object shaped(object given, list parts):
    """Take leaves from the end of a list into the lists and tuples of an argument, or of a tuple of arguments."""
    if type(given) is not tuple and type(given) is not list:
        return parts.pop()
    cdef list made = [shaped(x, parts) for x in given]
    return made if type(given) is list else tuple(made)
