# Checks of what a staged program captures; calls are replayed while nothing has changed.

cdef enum Watched:
    CELL                # of a closure
    ITEMS               # of a list
    ENTRIES             # of a dict: its keys, then its values
    NAMES               # of a dict: some keys are looked up, others are not in it
    FUNCTION            # its code, default arguments and attributes
    ATTRIBUTES          # of another object that has them in a dict, and its class
    CONTENTS            # of an array
    ANYTHING            # the result of a function
    UNCHANGED           # a function says whether it has changed


@cython.final
@cython.freelist(16)
cdef class Check:
    """One captured object and its recorded contents."""

    cdef Watched kind
    cdef object watched
    cdef list saved
    cdef tuple names, absent
    cdef Py_ssize_t count   # of the entries of the dict that Python looks up without a name, see `te_unnamed`
    cdef int counted
    cdef uint64_t version   # of the dict when it was last found to be the same

    cdef bint same(self) except -1:
        if self.kind == CELL:
            return self.cell()
        if self.kind == NAMES:
            return self.looked_up()
        if self.kind == ENTRIES:
            return self.entries(self.watched)
        if self.kind == FUNCTION:
            return te_made_of(self.watched, self.names) and self.attributes()
        if self.kind == ATTRIBUTES:
            return type(self.watched) is self.names[0] and self.entries(self.watched.__dict__)
        if self.kind == CONTENTS:
            return same_memory(self.watched, self.saved[0]) or self.saved[1](self.watched, self.saved[0])
        if self.kind == UNCHANGED:
            return not self.watched()
        return self.items(self.watched if self.kind == ITEMS else list(self.watched()))

    cdef bint cell(self) except -1:
        cdef PyObject *now = te_cell(self.watched)
        return same_object(<object> now, self.saved[0]) if now != NULL and self.saved else now == NULL and not self.saved

    cdef bint attributes(self) except -1:
        cdef PyObject *now = te_attributes(self.watched)
        return self.entries(<dict> now) if now != NULL else PyList_GET_SIZE(self.saved) == 0

    cdef bint looked_up(self) except -1:
        cdef PyObject *now
        cdef Py_ssize_t i
        cdef uint64_t version = te_version(self.watched)
        if version and version == self.version:
            return True
        for i in range(len(self.names)):
            now = PyDict_GetItemWithError(self.watched, self.names[i])
            if now == NULL or not same_object(<object> now, <object> PyList_GET_ITEM(self.saved, i)):
                return False
        for name in self.absent:
            if name in <dict> self.watched:
                return False
        if te_unnamed(self.watched, self.counted) != self.count:
            return False
        self.version = version
        return True

    cdef bint entries(self, dict held) except -1:
        cdef Py_ssize_t n = len(held), i = 0, at = 0
        cdef PyObject *key
        cdef PyObject *value
        if 2 * n != PyList_GET_SIZE(self.saved):
            return False
        while PyDict_Next(held, &at, &key, &value):
            if key != <PyObject *> PyList_GET_ITEM(self.saved, i) or value != <PyObject *> PyList_GET_ITEM(self.saved, n + i):
                return self.items([*held, *held.values()])
            i += 1
        return True

    cdef bint items(self, list now) except -1:
        cdef Py_ssize_t i
        if PyList_GET_SIZE(now) != PyList_GET_SIZE(self.saved):
            return False
        for i in range(PyList_GET_SIZE(self.saved)):
            if not same_object(<object> PyList_GET_ITEM(now, i), <object> PyList_GET_ITEM(self.saved, i)):
                return False
        return True


cdef bint same_memory(object now, object saved) noexcept:
    """Whether two arrays of numpy's own numbers have the same layout, one after the other in memory, and the same bytes."""
    cdef ndarray a, b
    if type(now) is not ndarray or type(saved) is not ndarray:
        return False
    a, b = <ndarray> now, <ndarray> saved
    return (PyArray_TYPE(a) == PyArray_TYPE(b) and PyArray_TYPE(a) < NPY_OBJECT
            and PyArray_ISNOTSWAPPED(a) and PyArray_ISNOTSWAPPED(b)
            and PyArray_IS_C_CONTIGUOUS(a) and PyArray_IS_C_CONTIGUOUS(b) and PyArray_NDIM(a) == PyArray_NDIM(b)
            and memcmp(PyArray_DIMS(a), PyArray_DIMS(b), PyArray_NDIM(a) * sizeof(Py_ssize_t)) == 0
            and memcmp(PyArray_DATA(a), PyArray_DATA(b), PyArray_NBYTES(a)) == 0)


cdef bint same_object(object now, object saved) except -1:
    """Whether an object is the recorded one, or an equal number or string."""
    if now is saved:
        return True
    if type(now) is not type(saved):
        return False
    if type(now) is float:
        return same_bits(now, saved)
    if type(now) is complex or type(now) is numpy_double:
        return numpy.asarray(now).tobytes() == numpy.asarray(saved).tobytes()
    return type(now) in ATOMS and now == saved


@cython.final
cdef class Checks:
    """Checks whether captured objects have the same contents: the same objects, or equal numbers and strings.

    Attributes
    ----------
    found : list
        The captured objects, other than numbers and strings.
    is_traced : bool
        Whether there is a number or an array of an open trace among them.
    """

    cdef list each
    cdef readonly list found
    cdef readonly bint is_traced

    def __cinit__(self):
        self.each, self.found = [], []

    def __len__(self):
        return len(self.each)

    def look(self, value, others):
        """Watch all that a callable or a structure captures, as `tapeengine.staged.watch.Watch` says it."""
        # others.names_of(function): the names that a function of the program looks up
        # others.computes(code): whether it computes others
        # others.is_fixed(object): whether programs do not change it
        # others.special(space): the names that Python itself looks up in a class of the program or a module, None for others
        # others.open(object): watches an object of a class that is not known here, and returns what it contains
        # others.named: the names that such objects look up
        # others.atoms: classes whose objects never change
        cdef Search search = Search.__new__(Search)
        search.checks, search.others, search.atoms = self, others, others.atoms
        search.seen, search.spaces, search.used, search.wide = {id(built_in)}, {}, set(), {}
        search.names = []
        search.all(value)

    cdef Check watch(self, Watched kind, object watched, list saved):
        cdef Check check = Check.__new__(Check)
        check.kind, check.watched, check.saved = kind, watched, saved
        self.each.append(check)
        return check

    def add_attributes(self, watched):
        """Watch the attributes that an object has in its dict."""
        self.watch(ATTRIBUTES, watched, [*watched.__dict__, *watched.__dict__.values()]).names = (type(watched),)

    def add_contents(self, read):
        """Watch the result of a function."""
        self.watch(ANYTHING, read, list(read()))

    def add_array(self, watched, saved, compare):
        """Watch an array; ``compare(array, saved)`` decides where its memory is no single block of numbers."""
        self.watch(CONTENTS, watched, [saved, compare])

    def add(self, has_changed):
        """Watch what a function says."""
        self.watch(UNCHANGED, has_changed, None)

    cpdef bint same(self) except -1:
        """Whether nothing has changed."""
        cdef Py_ssize_t i
        for i in range(PyList_GET_SIZE(self.each)):
            if not (<Check> PyList_GET_ITEM(self.each, i)).same():
                return False
        return True


@cython.final
cdef class Search:
    """Finds what a callable captures, and watches it."""

    cdef Checks checks
    cdef object others, atoms
    cdef set seen           # addresses
    cdef dict spaces        # address of a namespace -> (namespace, {name: value, or `miss` if there is none})
    cdef set used           # the names that the program's code uses
    cdef list names         # the same in order
    cdef dict wide          # address -> [namespace of a module or class, number of names looked up in it, is it a class?]
    cdef bint computes      # whether code computes names, so that it may look up any of a module or class

    cdef int all(self, object value) except -1:
        """Look into an object, and into all objects that are found in it."""
        cdef Py_ssize_t i = 0
        self.enter(value)
        while i < PyList_GET_SIZE(self.checks.found):
            self.open(<object> PyList_GET_ITEM(self.checks.found, i))
            i += 1
            if i == PyList_GET_SIZE(self.checks.found):
                self.look_up()
        for names, known in self.spaces.values():
            self.namespace(names, known)
        return 0

    cdef int look_up(self) except -1:
        """Look up the used names in modules and classes: `f.k` may be an attribute of any of them."""
        cdef Py_ssize_t n = PyList_GET_SIZE(self.names)
        for space in self.wide.values():
            if space[1] < n:
                self.data(space[0], self.names[space[1]:])
                space[1] = n
                if self.computes:
                    self.data(space[0], space[0])
        return 0

    cdef int enter(self, object value) except -1:
        if type(value) in <frozenset> self.atoms:
            return 0
        address = <size_t> <PyObject *> value
        if address not in self.seen:
            self.seen.add(address)
            self.checks.found.append(value)
        return 0

    cdef int enter_all(self, object values) except -1:
        for value in values:
            self.enter(value)
        return 0

    cdef int open(self, object value) except -1:
        kind = type(value)
        if kind is types_function:
            return self.function(value)
        if kind is types_cell:
            return self.cell(value)
        if kind is list:
            self.checks.watch(ITEMS, value, list(value))
        elif kind is dict:
            self.checks.watch(ENTRIES, value, [*value, *value.values()])
            self.enter_all((<dict> value).values())
        elif kind is Dual or kind is Array:
            self.checks.is_traced = True
            return 0
        elif PyType_Check(value):
            self.use(CONSTRUCTING)
            return self.space(value)
        elif kind is types_module:
            return self.space(value)
        elif kind is not tuple:
            if te_is_heap_type(kind):   # its methods are called
                self.space(kind)
            value = self.others.open(value)
            self.use(self.others.named)
        return self.enter_all(value)

    cdef int space(self, object value) except -1:
        """Look into a module or a class, and the classes that it is derived from."""
        cdef object names, special
        if PyType_Check(value) and not te_is_heap_type(value):
            return 0
        names = te_class_names(value) if PyType_Check(value) else value.__dict__
        address = <size_t> <PyObject *> names
        if address in self.wide:
            return 0
        special = self.others.special(value)
        if special is None:
            return 0
        self.wide[address] = [names, 0, bool(PyType_Check(value))]
        self.use(special)
        self.data(names, ())
        if PyType_Check(value):
            self.space(type(value))
            for base in (<object> value).__mro__:
                self.space(base)
        return 0

    cdef int use(self, object names) except -1:
        """Note names that code uses; some of them lead to the environment of the process, or to imported modules."""
        for name in names:
            if name not in self.used:
                self.used.add(name)
                self.names.append(name)
                if name in loaded:
                    self.enter(loaded[name])
                elif name == "environ" or name == "getenv":
                    self.enter(environment)
        return 0

    cdef int cell(self, object value) except -1:
        cdef PyObject *content = te_cell(value)
        if content == NULL:     # a name that is not bound yet
            self.checks.watch(CELL, value, [])
            return 0
        self.checks.watch(CELL, value, [<object> content])
        return self.enter(<object> content)

    cdef int function(self, object f) except -1:
        """Look into the cells of a closure, default arguments, attributes, and the data that the code reads."""
        cdef object cells = f.__closure__, positional = f.__defaults__, named = f.__kwdefaults__
        cdef PyObject *own = te_attributes(f)
        cdef list saved = [] if own == NULL else [*<dict> own, *(<dict> own).values()]
        cdef object looked_up = self.others.names_of(f)
        self.checks.watch(FUNCTION, f, saved).names = (f.__code__, positional, named)
        self.enter_all(cells or ())
        self.enter(positional)
        self.enter(named)
        self.enter_all(saved)
        if not looked_up:
            return 0
        self.use(looked_up)
        if not self.computes and self.others.computes(f.__code__):
            self.computes = True
            for space in self.wide.values():
                space[1] = 0
        return self.data(f.__globals__, looked_up)

    cdef int data(self, object names, object looked_up) except -1:
        """Look up what code reads in a namespace, which is watched as a whole."""
        cdef PyObject *value
        address = <size_t> <PyObject *> names
        self.seen.add(address)
        cdef dict known = self.spaces.setdefault(address, (names, {}))[1]
        for name in looked_up:
            if name not in known:
                value = PyDict_GetItemWithError(names, name)
                known[name] = miss if value == NULL else <object> value
                if value != NULL:
                    self.datum(<object> value)
        return 0

    cdef int datum(self, object value) except -1:
        """Look into a value of a namespace, unless programs do not change it."""
        if not (type(value) in <frozenset> self.atoms or <size_t> <PyObject *> value in self.seen
                or self.others.is_fixed(value)):
            self.enter(value)
        return 0

    cdef int namespace(self, object names, dict known) except -1:
        cdef Check check = self.checks.watch(NAMES, names, [value for value in known.values() if value is not miss])
        check.names = tuple([name for name, value in known.items() if value is not miss])
        check.absent = tuple([name for name, value in known.items() if value is miss])
        space = self.wide.get(<size_t> <PyObject *> names)
        if space is not None:
            check.counted = TE_ALL if self.computes else <int> space[2]
        check.count = te_unnamed(names, check.counted)
        return 0


@cython.final
cdef class Memory:
    """Places in memory, given by their addresses and numbers of bytes, which must stay valid."""

    cdef tuple places
    cdef bytes held

    def __init__(self, *places):
        self.places = places

    def bytes(self):
        """Return all their bytes, as the same object until they change."""
        cdef const char *known = NULL if self.held is None else <const char *> self.held
        cdef size_t address, at = 0
        cdef Py_ssize_t size
        for address, size in self.places:
            if known == NULL or memcmp(<const char *> address, known + at, size) != 0:
                self.held = b"".join([(<const char *> <size_t> where)[:n] for where, n in self.places])
                break
            at += size
        return self.held


cdef class Replays:
    """A callable that replays calls without keyword arguments if it can, and leaves other calls to a subclass.

    Attributes
    ----------
    engine : Engine
    at_once : list of Plan
        The recordings for such calls.
    checks : Checks or None
        The checks that must hold for that.
    """

    cdef public object engine, checks
    cdef public list at_once

    cdef bint may_replay(self) except -1:
        return (bool(self.at_once) and (self.checks is None or (<Checks> self.checks).same())
                and not errors_are_seen())

    def __call__(self, *primals, **keywords):
        """Return the program's value."""
        if not keywords and self.may_replay():
            for plan in self.at_once:
                value = (<Plan> plan).value(primals)
                if value is not miss:
                    return value
        return self.called(primals, keywords)

    def __tapeengine_vjp__(self, engine, *primals, **keywords):
        """Return the value and the backpropagator."""
        found = self.vjp_at_once(engine, primals, keywords)
        return self.called_vjp(engine, primals, keywords) if found is None else found

    cpdef object vjp_at_once(self, object engine, tuple primals, dict keywords):
        """The value and the backpropagator by replay; None if the subclass must decide."""
        if not keywords and engine is self.engine and engine.switches is None and self.may_replay():
            for plan in self.at_once:
                found = (<Plan> plan).vjp(primals)
                if found is not miss:
                    return found
        return None
