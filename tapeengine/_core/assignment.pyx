"""Writing to traced arrays: the cotangent of what is overwritten goes to the assigned value and is cleared."""

from libc.stdint cimport uint32_t
cimport numpy as cnp
from numpy cimport (
    NPY_DOUBLE, PyArray_DATA, PyArray_DIMS, PyArray_IS_C_CONTIGUOUS, PyArray_IS_F_CONTIGUOUS, PyArray_ISWRITEABLE,
    PyArray_ITEMSIZE, PyArray_NDIM, PyArray_SIZE, PyArray_STRIDES, PyArray_TYPE, ndarray,
)

from tapeengine._core.array cimport Array, Storage
from tapeengine._core.calls cimport outward, stripped
from tapeengine._core.indexing cimport element_offset, is_basic, outer_offset, plain_index, viewed
from tapeengine._core.records cimport AddRecord, WriteRecord, repeats
from tapeengine._core.scalar cimport Dual, as_double, head_of_dual
from tapeengine._core.storing cimport geometry, head_of_array, is_traced, make_writable, new_array, plain
from tapeengine._core.tape cimport ARRAY, WRITE, Head, head_of, record_special, tape_of

import numpy

from tapeengine._core.creation import from_values
from tapeengine.errors import TraceError

cnp.import_array()

cdef object array_class = numpy.ndarray


cdef int lift(Storage s, Head *outer) except -1:
    """Let a storage hold values of an outer trace from now on."""
    cdef Array base
    if type(s.base) is Array and (<Array> s.base).storage.tag >= outer.tag:
        return 0
    base = new_array(outer, s.base.copy(order="K") if type(s.base) is array_class else s.base.copy(), False)
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
    return 0


cdef int write_element(Array a, Py_ssize_t offset, object value) except -1:
    """Store a real number at one place."""
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
    elif not as_double(value, &v):
        return 0
    if s.kept or not s.written:
        make_writable(s)
    if outer:
        write_element(<Array> s.base, outer_offset(<Array> s.base, offset), value)
    else:
        (<double *> (s.data + offset))[0] = v
    if s.active:
        h = head_of_array(a)
        record_special(h, WRITE, s.index, <double> id, <double> (offset >> 3), v)
    return 1


cdef int put(Array a, object index, object value) except -1:
    cdef Py_ssize_t offset = 0
    cdef uint32_t tag
    cdef Head *h
    cdef Storage s = a.storage
    cdef WriteRecord record
    cdef Array target
    if not PyArray_ISWRITEABLE(plain(a.current())) and PyArray_STRIDES(plain(a.current())) != NULL and is_repeated(a):
        raise ValueError("assignment destination is read-only: a broadcast view shows one element in several places. "
                         "Copy it first, or assign to the array that it is a view of")
    if s.type == NPY_DOUBLE and element_offset(a, plain(a.current()), index, &offset):
        if type(value) is Array or type(value) is array_class:
            value = value[()] if value.size == 1 and value.ndim == 0 else value
        if write_element(a, offset, value):
            return 0
    index = plain_index(index)
    if isinstance(value, (list, tuple)):
        value = from_values(value, None)
    if type(value) is Dual:
        tag = head_of_dual(<Dual> value).tag
    elif type(value) is Array and (<Array> value).storage.active:
        tag = head_of_array(<Array> value).tag
    else:
        tag = 0
    check_writer(a, tag)
    h = head_of_array(a)
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
    make_writable(s)
    if place is not None:
        s.active = True
    basic = is_basic(index)
    target = a
    if basic:
        part = a.current()[(index if type(index) is tuple else (index,)) + (() if has_ellipsis(index) else (Ellipsis,))]
        target = viewed(a, part)
        assign(part, Ellipsis, source)
    else:
        assign(a.current(), index, source)
    if not s.active:
        return 0
    record = WriteRecord.__new__(WriteRecord)
    record.target = geometry(target)
    record.index = None if basic else keep_index(index)
    record.value = place
    record.shape = shape
    record_special(h, ARRAY, <uint32_t> len(tape_of(h).arrays), 0.0, 0.0, 0.0)
    tape_of(h).arrays.append(record)
    return 0


cdef bint is_repeated(Array a) except -1:
    return repeats(geometry(a))


cdef int assign(object target, object index, object source) except -1:
    """numpy's assignment; a value that does not fit raises numpy's error before anything is recorded."""
    target[index] = source
    return 0


cdef object keep_index(object index):
    if type(index) is tuple:
        return tuple([keep_index(item) for item in <tuple> index])
    return index.copy() if type(index) is array_class else index


cdef bint has_ellipsis(object index) except -1:
    if type(index) is tuple:
        for item in <tuple> index:
            if item is Ellipsis:
                return True
        return False
    return index is Ellipsis


def add_at(Array a, index, value):
    """Add a value into elements of an array, as often as the index names each: `numpy.add.at`."""
    cdef AddRecord record
    cdef Head *h = head_of_array(a)
    cdef Storage s = a.storage
    if type(value) is Array and not (<Array> value).storage.active:
        value = (<Array> value).current()
    if not is_traced(value):
        if type(a.current()) is Array:
            make_writable(s)
            return add_at(a.current(), index, value)
        make_writable(s)
        numpy.add.at(a.current(), plain_index(index), value)
        return None
    tag = (<Array> value).storage.tag if type(value) is Array else (<Dual> value).tag
    check_writer(a, tag)
    index = keep_index(plain_index(index))
    source = stripped(h, s.tag, value)
    if is_traced(source):
        lift(s, head_of_dual(<Dual> source) if type(source) is Dual else head_of_array(<Array> source))
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
    record_special(h, ARRAY, <uint32_t> len(tape_of(h).arrays), 0.0, 0.0, 0.0)
    tape_of(h).arrays.append(record)
    return None
