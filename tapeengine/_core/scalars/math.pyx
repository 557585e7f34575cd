"""`tapeengine.math`: the functions of the `math` module, and a few more, on floats and on duals.

A plain float is computed here as `math` computes it; whatever C's answer leaves open (an infinity or a NaN may be an
error to `math`) is handed to `math` itself. A dual takes the same value and is recorded.
"""

import math as python_math

from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_Check
from libc.math cimport isfinite as is_finite, isinf as is_infinite, isnan as is_nan
from libc.stdint cimport uint32_t

from tapeengine._core.scalars.scalar cimport Dual, as_double, binary_of, head_of_dual, look, new_dual, unary_of, value_seen
from tapeengine._core.tape.tape cimport (
    Head, head_of, op_da, op_value, record1, traces,
    OP_ABS, OP_ACOS, OP_ACOSH, OP_ADD, OP_ASIN, OP_ASINH, OP_ATAN, OP_ATAN2, OP_ATANH, OP_CBRT, OP_COPYSIGN, OP_COS,
    OP_COSH, OP_ERF, OP_ERFC, OP_EXP, OP_EXP2, OP_EXPIT, OP_EXPM1, OP_FMOD, OP_GAMMA, OP_HYPOT, OP_LGAMMA, OP_LOG,
    OP_LOG10, OP_LOG1P, OP_LOG2, OP_LOGADDEXP, OP_MAXIMUM, OP_MINIMUM, OP_MUL, OP_POLYGAMMA, OP_POW, OP_RELU,
    OP_REMAINDER, OP_SIN, OP_SINH, OP_SOFTPLUS, OP_SQRT, OP_SUB, OP_TAN, OP_TANH, OP_XLOGY,
    TE_FINITE, TE_INFINITE, TE_NAN,
)

from tapeengine.errors import UnsupportedError

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "comb", "copysign", "cos", "cosh",
    "degrees", "digamma", "dist", "e", "erf", "erfc", "exp", "exp2", "expit", "expm1", "fabs", "factorial", "floor",
    "fma", "fmod", "frexp", "fsum", "gamma", "gcd", "hypot", "inf", "isclose", "isfinite", "isinf", "isnan", "isqrt",
    "lcm", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "logaddexp", "maximum", "minimum", "modf", "nan",
    "nextafter", "perm", "pi", "pow", "prod", "radians", "relu", "remainder", "sin", "sinh", "softplus", "sqrt",
    "sumprod", "tan", "tanh", "tau", "trunc", "ulp", "xlogy",
]

pi, e, tau, inf, nan = python_math.pi, python_math.e, python_math.tau, python_math.inf, python_math.nan
comb, factorial, gcd, isqrt, lcm, perm = (
    python_math.comb, python_math.factorial, python_math.gcd, python_math.isqrt, python_math.lcm, python_math.perm)
ceil, floor, trunc = python_math.ceil, python_math.floor, python_math.trunc

cdef object plain(object x):
    """The value of a dual, which the program learns; anything else as it is."""
    return value_seen(<Dual> x) if type(x) is Dual else x


cdef list plain_all(object xs):
    return [plain(x) for x in xs]


cdef bint any_dual(object xs) except -1:
    for x in xs:
        if type(x) is Dual:
            return True
    return False


cdef inline object unary(object x, const int op, object fallback):
    """A function of one real whose value C's library gives as `math` does."""
    cdef double a, v
    cdef Head *h
    if PyFloat_CheckExact(x):
        v = op_value(op, PyFloat_AS_DOUBLE(x), 0.0)
        return v if is_finite(v) else fallback(x)
    if type(x) is Dual:
        a = (<Dual> x).v
        v = op_value(op, a, 0.0)
        if not is_finite(v):
            v = fallback(value_seen(<Dual> x))     # what raises tells the program something as well
        h = traces.current
        if h.tag != (<Dual> x).tag:
            h = head_of_dual(<Dual> x)
        return new_dual(v, record1(h, op, (<Dual> x).id, op_da(op, a, 0.0, v), 0.0, v), (<Dual> x).tag)
    return fallback(x)


cdef inline object unary_of_python(object x, const int op, object function):
    """A function of one real that CPython computes in its own way."""
    if type(x) is Dual:
        # a recording recomputes with C's function, which is Python's own but for these, and for what raises
        seen = traces.recordings and (
            op == OP_GAMMA or op == OP_LGAMMA or not is_finite(op_value(op, (<Dual> x).v, 0.0)))
        return unary_of(<Dual> x, op, function(value_seen(<Dual> x) if seen else (<Dual> x).v))
    return function(x)


cdef inline object binary_of_python(object x, object y, const int op, object function):
    """A function of two reals; duals among them are recorded."""
    cdef bint left = type(x) is Dual, right = type(y) is Dual
    if not (left or right):
        return function(x, y)
    cdef double unused
    try:
        value = function((<Dual> x).v if left else x, (<Dual> y).v if right else y)
    except (ValueError, ArithmeticError):
        plain(x)    # what raises tells the program something as well
        plain(y)
        raise
    if not (left or as_double(x, &unused)) or not (right or as_double(y, &unused)):
        raise TypeError(f"must be real number, not {type(x if right else y).__name__}")
    return binary_of(x, y, op, value)


cdef object replaced(object d, double value):
    """A dual of the same derivative, with the value that the whole operation has."""
    if type(d) is not Dual:
        return value
    cdef Head *h = head_of_dual(<Dual> d)
    return new_dual(value, record1(h, OP_ADD | 0x40, (<Dual> d).id, 1.0, value - (<Dual> d).v, value), (<Dual> d).tag)


def with_value(d, double value):
    """A number of the same derivative with the value that another way to compute it gives."""
    return replaced(d, value)


cdef object own(str name, int op):
    """What to do with the arguments that `unary` leaves: errors, infinities and NaNs, for a function `math` lacks."""
    def function(x):
        cdef double a = 0.0
        if not as_double(x, &a):
            if hasattr(x, "__array_ufunc__"):
                raise UnsupportedError(f"tapeengine.math.{name} takes real numbers; for arrays use tapeengine.numpy")
            raise TypeError(f"must be real number, not {type(x).__name__}")
        return op_value(op, a, 0.0)
    return function


cdef object m_sin = python_math.sin, m_cos = python_math.cos, m_tan = python_math.tan
cdef object m_asin = python_math.asin, m_acos = python_math.acos, m_atan = python_math.atan
cdef object m_sinh = python_math.sinh, m_cosh = python_math.cosh, m_tanh = python_math.tanh
cdef object m_asinh = python_math.asinh, m_acosh = python_math.acosh, m_atanh = python_math.atanh
cdef object m_exp = python_math.exp, m_exp2 = python_math.exp2, m_expm1 = python_math.expm1
cdef object m_log = python_math.log, m_log1p = python_math.log1p
cdef object m_log2 = python_math.log2, m_log10 = python_math.log10
cdef object m_sqrt = python_math.sqrt, m_cbrt = python_math.cbrt, m_fabs = python_math.fabs
cdef object m_erf = python_math.erf, m_erfc = python_math.erfc
cdef object m_gamma = python_math.gamma, m_lgamma = python_math.lgamma
cdef object m_atan2 = python_math.atan2, m_fmod = python_math.fmod, m_copysign = python_math.copysign
cdef object m_remainder = python_math.remainder, m_pow = python_math.pow, m_hypot = python_math.hypot
cdef object in_degrees = 180.0 / python_math.pi, in_radians = python_math.pi / 180.0
cdef object o_expit = own("expit", OP_EXPIT), o_softplus = own("softplus", OP_SOFTPLUS), o_relu = own("relu", OP_RELU)


def sin(x, /):
    """Sine of x (radians)."""
    return unary(x, OP_SIN, m_sin)


def cos(x, /):
    """Cosine of x (radians)."""
    return unary(x, OP_COS, m_cos)


def tan(x, /):
    """Tangent of x (radians)."""
    return unary(x, OP_TAN, m_tan)


def asin(x, /):
    """Arc sine of x, in radians."""
    return unary(x, OP_ASIN, m_asin)


def acos(x, /):
    """Arc cosine of x, in radians."""
    return unary(x, OP_ACOS, m_acos)


def atan(x, /):
    """Arc tangent of x, in radians."""
    return unary(x, OP_ATAN, m_atan)


def sinh(x, /):
    """Hyperbolic sine of x."""
    return unary(x, OP_SINH, m_sinh)


def cosh(x, /):
    """Hyperbolic cosine of x."""
    return unary(x, OP_COSH, m_cosh)


def tanh(x, /):
    """Hyperbolic tangent of x."""
    return unary(x, OP_TANH, m_tanh)


def asinh(x, /):
    """Inverse hyperbolic sine of x."""
    return unary(x, OP_ASINH, m_asinh)


def acosh(x, /):
    """Inverse hyperbolic cosine of x."""
    return unary(x, OP_ACOSH, m_acosh)


def atanh(x, /):
    """Inverse hyperbolic tangent of x."""
    return unary(x, OP_ATANH, m_atanh)


def exp(x, /):
    """e to the power of x."""
    return unary(x, OP_EXP, m_exp)


def exp2(x, /):
    """2 to the power of x."""
    return unary(x, OP_EXP2, m_exp2)


def expm1(x, /):
    """exp(x) - 1, accurate near 0."""
    return unary(x, OP_EXPM1, m_expm1)


def log(x, base=None, /):
    """Logarithm of x, natural or to the given base."""
    if base is None:
        return unary(x, OP_LOG, m_log)
    if type(x) is not Dual and type(base) is not Dual:
        return m_log(x, base)
    return replaced(log(x) / log(base), m_log(plain(x), plain(base)))


def log1p(x, /):
    """log(1 + x), accurate near 0."""
    return unary(x, OP_LOG1P, m_log1p)


def log2(x, /):
    """Logarithm of x to base 2."""
    return unary_of_python(x, OP_LOG2, m_log2)


def log10(x, /):
    """Logarithm of x to base 10."""
    return unary(x, OP_LOG10, m_log10)


def sqrt(x, /):
    """Square root of x."""
    return unary(x, OP_SQRT, m_sqrt)


def cbrt(x, /):
    """Cube root of x."""
    return unary(x, OP_CBRT, m_cbrt)


def fabs(x, /):
    """Absolute value of x; its derivative at 0 is 0."""
    return unary(x, OP_ABS, m_fabs)


def erf(x, /):
    """Error function at x."""
    return unary(x, OP_ERF, m_erf)


def erfc(x, /):
    """Complementary error function at x."""
    return unary(x, OP_ERFC, m_erfc)


def gamma(x, /):
    """Gamma function at x."""
    return unary_of_python(x, OP_GAMMA, m_gamma)


def lgamma(x, /):
    """Logarithm of the absolute value of the gamma function at x."""
    return unary_of_python(x, OP_LGAMMA, m_lgamma)


def expit(x, /):
    """Logistic function, 1 / (1 + exp(-x))."""
    return unary(x, OP_EXPIT, o_expit)


def softplus(x, /):
    """log(1 + exp(x)), without overflow."""
    return unary(x, OP_SOFTPLUS, o_softplus)


def relu(x, /):
    """The larger of x and 0; its derivative at 0 is 0."""
    return unary_of(<Dual> x, OP_RELU, op_value(OP_RELU, (<Dual> x).v, 0.0)) if type(x) is Dual else unary(x, OP_RELU, o_relu)


cdef object two(int op):
    def function(x, y):
        cdef double a = 0.0, b = 0.0
        if not as_double(x, &a) or not as_double(y, &b):
            raise TypeError("must be real numbers")
        return op_value(op, a, b)
    return function


cdef object o_xlogy = two(OP_XLOGY), o_logaddexp = two(OP_LOGADDEXP)
cdef object o_maximum = two(OP_MAXIMUM), o_minimum = two(OP_MINIMUM), o_polygamma = two(OP_POLYGAMMA)


def xlogy(x, y, /):
    """x * log(y), and 0 where x is 0."""
    return binary_of_python(x, y, OP_XLOGY, o_xlogy)


def logaddexp(x, y, /):
    """log(exp(x) + exp(y)), without overflow."""
    return binary_of_python(x, y, OP_LOGADDEXP, o_logaddexp)


def maximum(x, y, /):
    """The larger of two numbers; a tie shares the cotangent equally. (Python's max gives all to the first.)"""
    return binary_of_python(x, y, OP_MAXIMUM, o_maximum)


def minimum(x, y, /):
    """The smaller of two numbers; a tie shares the cotangent equally. (Python's min gives all to the first.)"""
    return binary_of_python(x, y, OP_MINIMUM, o_minimum)


def digamma(x, /):
    """Derivative of lgamma at x."""
    return binary_of_python(0, x, OP_POLYGAMMA, o_polygamma)


def atan2(y, x, /):
    """The angle of the point (x, y), in radians."""
    return binary_of_python(y, x, OP_ATAN2, m_atan2)


def fmod(x, y, /):
    """Remainder of x / y with the sign of x."""
    return binary_of_python(x, y, OP_FMOD, m_fmod)


def remainder(x, y, /):
    """IEEE 754 remainder of x with respect to y."""
    return binary_of_python(x, y, OP_REMAINDER, m_remainder)


def copysign(x, y, /):
    """The magnitude of x with the sign of y."""
    return binary_of_python(x, y, OP_COPYSIGN, m_copysign)


def pow(x, y, /):
    """x to the power of y, with the errors of math.pow."""
    return binary_of_python(x, y, OP_POW, m_pow)


def degrees(x, /):
    """Radians to degrees."""
    return x * in_degrees if type(x) is Dual or PyFloat_CheckExact(x) else python_math.degrees(x)


def radians(x, /):
    """Degrees to radians."""
    return x * in_radians if type(x) is Dual or PyFloat_CheckExact(x) else python_math.radians(x)


cdef object power_of_two(int i):
    """2**i, an infinity beyond the largest float."""
    return inf if i > 1023 else python_math.ldexp(1.0, i)


def ldexp(x, int i, /):
    """x * 2**i."""
    if type(x) is not Dual:
        return python_math.ldexp(x, i)
    try:
        value = python_math.ldexp((<Dual> x).v if -1074 <= i <= 1023 else value_seen(<Dual> x), i)
    except OverflowError:
        plain(x)
        raise
    result = binary_of(x, power_of_two(i), OP_MUL, value)
    if traces.recordings:
        look(<Dual> result, TE_FINITE if is_finite(value) else TE_INFINITE, 0.0)     # a product raises nothing, and this does
    return result


def modf(x, /):
    """The fractional part, which is differentiated, and the whole part, which is not."""
    if type(x) is not Dual:
        return python_math.modf(x)
    fraction, whole = python_math.modf(value_seen(<Dual> x))
    return binary_of(x, whole, OP_SUB, fraction), whole


def frexp(x, /):
    """The mantissa, which is differentiated, and the exponent of x."""
    if type(x) is not Dual:
        return python_math.frexp(x)
    mantissa, exponent = python_math.frexp(value_seen(<Dual> x))
    return binary_of(x, power_of_two(-exponent), OP_MUL, mantissa), exponent


def nextafter(x, y, /, **steps):
    """The next float from x towards y; its derivative with respect to x is 1."""
    value = python_math.nextafter(plain(x), plain(y), **steps)
    return binary_of(x, value - (<Dual> x).v, OP_ADD, value) if type(x) is Dual else value


def ulp(x, /):
    """The value of the last bit of x, a discrete result."""
    return python_math.ulp(plain(x))


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    """Whether two values are close to each other."""
    return python_math.isclose(plain(a), plain(b), rel_tol=rel_tol, abs_tol=abs_tol)


cdef object classified(object x):
    """The value of a dual of which the program learns whether it is finite, infinite or NaN."""
    cdef double v
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
    if not any_dual(coordinates):
        return m_hypot(*coordinates)
    value = m_hypot(*plain_all(coordinates))
    return chain(coordinates, 0.0, OP_HYPOT, value)


cdef object chain(object xs, double start, int op, double value):
    """x0 op x1 op ...: the plain operands first, then one record a dual; the last one has the given value."""
    cdef double total = start
    cdef double c = 0.0
    cdef list duals = [x for x in xs if type(x) is Dual]
    for x in xs:
        if type(x) is not Dual:
            as_double(x, &c)
            total = op_value(op, total, c)
    result = total
    for i, x in enumerate(duals):
        last = i == len(duals) - 1
        result = binary_of(result, x, op, value if last else op_value(op, plain(result), (<Dual> x).v))
    return result


def dist(p, q, /):
    """Distance between two points of the same dimension."""
    p, q = list(p), list(q)
    value = python_math.dist(plain_all(p), plain_all(q))
    if not (any_dual(p) or any_dual(q)):
        return value
    differences = [a - b for a, b in zip(p, q)]
    return chain(differences, 0.0, OP_HYPOT, value)


def fsum(seq, /):
    """Sum without loss of precision."""
    seq = list(seq)
    value = python_math.fsum(plain_all(seq))
    return chain(seq, 0.0, OP_ADD, value) if any_dual(seq) else value


def prod(iterable, /, *, start=1):
    """Product of all numbers, from the left."""
    result = start
    for x in iterable:
        result = result * x
    return result


cdef object plain_sumprod = getattr(python_math, "sumprod", None)


def sumprod(p, q, /):
    """Sum of the products of corresponding numbers, as accurate as Python 3.12's."""
    p, q = list(p), list(q)
    if len(p) != len(q):
        raise ValueError("Inputs are not the same length")
    dual, a, b = any_dual(p) or any_dual(q), plain_all(p), plain_all(q)
    value = exact_sumprod(a, b) if plain_sumprod is None else plain_sumprod(a, b)
    return chain([x * y for x, y in zip(p, q)], 0.0, OP_ADD, value) if dual else value


cdef object exact_sumprod(list p, list q):
    """The sum of products rounded once; integers stay integers."""
    if all(isinstance(x, int) for x in p) and all(isinstance(x, int) for x in q):
        return sum(a * b for a, b in zip(p, q))
    products = [float(a) * float(b) for a, b in zip(p, q)]
    if not all(python_math.isfinite(x) for x in products):
        return python_math.fsum(products)
    from fractions import Fraction
    return float(sum(Fraction(a) * Fraction(b) for a, b in zip(p, q)))


cdef object plain_fma = getattr(python_math, "fma", None)

cdef extern from "math.h":
    double c_fma "fma"(double x, double y, double z)


def fma(x, y, z, /):
    """x * y + z, rounded once."""
    cdef double a, b, c
    if plain_fma is not None:
        value = plain_fma(plain(x), plain(y), plain(z))
    else:
        a, b, c = float(plain(x)), float(plain(y)), float(plain(z))
        value = c_fma(a, b, c)
    return replaced(x * y + z, value) if any_dual((x, y, z)) else value
