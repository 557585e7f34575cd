# The entries about arrays in a recording, in the program's order, so that a replay can repeat the operations.

@cython.final
@cython.no_gc
@cython.freelist(256)
cdef class Operand:
    """A value that an operation reads: a scalar of the recording, or a constant."""


cdef object operand(Head *h, object x):
    """A value for the recording of h: the `View` of an array of it, or an `Operand`, with a copy of a plain array."""
    cdef Operand o
    cdef Array a
    cdef View view
    if type(x) is Array:
        a = <Array> x
        if type(a.storage.base) is Array or (a.storage.active and a.storage.tag != h.tag):
            h.guards.lost = b"it works on values of a trace around it"
        elif a.storage.tag == h.tag:
            view = geometry(a)
            view.epoch, view.written, view.python = a.storage.epoch, a.storage.written, a.storage.python
            return view
        x = plain(a)
    o = Operand.__new__(Operand)
    if type(x) is Dual:
        if (<Dual> x).tag != h.tag:
            h.guards.lost = b"it works on values of a trace around it"
        o.id = (<Dual> x).id
    else:
        o.constant = copied_once(h, x)
    return o


cdef object copied_once(Head *h, object x, int depth=0):
    """A constant that does not change: arrays are copied, a large array only once until its content changes."""
    cdef Tape tape = tape_of(h)
    if type(x) is list or type(x) is tuple:
        check_depth(depth)
        return type(x)([copied_once(h, item, depth + 1) for item in x])
    if type(x) is dict:
        return {key: copied_once(h, item) for key, item in x.items()}
    if type(x) is not array_class:
        return x
    if PyArray_NBYTES(<ndarray> x) <= SMALL:
        return alike(<ndarray> x)
    known = tape.copied.get(id(x))
    if known is None or not same_memory(<ndarray> known[1], <ndarray> x):
        known = tape.copied[id(x)] = x, alike(<ndarray> x)
    return known[1]


cdef bint same_memory(ndarray a, ndarray b) noexcept:
    """Whether two arrays have the same layout and the same bytes, also between their elements."""
    cdef Extent e = extent(a), f = extent(b)
    cdef int k
    for k in range(PyArray_NDIM(a) if PyArray_NDIM(a) == PyArray_NDIM(b) else 0):
        if PyArray_DIMS(a)[k] != PyArray_DIMS(b)[k] or PyArray_DIMS(a)[k] > 1 and PyArray_STRIDES(a)[k] != PyArray_STRIDES(b)[k]:
            return False
    return PyArray_NDIM(a) == PyArray_NDIM(b) and memcmp(e.first, f.first, e.last - e.first) == 0


cdef object alike(ndarray x):
    """A copy with the memory layout of x, on which the last bits of some functions depend."""
    cdef Extent e = extent(x)
    cdef ndarray memory
    if dense(x) or PyArray_SIZE(x) == 0 or x.dtype.hasobject:
        return PyArray_NewCopy(x, NPY_KEEPORDER)
    memory = numpy.empty(e.last - e.first, numpy.uint8)
    memcpy(PyArray_DATA(memory), e.first, e.last - e.first)
    return array_class((<object> x).shape, x.dtype, memory, <char *> PyArray_DATA(x) - e.first, (<object> x).strides)


cdef int note(Head *h, uint32_t at, tuple what) except -1:
    """Note an operation that is done before the record with an id, or by it."""
    if errors_are_seen():
        h.guards.lost = handled
    cdef int kind = what[0]
    if kind == COMPUTED or kind == SUMMED:
        PyObject_GC_UnTrack(<PyObject *> what)      # it holds arrays and numbers alone, so it is in no cycle
    return tape_of(h).note(at, what)


cdef const char *handled = b"it handles floating-point errors, which a replay does not report"


cdef int errors_raised() noexcept:
    """Mark the thread's recordings as lost: an operation raised a floating-point error."""
    cdef Py_ssize_t i
    for i in range(traces.count):
        if is_recording(traces.live[i]) and traces.live[i].thread == PyThread_get_thread_ident():
            traces.live[i].guards.lost = handled
    return 0


cdef object modes = MODES       # without it the modes are read at each call
cdef dict names_of_warnings = vars(warnings)
cdef object quiet_modes = None      # the last value of `modes` for which errors are warnings or ignored
cdef list quiet_filters = None      # the last filters that turn no warning into an error: the list, its length, its head
cdef Py_ssize_t quiet_count = -1
cdef object quiet_head = None


cpdef bint errors_are_seen() except -1:
    """Whether a floating-point error is more than a warning here: it raises, is logged, or calls a function."""
    global quiet_modes, quiet_filters, quiet_count, quiet_head
    cdef list filters = names_of_warnings["filters"]
    cdef Py_ssize_t count = len(filters)
    cdef object head = filters[0] if count else None
    now = None if modes is None else get_value(modes)
    if modes is not None and now is quiet_modes and filters is quiet_filters and count == quiet_count and head is quiet_head:
        return False
    if errors_stop(filters):
        return True
    quiet_modes, quiet_filters, quiet_count, quiet_head = now, filters, count, head
    return False


cdef int look_at(object function, tuple operands, object outcome) except -1:
    """Note on a recording that the program looks at traced arrays, and the outcome."""
    cdef Head *h = NULL
    if traces.recordings == 0:
        return 0
    operands = tuple([of_recording(x) for x in operands])
    for x in operands:
        if type(x) is Dual:
            h = head_of((<Dual> x).tag)
        elif type(x) is Array and (<Array> x).storage.active:
            h = head_of((<Array> x).storage.tag)
        if is_recording(h):
            return note_outcome(h, function, operands, {}, outcome)
    return 0


cdef object of_recording(object x):
    """A value as a recording around the trace of an operand has it."""
    cdef Head *h
    if type(x) is Array:
        h = head_of((<Array> x).storage.tag)
        return of_recording((<Array> x).current()) if h != NULL and not is_recording(h) else x
    h = head_of((<Dual> x).tag) if type(x) is Dual else NULL
    if h != NULL and h.guards != NULL and h.guards.inner:
        h.guards.lost = b"it compares arrays with numbers of a trace within it"
    return x


cdef int note_outcome(Head *h, object function, tuple operands, dict options, object outcome) except -1:
    return note(h, h.count, (LOOKED, function, [operand(h, x) for x in operands], copied_once(h, options),
                             copied_once(h, outcome)))


#: The function whose outcome is compared where the program has seen all values of an array.
cdef object same_values = numpy.asarray


cdef ndarray seen(Array a):
    """The plain numbers of an array, for the program to see."""
    cdef ndarray numbers = plain(a.current())
    if traces.recordings:
        look_at(same_values, (a,), numbers)
    return numbers
