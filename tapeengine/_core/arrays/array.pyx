"""Traced arrays: views of storages, with numpy's operators, indexing and assignment.

A storage owns the values and, in a reverse pass, one buffer of cotangents of the same layout. Basic slices, transposes
and broadcasts are further views of it: no record and no copy. Reading or writing one element is one record with storage
and offset. A storage is copied once, at its first write, if a rule or the caller still needs its values.

Within an inner trace the values of an array may be arrays of an outer trace; the rules that keep them are then recorded
on the outer trace when they run.

The class and the functions that its methods call are one module: storages and views are in `storing.pxi`, reads and
writes in `indexing.pxi`, calls of primitives in `calls.pxi`.
"""

cimport cython
from cpython.array cimport array
from cpython.buffer cimport PyBUF_ANY_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE
from cpython.contextvars cimport get_value
from cpython.dict cimport PyDict_GetItem
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from cpython.long cimport PyLong_CheckExact
from cpython.number cimport PyNumber_Float
from cpython.object cimport PyObject, PyObject_RichCompare, visitproc
from cpython.pythread cimport PyThread_get_thread_ident
from cpython.ref cimport Py_REFCNT
from libc.math cimport isfinite
from libc.stdint cimport uint32_t
from libc.string cimport memcmp, memcpy
from tapeengine._core.scalars.complex cimport ComplexDual, as_arrays
from tapeengine._core.scalars.scalar cimport (
    Dual, as_double, as_kind, head_of_dual, is_numpy, new_dual, of_kind, other_precision, takes_one, value_seen,
)
from tapeengine._core.tape cimport numpy_c as cnp
from tapeengine._core.tape.accumulation cimport (
    ArrayRecord, Block, Reverse, Rows, Tangents, View, aligned, fitted, record_array, repeats, strided, view_of,
)
from tapeengine._core.tape.tape cimport copied_id
from tapeengine._core.tape.numpy_c cimport (
    NPY_ARRAY_WRITEABLE, NPY_BOOL, NPY_CDOUBLE, NPY_CFLOAT, NPY_DOUBLE, NPY_FLOAT, NPY_KEEPORDER, NPY_OBJECT,
    NPY_UINT32, NPY_UINT64, PyArray_CLEARFLAGS, PyArray_DATA, PyArray_DIMS, PyArray_DescrFromType, PyArray_ISBEHAVED_RO,
    PyArray_ISCOMPLEX, PyArray_ISNOTSWAPPED, PyArray_ISWRITEABLE, PyArray_IS_C_CONTIGUOUS, PyArray_IS_F_CONTIGUOUS,
    PyArray_ITEMSIZE, PyArray_NBYTES, PyArray_NDIM, PyArray_NewCopy, PyArray_SIZE, PyArray_STRIDES, PyArray_TYPE,
    PyTypeNum_ISCOMPLEX, ndarray,
)
from tapeengine._core.tape.opcodes cimport OP_ADD, OP_DIV, OP_MUL, OP_NEG, OP_POW, OP_SUB
from tapeengine._core.tape.tape cimport (
    ARRAY, INPUT, NUMPY_DOUBLES, PYTHON_FLOATS, READ, SPECIAL, WRITE, Head, Record, Tape, first_id, head_of,
    above, innermost_here, op_at, record_at, record_special, tape_of, traces,
)

import math
import operator
import warnings
from bisect import bisect_left
from functools import partial
from operator import index as whole_number
from types import GenericAlias

import numpy

from tapeengine._core.arrays.reports import MODES, errors_stop, scalar_item
from tapeengine._core.scalars.complex import of_numbers as complex_of
from tapeengine._core.scalars.floatlike import ComplexLike, SingleLike, refused
from tapeengine._core.scalars.scalar import opcode_of
from tapeengine._core.scalars.sequences import joins
from tapeengine._core.tape.above import ABOVE
from tapeengine._core.tape.swallowed import OPEN, carry, forget as forget_refused
from tapeengine.dropped import MEMORY_OF_PLAIN, is_asked_by_engine, is_formatting, refuse_shuffle, told
from tapeengine.errors import DroppedDerivativeError, MissingAttributeError, TraceError, UnsupportedError, pass_on
from tapeengine.primitive.rule_checks import CheckedRule
from tapeengine.primitive.spaces import Space

cnp.import_array()

cdef object array_class = numpy.ndarray

cdef extern from "Python.h":
    object PySeqIter_New(object sequence)
    PyObject *PyEval_GetGlobals()

#: Attributes that show whose memory it is, or that numpy asks of other classes.
cdef list OF_OWNERS = "base resize __array_priority__ __array_wrap__ __array_struct__".split()
cdef object INDEX_IT = "Index it (a[0], or a.item() of one element) to get a scalar that is still traced. "
cdef object np_add = numpy.add, np_subtract = numpy.subtract, np_multiply = numpy.multiply
cdef object np_divide = numpy.true_divide, np_power = numpy.power, np_matmul = numpy.matmul
cdef object np_remainder = numpy.remainder, np_floor_divide = numpy.floor_divide, np_divmod = numpy.divmod
cdef object np_negative = numpy.negative, np_absolute = numpy.absolute
#: Indexed by Python's codes of comparisons.
cdef tuple COMPARISONS = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)


include "storing.pxi"
include "indexing.pxi"
include "calls.pxi"


@cython.final
@cython.no_gc
@cython.freelist(256)
cdef class Storage:
    """The values that one or more traced arrays are views of."""


@cython.final
@cython.no_gc
@cython.freelist(256)
cdef class Array:
    """An array that is being differentiated: it behaves like a numpy array, and operations on it are recorded.

    A transform such as `vjp` passes traced arrays to the program; inside it, the creation functions of
    `tapeengine.numpy` make them. They are views of storages: slices, transposes and reshapes alias as in numpy, and
    assignment is differentiated. Comparisons look at the values.

    Examples
    --------
    >>> import numpy, tapeengine as te
    >>> te.grad(lambda a: (a[1:] * a[:-1]).sum())(numpy.array([1.0, 2.0, 3.0]))
    array([2., 4., 2.])
    """

    def __init__(self, *args, **options):
        refused()

    cdef object current(self):
        """The present values, also after the storage was copied for a write."""
        cdef Storage s = self.storage
        cdef bint locked
        if self.epoch != s.epoch:
            locked = not PyArray_ISWRITEABLE(plain(self.values))
            view = view_of(plain(self.values), s.index, self.offset, s.size)
            if type(s.base) is Array:
                self.values = view_by(<Array> s.base, view)
            else:
                self.values = strided(s.data, view, s.base)
            if locked:
                PyArray_CLEARFLAGS(plain(self.values), NPY_ARRAY_WRITEABLE)
            self.epoch = s.epoch
        return self.values

    @classmethod
    def __class_getitem__(cls, item):
        """The type of an array of some element type, as in `Array[Vec]`, for annotations of programs."""
        return GenericAlias(cls, item)

    @staticmethod
    def __tapeengine_trace__(primitive, args, static):
        """Record a call of a primitive."""
        return apply(primitive, tuple(args), static)

    @property
    def __class__(self):
        """A class of numbers for a number, which is no array in the plain program."""
        if not self.storage.number:
            return Array
        return ComplexLike if self.dtype.kind == "c" else SingleLike

    # -- attributes of numpy's arrays ---------------------------------------------------------------------------------
    @property
    def _value(self) -> NDArray[Any]:
        """The values as a plain array, without the derivative; always a copy."""
        return seen(self).copy("K")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return (<object> plain(self.values)).shape

    @shape.setter
    def shape(self, shape):
        cdef Array part = viewed(self, self.current().reshape(shape))
        if part is None:
            raise AttributeError("incompatible shape for in-place modification. Use `.reshape()` to make a copy with "
                                 "the desired shape")
        self.values = part.values

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return PyArray_NDIM(plain(self.values))

    @property
    def size(self) -> int:
        """The number of elements."""
        return PyArray_SIZE(plain(self.values))

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """The dtype."""
        return (<object> plain(self.values)).dtype

    @property
    def __numpy_dtype__(self):
        """What `numpy.dtype` reads before `dtype`: only numbers stand for their dtype."""
        if not is_number(self):
            raise TypeError("Cannot construct a dtype from an array")
        return self.dtype

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return PyArray_ITEMSIZE(plain(self.values))

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes."""
        return (<object> plain(self.values)).nbytes

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides, in bytes."""
        return (<object> plain(self.values)).strides

    @property
    def flags(self):
        """numpy's flags of the values."""
        return (<object> plain(self.values)).flags

    @property
    def T(self) -> Array:
        """The transpose, a view."""
        return viewed(self, self.current().T)

    @property
    def mT(self) -> Array:
        """The transpose of the last two axes, a view."""
        return viewed(self, self.current().mT)

    @property
    def real(self):
        """The real part: a view of a complex array, a real array itself."""
        return part_of(self, "real") if is_complex(self) else self

    @real.setter
    def real(self, value):
        put(self.real, Ellipsis, value)

    @property
    def imag(self):
        """The imaginary part: a view of a complex array, zeros for a real one."""
        return part_of(self, "imag") if is_complex(self) else plain(self.values).imag[() if self.storage.number else ...]

    @imag.setter
    def imag(self, value):
        if not is_complex(self):
            raise TypeError("array does not have imaginary part to set")
        put(self.imag, Ellipsis, value)

    @property
    def flat(self):
        """The elements in C order, for reading, writing and iteration."""
        return method_of("flat")(self)

    @flat.setter
    def flat(self, value):
        method_of("flat")(self)[:] = value

    def __len__(self):
        if PyArray_NDIM(plain(self.values)) == 0:
            raise TypeError("len() of unsized object")
        return len(plain(self.values))

    def __iter__(self) -> Iterator[Any]:
        if PyArray_NDIM(plain(self.values)) == 0:
            raise TypeError("iteration over a 0-d array")
        return PySeqIter_New(self)

    def __getitem__(self, index):
        return get(self, index)

    def __setitem__(self, index, value) -> None:
        put(self, index, value)

    def __delitem__(self, index) -> NoReturn:
        raise ValueError("cannot delete array elements")

    def __getattr__(self, name: str):
        method = method_of(name)
        if method is not None:
            return method(self)
        if self.storage.active or type(self.values) is Array or name in OF_OWNERS:
            raise missing_attribute(name)
        self.storage.lent += "_interface_" in name      # which gives the address only
        return getattr(numpy.asarray(self), name)

    # -- copies -------------------------------------------------------------------------------------------------------
    def copy(self, order: str = "C") -> Array:
        """A copy with its own storage; a number, which nothing changes, is its own copy."""
        return self if self.storage.number else read_part(self, None, order)

    def __copy__(self) -> Array:
        return self.copy("K")

    def __deepcopy__(self, memo: object) -> Array:
        return self.copy("K")

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
        if modulus is not None:
            return NotImplemented
        return operate(np_power, x, y, OP_POW)

    def __mod__(x, y):
        return operate(np_remainder, x, y)

    def __floordiv__(x, y):
        return operate(np_floor_divide, x, y)

    def __divmod__(x, y):
        return operate(np_divmod, x, y)

    def __matmul__(x, y):
        if not (has_axes(x) or has_axes(y)):
            return NotImplemented
        result = ufunc_call(np_matmul, (x, y))
        return operate(np_matmul, x, y) if result is NotImplemented else result

    def __neg__(self):
        return operate(np_negative, self, None, OP_NEG)

    def __abs__(self):
        if self.storage.number and is_complex(self):    # numpy's loop for arrays rounds elsewhere
            return numpy.hypot(self.real, self.imag)
        return need_rules(self, "absolute").ufunc(np_absolute, "__call__", (self,), {})

    def __pos__(self):
        if PyArray_IS_C_CONTIGUOUS(plain(self.values)):
            return read_part(self, None) if PyArray_NDIM(plain(self.values)) else get(self, ())
        return numpy.positive(self)

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

    def __ifloordiv__(self, y):
        return in_place(self, np_floor_divide, y)

    def __imod__(self, y):
        return in_place(self, np_remainder, y)

    def __imatmul__(self, y):
        return NotImplemented if self.storage.number else in_place(self, np_matmul, y)

    def __richcmp__(x, y, int kind):
        return compared(x, y, kind)

    def __bool__(self):
        return bool(seen(self))

    def __int__(self) -> int:
        return int(as_seen(self))

    def __floor__(self) -> int:
        return math.floor(as_seen(self))

    def __ceil__(self) -> int:
        return math.ceil(as_seen(self))

    def __round__(self, ndigits=None):
        """Round a number as Python does; the result is discrete. Arrays raise an error, as numpy's do."""
        if not self.storage.number:
            raise TypeError("type numpy.ndarray doesn't define __round__ method: use numpy.round(x, decimals)")
        return round(as_seen(self), ndigits)

    def __contains__(self, x) -> bool:
        return numbers_of(x) in seen(self)

    def __hash__(self) -> NoReturn:
        raise DroppedDerivativeError(
            f"a traced array of shape {self.shape} has no hash, like numpy's arrays. Use tapeengine.value(x) of a "
            "number as the key if only the value matters")

    def __repr__(self):
        return repr(as_seen(self))

    def __str__(self):
        return str(seen(self))

    def __format__(self, spec):
        return format(seen(self), spec)

    # -- numpy's protocols --------------------------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc, method: str, *inputs, **options):
        if type(inputs[0]) is ndarray and in_series():
            ABOVE.check_series()
        if not options and method == "__call__":
            result = ufunc_call(ufunc, inputs)
            if result is not NotImplemented:
                return result
        return need_rules(self, ufunc.__name__).by_name(ufunc, method, inputs, options)

    def __array_function__(self, function, types, args, options):
        if in_series():
            ABOVE.check_series()
        return need_rules(self, function.__name__).function(function, args, options)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        """The memory of an array that depends on no input, which numpy and other readers of buffers share."""
        cdef Head *h = head_of(self.storage.tag)
        if self.storage.active or type(self.values) is Array:
            if flags & (PyBUF_FORMAT | PyBUF_WRITABLE):     # numpy tries these first, and drops the error
                raise TypeError("a bytes-like object is required, not 'tapeengine.Array'")
            raise dropped(self, "buffer", MEMORY_OF_PLAIN)
        make_writable(self.storage)
        if is_recording(h):
            h.guards.lost = b"it may write to the memory of an array by a plain one"
        te_show(self.current(), buffer, flags)
        buffer.obj = self
        # numpy.ndarray.__new__ asks so; it releases the buffer at once and keeps the address
        self.storage.lent += 1 + (flags & PyBUF_ANY_CONTIGUOUS == PyBUF_ANY_CONTIGUOUS)

    def __releasebuffer__(self, Py_buffer *buffer):
        self.storage.lent -= 1
        te_hide(buffer)

    # -- operations that would lose the derivative --------------------------------------------------------------------
    def __array__(self, dtype=None, copy=None):
        if self.storage.active and (dtype is None or numpy.dtype(dtype).kind not in "biu"):  # as astype does
            unread = offered_back(self)
            if unread is not None:
                return unread
            raise dropped(self, "array", "")
        return numpy.array(seen(self), dtype=dtype)

    def __float__(self) -> NoReturn:
        if self.storage.active and not is_formatting():
            raise dropped(self, "float", "Take its real part, z.real. " if self.dtype.kind == "c" else INDEX_IT)
        return PyNumber_Float(as_seen(self))

    def __complex__(self) -> NoReturn:
        if self.storage.active:
            raise dropped(self, "complex number", INDEX_IT)
        return complex(seen(self))

    def __reduce__(self):
        if type(constant_of(self)) is not Array:
            return as_seen(self).__reduce__()
        raise DroppedDerivativeError(
            f"a traced array of shape {self.shape} cannot be pickled: it refers to a tape of this process. Send "
            "plain arrays to other processes; tapeengine.value(x) gives one")

    def __reduce_ex__(self, protocol):
        return self.__reduce__()


cdef object dropped(Array a, str kind, str hint):
    """The error for an array that would be converted to a plain value."""
    return DroppedDerivativeError(told(f"a traced array of shape {a.shape}", kind, hint))


cdef object as_seen(Array a):
    """The value, which is a number if the array stands for one."""
    return seen(a)[()] if a.storage.number else seen(a)


cdef bint has_axes(object x) noexcept:
    """Whether an operand is an array, of shape () too, and no number: numbers have no `@`."""
    return not (<Array> x).storage.number if type(x) is Array else isinstance(x, array_class)


cdef bint is_complex(Array a) except -1:
    """Whether an array is complex."""
    return PyArray_ISCOMPLEX(plain(a.values))


cdef object part_of(Array a, str name):
    """The real or imaginary part of an array: a view; a number if the array stands for one."""
    cdef Array whole = a
    base = a
    while type(base) is Array:
        if (<Array> base).storage.number:   # in any outer trace: the part is a number, not a view
            whole = read_part(a, None)
            break
        base = (<Array> base).storage.base
    part = viewed(whole, getattr(whole.current(), name))
    if part is None:
        raise UnsupportedError(f"parts of {a.dtype} arrays are not differentiated: convert them with astype(complex)")
    if a.storage.python:
        return as_python(read_number(part))
    return read_number(part) if a.storage.number else part


cdef object offered_back(Array a):
    """The operand that makes Python ask the traced array when the other is of another library's class, or None."""
    return ABOVE.as_object_for_operators(a)


cdef object methods = None


cdef object method_of(name):
    """The function for a method by name; methods other than operators are defined with the numpy protocols."""
    global methods
    if methods is None:
        methods = ABOVE.methods()
    return methods.get(name)


cdef bint in_series() noexcept:
    """Whether the caller is a function of numpy.polynomial."""
    cdef PyObject *names = PyEval_GetGlobals()
    cdef PyObject *package = NULL if names == NULL else PyDict_GetItem(<object> names, "__package__")
    return package != NULL and type(<object> package) is str and <str> package == "numpy.polynomial"


cdef object missing_attribute(name):
    """The error for a missing attribute: an explanation if numpy's values have that attribute."""
    if not (hasattr(numpy.ndarray, name) or hasattr(numpy.float64, name)):
        return AttributeError(f"a traced array has no attribute {name!r}")
    return MissingAttributeError(
        f"a traced value has no attribute {name!r}: numpy's result there has no derivative, or is memory whose changes "
        f"the trace does not see. Copy and index instead; tapeengine.value(x).{name} drops the derivative "
        "on purpose")


# -- operators: the kernels first, then the rules of the trace ----------------------------------------------------------
cdef object operate(object ufunc, object x, object y, int op=-1):
    """Apply a binary operator; at least one operand is a traced array."""
    if op >= 0 and kernels.elementwise != NULL:
        result = kernels.elementwise(op, ufunc, x, y)
        if result is not NotImplemented:
            return result
    a, other = (x, y) if type(x) is Array else (y, x)
    if getattr(type(other), "__array_ufunc__", type) is None:    # numpy's rule: the other class decides
        return NotImplemented
    rules = need_rules(<Array> a, ufunc.__name__)
    if ufunc is np_power or ufunc is np_multiply and (<Array> a).storage.number:
        return rules.operator(ufunc, x, y)
    return rules.ufunc(ufunc, "__call__", (x, y)[:ufunc.nin], {})


cpdef int is_number(object x) except -1:
    """Whether x is a number, also a traced one of any precision; 2 for an array in place of a complex one of Python."""
    if type(x) is Array:
        return (<Array> x).storage.number + (<Array> x).storage.python
    return type(x) is Dual or type(x) is float or type(x) is int or isinstance(x, (numpy.generic, complex))


cdef object ufunc_call(object ufunc, tuple inputs):
    """Call a ufunc by the kernels; NotImplemented if they do not fit."""
    if ufunc is numpy.matmul:
        return kernels.product(inputs[0], inputs[1])
    op = opcode_of(ufunc)
    if op is None:
        return NotImplemented
    return kernels.elementwise(op, ufunc, inputs[0], inputs[1] if len(inputs) == 2 else None)


cdef object in_place(Array a, object ufunc, object y, int op=-1):
    """a op= y: the operation, and a write of its result."""
    if is_foreign(y):
        if getattr(type(y), "__array_ufunc__", type) is None:
            return NotImplemented
        y = need_rules(a, ufunc.__name__).operand_in_place(ufunc, a, y)
    if a.storage.number:    # a scalar has no in-place operators: Python rebinds the name
        return operate(ufunc, a, y, op)
    try:
        result = operate(ufunc, a, y, op)
        if result is NotImplemented:
            return result
        if result.shape != a.shape or not numpy.can_cast(result.dtype, a.dtype, "same_kind"):
            raise ValueError(f"a result of shape {result.shape} and dtype {result.dtype} does not fit into one of shape "
                             f"{a.shape} and dtype {a.dtype}")
    except (TypeError, ValueError) as error:
        raise need_rules(a, ufunc.__name__).error_in_place(error, ufunc, a, y) from error.__cause__
    put(a, Ellipsis, result)
    return a


cdef object compared(object x, object y, int kind):
    """Compare the values of two operands."""
    outcome = PyObject_RichCompare(unseen(x), unseen(y), kind)
    if traces.recordings:
        look_at(COMPARISONS[kind], (x, y), outcome)
    return outcome


cdef object unseen(object x):
    """The values of an operand for a comparison, which notes only the outcome."""
    if type(x) is Array:
        values = plain((<Array> x).current())
        return values[()] if (<Array> x).storage.number and not (<Array> x).storage.python else values
    if type(x) is Dual:
        return (<Dual> x).v
    return numbers_of(ABOVE.given(x)) if is_foreign(x) else x


cdef extern from *:
    """
    static PyObject *te_not_concatenated(PyObject *array, PyObject *other) {
        PyErr_SetString(PyExc_TypeError, "operator.concat is not implemented for arrays, as in numpy: "
                                         "write numpy.concatenate([a, b])");
        return NULL;
    }
    /* The buffer of an array of numpy, which it keeps alive; the owner becomes the caller's. */
    static int te_show(PyObject *values, Py_buffer *buffer, int flags) {
        Py_buffer shown;
        if (PyObject_GetBuffer(values, &shown, flags) < 0)
            return -1;
        shown.internal = shown.obj;
        shown.obj = buffer->obj;
        *buffer = shown;
        return 0;
    }
    static void te_hide(Py_buffer *buffer) {
        Py_DECREF((PyObject *)buffer->internal);
    }
    static void te_complete(PyObject *type) {
        ((PyTypeObject *)type)->tp_as_sequence->sq_concat = te_not_concatenated;  /* without it operator.concat adds */
        ((PyTypeObject *)type)->tp_name = "tapeengine.Array";  /* which errors of Python show */
    }
    """
    int te_show(object values, Py_buffer *buffer, int flags) except -1
    void te_hide(Py_buffer *buffer)
    void te_complete(object type)

te_complete(Array)
