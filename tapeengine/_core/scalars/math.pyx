"""`tapeengine.math`: the functions of the `math` module, and a few more, on floats and on duals.

A plain float is computed here with the value of `math`; where C's result is not decisive (an infinity or a NaN may be
an error in `math`), `math` itself is called. A dual gets the same value and is recorded.
"""

import math as python_math
from functools import partial

from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.number cimport PyNumber_Multiply
from libc.math cimport isfinite as is_finite, isinf as is_infinite, isnan as is_nan

from tapeengine._core.scalars.scalar cimport (
    Dual, answer, answered, as_double, binary_of, head_of_dual, look, new_dual, of_kind, partial_a, unary_of,
    value_of_op, value_seen,
)
from tapeengine._core.tape.guards cimport TE_FINITE, TE_INFINITE, TE_NAN
from tapeengine._core.tape.opcodes cimport (
    OP_ADD, OP_FMOD, OP_GAMMA, OP_HYPOT, OP_LGAMMA, OP_LOG, OP_MUL, OP_POLYGAMMA,
)
from tapeengine._core.tape.tape cimport Head, PYTHON_FLOATS, record_function, traces

from tapeengine._core.scalars import discrete, spread
from tapeengine._core.scalars.elements import element
from tapeengine.errors import UnsupportedError


pi, e, tau, inf, nan = python_math.pi, python_math.e, python_math.tau, python_math.inf, python_math.nan
comb, factorial, gcd, isqrt, lcm, perm = (
    python_math.comb, python_math.factorial, python_math.gcd, python_math.isqrt, python_math.lcm, python_math.perm)
ceil, floor, trunc = python_math.ceil, python_math.floor, python_math.trunc

cdef object number(object x):
    """A number, or the element of an array without axes."""
    return x if type(x) is Dual or isinstance(x, (float, int)) else element(x)


cdef object plain(object x):
    """The value of a dual, which the program then knows; anything else unchanged."""
    x = number(x)
    return value_seen(<Dual> x) if type(x) is Dual else x


cdef object returned(object x):
    """A result of `math`: a Python float, whatever the arguments were."""
    return of_kind(<Dual> x, PYTHON_FLOATS) if type(x) is Dual else x


cdef object value_of(object x):
    """The value of a dual, which the program does not see; anything else unchanged."""
    return (<Dual> x).v if type(x) is Dual else x


cdef list values_of(object xs):
    return [value_of(x) for x in xs]


cdef object computed(object function, tuple operands):
    """The value of a function; an error also tells the program about the values of the operands."""
    try:
        return function(*values_of(operands))
    except (ValueError, ArithmeticError):
        for x in operands:
            plain(x)
        raise


cdef tuple numbers(object xs):
    cdef tuple items = tuple(xs)
    for x in items:
        if type(x) is not Dual and not PyFloat_CheckExact(x):
            return tuple([number(x) for x in items])
    return items


cdef bint any_dual(object xs) except -1:
    for x in xs:
        if type(x) is Dual:
            return True
    return False


cdef inline object unary(object x, const int op, object fallback):
    """A function of one real for which C's library and `math` give the same value."""
    cdef double a, v
    cdef Head *h
    if PyFloat_CheckExact(x):
        v = value_of_op(op, PyFloat_AS_DOUBLE(x), 0.0)
        return v if is_finite(v) else fallback(x)
    if type(x) is Dual:
        a = (<Dual> x).v
        v = value_of_op(op, a, 0.0)
        if not is_finite(v):
            v = fallback(value_seen(<Dual> x))     # an error also tells the program about the value
        h = traces.current
        if h.tag != (<Dual> x).tag:
            h = head_of_dual(<Dual> x)
        return new_dual(v, record_function(h, op, (<Dual> x).id, partial_a(op, a, 0.0, v), PYTHON_FLOATS, v), (<Dual> x).tag)
    return unary_of_python(x, op, fallback)


cdef object unary_of_table(object x, const int op, object fallback):
    """A function of one real that `math` lacks and that never raises."""
    if type(x) is Dual:
        return unary_of(<Dual> x, op, value_of_op(op, (<Dual> x).v, 0.0), PYTHON_FLOATS)
    return unary(x, op, fallback)


cdef object unary_of_python(object x, const int op, object function):
    """A function of one real for which CPython has its own algorithm."""
    cdef Dual result
    x = number(x)
    if type(x) is not Dual:
        return function(x)
    # A replay stops where C's function has no number, although Python's may have one.
    seen = traces.recordings and not is_finite(value_of_op(op, (<Dual> x).v, 0.0))
    try:
        result = unary_of(<Dual> x, op, function(value_seen(<Dual> x) if seen else (<Dual> x).v), PYTHON_FLOATS)
    except (ValueError, ArithmeticError):
        plain(x)    # an error also tells the program about the value
        raise
    return answered(result, function, (x,)) if op == OP_GAMMA or op == OP_LGAMMA else result


cdef object binary_of_python(object x, object y, const int op, object function):
    """A function of two reals; duals among them are recorded."""
    cdef bint left = type(x) is Dual, right = type(y) is Dual
    if not left and not PyFloat_CheckExact(x) or not right and not PyFloat_CheckExact(y):
        x, y = number(x), number(y)
        left, right = type(x) is Dual, type(y) is Dual
    if not (left or right):
        return function(x, y)
    cdef double unused
    try:
        value = function((<Dual> x).v if left else x, (<Dual> y).v if right else y)
    except (ValueError, ArithmeticError):
        plain(x)    # an error also tells the program about the value
        plain(y)
        raise
    if not (left or as_double(x, &unused)) or not (right or as_double(y, &unused)):
        raise TypeError(f"must be real number, not {type(x if right else y).__name__}")
    return of_kind(binary_of(x, y, op, value), PYTHON_FLOATS)


def _own(name, int op, x, y=0.0, /):
    """A function that `math` lacks, for plain numbers; it refuses other arguments."""
    cdef double a = 0.0, b = 0.0
    x, y = number(x), number(y)
    for z in (x, y):
        if not as_double(z, &b):
            if hasattr(z, "__array_ufunc__"):
                raise UnsupportedError(f"tapeengine.math.{name} takes real numbers; for arrays use tapeengine.numpy")
            raise TypeError(f"must be real number, not {type(z).__name__}")
    as_double(x, &a)
    return value_of_op(op, a, b)


cdef object given(str name, int op):
    """The function for plain numbers: from `math`, or from the opcode table."""
    return getattr(python_math, name, None) or partial(_own, name, op)


cdef object m_log = python_math.log, m_hypot = python_math.hypot, o_polygamma = partial(_own, "digamma", OP_POLYGAMMA)
cdef object in_degrees = 180.0 / python_math.pi, in_radians = python_math.pi / 180.0


include "elementary.pxi"     # the functions generated from the opcode table

__all__ = sorted([
    *ELEMENTARY,
    "ceil", "comb", "degrees", "digamma", "dist", "e", "factorial", "floor", "fma", "frexp", "fsum", "gcd", "hypot",
    "inf", "isclose", "isfinite", "isinf", "isnan", "isqrt", "lcm", "ldexp", "log", "modf", "nan", "nextafter",
    "perm", "pi", "prod", "radians", "sumprod", "tau", "trunc", "ulp",
])


def log(x, base=None, /):
    """Logarithm of x, natural or to the given base."""
    if base is None:
        return unary(x, OP_LOG, m_log)
    x, base = number(x), number(base)
    if type(x) is not Dual and type(base) is not Dual:
        return m_log(x, base)
    return answer(log(x) / log(base), computed(m_log, (x, base)), m_log, (x, base))


def digamma(x, /):
    """Derivative of lgamma at x."""
    return binary_of_python(0, x, OP_POLYGAMMA, o_polygamma)


def degrees(x, /):
    """Radians to degrees."""
    x = number(x)
    return returned(x * in_degrees) if type(x) is Dual or PyFloat_CheckExact(x) else python_math.degrees(x)


def radians(x, /):
    """Degrees to radians."""
    x = number(x)
    return returned(x * in_radians) if type(x) is Dual or PyFloat_CheckExact(x) else python_math.radians(x)


cdef object power_of_two(object i):
    """2**i; an infinity if that is too large for a float."""
    return inf if i > 1023 else python_math.ldexp(1.0, i)


def ldexp(x, i, /):
    """x * 2**i."""
    x = number(x)
    python_math.ldexp(0.0, i)   # raises its error for what is no integer
    if type(x) is not Dual:
        return python_math.ldexp(x, i)
    try:
        value = python_math.ldexp((<Dual> x).v if -1074 <= i <= 1023 else value_seen(<Dual> x), i)
    except OverflowError:
        plain(x)
        raise
    result = returned(binary_of(x, power_of_two(i), OP_MUL, value))
    if traces.recordings:
        classified(result)     # a product never raises
        if not is_finite(value):
            classified(x)
    return result


def modf(x, /):
    """The fractional part, which is differentiated, and the whole part, which is not."""
    x = number(x)
    if type(x) is not Dual:
        return python_math.modf(x)
    fraction, whole = python_math.modf((<Dual> x).v)
    if traces.recordings and not discrete.knows_whole(x, whole):
        value_seen(<Dual> x)
    return returned(binary_of(x, 1.0, OP_FMOD, fraction)), whole    # a difference would lose the sign of 0


def frexp(x, /):
    """The mantissa, which is differentiated, and the exponent of x."""
    x = number(x)
    if type(x) is not Dual:
        return python_math.frexp(x)
    mantissa, exponent = python_math.frexp((<Dual> x).v)
    if traces.recordings:
        value_seen(answer(x, exponent, discrete.exponent, (x,)))
    return returned(binary_of(x, power_of_two(-exponent), OP_MUL, mantissa)), exponent


def nextafter(x, y, /, **steps):
    """The next float from x towards y; its derivative with respect to x is 1."""
    x = number(x)
    value = python_math.nextafter(plain(x), plain(y), **steps)
    return returned(binary_of(x, value - (<Dual> x).v, OP_ADD, value)) if type(x) is Dual else value


def ulp(x, /):
    """The value of the last bit of x, a discrete result."""
    return python_math.ulp(plain(x))


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    """Whether two values are close to each other."""
    return python_math.isclose(plain(a), plain(b), rel_tol=rel_tol, abs_tol=abs_tol)


cdef object classified(object x):
    """The value of a dual; records that the program learns whether it is finite, infinite or NaN."""
    cdef double v
    x = number(x)
    if type(x) is not Dual:
        return x
    v = (<Dual> x).v
    if traces.recordings:
        look(<Dual> x, TE_FINITE if is_finite(v) else TE_NAN if v != v else TE_INFINITE, 0.0)
    return v


def isfinite(x, /):
    """Whether x is neither an infinity nor a NaN."""
    return is_finite(PyFloat_AS_DOUBLE(x)) != 0 if PyFloat_CheckExact(x) else python_math.isfinite(classified(x))


def isinf(x, /):
    """Whether x is an infinity."""
    return is_infinite(PyFloat_AS_DOUBLE(x)) != 0 if PyFloat_CheckExact(x) else python_math.isinf(classified(x))


def isnan(x, /):
    """Whether x is not a number."""
    return is_nan(PyFloat_AS_DOUBLE(x)) != 0 if PyFloat_CheckExact(x) else python_math.isnan(classified(x))


def hypot(*coordinates):
    """Length of a vector, n-ary; its derivative at the origin is 0."""
    coordinates = numbers(coordinates)
    if not any_dual(coordinates):
        return m_hypot(*coordinates)
    result = length(coordinates, computed(m_hypot, coordinates))
    return answered(returned(result), m_hypot, coordinates)


cdef object length(tuple xs, double value):
    """The length of a vector; zeros come last, since a length of zeros has no second derivatives."""
    cdef Py_ssize_t zeros = 0
    if len(xs) > 2:
        while zeros < len(xs) and not xs[zeros]:    # a recording notes which of them are 0
            zeros += 1
    return chain(xs[zeros:] + xs[:zeros], OP_HYPOT, value)


cdef object chain(tuple xs, int op, double value):
    """x0 op x1 op ...: the plain operands first, then one record for each dual; the last one gets the given value."""
    cdef double total = 0.0
    cdef double c = 0.0
    cdef list duals = [x for x in xs if type(x) is Dual]
    cdef Py_ssize_t i, first = len(duals) == len(xs) > 1
    for x in xs:
        if type(x) is not Dual:
            as_double(x, &c)
            total = value_of_op(op, total, c)
    result = duals[0] if first else total
    for i in range(first, len(duals)):
        x = duals[i]
        last = i == len(duals) - 1
        result = binary_of(result, x, op, value if last else value_of_op(op, value_of(result), (<Dual> x).v))
    return result


def dist(p, q, /):
    """Distance between two points of the same dimension."""
    p, q = numbers(p), numbers(q)
    if len(p) != len(q) or not (any_dual(p) or any_dual(q)):
        return python_math.dist(values_of(p), values_of(q))
    value = computed(spread.dist, (*p, *q))
    differences = tuple([a - b for a, b in zip(p, q)])
    return answered(returned(length(differences, value)), spread.dist, (*p, *q))


def fsum(seq, /):
    """Sum without loss of precision."""
    cdef tuple items = numbers(seq)
    if not any_dual(items):
        return python_math.fsum(items)
    return answered(returned(chain(items, OP_ADD, computed(spread.fsum, items))), spread.fsum, items)


def prod(iterable, /, *, start=1):
    """Product of all numbers, from the left."""
    result = start
    for x in iterable:
        result = PyNumber_Multiply(result, x)     # Cython's own product of 0.0 and an integer loses the sign
    return result


def sumprod(p, q, /):
    """Sum of the products of corresponding numbers, as accurate as in Python 3.12."""
    p, q = numbers(p), numbers(q)
    if len(p) != len(q):
        raise ValueError("Inputs are not the same length")
    if not (any_dual(p) or any_dual(q)):
        return spread.sumprod(*p, *q)
    value = computed(spread.sumprod, (*p, *q))
    return answered(returned(chain(tuple([x * y for x, y in zip(p, q)]), OP_ADD, value)), spread.sumprod, (*p, *q))


cdef object plain_fma = getattr(python_math, "fma", None)

cdef extern from "math.h":
    double c_fma "fma"(double x, double y, double z)


def fma(x, y, z, /):
    """x * y + z, rounded once."""
    x, y, z = numbers((x, y, z))
    value = computed(_fma, (x, y, z))
    return answer(returned(x * y + z), value, _fma, (x, y, z)) if any_dual((x, y, z)) else value


def _fma(x, y, z):
    return c_fma(x, y, z) if plain_fma is None else plain_fma(x, y, z)
