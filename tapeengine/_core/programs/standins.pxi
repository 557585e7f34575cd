# Stand-ins for Python's classes in lifted code, where a traced number is a float and a traced array an ndarray.
#
# A stand-in can be called, used in `isinstance` and compared like its class; on plain values the result is the same.
# It is a class itself, so that `match` patterns, annotations and numpy's dtypes accept it.


cdef object python_float = builtins.float, python_complex = builtins.complex, python_type = builtins.type
cdef object ndarray = numpy.ndarray, float64 = numpy.float64, complex128 = numpy.complex128
#: Classes whose instances are those of their subclasses, and the class of `typing.Hashable` and others.
cdef tuple METACLASSES = (python_type, ABCMeta, type(SupportsFloat))
cdef object Alias = type(Hashable)
#: For each stand-in, by its address (it is never freed): its class, the traced classes, and its call function.
cdef dict originals = {}
cdef dict traced = {}
cdef dict calls = {}
cdef dict of_class = {}     # the stand-in of each class, traced ones included
cdef dict replaced = {}     # classes by what else replaces them
REPLACED = replaced
cdef PyObject *the_float = NULL
TRACED = frozenset((Dual, Array, ComplexDual))


cdef class StandIn(type):
    """The class of stand-ins."""

    def __call__(self, *args, **options):
        call = calls.get(id(self))
        return python_type.__call__(self, *args, **options) if call is None else call(*args, **options)

    def __instancecheck__(cls, x) -> bool:
        if <PyObject *> cls == the_float:
            return PyFloat_Check(x) or type(x) is Dual
        found = originals.get(id(cls))
        if found is None:
            return python_type.__instancecheck__(cls, x)
        return is_one(x, found) if is_any_traced(x) else isinstance(x, found)

    def __subclasscheck__(cls, other) -> bool:
        found = originals.get(id(cls))
        if found is None:
            return python_type.__subclasscheck__(cls, other)
        other = original(other)
        return issubclass(other, found) or other in traced[id(cls)]

    def __eq__(cls, other: object) -> bool:
        found = originals.get(id(cls))
        if cls is other or found is not None and (other is found or isinstance(other, type) and other in traced[id(cls)]):
            return True
        return NotImplemented  # dtypes compare themselves with classes

    def __hash__(cls):
        found = originals.get(id(cls))
        return python_type.__hash__(cls) if found is None else hash(found)

    def __repr__(cls):
        found = originals.get(id(cls))
        return python_type.__repr__(cls) if found is None else repr(found)


def stand_in(cls, classes: tuple[type, ...], call: Callable[..., Any], **names) -> StandIn:
    """Make the stand-in for a class, once in a process; instances of `classes` count as its, calls run `call`."""
    names = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__, **names}
    # A subclass, unless the class tracks its subclasses: abstract base classes query each of them.
    bases = (cls,) if type(cls) is python_type else ()
    if not bases:
        found = {name: getattr(cls, name) for name in dir(cls) if name != "__new__"}
        names = {**{name: x for name, x in found.items() if PyFunction_Check(x) or not name.startswith("__")}, **names}
    made = StandIn(cls.__name__, bases, names)
    originals[id(made)], of_class[cls], traced[id(made)], calls[id(made)] = cls, made, classes, call
    if cls is not python_type:
        python_type.__setattr__(made, "__new__", new_of(cls, call))
        if bases:
            te_make_of_original(made)
    for name in dir(cls) if cls is not python_type and classes or issubclass(cls, numpy.generic) else ():
        plain = getattr(cls, name)
        if callable(plain) and getattr(plain, "__objclass__", object) is not object:
            setattr(made, name, method_of(plain, name, of_class, TRACED))
    for other in classes:
        of_class[other] = made
    return made


def original(value):
    """The class of a stand-in; other values unchanged."""
    return originals.get(id(value), value) if type(value) is StandIn else value


def stand_ins() -> dict[type, Any]:
    """The stand-ins by their classes; the traced classes are keys as well."""
    return of_class


cdef bint is_any_traced(object x) noexcept:
    return type(x) is Dual or type(x) is Array or type(x) is ComplexDual


cdef object plain_class(object x):
    """The class that x has in the plain program."""
    if type(x) is Dual:
        return float64 if is_numpy(x) else python_float
    if type(x) is ComplexDual:
        return complex128 if (<ComplexDual> x).numpys else python_complex
    if type(x) is Array:
        if (<Array> x).storage.number:
            return python_complex if (<Array> x).storage.python else x.dtype.type
        return ndarray
    return type(x)


def traced_class(x) -> type:
    """The class of x in lifted code: the stand-in, if its class has one."""
    cls = plain_class(x)
    return of_class.get(cls, cls)


def class_of(x, /) -> type:
    """``x.__class__`` in lifted code."""
    cls = plain_class(x) if is_any_traced(x) else x.__class__
    return of_class.get(cls, cls)


def pickled(cls):
    found = originals.get(id(cls))
    return cls.__qualname__ if found is None else (original, (found,))


cdef bint holds(object x, object cls) except -1:
    cdef PyObject *found
    if <PyObject *> Py_TYPE(x) == <PyObject *> cls:
        return True
    if <PyObject *> cls == the_float:
        return PyFloat_Check(x) or type(x) is Dual
    if type(cls) is tuple:
        return holds_one(x, <tuple> cls)
    if not PyType_Check(cls):
        if type(cls) is UnionType:
            return holds_one(x, cls.__args__)
        found = PyDict_GetItem(replaced, cls)
        cls = cls if found == NULL else <object> found
    if is_any_traced(x):
        return is_one(x, original(cls))
    if PyObject_IsInstance(x, cls):
        return True
    found = PyDict_GetItem(replaced, cls)
    return found != NULL and PyObject_IsInstance(x, <object> found)


cdef bint holds_one(object x, tuple classes) except -1:
    for cls in classes:
        if holds(x, cls):
            return True
    return False


cdef bint is_one(object x, object cls) except -1:
    """Whether a traced value is in the plain program an instance of a class, or of one class of a union."""
    if type(cls) is UnionType or getattr(cls, "__origin__", None) is Union:     # may hold classes that have stand-ins
        return holds_one(x, cls.__args__)
    if type(cls) is Alias:
        cls = cls.__origin__
    try:
        return issubclass(plain_class(x), cls) if type(cls) in METACLASSES else PyObject_IsInstance(x, cls)
    except TypeError:   # a protocol with attributes
        return PyObject_IsInstance(x, cls)


def is_instance(x, cls, /) -> bool:
    """`isinstance` in lifted code."""
    return holds(x, cls)


te_stand_for(is_instance, builtins.isinstance)
globals()["isinstance"] = is_instance      # where pickle looks


cdef object number(object x):
    """float(x) in lifted code: a traced number stays traced, and becomes one of Python's kind."""
    if PyFloat_CheckExact(x):
        return x
    if type(x) is Array and x.size == 1 and x.dtype.kind == "f":
        return x.item()
    if type(x) is Dual:
        return as_float(<Dual> x)
    cls = type(x)
    if cls is str or cls is int or isinstance(x, (float, numpy.generic)):
        return python_float(x)
    method = getattr(cls, "__float__", None)
    if method is None or getattr(cls, "__module__", None) == "builtins" or isinstance(x, ndarray):
        return python_float(x)
    found = method(x)
    return found if type(found) is Dual else python_float(x)


def float_call(*args, **options):
    """float(...) in lifted code."""
    return number(args[0]) if len(args) == 1 and not options else python_float(*args, **options)


def type_call(*args, **options):
    """type(...) in lifted code: with one argument its class there, otherwise make a class."""
    if len(args) == 1:
        return traced_class(args[0])
    if len(args) != 3:
        return python_type(*args, **options)
    name, bases, names = args
    return python_type(name, tuple([original(base) for base in bases]), names, **options)


cdef PyObject *vector_float(PyObject *cls, PyObject **args, size_t n, PyObject *names) except NULL:
    cdef object result
    if (n & COUNT) == 1 and names == NULL:
        if PyFloat_CheckExact(<object> args[0]):
            result = <object> args[0]
        else:
            result = number(<object> args[0])
    else:
        return PyVectorcall_float(<PyObject *> python_float, args, n, names)
    te_incref(result)
    return <PyObject *> result


cdef PyObject *vector_type(PyObject *cls, PyObject **args, size_t n, PyObject *names) except NULL:
    cdef object result
    cdef Py_ssize_t k, count = n & COUNT
    cdef list given
    cdef dict named
    if count == 1 and names == NULL:
        result = traced_class(<object> args[0])
    else:
        given, named = [], {}
        for k in range(count):
            given.append(<object> args[k])
        if names != NULL:
            for k in range(len(<tuple> names)):
                named[(<tuple> names)[k]] = <object> args[count + k]
        result = type_call(*given, **named)
    te_incref(result)
    return <PyObject *> result


cdef extern from *:
    """
    #define TE_COUNT (~PY_VECTORCALL_ARGUMENTS_OFFSET)
    #define te_incref(x) Py_INCREF(x)
    static void te_stand_for(PyObject *function, PyObject *builtin) {  /* by the name and the text of a builtin */
        PyMethodDef *here = ((PyCFunctionObject *)function)->m_ml, *there = ((PyCFunctionObject *)builtin)->m_ml;
        here->ml_name = there->ml_name;
        here->ml_doc = there->ml_doc;
    }
    #define PyVectorcall_float(f, args, n, names) PyObject_Vectorcall(f, args, n, names)
    static void te_set_vectorcall(PyObject *cls, void *function) {
        PyTypeObject *meta = Py_TYPE(cls);
        meta->tp_vectorcall_offset = PyType_Type.tp_vectorcall_offset;
        meta->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
        PyType_Modified(meta);
        ((PyTypeObject *)cls)->tp_vectorcall = (vectorcallfunc)function;
        /* As Python's own class; the interpreter then calls tp_vectorcall itself. */
        ((PyTypeObject *)cls)->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;
        PyType_Modified((PyTypeObject *)cls);
    }
    /* What C code makes of a stand-in, as a.view(numpy.ndarray), is an instance of its class: numpy asks the class of an
       instance for its protocols. Subclasses do not inherit this. */
    static PyObject *te_of_original(PyTypeObject *cls, Py_ssize_t items) {
        return cls->tp_base->tp_alloc(cls->tp_base, items);
    }
    static void te_make_of_original(PyObject *cls) {
        ((PyTypeObject *)cls)->tp_alloc = te_of_original;
    }
    """
    const size_t COUNT "TE_COUNT"
    void te_incref(object x)
    PyObject *PyVectorcall_float(PyObject *f, PyObject **args, size_t n, PyObject *names) except NULL
    void te_set_vectorcall(object cls, void *function)
    void te_stand_for(object function, object builtin)
    void te_make_of_original(object cls)


cdef object made_float = stand_in(python_float, (Dual, FloatLike), float_call, dtype=numpy.dtype(python_float))
cdef object made_type = stand_in(
    python_type, (StandIn,), type_call, __class_getitem__=partial(GenericAlias, python_type))
stand_in(python_complex, (ComplexDual,), make_complex, dtype=numpy.dtype(python_complex))
the_float = <PyObject *> made_float
te_set_vectorcall(made_float, <void *> vector_float)
te_set_vectorcall(made_type, <void *> vector_type)
copyreg.pickle(StandIn, pickled)
