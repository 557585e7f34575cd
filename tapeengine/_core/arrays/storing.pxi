# Storages: their creation, views of them, arrays made of nested lists, and the records and callers that keep values.
#
# A storage is copied once, at its first write, if a rule or the caller still needs its values; afterwards rules keep
# copies of the parts that they need. A snapshot is the value of an outer array that an inner trace keeps.

cdef extern from "Python.h":
    void PyObject_GC_UnTrack(PyObject *x)

cdef enum:
    SMALL = 32768   # bytes: a record copies a plain array up to this size, and refers to a larger one
    AXES = 32       # of a traced array: with more, numpy.add.at crashes and other functions raise
    LEVELS = 200    # of lists: numpy's arrays have 64 axes at most; without a limit a list in itself would have no end




cdef ndarray plain(object value):
    """The plain numbers of an array, whichever trace it belongs to."""
    while type(value) is Array:
        value = (<Array> value).current()
    return <ndarray> value


cdef Head *head_of_array(Array a) except NULL:
    cdef Head *h = head_of(a.storage.tag)
    if h == NULL:
        raise TraceError(
            f"a traced array of shape {a.shape} is used after its trace has ended. A program must return what it "
            "computes; elsewhere keep only plain arrays (tapeengine.value(x) gives one)"
        )
    return h


cdef bint dense(ndarray value) noexcept:
    """Whether the elements fill their memory without gaps from the first address on, in any order of the axes."""
    cdef Py_ssize_t step = PyArray_ITEMSIZE(value)
    cdef int ndim = PyArray_NDIM(value), axis, found, left
    if PyArray_IS_C_CONTIGUOUS(value) or PyArray_IS_F_CONTIGUOUS(value):
        return True
    for left in range(ndim):
        found = -1
        for axis in range(ndim):
            if PyArray_STRIDES(value)[axis] == step and PyArray_DIMS(value)[axis] != 1:
                found = axis
                break
        if found < 0:
            break
        step *= PyArray_DIMS(value)[found]
    return step == PyArray_SIZE(value) * PyArray_ITEMSIZE(value)


cdef Extent extent(ndarray value) noexcept:
    """The addresses of an array's first element and after its last one, in the order of memory."""
    cdef Extent e
    cdef char *data = <char *> PyArray_DATA(value)
    cdef Py_ssize_t reach
    cdef int axis
    e.first, e.last = data, data + PyArray_ITEMSIZE(value)
    if PyArray_SIZE(value) == 0:
        e.last = data
        return e
    for axis in range(PyArray_NDIM(value)):
        reach = (PyArray_DIMS(value)[axis] - 1) * PyArray_STRIDES(value)[axis]
        if reach < 0:
            e.first += reach
        else:
            e.last += reach
    return e


cdef ndarray native(ndarray value):
    """Values that C code reads: in the machine's byte order and at aligned addresses."""
    return value if PyArray_ISBEHAVED_RO(value) else (<object> value).astype(value.dtype.newbyteorder("="))


cdef Array new_array(Head *h, object value, bint active):
    """A traced array with its own storage around newly computed values."""
    value = constant_of(value)
    cdef ndarray numbers = plain(value)
    cdef Storage s
    if type(value) is Array:
        if (<Array> value).storage.tag == h.tag:    # computed from an array of an ended trace that depends on h's inputs
            return <Array> value
        tape_of(h).note_outer((<Array> value).storage.tag)
    if not PyArray_ISBEHAVED_RO(numbers):
        value = native(numbers)
    s = storage_of(value, h.tag)
    s.active = active
    s.index = tape_of(h).add_place(s.size, s.type, <int> PyArray_ITEMSIZE(numbers))
    if not active and is_recording(h):
        note(h, h.count, (MADE, s.index, alike(plain(s.base))))
    return array_over(s, s.base, 0)


cdef Storage storage_of(object value, uint32_t tag):
    """A storage of values in the machine's byte order; those with gaps in their memory are copied."""
    cdef Storage s = Storage.__new__(Storage)
    cdef ndarray numbers = plain(value)
    if not dense(numbers):
        value = value.copy("K")
        numbers = plain(value)
    s.base = value
    s.data = <char *> PyArray_DATA(numbers)
    s.size = PyArray_SIZE(numbers)
    s.type = PyArray_TYPE(numbers)
    s.tag = tag
    return s


cdef Array ended_copy(Array a, object value):
    """A copy of a constant whose trace has ended, where no other trace is live."""
    cdef Storage s = storage_of(value, a.storage.tag)
    return array_over(s, s.base, 0)


cdef Array array_over(Storage s, object value, Py_ssize_t offset):
    cdef Array a = Array.__new__(Array)
    if PyArray_NDIM(plain(value)) > AXES:
        raise UnsupportedError("a traced array has up to 32 axes: join some by reshape")
    a.values = value
    a.storage = s
    a.offset = offset
    a.epoch = s.epoch
    return a


cdef View geometry(Array a):
    cdef ndarray numbers = plain(a.current())
    cdef View view = view_of(numbers, a.storage.index, a.offset, a.storage.size)
    view.number = a.storage.number and view.ndim == 0
    if view.type != a.storage.type:     # the view shows real or imaginary parts
        view.whole = False
        view.imaginary = a.offset % (2 * PyArray_ITEMSIZE(numbers)) != 0
    return view


cdef Array view_by(Array a, View view):
    """The view of a's storage that has the geometry of another storage's view; a is its whole storage, in C order."""
    cdef Array b
    value = a.current()
    if type(value) is Array:
        value = view_by(<Array> value, view)
    else:
        value = strided(<char *> PyArray_DATA(<ndarray> value), view, value)
    return array_over(a.storage, value, a.offset + view.offset)


cdef int make_writable(Storage s) except -1:
    """Prepare a storage for a write: keep the values that others refer to unchanged, and let rules copy afterwards."""
    cdef Head *h
    if s.frozen is not None:
        detach(s)
    if s.kept:
        h = head_of(s.tag)
        if is_recording(h):
            note(h, h.count, (MOVED, s.index, s.epoch))
        s.base = s.base.copy("K")
        s.data = <char *> PyArray_DATA(plain(s.base))
        s.epoch += 1
        s.kept = False
    s.written = True
    return 0


cdef Array snapshot(Array a):
    """A read-only view of an array's present values, which later writes do not change."""
    cdef Storage s = a.storage
    cdef Storage f = s.frozen
    if s.still:
        return a        # a second storage of the same values would not follow `detach`
    if s.lent:
        return snapshot(read_part(a, None))
    if f is None:
        f = Storage.__new__(Storage)
        f.base, f.data, f.size, f.tag, f.index, f.type, f.active = s.base, s.data, s.size, s.tag, s.index, s.type, s.active
        f.number, f.python, f.epoch = s.python, s.python, s.epoch
        f.kept = s.kept = f.still = True
        s.frozen = f
    return array_over(f, a.current(), a.offset)


cdef int detach(Storage s) except -1:
    """Before a write, give the snapshots a place of their own on the tape, by a recorded copy."""
    cdef Storage f = s.frozen
    cdef Head *h = head_of(s.tag)
    cdef ReadRecord record
    s.frozen = None
    if not s.active or h == NULL:
        return 0
    record = ReadRecord.__new__(ReadRecord)
    record.source = everything(s)
    f.index, f.epoch = tape_of(h).add_place(s.size, s.type, <int> PyArray_ITEMSIZE(plain(s.base))), 0
    record.result = everything(f)
    if is_recording(h):
        note(h, h.count, (COPIED_PART, record.source, None, record))
    record_array(h, record, 0.0)
    return 0


cdef View everything(Storage s):
    """The geometry of a whole storage, in the order of its memory."""
    cdef View view = View.__new__(View)
    view.storage = s.index
    view.ndim = 1
    view.type, view.epoch = s.type, s.epoch
    view.whole = True
    view.dims[0] = s.size
    view.dims[1] = PyArray_ITEMSIZE(plain(s.base))
    return view


cdef object keep(Head *h, object x):
    """The values of an argument for a rule: a reference if no later write can change them, otherwise a copy."""
    cdef Array a
    if type(x) is Array:
        a = <Array> x
        if type(a.current()) is Array:
            return snapshot(<Array> a.current())
        if a.storage.written:
            return a.current().copy()     # in the order in which replays write it
        a.storage.kept = True
        return a.current()
    return held(h, x)


cdef int check_depth(int depth) except -1:
    """Refuse a list at a level below which no array could be made of it."""
    if depth > LEVELS:
        raise ValueError("a list contains itself, or lists are nested too deeply for an array")
    return 0


cdef object held(Head *h, object x, int depth=0):
    """The present plain value: small arrays and lists are copied, large arrays referenced and checked for changes."""
    if type(x) is array_class:
        if PyArray_NBYTES(<ndarray> x) <= SMALL or not contiguous(<ndarray> x):
            return copied(<ndarray> x)
        tape_of(h).watch(<ndarray> x)
        return x
    if type(x) is list or type(x) is tuple:
        check_depth(depth)
        return type(x)([held(h, item, depth + 1) for item in x])
    return x


cdef bint contiguous(ndarray x) noexcept:
    return PyArray_IS_C_CONTIGUOUS(x) or PyArray_IS_F_CONTIGUOUS(x)


cdef object copied(ndarray x):
    """A copy that does not materialise the axes along which an array was broadcast."""
    cdef int axis
    if PyArray_NBYTES(x) <= SMALL:
        return PyArray_NewCopy(x, NPY_KEEPORDER)
    once = x[tuple([slice(0, 1) if PyArray_STRIDES(x)[axis] == 0 else slice(None) for axis in range(PyArray_NDIM(x))])]
    return numpy.broadcast_to(once.copy("K"), (<object> x).shape)


def form_of(x):
    """The values of a traced array or scalar, for functions that read only shape and dtype; other values unchanged."""
    return plain((<Array> x).current()) if type(x) is Array else (<Dual> x).v if type(x) is Dual else x


cpdef bint is_traced(object x) noexcept:
    """Whether an open trace differentiates a leaf."""
    return type(x) is Dual or type(x) is Array


cdef object differentiable(ndarray value):
    kind = value.dtype.kind
    return kind == "f" or kind == "c"


cdef object constant(object out):
    """New values that depend on no input, as a writable array; unchanged outside traces."""
    cdef Head *h = innermost_here()
    if h == NULL or type(out) is not array_class or not differentiable(out):
        return out
    return new_array(h, out, False)


cpdef object numbers_of(object x):
    """The values of a traced array, without a copy, or of a traced scalar; a plain x itself."""
    if type(x) is Array:
        return seen(<Array> x)
    return value_seen(<Dual> x) if type(x) is Dual else x


def rules_of(x):
    """The table of rules in which the trace of a traced value looks functions up."""
    cdef Head *h
    if type(x) is Dual:
        return tape_of(head_of_dual(<Dual> x)).rules
    h = head_of((<Array> x).storage.tag)
    if h == NULL and not (<Array> x).storage.active:
        h = innermost_here()
        if h == NULL:
            return ABOVE.of_ended
    if h == NULL:
        h = head_of_array(<Array> x)
    return tape_of(h).rules


cpdef object constant_of(object x):
    """The plain values of an array that depends on no input, without a copy; anything else as it is."""
    while type(x) is Array and not (<Array> x).storage.active:
        x = (<Array> x).current()
    return x


cdef object unlifted(object x):
    """The value of an outer trace that an array holds which depends on inputs of that trace only; any other x as it is."""
    cdef Storage s
    while type(x) is Array and not (<Array> x).storage.active and type((<Array> x).storage.base) is Array:
        s = (<Array> x).storage
        x = (<Array> x).current()
        if s.number:
            (<Array> x).storage.number, (<Array> x).storage.python = True, s.python
    return x


cdef object need_rules(Array a, object name):
    rules = rules_of(a)
    if rules is None:
        raise UnsupportedError(f"{name} needs an engine with numpy rules; install the primitives of tapeengine")
    return rules


include "noting.pxi"
include "creation.pxi"
