"""More programs of outsiders: records, trees, dicts, sorting, dynamic programming, whole arrays.

Each stands with arguments; some of these make it raise.
"""

# ruff: noqa: RUF007

from __future__ import annotations

import functools
import itertools
import operator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from chad.outsiders import case

import tapeengine as te
from tapeengine import math


class S2(NamedTuple):
    pos: tuple[float, float]
    vel: tuple[float, float]
    t: float = 0.0


@dataclass(frozen=True)
class Layer:
    w: te.Array[te.Vec]
    b: te.Vec
    act: str = "tanh"


@dataclass(frozen=True)
class Call:
    strike: float
    kind: str = "call"

    def payoff(self, s):
        return max(s - self.strike, 0.0) if self.kind == "call" else max(self.strike - s, 0.0)


@dataclass(frozen=True)
class Num:
    v: float


@dataclass(frozen=True)
class Add:
    a: Num | Add | Mul
    b: Num | Add | Mul


@dataclass(frozen=True)
class Mul:
    a: Num | Add | Mul
    b: Num | Add | Mul


@dataclass(frozen=True)
class Tree:
    value: float
    left: Tree | None = None
    right: Tree | None = None


@dataclass(frozen=True)
class V2:
    x: float
    y: float

    def __add__(self, o):
        return V2(self.x + o.x, self.y + o.y)

    def __sub__(self, o):
        return V2(self.x - o.x, self.y - o.y)

    def __mul__(self, k):
        return V2(self.x * k, self.y * k)

    __rmul__ = __mul__

    def __neg__(self):
        return V2(-self.x, -self.y)

    def dot(self, o):
        return self.x * o.x + self.y * o.y

    @property
    def norm2(self):
        return self.dot(self)

    @classmethod
    def polar(cls, r, t):
        return cls(r * math.cos(t), r * math.sin(t))

    @staticmethod
    def zero():
        return V2(0.0, 0.0)


G = 9.81

TABLE = {"a": 1.0, "b": 2.0}

WEIGHTS = np.array([0.2, 0.8])

NAMES = ("x", "y")


@case(S2((0.0, 0.0), (1.0, 2.0)), 0.1, 5)
def projectile(s, dt, n, drag=0.1):
    for _ in range(n):
        (x, y), (vx, vy) = s.pos, s.vel
        sp = math.sqrt(vx * vx + vy * vy)
        ax, ay = -drag * sp * vx, -G - drag * sp * vy
        s = S2((x + vx * dt, y + vy * dt), (vx + ax * dt, vy + ay * dt), s.t + dt)
    return s.pos[0] + s.pos[1]


@case(Add(Num(2.0), Mul(Num(3.0), Num(4.0))))
def ev(e: Num | Add | Mul) -> float:
    match e:
        case Num(v):
            return v
        case Add(a, b):
            return ev(a) + ev(b)
        case Mul(a, b):
            return ev(a) * ev(b)


@case(Add(Num(2.0), Mul(Num(3.0), Num(4.0))))
def ev2(e: Num | Add | Mul) -> float:
    if isinstance(e, Num):
        return e.v
    if isinstance(e, Add):
        return ev2(e.a) + ev2(e.b)
    return ev2(e.a) * ev2(e.b)


@case(Tree(1.0, Tree(2.0), Tree(3.0, None, Tree(4.0))))
def tree_sum(t: Tree | None) -> float:
    if t is None:
        return 0.0
    return t.value**2 + tree_sum(t.left) + 0.5 * tree_sum(t.right)


@case(Tree(1.0, Tree(2.0), Tree(3.0, None, Tree(4.0))))
def tree_sum2(t: Tree) -> float:
    total = t.value**2
    if t.left is not None:
        total += tree_sum2(t.left)
    if t.right is not None:
        total += 0.5 * tree_sum2(t.right)
    return total


@case(Tree(1.0, Tree(2.0), Tree(3.0, None, Tree(4.0))))
def tree_max(t: Tree) -> float:
    best = t.value
    for child in (t.left, t.right):
        if child is not None:
            best = max(best, tree_max(child))
    return best


@case(V2(1.0, 2.0), V2(0.5, -1.0), 0.3)
def vec_ops(a, b, k):
    c = a + k * b - (-a) * 2.0
    return c.dot(b) + c.norm2


@case([V2(1.0, 2.0), V2(0.5, -1.0)])
def vec_sum(vs):
    return sum(v.norm2 for v in vs)


@case([V2(1.0, 2.0), V2(0.5, -1.0)])
def vec_acc(vs):
    tot = V2(0.0, 0.0)
    for v in vs:
        tot = tot + v
    return tot


@case(2.0, "b")
def table(x, k):
    return x * TABLE[k]


@case(np.array([1.0, 2.0]))
def glob_arr(x):
    return (WEIGHTS * x).sum() + x @ WEIGHTS


@case([1.0, 2.0, 3.0, 4.0])
def stepslice(xs):
    return sum(xs[::2]) - sum(xs[1::2])


@case([1.0, 2.0, 3.0, 4.0])
def rev(xs):
    return sum(a * b for a, b in zip(xs, xs[::-1]))


@case([1.0, 2.0, 3.0, 4.0])
def revd(xs):
    return sum(a * b for a, b in zip(xs, reversed(xs)))


@case([1.0, 2.0, 3.0, 4.0])
def prod(xs):
    return functools.reduce(operator.mul, xs, 1.0)


@case([1.0, 2.0, 3.0, 4.0])
def prod2(xs):
    return functools.reduce(lambda a, b: a * b + 1, xs)


@case([1.0, 2.0, 3.0, 4.0])
def acc(xs):
    return list(itertools.accumulate(xs, lambda a, b: a * 0.5 + b))


@case([1.0, 2.0, 3.0, 4.0])
def acc2(xs):
    return [s * 2 for s in itertools.accumulate(xs)]


@case([1.0, 2.0, 3.0])
def comb(xs):
    return sum(a * b for a, b in itertools.combinations(xs, 2))


@case([1.0, 2.0, 3.0])
def prodit(xs):
    return sum(a * b for a, b in itertools.product(xs, xs) if a < b)


@case([1.0, 2.0, 3.0])
def anyall(xs):
    return sum(xs) if any(x > 2 for x in xs) and all(x > 0 for x in xs) else 0.0


@case([1.0, 2.0, 3.0], 2.5)
def bisect_(xs, v):
    lo, hi = 0, len(xs)
    while lo < hi:
        mid = (lo + hi) // 2
        if xs[mid] < v:
            lo = mid + 1
        else:
            hi = mid
    return xs[lo] * v


@case([1.0, 2.0, 3.0], [2.0, 4.0, 8.0], 2.5)
def interp_again(xs, ys, v):
    for (x0, y0), (x1, y1) in zip(zip(xs, ys), zip(xs[1:], ys[1:])):
        if x0 <= v <= x1:
            return y0 + (y1 - y0) * (v - x0) / (x1 - x0)
    return ys[-1]


@case([1.0, 2.0, 3.0], [2.0, 4.0, 8.0], 2.5)
def interp2(xs, ys, v):
    i = next(k for k in range(len(xs) - 1) if xs[k] <= v <= xs[k + 1])
    return ys[i] + (ys[i + 1] - ys[i]) * (v - xs[i]) / (xs[i + 1] - xs[i])


@case([3.0, 1.0, 2.0])
def topk(xs, k=2):
    return sum(sorted(xs, reverse=True)[:k])


@case([3.0, 1.0, 2.0])
def rank(xs):
    order = sorted(range(len(xs)), key=lambda i: xs[i])
    return sum((k + 1) * xs[i] for k, i in enumerate(order))


@case([3.0, 1.0, 2.0])
def argmin_(xs):
    i = min(range(len(xs)), key=lambda i: xs[i])
    return xs[i] * 10


@case([3.0, 1.0, 2.0])
def argmin2(xs):
    i = xs.index(min(xs))
    return xs[i] * 10


@case([3.0, 1.0, 2.0, 4.0])
def median_again(xs):
    s = sorted(xs)
    n = len(s)
    m = n // 2
    return s[m] if n % 2 else (s[m - 1] + s[m]) / 2


@case([3.0, 1.0, 2.0, 4.0])
def minmax(xs):
    lo, hi = min(xs), max(xs)
    return [(x - lo) / (hi - lo) for x in xs]


@case([[1.0, 2.0], [3.0, 4.0]])
def transp(m):
    return [list(c) for c in zip(*m)]


@case([[1.0, 2.0], [3.0, 4.0]], [[0.5, 1.0], [1.5, 2.0]])
def matmul(a, b):
    return [[sum(x * y for x, y in zip(r, c)) for c in zip(*b)] for r in a]


@case([[1.0, 2.0], [3.0, 4.0]])
def flat(m):
    return sum(x**2 for row in m for x in row)


@case([[1.0, 2.0], [3.0, 4.0]])
def colmax(m):
    return [max(row[j] for row in m) for j in range(len(m[0]))]


@case([[1.0, 2.0], [3.0, 4.0]])
def trace_(m):
    return sum(m[i][i] for i in range(len(m)))


@case(1.0, 20)
def collatz(x, n):
    steps = 0
    while n != 1 and steps < 100:
        if n % 2 == 0:
            n //= 2
            x *= 0.9
        else:
            n = 3 * n + 1
            x += 0.1
        steps += 1
    return x * steps


@case(0.5)
def series(x):
    term, total, k = 1.0, 1.0, 1
    while True:
        term *= x / k
        total += term
        if abs(term) < 1e-12:
            break
        k += 1
    return total


@case(0.7, 3.0)
def kepler(e, M):
    E = M
    for _ in range(100):
        dE = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
        E -= dE
        if abs(dE) < 1e-13:
            break
    else:
        raise RuntimeError("no convergence")
    return E


@case([1.0, 5.0, 2.0, 8.0], 3.0)
def continue_(xs, t):
    s = 0.0
    for i, x in enumerate(xs, start=1):
        if x < t:
            continue
        if x > 7:
            break
        s += i * x
    return s


@case("abc", 2.0)
def textloop(s, x):
    t = 0.0
    for c in s:
        t += x if c == "a" else 0.5 * x
    return t


@case(2.0, 3.0)
def kwonly(x, y, *, scale=2.0):
    def inner(a, /, b, *, c=1.0):
        return a * b * c

    return inner(x, b=y, c=scale)


@case(2.0)
def counter(x):
    n = 0.0

    def bump(d):
        nonlocal n
        n += d * x
        return n

    bump(1.0)
    bump(2.0)
    return n


@case(2.0, 5)
def ternchain(x, n):
    return x if n < 2 else x**2 if n < 4 else x**3 if n < 6 else 0.0


@case(2.0, (1, 2.5))
def tupargs(x, t):
    n, w = t
    return x * n * w


@case({"w": [1.0, 2.0], "b": 0.5}, [3.0, 4.0])
def dictparams(p, x):
    return sum(wi * xi for wi, xi in zip(p["w"], x)) + p["b"]


@case({"w": np.array([[1.0, 2.0]]), "b": np.array([0.5])}, np.array([3.0, 4.0]))
def dictparams2(p, x):
    return float(np.sum(np.tanh(p["w"] @ x + p["b"])))


@case({"w": [1.0, 2.0], "b": 0.5}, 0.1)
def dictupd(p, lr):
    g = {"w": [2 * w for w in p["w"]], "b": 2 * p["b"]}
    return {k: ([a - lr * b for a, b in zip(p[k], g[k])] if k == "w" else p[k] - lr * g[k]) for k in p}


@case({"a": 1.0, "b": 2.0})
def ditems(d):
    s = 0.0
    for k, v in d.items():
        s += v * len(k)
    return s


@case({"a": 1.0, "b": 2.0})
def dvals(d):
    return max(d.values()) + d.get("c", 3.0)


@case(np.array([[1.0, 2.0], [3.0, 4.0]]))
def npred(m):
    return m.sum(axis=0)[0] + m.mean(axis=1)[1] + m.max() + m.min(axis=0).sum()


@case(np.array([[1.0, 2.0], [3.0, 4.0]]))
def npnorm(m):
    return (m - m.mean(axis=0)) / m.std(axis=0)


@case(np.array([[1.0, 2.0], [3.0, 4.0]]))
def npkeep(m):
    return m / m.sum(axis=1, keepdims=True)


@case(np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0, 0.0]))
def pdist(x, y):
    return np.sqrt((x[:, None] - y[None, :]) ** 2).sum()


@case(np.array([1.0, 2.0, 3.0]))
def npcmp(x):
    return np.where(x > 1.5, x**2, -x).sum()


@case(np.array([1.0, -2.0, 3.0]))
def huber(r, d=1.5):
    a = np.abs(r)
    return np.sum(np.where(a <= d, 0.5 * r * r, d * (a - 0.5 * d)))


@case(np.array([1.0, -2.0, 3.0]))
def npbool(r):
    return r[(r > 0) & (r < 2.5)].sum() + r[~(r > 0)].sum()


@case(np.array([1.0, -2.0, 3.0]))
def npcum(r):
    return np.cumsum(r)[-1] * np.cumprod(r)[1]


@case(np.array([1.0, -2.0, 3.0]))
def npself(r):
    r = r * 2
    r += 1.0
    return (r**2).sum()


@case(np.array([1.0, -2.0, 3.0]))
def nploop(r):
    s = 0.0
    for i in range(r.shape[0]):
        s += r[i] * r[i - 1]
    return s


@case(np.array([1.0, -2.0, 3.0]))
def npempty(r):
    out = np.empty(len(r))
    for i, v in enumerate(r):
        out[i] = v * i
    return out


@case(np.array([1.0, -2.0, 3.0]))
def npzl(r):
    out = np.zeros_like(r)
    out[0] = r[0]
    for i in range(1, len(r)):
        out[i] = 0.5 * out[i - 1] + r[i]
    return out[-1]


@case(np.array([1.0, -2.0, 3.0]))
def npappend(r):
    res = []
    for v in r:
        res.append(math.sin(v))
    return np.array(res).sum()


@case(np.eye(3) * 2, np.array([1.0, 2.0, 3.0]))
def quad(A, x):
    return x @ np.linalg.inv(A) @ x + np.log(np.linalg.det(A))


@case(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.5]))
def corr(x, y):
    xm, ym = x - x.mean(), y - y.mean()
    return (xm @ ym) / np.sqrt((xm @ xm) * (ym @ ym))


@case(np.arange(12.0).reshape(3, 4))
def reshape(m):
    return m.reshape(2, 6)[1].sum() + m.T[0].sum() + m[:, 1:3].sum() + m[1:, ::2].sum()


@case(np.arange(4.0) + 1, 2)
def polyfit(c, n):
    d = c
    for _ in range(n):
        d = np.array([k * a for k, a in enumerate(d)][1:])
    return d.sum()


@case(np.arange(4.0) + 1)
def npsort(c):
    return np.sort(c)[::-1][:2].sum() + np.argmax(c)


@case(0.3, 0.5)
def complexish(a, b):
    re, im = a, b
    for _ in range(4):
        re, im = re * re - im * im + a, 2 * re * im + b
    return math.hypot(re, im)


@case(10.0, 0.3, seed := 3)
def lcg(x, s, seed):
    state, tot = seed, 0.0
    for _ in range(5):
        state = (1103515245 * state + 12345) % 2**31
        tot += x * math.exp(-s * state / 2**31)
    return tot


@case([1.0, 2.0], [3.0, 4.0], [0.1, 0.2])
def ziplong(a, b, c):
    return sum(x * y + z for x, y, z in zip(a, b, c))


@case([0.5, 0.2, 0.9])
def enumzip(xs):
    return sum(i * a * b for i, (a, b) in enumerate(zip(xs, xs[1:])))


@case([0.5, 0.2, 0.9], 3)
def whilepop(xs, n):
    stack = list(xs)
    t = 0.0
    while stack:
        t = t * 0.5 + stack.pop()
    return t


@case([0.5, 0.2, 0.9], 3)
def queue(xs, n):
    q = list(xs)
    t = 0.0
    while len(q) > 0:
        v = q.pop(0)
        t += v
        if v > 0.4:
            q.append(v * 0.5)
    return t


@case(3, 1.5)
def pascal(n, x):
    row = [1.0]
    for _ in range(n):
        row = [1.0] + [a + b * x for a, b in zip(row, row[1:])] + [1.0]
    return sum(row)


@case([1.0, 3.0, 4.0], [1.0, 2.0, 4.0, 5.0])
def dtw_again(a, b):
    inf = float("inf")
    D = [[inf] * (len(b) + 1) for _ in range(len(a) + 1)]
    D[0][0] = 0.0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            D[i][j] = (a[i - 1] - b[j - 1]) ** 2 + min(D[i - 1][j], D[i][j - 1], D[i - 1][j - 1])
    return D[-1][-1]


@case([(0, 1, 2.0), (1, 2, 3.0), (0, 2, 10.0)], 3)
def bellman(edges, n):
    dist = [0.0] + [1e9] * (n - 1)
    for _ in range(n - 1):
        for u, v, w in edges:
            if dist[u] + w < dist[v]:
                dist[v] = dist[u] + w
    return dist[n - 1]


@case([60.0, 100.0, 120.0], [1, 2, 3], 5)
def knapsack(vals, wts, cap):
    best = [0.0] * (cap + 1)
    for v, w in zip(vals, wts):
        for c in range(cap, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best[cap]


@case(np.array([0.2, 0.3, 0.5]), np.array([[0.5, 0.25, 0.25], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]]), 5)
def markov(p, P, n):
    for _ in range(n):
        p = p @ P
    return p[0]


@case(1.5)
def tryexc(x):
    try:
        y = math.sqrt(1 - x)
    except ValueError:
        y = x * 2
    return y


@case(2.0, [1, 2, 3])
def intlist(x, ns):
    return sum(x**n for n in ns)


@case(2.0, [True, False, True])
def masksum(x, ms):
    return sum(x for m in ms if m)


@case(2.0)
def assertmsg(x):
    assert x > 0, "positive"
    return math.log(x)


@case(-2.0)
def assertmsg2(x):
    assert x > 0, "positive"
    return math.log(x)


@case(2.0, 0)
def divzero(x, n):
    return x / n


@case([], 1.0)
def emptymax(xs, y):
    return max(xs) * y


@case([], 1.0)
def emptysum(xs, y):
    return sum(xs) * y + y


@case([1.0], 5)
def idxerr(xs, i):
    return xs[i]
