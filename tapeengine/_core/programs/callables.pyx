"""Callables of the engine's users: memoised, lifted and transformed functions; stand-ins of classes."""

from cpython.dict cimport PyDict_GetItem
from cpython.object cimport PyObject, PyObject_IsInstance, PyTypeObject, Py_TYPE
cimport cython
from cpython.type cimport PyType_Check
from cpython.float cimport PyFloat_Check, PyFloat_CheckExact

from tapeengine._core.arrays.array cimport Array
from tapeengine._core.scalars.complex cimport ComplexDual
from tapeengine._core.scalars.scalar cimport Dual, as_float, is_numpy
from tapeengine._core.tape.tape cimport innermost_here

import builtins
import copyreg
import operator
from abc import ABCMeta
from functools import partial
from types import GenericAlias, MethodType, UnionType
from typing import Hashable, SupportsFloat, Union

import numpy

from tapeengine._core.scalars.complex import make as make_complex
from tapeengine._core.tape.tape import outside
from tapeengine.errors import DroppedDerivativeError
from tapeengine.naming import method_of, new_of, reduced
from tapeengine.structure import Transformed
from tapeengine._core.scalars.floatlike import FloatLike

cdef extern from "Python.h":
    PyObject *_PyType_Lookup(type cls, object name)
    bint PyFunction_Check(object x)

cdef extern from *:
    """
    static int te_calls_by_c(int more) {
    #if PY_VERSION_HEX >= 0x030C0000 && PY_VERSION_HEX < 0x030E0000
        return PyThreadState_Get()->c_recursion_remaining += more;
    #else
        return 0x7fffffff;
    #endif
    }
    """
    int te_calls_by_c(int more)


def calls_by_c(int more) -> int:
    """Allow this thread deeper calls by C code, and return how many are left."""
    # Python 3.12 and 3.13 count them apart from those that `sys.setrecursionlimit` limits; others have no such count.
    return te_calls_by_c(more)


def own_derivative(program: Callable[..., Any], name: str) -> Callable[..., Any] | None:
    """Return the method `name` of a program's class, found like Python's special methods; None if it has none."""
    # `getattr` would raise and catch an exception for each program that has none, which is a tenth of the time to enter
    # and leave `vjp`.
    cdef PyObject *found = _PyType_Lookup(type(program), name)
    if found == NULL:
        return None
    return <object> found if PyFunction_Check(<object> found) else getattr(type(program), name)


cdef bint is_dual(object x) except -1:
    if type(x) is tuple:
        for item in <tuple> x:
            if is_dual(item):
                return True
        return False
    return type(x) is Dual or type(x) is Array or type(x) is ComplexDual


cdef class Made:
    """A function that pickles as the call that made it."""

    cdef readonly object function       # what a call runs
    cdef readonly object make           # make(*args) makes this object again, in this process or another
    cdef readonly tuple args
    cdef dict __dict__
    cdef object __weakref__

    def __init__(self, function: Callable[..., Any], make: Callable[..., Any], args: tuple[Any, ...]):
        self.function = function
        self.make = make
        self.args = args

    def __call__(self, *args, **options):
        return self.function(*args, **options)

    def __get__(self, instance, owner):
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self):
        return reduced(self, getattr(self, "__wrapped__", None), (self.make, self.args))

    def __repr__(self):
        return f"<function {getattr(self, '__qualname__', 'made')}>"


Transformed.register(Made)


@cython.final
cdef class Memoised:
    """A function and its memoised form; calls with traced arguments are not cached."""

    cdef object function
    cdef object cached      # the result of functools.lru_cache for the function
    cdef dict __dict__

    def __init__(self, function: Callable[..., Any], cached: Callable[..., Any]):
        self.function = function
        self.cached = cached

    def __call__(self, *args, **options):
        for x in args:
            if is_dual(x):
                return self.function(*args, **options)
        if options:
            for x in options.values():
                if is_dual(x):
                    return self.function(*args, **options)
        if innermost_here() != NULL:    # the cache outlives the trace
            try:
                hash((args, *options.values()))
            except DroppedDerivativeError:      # of an object whose hash is that of a traced field
                return self.function(*args, **options)
            except TypeError:       # which the cache raises
                pass
            return outside(self.cached, *args, **options)
        return self.cached(*args, **options)

    def __get__(self, instance, owner):
        return self if instance is None else MethodType(self, instance)

    def __getattr__(self, name: str):
        return getattr(self.cached, name)

    def __reduce__(self):
        return self.__qualname__


@cython.final
cdef class Linked(Made):
    """A function with its own bindings of module names, which are checked before each call."""

    cdef dict there         # the present values of the module's names
    cdef dict seen          # their values when they were bound
    cdef list used          # the names in use
    cdef dict classes       # the module's classes that have twins
    cdef object refresh     # binds the names again
    cdef object around      # wraps each call if there are such classes, or if the function assigns to names
    cdef bint writes        # whether it does

    def __init__(self, function, make, args, names, around, writes):
        Made.__init__(self, function, make, args)
        self.there, self.seen, self.used, self.classes = names.there, names.seen, names.used, names.classes
        self.refresh, self.around, self.writes = names.refresh, around, writes

    def __call__(self, *args, **options):
        if changed(self.there, self.seen, self.used) is not None:
            self.refresh()
        if self.writes or self.classes:
            return self.around(*args, **options)
        return self.function(*args, **options)


cpdef object changed(dict there, dict seen, list names):
    """The first name whose value has changed; None if none has."""
    for name in names:
        if PyDict_GetItem(there, name) != PyDict_GetItem(seen, name):
            return name
    return None

include "standins.pxi"
