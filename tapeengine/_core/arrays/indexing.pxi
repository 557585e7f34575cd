# Reading traced arrays: an element is one record of storage and offset, a basic slice a view, anything else a copy.
#
# The records of reads and writes are in `accesses.pxi`; `assignment.pxi` writes.

cdef extern from *:
    """
    /* The value of a whole number, clipped to the range of Py_ssize_t: numbers of one digit take no call. */
    static CYTHON_INLINE Py_ssize_t te_clipped(PyObject *number) {
        PyLongObject *digits = (PyLongObject *) number;
    #if PY_VERSION_HEX >= 0x030C0000
        if (PyUnstable_Long_IsCompact(digits)) return PyUnstable_Long_CompactValue(digits);
    #else
        if (-1 <= Py_SIZE(digits) && Py_SIZE(digits) <= 1) return Py_SIZE(digits) * (Py_ssize_t) digits->ob_digit[0];
    #endif
        return PyNumber_AsSsize_t(number, NULL);
    }
    """
    Py_ssize_t clipped "te_clipped"(object number) except? -1
    Py_ssize_t PyNumber_AsSsize_t(object number, object error) except? -1


cdef enum Kind:     # the kind of numpy's result for an index
    VIEWED          # a view, or an element
    COPIED          # a copy of that view: one of the items is an array of one whole number
    GATHERED        # a copy of the elements that index arrays name


cdef bint element_offset(Array a, ndarray value, object index, Py_ssize_t *offset) except -1:
    """Whether an index names one element by whole numbers; sets its offset in bytes within the storage."""
    cdef Py_ssize_t i, n
    cdef int axis
    if PyLong_CheckExact(index):
        if PyArray_NDIM(value) != 1:
            return False
        i = clipped(index)
        n = PyArray_DIMS(value)[0]
        if i < 0:
            i += n
        if i < 0 or i >= n:
            value[index]    # raises numpy's error
        offset[0] = a.offset + i * PyArray_STRIDES(value)[0]
        return True
    if type(index) is not tuple or len(<tuple> index) != PyArray_NDIM(value):
        return False
    offset[0] = a.offset
    axis = 0
    for item in <tuple> index:
        if not PyLong_CheckExact(item):
            if not isinstance(item, numpy.integer):
                return False
            item = int(item)
        i = clipped(item)
        n = PyArray_DIMS(value)[axis]
        if i < 0:
            i += n
        if i < 0 or i >= n:
            value[index]
        offset[0] += i * PyArray_STRIDES(value)[axis]
        axis += 1
    return True


cdef tuple normalised(object index, int *kind):
    """Normalise an index as numpy reads it; later changes of the program's objects do not affect the result.

    Its items are whole numbers, slices, None, Ellipsis, booleans and arrays; `kind` is set to the kind of the result.
    """
    cdef list items = []
    kind[0] = VIEWED
    for item in index if isinstance(index, tuple) else (index,):
        items.append(normalised_item(item, kind))
    return tuple(items)


cdef object normalised_item(object item, int *kind):
    if item is None or item is Ellipsis or PyLong_CheckExact(item):
        return item
    if type(item) is slice:
        return slice(slice_end(item.start), slice_end(item.stop), slice_end(item.step))
    if type(item) is Array:
        item = plain(item)
    if not isinstance(item, (array_class, list, tuple, bool, numpy.bool)) and hasattr(type(item), "__index__"):
        # numpy's errors for a number beyond all arrays
        return PyNumber_AsSsize_t(item, OverflowError if isinstance(item, numpy.integer) else IndexError)
    places = numpy.array(item)
    if not isinstance(item, array_class) and places.size == 0:
        places = places.astype(numpy.intp)
    if places.ndim == 0 and places.dtype.kind in "iu":
        kind[0] = max(kind[0], COPIED)
        return int(places)
    kind[0] = GATHERED
    return places


cdef object slice_end(object end):
    return end if end is None or PyLong_CheckExact(end) else whole_number(end)


cdef bint names_element(tuple index, int ndim) noexcept:
    """Whether a normalised index has a whole number for each axis: numpy then returns a scalar."""
    if len(index) != ndim:
        return False
    for item in index:
        if not PyLong_CheckExact(item):
            return False
    return True


cdef object read_element(Array a, Py_ssize_t offset):
    """Read an element of a float64 array as a dual, by one record of storage and offset."""
    cdef Storage s = a.storage
    cdef double v
    cdef Head *h
    cdef uint32_t id
    if type(s.base) is array_class:
        v = (<double *> (s.data + offset))[0]
        if not s.active:
            return cnp.PyArray_ToScalar(s.data + offset, <ndarray> s.base)
        h = traces.current
        if h.tag != s.tag:
            h = head_of_array(a)
        return new_dual(v, record_special(h, READ, s.index, 0.0, <double> (offset >> 3), v), s.tag)
    outer = (<Array> s.base)
    value = read_element(outer, outer_offset(<Array> outer, offset))
    if not s.active:
        return value
    h = head_of_array(a)
    v = (<Dual> value).v if type(value) is Dual else <double> value
    id = record_special(h, READ, s.index, 0.0, <double> (offset >> 3), v)
    if type(value) is Dual:
        tape_of(h).note_link(id, (<Dual> value).tag, (<Dual> value).id)
    return new_dual(v, id, s.tag)


cdef Py_ssize_t outer_offset(Array outer, Py_ssize_t offset) except -1:
    outer.current()
    return outer.offset + offset


cdef object viewed(Array a, object value):
    """A view of a's storage for numpy's result on a's values; None if that result is a copy."""
    cdef Storage s = a.storage
    cdef Py_ssize_t offset
    cdef ndarray numbers
    if type(value) is Array:
        if type(s.base) is not Array or (<Array> value).storage is not (<Array> s.base).storage:
            return None
        return array_over(s, value, (<Array> value).offset - (<Array> s.base).offset)
    numbers = <ndarray?> value
    offset = <char *> PyArray_DATA(numbers) - s.data
    if not shows(PyArray_TYPE(numbers), s.type):
        return None
    if PyArray_SIZE(numbers) == 0:
        return array_over(s, value, 0)
    if offset < 0 or offset >= s.size * PyArray_ITEMSIZE(plain(s.base)):
        return None
    return array_over(s, value, offset)


cdef bint shows(int type, int stored) noexcept:
    """Whether a view may have a type: the storage's type, or that of its real and imaginary parts."""
    return type == stored or (type == NPY_DOUBLE and stored == NPY_CDOUBLE) or (type == NPY_FLOAT and stored == NPY_CFLOAT)


cdef Array read_part(Array a, object index, object order="K"):
    """A recorded copy of the elements that a normalised index names, or (index None) of all elements."""
    cdef Head *h
    cdef ReadRecord record
    cdef Array result
    value = a.current()
    if index is not None:
        out = value[index]
    else:  # a copy also of a number, whose parts become views
        out = read_part(value, None, order) if type(value) is Array else value.copy(order)
    if not a.storage.active:
        h = innermost_here()
        return new_array(h, out, False) if h != NULL else ended_copy(a, plain(out))
    h = head_of_array(a)
    result = new_array(h, out, True)
    record = ReadRecord.__new__(ReadRecord)
    record.source = geometry(a)
    record.result = geometry(result)
    record.index = index
    if is_recording(h):
        note(h, h.count, (COPIED_PART, operand(h, a), index, record))
    record_array(h, record, 0.0)
    return result


cdef object read_number(Array a):
    """A number that later writes do not change, from the view of an element: numpy gives a scalar here."""
    cdef Array result = read_part(a, None)
    if result.storage.type == NPY_DOUBLE:
        return read_element(result, 0)
    result.storage.number = True
    return result


cdef inline ndarray present(Array a):
    """The plain values of an array, without a call where they are its own and up to date."""
    if type(a.values) is array_class and a.epoch == a.storage.epoch:
        return <ndarray> a.values
    return plain(a.current())


cdef object get(Array a, object index):
    cdef Py_ssize_t offset = 0
    cdef int kind = VIEWED
    cdef ndarray value = present(a)
    if a.storage.type == NPY_DOUBLE and element_offset(a, value, index, &offset):
        return read_element(a, offset)
    if a.storage.number:    # numpy's scalars have no views: `...` and None make new arrays
        return a if type(index) is tuple and not index else scalar_item(read_part(a, None), index)
    index = normalised(index, &kind)
    if kind == GATHERED:
        return read_part(a, index)
    if names_element(<tuple> index, PyArray_NDIM(value)):
        if a.storage.type == NPY_DOUBLE and element_offset(a, value, index, &offset):
            return read_element(a, offset)
        return read_number(viewed(a, a.current()[(*index, Ellipsis)]))
    part = viewed(a, a.current()[index])
    return read_part(part, None) if kind == COPIED else part


def view(Array a, function: Callable[[NDArray[Any]], NDArray[Any]], order: str = "C") -> Array:
    """Apply a numpy function that rearranges an array; the result is a view where numpy's is one, otherwise a copy.

    Parameters
    ----------
    a : Array
    function : callable
        Takes the values, returns an array or a list or tuple of arrays.
    order : str
        The order of the axes in which the function reads elements that it must copy.
    """
    values = plain(a.current())
    if a.storage.number:    # numpy rearranges a scalar into a scalar, or into a new array
        values = values if a.storage.python else values[()]
        a = read_part(a, None)
    if values.ndim == 0 and isinstance(function(values), numpy.generic):
        return get(a, ())
    result = function(a.current())
    if result is a.current():
        return a
    if holds_numbers(result):
        return picked(a, function(numpy.arange(a.size).reshape(a.shape)))
    if isinstance(result, (list, tuple)):
        return type(result)([arranged(a, part, None, order) for part in result])
    return arranged(a, result, function, order)


cdef bint holds_numbers(object result) except -1:
    """Whether numpy's result consists of single numbers instead of views."""
    if isinstance(result, (list, tuple)):
        for part in result:
            if holds_numbers(part):
                return True
        return False
    return isinstance(result, (numpy.generic, Dual))


cdef object picked(Array a, object places):
    """The elements of an array at positions in C order, one or a list of them."""
    if isinstance(places, (list, tuple)):
        return type(places)([picked(a, place) for place in places])
    return get(a, tuple([int(i) for i in numpy.unravel_index(places, a.shape)]))


cdef object arranged(Array a, object part, object function, object order):
    """One result of a function of a's values: a view of a's storage, or of a copy in the function's order."""
    cdef Array copy
    result = viewed(a, part)
    if result is not None or function is None:
        return result
    copy = read_part(a, None, "C" if order == "A" else order)   # with "A", numpy copies no Fortran-ordered array
    return viewed(copy, function(copy.current()))

include "accesses.pxi"
include "assignment.pxi"
