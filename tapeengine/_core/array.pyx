"""Traced arrays: views of storages, with numpy's operators, indexing and assignment.

A storage owns the values and, in a reverse pass, one buffer of cotangents of the same layout. Basic slices, transposes
and broadcasts are further views of it: no record and no copy. Reading an element is one record of storage and offset;
so is writing one. A storage is copied once, at its first write, if a rule or the caller still needs what it held.

Within an inner trace the values of an array may themselves be arrays of an outer trace: rules that keep them are then
recorded there as they run.
"""

from libc.stdint cimport uint32_t
from cpython.long cimport PyLong_CheckExact
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.object cimport Py_EQ, Py_GE, Py_GT, Py_LE, Py_LT, Py_NE
cimport cython
cimport numpy as cnp
from numpy cimport (
    NPY_DOUBLE, PyArray_DATA, PyArray_DIMS, PyArray_IS_C_CONTIGUOUS, PyArray_IS_F_CONTIGUOUS, PyArray_ISWRITEABLE, PyArray_ITEMSIZE,
    PyArray_NDIM, PyArray_SIZE, PyArray_STRIDES, PyArray_TYPE, ndarray,
)

from tapeengine._core.nested cimport copied_id
from tapeengine._core.records cimport (
    AddRecord, ArrayRecord, PrimitiveRecord, ReadRecord, View, WriteRecord, repeats, strided, view_of,
)
from tapeengine._core.scalar cimport Dual, as_double, head_of_dual, id_on, new_dual
from tapeengine._core.tape cimport (
    ARRAY, OP_ADD, OP_DIV, OP_MUL, OP_NEG, OP_POW, OP_SUB, READ, WRITE, Head, Tape, head_of, innermost_here, record_special, tape_of, traces,
)

import numpy

from tapeengine._core.scalar import opcode_of
from tapeengine.errors import DroppedDerivativeError, TraceError, UnsupportedError

cnp.import_array()

cdef object array_class = numpy.ndarray
cdef object generic = numpy.generic
cdef enum:
    SMALL = 32768   # bytes: a constant array up to this size is copied where a rule keeps it


@cython.final
@cython.no_gc
@cython.freelist(256)
cdef class Storage:
    """The values that traced arrays are views of."""


cdef ndarray plain(object value):
    """The plain numbers of an array of any level."""
    while type(value) is Array:
        value = (<Array> value).current()
    return <ndarray> value


cdef Head *head_of_array(Array a) except NULL:
    cdef Head *h = head_of(a.storage.tag)
    if h == NULL:
        raise TraceError(
            f"a traced array of shape {a.shape} is used after its trace has ended. A program must hand on what it "
            "computes by returning it; keep plain arrays elsewhere (tapeengine.value(x) gives one)"
        )
    return h


cdef bint dense(ndarray value) noexcept:
    return PyArray_IS_C_CONTIGUOUS(value) or PyArray_IS_F_CONTIGUOUS(value)


cdef Array new_array(Head *h, object value, bint active):
    """A traced array with a storage of its own around fresh values."""
    cdef ndarray numbers = plain(value)
    cdef Storage s = Storage.__new__(Storage)
    if type(value) is Array:
        tape_of(h).note_outer((<Array> value).storage.tag)
    if not dense(numbers):
        value = value.copy()
        numbers = plain(value)
    s.base = value
    s.data = <char *> PyArray_DATA(numbers)
    s.size = PyArray_SIZE(numbers)
    s.type = PyArray_TYPE(numbers)
    s.tag = h.tag
    s.active = active
    s.index = tape_of(h).add_place(s.size, s.type, <int> PyArray_ITEMSIZE(numbers))
    return array_over(s, value, 0)


cdef Array array_over(Storage s, object value, Py_ssize_t offset):
    cdef Array a = Array.__new__(Array)
    a.values = value
    a.storage = s
    a.offset = offset
    a.epoch = s.epoch
    return a


cdef View geometry(Array a):
    return view_of(plain(a.current()), a.storage.index, a.offset, a.storage.size)


cdef Array view_by(Array a, View view):
    """The view of a's storage with the geometry of another storage's view; a is all of its storage, in C order."""
    cdef Array b
    value = a.current()
    if type(value) is Array:
        value = view_by(<Array> value, view)
    else:
        value = strided(<char *> PyArray_DATA(<ndarray> value), view, value)
    return array_over(a.storage, value, a.offset + view.offset)


cdef int make_writable(Storage s) except -1:
    """Before a write: leave what others keep untouched, and have them copy from now on."""
    if s.frozen is not None:
        detach(s)
    if s.kept:
        s.base = s.base.copy(order="K") if type(s.base) is array_class else s.base.copy()
        s.data = <char *> PyArray_DATA(plain(s.base))
        s.epoch += 1
        s.kept = False
    s.written = True
    return 0


cdef Array snapshot(Array a):
    """A read-only view of what an array holds now; later writes do not show in it."""
    cdef Storage s = a.storage
    cdef Storage f = s.frozen
    if f is None:
        f = Storage.__new__(Storage)
        f.base, f.data, f.size, f.tag, f.index, f.type, f.active = s.base, s.data, s.size, s.tag, s.index, s.type, s.active
        f.kept = s.kept = True
        s.frozen = f
    return array_over(f, a.current(), a.offset)


cdef int detach(Storage s) except -1:
    """Before a write: give the snapshots a place of their own on the tape, by a recorded copy."""
    cdef Storage f = s.frozen
    cdef Head *h = head_of(s.tag)
    cdef ReadRecord record
    s.frozen = None
    if not s.active or h == NULL:
        return 0
    record = ReadRecord.__new__(ReadRecord)
    record.source = everything(s)
    f.index = tape_of(h).add_place(s.size, s.type, <int> PyArray_ITEMSIZE(plain(s.base)))
    record.result = everything(f)
    record_special(h, ARRAY, <uint32_t> len(tape_of(h).arrays), 0.0, 0.0, 0.0)
    tape_of(h).arrays.append(record)
    return 0


cdef View everything(Storage s):
    """The geometry of all of a storage, in the order of its memory."""
    return view_of(plain(s.base).reshape(-1, order="A" if PyArray_IS_C_CONTIGUOUS(plain(s.base)) else "F"), s.index, 0,
                   s.size)


cdef object keep(object x):
    """What a rule keeps of an argument: the values themselves where nobody will write to them, else a copy."""
    cdef Array a
    if type(x) is Array:
        a = <Array> x
        if type(a.current()) is Array:
            return snapshot(<Array> a.current())
        if a.storage.written:
            return a.current().copy()
        a.storage.kept = True
        return a.current()
    if type(x) is array_class and x.flags.writeable and x.nbytes <= SMALL:
        return x.copy()
    return x


# -- calls of primitives ----------------------------------------------------------------------------------------------
cdef uint32_t innermost_tag(object args) noexcept:
    """The latest trace among the arguments; arrays that depend on nothing do not count."""
    cdef uint32_t tag = 0
    for x in args:
        if type(x) is Array:
            if (<Array> x).storage.active and (<Array> x).storage.tag > tag:
                tag = (<Array> x).storage.tag
        elif type(x) is Dual and (<Dual> x).tag > tag:
            tag = (<Dual> x).tag
    return tag


cdef object outward(Head *h, Dual x):
    """The value of one of h's duals: a float, or the outer trace's dual that it is there."""
    cdef uint32_t tag = 0
    cdef uint32_t id = copied_id(tape_of(h), x.id, &tag)
    return new_dual(x.v, id, tag) if id else x.v


cdef object stripped(Head *h, uint32_t tag, object x):
    """An argument as the trace that records sees its value: plain, or traced further out."""
    if type(x) is Array:
        if (<Array> x).storage.tag == tag or not (<Array> x).storage.active:
            return (<Array> x).current()
    elif type(x) is Dual and (<Dual> x).tag == tag:
        return outward(h, <Dual> x)
    return x


cdef bint is_traced(object x) noexcept:
    return type(x) is Dual or type(x) is Array


cdef object apply(object primitive, tuple args, dict static):
    """Call a primitive and record the call on the innermost trace among its arguments."""
    cdef uint32_t tag = innermost_tag(args)
    cdef Head *h
    cdef list values
    cdef bint outer = False
    if tag == 0:
        values = [(<Array> x).current() if type(x) is Array else x for x in args]
        return constant(primitive.primal(*values, **static))
    h = head_of(tag)
    if h == NULL:
        for x in args:
            if type(x) is Array:
                head_of_array(<Array> x)
            elif type(x) is Dual:
                head_of_dual(<Dual> x)
    values = [stripped(h, tag, x) for x in args]
    for x in values:
        outer = outer or is_traced(x)
    out = primitive(*values, **static) if outer else primitive.primal(*values, **static)
    return record_call(h, primitive, args, values, static, out)


cdef object record_call(Head *h, object primitive, tuple args, list values, dict static, object out):
    """Record a call whose output is known; the output on the trace."""
    cdef PrimitiveRecord record
    cdef Tape tape = tape_of(h)
    cdef uint32_t id, tag = h.tag
    cdef Py_ssize_t i
    cdef list inputs = []
    rules = primitive.vjp_rules
    variadic = primitive.variadic
    for i in range(len(args)):
        x = args[i]
        if rules[0 if variadic else i] is None:
            continue
        if type(x) is Array and (<Array> x).storage.tag == tag and (<Array> x).storage.active:
            inputs.append((i, geometry(<Array> x)))
        elif type(x) is Dual and (<Dual> x).tag == tag:
            inputs.append((i, (<Dual> x).id))
    if not inputs:
        return out
    out = unshared(out, values)
    record = PrimitiveRecord.__new__(PrimitiveRecord)
    record.primitive = primitive
    record.inputs = inputs
    id = record_special(h, ARRAY, <uint32_t> len(tape.arrays), 0.0, 0.0, scalar_value(out))
    tape.arrays.append(record)
    result, record.output = wrapped(h, out, id)
    kept_values = Kept(args, values)
    record.kept = [
        kept_by(rules[0 if variadic else i], kept_values, static, out, result, i) for i, _ in inputs]
    if tape.keeps_values:
        rules = primitive.jvp_rules
        record.tangent_kept = [
            kept_by(rules[0 if variadic else i], kept_values, static, out, result, i) for i, _ in inputs]
    return result


cdef double scalar_value(object out) noexcept:
    if type(out) is Dual:
        return (<Dual> out).v
    return <double> out if isinstance(out, float) else 0.0


cdef class Kept:
    """The arguments of a call as its rules keep them, each kept at most once."""

    cdef tuple args
    cdef list values, kept

    def __init__(self, args, values):
        self.args = args
        self.values = values
        self.kept = [None] * len(values)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, Py_ssize_t i):
        if i >= len(self.values):
            raise IndexError(i)
        if self.kept[i] is None:
            x, value = self.args[i], self.values[i]
            if type(value) is Array:
                self.kept[i] = snapshot(<Array> value)
            else:
                self.kept[i] = keep(x if type(x) is Array else value)
        return self.kept[i]


cdef tuple kept_by(object rule, Kept args, dict static, object out, object result, Py_ssize_t index):
    """What a rule asks for: `Rule.keep`, with spaces taken from values that need not be kept."""
    if rule is None:
        return ()
    cdef list kept = []
    for kind, key in rule.needs:
        if kind == "arg":
            kept.append(args[key])
        elif kind == "space":
            kept.append(space_of(args.values[key]))
        elif kind == "static":
            kept.append(static[key])
        elif kind == "out":
            kept.append(kept_output(out, result))
        elif kind == "out_space":
            kept.append(space_of(out))
        elif kind == "index":
            kept.append(index)
        elif kind == "all":
            kept.append(tuple([args[i] for i in range(len(args))]))
        else:
            kept.append(tuple([space_of(x) for x in args.values]))
    return tuple(kept)


cdef object the_space_of = None


cdef object space_of(object x):
    global the_space_of
    if the_space_of is None:
        from tapeengine.spaces import space_of as function
        the_space_of = function
    if type(x) is Array:
        x = plain(x)
    elif type(x) is Dual:
        x = (<Dual> x).v
    return the_space_of(x)


cdef object kept_output(object out, object result):
    """The output as a rule keeps it."""
    if type(result) is Array:
        return keep(result)
    if type(out) is tuple or type(out) is list:
        return type(out)([kept_output(part, traced) for part, traced in zip(out, result)])
    if isinstance(out, tuple):
        return type(out)(*[kept_output(part, traced) for part, traced in zip(out, result)])
    if isinstance(out, dict):
        return {key: kept_output(part, result[key]) for key, part in out.items()}
    return out


cdef object unshared(object out, list values):
    """The output without memory that an argument owns: an identity or a view becomes a copy."""
    if type(out) is array_class:
        for x in values:
            if x is out or (type(x) is array_class and out.base is not None
                            and numpy.may_share_memory(x, out)):
                return out.copy()
    elif type(out) is Array:
        for x in values:
            if type(x) is Array and (<Array> x).storage is (<Array> out).storage:
                return out.copy()
    elif type(out) is tuple or type(out) is list:
        return type(out)([unshared(part, values) for part in out])
    return out


cdef object differentiable(ndarray value):
    kind = value.dtype.kind
    return kind == "f" or kind == "c"


cdef tuple wrapped(Head *h, object out, uint32_t id):
    """(the output on the trace, where its cotangents are): scalars take the record's id, arrays get storages."""
    cdef Array a
    if type(out) is float or type(out) is numpy.float64:
        return new_dual(out, id, h.tag), id
    if type(out) is Dual:
        tape_of(h).note_link(id, (<Dual> out).tag, (<Dual> out).id)
        return new_dual((<Dual> out).v, id, h.tag), id
    return wrapped_parts(h, out)


cdef tuple wrapped_parts(Head *h, object out):
    cdef Array a
    if type(out) is Array or (type(out) is array_class and differentiable(out)):
        a = new_array(h, out, True)
        return a, geometry(a)
    if isinstance(out, (numpy.floating, numpy.complexfloating, float, complex)):
        a = new_array(h, numpy.array(out), True)
        return (a[()] if a.storage.type == NPY_DOUBLE else a), geometry(a)
    if type(out) is Dual:
        a = new_array(h, array_of_dual(<Dual> out), True)
        return a[()], geometry(a)
    if isinstance(out, dict):
        pairs = [wrapped_parts(h, part) for part in out.values()]
        return dict(zip(out, [p[0] for p in pairs])), (tuple(out), [p[1] for p in pairs])
    if isinstance(out, (tuple, list)):
        pairs = [wrapped_parts(h, part) for part in out]
        parts = [p[0] for p in pairs]
        cls = type(out)
        return (cls(parts) if cls is tuple or cls is list else cls(*parts)), (cls, [p[1] for p in pairs])
    return out, None


cdef Array array_of_dual(Dual x):
    """A 0-d array of x's trace that holds x."""
    cdef Array a = new_array(head_of_dual(x), numpy.zeros(()), True)
    a[()] = x
    return a


cdef object constant(object out):
    """Fresh values that depend on nothing, as an array that may be written to; outside traces as they are."""
    cdef Head *h = innermost_here()
    if h == NULL or type(out) is not array_class or not differentiable(out):
        return out
    return new_array(h, out, False)


# -- indexing ---------------------------------------------------------------------------------------------------------
cdef inline bint element_offset(Array a, ndarray value, object index, Py_ssize_t *offset) except -1:
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


# -- assignment -------------------------------------------------------------------------------------------------------
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


# -- creation ---------------------------------------------------------------------------------------------------------
cdef object stripped_list(object value):
    """Nested lists with plain numbers in the place of traced ones."""
    if type(value) is Dual:
        return (<Dual> value).v
    if type(value) is Array:
        return plain(value)
    if isinstance(value, (list, tuple)):
        return [stripped_list(item) for item in value]
    return value


cdef int fill(Array target, object value, tuple index) except -1:
    """Write the traced leaves of nested lists into an array of their values."""
    cdef Py_ssize_t i
    if type(value) is Dual or (type(value) is Array and (<Array> value).storage.active):
        target[index] = value
    elif isinstance(value, (list, tuple)):
        for i in range(len(value)):
            fill(target, value[i], (*index, i))
    return 0


cdef bint holds_traced(object value) except -1:
    if type(value) is Dual or type(value) is Array:
        return True
    if isinstance(value, (list, tuple)):
        for item in value:
            if holds_traced(item):
                return True
    return False


def from_values(value, dtype=None, **options):
    """An array of nested lists of numbers, some of which may be traced: `numpy.array` for programs.

    An array (traced or not) is copied.
    """
    if type(value) is Array:
        copy = value.copy()
        return copy if dtype is None or copy.dtype == dtype else copy.astype(dtype)
    numbers = numpy.array(stripped_list(value), dtype=dtype, **options)
    if innermost_here() == NULL or not differentiable(numbers):
        if numbers.dtype == object and holds_traced(value):
            raise UnsupportedError("an array of traced numbers needs a rectangular list of them")
        return numbers
    result = constant(numbers)
    if holds_traced(value):
        fill(<Array> result, value, (Ellipsis,) if type(value) is Dual else ())
    return result


def record(primitive, args, static):
    """Call a primitive whose arguments hold traced values."""
    return apply(primitive, tuple(args), static)


def zero_dim(Dual x):
    """A dual scalar as a 0-d array."""
    return array_of_dual(x)


def fresh(numbers):
    """Values just made, as an array of the running trace that may be written to; outside traces as they are."""
    return constant(numbers)


def view(Array a, function):
    """Apply a numpy function that rearranges an array: as a view where numpy makes one, else as a copy.

    Parameters
    ----------
    a : Array
    function : callable
        Takes the values, returns an array or a list or tuple of arrays.
    """
    result = function(a.current())
    if isinstance(result, (list, tuple)):
        return type(result)([arranged(a, part, None) for part in result])
    return arranged(a, result, function)


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


def rules_of(x):
    """The rules that the trace of a traced value looks functions up in."""
    cdef Head *h
    if type(x) is Dual:
        return tape_of(head_of_dual(<Dual> x)).rules
    h = head_of((<Array> x).storage.tag)
    if h == NULL and not (<Array> x).storage.active:
        h = innermost_here()
    if h == NULL:
        h = head_of_array(<Array> x)
    return tape_of(h).rules


cdef object need_rules(Array a, object name):
    rules = rules_of(a)
    if rules is None:
        raise UnsupportedError(f"{name} needs an engine with numpy rules; install the primitives of tapeengine")
    return rules


cdef object operate(object ufunc, object x, object y, int op=-1):
    """A binary operator, one of whose operands is a traced array."""
    if op >= 0 and kernels.elementwise != NULL:
        result = kernels.elementwise(op, ufunc, x, y)
        if result is not NotImplemented:
            return result
    a, other = (x, y) if type(x) is Array else (y, x)
    if getattr(type(other), "__array_ufunc__", type) is None:    # numpy's rule: the other class has the last word
        return NotImplemented
    return need_rules(<Array> a, ufunc.__name__).ufunc(ufunc, "__call__", (x,) if y is None else (x, y), {})


cdef object by_kernel(object ufunc, tuple inputs):
    """A call of a ufunc by the kernels; NotImplemented where they do not fit."""
    if ufunc is np_matmul:
        return kernels.product(inputs[0], inputs[1])
    op = opcode_of(ufunc)
    if op is None:
        return NotImplemented
    return kernels.elementwise(op, ufunc, inputs[0], inputs[1] if len(inputs) == 2 else None)


cdef object in_place(Array a, object ufunc, object y, int op=-1):
    """a op= y: the operation and a write."""
    result = operate(ufunc, a, y, op)
    if result.shape != a.shape:
        raise ValueError(f"non-broadcastable output operand with shape {a.shape} doesn't match the broadcast shape "
                         f"{result.shape}")
    put(a, Ellipsis, result)
    return a


cdef object np_add = numpy.add, np_subtract = numpy.subtract, np_multiply = numpy.multiply
cdef object np_divide = numpy.true_divide, np_power = numpy.power, np_matmul = numpy.matmul
cdef object np_remainder = numpy.remainder, np_floor_divide = numpy.floor_divide
cdef object np_negative = numpy.negative, np_absolute = numpy.absolute
cdef dict comparisons = {
    Py_LT: numpy.less, Py_GT: numpy.greater, Py_LE: numpy.less_equal, Py_GE: numpy.greater_equal,
    Py_EQ: numpy.equal, Py_NE: numpy.not_equal,
}


cdef object numbers_of(object x):
    return plain(x) if type(x) is Array else (<Dual> x).v if type(x) is Dual else x


@cython.final
@cython.no_gc
@cython.freelist(256)
cdef class Array:
    """An array that is being differentiated: it behaves as a numpy array and remembers how it was computed.

    Traced arrays come into being when a transform such as `vjp` runs a program on arrays, and by the creation functions
    of `tapeengine.numpy` inside a program. They are views of storages: slices, transposes and reshapes alias as numpy's
    do, and assignment is differentiated. Comparisons look at the values.

    Examples
    --------
    >>> import numpy, tapeengine as te
    >>> te.grad(lambda a: (a[1:] * a[:-1]).sum())(numpy.array([1.0, 2.0, 3.0]))
    array([2., 4., 2.])
    """

    def __init__(self):
        raise TypeError("traced arrays are made by transforms and by tapeengine.numpy, not by hand")

    cdef object current(self):
        """The values as they are now, also after the storage was copied for a write."""
        cdef Storage s = self.storage
        if self.epoch != s.epoch:
            view = view_of(plain(self.values), s.index, self.offset, s.size)
            if type(s.base) is Array:
                self.values = view_by(<Array> s.base, view)
            else:
                self.values = strided(s.data, view, s.base)
            self.epoch = s.epoch
        return self.values

    @staticmethod
    def __tapeengine_trace__(primitive, args, static):
        """Record a call of a primitive."""
        return apply(primitive, tuple(args), static)

    # -- what numpy's arrays tell of themselves -----------------------------------------------------------------------
    @property
    def value(self):
        """The values as a plain array, without the derivative; a copy."""
        return plain(self.current()).copy()

    @property
    def shape(self):
        """The shape."""
        return (<object> plain(self.values)).shape

    @property
    def ndim(self):
        """The number of axes."""
        return PyArray_NDIM(plain(self.values))

    @property
    def size(self):
        """The number of elements."""
        return PyArray_SIZE(plain(self.values))

    @property
    def dtype(self):
        """The dtype."""
        return (<object> plain(self.values)).dtype

    @property
    def itemsize(self):
        """Bytes of an element."""
        return PyArray_ITEMSIZE(plain(self.values))

    @property
    def nbytes(self):
        """Bytes of all elements."""
        return (<object> plain(self.values)).nbytes

    @property
    def strides(self):
        """The strides, in bytes."""
        return (<object> plain(self.values)).strides

    @property
    def flags(self):
        """numpy's flags of the values."""
        return (<object> plain(self.values)).flags

    @property
    def T(self):
        """The transpose, a view."""
        return viewed(self, self.current().T)

    @property
    def mT(self):
        """The transpose of the last two axes, a view."""
        return viewed(self, self.current().mT)

    def __len__(self):
        return len(plain(self.values))

    def __iter__(self):
        cdef Py_ssize_t i
        return iter([get(self, i) for i in range(len(self))])

    def __getitem__(self, index):
        return get(self, index)

    def __setitem__(self, index, value):
        put(self, index, value)

    def __delitem__(self, index):
        raise ValueError("cannot delete array elements")

    def __getattr__(self, name):
        method = method_of(name)
        if method is None:
            raise AttributeError(f"a traced array has no attribute {name!r}")
        return method(self)

    # -- copies -------------------------------------------------------------------------------------------------------
    def copy(self, order="C"):
        """A copy with a storage of its own."""
        return read_part(self, None)

    def __copy__(self):
        return read_part(self, None)

    def __deepcopy__(self, memo):
        return read_part(self, None)

    # -- operators ----------------------------------------------------------------------------------------------------
    def __add__(x, y):
        return operate(np_add, x, y, OP_ADD)

    def __sub__(x, y):
        return operate(np_subtract, x, y, OP_SUB)

    def __mul__(x, y):
        return operate(np_multiply, x, y, OP_MUL)

    def __truediv__(x, y):
        return operate(np_divide, x, y, OP_DIV)

    def __pow__(x, y, modulus):
        return operate(np_power, x, y, OP_POW)

    def __mod__(x, y):
        return operate(np_remainder, x, y)

    def __floordiv__(x, y):
        return operate(np_floor_divide, x, y)

    def __divmod__(x, y):
        return operate(np_floor_divide, x, y), operate(np_remainder, x, y)

    def __matmul__(x, y):
        if kernels.product != NULL:
            result = kernels.product(x, y)
            if result is not NotImplemented:
                return result
        return operate(np_matmul, x, y)

    def __neg__(self):
        return operate(np_negative, self, None, OP_NEG)

    def __abs__(self):
        return need_rules(self, "absolute").ufunc(np_absolute, "__call__", (self,), {})

    def __pos__(self):
        return read_part(self, None)

    def __iadd__(self, y):
        return in_place(self, np_add, y, OP_ADD)

    def __isub__(self, y):
        return in_place(self, np_subtract, y, OP_SUB)

    def __imul__(self, y):
        return in_place(self, np_multiply, y, OP_MUL)

    def __itruediv__(self, y):
        return in_place(self, np_divide, y, OP_DIV)

    def __ipow__(self, y):
        return in_place(self, np_power, y, OP_POW)

    def __imod__(self, y):
        return in_place(self, np_remainder, y)

    def __imatmul__(self, y):
        return in_place(self, np_matmul, y)

    def __richcmp__(x, y, int kind):
        return comparisons[kind](numbers_of(x), numbers_of(y))

    def __bool__(self):
        return bool(plain(self.current()))

    def __int__(self):
        return int(plain(self.current()))

    def __contains__(self, x):
        return numbers_of(x) in plain(self.current())

    __hash__ = None

    def __repr__(self):
        return repr(plain(self.current()))

    def __str__(self):
        return str(plain(self.current()))

    def __format__(self, spec):
        return format(plain(self.current()), spec)

    # -- numpy's protocols --------------------------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if not options and method == "__call__":
            result = by_kernel(ufunc, inputs)
            if result is not NotImplemented:
                return result
        return need_rules(self, ufunc.__name__).ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function, types, args, options):
        return need_rules(self, function.__name__).function(function, args, options)

    # -- what would lose the derivative -------------------------------------------------------------------------------
    def __array__(self, dtype=None, copy=None):
        if self.storage.active:
            raise DroppedDerivativeError(
                f"this would turn a traced array of shape {self.shape} into a plain one and lose its derivative. Use "
                "tapeengine.numpy's functions to build arrays of it (np.array, np.stack, np.zeros and assignment), and "
                "numpy functions that have a rule; tapeengine.value(x) drops the derivative on purpose")
        return numpy.array(plain(self.current()), dtype=dtype)

    def __float__(self):
        if self.storage.active:
            raise DroppedDerivativeError(
                "this would turn a traced array into a plain float and lose its derivative. Index it (a[()] or a[0]) "
                "to get a scalar that is still traced; tapeengine.value(x) drops the derivative on purpose")
        return float(plain(self.current()))

    def __complex__(self):
        if self.storage.active:
            raise DroppedDerivativeError(
                "this would turn a traced array into a plain complex number and lose its derivative; "
                "tapeengine.value(x) drops the derivative on purpose")
        return complex(plain(self.current()))

    def __reduce__(self):
        raise DroppedDerivativeError(
            f"a traced array of shape {self.shape} cannot be pickled: it is a place on a tape of this process. Send "
            "plain arrays to other processes; tapeengine.value(x) gives one")

    def __reduce_ex__(self, protocol):
        return self.__reduce__()


cdef object methods = None


cdef object method_of(str name):
    """What makes the method of a name: those that are no operators live with the numpy protocols."""
    global methods
    if methods is None:
        from tapeengine.duals.methods import METHODS
        methods = METHODS
    return methods.get(name)
