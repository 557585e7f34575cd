"""Elementary functions of eight numbers at once, with the bits of the C library's functions of one number.

They follow the algorithms of
glibc (``exp`` of Szabolcs Nagy, ``expm1`` and ``tanh`` of fdlibm of Sun) instruction by instruction, and compute all
branches; each number selects one. A C library with other algorithms, or compiled otherwise, has other bits; so each
function is compared with that of the core at some thousand numbers, when it is first needed, and is used only where all
agree.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, localcontext

import numpy as np
from numpy.typing import NDArray

#: The number of elements of vectors.
WIDTH = 8
REAL, WHOLE, TRUTH = "double", "i64", "i1"
INFINITY = float("inf")


# ------------------------------------------------------------ vectors


def bits(x: float) -> int:
    """Give the bits of a number."""
    return int(struct.unpack("<q", struct.pack("<d", x))[0])


class Vector:
    """A vector of reals or integers in the text of a function."""

    def __init__(self, lines: list[str], name: str, word: str = REAL, width: int = WIDTH) -> None:
        self.lines, self.name, self.word, self.width = lines, name, word, width
        self.of = f"<{width} x {word}>"

    def op(self, text: str, word: str = "") -> Vector:
        """Append an instruction."""
        made = Vector(self.lines, f"%v{len(self.lines)}", word or self.word, self.width)
        self.lines.append(f"  {made.name} = {text}")
        return made

    def like(self, x: Vector | float) -> str:
        """Give the name of a vector, or the same constant as each element."""
        if isinstance(x, Vector):
            return x.name
        one = f"i64 {x}" if self.word == WHOLE else f"double 0x{bits(x) & (2**64 - 1):016X}"
        return f"<{', '.join([one] * self.width)}>"

    def by(self, operation: str, x: Vector | float) -> Vector:
        """Apply an operation to two vectors."""
        return self.op(f"{operation} {self.of} {self.name}, {self.like(x)}")

    def __add__(self, x: Vector | float) -> Vector:
        return self.by("fadd" if self.word == REAL else "add", x)

    def __sub__(self, x: Vector | float) -> Vector:
        return self.by("fsub" if self.word == REAL else "sub", x)

    def __mul__(self, x: Vector | float) -> Vector:
        return self.by("fmul", x)

    def __truediv__(self, x: Vector | float) -> Vector:
        return self.by("fdiv", x)

    def __neg__(self) -> Vector:
        return self.op(f"fneg {self.of} {self.name}")

    def __rsub__(self, x: float) -> Vector:
        return self.op(f"fsub {self.of} {self.like(x)}, {self.name}")

    def call(self, name: str, *args: Vector | float) -> Vector:
        """Call an intrinsic function."""
        given = ", ".join(f"{self.of} {self.like(x)}" for x in (self, *args))
        return self.op(f"call {self.of} @llvm.{name}.v{WIDTH}f64({given})")

    def cast(self, word: str) -> Vector:
        """Give the same bits as a vector of another type."""
        return self.op(f"bitcast {self.of} {self.name} to <{WIDTH} x {word}>", word)

    def is_(self, comparison: str, x: Vector | float) -> Vector:
        """Compare two vectors."""
        return self.op(f"fcmp {comparison} {self.of} {self.name}, {self.like(x)}", TRUTH)

    def choose(self, then: Vector | float, orelse: Vector | float) -> Vector:
        """Select by truths."""
        reals = Vector(self.lines, "")
        then, orelse = (f"{reals.of} {reals.like(x)}" for x in (then, orelse))  # type: ignore[assignment]
        return self.op(f"select {self.of} {self.name}, {then}, {orelse}", REAL)

    def where(self, usual: Vector, other: Callable[[], Vector]) -> Vector:
        """Select a value that is computed in a branch, which is taken only if a number needs it."""
        k, mask = len(self.lines), self.op(f"bitcast {self.of} {self.name} to i{WIDTH}").name
        self.lines.append(f"  br label %from{k}\nfrom{k}:")
        none = self.op(f"icmp eq i{WIDTH} {mask}, 0").name
        self.lines.append(f"  br i1 {none}, label %to{k}, label %any{k}\nany{k}:")
        found = self.choose(other(), usual)
        self.lines.append(f"  br label %last{k}\nlast{k}:\n  br label %to{k}\nto{k}:")
        return self.op(f"phi {usual.of} [{usual.name}, %from{k}], [{found.name}, %last{k}]", REAL)


def fma(a: Vector, b: Vector | float, c: Vector | float) -> Vector:
    """Write ``a b + c``, rounded once."""
    return a.call("fma", b, c)


# ------------------------------------------------------------ exp

#: The table of `exp` has 2^(k / STEPS), as bits without k in the place of the exponent, after what rounding it lost.
STEPS = 128
SHIFT = 6755399441055744.0  # 1.5 * 2^52
NEAR, FAR = 512.0, 1024.0
INVERSE, HIGH, LOW = (float.fromhex(x) for x in ("0x1.71547652b82fep+7", "-0x1.62e42fefap-8", "-0x1.cf79abc9e3b3ap-47"))
C2, C3, C4, C5 = (
    float.fromhex(x)
    for x in ("0x1.ffffffffffdbdp-2", "0x1.555555555543cp-3", "0x1.55555cf172b91p-5", "0x1.1111167a4d017p-7")
)


def table() -> list[int]:
    """Give the table of `exp`."""
    found = []
    with localcontext() as context:
        context.prec = 50
        step = Decimal(2)
        for _ in range(7):
            step = step.sqrt()
        for k in range(STEPS):
            power = step**k
            near = float(power)
            lost = float(power / Decimal(near) - 1)
            found += [bits(lost) if k else 0, bits(near) - (k << 52) // STEPS]
    return found


def exp(x: Vector) -> Vector:
    """Write the exponential: 2^(k / STEPS) times a polynomial."""
    rounded = fma(x, INVERSE, SHIFT)
    k, n = rounded.cast(WHOLE), rounded - SHIFT
    r = fma(n, LOW, fma(n, HIGH, x))
    lost, near = looked_up(k.by("and", STEPS - 1).by("shl", 1))
    scale, square = near + k.by("shl", 45), r * r
    low = fma(fma(r, C3, C2), square, r + lost.cast(REAL))
    tail = fma(square * square, fma(r, C5, C4), low)
    s = scale.cast(REAL)
    return x.call("fabs").is_("uge", NEAR).where(fma(s, tail, s), lambda: far(x, scale, tail))


def far(x: Vector, scale: Vector, tail: Vector) -> Vector:
    """Write the exponential where it may be subnormal or overflow, and of infinities and NaN."""
    is_large = x.is_("ogt", 0.0)
    found = is_large.choose(large(scale, tail), small(scale, tail))
    found = x.call("fabs").is_("ult", FAR).choose(found, is_large.choose(INFINITY, 0.0))
    return x.is_("uno", x).choose(x, found)


def looked_up(at: Vector) -> tuple[Vector, Vector]:
    """Read pairs of neighbours from the table of `exp`; return the first and the second ones."""
    parts = []
    for k in range(WIDTH):
        lane = at.op(f"extractelement {at.of} {at.name}, i64 {k}").name
        place = at.op(f"getelementptr i64, ptr @powers, i64 {lane}").name
        found = Vector(at.lines, "", WHOLE, 2)
        parts.append(found.op(f"load {found.of}, ptr {place}, align 16"))
    while len(parts) > 2:
        parts = [shuffled(a, b, range(2 * a.width)) for a, b in zip(parts[::2], parts[1::2], strict=True)]
    lower, upper = parts
    return shuffled(lower, upper, range(0, 2 * WIDTH, 2)), shuffled(lower, upper, range(1, 2 * WIDTH, 2))


def shuffled(a: Vector, b: Vector, places: Sequence[int]) -> Vector:
    """Give some elements of two vectors."""
    mask = ", ".join(f"i32 {k}" for k in places)
    made = Vector(a.lines, "", WHOLE, len(places))
    return made.op(f"shufflevector {a.of} {a.name}, {b.of} {b.name}, <{len(places)} x i32> <{mask}>")


def large(scale: Vector, tail: Vector) -> Vector:
    """Write the end of `exp` where the scale may overflow, and the product must not."""
    s = (scale - (1009 << 52)).cast(REAL)
    return fma(s, tail, s) * 2.0**1009


def small(scale: Vector, tail: Vector) -> Vector:
    """Write the end of `exp` where the value may be subnormal: it is rounded once."""
    s = (scale + (1022 << 52)).cast(REAL)
    product = s * tail
    y = s + product
    high = y + 1.0
    low = (1.0 - high) + y + ((s - y) + product)
    return y.is_("olt", 1.0).choose((low + high) - 1.0, y) * 2.0**-1022


# ------------------------------------------------------------ tanh

INVERSE_LN2, LN2_HIGH, LN2_LOW = (
    float.fromhex(x) for x in ("0x1.71547652b82fep+0", "0x1.62e42feep-1", "0x1.a39ef35793c76p-33")
)
Q1, Q2, Q3, Q4, Q5 = (
    float.fromhex(x)
    for x in (
        "-0x1.11111111110f4p-5",
        "0x1.a01a019fe5585p-10",
        "-0x1.4ce199eaadbb7p-14",
        "0x1.0cfca86e65239p-18",
        "-0x1.afdb76e09c32dp-23",
    )
)
#: The size of `tanh`'s argument from which on that of `expm1` may be reduced by 20 multiples.
MANY = 6.75
#: The sizes at which the argument of `expm1` is reduced by one, and by more than one, multiple of log 2.
ONCE, OFTEN = (float.fromhex(x) for x in ("0x1.62e43p-2", "0x1.0a2b2p+0"))


def correction(r: Vector, half: Vector, square: Vector) -> Vector:
    """Write the rational function by which ``exp(r) - 1`` is found from its first two terms."""
    fourth = square * square
    low = fma(fourth, fma(square, Q3, Q2), fma(square, Q1, 1.0))
    p = fma(fourth * fourth, fma(square, Q5, Q4), low)
    t = fma(-p, half, 3.0)
    return (p - t) / fma(-r, t, 6.0)


def reduced(x: Vector, k: Vector) -> tuple[Vector, Vector, Vector]:
    """Give r and e of ``expm1(x) = (r - e + 1) 2^k - 1``, and the value where k is zero."""
    high, low = fma(-k, LN2_HIGH, x), k * LN2_LOW
    r = high - low
    lost, half = (high - r) - low, r * 0.5
    square = r * half
    e = correction(r, half, square) * square
    return r, fma(e - lost, r, -lost) - square, r - fma(e, r, -square)


def tanh(x: Vector) -> Vector:
    """Write the hyperbolic tangent: from ``expm1(-2 |x|)`` below 1, and from ``expm1(2 |x|)`` above."""
    size = x.call("fabs")
    twice, is_small = size * 2.0, size.is_("olt", 1.0)
    a = is_small.choose(-twice, twice)
    k = (a * INVERSE_LN2 + is_small.choose(-0.5, 0.5)).call("trunc")
    is_near = twice.is_("olt", ONCE)
    k = is_near.choose(0.0, twice.is_("olt", OFTEN).choose(-1.0, k))
    r, e, none = reduced(a, k)
    exponent, between = (k + SHIFT).cast(WHOLE).by("shl", 52), e - r
    power = exponent.op(f"sub {exponent.of} {exponent.like(1023 << 52)}, {exponent.name}").cast(REAL)

    def scaled(y: Vector) -> Vector:
        return (y.cast(WHOLE) + exponent).cast(REAL)

    def ended(t: Vector) -> Vector:
        quotient = is_small.choose(-t, 2.0) / (t + 2.0)
        return is_small.choose(quotient, 1.0 - quotient)

    def far() -> Vector:
        many = k.is_("ogt", 56.0).choose(scaled(1.0 - between) - 1.0, scaled((r - (e + power)) + 1.0))
        found = size.is_("olt", 22.0).choose(k.is_("olt", 20.0).choose(usual, ended(many)), 1.0)
        return x.is_("uno", x).choose(x, size.is_("olt", 2.0**-55).choose(size, found))

    few = scaled(is_small.choose(1.0, 1.0 - power) - between)
    t = k.is_("oeq", -1.0).choose(fma(between, -0.5, -0.5), few - 1.0)
    usual = ended(is_small.choose(is_near.choose(none, t), few))
    is_far = size.is_("uge", MANY).by("or", size.is_("olt", 2.0**-55))
    return is_far.where(usual, far).call("copysign", x)


def sech2(a: Vector, b: Vector) -> Vector:
    """Write ``1 / cosh(a)^2`` for ``b = tanh(a)``; see ``functions.h``."""
    square = b * b
    return square.is_("uge", 0.9).where(1.0 - square, lambda: beyond(exp(a.call("fabs") * -2.0)))


def beyond(e: Vector) -> Vector:
    """Write ``1 / cosh(a)^2`` of large numbers for ``e = exp(-2 |a|)``."""
    above = e + 1.0
    return (e * 4.0) / (above * above)


# ------------------------------------------------------------ hypot

#: The sizes beyond which arguments of `hypot` are scaled, by what, and the ratio at which one does not count.
HUGE, TINY, SCALE, EPSILON = 2.0**511, 2.0**-459, 2.0**-600, 2.0**-54


def hypot(a: Vector, b: Vector) -> Vector:
    """Write the length of the vector (a, b)."""
    x, y = a.call("fabs"), b.call("fabs")
    is_less = x.is_("olt", y)
    larger, smaller = is_less.choose(y, x), is_less.choose(x, y)
    is_far = larger.is_("ugt", HUGE).by("or", smaller.is_("ult", TINY))
    return is_far.where(length(larger, smaller, 1.0), lambda: far_length(larger, smaller))


def far_length(x: Vector, y: Vector) -> Vector:
    """Write the length where squares may overflow or underflow."""
    found = x.is_("ogt", HUGE).choose(length(x, y, SCALE), length(x, y, 1.0 / SCALE))
    is_infinite = x.is_("oeq", INFINITY).by("or", y.is_("oeq", INFINITY))
    return is_infinite.choose(INFINITY, x.is_("uno", y).choose(x + y, found))


def length(x: Vector, y: Vector, scale: float) -> Vector:
    """Write the length for x >= y >= 0, from scaled arguments: a root, with its rounding corrected."""
    a, b = x * scale, y * scale
    h = (a * a + b * b).call("sqrt")
    over_b, over_a = h - b, h - a
    first = a * (over_b * 2.0 - a) + (over_b - (a - b) * 2.0) * over_b
    second = over_a * 2.0 * (a - b * 2.0) + ((over_a * 4.0 - b) * b + over_a * over_a)
    lost = h.is_("ole", b * 2.0).choose(first, second)
    found = (h - lost / (h * 2.0)) * (1.0 / scale)
    return y.is_("ole", x * EPSILON).choose(x + y, found)


# ------------------------------------------------------------ a module

#: What writes each function, and the number of its arguments.
RULES: Mapping[str, Callable[..., Vector]] = {"exp": exp, "tanh": tanh, "sech2": sech2, "hypot": hypot}
ARITIES: Mapping[str, int] = {"exp": 1, "tanh": 1, "sech2": 2, "hypot": 2}


def function(name: str) -> str:
    """Write a function of vectors."""
    lines: list[str] = []
    args = [Vector(lines, f"%{k}") for k in range(ARITIES[name])]
    found, of = RULES[name](*args), args[0].of
    body = "\n".join(lines)
    head = f'define internal {of} @"{name}"({", ".join([of] * len(args))})'
    return f"{head} {{\nentry:\n{body}\n  ret {of} {found.name}\n}}\n"


def loop(name: str, callee: str, of: str, each: int) -> str:
    """Write a function of arrays of arguments, an array of values, and their length, which calls another function."""
    params = range(ARITIES[callee.removeprefix("te.")])
    reads = [
        f"  %q{k} = getelementptr double, ptr %p{k}, i64 %i\n  %x{k} = load {of}, ptr %q{k}, align 8" for k in params
    ]
    return f"""
define void @"{name}"({"".join(f"ptr %p{k}, " for k in params)}ptr %to, i64 %n) {{
entry:
  br label %step
step:
  %i = phi i64 [0, %entry], [%next, %step]
{chr(10).join(reads)}
  %y = call {of} @"{callee}"({", ".join(f"{of} %x{k}" for k in params)})
  %at = getelementptr double, ptr %to, i64 %i
  store {of} %y, ptr %at, align 8
  %next = add i64 %i, {each}
  %go = icmp slt i64 %next, %n
  br i1 %go, label %step, label %done
done:
  ret void
}}
"""


def text() -> str:
    """Write a module of loops: `loop` of each function calls it for eight numbers, and `one` that of the core."""
    powers = f"@powers = internal constant [{2 * STEPS} x i64] [{', '.join(f'i64 {n}' for n in table())}], align 16\n"
    of = f"<{WIDTH} x double>"
    declared = [
        f"declare {of} @llvm.{f}.v{WIDTH}f64({', '.join([of] * k)})\n"
        for f, k in (("fabs", 1), ("trunc", 1), ("sqrt", 1), ("copysign", 2), ("fma", 3))
    ]
    declared += [f"declare double @te.{n}({', '.join(['double'] * k)})\n" for n, k in ARITIES.items()]
    loops = [loop(f"loop.{f}", f, of, WIDTH) + loop(f"one.{f}", f"te.{f}", REAL, 1) for f in RULES]
    return "\n".join([powers, *declared, *map(function, RULES), *loops])


def arguments(name: str) -> list[NDArray[np.float64]]:
    """Give arguments at which a function is compared: all sizes, the ends of all branches, infinities and NaN.

    An algorithm with products and sums rounded once, and rounded twice, gives other bits for one number in a thousand.
    """
    steps = np.arange(1 << 16) * 0.6180339887498949
    sizes = np.concatenate([2.0 ** (steps % 19.0 - 10.0), 2.0 ** (steps[: 1 << 10] % 90.0 - 80.0)])
    ends = [0.0, NEAR, FAR, ONCE, OFTEN, 1.0, 22.0, 2.0**-54, 2.0**-55, 708.4, 709.78, 745.1, INFINITY, np.nan]
    found = np.concatenate([sizes, *(np.nextafter(ends, to) for to in (0.0, INFINITY)), ends])
    found = np.concatenate([found, -found])
    found = found[: len(found) // WIDTH * WIDTH]
    if name == "hypot":
        with np.errstate(all="ignore"):
            x = np.concatenate([found, found * SCALE, found / SCALE, [HUGE, TINY] * 4])[:: 4 * WIDTH - 1]
        x = x[: len(x) // WIDTH * WIDTH]
        return [np.concatenate([x] * 3), np.concatenate([x * 0.7, np.roll(x, 1), np.ones(len(x))])]
    return [found, np.tanh(found)][: ARITIES[name]]
