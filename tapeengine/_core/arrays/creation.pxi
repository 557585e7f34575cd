# Creation of arrays inside a program: from nested lists that may hold traced numbers, and new arrays for writing.


cdef object stripped_list(object value, int depth=0):
    """Nested lists with plain numbers in place of traced ones."""
    if type(value) is Dual:
        return (<Dual> value).v
    if type(value) is Array:
        return plain(value).item() if (<Array> value).storage.python else plain(value)
    if type(value) is ComplexDual:
        return value._value
    if isinstance(value, (list, tuple)):
        check_depth(depth)
        return [stripped_list(item, depth + 1) for item in value]
    return value


cdef int fill(Array target, object value, tuple index) except -1:
    """Write the traced leaves of nested lists into an array of their values."""
    cdef Py_ssize_t i
    if type(value) is Dual or type(value) is ComplexDual or (type(value) is Array and (<Array> value).storage.active):
        target[index] = value
    elif isinstance(value, (list, tuple)):
        for i in range(len(value)):
            fill(target, value[i], (*index, i))
    return 0


cpdef bint holds_traced(object value) except -1:
    """Whether nested lists hold traced numbers or arrays."""
    return has_traced(value, 0)


cdef bint has_traced(object value, int depth) except -1:
    if type(value) is Dual or type(value) is Array or type(value) is ComplexDual:
        return True
    if isinstance(value, (list, tuple)):
        check_depth(depth)
        for item in value:
            if has_traced(item, depth + 1):
                return True
    return False


cdef Head *head_of_latest(object value) except? NULL:
    """The latest trace of numbers and arrays in nested lists, for a thread that has no trace itself; NULL if none is."""
    cdef Head *found = NULL
    cdef Head *h
    if type(value) is Dual:
        return head_of_dual(<Dual> value)
    if type(value) is Array:
        return head_of_array(<Array> value) if (<Array> value).storage.active else NULL
    if type(value) is ComplexDual:
        value = (<ComplexDual> value).re, (<ComplexDual> value).im
    for item in value if isinstance(value, (list, tuple)) else ():
        h = head_of_latest(item)
        if h != NULL and (found == NULL or h.tag > found.tag):
            found = h
    return found


cpdef bint is_of_reader(error: Exception) except -1:
    """Whether numpy raised an error because the method `__array__` of an object returned a traced array."""
    return "object __array__ method not producing" in str(error)


def from_values(value, dtype=None, **options) -> Array:
    """An array from nested lists of numbers that may be traced: `numpy.array` for programs.

    An array (traced or not) is copied.
    """
    cdef Head *h = innermost_here()
    if type(value) is Array and not (<Array> value).storage.python:
        copy = read_part(<Array> value, None)   # an array also of a number
        return copy if dtype is None or copy.dtype == dtype else copy.astype(dtype)
    try:
        numbers = numpy.array(stripped_list(value) if holds_traced(value) else value, dtype=dtype, **options)
    except ValueError as error:
        if not is_of_reader(error):
            raise
        value = ABOVE.given(value)
        numbers = numpy.array(stripped_list(value) if holds_traced(value) else value, dtype=dtype, **options)
    if h == NULL and holds_traced(value):
        h = head_of_latest(value)
    if h == NULL or not differentiable(numbers):
        if numbers.dtype.kind in "OV" and holds_traced(value):
            raise UnsupportedError("an array of traced numbers needs nested lists with rows of equal length, and float32, "
                                   "float64 or their complex dtypes")
        if is_recording(h) and holds_traced(value):
            h.guards.lost = b"it makes an array of integers or objects from traced numbers"
        return numbers
    result = new_array(h, numbers, False)
    if holds_traced(value):
        fill(<Array> result, value, (Ellipsis,) if type(value) is Dual or type(value) is ComplexDual else ())
    return result


def fresh(numbers) -> Array:
    """Newly computed values as a writable array of the running trace; outside traces unchanged."""
    return constant(numbers)
