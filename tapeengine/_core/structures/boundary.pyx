"""The boundary of a trace: primals become its first duals, and its result is decomposed into numbers."""

from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE, PyList_New, PyList_SET_ITEM
from cpython.ref cimport Py_INCREF
from cpython.sequence cimport PySequence_Fast_GET_ITEM, PySequence_Fast_GET_SIZE
from libc.stdint cimport uint32_t
from libc.stdlib cimport calloc, free
cimport cython
from tapeengine._core.tape.numpy_c cimport (
    NPY_ARRAY_WRITEABLE, NPY_CDOUBLE, NPY_CFLOAT, NPY_DOUBLE, NPY_FLOAT, PyArray_CLEARFLAGS, PyArray_CheckExact,
    PyArray_DATA, PyArray_ISWRITEABLE, PyArray_TYPE, import_array, ndarray,
)

from tapeengine._core.arrays.array cimport (
    Array, Extent, constant_of, dense, extent, geometry, head_of_array, held, is_foreign, is_recording, make_writable,
    native, new_array, of_numbers, plain, snapshot, unlifted, view_by,
)
from tapeengine._core.scalars.complex cimport ComplexDual, from_array
from tapeengine._core.structures.interleave cimport ARRAY, DICT, DISCRETE, FLOAT, FLOATS, LIST, NUMPY, OBJECT, TUPLE, Frame, Layout, Walk
from tapeengine._core.tape.tape cimport copy_out
from tapeengine._core.tape.accumulation cimport View, view_of
from tapeengine._core.scalars.scalar cimport Dual, as_kind, head_of_dual, is_numpy, new_dual
from tapeengine._core.tape.tape cimport CHUNK_LAST, CHUNK_SHIFT, PYTHON_FLOATS, Head, Tape, head_of, reserve

import numpy

from tapeengine.errors import StructureError, TraceError, UnsupportedError, full_name
from tapeengine.structure import refused

import_array()

cdef object floating = numpy.floating, double = numpy.float64
cdef object array_class = numpy.ndarray


cdef object last_of(list items):
    return items[len(items) - 1]


cdef bint differentiable(object value) noexcept:
    """Whether a value is an array, of no subclass, of one of the four dtypes that have derivatives."""
    cdef int kind
    if not PyArray_CheckExact(value):
        return False
    kind = PyArray_TYPE(<ndarray> value)
    return kind == NPY_DOUBLE or kind == NPY_FLOAT or kind == NPY_CDOUBLE or kind == NPY_CFLOAT


cdef Array array_input(Head *h, object value):
    """An array of the caller as an input: a small one is copied; a large one is watched, and copied before a write."""
    cdef Array a
    cdef bint shared = type(value) is Array and (<Array> value).storage.shared, writeable
    if type(value) is Array:
        value = snapshot(<Array> value)
    elif not PyArray_CheckExact(value):
        value = numpy.asarray(value)
    writeable = PyArray_ISWRITEABLE(plain(value))
    if type(value) is ndarray:
        value = native(<ndarray> value)
    if dense(plain(value)):
        own = value.copy("K") if is_recording(h) else held(h, value)
        a = new_array(h, own, True)
        a.storage.kept = own is value
    else:
        a = gapped(h, value)
    if not writeable:
        PyArray_CLEARFLAGS(plain(a.values), NPY_ARRAY_WRITEABLE)
    a.storage.shared = shared
    return a


cdef Array gapped(Head *h, object value):
    """An input whose elements do not fill their memory: a copy with gaps, so that numpy makes the same views of it."""
    cdef ndarray numbers = plain(value)
    cdef Head *outer
    flat, spread = with_gaps(numbers)
    if type(value) is Array:
        outer = head_of((<Array> value).storage.tag)
        if outer == NULL:
            value = numbers
        else:
            flat = new_array(outer, flat, False)
            (<Array> flat).storage.active = True    # as soon as it is filled
    part = view_by(new_array(h, flat, True), view_of(
        spread, 0, <char *> PyArray_DATA(<ndarray> spread) - <char *> PyArray_DATA(plain(flat)), len(flat)))
    part.values[...] = value
    return part


cdef tuple with_gaps(object values):
    """A flat array, and a view of it with the shape of an array and the same order of strides.

    The view has a gap of one element after each axis that does not fill its memory.
    """
    cdef list strides = [0] * values.ndim
    width = step = filled = values.itemsize
    start = 0
    for _, axis in sorted([(abs(values.strides[k]), -k) for k in range(values.ndim)]):
        axis = -axis
        stride, n = values.strides[axis], values.shape[axis]
        if n > 1 and abs(stride) != filled:
            step += width
        strides[axis] = step if stride >= 0 else -step
        start += (n - 1) * step if stride < 0 else 0
        if n > 1:
            filled = abs(stride) * n
        step *= n
    flat = numpy.zeros(step // width, values.dtype)
    return flat, numpy.ndarray(values.shape, values.dtype, flat, start, strides)


cpdef tuple place(object value, Py_ssize_t number, object made):
    """The first address of an array's memory, the address after the last, a number that is its own, values and dual."""
    cdef ndarray values = plain(value) if type(value) is Array or PyArray_CheckExact(value) else numpy.asarray(value)
    cdef Extent e = extent(values)
    return <size_t> e.first, <size_t> e.last, number, values, made


cdef int protect_shared(list arrays) except -1:
    """Refuse writes to primals that share memory.

    The plain program sees such a write through both arrays. Here each array is an input with its own derivative and its
    own storage. Reading them is allowed.
    """
    cdef dict first = {}
    if PyList_GET_SIZE(arrays) < 2:
        return 0
    for entry in arrays:        # an array that is given n times is compared with the first one only: n steps, not n * n
        values = entry[3]
        other = first.setdefault((entry[0], values.shape, values.strides, values.dtype), entry) if values.size else entry
        if other is not entry:
            (<Array> entry[4]).storage.shared = (<Array> other[4]).storage.shared = True
    for pair in overlapping([*first.values()]):
        (<Array> pair[0][4]).storage.shared = (<Array> pair[1][4]).storage.shared = True
    return 0


cpdef list overlapping(list places):
    """The pairs of places of arrays that share an element; sorts them by address."""
    cdef Py_ssize_t i, j
    cdef list found = []
    places.sort()
    for i in range(len(places)):
        j = i + 1
        while j < len(places) and places[j][0] < places[i][1]:
            if overlap(places[i][3], places[j][3]):
                found.append((places[i], places[j]))
            j += 1
    return found


cpdef bint overlap(object a, object b) except -1:
    """Whether two arrays share an element; True if numpy cannot decide it in time."""
    cdef Extent one = extent(plain(a)), other = extent(plain(b))
    if one.last <= other.first or other.last <= one.first:
        return False
    try:
        return numpy.shares_memory(plain(a), plain(b), max_work=100_000)
    except numpy.exceptions.TooHardError:
        return True


cdef int refuse_dtype(object path, object value) except -1:
    """Refuse an array of a dtype that is neither differentiated nor discrete."""
    raise StructureError(f"{path} has the dtype {value.dtype}; the engine differentiates float32, float64, complex64 and "
                         "complex128. Convert it with astype")


@cython.final
cdef class Inputs(Walk):
    """Interleave (DN Fig. 10): make the leaves of the primals the first duals of a trace."""

    cdef Dual dual(self, double value):
        cdef Head *h = &self.tape.head
        cdef uint32_t i = h.count
        reserve(h, 1)
        if h.last_values != NULL:
            h.values[i >> CHUNK_SHIFT][i & CHUNK_LAST] = value
        return new_dual(value, i, h.tag)

    cdef list floats(self, object value):
        cdef Head *h = &self.tape.head
        cdef uint32_t i = h.count, k, n = <uint32_t> PySequence_Fast_GET_SIZE(value)
        cdef double v
        cdef Dual d
        cdef list duals
        for k in range(n):
            if not PyFloat_CheckExact(<object> PySequence_Fast_GET_ITEM(value, k)):
                return None
        duals = PyList_New(n)
        reserve(h, n)
        h.kinds |= PYTHON_FLOATS
        self.layout.add(FLOATS, n, i)
        for k in range(n):
            v = PyFloat_AS_DOUBLE(<object> PySequence_Fast_GET_ITEM(value, k))
            if h.last_values != NULL:
                h.values[(i + k) >> CHUNK_SHIFT][(i + k) & CHUNK_LAST] = v
            d = new_dual(v, i + k, h.tag)
            Py_INCREF(d)
            PyList_SET_ITEM(duals, k, d)
        return duals

    cdef object leaf(self, object value):
        cdef Dual d
        cls = type(value)
        if cls is float:
            d = self.dual(value)
            self.tape.head.kinds |= PYTHON_FLOATS
            self.layout.add(FLOAT, 0, d.id)
            return d
        if cls is Dual:
            head_of_dual(<Dual> value)
            d = self.dual((<Dual> value).v)
            self.tape.note_link(d.id, (<Dual> value).tag, (<Dual> value).id)
            if is_numpy(value):
                self.tape.note_double(d.id)
                self.layout.add(NUMPY, 0, d.id)
                self.layout.keep(double)
            else:
                self.tape.head.kinds |= PYTHON_FLOATS
                self.layout.add(FLOAT, 0, d.id)
            return d
        if differentiable(value):
            return self.array(value)
        if isinstance(value, double):
            d = self.dual(value)
            self.layout.add(NUMPY, 0, d.id)
            self.layout.keep(cls)
            self.tape.note_double(d.id)
            return d
        if cls is complex:
            value = self.array(numpy.asarray(value))
            self.layout.note_builtin(True)
            return value if self.tape.rules is None else self.read_later(value)
        if cls is ComplexDual:
            found = self.array((<ComplexDual> value)._array())
            (<View> last_of(self.layout.aux)).number = True
            self.layout.note_builtin(not (<ComplexDual> value).numpys)
            found = self.read_later(found)
            (<ComplexDual> found).numpys = (<ComplexDual> value).numpys
            return found
        if cls is Array or (isinstance(value, (array_class, numpy.inexact)) and value.dtype.kind in "fc"):
            if is_foreign(value) and not isinstance(value, numpy.memmap):
                raise StructureError(f"{self.path()} is a {full_name(cls)}, whose operations are not those "
                                     "of plain arrays. Pass numpy.asarray of it, and its mask or unit as a separate argument")
            found = self.array(value)
            if isinstance(value, numpy.inexact) or cls is Array and (<Array> value).storage.number:
                (<Array> found).storage.number = (<View> last_of(self.layout.aux)).number = True
            return found
        if self.structures.is_discrete(value) or (isinstance(value, array_class) and value.dtype.kind in "iubSUMm"):
            self.layout.add(DISCRETE, 0, 0)
            if self.unwritten is not None and cls is array_class:
                self.unwritten += [value, value.tobytes()]
            return value
        if cls is array_class and value.dtype == object:
            found = of_numbers(value)
            if found is not None:
                return self.leaf(found)
        if isinstance(value, array_class):
            refuse_dtype(self.path(), value)
        raise refused(cls, self.path(), "is", "Pass", ", let the program capture it instead of taking it as an "
                      "argument, or choose other arguments by argnums")

    cdef object read_later(self, object a):
        """The complex scalar that an array holds; its parts are read, by records, after the last input."""
        cdef ComplexDual z = ComplexDual.__new__(ComplexDual)
        if self.late is None:
            self.late = []
        self.late.append((z, a))
        return z

    cdef int finish(self) except -1:
        """Read the complex scalars, once all inputs have their ids; note the containers that are given twice."""
        cdef ComplexDual z, read
        if self.containers is not None and has_one_twice(self.containers):
            self.note_twice()
        self.containers = self.source_seen = self.source_made = None    # which the program may let go
        if self.late is not None:
            for z, a in self.late:
                read = from_array(a)
                z.re, z.im = read.re, read.im
                if not z.numpys:
                    self.tape.note_float((<Dual> z.re).id)
                    self.tape.note_float((<Dual> z.im).id)
        return 0

    cdef object array(self, object value):
        cdef Array a
        if type(value) is Array and head_of((<Array> value).storage.tag) == NULL:
            value = constant_of(value)
        if type(value) is Array:
            head_of_array(<Array> value)
        elif not (differentiable(value) or value.dtype.itemsize // (2 if value.dtype.kind == "c" else 1) in (4, 8)):
            refuse_dtype(self.path(), value)
        a = array_input(&self.tape.head, value)
        if self.array_seen is None:
            self.array_seen, self.array_made = value, a
        else:
            if self.arrays is None:
                self.arrays = [place(self.array_seen, self.array_made.storage.index, self.array_made)]
            self.arrays.append(place(value, a.storage.index, a))
        self.layout.add(ARRAY, a.storage.index, 0)
        self.layout.keep(geometry(a))
        return a

    # -- containers that are given twice -------------------------------------------------------------------------------
    cdef object flat(self, object value):
        made = Walk.flat(self, value)
        if type(made) is list:
            self.note_container(value, made)
        return made

    cdef object close(self, Frame f):
        made = Walk.close(self, f)
        if f.kind == LIST or f.kind == DICT or (f.kind == OBJECT and f.aux[1].fields is not None):
            self.note_container(f.source, made)
        return made

    cdef int note_container(self, object source, object made) except -1:
        """Note a container that a program may change."""
        if self.every is not None:
            self.every.append(self.contents(made))
        if self.source_made is None:
            self.source_seen, self.source_made = source, made
            return 0
        if self.containers is None:
            self.containers = [self.source_seen, self.source_made]
        self.containers.append(source)
        self.containers.append(made)
        return 0

    cdef int note_twice(self) except -1:
        """Note what each place of a container that is given twice holds."""
        cdef Py_ssize_t i
        cdef dict first = {}
        self.twice = []
        for i in range(0, len(self.containers), 2):
            made = self.containers[i + 1]
            other = first.setdefault(id(self.containers[i]), made)
            if other is not made:
                self.twice += [self.contents(other), self.contents(made)]
        return 0

    cdef tuple contents(self, object made):
        cdef Frame f = self.frame(made)
        return made, f.aux if f.kind == DICT else None, list(f.items)

    cdef bint has_changed(self, list noted) except -1:
        """Whether the program has changed one of the containers whose contents were noted."""
        cdef Py_ssize_t i
        cdef list items, now
        cdef object keys, made
        cdef Frame f
        for made, keys, items in noted:
            f = self.frame(made)
            now = f.items
            if len(now) != len(items) or (f.kind == DICT and f.aux != keys):
                return True
            for i in range(len(items)):
                if now[i] is not items[i]:
                    return True
        return False

    cdef int check_containers(self) except -1:
        """Refuse a program that has changed a container which it was given twice.

        The plain program sees the change in both places. Here each place has its own derivative and is a container of
        its own. Reading them is allowed.
        """
        cdef Py_ssize_t i
        if self.every is not None:
            self.tape.changes_containers = self.has_changed(self.every)
            for i in range(0, len(self.unwritten), 2):
                if self.unwritten[i].tobytes() != self.unwritten[i + 1]:
                    self.tape.head.guards.lost = b"it writes into an array that is not differentiated: copy the array first"
        if self.twice is not None and self.has_changed(self.twice):
            raise UnsupportedError(
                "the program changes a list, dictionary or object that it is given in two places of its arguments: in the "
                "plain program both places change, but each has its own derivative. Give it copies (copy.copy(x))"
            )
        return 0


cdef bint has_one_twice(list containers) except -1:
    """Whether an object is at two even places of a list; found by a table of addresses, since lists may be long."""
    cdef Py_ssize_t i, size = 16, n = len(containers)
    cdef size_t key, at
    cdef size_t *table
    cdef bint found = False
    if n == 4:
        return PyList_GET_ITEM(containers, 0) == PyList_GET_ITEM(containers, 2)
    while size < 2 * n:
        size *= 2
    table = <size_t *> calloc(size, sizeof(size_t))
    if table == NULL:
        raise MemoryError("no memory for the addresses of the containers")
    for i in range(0, n, 2):
        key = <size_t> PyList_GET_ITEM(containers, i)
        at = (key >> 4) * <size_t> 0x9E3779B1 & <size_t> (size - 1)
        while table[at] and table[at] != key:
            at = at + 1 & <size_t> (size - 1)
        if table[at]:
            found = True
            break
        table[at] = key
    free(table)
    return found


cdef bint given_twice(object structures, tuple primals) except -1:
    """Whether a list, dictionary or object is in two places of the primals."""
    cdef Inputs walk = Inputs.__new__(Inputs)
    cdef Frame f
    cdef list left = list(primals)
    cdef set seen = set()
    walk.structures = structures
    while left:
        value = left.pop()
        f = walk.frame(value)
        if f is None:
            continue
        if f.kind != TUPLE:
            if id(value) in seen:
                return True
            seen.add(id(value))
        for value in f.items:
            if type(value) is not float:
                left.append(value)
    return False


@cython.final
cdef class Outputs(Walk):
    """Deinterleave (DN Fig. 10): replace duals in the result of a program by their values, and keep their ids."""

    cdef list floats(self, object value):
        cdef uint32_t tag = self.tape.head.tag
        cdef Py_ssize_t k, n = PySequence_Fast_GET_SIZE(value)
        cdef object x
        cdef list values
        if self.copies is not None:
            return None
        for k in range(n):
            x = <object> PySequence_Fast_GET_ITEM(value, k)
            if not (type(x) is Dual and (<Dual> x).tag == tag and not is_numpy(x) or PyFloat_CheckExact(x)):
                return None
        values = PyList_New(n)
        for k in range(n):
            x = <object> PySequence_Fast_GET_ITEM(value, k)
            if type(x) is Dual:
                self.layout.add(FLOAT, 0, (<Dual> x).id)
                x = (<Dual> x).v
            else:
                self.layout.add(FLOAT, 0, 0)
            Py_INCREF(x)
            PyList_SET_ITEM(values, k, x)
        return values

    cdef object leaf(self, object value):
        cdef Dual d
        cdef bint numpys, own
        cls = type(value)
        if cls is float:
            self.layout.add(FLOAT, 0, 0)
            return value
        if cls is Dual:
            d = <Dual> value
            own = d.tag == self.tape.head.tag
            if not own:
                head_of_dual(d)
                self.check_earlier(d.tag)
            numpys = is_numpy(d)
            self.layout.add(NUMPY if numpys else FLOAT, 0, d.id if own else 0)
            if numpys:
                self.layout.keep(double)
            if own:
                if self.copies is not None and self.copies.ids[d.id]:
                    return as_kind(new_dual(d.v, self.copies.ids[d.id], self.copies.tag), numpys)
                return double(d.v) if numpys else d.v
            return value
        if cls is Array:
            return self.array(<Array> value)
        if cls is ComplexDual:
            numpys = (<ComplexDual> value).numpys
            found = self.array((<ComplexDual> value)._array())
            self.layout.note_builtin(not numpys)
            if type(found) is Array:
                found = from_array(found)
                if type(found) is ComplexDual:
                    (<ComplexDual> found).numpys = numpys
                return found
            return found if numpys else complex(found)
        if isinstance(value, floating):
            self.layout.add(NUMPY, 0, 0)
            self.layout.keep(cls)
            return value
        if isinstance(value, array_class):
            return self.plain_array(value, False)
        if isinstance(value, complex) or isinstance(value, numpy.complexfloating):
            self.plain_array(value if cls is not complex else numpy.complex128(value), False)
            self.layout.note_builtin(cls is complex)
            return value
        if self.structures.is_discrete(value):
            self.layout.add(DISCRETE, 0, 0)
            return value
        raise refused(cls, self.path(), "is", "Return")

    cdef object array(self, Array a):
        """The values of a traced array, as an array that the caller owns, or as a number."""
        found = self.values(a)
        if not a.storage.number or found.shape != ():
            return found
        if type(found) is Array:
            (<Array> found).storage.number = True
            return found
        return found[()]

    cdef object values(self, Array a):
        a = unlifted(a)
        if a.storage.tag != self.tape.head.tag:
            if a.storage.active:
                head_of_array(a)
                self.check_earlier(a.storage.tag)
            return self.plain_array(a, a.storage.number)
        if not a.storage.active:
            return self.plain_array(a.current(), a.storage.number)
        self.layout.add(ARRAY, a.storage.index, 0)
        self.layout.keep(geometry(a))
        self.tape.places[a.storage.index].returned = True
        if a.storage.kept and type(a.storage.base) is array_class:      # one copy for all views of this storage
            make_writable(a.storage)
        value = a.current()
        return value.copy("K") if type(value) is Array else value

    cdef int check_earlier(self, uint32_t tag) except -1:
        if tag > self.tape.head.tag:
            raise TraceError(
                f"{self.path()} belongs to a later trace, and this one cannot depend on it. "
                "Return from each program only what it computed itself"
            )
        return 0

    cdef object plain_array(self, object value, bint number):
        if value.dtype == object:
            return self.objects(value)
        if value.dtype.kind not in "fc":
            self.layout.add(DISCRETE, 0, 0)
            return value
        self.layout.add(ARRAY, CONSTANT_ARRAY, 0)
        kept = plain(value) if type(value) is Array else value
        self.layout.keep(kept[()] if number else kept)
        return value

    cdef object objects(self, object value):
        """Replace an object array of duals by the values of the corresponding traced array."""
        found = of_numbers(value) if type(value) is array_class else None   # others have masks, units
        if found is None:
            raise StructureError(f"{self.path()} is an array of objects that are not numbers, or whose class has its own "
                                 f"operations ({full_name(type(value))}). Return a list of them")
        return self.leaf(found)


cdef Outputs begin_outputs(Tape tape, object structures, str root):
    cdef Outputs outputs = Outputs.__new__(Outputs)
    outputs.structures = structures
    outputs.root = root
    outputs.layout = Layout.__new__(Layout)
    outputs.tape = tape
    outputs.copies = copy_out(tape)
    return outputs
