# Writing to traced arrays: the cotangent of the overwritten part goes to the assigned value and is cleared.

cdef int lift(Storage s, Head *outer) except -1:
    """Convert a storage so that it can hold values of an outer trace."""
    cdef Array base
    if type(s.base) is Array and (<Array> s.base).storage.tag >= outer.tag:
        return 0
    base = new_array(outer, s.base.copy("K"), False)
    tape_of(head_of(s.tag)).note_outer(outer.tag)
    s.base = base
    s.data = <char *> PyArray_DATA(plain(base))
    s.epoch += 1
    s.kept = False
    return 0


cdef int check_writer(Array a, uint32_t tag) except -1:
    if tag > a.storage.tag:
        raise TraceError(
            f"an array of shape {a.shape} that belongs to an outer derivative is assigned a value of an inner one, "
            "which ends before it. Create the array inside the inner program, or return the value from it"
        )
    if tag and a.storage.lent:
        raise DroppedDerivativeError("a traced value is assigned to an array that shares memory with a plain array "
                                     "or buffer. Copy one of the two first")
    return 0


cdef int write_element(Array a, Py_ssize_t offset, object value) except -1:
    """Store a real number in one element."""
    cdef Storage s = a.storage
    cdef double v
    cdef uint32_t id = 0
    cdef Head *h
    cdef Dual d
    cdef bint outer = type(s.base) is Array
    if type(value) is Dual:
        d = <Dual> value
        v = d.v
        head_of_dual(d)
        check_writer(a, d.tag)
        h = head_of_array(a)
        if d.tag == s.tag:
            id = d.id
            s.active = True
            value = outward(h, d)
        if type(value) is Dual:
            lift(s, head_of_dual(<Dual> value))
            outer = True
    elif value is None or not as_double(value, &v):
        return 0
    if s.kept or not s.written:
        make_writable(s)
    if outer:
        write_element(<Array> s.base, outer_offset(<Array> s.base, offset), value)
    else:
        (<double *> (s.data + offset))[0] = v
        if not s.active and is_recording(head_of(s.tag)):
            h = head_of(s.tag)
            note(h, h.count, (POKED, s.index, s.epoch, offset >> 3, v))
    if s.active:
        h = head_of_array(a)
        record_special(h, WRITE, s.index, <double> id, <double> (offset >> 3), v)
    return 1


cdef int put(Array a, object index, object value) except -1:
    cdef Py_ssize_t offset = 0
    cdef int kind = VIEWED
    cdef uint32_t tag
    cdef Head *h
    cdef Storage s = a.storage
    cdef WriteRecord record
    cdef Array target
    cdef ndarray numbers = plain(a.current())
    value = unlifted(value)
    if type(value) is ComplexDual:
        value = (<ComplexDual> value)._array()
    if type(value) is Array and (<Array> value).storage.python and not PyTypeNum_ISCOMPLEX(PyArray_TYPE(numbers)):
        raise TypeError("a real array takes no complex number of Python. Write z.real")
    check_writable(a, numbers)
    if s.type == NPY_DOUBLE and element_offset(a, numbers, index, &offset):
        if write_element(a, offset, unboxed(value)):
            return 0
    index = normalised(index, &kind)
    if s.type == NPY_DOUBLE and names_element(<tuple> index, PyArray_NDIM(numbers)):
        if element_offset(a, numbers, index, &offset) and write_element(a, offset, unboxed(value)):
            return 0
    if isinstance(value, (list, tuple)):
        given, value = value, from_values(value, numbers.dtype)
        if kind != GATHERED:
            check_levels(given, value.ndim, numbers[index])
    elif is_foreign(value):
        value = ABOVE.given(value)
    if type(value) is Dual:
        tag = head_of_dual(<Dual> value).tag
    elif type(value) is Array and (<Array> value).storage.active:
        tag = head_of_array(<Array> value).tag
    else:
        tag = 0
    check_writer(a, tag)
    if type(value) is Array and (<Array> value).storage is s:
        refuse_shuffle()
    if tag == 0 and not s.active and head_of(s.tag) == NULL and innermost_here() == NULL:
        numbers[index] = constant_of(value)     # no trace is live that could see the write
        return 0
    h = head_of_array(a)
    if type(value) is Array and (<Array> value).storage is s and (
            is_mask(<tuple> index, PyArray_NDIM(numbers))
            or kind != GATHERED and reads_what_it_writes(numbers[index], plain((<Array> value).current()))):
        if put_overlapping(a, value, assign, index):
            return 0
    place, source, shape = None, value, ()
    if type(value) is Array:
        shape = (<Array> value).shape
        if not (<Array> value).storage.active or tag == s.tag:
            source = (<Array> value).current()
            if tag == s.tag:
                place = geometry(<Array> value)
    elif type(value) is Dual and tag == s.tag:
        place = (<Dual> value).id
        source = outward(h, <Dual> value)
    if is_traced(source):
        lift(s, head_of_dual(<Dual> source) if type(source) is Dual else head_of_array(<Array> source))
    noted = operand(h, value) if is_recording(h) else None
    make_writable(s)
    if place is not None:
        s.active = True
    target = a
    if kind != GATHERED:
        part = a.current()[index if has_ellipsis(<tuple> index) else (*index, Ellipsis)]
        target = viewed(a, part)
        if names_element(<tuple> index, PyArray_NDIM(numbers)):
            assign(a.current(), index, source)      # assigns a number, not an array of one
        else:
            assign(part, Ellipsis, source)
    else:
        assign(a.current(), index, source)
    record = WriteRecord.__new__(WriteRecord)
    if noted is not None:
        note(h, h.count, (WRITTEN, operand(h, a), index, kind == GATHERED, noted, record if s.active else None))
    if not s.active:
        return 0
    record.target = geometry(target)
    record.index = index if kind == GATHERED else None
    record.value = place
    record.shape = shape
    record_array(h, record, 0.0)
    return 0


cdef int check_writable(Array a, ndarray numbers) except -1:
    if a.storage.number:
        raise TypeError(f"'numpy.{a.dtype.name}' object does not support item assignment: it is a scalar")
    if a.storage.shared and PyArray_ISWRITEABLE(numbers):
        raise UnsupportedError(
            f"an array of shape {a.shape} shares memory with another argument or result of a call: a write to one would "
            "have to change the other, but each has its own derivative. Use copies (x.copy())")
    if PyArray_ISWRITEABLE(numbers):
        return 0
    if repeats(geometry(a)):
        raise ValueError("assignment destination is read-only: a broadcast view shows one element in several places. "
                         "Copy it first, or assign to the array that it is a view of")
    raise ValueError("assignment destination is read-only")


cdef int check_levels(object given, int levels, object part) except -1:
    """Refuse a list with more levels than the part to which it is assigned has axes; of an array numpy drops some."""
    if levels > part.ndim:
        if type(part) is not array_class:
            numpy.empty(1, part.dtype)[0] = given   # raises numpy's error for an element
        raise ValueError("setting an array element with a sequence. The requested array would exceed the maximum number "
                         f"of dimension of {part.ndim}.")
    return 0


def refuse_writes(x):
    """Refuse writes to an array that shares memory with another one; return it."""
    if type(x) is Array:
        (<Array> x).storage.shared = True
    return x


cdef object unboxed(object value):
    """The number in an array of one element; None for other values."""
    if type(value) is Array or type(value) is array_class:
        return value[()] if value.ndim == 0 else None
    return value


def assign(target, index, source) -> None:
    """numpy's assignment; a value that does not fit raises numpy's error before anything is recorded."""
    target[index] = source


cdef bint has_ellipsis(tuple index) noexcept:
    for item in index:
        if item is Ellipsis:
            return True
    return False


# -- values that overlap their target ----------------------------------------------------------------------------------
cdef bint is_mask(tuple index, int ndim) noexcept:
    """Whether an index is one mask of the whole array: numpy then reads the value while it writes."""
    return (len(index) == 1 and type(index[0]) is array_class and PyArray_TYPE(<ndarray> index[0]) == NPY_BOOL
            and PyArray_NDIM(<ndarray> index[0]) == ndim)


cdef bint reads_what_it_writes(object target, ndarray value) except -1:
    """Whether numpy assigns a vector to an overlapping one with other strides: numpy makes no copy in this case."""
    cdef Py_ssize_t step, other
    if type(target) is not array_class or PyArray_NDIM(<ndarray> target) != 1 or PyArray_NDIM(value) == 0:
        return False
    step, other = PyArray_STRIDES(<ndarray> target)[0], PyArray_STRIDES(value)[PyArray_NDIM(value) - 1]
    return step != other and step * other > 0 and numpy.shares_memory(target, value)


def put_overlapping(Array a, value, write: Callable[..., Any], *given) -> bool:
    """Write a value that overlaps its target where numpy reads it during the write; return False for other values.

    The same write on an array of element numbers shows which element each new value came from.
    """
    cdef Storage s = a.storage
    cdef Py_ssize_t width = PyArray_ITEMSIZE(plain(s.base))
    cdef ndarray numbers
    if type(value) is not Array or (<Array> value).storage is not s or a.dtype != value.dtype:
        return False
    numbers = numpy.arange(s.size).astype(
        PyArray_DescrFromType(NPY_UINT32 if width == 4 else NPY_UINT64 if width == 8 else NPY_CDOUBLE))
    target = numbered(a, numbers)
    write(target, *given, numbered(<Array> value, numbers))
    places = (target.real if width > 8 else target).astype(numpy.intp)
    put(a, Ellipsis, get(view_by(array_over(s, s.base, 0), everything(s)), places))
    return True


cdef ndarray numbered(Array a, ndarray numbers):
    """The numbers of the storage's elements that an array shows."""
    cdef View view = geometry(a)
    view.type = PyArray_TYPE(numbers)
    return strided(<char *> PyArray_DATA(numbers), view, numbers)


def add_at(Array a, index, value) -> None:
    """Add a value into elements of an array, once for each time that the index names them: `numpy.add.at`."""
    cdef AddRecord record
    cdef Head *h = head_of_array(a)
    cdef Storage s = a.storage
    cdef int kind = VIEWED
    check_writable(a, plain(a.current()))
    index = normalised(index, &kind)
    value = unlifted(value)
    if type(value) is Array and not (<Array> value).storage.active:
        value = (<Array> value).current()
    if not is_traced(value):
        if type(a.current()) is Array:
            make_writable(s)
            return add_at(a.current(), index, value)
        make_writable(s)
        numpy.add.at(a.current(), index, value)
        if is_recording(h):
            note(h, h.count, (ADDED, operand(h, a), index, operand(h, value), None))
        return None
    if type(value) is Array and value.ndim == 1 and a.ndim == 1 and getattr(index[0], "ndim", 1) > 1:
        raise UnsupportedError("ufunc.at broadcasts a vector over an index of several axes wrongly in numpy. "
                               "Give it numpy.broadcast_to(value, index.shape)")
    tag = (<Array> value).storage.tag if type(value) is Array else (<Dual> value).tag
    check_writer(a, tag)
    source = stripped(h, s.tag, value)
    if is_traced(source):
        lift(s, head_of_dual(<Dual> source) if type(source) is Dual else head_of_array(<Array> source))
    noted = operand(h, value) if is_recording(h) else None
    make_writable(s)
    if type(a.current()) is Array:
        add_at(a.current(), index, source)
    else:
        numpy.add.at(a.current(), index, source)
    if tag != s.tag:
        return None
    s.active = True
    record = AddRecord.__new__(AddRecord)
    record.target = geometry(a)
    record.index = index
    record.value = geometry(<Array> value) if type(value) is Array else (<Dual> value).id
    record.shape = value.shape if type(value) is Array else ()
    if noted is not None:
        note(h, h.count, (ADDED, operand(h, a), index, noted, record))
    record_array(h, record, 0.0)
    return None
