# Calls of primitives on traced values: they compute on the values and record on the innermost trace of the arguments.
#
# The record keeps the arguments that rules ask for by name. Within an inner trace the values of an array may be arrays of
# an outer trace: the call is then recorded there as well. The record is in `primitives.pxi`.

cdef list REFUSED = OPEN.errors

cdef extern from *:
    int NPY_HALF


cdef struct Noted:
    const unsigned int *ids     # in ascending order
    Py_ssize_t count, at


cdef uint32_t innermost_tag(object args) noexcept:
    """The latest trace among the arguments; arrays that depend on no input do not count."""
    cdef uint32_t tag = 0
    for x in args:
        if type(x) is Array:
            if (<Array> x).storage.active and (<Array> x).storage.tag > tag:
                tag = (<Array> x).storage.tag
        elif type(x) is Dual and (<Dual> x).tag > tag:
            tag = (<Dual> x).tag
    return tag


cdef Head *head_of_any(uint32_t tag, object leaves) except NULL:
    """The head of a live trace; raises the error of a value whose trace is over."""
    cdef Head *h = head_of(tag)
    if h == NULL:
        for x in leaves:
            if type(x) is Array:
                head_of_array(<Array> x)
            elif type(x) is Dual:
                head_of_dual(<Dual> x)
    return h


cdef object outward(Head *h, Dual x):
    """The value of one of h's duals: a float, or the dual of an outer trace that it is linked to."""
    cdef uint32_t tag = 0
    cdef uint32_t id = copied_id(tape_of(h), x.id, &tag)
    return new_dual(x.v, id, tag) if id else x.v


cdef object stripped(Head *h, uint32_t tag, object x):
    """The value of an argument for the recording trace: plain, or traced by an outer trace."""
    if type(x) is Array:
        if (<Array> x).storage.tag == tag or not (<Array> x).storage.active:
            return unlifted((<Array> x).current())
    elif type(x) is Dual and (<Dual> x).tag == tag:
        return outward(h, <Dual> x)
    return x


cdef object argument(object x, object value):
    """The value of an argument x for numpy's functions: a number of Python, which they adapt, where x stands for one."""
    if type(x) is Array and (<Array> x).storage.python:
        if type(value) is not Array:
            return as_python(value)
        (<Array> value).storage.number = (<Array> value).storage.python = True
    return value


cdef object apply(object primitive, tuple args, dict static):
    """Call a primitive and record the call on the innermost trace among its arguments."""
    cdef uint32_t tag
    cdef Head *h
    cdef list values
    cdef bint outer = False
    for x in args:
        if holds_objects(x):
            return apply(primitive, tuple([traced_numbers(a) if holds_objects(a) else a for a in args]), static)
        if is_foreign(x):
            return apply(primitive, ABOVE.as_plain(primitive.primal, args, static)[0], static)
        if unlifted(x) is not x:
            return apply(primitive, tuple([unlifted(a) for a in args]), static)
    tag = innermost_tag(args)
    if tag == 0:
        values = [argument(x, (<Array> x).current()) if type(x) is Array else x for x in args]
        return constant(primitive.primal(*values, **static))
    h = head_of_any(tag, args)
    values = [argument(x, stripped(h, tag, x)) for x in args]
    for x in values:
        outer = outer or is_traced(x)
    try:
        out = primitive(*values, **static) if outer else primitive.primal(*values, **static)
    except Exception as error:
        carry(error, primitive.name)
        if is_recording(h):     # an error also tells the program about the values
            for x in args:
                numbers_of(x)
        raise
    if head_of(tag) != h:       # another thread ended the trace in the meantime
        raise TraceError(f"{primitive.name} was computed in a trace that another thread has ended. "
                         "Join threads before a program returns")
    return record_call(h, primitive, args, values, static, out)


cpdef bint is_foreign(object x) except -1:
    """Whether the class of x may override numpy's functions: x is no plain array, number or list of them."""
    cls = type(x)
    if cls is Array or cls is array_class or cls is Dual or cls is float or cls is int or x is None:
        return False
    if cls is list or cls is tuple:
        return holds_foreign(x)
    return ((hasattr(cls, "__array__") or hasattr(cls, "__array_ufunc__") or hasattr(cls, "__array_function__")
             or hasattr(cls, "__array_interface__") or hasattr(cls, "__array_priority__"))
            and not isinstance(x, numpy.generic) and not hasattr(cls, "__tapeengine_trace__") and not isinstance(x, type))


cpdef bint holds_foreign(object args) except -1:
    """Whether any of the arguments is foreign."""
    return has_foreign(args, 0)


cdef bint has_foreign(object items, int depth) except -1:
    check_depth(depth)
    for x in items:
        if has_foreign(x, depth + 1) if type(x) is list or type(x) is tuple else is_foreign(x):
            return True
    return False


def answers_to_numpy(x, ufunc, is_left: bool = False) -> bool:
    """Whether numpy evaluates an operator of a number and x, which may be on the left, and then asks the class of x.

    The ufunc is that of the operator of one of numpy's numbers, None for Python's, which read no sequences.
    """
    if ufunc is not None and joins(ufunc, x):
        return True
    cls = type(x)
    if not is_foreign(x) or cls is list or cls is tuple:
        return False
    if hasattr(cls, "__array_ufunc__"):
        if ufunc is None and not hasattr(cls, "__array__") and not hasattr(cls, "__array_interface__"):
            return False        # Python's number asks its reflected operator, which takes the traced number as it is
        return cls.__array_ufunc__ is not None
    if hasattr(cls, "__array_wrap__") or not hasattr(cls, "__radd__"):
        return True
    if not hasattr(cls, "__array__") and not hasattr(cls, "__array_interface__"):
        return hasattr(cls, "__array_priority__")
    # Python's number asks the reflected operator, and so does numpy's on the left if the class has any priority.
    return ufunc is not None and (is_left or not isinstance(getattr(cls, "__array_priority__", None), (int, float)))


cdef bint holds_objects(object x) noexcept:
    return type(x) is ComplexDual or type(x) is array_class and PyArray_TYPE(<ndarray> x) == NPY_OBJECT


cdef object of_numbers(object x):
    """Convert an object array that numpy.array made from dual numbers into a traced array of those numbers.

    None for rows of different lengths, and for objects that are not numbers.
    """
    try:
        found = ABOVE.numpy.array(x.tolist())
    except ValueError:
        return None
    return found if found.dtype.kind in "biufc" else None


cdef object traced_numbers(object x):
    """An object array of dual numbers, or a complex scalar, as a traced array."""
    if type(x) is ComplexDual:
        return (<ComplexDual> x)._array()
    found = of_numbers(x)
    if found is None:
        raise TypeError(
            "an operation combines a traced value and an array of objects that are not numbers. "
            "Make the array from numbers, in rows of equal length, or work on its elements"
        )
    return found


cdef object record_call(Head *h, object primitive, tuple args, list values, dict static, object out):
    """Record a call whose output is known; return the traced output."""
    cdef PrimitiveRecord record
    cdef Tape tape = tape_of(h)
    cdef uint32_t id, tag = h.tag
    cdef Py_ssize_t i
    cdef Kept kept_values
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
        if is_recording(h):
            note_outcome(h, primitive.primal, args, static, out)
        return out
    out = unshared(out, values)
    record = PrimitiveRecord.__new__(PrimitiveRecord)
    record.primitive = primitive
    record.inputs = inputs
    id = record_array(h, record, scalar_value(out))
    operands = [operand(h, x) for x in args] if is_recording(h) else None
    try:
        result, record.output = wrapped(h, out, id)
    except Exception:       # the program may go on, and sweeps meet the record
        record.inputs = record.kept = record.tangent_kept = []
        raise
    if operands is not None:
        note(h, id, (CALLED, primitive, operands, copied_once(h, static), discrete_parts(h, record.output, out), record))
    record.narrow = has_narrow(values) and not is_narrow(out)
    kept_values = Kept.__new__(Kept, args, values)
    kept_values.head = h
    record.kept = [
        kept_by(rules[0 if variadic else i], kept_values, static, out, result, i) for i, _ in inputs]
    if tape.keeps_tangents:
        wanted = getattr(tape.rules, "wanted", None)    # when the structure of this tape is computed
        if wanted is not None and primitive.pattern is not None:
            wanted[len(tape.arrays) - 1] = (
                tuple([space_of(x) for x in values]), {key: held(h, x) for key, x in static.items()},
                {i: keep(h, args[i]) for i in range(len(args)) if rules[0 if variadic else i] is None})
        rules = primitive.jvp_rules
        record.tangent_kept = [
            kept_by(rules[0 if variadic else i], kept_values, static, out, result, i) for i, _ in inputs]
        if tape.watcher is not None:    # a watched tape keeps values
            tape.watcher.recorded(primitive, values, out, record.inputs, record.kept)
    return result


cdef bint has_narrow(list values) except -1:
    for x in values:
        if is_narrow(x):
            return True
    return False


cdef bint is_narrow(object x) except -1:
    """Whether a value, traced or not, has numbers in lower than double precision."""
    cdef int kind
    if type(x) is Array or type(x) is array_class:
        kind = PyArray_TYPE(plain(x))
        return kind == NPY_FLOAT or kind == NPY_CFLOAT or kind == NPY_HALF
    return other_precision(x) and x.dtype.itemsize < 16


cdef list discrete_parts(Head *h, object place, object out):
    """The discrete parts of an output, in order."""
    if place is None:
        return [copied_once(h, out)]
    if type(place) is not tuple:
        return []
    parts = out.values() if isinstance(out, dict) else out
    return [found for inner, part in zip(place[1], parts) for found in discrete_parts(h, inner, part)]


cdef double scalar_value(object out) noexcept:
    if type(out) is Dual:
        return (<Dual> out).v
    return <double> out if isinstance(out, float) else 0.0


cdef class Kept:
    """The arguments of a call in the form that its rules keep, each prepared at most once."""

    cdef Head *head         # the head of the tape whose record keeps them
    cdef tuple args
    cdef list values, kept
    cdef tuple spaces       # of all arguments, once a rule has asked for them

    def __cinit__(self, args, values):
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
            elif type(value) is complex:    # Python's raises an error where a derivative is infinite
                self.kept[i] = numpy.complex128(value)
            else:
                self.kept[i] = keep(self.head, x if type(x) is Array else value)
        return self.kept[i]


cdef tuple kept_by(object rule, Kept args, dict static, object out, object result, Py_ssize_t index):
    """The values that a rule asks for (`Rule.keep`); spaces are computed from values that need not be kept."""
    if rule is None:
        return ()
    cdef list kept = []
    for kind, key in rule.needs:
        if kind == "arg":
            kept.append(args[key])
        elif kind == "space":
            kept.append(space_of(args.values[key]))
        elif kind == "static":
            kept.append(held(args.head, static[key]))
        elif kind == "out":
            kept.append(kept_output(args.head, out, result))
        elif kind == "out_space":
            kept.append(space_of(out))
        elif kind == "index":
            kept.append(index)
        elif kind == "all":
            kept.append(tuple([args[i] for i in range(len(args))]))
        else:
            if args.spaces is None:
                args.spaces = tuple([space_of(x) for x in args.values])
            kept.append(args.spaces)
    return tuple(kept)


cdef object the_space_of = None
cdef object space_of_float = None
cdef dict doubles_of = {}       # the spaces of float64 arrays, by shape

cdef enum:
    SHAPES = 4096               # the largest number of cached spaces


cdef object space_of(object x):
    global the_space_of, space_of_float
    if the_space_of is None:
        from tapeengine.primitive.spaces import space_of as function
        the_space_of = function
        space_of_float = function(0.0)
    if type(x) is Array:
        x = plain(x)
    elif type(x) is Dual:
        x = (<Dual> x).v
    if type(x) is float:
        return space_of_float
    if type(x) is array_class and PyArray_TYPE(<ndarray> x) == NPY_DOUBLE and PyArray_ISNOTSWAPPED(<ndarray> x):
        return space_of_doubles(x)
    return the_space_of(x)


cdef object space_of_doubles(object x):
    """The space of a float64 array; arrays of equal shape share one object."""
    shape = x.shape
    found = doubles_of.get(shape)
    if found is None:
        if len(doubles_of) >= SHAPES:
            doubles_of.clear()
        found = doubles_of[shape] = the_space_of(x)
    return found


cdef object kept_output(Head *h, object out, object result):
    """The output in the form that a rule keeps."""
    if type(result) is Array or type(out) is array_class:
        return keep(h, result)
    if type(out) is tuple or type(out) is list:
        return type(out)([kept_output(h, part, traced) for part, traced in zip(out, result)])
    if isinstance(out, tuple):
        return type(out)(*[kept_output(h, part, traced) for part, traced in zip(out, result)])
    if isinstance(out, dict):
        return {key: kept_output(h, part, result[key]) for key, part in out.items()}
    return out


cdef object unshared(object out, list values, int depth=0):
    """The output with its own memory: a view of an argument, or the argument itself, is copied."""
    if type(out) is array_class:
        for x in values:
            if x is out or (type(x) is array_class and out.base is not None
                            and numpy.may_share_memory(x, out)):
                return out.copy("K")
    elif type(out) is Array:
        for x in values:
            if type(x) is Array and (<Array> x).storage is (<Array> out).storage:
                return out.copy("K")
    elif type(out) is tuple or type(out) is list:
        check_depth(depth)
        return type(out)([unshared(part, values, depth + 1) for part in out])
    return out


cdef tuple wrapped(Head *h, object out, uint32_t id):
    """(the traced output, the place of its cotangents): scalars get the record's id, arrays get storages."""
    cdef Array a
    if type(out) is float or type(out) is numpy.float64:
        made = new_dual(out, id, h.tag)
        return (made if type(out) is float else of_kind(made, NUMPY_DOUBLES)), id
    if type(out) is Dual:
        check_argument(h, (<Dual> out).tag)
        tape_of(h).note_link(id, (<Dual> out).tag, (<Dual> out).id)
        made = new_dual((<Dual> out).v, id, h.tag)
        return (of_kind(made, NUMPY_DOUBLES) if is_numpy(out) else made), id
    return wrapped_parts(h, out)


cdef int check_argument(Head *h, uint32_t tag) except -1:
    """Refuse a result that is traced by the trace on which a call is recorded, or by one inside it."""
    if tag >= h.tag:
        raise DroppedDerivativeError(
            "a primitive's result depends on a traced value that is not one of its arguments. Pass it as an argument")
    return 0


cdef tuple wrapped_parts(Head *h, object out):
    cdef Array a
    out = unlifted(out)
    if type(out) is Array and (<Array> out).storage.active:
        check_argument(h, (<Array> out).storage.tag)
    if type(out) is Array or (type(out) is array_class and differentiable(out)):
        a = new_array(h, out, True)
        if type(out) is Array:
            a.storage.number, a.storage.shared = (<Array> out).storage.number, (<Array> out).storage.shared
        return a, geometry(a)
    if isinstance(out, (numpy.floating, numpy.complexfloating, float, complex)):
        a = new_array(h, numpy.array(out), True)
        a.storage.number = a.storage.type != NPY_DOUBLE
        return (a if a.storage.number else a[()]), geometry(a)
    if type(out) is Dual:
        check_argument(h, (<Dual> out).tag)
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
    if out is not None and (holds_objects(out) or is_foreign(out) or numpy.asarray(out).dtype.kind in "OV"):
        raise ABOVE.no_place_for_derivatives(out)
    return out, None


cdef Array array_of_dual(Dual x):
    """A 0-d array of x's trace that contains x."""
    cdef Array a = new_array(head_of_dual(x), numpy.zeros(()), False)
    a[()] = x
    return a


cpdef object as_python(object x):
    """Python's number of an element that has just been read, for `ndarray.item`."""
    if type(x) is Dual:
        return of_kind(<Dual> x, PYTHON_FLOATS)
    if type(x) is not Array:
        return x.item()
    if x.dtype.kind == "c":
        return complex_of(as_python(x.real[()]), as_python(x.imag[()]))
    return as_python(x.astype(float)[()])


def numbers_of_python(row) -> list[Any]:
    """The elements of a row, for `ndarray.tolist`."""
    return [as_python(x) for x in row]


def record(primitive, args, static):
    """Call a primitive on arguments that hold traced values."""
    return apply(primitive, tuple(args), static)


def zero_dim(Dual x) -> Array:
    """A dual scalar as a 0-d array."""
    return array_of_dual(x)


def zero_dim_complex(object re, object im, bint python) -> Array:
    """A 0-d array of a complex number, whose parts are written: i times an infinite part would make the other NaN."""
    dual = re if type(re) is Dual and (type(im) is not Dual or (<Dual> re).tag >= (<Dual> im).tag) else im
    cdef Array a = new_array(head_of_dual(<Dual> dual), numpy.zeros((), complex), False)
    a.real[...] = re
    a.imag[...] = im
    a.storage.number, a.storage.python = True, python
    return a


def attribute_of_number(Dual x, name: str):
    """An attribute that numpy's numbers share with arrays; arrays of shape () that it returns are numbers."""
    kind = numpy.float64 if is_numpy(x) else float
    if not hasattr(kind, name) and not is_asked_by_engine():
        raise AttributeError(f"'{'numpy.' * is_numpy(x)}{kind.__name__}' object has no attribute {name!r}")
    found = getattr(array_of_dual(x), name)
    if not callable(found):
        return number_or_array(found)
    return partial(result_of_number, found)


def result_of_number(method, *args, **options):
    """Call an array's method for a number."""
    return number_or_array(method(*args, **options))


cdef object number_or_array(object x):
    return x[()] if (type(x) is Array or type(x) is array_class) and x.ndim == 0 else x


# -- float32 and numbers ----------------------------------------------------------------------------------------------
def counts_as_double(Dual x) -> bool:
    """`is_double` of a dual."""
    return is_double(x.tag, x.id)


cdef bint is_double(uint32_t tag, uint32_t id) except -1:
    """Whether a scalar behaves as numpy.float64, which promotes a float32 operand, and not as a Python float.

    It does if it comes from a float64 primal, an element of an array, a ufunc, or such a scalar; results of `math` do
    not. The answer is cached for each scalar of a tape, and computed only up to the largest id that was asked for.
    """
    cdef Head *h = head_of(tag)
    return h == NULL or is_double_on(h, tape_of(h), id)


cdef bint is_double_on(Head *h, Tape tape, uint32_t id) except -1:
    cdef uint32_t first = first_id(h)
    cdef int found
    if id < first:
        return is_double_on(&tape.continued.head, tape.continued, id)
    if tape.are_doubles is None or first + <uint32_t> len(tape.are_doubles) <= id:
        found = soon_known(h, tape, id)
        if found >= 0:
            return found
        know_all(h, tape, id)
    return tape.are_doubles[id - first]


cdef int soon_known(Head *h, Tape tape, uint32_t id) except -2:
    """The answer of `is_double` if few earlier records tell it; otherwise -1."""
    cdef uint32_t pending[64]
    cdef uint32_t first = first_id(h), i
    cdef int count = 1, seen = 0, kind
    cdef Record *r
    pending[0] = id
    while count:
        count -= 1
        i = pending[count]
        kind = is_double_on(h, tape, i) if i < first else noted_kind(tape, i)
        if kind == -1:
            kind = own_kind(h, tape, i, False)
        if kind == 1:
            return 1
        if kind == 2:
            return -1
        seen += 1
        if kind == -1:
            if seen >= 24 or count > 60:
                return -1
            r = record_at(h, i)
            pending[count] = r.p1
            count += 1
            if r.p2 != i:
                pending[count] = r.p2
                count += 1
    return 0


cdef int know_all(Head *h, Tape tape, uint32_t id) except -1:
    """Compute the answers of `is_double` for all scalars up to one, in the order of the tape."""
    cdef uint32_t first = first_id(h), i, count
    cdef Noted floats = noted_from(tape.floats), doubles = noted_from(tape.doubles)
    cdef int kind
    cdef char *known
    cdef Record *r
    if tape.are_doubles is None:
        tape.are_doubles = bytearray()
    count = <uint32_t> len(tape.are_doubles)
    tape.are_doubles.extend(bytes(id - first - count + 1))
    known = tape.are_doubles
    for i in range(first + count, id + 1):
        if has(&floats, i):
            kind = 0
        elif has(&doubles, i):
            kind = 1
        else:
            kind = own_kind(h, tape, i, True)
        if kind == -1:
            r = record_at(h, i)
            kind = of_parent(h, tape, r.p1, first, known) or (
                r.p2 != i and of_parent(h, tape, r.p2, first, known))
        known[i - first] = kind
    return 0


cdef int own_kind(Head *h, Tape tape, uint32_t i, bint are_known) except -2:
    """Whether a scalar is a numpy.float64 by its record alone: 1 or 0; -1 if its operands decide.

    2 if the operands of a primitive decide and are not known: each of them may be asked twice, and theirs four times.
    """
    cdef Record *r
    cdef int op = INPUT if i <= h.inputs else op_at(h, i)
    if op == INPUT:
        place = bisect_left(tape.link_sources or [], (i,))
        if tape.link_sources and place < len(tape.link_sources) and tape.link_sources[place][0] == i:
            return is_double(tape.link_sources[place][1], tape.link_sources[place][2])
        return i > h.inputs and record_at(h, i).d2 != <double> PYTHON_FLOATS
    r = record_at(h, i)
    if op == ARRAY and type(tape.arrays[r.p2]) is PrimitiveRecord:
        for _, place in (<PrimitiveRecord> tape.arrays[r.p2]).inputs:
            if type(place) is not int or are_known and is_double_on(h, tape, place):
                return 1
        return 0 if are_known else 2
    if op >= SPECIAL:
        return 1
    if r.p2 == i and takes_one(op) and r.d2 != 0.0:   # a function of one scalar
        return r.d2 == <double> NUMPY_DOUBLES
    return -1


cdef bint of_parent(Head *h, Tape tape, uint32_t id, uint32_t first, char *known) except -1:
    return known[id - first] if id >= first else is_double_on(h, tape, id)


cdef int noted_kind(Tape tape, uint32_t id) except -2:
    """The kind of a scalar that was noted beside its record: 1 of numpy, 0 of Python; otherwise -1."""
    cdef Noted floats = noted_from(tape.floats), doubles = noted_from(tape.doubles)
    return 0 if has_anywhere(&floats, id) else 1 if has_anywhere(&doubles, id) else -1


cdef Noted noted_from(object ids) except *:
    cdef Noted noted
    noted.ids, noted.count, noted.at = NULL, 0, 0
    if ids is not None:
        noted.ids, noted.count = (<array> ids).data.as_uints, len(ids)
    return noted


cdef bint has(Noted *noted, uint32_t id) noexcept:
    """Whether ids that are read in ascending order have one."""
    while noted.at < noted.count and noted.ids[noted.at] < id:
        noted.at += 1
    return noted.at < noted.count and noted.ids[noted.at] == id


cdef bint has_anywhere(Noted *noted, uint32_t id) noexcept:
    """Whether ids in ascending order have one."""
    cdef Py_ssize_t low = 0, high = noted.count, middle
    while low < high:
        middle = (low + high) // 2
        if noted.ids[middle] < id:
            low = middle + 1
        else:
            high = middle
    return low < noted.count and noted.ids[low] == id


cpdef tuple widened(tuple args):
    """Arguments of a numpy function, with arrays of shape () for numbers that set the precision among others.

    These are the float64 numbers among float32 or float16 arrays, and numpy's numbers of other precisions beside traced
    numbers.
    Complex numbers become arrays.
    """
    cdef bint has_scalars = False, has_floats = False, has_complex = False
    cdef int kind
    for x in args:
        if type(x) is Dual:
            has_scalars = True
        elif type(x) is ComplexDual:
            has_complex = True
        elif type(x) is Array or type(x) is array_class:
            kind = (<Array> x).storage.type if type(x) is Array else PyArray_TYPE(<ndarray> x)
            has_floats = has_floats or kind == NPY_FLOAT or kind == NPY_CFLOAT or kind == NPY_HALF
        else:
            has_floats = has_floats or other_precision(x)
    if has_complex:
        args = as_arrays(args)
    if not has_scalars or not has_floats:
        return args
    return tuple([array_of_dual(<Dual> x) if type(x) is Dual and is_numpy(x) else
                  numpy.asarray(x) if other_precision(x) else x for x in args])

include "custom.pxi"

include "called.pxi"

include "primitives.pxi"
