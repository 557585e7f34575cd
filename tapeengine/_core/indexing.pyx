"""Reading traced arrays: elements by one record of storage and offset, basic slices as views, the rest as copies."""

from libc.stdint cimport uint32_t
from cpython.long cimport PyLong_CheckExact
cimport numpy as cnp
from numpy cimport (
    NPY_DOUBLE, PyArray_DATA, PyArray_DIMS, PyArray_IS_C_CONTIGUOUS, PyArray_IS_F_CONTIGUOUS, PyArray_ISWRITEABLE,
    PyArray_ITEMSIZE, PyArray_NDIM, PyArray_SIZE, PyArray_STRIDES, PyArray_TYPE, ndarray,
)

from tapeengine._core.array cimport Array, Storage
from tapeengine._core.records cimport ReadRecord
from tapeengine._core.scalar cimport Dual, new_dual
from tapeengine._core.storing cimport array_over, geometry, head_of_array, new_array, plain
from tapeengine._core.tape cimport ARRAY, READ, Head, innermost_here, record_special, tape_of, traces

import numpy

cnp.import_array()

cdef object array_class = numpy.ndarray


cdef bint element_offset(Array a, ndarray value, object index, Py_ssize_t *offset) except -1:
    """Whether an index names one element by whole numbers; its offset in bytes within the storage."""
    cdef Py_ssize_t i, n
    cdef int axis
    if PyLong_CheckExact(index):
        if PyArray_NDIM(value) != 1:
            return False
        i = index
        n = PyArray_DIMS(value)[0]
        if i < 0:
            i += n
        if i < 0 or i >= n:
            raise IndexError(f"index {index} is out of bounds for axis 0 with size {n}")
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
        i = item
        n = PyArray_DIMS(value)[axis]
        if i < 0:
            i += n
        if i < 0 or i >= n:
            raise IndexError(f"index {item} is out of bounds for axis {axis} with size {n}")
        offset[0] += i * PyArray_STRIDES(value)[axis]
        axis += 1
    return True


cdef bint is_basic(object index) except -1:
    """Whether numpy answers an index with a view."""
    if type(index) is tuple:
        for item in <tuple> index:
            if not is_basic(item):
                return False
        return True
    return (index is None or index is Ellipsis or isinstance(index, (slice, numpy.integer))
            or (isinstance(index, int) and not isinstance(index, bool)))


cdef object plain_index(object index):
    """An index without traced arrays in it (their values are discrete here)."""
    if type(index) is tuple:
        return tuple([plain_index(item) for item in <tuple> index])
    if type(index) is list:
        return [plain_index(item) for item in <list> index]
    return plain(index) if type(index) is Array else index


cdef object read_element(Array a, Py_ssize_t offset):
    """A scalar of a float64 array: a dual, by one record of storage and offset."""
    cdef Storage s = a.storage
    cdef double v
    cdef Head *h
    cdef uint32_t id
    if type(s.base) is array_class:
        v = (<double *> (s.data + offset))[0]
        if not s.active:
            return v
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
    """A result of numpy on a's values as a view of a's storage; None where it is a copy."""
    cdef Storage s = a.storage
    cdef Py_ssize_t offset
    cdef ndarray numbers
    if type(value) is Array:
        if type(s.base) is not Array or (<Array> value).storage is not (<Array> s.base).storage:
            return None
        return array_over(s, value, (<Array> value).offset - (<Array> s.base).offset)
    numbers = <ndarray> value
    offset = <char *> PyArray_DATA(numbers) - s.data
    if PyArray_SIZE(numbers) == 0:
        return array_over(s, value, 0)
    if offset < 0 or offset >= s.size * PyArray_ITEMSIZE(plain(s.base)) or PyArray_TYPE(numbers) != s.type:
        return None
    return array_over(s, value, offset)


cdef Array read_part(Array a, object index):
    """A copy of some elements, recorded."""
    cdef Head *h
    cdef ReadRecord record
    cdef Array result
    value = a.current()
    out = value.copy() if index is None else value[index]
    if not a.storage.active:
        h = innermost_here()
        return new_array(h if h != NULL else head_of_array(a), out, False)
    h = head_of_array(a)
    result = new_array(h, out, True)
    record = ReadRecord.__new__(ReadRecord)
    record.source = geometry(a)
    record.result = geometry(result)
    record.index = index
    record_special(h, ARRAY, <uint32_t> len(tape_of(h).arrays), 0.0, 0.0, 0.0)
    tape_of(h).arrays.append(record)
    return result


cdef object get(Array a, object index):
    cdef Py_ssize_t offset = 0
    cdef ndarray value = plain(a.current())
    if a.storage.type == NPY_DOUBLE and element_offset(a, value, index, &offset):
        return read_element(a, offset)
    index = plain_index(index)
    if not is_basic(index):
        return read_part(a, index)
    part = a.current()[index]
    if type(part) is not array_class and type(part) is not Array:   # a scalar of another dtype, or by odd integers
        if a.storage.type == NPY_DOUBLE:
            index = index if type(index) is tuple else (index,)
            return get(a, tuple([int(i) for i in index if i is not Ellipsis]))
        part = a.current()[(index if type(index) is tuple else (index,)) + (Ellipsis,)]
    return viewed(a, part)


def view(Array a, function):
    """Apply a numpy function that rearranges an array: as a view where numpy makes one, else as a copy.

    Parameters
    ----------
    a : Array
    function : callable
        Takes the values, returns an array or a list or tuple of arrays.
    """
    result = function(a.current())
    if holds_numbers(result):
        return picked(a, function(numpy.arange(a.size).reshape(a.shape)))
    if isinstance(result, (list, tuple)):
        return type(result)([arranged(a, part, None) for part in result])
    return arranged(a, result, function)


cdef bint holds_numbers(object result) except -1:
    """Whether numpy has answered with single numbers instead of views."""
    if isinstance(result, (list, tuple)):
        for part in result:
            if holds_numbers(part):
                return True
        return False
    return isinstance(result, (numpy.generic, Dual))


cdef object picked(Array a, object places):
    """The elements of an array at places counted in C order, one or a list of them."""
    if isinstance(places, (list, tuple)):
        return type(places)([picked(a, place) for place in places])
    return get(a, tuple([int(i) for i in numpy.unravel_index(places, a.shape)]))


cdef object arranged(Array a, object part, object function):
    cdef Array copy
    if type(part) is not array_class and type(part) is not Array:
        return part
    result = viewed(a, part)
    if result is not None or function is None:
        return result
    copy = read_part(a, None)
    result = viewed(copy, function(copy.current()))
    if result is not None:
        return result
    places = function(numpy.arange(copy.size).reshape(copy.shape))
    flat = viewed(copy, copy.current().reshape(-1))
    return read_part(<Array> flat, places)
