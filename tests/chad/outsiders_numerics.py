"""More programs of outsiders: robotics, finance, statistics, linear algebra, simulation.

Each stands with arguments; some of these make it raise.
"""

# ruff: noqa: E731, E741, RUF005, RUF007

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from chad.outsiders import case

from tapeengine import math


class Pose(NamedTuple):
    x: float
    y: float
    th: float


@dataclass(frozen=True)
class Bond:
    face: float
    coupon: float
    years: int
    freq: int = 2

    def flows(self):
        c, n = self.face * self.coupon / self.freq, self.years * self.freq
        return [(k / self.freq, c + (self.face if k == n else 0.0)) for k in range(1, n + 1)]

    def price(self, y):
        return sum(c / (1 + y / self.freq) ** (t * self.freq) for t, c in self.flows())


@dataclass(frozen=True)
class Params:
    beta: float
    gamma: float
    mu: float = 0.01


@case(Pose(0.0, 0.0, 0.1), [1.0, 2.0], [0.1, -0.2], 0.1)
def unicycle(p, vs, ws, dt):
    for v, w in zip(vs, ws):
        p = Pose(p.x + v * math.cos(p.th) * dt, p.y + v * math.sin(p.th) * dt, p.th + w * dt)
    return p


@case(Pose(0.5, 0.2, 0.1), Pose(1.0, 0.0, 0.3))
def compose(a, b):
    c, s = math.cos(a.th), math.sin(a.th)
    return a._replace(x=a.x + c * b.x - s * b.y, y=a.y + s * b.x + c * b.y, th=a.th + b.th)


@case(Bond(100.0, 0.05, 3), 0.04)
def bond_price(b, y):
    return b.price(y)


@case(Bond(100.0, 0.05, 3), 0.04)
def duration(b, y):
    p = b.price(y)
    return sum(t * c / (1 + y / b.freq) ** (t * b.freq) for t, c in b.flows()) / p


@case([-100.0, 30.0, 50.0, 60.0], 0.1)
def irr_again(flows, guess, tol=1e-10, maxit=50):
    r = guess
    for _ in range(maxit):
        f = sum(c / (1 + r) ** i for i, c in enumerate(flows))
        df = sum(-i * c / (1 + r) ** (i + 1) for i, c in enumerate(flows))
        step = f / df
        r -= step
        if abs(step) < tol:
            break
    return r


@case(Params(0.3, 0.1), [0.99, 0.01, 0.0], 20)
def sir(p, y0, n):
    s, i, r = y0
    for _ in range(n):
        new = p.beta * s * i
        rec = p.gamma * i
        s, i, r = s - new + p.mu * (1 - s), i + new - rec - p.mu * i, r + rec - p.mu * r
    return [s, i, r]


@case(100.0, 105.0, 0.05, 0.2, 1.0)
def black_scholes_again(S, K, r, sigma, T):
    def cdf(z):
        return 0.5 * (1 + math.erf(z / math.sqrt(2)))

    d1 = (math.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * math.sqrt(T))
    d2 = d1 - sigma * math.sqrt(T)
    return S * cdf(d1) - K * math.exp(-r * T) * cdf(d2)


@case(100.0, 95.0, 0.05, 0.2, 1.0, 4)
def binomial_again(S, K, r, sigma, T, n, kind="put", american=True):
    dt = T / n
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(r * dt) - d) / (u - d)
    disc = math.exp(-r * dt)

    def payoff(s):
        return max(K - s, 0.0) if kind == "put" else max(s - K, 0.0)

    values = [payoff(S * u**j * d ** (n - j)) for j in range(n + 1)]
    for step in range(n - 1, -1, -1):
        values = [disc * (p * values[j + 1] + (1 - p) * values[j]) for j in range(step + 1)]
        if american:
            values = [max(v, payoff(S * u**j * d ** (step - j))) for j, v in enumerate(values)]
    return values[0]


@case(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.1, 3.9, 6.2, 7.8]))
def ols(x, y):
    xm, ym = x.mean(), y.mean()
    b = ((x - xm) * (y - ym)).sum() / ((x - xm) ** 2).sum()
    a = ym - b * xm
    return a, b


@case(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.1, 3.9, 6.2, 7.8]))
def ols2(x, y):
    A = np.column_stack((np.ones(len(x)), x))
    return np.linalg.solve(A.T @ A, A.T @ y)


@case(np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.1, 3.9, 6.2, 7.8]), 0.1)
def ridge(x, y, lam):
    X = np.stack([np.ones_like(x), x], axis=1)
    w = np.linalg.solve(X.T @ X + lam * np.eye(2), X.T @ y)
    return float(((X @ w - y) ** 2).sum())


@case([2.0, 3.0, 5.0], [0.2, 0.3, 0.5])
def wvar(xs, ws):
    tot = sum(ws)
    m = sum(w * x for w, x in zip(ws, xs)) / tot
    return sum(w * (x - m) ** 2 for w, x in zip(ws, xs)) / tot


@case([2.0, 3.0, 5.0, 1.0])
def skew(xs):
    n = len(xs)
    m = sum(xs) / n
    m2 = sum((x - m) ** 2 for x in xs) / n
    m3 = sum((x - m) ** 3 for x in xs) / n
    return m3 / m2**1.5


@case([2.0, 3.0, 5.0, 1.0], 0.3)
def ewma(xs, alpha):
    out = [xs[0]]
    for x in xs[1:]:
        out.append(alpha * x + (1 - alpha) * out[-1])
    return out


@case([100.0, 102.0, 101.0, 105.0])
def max_drawdown_again(prices):
    peak, worst = prices[0], 0.0
    for p in prices:
        peak = max(peak, p)
        worst = max(worst, (peak - p) / peak)
    return worst


@case([100.0, 102.0, 101.0, 105.0])
def sharpe(prices):
    rets = [math.log(b / a) for a, b in zip(prices, prices[1:])]
    m = sum(rets) / len(rets)
    sd = math.sqrt(sum((r - m) ** 2 for r in rets) / (len(rets) - 1))
    return m / sd * math.sqrt(252)


@case(np.array([0.1, 0.2]), np.array([[0.04, 0.01], [0.01, 0.09]]), np.array([0.6, 0.4]))
def portfolio(mu, cov, w):
    return w @ mu - 2.0 * (w @ cov @ w)


@case([0.0, 0.0], 0.5, 20)
def gd(x0, lr, n):
    x, y = x0
    for _ in range(n):
        gx = 2 * (x - 1)
        gy = 4 * (y + 2)
        x -= lr * gx / 2
        y -= lr * gy / 4
    return (x - 0.5) ** 2 + y


@case(3.0)
def sqrt_newton(a, tol=1e-12):
    x = a
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x


@case(3.0, 7)
def fib_like_again(x, n):
    memo = [0.0] * (n + 1)
    memo[1] = x
    for i in range(2, n + 1):
        memo[i] = memo[i - 1] * 0.5 + memo[i - 2]
    return memo[n]


@case(1.2, 5)
def rec_pow(x, n):
    def go(b: float, k: int) -> float:
        if k == 0:
            return 1.0
        h = go(b, k // 2)
        return h * h * (b if k % 2 else 1.0)

    return go(x, n)


@case(0.3, 6)
def legendre(x, n):
    if n == 0:
        return 1.0
    p0, p1 = 1.0, x
    for k in range(1, n):
        p0, p1 = p1, ((2 * k + 1) * x * p1 - k * p0) / (k + 1)
    return p1


@case([1.0, 2.0, 0.5], 0.7)
def clenshaw(c, x):
    b1 = b2 = 0.0
    for ck in reversed(c[1:]):
        b1, b2 = ck + 2 * x * b1 - b2, b1
    return c[0] + x * b1 - b2


@case([0.0, 1.0, 2.0], [1.0, 3.0, 2.0], 1.3)
def lagrange_again(xs, ys, x):
    total = 0.0
    for i, (xi, yi) in enumerate(zip(xs, ys)):
        term = yi
        for j, xj in enumerate(xs):
            if j != i:
                term *= (x - xj) / (xi - xj)
        total += term
    return total


@case([0.0, 1.0, 2.0], [1.0, 3.0, 2.0], 1.3)
def newton_div(xs, ys, x):
    n = len(xs)
    c = list(ys)
    for j in range(1, n):
        for i in range(n - 1, j - 1, -1):
            c[i] = (c[i] - c[i - 1]) / (xs[i] - xs[i - j])
    r = c[-1]
    for k in range(n - 2, -1, -1):
        r = r * (x - xs[k]) + c[k]
    return r


@case([[4.0, 1.0], [1.0, 3.0]], [1.0, 2.0])
def gauss(a, b):
    n = len(b)
    m = [row[:] + [bi] for row, bi in zip(a, b)]
    for i in range(n):
        for j in range(i + 1, n):
            f = m[j][i] / m[i][i]
            for k in range(i, n + 1):
                m[j][k] -= f * m[i][k]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][k] * x[k] for k in range(i + 1, n))) / m[i][i]
    return x


@case([[4.0, 1.0], [1.0, 3.0]])
def cholesky_again(a):
    n = len(a)
    L = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(i + 1):
            s = sum(L[i][k] * L[j][k] for k in range(j))
            if i == j:
                L[i][j] = math.sqrt(a[i][i] - s)
            else:
                L[i][j] = (a[i][j] - s) / L[j][j]
    return L


@case([4.0, 4.0, 4.0], [1.0, 1.0], [1.0, 1.0], [1.0, 2.0, 3.0])
def thomas(d, l, u, b):
    n = len(d)
    dd, bb = d.copy(), b.copy()
    for i in range(1, n):
        w = l[i - 1] / dd[i - 1]
        dd[i] -= w * u[i - 1]
        bb[i] -= w * bb[i - 1]
    x = [0.0] * n
    x[-1] = bb[-1] / dd[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (bb[i] - u[i] * x[i + 1]) / dd[i]
    return x


@case(np.array([0.0, 0.0, 1.0, 0.0, 0.0]), 0.2, 5)
def heat(u, r, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@case(np.array([0.0, 0.0, 1.0, 0.0, 0.0]), 0.2, 5)
def heat2(u, r, n):
    for _ in range(n):
        u = u + r * (np.roll(u, 1) - 2 * u + np.roll(u, -1))
    return u


@case(np.ones((4, 4)), 0.1)
def laplace(g, w):
    n = g.shape[0]
    h = g.copy()
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            h[i, j] = (1 - w) * g[i, j] + w * (g[i - 1, j] + g[i + 1, j] + g[i, j - 1] + g[i, j + 1])
    return h.sum()


@case(1.0, 0.0, 0.1, 10)
def verlet(x, v, dt, n, k=2.0):
    a = -k * x
    for _ in range(n):
        x += v * dt + 0.5 * a * dt * dt
        an = -k * x
        v += 0.5 * (a + an) * dt
        a = an
    return 0.5 * v * v + 0.5 * k * x * x


@case([1.0, 0.0], 0.1, 10)
def rk4(y, dt, n):
    def f(s):
        return [s[1], -s[0] - 0.1 * s[1]]

    def axpy(a, u, v):
        return [a * p + q for p, q in zip(u, v)]

    for _ in range(n):
        k1 = f(y)
        k2 = f(axpy(dt / 2, k1, y))
        k3 = f(axpy(dt / 2, k2, y))
        k4 = f(axpy(dt, k3, y))
        y = [yi + dt / 6 * (a + 2 * b + 2 * c + d) for yi, a, b, c, d in zip(y, k1, k2, k3, k4)]
    return y


@case(np.array([1.0, 0.0]), 0.1, 10)
def rk4np(y, dt, n):
    f = lambda s: np.array([s[1], -s[0] - 0.1 * s[1]])
    for _ in range(n):
        k1 = f(y)
        k2 = f(y + dt / 2 * k1)
        k3 = f(y + dt / 2 * k2)
        k4 = f(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@case(1.0, 2.0)
def adaptive(a, b, tol=1e-6):
    f = lambda x: math.exp(-x * x)

    def simpson(lo, hi):
        return (hi - lo) / 6 * (f(lo) + 4 * f((lo + hi) / 2) + f(hi))

    def go(lo: float, hi: float, whole: float, depth: int) -> float:
        mid = (lo + hi) / 2
        l, r = simpson(lo, mid), simpson(mid, hi)
        if depth == 0 or abs(l + r - whole) < 15 * tol:
            return l + r + (l + r - whole) / 15
        return go(lo, mid, l, depth - 1) + go(mid, hi, r, depth - 1)

    return go(a, b, simpson(a, b), 8)


@case(0.2, 1.5)
def trapz(a, b, n=20):
    h = (b - a) / n
    return h * (0.5 * math.sin(a) + 0.5 * math.sin(b) + sum(math.sin(a + i * h) for i in range(1, n)))


@case([1.0, 2.0, 3.0], 2)
def movavg(xs, w):
    return [sum(xs[i : i + w]) / w for i in range(len(xs) - w + 1)]


@case("abs", [1.0, -2.0])
def dispatch(kind, xs):
    if kind == "abs":
        return sum(abs(x) for x in xs)
    elif kind == "sq":
        return sum(x * x for x in xs)
    raise ValueError(f"unknown {kind}")


@case("foo", [1.0, -2.0])
def dispatch2(kind, xs):
    if kind == "abs":
        return sum(abs(x) for x in xs)
    raise ValueError(f"unknown {kind}")


@case({"lr": 0.1, "momentum": 0.9}, [1.0, 2.0], 5)
def momentum(cfg, x0, n):
    x = list(x0)
    v = [0.0] * len(x)
    for _ in range(n):
        g = [2 * xi for xi in x]
        v = [cfg["momentum"] * vi - cfg["lr"] * gi for vi, gi in zip(v, g)]
        x = [xi + vi for xi, vi in zip(x, v)]
    return sum(xi**2 for xi in x)


@case(np.array([0.5, -0.3]), np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.5]]), np.array([1.0, 0.0, 1.0]))
def logreg(w, X, y):
    z = X @ w
    p = 1 / (1 + np.exp(-z))
    return -np.mean(y * np.log(p) + (1 - y) * np.log(1 - p))


@case(np.array([0.5, -0.3, 1.0]))
def softmax(z):
    e = np.exp(z - z.max())
    return e / e.sum()


@case([0.5, -0.3, 1.0])
def logsumexp(z):
    m = max(z)
    return m + math.log(sum(math.exp(x - m) for x in z))


@case([[0.7, 0.3], [0.4, 0.6]], [[0.9, 0.1], [0.2, 0.8]], [0.5, 0.5], [0, 1, 0])
def hmm(A, B, pi, obs):
    n = len(pi)
    alpha = [pi[i] * B[i][obs[0]] for i in range(n)]
    for o in obs[1:]:
        alpha = [sum(alpha[i] * A[i][j] for i in range(n)) * B[j][o] for j in range(n)]
    return math.log(sum(alpha))


@case([1.0, 2.0, 4.0], 0.1, 0.5)
def kalman1d(zs, q, r, x=0.0, p=1.0):
    ll = 0.0
    for z in zs:
        p += q
        s = p + r
        k = p / s
        ll += -0.5 * (math.log(2 * math.pi * s) + (z - x) ** 2 / s)
        x, p = x + k * (z - x), (1 - k) * p
    return ll


@case(np.array([1.0, 0.0]), np.eye(2), [1.0, 1.2], 0.1)
def kalman2d(x, P, zs, q):
    F = np.array([[1.0, 0.1], [0.0, 1.0]])
    H = np.array([[1.0, 0.0]])
    for z in zs:
        x = F @ x
        P = F @ P @ F.T + q * np.eye(2)
        S = (H @ P @ H.T)[0, 0] + 0.5
        K = (P @ H.T)[:, 0] / S
        x = x + K * (z - x[0])
        P = P - np.outer(K, H @ P)
    return x


@case([(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.5)])
def polygon_area(pts):
    s = 0.0
    for (x0, y0), (x1, y1) in zip(pts, pts[1:] + pts[:1]):
        s += x0 * y1 - x1 * y0
    return abs(s) / 2


@case([(0.0, 0.0), (1.0, 0.2), (1.3, 1.0)])
def path_length(pts):
    return sum(math.hypot(b[0] - a[0], b[1] - a[1]) for a, b in itertools.pairwise(pts))


@case((1.0, 0.0, 0.0), (0.0, 0.0, 1.0), 0.3)
def rodrigues(v, k, th):
    dot = sum(a * b for a, b in zip(v, k))
    cr = (k[1] * v[2] - k[2] * v[1], k[2] * v[0] - k[0] * v[2], k[0] * v[1] - k[1] * v[0])
    c, s = math.cos(th), math.sin(th)
    return tuple(a * c + b * s + d * dot * (1 - c) for a, b, d in zip(v, cr, k))


@case((1.0, 0.1, 0.2, 0.3), (0.9, 0.0, 0.1, 0.2))
def quat(q, r):
    w1, x1, y1, z1 = q
    w2, x2, y2, z2 = r
    n = math.sqrt(sum(c * c for c in q))
    return (w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2) / n, (w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2) / n


@case(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.25]))
def conv(x, k):
    n, m = len(x), len(k)
    out = np.zeros(n + m - 1)
    for i in range(n):
        for j in range(m):
            out[i + j] += x[i] * k[j]
    return out


@case([0.2, 0.9, 0.4], 0.5)
def count_over(xs, t):
    n = sum(1 for x in xs if x > t)
    return sum(x for x in xs if x > t) / max(n, 1)


@case([0.2, 0.9, 0.4], 3)
def nested_list(xs, n):
    table = [[x**k for k in range(n)] for x in xs]
    return sum(sum(row) for row in table) + table[1][2]


@case([3.0, 1.0, 2.0])
def insertion_again(xs):
    out = []
    for x in xs:
        i = 0
        while i < len(out) and out[i] < x:
            i += 1
        out.insert(i, x)
    return out[0] * 1 + out[1] * 2 + out[2] * 3


@case([3.0, 1.0, 2.0])
def quicksort(xs):
    def qs(a: list[float]) -> list[float]:
        if len(a) <= 1:
            return a
        p = a[0]
        return qs([x for x in a[1:] if x < p]) + [p] + qs([x for x in a[1:] if x >= p])

    s = qs(xs)
    return s[0] + 2 * s[1] + 3 * s[2]
