# Checks of what a staged program captures; calls are replayed while nothing has changed.

cdef enum Watched:
    CELL                # of a closure
    ITEMS               # of a list
    ENTRIES             # of a dict: its keys, then its values
    NAMES               # of a dict: some keys are looked up, others are not in it
    FUNCTION            # its attributes
    ATTRIBUTES          # of another object that has them in a dict
    CONTENTS            # of an array
    ANYTHING            # the result of a function


@cython.final
@cython.freelist(16)
cdef class Check:
    """One captured object and its recorded contents."""

    cdef Watched kind
    cdef object watched
    cdef list saved
    cdef tuple names, absent
    cdef uint64_t version   # of the dict when it was last found to be the same

    cdef bint same(self) except -1:
        if self.kind == CELL:
            return self.cell()
        if self.kind == NAMES:
            return self.looked_up()
        if self.kind == ENTRIES:
            return self.entries(self.watched)
        if self.kind == FUNCTION:
            return self.attributes()
        if self.kind == ATTRIBUTES:
            return self.entries(self.watched.__dict__)
        if self.kind == CONTENTS:
            return same_memory(self.watched, self.saved[0]) or self.saved[1](self.watched, self.saved[0])
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

    Parameters
    ----------
    rest : callable, optional
        Returns whether everything else is unchanged.
    """

    cdef list each
    cdef object rest

    def __init__(self, rest=None):
        self.each = []
        self.rest = rest

    def __len__(self):
        return len(self.each)

    def add(self, watched, names=(), bint attributes=False):
        """Watch a cell, a list, a dict (only `names`, if given), the attributes of another object, or the result of a
        function.
        """
        cdef Check check = Check.__new__(Check)
        check.watched = watched
        if type(watched) is dict and names:
            check.kind = NAMES
            check.names = tuple([name for name in names if name in watched])
            check.absent = tuple([name for name in names if name not in watched])
            check.saved = [watched[name] for name in check.names]
        elif type(watched) is dict:
            check.kind = ENTRIES
            check.saved = [*watched, *watched.values()]
        elif type(watched) is list:
            check.kind, check.saved = ITEMS, list(watched)
        elif type(watched) is types.CellType:
            check.kind = CELL
            check.saved = [] if te_cell(watched) == NULL else [watched.cell_contents]
        elif attributes and type(watched) is types.FunctionType:
            check.kind, check.saved = FUNCTION, [*vars(watched), *vars(watched).values()]
        elif attributes:
            check.kind, check.saved = ATTRIBUTES, [*watched.__dict__, *watched.__dict__.values()]
        else:
            check.kind, check.saved = ANYTHING, list(watched())
        self.each.append(check)

    def add_array(self, watched, saved, compare):
        """Watch an array; ``compare(array, saved)`` decides where its memory is no single block of numbers."""
        cdef Check check = Check.__new__(Check)
        check.kind, check.watched, check.saved = CONTENTS, watched, [saved, compare]
        self.each.append(check)

    cpdef bint same(self) except -1:
        """Whether nothing has changed."""
        cdef Py_ssize_t i
        for i in range(PyList_GET_SIZE(self.each)):
            if not (<Check> PyList_GET_ITEM(self.each, i)).same():
                return False
        return self.rest is None or self.rest()


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
