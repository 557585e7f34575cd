"""Functions of math, numpy and Python, written in the language: a program that calls one of them calls these.

Each takes what the function itself takes, as far as it says, and gives its value to the last bit. Where it cannot, it
raises an error, and the plain function runs. A parameter that is None is known to be so when a call is read, and so
are the number of axes of an array and a text; only the branch that they choose is read.
"""

# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False, disallow-incomplete-defs=False
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def fsum(xs):
    """``math.fsum``: the sum, and the sum of its rounding errors while this has none itself."""
    total = rest = 0.0
    for x in xs:
        longer = total + x
        part = longer - total
        error = (total - (longer - part)) + (x - part)
        total = longer
        longer = rest + error
        part = longer - rest
        if (rest - (longer - part)) + (error - part) != 0.0:
            raise ArithmeticError("the rounding errors have errors")
        rest = longer
    return total + rest


def no_fields(self):
    """Do what the constructor of a class does that has none of its own."""


def sumprod(p, q):
    """``math.sumprod``."""
    return sum(x * y for x, y in zip(p, q, strict=True))


def dist(p, q):
    """``math.dist``."""
    total = sum((x - y) ** 2 for x, y in zip(p, q, strict=True))
    if not 1e-290 < total < 1e290 and any(x != y for x, y in zip(p, q, strict=True)):
        raise ArithmeticError("a square is not exact")
    return math.sqrt(total)


def radians(x):
    """``math.radians``."""
    return x * (math.pi / 180.0)


def degrees(x):
    """``math.degrees``."""
    return x * (180.0 / math.pi)


def fma(x, y, z):
    """``math.fma``."""
    return x * y + z


def product_error(a, b):
    """The rounding error of ``a * b``: each number in two halves, whose products are exact."""
    big = 134217729.0 * a
    high = big - (big - a)
    big = 134217729.0 * b
    top = big - (big - b)
    return ((high * top - a * b) + high * (b - top) + (a - high) * top) + (a - high) * (b - top)


def rounded(x, digits):
    """``round(x, digits)``: to an even last digit only where x is exactly between two."""
    scale = 10.0**digits
    scaled = x * scale
    if digits < 0 or digits > 22 or abs(scaled) > 2.0**51:
        raise ArithmeticError("the scaled number is not exact")
    nearest = round(scaled)
    if scaled - math.floor(scaled) == 0.5:
        error = product_error(x, scale)
        if error != 0.0:
            nearest = math.floor(scaled) + (1 if error > 0.0 else 0)
    return math.copysign(abs(nearest) / scale, x)


def modf(x):
    """``math.modf``: both parts have the sign of the number."""
    return math.fmod(x, 1.0), math.copysign(float(math.trunc(abs(x))), x)


def frexp(x):
    """``math.frexp``: powers of two scale exactly, as long as they and the number are normal."""
    if x == 0.0:
        return x, 0
    if not 2.0**-1000 < abs(x) < 2.0**1000:
        raise ArithmeticError("a power of two is not exact")
    exponent = math.floor(math.log2(abs(x))) + 1
    if abs(x) >= 2.0**exponent:
        exponent += 1
    if abs(x) < 2.0 ** (exponent - 1):
        exponent -= 1
    return x * 2.0**-exponent, exponent


def ldexp(x: float, i: int) -> float:
    """``math.ldexp``."""
    if not -1000 < i < 1000:
        raise ArithmeticError("a power of two is not exact")
    return x * 2.0**i


def isqrt(n: int) -> int:
    """``math.isqrt``: the root of a float is right but for its last digits."""
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = int(math.sqrt(n))
    while root * root > n:
        root -= 1
    while (root + 1) * (root + 1) <= n:
        root += 1
    return root


def isclose(a, b, *, rel_tol=1e-09, abs_tol=0.0):
    """``math.isclose``."""
    if rel_tol < 0 or abs_tol < 0:
        raise ValueError("tolerances must be non-negative")
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    difference = abs(b - a)
    return difference <= abs(rel_tol * b) or difference <= abs(rel_tol * a) or difference <= abs_tol


def interp_at(x, xp, fp, left, right):
    """Interpolate at a number."""
    if x < xp[0]:
        return fp[0] if left is None else left
    if x >= xp[-1]:
        return fp[-1] if right is None or x == xp[-1] else right
    high = min(bisect_right(xp, x), len(xp) - 1)
    low = high - 1
    return (fp[high] - fp[low]) / (xp[high] - xp[low]) * (x - xp[low]) + fp[low]


def interp(x, xp, fp, left=None, right=None):
    """``np.interp``."""
    if np.ndim(xp) != 1 or np.ndim(fp) != 1:
        return None
    if len(xp) != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    if np.ndim(x) == 0:
        return interp_at(x, xp, fp, left, right)
    found = [interp_at(at, xp, fp, left, right) for at in np.ravel(x)]
    return found if np.ndim(x) == 1 else np.reshape(found, np.shape(x))


def padded(xs, before, after, mode, value):
    """Pad along the first axis."""
    n = len(xs)
    if before < 0 or after < 0:
        raise ValueError("index can't contain negative values")
    if mode == "constant":
        return [value] * before + [x for x in xs] + [value] * after  # noqa: C416
    if mode == "edge":
        return [xs[min(max(i, 0), n - 1)] for i in range(-before, n + after)]
    if mode == "wrap":
        return [xs[i % n] for i in range(-before, n + after)]
    if mode == "symmetric":
        return [xs[min(i % (2 * n), 2 * n - 1 - i % (2 * n))] for i in range(-before, n + after)]
    if mode == "reflect":
        last = max(n - 1, 1)
        return [xs[min(i % (2 * last), 2 * last - i % (2 * last))] for i in range(-before, n + after)]
    return None


def widths(width, axis):
    """The numbers of elements before and after along an axis."""
    if np.ndim(width) == 0:
        return width, width
    pair = width if np.ndim(width) == 1 else width[axis]
    if len(pair) > 2:
        raise ValueError("more than two widths")
    return pair[0], pair[-1]


def pad(array, pad_width, mode="constant", *, constant_values=0):
    """``np.pad`` of vectors and matrices."""
    if np.ndim(array) > 2:
        return None
    before, after = widths(pad_width, 0)
    if np.ndim(array) == 1:
        return padded(array, before, after, mode, constant_values)
    left, right = widths(pad_width, 1)
    rows = [padded(row, left, right, mode, constant_values) for row in array]
    return padded(rows, before, after, mode, [constant_values for _ in range(len(array[0]) + left + right)])


def lines(a, axis):
    """The lines of a matrix along an axis."""
    return np.transpose(a) if within(axis, 2) == 0 else a


def quantile_of(ordered, q):
    """The quantile of a vector in order, between two of its elements."""
    if q < 0.0 or q > 1.0:
        raise ValueError("Quantiles must be in the range [0, 1]")
    last = len(ordered) - 1
    at = q * last
    low = math.floor(at)
    a, b, t = ordered[low], ordered[min(low + 1, last)], at - low
    if ordered[-1] != ordered[-1]:  # a NaN, which is sorted behind all numbers
        return ordered[-1]
    return b - (b - a) * (1.0 - t) if t >= 0.5 else a + (b - a) * t


def median_of(xs):
    """The median of a vector."""
    ordered = np.sort(xs)
    half = len(xs) // 2
    if ordered[-1] != ordered[-1]:  # a NaN, which is sorted behind all numbers
        return ordered[-1]
    return ordered[half] if len(xs) % 2 == 1 else (ordered[half - 1] + ordered[half]) / 2


def average_of(a, weights):
    """The average of a vector with weights."""
    if len(a) != len(weights):
        raise ValueError("Length of weights not compatible with specified axis.")
    return np.sum(a * weights) / np.sum(weights)


def span(xs):
    """The largest element without the smallest one."""
    return np.max(xs) - np.min(xs)


def area(y, dx):
    """The area below a line of values at equal distances."""
    return np.sum([dx * (b + a) / 2.0 for a, b in itertools.pairwise(y)])


def area_between(y, x):
    """The area below a line of values at places."""
    if len(x) != len(y):
        raise ValueError("operands could not be broadcast together")
    return np.sum([(x[i + 1] - x[i]) * (y[i + 1] + y[i]) / 2.0 for i in range(len(y) - 1)])


def polyval(p, x):
    """``np.polyval``: Horner's rule."""
    value = 0 * x
    for c in p:
        value = value * x + c
    return value


def cross(a, b):
    """``np.cross`` of vectors in space."""
    if np.ndim(a) != 1 or np.ndim(b) != 1:
        return None
    if len(a) != 3 or len(b) != 3:
        raise ValueError("cross of vectors of other sizes than 3")
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def flipud(m):
    """``np.flipud``."""
    return m[::-1]


def fliplr(m):
    """``np.fliplr``."""
    if np.ndim(m) < 2:
        return None
    return [row[::-1] for row in m]


def delete(arr, obj, axis=None):
    """``np.delete`` of elements of a vector, or of one row or column of a matrix."""
    if axis is not None and (axis < -np.ndim(arr) or axis >= np.ndim(arr)):
        raise ValueError("there is no such axis")
    if np.ndim(obj) == 1 and np.ndim(arr) == 1:
        left = np.ones(len(arr), dtype=bool)
        for k in obj:
            left[k] = False
        return arr[left]
    if np.ndim(obj) != 0 or np.ndim(arr) == 0 or np.ndim(arr) > 2 or (np.ndim(arr) == 2 and axis is None):
        return None
    if np.ndim(arr) == 2 and (axis == 1 or axis == -1):
        column = within(obj, np.shape(arr)[1])
        return [[x for k, x in enumerate(row) if k != column] for row in arr]
    place = within(obj, len(arr))
    return [x for k, x in enumerate(arr) if k != place]


def within(i, n):
    """An index counted from the front, of n elements."""
    return list(range(n))[i]


def repeated(xs, repeats):
    """Each element by its own number of times."""
    if np.min(repeats, initial=0) < 0:
        raise ValueError("repeats may not contain negative values.")
    return [x for x, n in zip(xs, repeats, strict=True) for _ in range(n)]


def linspace(start, stop, num=50, endpoint=True):
    """``np.linspace``."""
    if num < 0:
        raise ValueError("a negative number of samples")
    steps = max(num - int(endpoint), 1)
    step = (stop - start) / steps
    if step == 0.0 and start != stop:
        raise ArithmeticError("a step is too small for a float")
    last = num - 1 if endpoint and num > 1 else num
    return [stop if i == last else start + i * step for i in range(num)]


def logspace(start, stop, num=50, endpoint=True, base=10.0):
    """``np.logspace``."""
    return np.power(base, np.linspace(start, stop, num, endpoint))


def choose(a, choices):
    """``np.choose`` of vectors."""
    if np.ndim(a) != 1 or np.ndim(choices) != 2:
        return None
    for each in choices:
        if len(each) != len(a):
            raise ValueError("choices of other sizes than the indices")
    if np.min(a, initial=0) < 0:
        raise ValueError("invalid entry in choice array")
    return [choices[k][i] for i, k in enumerate(a)]


def meshgrid(x, y, *, indexing="xy"):
    """``np.meshgrid`` of two vectors."""
    if np.ndim(x) != 1 or np.ndim(y) != 1:
        return None
    if indexing == "ij":
        return [[a for _ in y] for a in x], [y for _ in x]
    return [x for _ in y], [[b for _ in x] for b in y]


def bit_and(a, b):
    """``a & b`` of integers; of a negative one all bits from some place on are set."""
    if b == 1:
        return a % 2
    result, place = 0, 1
    while (a != 0 and a != -1) or (b != 0 and b != -1):
        if a % 2 == 1 and b % 2 == 1:
            result += place
        a, b, place = a // 2, b // 2, place * 2
    return result - place if a == -1 and b == -1 else result


def bit_or(a, b):
    """``a | b`` of integers."""
    return a + b - bit_and(a, b)


def bit_xor(a, b):
    """``a ^ b`` of integers."""
    return a + b - 2 * bit_and(a, b)


def shift_left(a, b):
    """``a << b``."""
    if b < 0:
        raise ValueError("negative shift count")
    return a * 2**b


def bisect_right(a, x):
    """``bisect.bisect_right(a, x)``."""
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if x < a[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def bisect_left(a, x):
    """``bisect.bisect_left(a, x)``."""
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def comb(n, k):
    """``math.comb``."""
    if n < 0 or k < 0:
        raise ValueError("a negative number")
    value = 1 if k <= n else 0
    for i in range(min(k, n - k)):
        value = value * (n - i) // (i + 1)
    return value


def factorial(n):
    """``math.factorial``."""
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    value = 1
    for i in range(2, n + 1):
        value = value * i
    return value


def gcd(a: int, b: int) -> int:
    """``math.gcd`` of two numbers."""
    while b != 0:
        a, b = b, a % b
    return abs(a)


def shift_right(a, b):
    """``a >> b``."""
    if b < 0:
        raise ValueError("negative shift count")
    return a // 2**b


def atleast_1d(x):
    """``np.atleast_1d`` of one array."""
    return [x] if np.ndim(x) == 0 else x


def atleast_2d(x):
    """``np.atleast_2d`` of one array."""
    if np.ndim(x) == 0:
        return [[x]]
    return [x] if np.ndim(x) == 1 else x


def slopes(f, h):
    """``np.gradient`` of a vector at equal distances."""
    inside = [(f[i + 1] - f[i - 1]) / (2.0 * h) for i in range(1, len(f) - 1)]
    return [(f[1] - f[0]) / h, *inside, (f[-1] - f[-2]) / h]


def even_slopes(f, h):
    """The slopes inside a vector at places of equal distances: numpy's, with the derivative of those at any places."""
    inside = []
    for i in range(1, len(f) - 1):
        p, q = h[i - 1], h[i]
        bend = ((f[i + 1] - f[i]) / q - (f[i] - f[i - 1]) / p) / (p + q)
        inside.append((f[i + 1] - f[i - 1]) / (p + q) - ((q - p) * (bend if np.isfinite(bend) else 0.0) + 0.0))
    return inside


def uneven_slopes(f, h):
    """The slopes inside a vector: of a parabola through each three of its elements."""
    inside = []
    for i in range(1, len(f) - 1):
        p, q = h[i - 1], h[i]
        a, b, c = -q / (p * (p + q)), (q - p) / (p * q), p / (q * (p + q))
        inside.append(a * f[i - 1] + b * f[i] + c * f[i + 1])
    return inside


def slopes_at(f, x):
    """``np.gradient`` of a vector at places."""
    if len(x) != len(f):
        raise ValueError("as many places as elements are needed")
    h = np.diff(x)
    inside = even_slopes(f, h) if np.all(h == h[0]) else uneven_slopes(f, h)
    return [(f[1] - f[0]) / h[0], *inside, (f[-1] - f[-2]) / h[-1]]


def gradient_of(f, h):
    """``np.gradient`` of a vector."""
    if len(f) < 2:
        raise ValueError("fewer than two elements")
    return slopes(f, h) if np.ndim(h) == 0 else slopes_at(f, h)


def gradient(f, h=1.0, *, axis=None):
    """``np.gradient`` of a vector, or along an axis or both of a matrix."""
    if np.ndim(f) == 1:
        if axis is not None and (axis < -1 or axis > 0):
            raise ValueError("there is no such axis")
        return gradient_of(f, h)
    if np.ndim(f) != 2 or (axis is None and np.ndim(h) != 0):
        return None
    if axis is None:
        return np.transpose([gradient_of(line, h) for line in np.transpose(f)]), [gradient_of(row, h) for row in f]
    rows = [gradient_of(line, h) for line in lines(f, axis)]
    return np.transpose(rows) if axis == 0 or axis == -2 else rows


def correlate(a, v, mode="valid"):
    """``np.correlate`` of an array with one that is not longer."""
    if len(v) > len(a):
        raise ValueError("the second array is longer")
    return np.convolve(a, v[::-1], mode)


def kron(a, b):
    """``np.kron`` of vectors and matrices."""
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return [x * y for x in a for y in b]
    if np.ndim(a) > 2 or np.ndim(b) > 2:
        return None
    return [[x * y for x in row for y in other] for row in np.atleast_2d(a) for other in np.atleast_2d(b)]


def tril_indices(n, k=0, m=None):
    """``np.tril_indices``."""
    return np.nonzero([[j - i <= k for j in range(n if m is None else m)] for i in range(n)])


def diag_indices(n):
    """``np.diag_indices`` of a matrix."""
    return list(range(n)), list(range(n))


def take_along_axis(arr, indices, axis=-1):
    """``np.take_along_axis`` of vectors or matrices."""
    if axis is None or np.ndim(arr) > 2 or np.ndim(indices) != np.ndim(arr):
        return None
    at = within(axis, np.ndim(arr))
    if np.ndim(arr) == 1:
        return arr[indices]
    if at == 1:
        return [row[each] for row, each in zip(arr, indices, strict=True)]
    return [[column[k] for column, k in zip(np.transpose(arr), each, strict=True)] for each in indices]


def triu_indices(n, k=0, m=None):
    """``np.triu_indices``."""
    return np.nonzero([[j - i >= k for j in range(n if m is None else m)] for i in range(n)])


def bincount(x, weights=None, minlength=0):
    """``np.bincount``."""
    if minlength < 0:
        raise ValueError("a negative number")
    if weights is not None and len(weights) != len(x):
        raise ValueError("weights of another number")
    found = [0 if weights is None else 0.0] * max(max(x) + 1, minlength)
    for k, i in enumerate(x):
        if i < 0:
            raise ValueError("a negative number")
        found[i] += 1 if weights is None else weights[k]
    return found


def unique(ar):
    """``np.unique`` without indices and counts."""
    ordered = np.sort(np.ravel(ar))
    return [x for i, x in enumerate(ordered) if i == 0 or (x != ordered[i - 1] and not np.isnan(ordered[i - 1]))]


def nansum(a, axis=None):
    """``np.nansum`` of all elements, or along an axis of a matrix."""
    numbers = np.where(np.isnan(a), 0, a)
    if axis is None or np.ndim(a) == 1:
        return np.sum(numbers) if axis is None or within(axis, 1) == 0 else None
    return np.array([np.sum(line) for line in lines(numbers, axis)]) if np.ndim(a) == 2 else None


def nanmean(a, axis=None):
    """``np.nanmean`` of all elements, or along an axis of a matrix."""
    return nansum(a, axis) / nansum(np.where(np.isnan(a), 0.0, 1.0), axis)


def cov(m, y=None):
    """``np.cov`` of a vector, of the rows of a matrix, or of two vectors."""
    if np.ndim(m) == 1 and y is None:
        rest = m - np.mean(m)
        return np.dot(rest, rest) * (1 / (len(m) - 1))
    if y is None and len(m) == 1:
        raise ValueError("of one row numpy gives a number")
    rows = [x - np.mean(x) for x in (m if y is None else np.array([m, y]))]
    return np.dot(np.array(rows), np.transpose(rows)) * (1 / (len(rows[0]) - 1))


def corrcoef(x, y=None):
    """``np.corrcoef`` of the rows of a matrix, or of two vectors."""
    c = cov(x, y)
    deviations = np.sqrt(np.diag(c))
    return np.clip(c / deviations[:, None] / deviations[None, :], -1, 1)


def insert(arr, obj, values):
    """``np.insert`` of one number into a vector."""
    if np.ndim(arr) != 1 or np.ndim(obj) != 0 or np.ndim(values) != 0:
        return None
    if obj < -len(arr) or obj > len(arr):
        raise IndexError("there is no such place")
    return np.concatenate((arr[:obj], np.full(1, values, dtype=arr.dtype), arr[obj:]))


def largest_so_far(xs):
    """The largest element up to each one."""
    return list(itertools.accumulate(xs, np.maximum))


def smallest_so_far(xs):
    """The smallest element up to each one."""
    return list(itertools.accumulate(xs, np.minimum))


def diagonal(a, offset=0):
    """``np.diagonal`` of a matrix."""
    if np.ndim(a) != 2:
        return None
    up, left = max(-offset, 0), max(offset, 0)
    return [a[i + up][i + left] for i in range(min(len(a) - up, len(a[0]) - left))]


def diag(v, k=0):
    """``np.diag``: a diagonal of a matrix, or a matrix with a diagonal."""
    if np.ndim(v) != 1:
        return diagonal(v, k)
    n, zero = len(v) + abs(k), np.zeros(1, dtype=v.dtype)[0]
    return [[v[min(i, j)] if j - i == k else zero for j in range(n)] for i in range(n)]


def trace(a, offset=0):
    """``np.trace`` of a matrix."""
    return np.sum(diagonal(a, offset))


def eye(N, M=None, k=0, dtype=float):
    """``np.eye``."""
    columns = N if M is None else M
    if N < 0 or columns < 0:
        raise ValueError("negative dimensions are not allowed")
    rows = [[1.0 if j - i == k else 0.0 for j in range(columns)] for i in range(N)]
    return np.array(rows, dtype=dtype)


def identity(n, dtype=float):
    """``np.identity``."""
    return eye(n, dtype=dtype)


#: The functions of numpy that have their names here.
NUMPY = (
    *(atleast_1d, atleast_2d, bincount, choose, corrcoef, correlate, cov, cross, delete, diag_indices, diag, diagonal),
    *(eye, fliplr, flipud, gradient, identity, insert, interp, kron, linspace, logspace, meshgrid, nanmean, nansum),
    *(pad, polyval, take_along_axis, trace, tril_indices, triu_indices, unique),
)
#: The same for math.
MATH = (comb, degrees, dist, factorial, fma, frexp, fsum, gcd, isclose, isqrt, ldexp, modf, radians, sumprod)
#: What stands for a function of Python's, by its name in the library.
FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{f"bisect.{f.__name__}": f for f in (bisect_left, bisect_right)},
    **{f"math.{f.__name__}": f for f in MATH},
    **{f"numpy.{f.__name__}": f for f in NUMPY},
}
#: The functions of lines of arrays, and others that stand for no function of a library.
PARTS = (
    *(area, area_between, average_of, largest_so_far, median_of, quantile_of, repeated, smallest_so_far, span),
    *(bit_and, bit_or, bit_xor, rounded, shift_left, shift_right),
)
#: All of them.
WRITTEN = frozenset((*FUNCTIONS.values(), *PARTS))
