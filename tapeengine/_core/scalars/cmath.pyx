"""The functions of `cmath` on complex scalars: formulas over real and imaginary parts, with the values of `cmath`."""

import cmath as python_cmath

from tapeengine._core.scalars.complex cimport ComplexDual, as_complex, exactly, new, of_parts, operated, plain, product, quotient, seen
from tapeengine._core.scalars.parts cimport add, div, mul, neg, one, sub, two, v, valued
from tapeengine._core.scalars.scalar cimport Dual, as_float
from tapeengine._core.tape.opcodes cimport (
    OP_ADD, OP_ATAN2, OP_COS, OP_COSH, OP_EXP, OP_HYPOT, OP_LOG, OP_MUL, OP_SIN, OP_SINH, OP_SQRT, OP_TAN, OP_TANH,
)

from tapeengine._core.scalars.elements import element

__all__ = [
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "e", "exp", "inf", "infj", "isclose", "isfinite",
    "isinf", "isnan", "log", "log10", "nan", "nanj", "phase", "pi", "polar", "rect", "sin", "sinh", "sqrt", "tan",
    "tanh", "tau",
]

pi, e, tau = python_cmath.pi, python_cmath.e, python_cmath.tau
inf, infj, nan, nanj = python_cmath.inf, python_cmath.infj, python_cmath.nan, python_cmath.nanj


cdef bint is_traced(object x):
    return type(x) is ComplexDual or type(x) is Dual


cdef object number(object x):
    """A number, or the element of an array without axes."""
    return x if is_traced(x) or isinstance(x, (float, complex)) else element(x, "fc")


cdef ComplexDual times_i(ComplexDual z):
    return new(neg(z.im), z.re)


cdef ComplexDual over_i(ComplexDual z):
    return new(z.im, neg(z.re))


cdef ComplexDual shifted(ComplexDual z, double by):
    return new(add(z.re, by), z.im)


cdef ComplexDual exp_of(ComplexDual z, object value):
    size = one(z.re, OP_EXP)
    return new(valued(size, one(z.im, OP_COS), OP_MUL, value.real), valued(size, one(z.im, OP_SIN), OP_MUL, value.imag))


cdef ComplexDual log_of(ComplexDual z, object value):
    size = two(z.re, z.im, OP_HYPOT)
    return new(one(size, OP_LOG), valued(z.im, z.re, OP_ATAN2, value.imag))


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


cdef ComplexDual tanh_of(ComplexDual z, object value):
    t, s = one(z.re, OP_TANH), one(z.im, OP_TAN)
    return <ComplexDual> as_complex(quotient(new(t, s), new(1.0, mul(t, s))))


cdef ComplexDual sin_of(ComplexDual z, object value):
    return over_i(sinh_of(times_i(z), value * 1j))


cdef ComplexDual cos_of(ComplexDual z, object value):
    return cosh_of(times_i(z), value)


cdef ComplexDual tan_of(ComplexDual z, object value):
    return over_i(tanh_of(times_i(z), value))


cdef ComplexDual by(object function, ComplexDual z):
    """Apply a function of this module within a formula."""
    return <ComplexDual> as_complex(function(z))


cdef ComplexDual asinh_of(ComplexDual z, object value):
    root = by(sqrt, <ComplexDual> as_complex(product(shifted(times_i(z), 1.0), shifted(over_i(z), 1.0))))
    return by(log, <ComplexDual> operated(z, root, OP_ADD))


cdef ComplexDual acosh_of(ComplexDual z, object value):
    root = product(by(sqrt, shifted(z, 1.0)), by(sqrt, shifted(z, -1.0)))
    return by(log, <ComplexDual> as_complex(operated(z, root, OP_ADD)))


cdef ComplexDual atanh_of(ComplexDual z, object value):
    a, b = by(log, shifted(z, 1.0)), by(log, shifted(new(neg(z.re), neg(z.im)), 1.0))
    return new(mul(0.5, sub(a.re, b.re)), mul(0.5, sub(a.im, b.im)))


cdef ComplexDual asin_of(ComplexDual z, object value):
    return over_i(asinh_of(times_i(z), value))


cdef ComplexDual acos_of(ComplexDual z, object value):
    cdef ComplexDual s = asin_of(z, value)
    return new(sub(python_cmath.pi / 2, s.re), neg(s.im))


cdef ComplexDual atan_of(ComplexDual z, object value):
    return over_i(atanh_of(times_i(z), value))


ctypedef ComplexDual (*formula)(ComplexDual, object)


cdef object apply(object x, object function, formula rule):
    """Apply a formula to one complex number, with the value that `cmath` gives."""
    x = number(x)
    if not is_traced(x):
        return function(x)
    value = function(plain(x))
    return exactly(rule(<ComplexDual> as_complex(x), value), value)


cdef object c_exp = python_cmath.exp, c_log = python_cmath.log, c_sqrt = python_cmath.sqrt, c_sin = python_cmath.sin, c_cos = python_cmath.cos
cdef object c_tan = python_cmath.tan, c_sinh = python_cmath.sinh, c_cosh = python_cmath.cosh, c_tanh = python_cmath.tanh, c_asin = python_cmath.asin
cdef object c_acos = python_cmath.acos, c_atan = python_cmath.atan, c_asinh = python_cmath.asinh, c_acosh = python_cmath.acosh
cdef object c_atanh = python_cmath.atanh, c_log10 = python_cmath.log10


def exp(z, /):
    """e to the power of z."""
    return apply(z, c_exp, exp_of)


def log(z, base=None, /):
    """Logarithm of z, natural or to the given base."""
    if base is None:
        return apply(z, c_log, log_of)
    z, base = number(z), number(base)
    if not (is_traced(z) or is_traced(base)):
        return c_log(z, base)
    value = c_log(plain(z), plain(base))
    return exactly(quotient(log_at(z), log_at(base)), value)


cdef ComplexDual log_at(object z):
    """The logarithm, also of 0, for which `cmath` raises an error only where no base is given."""
    value = plain(z)
    return log_of(<ComplexDual> as_complex(z), c_log(value) if value else complex(-python_cmath.inf))


def log10(z, /):
    """Logarithm of z to base 10."""
    z = number(z)
    return exactly(log(z) / c_log(10.0).real, c_log10(plain(z))) if is_traced(z) else c_log10(z)


def sqrt(z, /):
    """Square root of z."""
    return apply(z, c_sqrt, sqrt_of)


def sin(z, /):
    """Sine of z."""
    return apply(z, c_sin, sin_of)


def cos(z, /):
    """Cosine of z."""
    return apply(z, c_cos, cos_of)


def tan(z, /):
    """Tangent of z."""
    return apply(z, c_tan, tan_of)


def sinh(z, /):
    """Hyperbolic sine of z."""
    return apply(z, c_sinh, sinh_of)


def cosh(z, /):
    """Hyperbolic cosine of z."""
    return apply(z, c_cosh, cosh_of)


def tanh(z, /):
    """Hyperbolic tangent of z."""
    return apply(z, c_tanh, tanh_of)


def asin(z, /):
    """Arc sine of z."""
    return apply(z, c_asin, asin_of)


def acos(z, /):
    """Arc cosine of z."""
    return apply(z, c_acos, acos_of)


def atan(z, /):
    """Arc tangent of z."""
    return apply(z, c_atan, atan_of)


def asinh(z, /):
    """Inverse hyperbolic sine of z."""
    return apply(z, c_asinh, asinh_of)


def acosh(z, /):
    """Inverse hyperbolic cosine of z."""
    return apply(z, c_acosh, acosh_of)


def atanh(z, /):
    """Inverse hyperbolic tangent of z."""
    return apply(z, c_atanh, atanh_of)


cdef object returned(object x):
    """A result of `cmath`: a Python float, whatever the argument was."""
    return as_float(<Dual> x) if type(x) is Dual else x


def phase(z, /):
    """The angle of z, in radians."""
    z = number(z)
    if not is_traced(z):
        return python_cmath.phase(z)
    cdef ComplexDual c = <ComplexDual> as_complex(z)
    return returned(two(c.im, c.re, OP_ATAN2))


def polar(z, /):
    """The absolute value and the angle of z."""
    z = number(z)
    return (returned(abs(as_complex(z))), phase(z)) if is_traced(z) else python_cmath.polar(z)


def rect(r, phi, /):
    """The complex number with a given absolute value and angle."""
    r, phi = number(r), number(phi)
    if not (is_traced(r) or is_traced(phi)):
        return python_cmath.rect(r, phi)
    r, phi = (x if type(x) is Dual else float(x) for x in (r, phi))
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
