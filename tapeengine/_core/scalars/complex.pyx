"""Complex scalars that are being differentiated, and the functions of `cmath` on them.

A complex scalar has two real parts, which are recorded. An operator repeats on the parts what Python does on complex
numbers, in the same order, so that values agree to the bit; a function of `cmath` is a formula over the parts, with the
value that `cmath` gives. Functions of arrays get the number as an array without dimensions.
"""

from cpython.complex cimport PyComplex_CheckExact, PyComplex_ImagAsDouble, PyComplex_RealAsDouble
from cpython.float cimport PyFloat_Check, PyFloat_CheckExact
from cpython.long cimport PyLong_Check
from cpython.number cimport PyNumber_Float
from cpython.object cimport Py_EQ, Py_NE
from libc.math cimport fabs, floor, signbit
cimport cython

from tapeengine._core.scalars.parts cimport add, div, is_zero, mul, neg, one, sub, two, v, valued
from tapeengine._core.scalars.scalar cimport Dual, as_double, as_float, as_numpy, is_numpy, of_kind, other_precision
from tapeengine._core.tape.opcodes cimport (
    OP_ABS, OP_ADD, OP_ATAN2, OP_COS, OP_COSH, OP_DIV, OP_EXP, OP_HYPOT, OP_LOG, OP_MUL, OP_POW, OP_SIN, OP_SINH,
    OP_SQRT, OP_SUB,
)
from tapeengine._core.tape.tape cimport NUMPY_DOUBLES, PYTHON_FLOATS, above, traces

import cmath as python_cmath
import numbers
import operator

import numpy

from tapeengine._core.scalars.floatlike import refused
from tapeengine._core.scalars.scalar import with_value
from tapeengine._core.scalars.elements import element
from tapeengine.dropped import told
from tapeengine.errors import DroppedDerivativeError

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "e", "exp", "inf", "infj", "isclose", "isfinite",
    "isinf", "isnan", "log", "log10", "nan", "nanj", "phase", "pi", "polar", "rect", "sin", "sinh", "sqrt", "tan",
    "tanh", "tau",
]

pi, e, tau = python_cmath.pi, python_cmath.e, python_cmath.tau
inf, infj, nan, nanj = python_cmath.inf, python_cmath.infj, python_cmath.nan, python_cmath.nanj


cdef bint is_dual(object x):
    return type(x) is ComplexDual or type(x) is Dual


cdef object number(object x):
    """A number, or the element of an array without axes."""
    return x if is_dual(x) or isinstance(x, (float, complex)) else element(x, "fc")


cdef ComplexDual new(object re, object im):
    cdef ComplexDual z = ComplexDual.__new__(ComplexDual)
    z.re = re
    z.im = im
    return z


cdef object of_parts(object re, object im):
    """The complex number with two given parts; a plain complex where both parts are plain."""
    return new(re, im) if type(re) is Dual or type(im) is Dual else complex(re, im)


cdef object of_numpy(object z):
    """The same complex scalar, with the behaviour of numpy.complex128."""
    if type(z) is not ComplexDual:
        return numpy.complex128(z)
    (<ComplexDual> z).numpys = True
    return z


cdef ComplexDual like(ComplexDual z, ComplexDual result):
    result.numpys = z.numpys
    return result


cdef object as_complex(object x):
    """A number as a complex scalar; None for anything else."""
    cdef double value = 0.0
    cdef ComplexDual result
    if type(x) is ComplexDual:
        return x
    if type(x) is Dual:
        return new(x, 0.0)
    if PyComplex_CheckExact(x):
        return new(PyComplex_RealAsDouble(x), PyComplex_ImagAsDouble(x))
    if not other_precision(x) and as_double(x, &value):
        result = new(value, 0.0)
        result.numpys = is_numpy(x) and not PyFloat_Check(x)    # Python's complex numbers take a float64 for a float
        return result
    if isinstance(x, complex):
        return of_numpy(new(<double> x.real, <double> x.imag))
    return None


cdef object product(ComplexDual a, ComplexDual b):
    """(a.re + a.im i) (b.re + b.im i); a part that is a plain zero needs no record."""
    cdef double re = v(a.re) * v(b.re) - v(a.im) * v(b.im), im = v(a.re) * v(b.im) + v(a.im) * v(b.re)
    return of_parts(combined(a.re, b.re, a.im, b.im, OP_SUB, re), combined(a.re, b.im, a.im, b.re, OP_ADD, im))


cdef object combined(object a, object b, object c, object d, int op, double value):
    """a b op c d."""
    if is_zero(c) or is_zero(d):
        return valued(a, b, OP_MUL, value)
    if not (is_zero(a) or is_zero(b)):
        return valued(mul(a, b), mul(c, d), op, value)
    return valued(c, neg(d) if op == OP_SUB else d, OP_MUL, value)


cdef object size(object x):
    """The absolute value of a part, for comparisons."""
    return one(x, OP_ABS) if type(x) is Dual and traces.recordings else fabs(v(x))


cdef object quotient(ComplexDual a, ComplexDual b):
    """a / b, scaled by the larger part of b as Python and numpy do it."""
    if size(b.re) >= size(b.im):    # a comparison of duals, which a recording guards
        if b.re == 0.0:
            return quotient_by_zero(a, b)
        ratio = div(b.im, b.re)
        bottom = add(b.re, mul(b.im, ratio))
        return of_parts(div(add(a.re, mul(a.im, ratio)), bottom), div(sub(a.im, mul(a.re, ratio)), bottom))
    ratio = div(b.re, b.im)
    bottom = add(mul(b.re, ratio), b.im)
    return of_parts(div(add(mul(a.re, ratio), a.im), bottom), div(sub(mul(a.im, ratio), a.re), bottom))


cdef object quotient_by_zero(ComplexDual a, ComplexDual b):
    if not (a.numpys or b.numpys):
        raise ZeroDivisionError("complex division by zero")
    zero = size(b.re)
    zero = zero if type(zero) is Dual else numpy.float64(zero)
    return of_parts(div(a.re, zero), div(a.im, zero))


cdef object power(ComplexDual a, ComplexDual b):
    """a ** b: repeated squaring for small whole exponents, otherwise the polar form."""
    value = numpy.power(plain(a), plain(b)) if a.numpys or b.numpys else plain(a) ** plain(b)
    cdef double n = v(b.re)
    if is_zero(b.im) and PyFloat_CheckExact(b.re) and n == floor(n) and fabs(n) <= 100.0:
        return exactly(of_whole(a, <int> n), complex(value))
    if a.re == 0.0 and a.im == 0.0:
        return exactly(new(mul(a.re, 0.0), mul(a.im, 0.0)), complex(value))
    size, angle = two(a.re, a.im, OP_HYPOT), two(a.im, a.re, OP_ATAN2)
    length, phase = two(size, b.re, OP_POW), mul(angle, b.re)
    if not is_zero(b.im):
        length = div(length, one(mul(angle, b.im), OP_EXP))
        phase = add(phase, mul(b.im, one(size, OP_LOG)))
    return exactly(of_parts(mul(length, one(phase, OP_COS)), mul(length, one(phase, OP_SIN))), complex(value))


cdef object of_whole(ComplexDual a, int n):
    """a to a whole power, by squaring."""
    cdef int k = n if n >= 0 else -n
    result = None
    square = a
    while k:
        if k & 1:
            result = square if result is None else product(result, square)
        k >>= 1
        if k:
            square = product(square, square)
    if result is None:
        return 1 + 0j
    return quotient(new(1.0, 0.0), like(a, result)) if n < 0 else result


cdef object plain(object z):
    """The value of a complex scalar. A recording cannot recompute what Python computes from it or repeat errors."""
    if traces.recordings:
        return seen(z)
    if type(z) is ComplexDual:
        return complex(v((<ComplexDual> z).re), v((<ComplexDual> z).im))
    return complex(v(z)) if type(z) is Dual else z


cdef object seen(object z):
    """The value of a complex scalar, for the program to see."""
    if type(z) is ComplexDual:
        re, im = (<ComplexDual> z).re, (<ComplexDual> z).im
        return complex(re._value if type(re) is Dual else re, im._value if type(im) is Dual else im)
    return complex(z._value) if type(z) is Dual else z


cdef object exactly(object z, object value):
    """A complex scalar with the same derivative and the value of the whole operation."""
    if type(z) is not ComplexDual:
        return value
    cdef ComplexDual c = <ComplexDual> z
    return of_parts(part_with(c.re, PyComplex_RealAsDouble(value)), part_with(c.im, PyComplex_ImagAsDouble(value)))


cdef object part_with(object part, double value):
    """A part with the same derivative and another value; zeros of two signs are different values."""
    cdef double x = v(part)
    return part if x == value and signbit(x) == signbit(value) else with_value(part, value)


cdef object operated(object x, object y, int op):
    """x op y, where one of them is a complex scalar of a trace, or one a dual and the other complex."""
    a, b = as_complex(x), as_complex(y)
    if a is None or b is None:
        return NotImplemented
    cdef ComplexDual p = <ComplexDual> a, q = <ComplexDual> b
    if type(x) is not ComplexDual and is_numpy(x):  # Python's complex on the left computes itself
        p.numpys = True
    if op == OP_ADD:
        result = of_parts(add(p.re, q.re), add(p.im, q.im))
    elif op == OP_SUB:
        result = of_parts(sub(p.re, q.re), sub(p.im, q.im))
    elif op == OP_MUL:
        result = product(p, q)
    else:
        result = quotient(p, q) if op == OP_DIV else power(p, q)
    if not (p.numpys or q.numpys):
        return result
    if op == OP_DIV or (op != OP_POW and not is_finite(result)):    # numpy's operator also warns
        result = exactly(result, complex(python_operators[op](numpy.complex128(plain(p)), plain(q))))
    return of_numpy(result)


cdef bint is_finite(object z):
    return type(z) is not ComplexDual or (v((<ComplexDual> z).re) - v((<ComplexDual> z).im)) * 0.0 == 0.0


cdef object operator_of(object x, object y, int op):
    """The operator of two operands, one of them a complex scalar."""
    result = operated(x, y, op)
    return as_array_or_not(x, y, python_operators[op]) if result is NotImplemented else result


cdef object as_array_or_not(object x, object y, object by):
    """x op y with the array of numpy's complex number; NotImplemented for Python's, which read no sequences."""
    z = x if type(x) is ComplexDual else y
    if type(z) is not ComplexDual or not (<ComplexDual> z).numpys:
        return NotImplemented
    return by(*as_arrays((x, y)))


def operation(x, y, ufunc):
    """An operator on a dual and a complex number."""
    op = operators.get(ufunc)
    return NotImplemented if op is None else operated(x, y, op)


def make(*args, **options):
    """complex(real, imag) of numbers that may be traced."""
    if not any([is_dual(x) for x in (*args, *options.values())]):
        return complex(*args, **options)
    return of_numbers(*args, **options)


cdef object parts_of(object real, object imag):
    """complex(real, imag), where one of the two is traced."""
    a, b = as_complex(real), as_complex(imag)
    if a is None or b is None:
        return complex(real, imag)
    cdef ComplexDual p = <ComplexDual> a, q = <ComplexDual> b
    re = p.re if is_zero(q.im) else sub(p.re, q.im)
    return of_parts(re, q.re if is_zero(p.im) else add(p.im, q.re))


def of_numbers(real=0.0, imag=0.0):
    """complex(real, imag), with the parameter names of Python's complex."""
    return parts_of(real, imag)


cdef object part_of(ComplexDual z, object part):
    """A part for the program: numpy's number if z is one, otherwise Python's."""
    if type(part) is Dual:
        return as_numpy(<Dual> part) if z.numpys else as_float(<Dual> part)
    return numpy.float64(part) if z.numpys else part


cdef object from_array(object a):
    """The complex scalar that a traced complex array without dimensions holds."""
    re, im = a.real, a.imag
    return new(re if type(re) is Dual else re[()], im if type(im) is Dual else im[()])


@cython.final
cdef class ComplexDual:
    """A complex scalar that is being differentiated: a complex number whose parts are recorded on a tape.

    Attributes
    ----------
    real, imag : Dual or float
        Its parts.
    value : complex
        The value, without the derivative.

    Examples
    --------
    >>> import tapeengine as te
    >>> te.grad(lambda x: abs((x + 1j) * (x - 1j)))(3.0)
    6.0
    """

    def __init__(self, *args, **options):
        refused()

    @property
    def real(self):
        """The real part."""
        return part_of(self, self.re)

    @property
    def imag(self):
        """The imaginary part."""
        return part_of(self, self.im)

    @property
    def _value(self):
        """The value as a complex number, without the derivative."""
        return seen(self)

    def conjugate(self):
        """The complex conjugate."""
        return like(self, new(self.re, neg(self.im)))

    def __add__(x, y):
        return operator_of(x, y, OP_ADD)

    def __sub__(x, y):
        return operator_of(x, y, OP_SUB)

    def __mul__(x, y):
        return operator_of(x, y, OP_MUL)

    def __truediv__(x, y):
        return operator_of(x, y, OP_DIV)

    def __pow__(x, y, modulus):
        if modulus is not None:
            raise ValueError("complex modulo")
        return operator_of(x, y, OP_POW)

    def __neg__(self):
        return like(self, new(neg(self.re), neg(self.im)))

    def __pos__(self):
        return self

    def __abs__(self):
        size = valued(self.re, self.im, OP_HYPOT, abs(plain(self)))
        return of_kind(<Dual> size, NUMPY_DOUBLES if self.numpys else PYTHON_FLOATS)

    def __bool__(self):
        return bool(self.re != 0.0 or self.im != 0.0)

    def __richcmp__(x, y, int kind):
        if PyLong_Check(y) and not x.numpys and (kind == Py_EQ or kind == Py_NE):    # exactly, and of any size
            return (x.re == y and x.im == 0) == (kind == Py_EQ)
        other = as_complex(y) if kind == Py_EQ or kind == Py_NE else None
        if other is None:
            if type(y) is Dual and is_numpy(y):
                return comparisons[kind](x._array(), y)
            return as_array_or_not(x, y, comparisons[kind])
        result = bool(x.re == (<ComplexDual> other).re and x.im == (<ComplexDual> other).im)
        if kind == Py_NE:
            result = not result
        return numpy.bool_(result) if x.numpys or is_numpy(y) and not PyFloat_Check(y) else result

    def __getattr__(self, name):
        if self.numpys and (not name.startswith("__") or name == "__array_namespace__"):
            return getattr(self._array(), name)
        if name == "__array_struct__":    # numpy makes an array of objects, and takes them for real numbers
            raise DroppedDerivativeError(told(f"a dual number ({plain(self)!r})", "object of an array"))
        raise AttributeError(f"a traced complex number has no attribute {name!r}")

    def __getitem__(self, index):
        if self.numpys:
            return self._array()[index]
        raise TypeError("'complex' object is not subscriptable")

    def __hash__(self):
        return hash(self.re if type(self.re) is Dual else self.im)    # refused, with the reason

    def __repr__(self):
        return repr(numpy.complex128(seen(self)) if self.numpys else seen(self))

    def __str__(self):
        return str(seen(self))

    def __format__(self, spec):
        return format(seen(self), spec)

    def __complex__(self):
        raise DroppedDerivativeError(told(f"a dual number ({plain(self)!r})", "complex number"))

    def __reduce__(self):
        return self.re.__reduce__() if type(self.re) is Dual else self.im.__reduce__()

    def __reduce_ex__(self, protocol):
        return self.__reduce__()

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    # -- numpy's protocols --------------------------------------------------------------------------------------------
    @staticmethod
    def __tapeengine_trace__(primitive, args, static):
        """Record a call of a primitive."""
        return above("arrays.array").record(primitive, [x._array() if type(x) is ComplexDual else x for x in args], static)

    def _array(self):
        """The number as a traced array without dimensions."""
        return above("arrays.array").zero_dim_complex(self.re, self.im, not self.numpys)

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if method == "__call__" and not options:
            result = of_ufunc(ufunc, inputs)
            if result is not NotImplemented:
                return result
        for x in options.get("out", ()):
            if type(x) is ComplexDual:
                raise TypeError("return arrays must be of ArrayType")
        return getattr(ufunc, method)(*as_arrays(inputs), **options)

    def __array_function__(self, function, types, args, options):
        return function(*as_arrays(args), **options)


cdef object as_arrays(object args):
    """Arguments with arrays in place of traced complex scalars."""
    return type(args)([
        x._array() if type(x) is ComplexDual else as_arrays(x) if type(x) is list or type(x) is tuple else x for x in args])


cdef dict python_operators = {
    OP_ADD: operator.add, OP_SUB: operator.sub, OP_MUL: operator.mul, OP_DIV: operator.truediv, OP_POW: operator.pow,
}
cdef tuple comparisons = (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge)  # Py_LT to Py_GE
cdef dict operators = {
    numpy.add: OP_ADD, numpy.subtract: OP_SUB, numpy.multiply: OP_MUL, numpy.divide: OP_DIV, numpy.power: OP_POW,
}


cdef object of_ufunc(object ufunc, tuple inputs):
    """Call a ufunc on scalars; NotImplemented where Python's function raises and numpy's has an infinity or NaN."""
    try:
        return valued_by_numpy(ufunc, inputs)
    except (ArithmeticError, ValueError):
        return NotImplemented


cdef object valued_by_numpy(object ufunc, tuple inputs):
    """Call a ufunc on scalars, with numpy's value."""
    if len(inputs) == 2 and ufunc in operators:
        result = operated(inputs[0], inputs[1], operators[ufunc])
        if result is NotImplemented:
            return result
        return of_numpy(exactly(result, complex(ufunc(plain(inputs[0]), plain(inputs[1])))))
    if ufunc is numpy.absolute:
        z = <ComplexDual> inputs[0]
        return of_kind(valued(z.re, z.im, OP_HYPOT, numpy.absolute(plain(z))), NUMPY_DOUBLES)
    if ufunc is numpy.conjugate:
        return of_numpy(inputs[0].conjugate())
    function = functions.get(ufunc)
    if function is None:
        return NotImplemented
    return of_numpy(exactly(function(inputs[0]), complex(ufunc(plain(inputs[0])))))


cdef extern from *:
    """
    #define te_is_no_sequence(type) ((PyTypeObject *)(type))->tp_as_sequence->sq_item = NULL
    """
    void te_is_no_sequence(object type)

te_is_no_sequence(ComplexDual)  # numpy-style subscripts do not make a number a sequence


# -- the functions of cmath ---------------------------------------------------------------------------------------------
cdef ComplexDual times_i(ComplexDual z):
    return new(neg(z.im), z.re)


cdef ComplexDual over_i(ComplexDual z):
    return new(z.im, neg(z.re))


cdef ComplexDual exp_of(ComplexDual z, object value):
    size = one(z.re, OP_EXP)
    return new(valued(size, one(z.im, OP_COS), OP_MUL, value.real), valued(size, one(z.im, OP_SIN), OP_MUL, value.imag))


cdef ComplexDual log_of(ComplexDual z, object value):
    size = two(z.re, z.im, OP_HYPOT)
    return new(one(size, OP_LOG), valued(z.im, z.re, OP_ATAN2, value.imag))


cdef ComplexDual log10_of(ComplexDual z, object value):
    return <ComplexDual> as_complex(log(z) / c_log(10.0).real)


cdef ComplexDual sqrt_of(ComplexDual z, object value):
    """The square root, by the formula that computes its larger part first, without cancellation."""
    size = two(z.re, z.im, OP_HYPOT)
    if z.re >= 0.0:
        re = one(mul(0.5, add(size, z.re)), OP_SQRT)
        return new(re, div(z.im, mul(2.0, re)))
    im = one(mul(0.5, sub(size, z.re)), OP_SQRT)
    if value.imag < 0.0 or (value.imag == 0.0 and str(value.imag)[0] == "-"):
        im = neg(im)
    return new(div(z.im, mul(2.0, im)), im)


cdef ComplexDual sinh_of(ComplexDual z, object value):
    return new(valued(one(z.re, OP_SINH), one(z.im, OP_COS), OP_MUL, value.real),
               valued(one(z.re, OP_COSH), one(z.im, OP_SIN), OP_MUL, value.imag))


cdef ComplexDual cosh_of(ComplexDual z, object value):
    return new(valued(one(z.re, OP_COSH), one(z.im, OP_COS), OP_MUL, value.real),
               valued(one(z.re, OP_SINH), one(z.im, OP_SIN), OP_MUL, value.imag))


cdef ComplexDual sin_of(ComplexDual z, object value):
    return over_i(sinh_of(times_i(z), value * 1j))


cdef ComplexDual cos_of(ComplexDual z, object value):
    return cosh_of(times_i(z), value)


ctypedef ComplexDual (*formula)(ComplexDual, object)


cdef object apply(object x, object function, formula rule):
    """Apply a formula to one complex number, with the value that `cmath` gives."""
    x = number(x)
    if not is_dual(x):
        return function(x)
    value = function(plain(x))
    return exactly(rule(<ComplexDual> as_complex(x), value), value)


cdef object by_array(object x, object function, object ufunc):
    """Apply a function whose rule for arrays is exact where a formula in real and imaginary parts would cancel."""
    x = number(x)
    if not is_dual(x):
        return function(x)
    value = function(plain(x))
    return exactly(above("arrays.array").as_python(ufunc((<ComplexDual> as_complex(x))._array())), value)


cdef object c_log = python_cmath.log


def log(z, base=None, /):
    """Logarithm of z, natural or to the given base."""
    if base is None:
        return apply(z, c_log, log_of)
    z, base = number(z), number(base)
    if not (is_dual(z) or is_dual(base)):
        return c_log(z, base)
    value = c_log(plain(z), plain(base))
    return exactly(quotient(log_at(z), log_at(base)), value)


cdef ComplexDual log_at(object z):
    """The logarithm, also of 0, for which `cmath` raises an error only where no base is given."""
    value = plain(z)
    return log_of(<ComplexDual> as_complex(z), c_log(value) if value else complex(-python_cmath.inf))


include "elementary_complex.pxi"    # the functions generated from the opcode table


cdef object returned(object x):
    """A result of `cmath`: a Python float, whatever the argument was."""
    return as_float(<Dual> x) if type(x) is Dual else x


def phase(z, /):
    """The angle of z, in radians."""
    z = number(z)
    if not is_dual(z):
        return python_cmath.phase(z)
    cdef ComplexDual c = <ComplexDual> as_complex(z)
    return returned(two(c.im, c.re, OP_ATAN2))


def polar(z, /):
    """The absolute value and the angle of z."""
    z = number(z)
    return (returned(abs(as_complex(z))), phase(z)) if is_dual(z) else python_cmath.polar(z)


def rect(r, phi, /):
    """The complex number with a given absolute value and angle."""
    r, phi = number(r), number(phi)
    if not (is_dual(r) or is_dual(phi)):
        return python_cmath.rect(r, phi)
    r, phi = [x if type(x) is Dual else PyNumber_Float(x) for x in (r, phi)]
    value = python_cmath.rect(v(r), v(phi))
    return of_parts(valued(r, one(phi, OP_COS), OP_MUL, value.real), valued(r, one(phi, OP_SIN), OP_MUL, value.imag))


def isfinite(z, /):
    """Whether both parts are finite."""
    return python_cmath.isfinite(seen(number(z)))


def isinf(z, /):
    """Whether one of the parts is infinite."""
    return python_cmath.isinf(seen(number(z)))


def isnan(z, /):
    """Whether one of the parts is not a number."""
    return python_cmath.isnan(seen(number(z)))


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    """Whether two numbers are close to each other."""
    return python_cmath.isclose(seen(number(a)), seen(number(b)), rel_tol=rel_tol, abs_tol=abs_tol)


cdef extern from *:
    """
    #define te_name_it(type) ((PyTypeObject *)(type))->tp_name = "tapeengine.ComplexDual"  /* which errors of Python show */
    """
    void te_name_it(object type)

te_name_it(ComplexDual)
numbers.Complex.register(ComplexDual)
