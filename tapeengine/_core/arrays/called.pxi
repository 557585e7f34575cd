# Calls of programs whose passes run by themselves: such a call is one record, which the core makes without Python.
#
# It takes numbers and arrays of one trace that depends on no other one, mixed with plain ones, also in lists and tuples.
# The plain reverse sweep calls the backpropagator that the run has left. All other sweeps, and what asks for the record's
# structure, get the rule of a custom function, which is made when it is first needed.

@cython.final
cdef class ProgramRecord(CustomRecord):
    """One call: its arguments as plain values, its value and its backpropagator."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        cdef list parts = []
        place = self.outputs[0]
        cotangent = own(r.of(place))
        if r.recorded or cotangent is None:
            return CustomRecord.reverse(self, r, id)
        add_parts(self.given, self.back(cotangent), parts)
        for k, source in self.inputs:
            r.stage(source, parts[k])
        if type(place) is View:
            r.drop((<View> place).storage)
        return 0

    # -- second order: the program's directional derivative is a program itself, whose cotangents are both that a sweep
    # needs: those of <dotted, f(x)> + <cotangent, Df(x) dx> with respect to x and to dx
    cdef object along(self, double *tangent, uint32_t id):
        """Set the tangent of the value, and return the backpropagator of value and tangent; None where only Python finds them."""
        made = self.rule_of.along(self.program, self.given, self.tangents(tangent))
        if made is None:
            return None
        tangent[id] = made[0][1]
        return made[1]

    cdef tuple tangents(self, double *tangent):
        """The tangents of the arguments."""
        cdef list parts = [], found
        cdef bint are_floats
        add_parts(self.given, self.given, parts)
        are_floats = set(map(type, parts)) == FLOATS
        found = [0.0 if are_floats else None] * self.count
        for k, place in self.inputs:
            found[k] = tangent[<uint32_t> place]
        made = like_given(self.given, iter(found))
        return made if are_floats else self.program.tangents(self.given, made)

    cdef bint turn(self, object along, double *cotangent, double *dotted, uint32_t id) except -1:
        """Add to the cotangents of the arguments, and to their derivatives; False if one is not finite."""
        cdef Py_ssize_t n = len(self.given)
        found = along((dotted[id], cotangent[id]))
        return self.add(found[:n], dotted) and self.add(found[n:], cotangent)

    cdef bint add(self, tuple found, double *to) except -1:
        cdef list parts = []
        cdef bint is_finite = True
        add_parts(self.given, found, parts)
        for k, place in self.inputs:
            to[<uint32_t> place] += parts[k]
            is_finite = is_finite and isfinite(to[<uint32_t> place])
        return is_finite

    cdef object ruled(self):
        if self.rule is None:
            self.rule = self.rule_of(self.program, self.given, self.value, self.back)
        return self.rule


cdef set FLOATS = {float}

cdef enum:
    DEEPEST = 8     # lists in lists of which the arguments of such a call are made


cdef int add_parts(object given, object found, list to) except -1:
    """Append the cotangents of the leaves of an argument, or of a tuple of arguments."""
    cdef Py_ssize_t k
    if type(given) is not tuple and type(given) is not list:
        to.append(found)
        return 0
    for k in range(len(given)):
        add_parts(given[k], None if found is None else found[k], to)
    return 0


cdef object like_given(object given, object parts):
    """The leaves of arguments in their structure."""
    if type(given) is not tuple and type(given) is not list:
        return next(parts)
    made = [like_given(x, parts) for x in given]
    return tuple(made) if type(given) is tuple else made


@cython.final
cdef class Taken:
    """The arguments of a call as plain values; `tag` is that of their trace."""

    cdef readonly tuple values
    cdef list inputs
    cdef Py_ssize_t count
    cdef uint32_t tag

    cdef object take(self, x, int depth):
        """The plain value of an argument, or of a part of one; None for what only Python takes."""
        cdef Storage s
        if type(x) is tuple or type(x) is list:
            parts = [self.take(part, depth + 1) for part in x] if depth < DEEPEST else [None]
            return None if not is_known(parts) else tuple(parts) if type(x) is tuple else parts
        self.count += 1
        if type(x) is Dual:
            return (<Dual> x).v if self.reads((<Dual> x).tag, (<Dual> x).id) else None
        if type(x) is Array:
            s = (<Array> x).storage
            value = (<Array> x).current()
            is_taken = s.active and not (s.number or s.python) and type(value) is array_class
            return value.copy("K") if is_taken and self.reads(s.tag, geometry(<Array> x)) else None
        return x if type(x) is float or type(x) is int or type(x) is bool or type(x) is array_class else None

    cdef bint reads(self, uint32_t tag, object place) except -1:
        """Whether a value belongs to the trace of those before it, whose leaf it is then."""
        self.inputs.append((self.count - 1, place))
        self.tag = self.tag or tag
        return self.tag == tag


def taken(tuple args):
    """The arguments of a call as plain values; None for others, and if no argument is traced, or one on several traces."""
    cdef Taken made = Taken.__new__(Taken)
    cdef Head *h
    cdef Tape tape
    made.inputs, made.values = [], ()
    values = [made.take(x, 0) for x in args]
    h = head_of(made.tag) if made.tag and is_known(values) else NULL
    if h == NULL or h.guards != NULL:
        return None
    tape = tape_of(h)
    if tape.watcher is not None or (tape.outer_tag and head_of(tape.outer_tag) != NULL):
        return None
    made.values = tuple(values)
    return made


cdef bint is_known(list values) noexcept:
    for x in values:
        if x is None:
            return False
    return True


def recorded(Taken taken, program, rule_of, value, back):
    """The traced value of a call, which leaves one record; None for a value that is no number or array."""
    cdef Head *h = head_of(taken.tag)
    cdef ProgramRecord record
    cdef Tape tape
    cdef uint32_t id
    if h == NULL or not (type(value) is float or type(value) is array_class and PyArray_TYPE(<ndarray> value) == NPY_DOUBLE):
        return None
    tape = tape_of(h)
    record = ProgramRecord.__new__(ProgramRecord)
    record.tag, record.count, record.inputs, record.captured = taken.tag, taken.count, taken.inputs, []
    record.program, record.given, record.value, record.back, record.rule_of = program, taken.values, value, back, rule_of
    if type(value) is not float:
        result, place = wrapped(h, value, record_array(h, record, 0.0))
    else:       # which the trace goes on to take for a float of Python, as it does with no record of arrays
        place = id = record2(h, ARRAY, h.count, <uint32_t> len(tape.arrays), 0.0, 0.0, value)
        tape.arrays.append(record)
        tape.note_float(id)
        result = new_dual(value, id, h.tag)
    record.outputs = [place]
    return result
