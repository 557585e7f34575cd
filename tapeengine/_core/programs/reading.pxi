# Strict comparison of structures with layouts: the arguments and results of programs that are replayed.

cdef class Reader:
    """Decomposes a structure that must have exactly a layout's form; calls `leaf` for each leaf."""

    cdef object structures
    cdef list duals     # [(input, dual)] of an outer trace, read as floats; None if duals are not allowed

    cdef bint leaf(self, int kind, uint32_t id, object value) except -1:
        raise NotImplementedError

    cdef bint read(self, Layout layout, object value) except -1:
        """Compare a structure with a layout, from the root and the last child first; return whether it fits."""
        cdef Py_ssize_t i, k, aux_left
        cdef Step s
        cdef list stack
        if layout.count == 1:
            return self.single(layout, value)
        if layout.count == 2 and layout.steps[0].kind == FLOATS:
            if type(value) is not (list if layout.steps[1].kind == LIST else tuple) or len(value) != layout.steps[1].n:
                return False
            return self.floats(layout.steps[0], value)
        aux_left = 0 if layout.aux is None else len(layout.aux)
        stack = [value]
        for i in range(layout.count - 1, -1, -1):
            s = layout.steps[i]
            value = stack.pop()
            aux = None
            if s.kind >= DICT or s.kind == NUMPY or s.kind == ARRAY:
                aux_left -= 1
                aux = layout.aux[aux_left]
            if s.kind == FLOATS:
                if not self.floats(s, value):
                    return False
            elif s.kind < LIST:
                if not self.fits(s.kind, aux, value) or not self.leaf(s.kind, s.n if s.kind == ARRAY else s.id, value):
                    return False
            else:
                children = self.children(s.kind, s.n, aux, value)
                if children is None:
                    return False
                if i and layout.steps[i - 1].kind == FLOATS and s.kind <= TUPLE:
                    stack.append(children)
                else:
                    stack.extend(children)
        return True

    cdef bint single(self, Layout layout, object value) except -1:
        cdef Step s = layout.steps[0]
        if s.kind >= LIST:      # an empty container
            return self.children(s.kind, 0, layout.aux[0] if s.kind >= DICT else None, value) is not None
        return self.fits(s.kind, layout.aux[0] if s.kind == NUMPY or s.kind == ARRAY else None, value) and self.leaf(
            s.kind, s.n if s.kind == ARRAY else s.id, value)

    cdef bint floats(self, Step s, object values) except -1:
        cdef uint32_t k
        for k in range(s.n):
            value = <object> PySequence_Fast_GET_ITEM(values, k)
            if not self.fits(FLOAT, None, value) or not self.leaf(FLOAT, s.id + k, value):
                return False
        return True

    cdef bint fits(self, int kind, object aux, object value) except -1:
        """Whether a leaf is of the kind in the layout."""
        if kind == FLOAT:
            return PyFloat_CheckExact(value) or self.duals is not None and type(value) is Dual and not is_numpy(value)
        if kind == NUMPY:
            return type(value) is aux
        if kind == ARRAY:
            return self.fits_array(value)
        return kind == DISCRETE and type(value) is not Dual and type(value) is not Array

    cdef bint fits_array(self, object value) except -1:
        return True

    cdef object children(self, int kind, uint32_t n, object aux, object value):
        """The children of a container; None if it is a different one."""
        if kind == LIST or kind == TUPLE:
            return value if type(value) is (list if kind == LIST else tuple) and len(value) == n else None
        if kind == DICT:
            return list((<dict> value).values()) if type(value) is dict and same_leaf(list(<dict> value), aux) else None
        if type(value) is not aux[0]:
            return None
        children, other = aux[1].take(value)
        return children if len(children) == n and same_leaf(other, aux[2]) else None


@cython.final
cdef class Arguments(Reader):
    """Reads arguments into registers; discrete leaves must be those of the recording."""

    cdef double *v
    cdef tuple known
    cdef Py_ssize_t at, array_at
    cdef list forms         # of the arrays
    cdef list arrays        # [(storage, array)]

    cdef bint leaf(self, int kind, uint32_t id, object value) except -1:
        if type(value) is Dual:
            self.v[id] = (<Dual> value).v
            self.duals.append((id, value))
            return True
        if kind == FLOAT:
            self.v[id] = PyFloat_AS_DOUBLE(value)
            return True
        if kind == NUMPY:
            self.v[id] = value
            return True
        if kind == ARRAY:
            self.arrays.append((id, value))
            return True
        self.at += 1
        return same_leaf(value, self.known[self.at - 1])

    cdef bint floats(self, Step s, object values) except -1:
        if te_read_floats(PySequence_Fast_ITEMS(values), s.n, self.v + s.id) == <Py_ssize_t> s.n:
            return True
        return Reader.floats(self, s, values)

    cdef bint fits_array(self, object value) except -1:
        """Whether an array has the shape, dtype and strides of the recorded one."""
        self.array_at += 1
        return type(value) is array_class and has_form(<ndarray> value, <tuple> self.forms[self.array_at - 1])


cdef bint plain_within(object x, int depth) except -1:
    cdef Py_ssize_t i
    if type(x) is not list and type(x) is not tuple:
        return type(x) is float or type(x) is numpy_double or type(x) is array_class or type(x) in <frozenset> ATOMS
    for i in range(len(x)):
        item = <object> PySequence_Fast_GET_ITEM(x, i)
        if type(item) is not float and type(item) is not numpy_double and (
                depth == 0 or not plain_within(item, depth - 1)):
            return False
    return True


def is_plain(x) -> bool:
    """Whether x consists of lists and tuples, not too deep, of Python's numbers and texts, doubles and numpy's arrays."""
    return plain_within(x, 32)


cdef tuple form_of_array(object value):
    """The properties of an array, other than its numbers, on which a recording depends."""
    return value.shape, value.strides, value.dtype, flags_of(<ndarray> value)


cdef inline int flags_of(ndarray value) noexcept:
    return PyArray_FLAGS(value) & (NPY_ARRAY_ALIGNED | NPY_ARRAY_WRITEABLE)


cdef bint has_form(ndarray value, tuple form) except -1:
    """Whether an array has the properties of a recorded one."""
    cdef tuple shape = form[0], strides = form[1]
    cdef int k, n = PyArray_NDIM(value)
    if n != len(shape) or flags_of(value) != <int> form[3]:
        return False
    for k in range(n):
        if PyArray_DIMS(value)[k] != <Py_ssize_t> shape[k] or PyArray_STRIDES(value)[k] != <Py_ssize_t> strides[k]:
            return False
    dtype = value.dtype
    return dtype is form[2] or dtype == form[2]


@cython.final
cdef class Known(Reader):
    """Collects the leaves that are not registers: discrete leaves, and constant numbers of a result."""

    cdef list found, forms, arrays
    cdef bint everything    # also leaves in registers and arrays

    cdef bint fits(self, int kind, object aux, object value) except -1:
        return kind == NUMPY and type(value) is Dual or Reader.fits(self, kind, aux, value)

    cdef bint leaf(self, int kind, uint32_t id, object value) except -1:
        if self.everything:
            if type(value) is Dual:
                raise NotThisRun("its value depends on a trace around it")
            self.found.append(value)
            return True
        if kind == ARRAY:
            if self.forms is not None:
                if type(value) is not array_class:
                    raise NotThisRun(f"it takes a number or an array of class {type(value).__name__}")
                self.forms.append(form_of_array(value))
                self.arrays.append((id, value.copy("K")))
        elif kind == DISCRETE or id == 0:
            self.found.append(kept(value))
        return True


cdef bint same_leaf(object value, object known) except -1:
    """Whether constant leaves equal the recorded ones: the same classes and bits, in the same order in memory."""
    cdef Py_ssize_t i
    if type(value) is not type(known):
        return False
    if type(value) is float:
        return same_bits(value, known)
    if isinstance(value, (list, tuple)):
        if len(value) != len(known):
            return False
        for i in range(len(value)):
            if not same_leaf(value[i], known[i]):
                return False
        return True
    if isinstance(value, dict):
        if getattr(value, "default_factory", None) is not getattr(known, "default_factory", None):
            return False
        return same_leaf(list(value), list(known)) and same_leaf(list(value.values()), list(known.values()))
    if isinstance(value, array_class) or isinstance(value, numpy_scalar):
        return (value.dtype == known.dtype and value.shape == known.shape and value.tobytes() == known.tobytes()
                and (value.strides == known.strides or numpy.empty_like(value).strides == numpy.empty_like(known).strides))
    if value is known or type(value) in ATOMS:
        return value is known or value == known
    if isinstance(value, frozenset):
        return value == known and {(type(x), repr(x)) for x in value} == {(type(x), repr(x)) for x in known}
    # equal ones may differ in what a program reads: the zone of a time, the digits of a Decimal, the sign of a zero
    if type(value) is complex or is_constant(type(value)):
        return value == known and repr(value) == repr(known)
    return value == known


cdef bint is_constant(object cls) except -1:
    """Whether a class of Python has constants: dates, Decimals, paths, patterns. Only these have a hash by value there."""
    cdef str module = module_of(cls).partition(".")[0]
    return module in structure.OF_CONSTANTS and (cls.__hash__ is not object.__hash__ or module == "zoneinfo")


cdef object kept(object value):
    """A copy of a constant leaf.

    Raises
    ------
    NotReplayable
        If a later change of it could not be detected.
    """
    if type(value) is list or type(value) is tuple:
        return type(value)([kept(item) for item in value])
    if isinstance(value, dict):
        made = (<object> value).copy()
        made.update([(key, kept(item)) for key, item in value.items()])
        return made
    if type(value) is array_class and not value.dtype.hasobject:
        return value.copy("K")
    if isinstance(value, UNCHANGING) and not isinstance(value, array_class) or is_constant(type(value)):
        return value
    if type(value) is frozenset:
        for item in value:
            kept(item)
        return value
    raise NotReplayable(f"it takes or returns a {type(value).__name__}, which may change and keep its name")


cdef bint shares(object aux) except -1:
    """Whether two objects built with the same `aux` would share a mutable object."""
    if isinstance(aux, dict):
        return any([isinstance(item, (list, dict, array_class)) or shares(item) for item in aux.values()])
    return type(aux) is tuple and any([shares(item) for item in aux])


cdef int refuse_shared(Layout layout) except -1:
    """Refuse a result with objects that would share what may change with those of later runs."""
    for item in layout.aux or ():
        if type(item) is tuple and shares(item[2]):
            raise NotReplayable(f"it returns a {item[0].__name__} that holds what may change")
    return 0


cdef Layout kept_layout(Layout layout, uint32_t *registers):
    """A layout that shares nothing with a program; `registers`, if given, replace the ids."""
    cdef Layout result
    cdef Step s
    cdef Py_ssize_t i
    cdef list aux = []
    if layout.aux is None and registers == NULL:
        return layout
    result = Layout.__new__(Layout)
    for i in range(layout.count):
        s = layout.steps[i]
        result.add(s.kind, s.n, registers[s.id] if registers != NULL and (s.kind == FLOAT or s.kind == NUMPY) else s.id)
    for item in layout.aux or ():
        if type(item) is tuple:     # of an object: (class, container, aux)
            aux.append((item[0], item[1], kept(item[2])))
        else:
            aux.append(kept(item) if type(item) is list or type(item) is array_class else item)
    result.aux = aux if aux else None
    return result


cdef bint has_registers_only(Layout layout) noexcept:
    """Whether a structure consists of lists and tuples of floats in registers, which have no form but this."""
    cdef Py_ssize_t i
    cdef Step *s
    for i in range(layout.count):
        s = &layout.steps[i]
        if s.kind != LIST and s.kind != TUPLE and (s.id == 0 or s.kind != FLOAT and s.kind != FLOATS):
            return False
    return True


cdef tuple known_leaves(Layout layout, object value, object structures, list forms=None, list arrays=None):
    """The constant leaves in the order of `Reader`; the forms and copies of arrays are added to `forms` and `arrays`."""
    cdef Known reader
    if has_registers_only(layout):
        return ()
    reader = Known.__new__(Known)
    reader.structures = structures
    reader.found, reader.forms, reader.arrays = [], forms, arrays
    reader.duals = []   # numbers of an enclosing trace are numbers
    if not reader.read(layout, value):
        raise NotThisRun("a trace around it changed the form of its arguments or its value")
    return tuple(reader.found)


cdef list all_leaves(Layout layout, object value, object structures):
    """The leaves of a structure, in the order of `Reader`."""
    cdef Known reader = Known.__new__(Known)
    reader.structures, reader.everything = structures, True
    reader.found, reader.duals = [], []
    reader.read(layout, value)
    return reader.found
