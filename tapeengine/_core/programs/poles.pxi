# Tests whether results are finite. If they are not, the derivative is computed again by dual numbers.


def is_finite(x) -> bool:
    """Whether a number, every element of an array, or every leaf of a box or list of boxes is finite."""
    cdef list pending
    if not isinstance(x, (tuple, list)):
        return x is None or leaf_is_finite(x)
    pending = [x]
    while pending:
        for part in pending.pop():
            if isinstance(part, (tuple, list)):
                pending.append(part)
            elif part is not None and not leaf_is_finite(part):
                return False
    return True


def has_infinity(value, bint nan_only=False) -> bool:
    """Whether there is an infinity or a NaN, or only a NaN, in a float, an array, or a tuple or list of these."""
    cdef list pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, (tuple, list)):
            pending.extend(part)
        elif (isinstance(part, float) or PyArray_CheckExact(part)) and not leaf_is_finite(part):
            if not nan_only or numpy.isnan(part).any():
                return True
    return False


cdef bint leaf_is_finite(object x) except -1:
    cdef ndarray array
    if type(x) is float:
        return isfinite(PyFloat_AS_DOUBLE(x)) != 0
    if isinstance(x, (float, int)):
        return isinstance(x, int) or isfinite(PyFloat_AS_DOUBLE(x)) != 0
    if not PyArray_CheckExact(x):
        return not isinstance(x, complex) and bool(numpy.isfinite(numpy.sum(x)))  # powers of negative numbers
    array = x
    if not (PyArray_TYPE(array) == NPY_DOUBLE and PyArray_ISALIGNED(array) and PyArray_ISNOTSWAPPED(array)
            and (PyArray_IS_C_CONTIGUOUS(array) or PyArray_IS_F_CONTIGUOUS(array))):
        return bool(numpy.isfinite(array).all())
    return te_all_finite(<double *> PyArray_DATA(array), PyArray_SIZE(array)) != 0
