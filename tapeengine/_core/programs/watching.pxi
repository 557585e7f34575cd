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
    cdef tuple parts        # of a function, or the class of an object
    cdef dict known         # {name: value, or `miss` if there is none}
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
            return te_made_of(self.watched, self.parts) and (self.saved is None or self.attributes())
        if self.kind == ATTRIBUTES:
            return type(self.watched) is self.parts[0] and self.entries(self.watched.__dict__)
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
        cdef PyObject *name
        cdef PyObject *value
        cdef Py_ssize_t at = 0
        cdef uint64_t version = te_version(self.watched)
        if version and version == self.version:
            return True
        while PyDict_Next(self.known, &at, &name, &value):
            now = PyDict_GetItemWithError(self.watched, <object> name)
            if now == value:
                continue
            if now == NULL or value == <PyObject *> miss or not same_object(<object> now, <object> value):
                if now != NULL or value != <PyObject *> miss:
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


cpdef bint same_memory(object now, object saved) noexcept:
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

    def look(self, value, others) -> None:
        """Watch all that a callable or a structure captures, as `tapeengine.staged.watch.Watch` says it."""
        # others.facts(code, module): the names that code of a module of the program looks up, whether it may look up
        #     any variable of the module, and whether it computes names
        # others.is_fixed(object): whether programs do not change it
        # others.open(object): watches an object of a class that is not known here, and returns what it contains
        # others.named: the names that such objects look up
        # others.atoms: classes whose objects never change
        cdef Search search = Search.__new__(Search)
        search.checks, search.others = self, others
        search.atoms, search.fixed, search.find = others.atoms, others.is_fixed, others.facts
        search.spaces, search.used, search.names, search.seen = {}, set(), [], set()
        search.is_new(<PyObject *> built_in)
        search.all(value)

    def add_names(self, space: dict[str, Any] | type, names: Collection[str]) -> None:
        """Watch the values of names in a namespace, or in that of a class, and how many operators a class has."""
        cdef bint is_class = PyType_Check(space)
        cdef Space looked = space_of(te_class_names(space) if is_class else space)
        looked.is_wide = looked.is_class = is_class
        for name in names:
            looked.look_up(name)
        looked.watch(self, False)

    cdef Check watch(self, Watched kind, object watched, list saved):
        cdef Check check = Check.__new__(Check)
        check.kind, check.watched, check.saved = kind, watched, saved
        self.each.append(check)
        return check

    def add_function(self, function) -> None:
        """Watch the code and the defaults of a function."""
        self.watch(FUNCTION, function, None).parts = te_parts(function)

    def add_cell(self, cell) -> None:
        """Watch what a variable of a closure holds."""
        cdef PyObject *now = te_cell(cell)
        self.watch(CELL, cell, [] if now == NULL else [<object> now])

    def add_all(self, Checks others) -> None:
        """Watch what other checks watch."""
        self.each += others.each

    def add_attributes(self, watched) -> None:
        """Watch the attributes that an object has in its dict."""
        self.watch(ATTRIBUTES, watched, [*watched.__dict__, *watched.__dict__.values()]).parts = (type(watched),)

    def add_contents(self, read: Callable[[], Sequence[Any]]) -> None:
        """Watch the result of a function."""
        self.watch(ANYTHING, read, list(read()))

    def add_array(self, watched, saved, compare: Callable[[Any, Any], bool]) -> None:
        """Watch an array; ``compare(array, saved)`` decides where its memory is no single block of numbers."""
        self.watch(CONTENTS, watched, [saved, compare])

    def add(self, has_changed: Callable[[], bool]) -> None:
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
@cython.freelist(16)
cdef class Space:
    """A namespace, and the names that were looked up in it."""

    cdef object names
    cdef dict known             # {name: value, or `miss` if there is none}
    cdef bint is_wide, is_class     # wide: of a module or a class, whose attributes have any of the names that code uses
    cdef Py_ssize_t count       # of these names, those that were looked up

    cdef PyObject *look_up(self, object name) except? NULL:
        """The value of a name that was not looked up before; NULL if there is none."""
        cdef PyObject *value
        if PyDict_GetItemWithError(self.known, name) != NULL:
            return NULL
        value = PyDict_GetItemWithError(self.names, name)
        self.known[name] = miss if value == NULL else <object> value
        return value

    cdef int watch(self, Checks checks, bint computes) except -1:
        cdef Check check = checks.watch(NAMES, self.names, None)
        check.known = self.known
        if self.is_wide:
            check.counted = TE_ALL if computes else <int> self.is_class
        check.count = te_unnamed(self.names, check.counted)
        return 0


cdef Space space_of(object names):
    cdef Space space = Space.__new__(Space)
    space.names, space.known = names, {}
    return space


cdef tuple facts_of(object code, object module, object find):
    """The facts that `find` gives about code; found once, and kept while the code belongs to the same module."""
    cdef PyObject *found = PyDict_GetItemWithError(facts, <size_t> <PyObject *> code)
    if found != NULL and ((<tuple> <object> found)[1] is module or (<tuple> <object> found)[1] == module):
        return <tuple> <object> found
    if len(facts) >= MOST_FACTS:
        facts.clear()
    made = (code, module, *find(code, module))  # which keeps the address valid
    facts[<size_t> <PyObject *> code] = made
    return made


@cython.final
cdef class Fixed:
    """Says whether programs do not change a global value: a module, a class, a library function.

    Parameters
    ----------
    is_library : callable
        ``is_library(module, file)`` says whether code belongs to Python, an installed package or the engine.
    is_of_python : callable
        Whether a function of numpy calls one of Python.
    owner_of : callable
        The object of the program that a method written in C belongs to; None for functions.
    """

    cdef object is_library, is_of_python, owner_of

    def __init__(self, is_library, is_of_python, owner_of):
        self.is_library, self.is_of_python, self.owner_of = is_library, is_of_python, owner_of

    def __call__(self, value) -> bool:
        """Whether programs do not change a value."""
        return self.holds(value)

    cdef bint holds(self, object value) except -1:
        cdef dict names
        if PyType_Check(value):
            module = getattr(value, "__module__", "")
            if type(module) is not str:     # some classes written in C have no text
                return True
            return self.is_library(module, getattr(loaded.get(module), "__file__", None))
        if type(value) is types_module:
            names = value.__dict__          # a module may compute other names
            return self.is_library(names.get("__name__"), names.get("__file__"))
        if PyCFunction_Check(value):
            return te_is_of_module(value) or self.owner_of(value) is None
        if type(value) is types_function:
            return value.__closure__ is None and self.is_library(value.__globals__.get("__name__"), value.__code__.co_filename)
        return isinstance(value, ufunc_class) and not self.is_of_python(value)


@cython.final
cdef class Search:
    """Finds what a callable captures, and watches it."""

    cdef Checks checks
    cdef object others, atoms, find
    cdef Fixed fixed
    cdef set seen           # the addresses of objects that were seen
    cdef dict spaces        # address of a namespace -> Space
    cdef set used           # the names that the program's code uses
    cdef list names         # the same in order
    cdef bint computes      # whether code computes names, so that it may look up any of a module or class

    cdef bint is_new(self, PyObject *address) except -1:
        """Whether an object was not seen before; it is now."""
        cdef Py_ssize_t count = len(self.seen)
        self.seen.add(<size_t> address)
        return len(self.seen) != count

    cdef int all(self, object value) except -1:
        """Look into an object, and into all objects that are found in it."""
        cdef Py_ssize_t i = 0
        cdef Space space
        self.enter(value)
        while i < PyList_GET_SIZE(self.checks.found):
            self.open(<object> PyList_GET_ITEM(self.checks.found, i))
            i += 1
            if i == PyList_GET_SIZE(self.checks.found):
                self.look_up()
        for space in self.spaces.values():
            space.watch(self.checks, self.computes)
        return 0

    cdef int look_up(self) except -1:
        """Look up the used names in modules and classes: `f.k` may be an attribute of any of them."""
        cdef Space space
        for space in self.spaces.values():
            if not space.is_wide or space.count == PyList_GET_SIZE(self.names):
                continue
            while space.count < PyList_GET_SIZE(self.names):
                space.count += 1
                self.datum(space.look_up(<object> PyList_GET_ITEM(self.names, space.count - 1)))
            if self.computes:
                for name in list(space.names):
                    self.datum(space.look_up(name))
        return 0

    cdef int compute(self) except -1:
        """Note that code computes names; look up all of those in modules and classes."""
        cdef Space space
        if not self.computes:
            self.computes = True
            for space in self.spaces.values():
                space.count = 0
        return 0

    cdef int enter(self, object value) except -1:
        if type(value) not in <frozenset> self.atoms and self.is_new(<PyObject *> value):
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
            self.use_all(CONSTRUCTING)
            return self.space(value)
        elif kind is types_module:
            return self.space(value)
        elif kind is not tuple:
            if te_is_heap_type(kind):   # its methods are called
                self.space(kind)
            value = self.others.open(value)
            self.use_all(self.others.named)
        return self.enter_all(value)

    cdef int space(self, object value) except -1:
        """Look into a module or a class, and the classes that it is derived from."""
        cdef bint is_class = PyType_Check(value)
        cdef object names
        cdef Space space
        if is_class and not te_is_heap_type(value):
            return 0
        names = te_class_names(value) if is_class else value.__dict__
        space = self.spaces.get(<size_t> <PyObject *> names)
        if space is not None and space.is_wide or self.fixed.holds(value):
            return 0
        space = self.known_space(names)
        space.is_wide, space.is_class = True, is_class
        self.use_special(names, is_class)
        if is_class:
            self.space(type(value))
            for base in (<object> value).__mro__:
                self.space(base)
        return 0

    cdef int use_special(self, object names, bint is_class) except -1:
        """Note the names that Python itself looks up in a class or a module."""
        if not is_class:
            return self.use("__getattr__") if "__getattr__" in names else 0
        for name in list(names):
            if type(name) is str and (<str> name).startswith("__") and name not in MAKING and callable(names[name]):
                self.use(name)
        return 0

    cdef Space known_space(self, object names):
        """The names looked up in a namespace, which is watched as a whole."""
        cdef PyObject *found = PyDict_GetItemWithError(self.spaces, <size_t> <PyObject *> names)
        cdef Space space
        if found != NULL:
            return <Space> found
        self.is_new(<PyObject *> names)
        space = self.spaces[<size_t> <PyObject *> names] = space_of(names)
        return space

    cdef int use_all(self, object names) except -1:
        for name in names:
            self.use(name)
        return 0

    cdef int use(self, object name) except -1:
        """Note a name that code uses; some lead to the environment of the process, or to imported modules."""
        cdef PyObject *module
        if name in self.used:
            return 0
        self.used.add(name)
        self.names.append(name)
        module = PyDict_GetItemWithError(loaded, name)
        if module != NULL:
            return self.enter(<object> module)
        return self.enter(environment) if name == "environ" or name == "getenv" else 0

    cdef int cell(self, object value) except -1:
        cdef PyObject *content = te_cell(value)
        if content == NULL:     # a name that is not bound yet
            self.checks.watch(CELL, value, [])
            return 0
        self.checks.watch(CELL, value, [<object> content])
        return self.enter(<object> content)

    cdef int function(self, object f) except -1:
        """Look into the cells of a closure, default arguments, attributes, and the data that the code reads."""
        cdef PyObject *own = te_attributes(f)
        cdef list saved = [] if own == NULL else [*<dict> own, *(<dict> own).values()]
        cdef tuple parts = te_parts(f), found
        cdef object names = <object> PyFunction_GET_GLOBALS(f)
        cdef PyObject *module = PyDict_GetItemWithError(names, "__name__")
        cdef Space space
        self.checks.watch(FUNCTION, f, saved).parts = parts
        if PyFunction_GET_CLOSURE(f) != NULL:
            self.enter_all(<tuple> PyFunction_GET_CLOSURE(f))
        self.enter(parts[1])
        self.enter(parts[2])
        if own != NULL:
            self.enter_all(saved)
        found = facts_of(parts[0], None if module == NULL else <object> module, self.find)
        if not <tuple> found[2]:
            return 0
        if found[4]:
            self.compute()
        space = self.known_space(names)
        self.data(space, found[2])
        if found[3]:
            self.data(space, list(names))
        return 0

    cdef int data(self, Space space, object looked_up) except -1:
        """Look up names that code uses in the namespace of its module."""
        for name in looked_up:
            self.use(name)
            self.datum(space.look_up(name))
        return 0

    cdef int datum(self, PyObject *value) except -1:
        """Look into a value of a namespace, unless programs do not change it."""
        if value == NULL or type(<object> value) in <frozenset> self.atoms or <size_t> value in self.seen:
            return 0
        return 0 if self.fixed.holds(<object> value) else self.enter(<object> value)


@cython.final
cdef class Memory:
    """The bytes at places in memory, and what says where these are.

    Parameters
    ----------
    places : list of tuple of int
        The address and the number of bytes of each place, which must stay valid.
    checks : Checks
    attributes : list of tuple
        (object, name, value) of attributes that are part of it.
    """

    cdef list places, attributes
    cdef Checks checks
    cdef bytes held     # what they were first

    def __init__(self, places: list[tuple[int, int]], checks: Checks, attributes: list[tuple[Any, str, Any]]):
        self.places, self.checks, self.attributes = places, checks, attributes
        self.held = b"".join([(<const char *> <size_t> where)[:n] for where, n in self.places])

    def same(self) -> bool:
        """Whether nothing has changed."""
        cdef const char *known = self.held
        cdef size_t address
        cdef Py_ssize_t size
        for address, size in self.places:
            if memcmp(<const char *> address, known, size) != 0:
                return False
            known += size
        for owner, name, value in self.attributes:
            if getattr(owner, name) is not value:
                return False
        return self.checks.same()


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

    def __tapeengine_vjp__(self, engine, *primals, **keywords) -> tuple[Any, Any]:
        """Return the value and the backpropagator."""
        found = self.vjp_at_once(engine, primals, keywords)
        return self.called_vjp(engine, primals, keywords) if found is None else found

    cpdef object vjp_at_once(self, object engine, tuple primals, dict keywords):
        """The value and the backpropagator by replay; None if the subclass must decide."""
        if not keywords and engine is self.engine and engine.switches is None and self.may_replay():
            for plan in self.at_once:
                found = (<Plan> plan).vjp(primals, self, keywords)
                if found is not miss:
                    return found
        return None
