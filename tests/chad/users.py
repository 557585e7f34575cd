"""Programs as users of numpy write them, most without annotations; each stands with the arguments of several calls.

They are about kinds of values, records, decisions by type, control flow and whole arrays; some calls raise.
"""

# ruff: noqa: B007, C416

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

__all__ = ["CALLS"]

CALLS = {}
A = np.array
M = np.arange(6.0).reshape(2, 3) / 3 + 0.1
V = A([0.5, -1.5, 2.0])


def case(*calls):
    """Keep a program with the arguments of its calls."""

    def kept(function):
        for k, args in enumerate(calls):
            CALLS[f"{function.__name__} {k}"] = function, args
        return function

    return kept


class Point(NamedTuple):
    x: float
    y: float

    def norm(self):
        return math.hypot(self.x, self.y)


Pt = Point


@dataclass(frozen=True)
class Body:
    pos: Point
    vel: Point
    mass: float
    fixed: bool = False


@dataclass(frozen=True)
class Leaf:
    value: float


@dataclass(frozen=True)
class Node:
    left: "Leaf | Node"
    right: "Leaf | Node"


@dataclass(frozen=True)
class S:
    k: float

    @property
    def period(self):
        return 2 * math.pi / math.sqrt(self.k)

    def scaled(self, x):
        return self.period * x * self.k

    def energy(self, x):
        return self.scaled(x) + self.period


def value_of(t):
    if isinstance(t, Leaf):
        return t.value
    return 0.0


def total(t):
    if isinstance(t, Leaf):
        return t.value**2
    elif isinstance(t, Node):
        return value_of(t.left) * value_of(t.right)
    return 0.0


@case((Point(3.0, 4.0), Point(1.0, -1.0)))
def d4(p, q):
    r = Point(p.x - q.x, p.y - q.y)
    return r.norm()


@case((Point(3.0, 4.0), 2.0))
def d5(p, s):
    return p._replace(x=p.x * s)


@case(([Body(Point(0.0, 0.0), Point(1.0, 0.0), 2.0), Body(Point(1.0, 1.0), Point(0.0, -1.0), 3.0, True)], 0.1))
def d7(bodies, dt):
    out = []
    for b in bodies:
        if b.fixed:
            out.append(b)
        else:
            out.append(Body(Point(b.pos.x + dt * b.vel.x, b.pos.y + dt * b.vel.y), b.vel, b.mass, b.fixed))
    return sum(b.mass * (b.pos.x**2 + b.pos.y**2) for b in out)


@case(((1.0, (2.0, 3)),))
def d9(t):
    a, (b, n) = t
    return a * b**n, n


@case((Point(3.0, 4.0),))
def d13(p):
    return p[0] * p[-1] + len(p)


@case(([1.0, -2.0, 3.0],))
def l5(xs):
    return min(xs, key=lambda v: (v - 1.5) ** 2) * 2


@case(([1.0, 2.0, 3.0],))
def l13(xs):
    first, *rest = xs
    return first * sum(rest), rest


@case(([1.0, 2.0, 3.0], 2.0))
def l15(xs, t):
    total = 0.0
    for i, x in enumerate(xs):
        if x == t:
            continue
        if x > 10:
            break
        total += x * i
    else:
        total *= 2
    return total


@case(([1.0, 4.0, 9.0], 5.0), ([1.0, 4.0], 5.0))
def l16(xs, t):
    for i, x in enumerate(xs):
        if x > t:
            return x * i
    return -1.0


@case((2.0,), (50.0,))
def l17(x):
    n = 0
    while x < 100:
        x = x * 1.5 + n
        n += 1
        if n > 7:
            break
    return x


@case((2.0,), (3.5,))
def l18(x):
    y = x
    while True:
        new = 0.5 * (y + x / y)
        if abs(new - y) < 1e-12:
            return new
        y = new


@case(([1.0, 2.0, 3.0, 4.0],))
def l20(xs):
    return functools.reduce(lambda a, b: a * b + 1, xs, 0.5)


@case(([1.0, 2.0, 3.0],))
def l24(xs):
    out = [0.0] * len(xs)
    for i in range(len(xs)):
        for j in range(i + 1):
            out[i] += xs[j] / (j + 1)
    return out


@case(([1.0, 2.0, 3.0],), ([],))
def l25(xs):
    acc = []
    for x in xs:
        acc.append((x, x * x))
    return acc


@case(([1.0, 2.0, 3.0],))
def l29(xs):
    return [x for x in xs][1:][0] * [xs for _ in range(2)][1][2]


@case(([1.0, 2.0, 3.0],))
def l31(xs):
    m = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            m[i][j] = xs[i] * xs[j] if i != j else 1.0
    return m


@case(([1.0, 2.0, 3.0], 1), ([1.0, 2.0, 3.0], 5), ([1.0, 2.0, 3.0], -4))
def l32(xs, i):
    return xs[i] * 2


@case((A([1.0, 2.0, 3.0]), 1), (A([1.0, 2.0, 3.0]), 5), (A([1.0, 2.0, 3.0]), -4))
def l33(xs, i):
    return xs[i] * 2


@case(([1.0, 2.0, 3.0, 4.0, 5.0], 2))
def l34(xs, w):
    return [sum(xs[i : i + w]) / w for i in range(len(xs) - w + 1)]


@case((M, V), (M, A([])))
def n1(m, v):
    return m * v


@case((M,))
def n3(m):
    return m / np.sum(m, axis=1, keepdims=True)


@case((M,))
def n4(m):
    z = m - np.max(m, axis=-1, keepdims=True)
    e = np.exp(z)
    return e / e.sum(axis=-1, keepdims=True)


@case((V,))
def n5(x):
    return np.where(x > 0, x, 0.1 * x)


@case((V,))
def n6(x):
    y = x.copy()
    y[y < 0] = 0.0
    return y * y


@case((V,))
def n9(x):
    return x[::-1] * x[[2, 0, 1]]


@case((M,))
def n10(m):
    return m[:, 1:] - m[:, :-1]


@case((V,))
def n13(x):
    return x[:, None] - x[None, :]


@case((M,))
def n17(m):
    out = np.zeros(m.shape[0])
    for i in range(m.shape[0]):
        out[i] = np.dot(m[i], m[i])
    return out


@case((M,))
def n18(m):
    return [row.sum() for row in m]


@case((V, A([0, 2, 2])))
def n22(x, idx):
    return x[idx] * 2


@case((np.float64(2.0),))
def n26(x):
    return math.sin(x) * x


@case((V,))
def n39(x):
    return np.array([x[0], x[1] * x[2], 1.0])


@case((V, 2.0))
def n40(x, a):
    return np.array([[a, 0.0], [x[0], a * a]])


@case((V, A([1.0, 2.0])))
def n44(x, y):
    return x + y


@case((A([1.0, 0.0, -1.0]),))
def n45(x):
    return 1 / x


@case((A([1.0, np.inf, -1.0]),))
def n48(x):
    return np.isfinite(x).sum(), np.where(np.isfinite(x), x, 0.0).sum()


@case((V,))
def n50(x):
    return x // 1, x % 1, np.floor(x), np.round(x), -x % 0.7


@case((V,))
def n51(x):
    return np.power(np.abs(x), 2.5), x**2, x**-1, 2.0**x, np.abs(x) ** x


@case((V,))
def n65(x):
    return float(x[0]) * 2, int(x[2]), bool(x[1]), round(x[1]), abs(x[1])


@case((M,))
def n68(m):
    a, b = m
    return a @ b


@case((7, 3, 2.0), (-7, 3, 2.0), (7, -3, 2.0), (7, 0, 2.0))
def i1(a, b, x):
    return a // b, a % b, divmod(a, b), x * (a // b)


@case((2.0, 3), (0.0, 0), (0.0, -1), (-2.0, 3), (-8.0, 2))
def i3(x, n):
    return x**n


@case((0.5,), (1.5,), (2.5,))
def i6(x):
    return 0 < x <= 1, 1 < x < 2 != 3, x if 0 < x < 1 else x * x


@case((6, 1.1))
def i12(n: int, x: float) -> float:
    return x if n < 2 else i12(n - 1, x) + x * i12(n - 2, x)


@case((-1.0,), (1.0,))
def i13(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    return math.sqrt(x)


@case((-1.0,), (1.0,))
def i14(x):
    assert x > 0, "must be positive"
    return math.log(x)


@case((0.0,), (2.0,))
def i17(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        return 100.0 * x


@case((1e308,), (710.0,), (float("nan"),), (float("inf"),))
def i30(x):
    return x * 10 - x, math.isnan(x), math.isinf(x)


@case((-0.0,), (0.0,))
def i34(x):
    return -x, abs(x), x + 0.0, math.copysign(1, x), x * -1, max(x, 0.0), math.sqrt(x), math.atan2(x, -1)


@case((2**62, 1.0), (2**63 - 1, 1.0))
def i35(n, x):
    return n * 4, n + 1, x * n


@case((3.0, 4.0))
def i38(x, y):
    x, y = y, x
    x -= y
    x *= x
    y /= x
    y **= 2
    return x, y


@case((3.0,))
def i39(x):
    a = b = x
    a += 1
    return a * b


@case((3.0,))
def i40(x):
    if (y := x * x) > 4:
        return y
    return x


@case((3.0,))
def i41(x):
    for i in range(3):
        pass
    return x * i


@case((3.0, 0))
def i42(x, n):
    for i in range(n):
        y = x
    return y


@case((3.0, 1), (3.0, 2), (3.0, 3))
def i43(x, k):
    match k:
        case 1:
            return x
        case 2:
            return x * x
        case _:
            raise NotImplementedError(k)


@case((27, 1.5))
def i45(n, x):
    s = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        s += 1
    return x * s, s


@case((np.float64(1.0), np.float64(0.0)), (1.0, 0.0), (np.float64(1.0), 0.0))
def i53(x, y):
    return x / y


@case((0.3,), (5.0,))
def i70(x):
    def g(v):
        if v > 1:
            raise RuntimeError("too large", v)
        return v * 2

    return g(x)


@case((True, 2.0), (False, 2.0))
def b1(b, x):
    return -b, +b, abs(b), x * -b, b - b, round(b) if False else 0


@case((A([True, False]), A([1.0, 2.0])))
def b4(b, x):
    return b * 1 + b, b * x


@case((2, -3, 1.5), (2, 3, 1.5))
def b8(a: int, n: int, x: float) -> float:
    return a**n * x


@case((Node(Node(Leaf(1.5), Leaf(2.0)), Leaf(3.0)),))
def e1(t: Leaf | Node) -> float:
    if isinstance(t, Leaf):
        return value_of(t) ** 2
    return e1(t.left) * e1(t.right) + value_of(t) + value_of(t.left) + total(t)


@case((S(2.0), 3.0))
def e2(s, x):
    return s.energy(x)


@case(([S(2.0), S(1.0)], 3.0))
def e3(ss, x):
    return sum(s.energy(x) for s in ss)


@case((None, 2.0), (3.0, 2.0))
def e4(x, y):
    if x is None:
        x = y
    return x * y


@case((2.0,), (2.0, 3.0))
def e5(x, y=None):
    z = x if y is None else x * y
    if y is not None and z > 1.0:
        z = z * y
    return z


@case((0.0,), (2.0,))
def e6(x):
    y = 0.0
    try:
        y = 1 / x
    finally:
        y = y + 1
    return y


@case((0.0,), (2.0,))
def e7(x):
    n = 0
    try:
        y = 1 / x
    except ZeroDivisionError:
        y = x * 10
    else:
        n = n + 1
    finally:
        y = y + n
    return y * y


@case((-1.0,), (2.0,))
def e8(x):
    try:
        if x < 0:
            raise ValueError(f"no {x}")
        y = math.sqrt(x)
    finally:
        z = x * x
    return y + z


@case((Pt(1.0, 2.0), 3.0), (None, 3.0))
def e10(p, x):
    if p is not None:
        x = x * p.x
    elif x > 2:
        x = x * 5
    return x if p is None else x * p.y


@case((0.0,), (2.0,))
def e11(x):
    total = 0.0
    for i in range(3):
        try:
            total += x / (i - 1 + x)
        finally:
            total += 1
    return total


@case((2.0,), (2.0, 3.0))
def e12(x, y=None):
    if y is None or y < 1.0:
        return x
    return x * y if (y and x) else 0.0


@case((2.0,), (2.0, 3.0))
def e13(x, y=None):
    w = y is not None and y * x
    return w


@case((2.0,), (2.0, 3.0))
def e14(x, y=None):
    return sum(x for _ in range(2) if y is None or y > 2)


@case((V,), (A([-1.0]),), (A([]),))
def masks(x):
    mask = (x > 0) & (x < 1.8)
    return np.sum(x[mask] ** 2) + np.sum(x[~mask])


@case((V,), (A([]),))
def either(x):
    outside = (x < -1) | (x > 1)
    y = np.where(outside, x, x * x)
    return y.sum(), outside


@case(
    (V,),
)
def marked(x):
    y = x.copy()
    y[(y < -1) ^ (y > 1)] = 0.0
    return y * 2


@case((V, 2.0), (A([]), 2.0))
def eager(x, t):
    return t if (t > 3) & (x[0] > 1) else t * t


@case(
    (V, 2.0),
)
def looped(x, t):
    s = 0.0
    for v in x:
        if (v > 0) & (v < 1) | (t < 1):
            s += v * t
    return s
