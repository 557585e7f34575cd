# Calls of functions with custom derivative rules: each call is one record, whatever the function computes.
#
# The function gets its arguments as values of the next outer trace, or plain ones. So a rule that is called in a recorded
# reverse sweep records on the right tape. What the function computes from captured values of its own trace is recorded
# there as usual, and the record passes the cotangent of such a result on, besides calling the rule for the cotangents of
# the arguments. Each call of a rule has its own tape for computations on captured values of the trace.
#
# A call on an outer trace is not recorded if the function also reads values of an inner trace, by its closure, and its
# result depends on them: their derivatives depend on the arguments, of which the function got plain values only. Then it
# runs again on the traced arguments, without a record of its own.

cdef class CustomRecord(ArrayRecord):
    """One call: the places of its arguments and results, and the rule."""

    cdef int reverse(self, Reverse r, uint32_t id) except -1:
        cotangents = [own(r.of(place)) for place in self.outputs]
        if all([c is None for c in cotangents]):
            return 0
        for k, place in self.captured:
            r.stage(place, cotangents[k])
        if self.inputs:
            found = self.within(r.tape, self.ruled().pull, cotangents)
            for k, place in self.inputs:
                r.stage(place, found[k])
        for place in self.outputs:
            if type(place) is View:
                r.drop((<View> place).storage)
        return 0

    cdef int forward(self, Reverse r, uint32_t id) except -1:
        tangents = [None] * self.count
        for k, place in self.inputs:
            tangents[k] = own(r.of(place))
        if any([t is not None for t in tangents]):
            for place, t in zip(self.outputs, self.within(r.tape, self.ruled().push, tangents)):
                r.stage(place, t)
        for k, place in self.captured:
            r.stage(self.outputs[k], r.of(place))
        return 0

    cdef object ruled(self):
        return self.rule

    cdef list reads(self):
        return self.inputs + self.captured

    cdef list writes(self):
        return self.outputs

    cdef object name(self):
        return "custom"

    cdef int depend(self, object walk, uint32_t id) except -1:
        walk.all_of(id, self.reads(), self.outputs, "a function with a custom rule")
        return 0

    cdef object parts(self, object walk, uint32_t id):
        """The rule's cotangents of unit cotangents of each number of the results."""
        cdef Py_ssize_t k, e
        found = [(walk.numbered(self.outputs[k]), walk.numbered(place), 1.0) for k, place in self.captured]
        for k, place in enumerate(self.outputs if self.inputs else ()):
            for e in range(0 if place is None else walk.numbered(place).size):
                units = [None] * len(self.outputs)
                units[k] = unit(place, e)
                partials = self.within(walk.tape, self.ruled().pull, units)
                made = walk.numbered(place).reshape(-1)[e]
                found.extend([(made, walk.numbered(source), 0.0 if partials[j] is None else partials[j])
                              for j, source in self.inputs])
        return found

    cdef list within(self, Tape tape, object function, list values):
        """Call a rule, and return its results as values of the next outer trace.

        Values of this trace that the rule captured are live in this thread during the call. Computations on them are
        recorded on a separate tape for the call: the trace's own tape is shared, and other calls may be sweeping it.
        In a replay nothing is traced; the rule is called within a trace nevertheless, because derivatives in it have
        other bits outside of one.
        """
        cdef Head *h = head_of(self.tag) if self.tag else NULL  # live if another rule of the trace calls this one
        cdef Tape call = None
        if h == NULL:
            call = Tape.__new__(Tape)
            h = &call.head
            if self.tag:
                call.continue_from(tape, self.tag)
            else:
                call.rules, h.max_bytes = tape.rules, tape.head.max_bytes
                call.open(2)
        try:
            return [stripped(h, h.tag, x) for x in function(values)]
        finally:
            if call is not None:
                call.close()
                if PyList_GET_SIZE(REFUSED):    # the trace of this rule may have ended before
                    forget_refused()


cdef object unit(object place, Py_ssize_t e):
    """The cotangent of a place that is 1 at one element and 0 elsewhere."""
    if type(place) is not View:
        return 1.0
    found = numpy.zeros(place.shape, place.dtype)
    found.reshape(-1)[e] = 1.0
    return found


cdef object own(object value):
    """A cotangent that the rule may keep: a copy, since the buffer is reused."""
    return value.copy() if type(value) is array_class or type(value) is Array else value


cdef object place_of(Head *h, object x):
    """The place of a traced value's cotangent on h's tape; None if the value does not depend on the trace."""
    if type(x) is Dual and (<Dual> x).tag == h.tag:
        return (<Dual> x).id
    if type(x) is Array and (<Array> x).storage.tag == h.tag and (<Array> x).storage.active:
        return geometry(<Array> x)
    return None


cdef object without(Head *h, object x):
    """An argument for the function: its own copy, which the function may keep or write to."""
    value = like(x, stripped(h, h.tag, x))
    return value.copy("K") if type(x) is Array and (type(value) is array_class or type(value) is Array) else value


cdef object like(object x, object value):
    """The value that x holds: a number of numpy's if x stands for one."""
    if type(value) is float and is_numpy(x):
        return numpy.float64(value)
    if value is not x and type(x) is Array and (<Array> x).storage.number:
        if type(value) is array_class:
            return value[()]
        value = value.copy("K")
        (<Array> value).storage.number = True
    return value


cdef bint has_derivative(object x) noexcept:
    if type(x) is array_class:
        return x.dtype.kind == "f" or x.dtype.kind == "c"
    return type(x) is Dual or type(x) is Array or isinstance(x, (float, complex, numpy.inexact))


@cython.final
cdef class Outward:
    """Converts values of a trace and of those within it into values of the next outer trace, or plain ones.

    What is not an argument of the call, and not in its result, depends on inner traces only by records of their own.
    """

    cdef uint32_t tag

    def __init__(self, uint32_t tag):
        self.tag = tag

    def __call__(self, x):
        """Convert x; values of outer traces are returned unchanged."""
        cdef uint32_t tag = max(innermost_tag([x]), self.tag)
        cdef Head *h = head_of(tag)
        if h == NULL:
            return x
        value = without(h, x)
        return self(value) if tag > self.tag else value


def call(function: Callable[[list[Any]], tuple[list[Any], Any]], list leaves) -> list[Any] | None:
    """Call a custom function, and record the call on the innermost trace of its arguments.

    Parameters
    ----------
    function : callable
        ``function(leaves) -> (leaves of the result, rule)``; ``bind(outward)`` of the rule is called right after it.
        ``repeated`` of the rule is None, or does the same as the function in a replay: it returns a list of the leaves
        and the rule, which is empty where the program must run.
    leaves : list
        The leaves of the arguments.

    Returns
    -------
    list
        The leaves of the result; None if the call is no record: no argument is traced, and the function was not called,
        or its result depends on an inner trace.
    """
    cdef uint32_t tag
    cdef Head *h
    cdef CustomRecord record
    cdef list operands = None, given
    cdef Py_ssize_t k
    cdef bint lost
    leaves = [unlifted(x) for x in leaves]
    tag = innermost_tag(leaves)
    if tag == 0:
        return None
    h = head_of_any(tag, leaves)
    record = CustomRecord.__new__(CustomRecord)
    record.tag = tag
    record.count = len(leaves)
    record.inputs = [(k, place_of(h, x)) for k, x in enumerate(leaves) if place_of(h, x) is not None]
    if is_recording(h):
        operands, lost = [operand(h, x) for x in leaves], h.guards.lost != NULL
    given = [without(h, x) for x in leaves]
    results, record.rule = function(given)
    for k in range(record.count):
        if type(given[k]) is Array and (<Array> given[k]).storage.shared:   # by a call on an outer trace
            (<Array> leaves[k]).storage.shared = True
    h = head_of_any(tag, leaves)    # raises if another thread has ended the trace
    if innermost_tag(results) > tag:
        return None
    if operands is not None and not lost:   # what the function looked at, its repetition looks at again
        h.guards.lost = NULL if record.rule.repeated is not None else once
    record.rule.bind(Outward(tag))
    return recorded_results(h, record, results, operands, leaves)


cdef const char *once = b"it calls a function with a derivative of its own, or forks tasks that are not replayed"


cdef list recorded_results(Head *h, CustomRecord record, list results, list operands, list leaves):
    """Put the results on the trace, after the record that produced them; a recording notes how to repeat the call."""
    cdef uint32_t id
    cdef Tape tape = tape_of(h)
    cdef bint numpys, single = sum([has_derivative(x) for x in results]) == 1
    if tape.watcher is not None:
        tape.watcher.computed(record.rule, results)
    results = [unlifted(x) for x in results]
    record.captured = [(k, place_of(h, x)) for k, x in enumerate(results) if place_of(h, x) is not None]
    results = [like(x, stripped(h, h.tag, x)) for x in results]
    id = record_array(h, record, scalar_value([x for x in results if has_derivative(x)][0]) if single else 0.0)
    if operands is not None and record.rule.repeated is not None and not record.captured:
        doubles = tuple([type(x) is Dual and is_numpy(x) for x in leaves])
        discrete = [copied_once(h, x) for x in results if not has_derivative(x)]
        note(h, id, (RULED, record.rule.repeated, operands, doubles, discrete, record))
    record.outputs = []
    made = []
    for x in results:
        place = None
        if has_derivative(x):
            numpys = is_numpy(x)
            x, place = wrapped(h, x, id) if single else wrapped_parts(h, x)
            if type(x) is Dual:
                as_kind(<Dual> x, numpys)
            elif type(x) is Array:
                (<Array> x).storage.kept = True     # the function may have kept a reference
        record.outputs.append(place)
        made.append(x)
    return made
