# The fields of records: read and set where they lie in instances, or else by name.


cdef inline bint is_record_of(Form form, x) except -1:
    """Whether a value is a record of a form's class, and has none of this class's attributes as its own."""
    return type(x) is form.cls and not (form.held >= 0 and te_attribute_count(x) != form.held and hidden(x))


cdef inline bint is_placed(Form form, PyObject *x) noexcept:
    """Whether the fields of a record lie where those of other instances of its class do."""
    cdef unsigned int version = te_class_version(x)
    return version != 0 and version == form.version


cdef inline object field_of(Form form, x, Py_ssize_t i):
    """A field of a record, or a value of a dict; None where a dict has none, which no form takes."""
    cdef PyObject **slot = te_slot(<PyObject *> x, form.places[i]) if is_placed(form, <PyObject *> x) else NULL
    return <object> slot[0] if slot != NULL and slot[0] != NULL else field_by_name(form, x, i)


cdef object part_of(Form form, x, Py_ssize_t i):
    """A field of a record, or an element of a list or a tuple."""
    return field_of(form, x, i) if form.kind == RECORD else <object> PySequence_Fast_ITEMS(x)[i]


cdef object field_by_name(Form form, x, Py_ssize_t i):
    name = <object> PyTuple_GET_ITEM(form.fields, i)
    if form.cls is dict:
        return x.get(name)
    if form.searches and type(x) is form.cls and not is_placed(form, <PyObject *> x):
        search(form)
    return getattr(x, name)


cdef int search(Form form) except -1:
    """Find where the fields of a record's class lie; if not all have a place, none is used."""
    cdef Py_ssize_t i, n = PyTuple_GET_SIZE(form.fields)
    form.searches, form.version, form.read_version = form.searches - 1, 0, 0
    if not te_is_usual(form.cls):
        return 0
    for name in form.fields:
        if not te_is_stored(form.cls, name):
            return 0
    try:
        sample, values = te_instance(form.cls, ()), [object() for _ in range(n)]
        for i in range(n):
            PyObject_GenericSetAttr(sample, form.fields[i], values[i])
    except (TypeError, AttributeError):  # an abstract class, or one that has no room for a field
        return 0
    form.read_version = te_class_version(<PyObject *> sample)
    for i in range(n):
        form.places[i] = <int> te_place_of(sample, form.fields[i], values[i])
        if form.places[i] == 0:
            return 0
    form.version = form.read_version
    return 0


cdef inline int set_field(Form form, made, Py_ssize_t i, x) except -1:
    """Set a field of a new record."""
    if is_placed(form, <PyObject *> made) and te_set_attribute(made, form.places[i], x):
        return 0
    return set_by_name(form, made, i, x)


cdef int set_by_name(Form form, made, Py_ssize_t i, x) except -1:
    if form.searches and not is_placed(form, <PyObject *> made):
        search(form)
    PyObject_GenericSetAttr(made, <object> PyTuple_GET_ITEM(form.fields, i), x)
    return check_field(form, made, i, x)


cdef int check_field(Form form, made, Py_ssize_t i, x) except -1:
    """Refuse a record that does not give what was put into it, since code of its class reads its fields."""
    cdef unsigned int version = te_class_version(<PyObject *> made)
    cdef object name = <object> PyTuple_GET_ITEM(form.fields, i)
    if (version == 0 or version != form.read_version) and getattr(made, name) is not x:
        ABOVE.check_fields(made, (name,), (x,))
    return 0


cdef object record_of(Form form, tuple parts):
    """Make a record; that of a dataclass gets its fields, and its constructor is not called."""
    cdef Py_ssize_t i
    if form.cls is dict:
        return dict(zip(form.fields, parts))
    made = te_instance(form.cls, ()) if form.is_plain else form.cls(*parts)
    for i in range(PyTuple_GET_SIZE(parts)):
        part = <object> PyTuple_GET_ITEM(parts, i)
        if form.is_plain:
            set_field(form, made, i, part)
        else:
            check_field(form, made, i, part)
    return made
