"""Programs as people write them who do not know the language: numerics, finance, geometry, data, parsing, control.

Each stands with arguments; some of these make it raise.
"""

# ruff: noqa: B007, C416, E731, E741, RUF007
# ruff: noqa: SIM113, F841

import functools
import itertools
import math
import operator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import tapeengine as te

__all__ = ["OUTSIDERS"]

OUTSIDERS = {}
V = np.array


def case(*args):
    """Keep a program with its arguments."""

    def kept(function):
        OUTSIDERS[function.__name__] = (function, args)
        return function

    return kept


@case(0.3, 1.7)
def bisect(a, b):
    lo, hi = a, b
    for _ in range(30):
        mid = (lo + hi) / 2
        if mid**3 - mid - 1 > 0:
            hi = mid
        else:
            lo = mid
    return lo * a + hi * b


@case([1.0, 2.0, 3.0], 0.5)
def horner(c: list[float], x: float) -> float:
    r = 0.0
    for k in reversed(range(len(c))):
        r = r * x + c[k]
    return r


@case([3.0, 1.0, 2.0])
def bubble(xs: list[float]) -> list[float]:
    ys = list(xs)
    n = len(ys)
    for i in range(n):
        for j in range(n - 1 - i):
            if ys[j] > ys[j + 1]:
                ys[j], ys[j + 1] = ys[j + 1], ys[j]
    return ys


class State(NamedTuple):
    pos: float
    vel: float


@case(State(1.0, 0.0), 0.1, 20)
def leapfrog(s: State, dt: float, n: int) -> State:
    for _ in range(n):
        v = s.vel - 0.5 * dt * s.pos
        x = s.pos + dt * v
        s = State(x, v - 0.5 * dt * x)
    return s


@dataclass(frozen=True)
class Vec3:
    x: float
    y: float
    z: float

    def dot(self, o: "Vec3") -> float:
        return self.x * o.x + self.y * o.y + self.z * o.z

    def scaled(self, k: float) -> "Vec3":
        return Vec3(self.x * k, self.y * k, self.z * k)

    @property
    def norm(self) -> float:
        return math.sqrt(self.x**2 + self.y**2 + self.z**2)


@case(Vec3(1.0, 2.0, 3.0), Vec3(-1.0, 0.5, 2.0))
def reflect(v: Vec3, n: Vec3) -> Vec3:
    k = 2.0 * v.dot(n) / n.dot(n)
    m = n.scaled(k)
    return Vec3(v.x - m.x, v.y - m.y, v.z - m.z)


@case([0.2, 0.5, 0.3])
def entropy(p: list[float]) -> float:
    return -sum(q * math.log(q) for q in p if q > 0.0)


@case([0.2, 0.5, 0.3], [0.3, 0.3, 0.4])
def kl(p: list[float], q: list[float]) -> float:
    return sum(a * math.log(a / b) for a, b in zip(p, q))


@case([1.0, 2.0, 4.0, 8.0])
def variance(xs: list[float]) -> float:
    n = len(xs)
    mean = sum(xs) / n
    return sum((x - mean) ** 2 for x in xs) / (n - 1)


@case([1.0, 2.0, 4.0, 8.0])
def welford(xs: list[float]) -> tuple[float, float]:
    mean, m2, n = 0.0, 0.0, 0
    for x in xs:
        n += 1
        d = x - mean
        mean += d / n
        m2 += d * (x - mean)
    return mean, m2


@case([1.0, 5.0, 2.0, 8.0, 3.0])
def median(xs: list[float]) -> float:
    ys = sorted(xs)
    n = len(ys)
    return ys[n // 2] if n % 2 else 0.5 * (ys[n // 2 - 1] + ys[n // 2])


@case(100.0, 95.0, 0.02, 0.3, 1.0)
def black_scholes(s: float, k: float, r: float, v: float, t: float) -> float:
    d1 = (math.log(s / k) + (r + v * v / 2) * t) / (v * math.sqrt(t))
    d2 = d1 - v * math.sqrt(t)
    cdf = lambda x: 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))
    return s * cdf(d1) - k * math.exp(-r * t) * cdf(d2)


@case(100.0, 95.0, 0.02, 0.3, 12)
def binomial(s: float, k: float, r: float, v: float, n: int) -> float:
    dt = 1.0 / n
    u = math.exp(v * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(r * dt) - d) / (u - d)
    values = [max(k - s * u**j * d ** (n - j), 0.0) for j in range(n + 1)]
    for i in range(n - 1, -1, -1):
        values = [math.exp(-r * dt) * (p * values[j + 1] + (1 - p) * values[j]) for j in range(i + 1)]
    return values[0]


@case([-100.0, 30.0, 40.0, 60.0], 0.05)
def irr(flows: list[float], guess: float) -> float:
    r = guess
    for _ in range(20):
        f = sum(c / (1 + r) ** t for t, c in enumerate(flows))
        df = sum(-t * c / (1 + r) ** (t + 1) for t, c in enumerate(flows))
        step = f / df
        r -= step
        if abs(step) < 1e-12:
            break
    return r


@case([1.0, 2.0, 3.0], [0.5, 1.0, 2.5, 3.5])
def dtw(a: list[float], b: list[float]) -> float:
    n, m = len(a), len(b)
    prev = [0.0] + [float("inf")] * m
    for i in range(n):
        row = [float("inf")]
        for j in range(m):
            c = abs(a[i] - b[j])
            row.append(c + min(prev[j], prev[j + 1], row[j]))
        prev = row
    return prev[m]


@case([[0.0, 1.0, 4.0], [1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])
def floyd(d: list[list[float]]) -> float:
    n = len(d)
    g = [[d[i][j] for j in range(n)] for i in range(n)]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if g[i][k] + g[k][j] < g[i][j]:
                    g[i][j] = g[i][k] + g[k][j]
    return sum(sum(r) for r in g)


@case([[4.0, 2.0, 1.0], [2.0, 5.0, 3.0], [1.0, 3.0, 6.0]])
def cholesky(a: list[list[float]]) -> float:
    n = len(a)
    l = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            s = a[i][j] - sum(l[i][k] * l[j][k] for k in range(j))
            l[i][j] = math.sqrt(s) if i == j else s / l[j][j]
    return sum(math.log(l[i][i]) for i in range(n))


@case([[1.0, 2.0], [3.0, 4.0]])
def det_rec(a: list[list[float]]) -> float:
    n = len(a)
    if n == 1:
        return a[0][0]
    t = 0.0
    for j in range(n):
        minor = [[r[k] for k in range(n) if k != j] for r in a[1:]]
        t += (-1) ** j * a[0][j] * det_rec(minor)
    return t


@case(0.7, 10)
def fib_like(x: float, n: int) -> float:
    if n < 2:
        return x * n
    return fib_like(x, n - 1) + 0.5 * fib_like(x, n - 2)


@case(1.3, 5)
def chebyshev(x: float, n: int) -> float:
    t0, t1 = 1.0, x
    for _ in range(n - 1):
        t0, t1 = t1, 2 * x * t1 - t0
    return t1


@case(2.0)
def agm(x: float) -> float:
    a, g = 1.0, x
    while abs(a - g) > 1e-14:
        a, g = (a + g) / 2, math.sqrt(a * g)
    return a


@case(0.5, 0.3)
def mandel(re: float, im: float) -> float:
    x = y = 0.0
    n = 0
    while x * x + y * y < 4.0 and n < 30:
        x, y = x * x - y * y + re, 2 * x * y + im
        n += 1
    return x + n * y


@case([0.1, 0.2, 0.3, 0.4])
def fft_like(xs: list[float]) -> tuple[list[float], list[float]]:
    n = len(xs)
    re = [sum(x * math.cos(2 * math.pi * k * i / n) for i, x in enumerate(xs)) for k in range(n)]
    im = [-sum(x * math.sin(2 * math.pi * k * i / n) for i, x in enumerate(xs)) for k in range(n)]
    return re, im


@case([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 4.0, 9.0], 1.5)
def interp(xs: list[float], ys: list[float], x: float) -> float:
    for i in range(len(xs) - 1):
        if xs[i] <= x <= xs[i + 1]:
            t = (x - xs[i]) / (xs[i + 1] - xs[i])
            return ys[i] * (1 - t) + ys[i + 1] * t
    raise ValueError("out of range")


@case([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 4.0, 9.0], 5.0)
def interp_out(xs: list[float], ys: list[float], x: float) -> float:
    for i in range(len(xs) - 1):
        if xs[i] <= x <= xs[i + 1]:
            t = (x - xs[i]) / (xs[i + 1] - xs[i])
            return ys[i] * (1 - t) + ys[i + 1] * t
    raise ValueError(f"{x} is out of range {xs[0]} .. {xs[-1]}")


@case([0.0, 1.0, 3.0], [1.0, 2.0, 5.0], 2.0)
def lagrange(xs: list[float], ys: list[float], x: float) -> float:
    total = 0.0
    for i, (xi, yi) in enumerate(zip(xs, ys)):
        term = yi
        for j, xj in enumerate(xs):
            if i == j:
                continue
            term *= (x - xj) / (xi - xj)
        total += term
    return total


@case([1.0, 0.0, 2.0], 0.4)
def ema(xs: list[float], a: float) -> list[float]:
    out = []
    s = xs[0]
    for x in xs:
        s = a * x + (1 - a) * s
        out.append(s)
    return out


@case([1.0, 3.0, 2.0, 5.0], 2)
def moving(xs: list[float], w: int) -> list[float]:
    return [sum(xs[i : i + w]) / w for i in range(len(xs) - w + 1)]


@case([1.0, 3.0, 2.0, 5.0])
def max_drawdown(xs: list[float]) -> float:
    peak, worst = xs[0], 0.0
    for x in xs:
        peak = max(peak, x)
        worst = max(worst, (peak - x) / peak)
    return worst


@case([1.0, -3.0, 2.0, 5.0, -1.0])
def kadane(xs: list[float]) -> float:
    best = cur = xs[0]
    for x in xs[1:]:
        cur = x if cur < 0 else cur + x
        best = max(best, cur)
    return best


@case([1.0, 2.0, 3.0, 4.0], [2, 0, 3])
def gather_product(xs: list[float], idx: list[int]) -> float:
    p = 1.0
    for i in idx:
        p *= xs[i]
    return p


@case([0.5, -0.2], [[0.1, 0.2], [0.3, -0.4]], [[1.0, -1.0]])
def mlp(x: list[float], w1: list[list[float]], w2: list[list[float]]) -> float:
    def layer(w, v):
        return [math.tanh(sum(a * b for a, b in zip(row, v))) for row in w]

    return layer(w2, layer(w1, x))[0]


@case([2.0, 1.0, 0.1], 0)
def softmax_ce(z: list[float], k: int) -> float:
    m = max(z)
    return -(z[k] - m) + math.log(sum(math.exp(v - m) for v in z))


@case(0.3, [0.1, 0.9, 0.4])
def closure_counter(a: float, xs: list[float]) -> float:
    total = 0.0

    def f(x):
        return a * x + total

    for x in xs:
        total = f(x)
    return total


@case(2.0, 3)
def compose_n(x: float, n: int) -> float:
    f = lambda y: math.sin(y) + y
    for _ in range(n):
        x = f(x)
    return x


@case([1.0, 2.0, 3.0])
def reduce_max(xs: list[float]) -> float:
    return functools.reduce(lambda a, b: a if a > b else b, xs) * functools.reduce(operator.mul, xs, 1.0)


@case([1.0, 2.0, 3.0])
def accum(xs: list[float]) -> list[float]:
    return list(itertools.accumulate(xs, lambda a, b: a * b))


@case([1.0, 2.0, 3.0])
def pairwise_(xs: list[float]) -> float:
    return sum((b - a) ** 2 for a, b in zip(xs, xs[1:]))


@case([1.0, 2.0], [3.0, 4.0])
def prod_(a: list[float], b: list[float]) -> float:
    return sum(x * y for x in a for y in b if x < y)


@case([3.0, 4.0])
def star_unpack(xs: list[float]) -> float:
    a, b = xs
    return math.hypot(a, b)


@case((3.0, 4.0, 5.0))
def star_tuple(t: tuple[float, float, float]) -> float:
    a, *rest = t
    return a * rest[0] + rest[1]


@case(5.0)
def assert_fail(x: float) -> float:
    assert x < 3.0, "too large"
    return x


@case(-1.0)
def raises_sqrt(x: float) -> float:
    return math.sqrt(x) + 1.0


@case(0.0)
def raises_div(x: float) -> float:
    return 1.0 / x


@case([1.0])
def raises_index(xs: list[float]) -> float:
    return xs[3]


@case([])
def raises_max(xs: list[float]) -> float:
    return max(xs)


@case([], 1.0)
def empty_sum(xs: list[float], a: float) -> float:
    return a * sum(xs) + a


@case(1e300)
def overflow(x: float) -> float:
    return math.exp(x)


@case(1e200)
def inf_mul(x: float) -> float:
    return x * x


@case(2.5)
def rounding(x: float) -> float:
    return x * round(x) + x * math.floor(x) + x * int(x) + x % 1.0 + divmod(x, 0.7)[1]


@case(2.0, True)
def flagged(x: float, flag: bool) -> float:
    return x**2 if flag and x > 1 else -x


@case(0.5)
def nested_if(x: float) -> float:
    if x < 0:
        return -x
    elif x < 1:
        if x < 0.25:
            y = x
        else:
            y = x * x
    else:
        y = math.sqrt(x)
    return y + 1


@case(3.0)
def walrus(x: float) -> float:
    if (y := x * x) > 4.0:
        return y + x
    return y


@case([0.3, 0.6, 0.9], 0.5)
def any_all(xs: list[float], t: float) -> float:
    if any(x > t for x in xs) and not all(x > t for x in xs):
        return sum(x for x in xs if x > t)
    return 0.0


@case([0.3, 0.6, 0.9])
def argmax_(xs: list[float]) -> float:
    i = max(range(len(xs)), key=lambda k: xs[k])
    return xs[i] * i


@case([0.3, 0.6, 0.9], 0.5)
def find_next(xs: list[float], t: float) -> float:
    return next(x for x in xs if x > t)


@case([0.3, 0.6, 0.9], 0.5)
def while_else(xs: list[float], t: float) -> float:
    i = 0
    while i < len(xs):
        if xs[i] > t:
            break
        i += 1
    else:
        return -1.0
    return xs[i] ** 2


@case(2.0)
def try_except(x: float) -> float:
    try:
        y = math.log(x - 3.0)
    except ValueError:
        y = 0.0
    return y + x


@case(4.0)
def try_ok(x: float) -> float:
    try:
        y = math.log(x - 3.0)
    except ValueError:
        y = 0.0
    return y + x


@case([1.0, 2.0, 3.0])
def del_pop(xs: list[float]) -> float:
    ys = list(xs)
    return ys.pop() * ys.pop() + ys[0]


@case([1.0, 2.0, 3.0])
def rev_slice(xs: list[float]) -> list[float]:
    return xs[::-1]


@case(V([1.0, 2.0, 3.0]))
def np_mask(xs: te.Vec) -> te.Vec:
    ys = np.zeros(3)
    ys[xs > 1.5] = 2.0
    return ys * xs


@case(V([1.0, 2.0, 3.0]), V([[1.0, 2.0, 3.0], [0.5, 0.1, 0.2]]))
def np_affine(x: te.Vec, w: te.Array[te.Vec]) -> te.Vec:
    return np.tanh(w @ x) / np.sum(np.abs(x))


@case(V([[1.0, 2.0], [3.0, 5.0]]))
def np_cov(x: te.Array[te.Vec]) -> te.Array[te.Vec]:
    c = x - x.mean(axis=0)
    return c.T @ c / (len(x) - 1)


@case(V([1.0, 2.0, 3.0]))
def np_norm(x: te.Vec) -> te.Vec:
    return x / np.linalg.norm(x)


@case(V([1.0, 2.0, 3.0]), V([0.1, 0.2, 0.3]))
def np_huber(x: te.Vec, y: te.Vec) -> float:
    r = x - y
    return np.sum(np.where(np.abs(r) < 1.0, 0.5 * r**2, np.abs(r) - 0.5))


@case(V([1.0, 2.0, 3.0, 4.0]))
def np_diff(x: te.Vec) -> float:
    return np.sum((x[1:] - x[:-1]) ** 2) + np.sum(np.diff(x) ** 2)


@case(V([1.0, 2.0, 3.0, 4.0]))
def np_roll(x: te.Vec) -> te.Vec:
    return np.roll(x, 1) - x


@case(V([1.0, 2.0, 3.0, 4.0]))
def np_std(x: te.Vec) -> float:
    return np.std(x) + np.var(x)


@case(V([1.0, 2.0, 3.0, 4.0]))
def np_cum(x: te.Vec) -> float:
    return np.sum(np.cumsum(x) * np.cumprod(x))


@case(V([1.0, 2.0, 3.0, 4.0]), 2)
def np_argmax(x: te.Vec, k: int) -> float:
    return x[np.argmax(x)] * x[k]


@case(V([1.0, 2.0, 3.0]))
def np_outer(x: te.Vec) -> float:
    return np.trace(np.outer(x, x)) + np.sum(np.eye(3) * x)


@case(V([1.0, 2.0, 3.0]), V([1.0, 2.0, 2.0]))
def np_stack(x: te.Vec, y: te.Vec) -> float:
    m = np.stack([x, y])
    return np.sum(m[0] * m[1]) + np.max(m, axis=0).sum()


V3 = [1.0, 2.0]


@case(V([0.5, 0.25]))
def np_logaddexp(x: te.Vec) -> float:
    return np.logaddexp(x[0], x[1]) + np.log1p(x).sum() + np.expm1(x).prod()


@case(V([1.0, 2.0, 3.0]))
def np_inplace(x: te.Vec) -> te.Vec:
    y = x.copy()
    y += 1.0
    y[0] *= 2.0
    y[1:] = x[:-1]
    return y


@dataclass(frozen=True)
class Num:
    v: float


@dataclass(frozen=True)
class Add:
    a: "Expr"
    b: "Expr"


@dataclass(frozen=True)
class Mul:
    a: "Expr"
    b: "Expr"


Expr = Num | Add | Mul


@case(Add(Num(2.0), Mul(Num(3.0), Num(4.0))))
def evaluate(e: Expr) -> float:
    match e:
        case Num(v):
            return v
        case Add(a, b):
            return evaluate(a) + evaluate(b)
        case Mul(a, b):
            return evaluate(a) * evaluate(b)


@dataclass(frozen=True)
class Item:
    w: float
    v: float
    tags: list[float]


@case([Item(1.0, 2.0, [0.1, 0.2]), Item(3.0, 1.0, [0.3])], 0.5)
def items(xs: list[Item], k: float) -> float:
    return sum(i.w * i.v + k * sum(i.tags) for i in xs)


@dataclass(frozen=True)
class Model:
    weights: list[list[float]]
    bias: list[float]
    scale: float = 1.0


@case(Model([[0.1, 0.2], [0.3, 0.4]], [0.0, 0.1], 2.0), [1.0, 2.0])
def predict(m: Model, x: list[float]) -> list[float]:
    return [m.scale * (sum(w * v for w, v in zip(row, x)) + b) for row, b in zip(m.weights, m.bias)]


@case(0.3, 0.4)
def global_const(x: float, y: float) -> float:
    return GRAVITY * x + TABLE[1] * y + OPTIONS["gain"]


GRAVITY = 9.81
TABLE = (1.0, 2.5)
OPTIONS = {"gain": 3.0}


@case(4.0)
def newton_sqrt(a: float) -> float:
    x = a
    while True:
        y = 0.5 * (x + a / x)
        if abs(y - x) < 1e-15 * y:
            return y
        x = y


@case(1.0, 2.0)
def chained_cmp(x: float, y: float) -> float:
    return (0 < x < y <= 2) * x + (x != y) * y


@case([0.1, 0.5, 0.9])
def enumerate_start(xs: list[float]) -> float:
    s = 0.0
    for i, x in enumerate(xs, 1):
        s += x / i
    return s


@case([2.0, 3.0, 1.0])
def set_min(xs: list[float]) -> float:
    lo, hi = min(xs), max(xs)
    return hi - lo + min(xs[0], xs[1], xs[2]) + max(xs, key=lambda v: -v)


@case(0.2)
def gen_helper(x: float) -> float:
    def powers(n):
        return (x**k for k in range(n))

    return sum(powers(4))


@case([1.0, 2.0, 3.0, 4.0])
def strided(xs: list[float]) -> float:
    return sum(xs[::2]) * sum(xs[1::2]) + xs[-1] + sum(xs[-2:])


@case([1.0, 2.0, 3.0])
def list_eq(xs: list[float]) -> float:
    ys = [x for x in xs]
    n = ys.index(2.0)
    return xs[n] * ys.count(2.0)


@case(1.5)
def math_misc(x: float) -> float:
    return (
        math.copysign(x, -1.0)
        + math.fmod(x, 1.0)
        + math.gamma(x)
        + math.lgamma(x)
        + math.cbrt(x)
        + math.exp2(x)
        + math.log2(x)
        + math.log10(x)
        + math.atan2(x, 2.0)
        + math.degrees(x)
        + math.dist([x, 1.0], [0.0, 0.0])
    )


@case([0.3, -0.2, 0.1], 3)
def nested_break(xs: list[float], n: int) -> float:
    t = 0.0
    for i in range(n):
        for x in xs:
            if x < 0:
                break
            if i == 1:
                continue
            t += x * i
        else:
            t += 100.0
        if t > 50:
            return t
    return t


@case(1.0, 0.1)
def pid(target: float, kp: float) -> float:
    y = integral = prev = 0.0
    for step in range(20):
        e = target - y
        integral += e
        u = kp * e + 0.01 * integral + 0.05 * (e - prev)
        u = min(max(u, -0.5), 0.5)
        y, prev = y + u, e
    return y


@case([0.2, 0.8], [[0.7, 0.3], [0.4, 0.6]], [0, 1, 1, 0])
def viterbi(pi: list[float], a: list[list[float]], obs: list[int]) -> float:
    v = [math.log(p) for p in pi]
    for o in obs:
        v = [max(v[i] + math.log(a[i][j]) for i in range(len(v))) + (0.1 if o == j else -0.1) for j in range(len(v))]
    return max(v)


@case(4.0)
def t2(x: float) -> float:
    try:
        y = math.log(x - 3.0)
    except ValueError as e:
        y = 0.0
    else:
        y = y * 2
    return y + x


@case([1.0, -1.0, 2.0, 0.0])
def t3(xs: list[float]) -> float:
    s = 0.0
    for x in xs:
        try:
            s += math.sqrt(x) / x
        except ValueError:
            s -= x * x
        except ZeroDivisionError:
            continue
    return s


@case([1.0, 2.0], 5)
def t4(xs: list[float], k: int) -> float:
    try:
        return xs[k] * 2.0
    except IndexError:
        return xs[-1] * 3.0


@case(-1.0)
def t6(x: float) -> float:
    try:
        return math.sqrt(x)
    except ZeroDivisionError:
        return 0.0


@case([1.0, 2.0, 3.0])
def p2(xs: list[float]) -> float:
    ys = list(xs)
    s = 0.0
    while len(ys) > 1:
        s += ys.pop() * 2.0
        s = s * ys.pop(0)
    return s + sum(ys)


@case([3.0, 1.0, 2.0])
def insertion(xs: list[float]) -> float:
    ys = list(xs)
    for i in range(1, len(ys)):
        key = ys[i]
        j = i - 1
        while j >= 0 and ys[j] > key:
            ys[j + 1] = ys[j]
            j -= 1
        ys[j + 1] = key
    return sum((k + 1) * y for k, y in enumerate(ys))


@case([3.0, 1.0, 2.0])
def stack_machine(xs: list[float]) -> float:
    stack = []
    for x in xs:
        stack.append(x)
        if len(stack) > 1:
            b = stack.pop()
            stack.append(stack.pop() * b + 1.0)
    return stack.pop()


V = np.array


@case(V([1.0, -2.0, 3.0]))
def m1(x: te.Vec) -> te.Vec:
    y = np.zeros(3)
    y[x > 0] = 2.0
    return y * x


@case(V([1.0, -2.0, 3.0]), 0.5)
def m2(x: te.Vec, a: float) -> te.Vec:
    y = x * 2.0
    y[x > 0] = a
    return y


@case(V([1.0, -2.0, 3.0]), 0.5)
def m3(x: te.Vec, a: float) -> te.Vec:
    y = x * 2.0
    y[x > 0] = x[x > 0] ** 2
    return y


@case(V([1.0, -2.0, 3.0]), 0.5)
def m4(x: te.Vec, a: float) -> te.Vec:
    y = x * 2.0
    y[x > 0] *= a
    y[x < 0] += x[x < 0] * a
    return y


@case(V([1.0, -2.0, 3.0]), V([1.0]))
def m5(x: te.Vec, a: te.Vec) -> te.Vec:
    y = x * 2.0
    y[x > 0] = V2
    return y


V2 = V([1.0, 2.0, 3.0])


@case(V([1.0, -2.0, 3.0, 4.0]), 0.5)
def s1(x: te.Vec, a: float) -> te.Vec:
    y = x * 2.0
    y[1:3] = a
    y[-1:] = x[:1]
    return y


@case(V([1.0, -2.0, 3.0, 4.0]), 2)
def s2(x: te.Vec, k: int) -> te.Vec:
    y = np.zeros(len(x))
    y[k:] = x[k:] * 3.0
    y[:k] += x[:k]
    y[5:] = 1.0
    return y


@case([1.0, -2.0, 3.0, 4.0])
def s3(x: list[float]) -> list[float]:
    y = list(x)
    y[1:3] = [x[0], x[3]]
    return y


@case([1.0, -2.0, 3.0, 4.0])
def s4(x: list[float]) -> list[float]:
    y = list(x)
    y[1:3] = [x[0]]
    return y


@case(V([1.0, -2.0, 3.0, 4.0]))
def s5(x: te.Vec) -> te.Vec:
    y = x.copy()
    y[1:3] = V2
    return y


@case(V([[1.0, -2.0], [3.0, 4.0]]))
def rows_(m: te.Array[te.Vec]) -> te.Array[te.Vec]:
    y = np.zeros((2, 2))
    y[0] = m[1]
    return y


@case([1.0, 2.0, 3.0, 4.0])
def a1(xs: list[float]) -> float:
    a, *b, c = xs
    return a * sum(b) - c


@case([1.0, 2.0, 3.0, 4.0])
def a2(xs: list[float]) -> float:
    a, b = xs
    return a * b


@case([[1.0, 2.0], [3.0, 4.0]])
def a3(xs: list[list[float]]) -> float:
    return sum(a * b for a, b in xs)


@case([[1.0, 2.0], [3.0, 4.0]])
def a4(xs: list[list[float]]) -> float:
    s = 0.0
    for k, (a, b) in enumerate(xs):
        s += k * a / b
    return s


@case((1.0, 2.0, 3.0))
def a5(t: tuple[float, float, float]) -> float:
    *a, b = t
    return a[0] * a[1] + b * len(a)


@case([0.3, 0.6])
def n1(xs: list[float]) -> float:
    return next((x for x in xs if x > 5.0), xs[0])


@case([0.3, 0.6])
def n2(xs: list[float]) -> float:
    return next(x for x in xs if x > 5.0)


@case([0.3, 0.6], 0.6)
def i1(xs: list[float], v: float) -> float:
    return xs[xs.index(v)] * xs.count(v)


@case([0.3, 0.6], 0.7)
def i2(xs: list[float], v: float) -> float:
    return xs[xs.index(v)] * xs.count(v)


@case(V([1.0, 2.0, 3.0]), -2)
def r1(x: te.Vec, k: int) -> te.Vec:
    return np.roll(x, k) * np.sum(np.eye(3) * x) + np.roll(x, 4)
