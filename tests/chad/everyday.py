"""Programs of simulation, statistics, finance and robotics, and what each new construct means, with arguments."""

# ruff: noqa: B007, E731, E741

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

__all__ = ["EVERYDAY"]

EVERYDAY = {}


def case(*args, **named):
    """Keep a program with the arguments of a call."""

    def kept(function):
        EVERYDAY[f"{function.__name__} {len(EVERYDAY)}"] = function, args, named
        return function

    return kept


rng = np.random.default_rng(0)
V = rng.normal(size=20)
W = np.abs(rng.normal(size=20)) + 0.5
M = rng.normal(size=(6, 4))
PARAMS = {"w1": np.eye(2), "b1": np.ones(2), "w2": np.array([1.0, 2.0])}


# ---------------- simulation
@case([0.0, 1.0, 0.5], [0.0, 0.0, 0.0], 0.01, 200)
def spring_chain(pos: list, vel: list, dt: float, steps: int = 100):
    """chain of masses"""
    n = len(pos)
    energy = []
    for _ in range(steps):
        forces = [0.0] * n
        for i, j in itertools.pairwise(range(n)):
            stretch = pos[j] - pos[i] - 1.0
            forces[i] += 10.0 * stretch
            forces[j] -= 10.0 * stretch
        vel = [v + dt * f for v, f in zip(vel, forces, strict=True)]
        pos = [p + dt * v for p, v in zip(pos, vel, strict=True)]
        energy.append(sum(0.5 * v**2 for v in vel))
    return energy[-1] + sum(energy) / len(energy)


@case({"beta": 0.3, "gamma": 0.1, "s": 0.99, "i": 0.01, "r": 0.0}, 160)
def sir(params: dict, days: int) -> float:
    s, i, r = params["s"], params["i"], params["r"]
    peak = 0.0
    for day in range(days):
        new = params["beta"] * s * i
        rec = params["gamma"] * i
        s, i, r = s - new, i + new - rec, r + rec
        if i > peak:
            peak = i
    return peak


@case(np.array([1.0, 0.0, 0.0, 1.0]), 1.0, 0.02, 150)
def kepler(state: np.ndarray, mu: float, h: float, n: int) -> np.ndarray:
    def deriv(y):
        r = math.sqrt(y[0] ** 2 + y[1] ** 2)
        return np.array([y[2], y[3], -mu * y[0] / r**3, -mu * y[1] / r**3])

    y = state
    for _ in range(n):
        k1 = deriv(y)
        k2 = deriv(y + h / 2 * k1)
        k3 = deriv(y + h / 2 * k2)
        k4 = deriv(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


@case([[0.0, 0.0], [1.0, 0.2], [0.3, 1.0]], "lj")
def pair_energy(points, kind="coulomb"):
    total = 0.0
    for (xa, ya), (xb, yb) in itertools.combinations(points, 2):
        r = math.hypot(xa - xb, ya - yb)
        if kind == "lj":
            total += 4.0 * ((1 / r) ** 12 - (1 / r) ** 6)
        elif kind == "coulomb":
            total += 1.0 / r
        else:
            raise ValueError(f"unknown kind {kind!r}")
    return total


@case(np.sin(np.linspace(0, 3, 40)), 0.1, 30)
def heat(u, alpha, steps):
    u = u.copy()
    for _ in range(steps):
        padded = np.pad(u, 1, mode="edge")
        u = u + alpha * (padded[2:] - 2 * padded[1:-1] + padded[:-2])
    return np.trapezoid(u**2)


class Ball(NamedTuple):
    x: float
    y: float
    vx: float
    vy: float


@case(Ball(0.0, 1.0, 1.0, 0.5), 0.8)
def bounce(b: Ball, restitution: float):
    dt, g = 0.01, 9.81
    hits = 0
    while hits < 3:
        vy = b.vy - g * dt
        y = b.y + dt * vy
        if y < 0.0:
            y, vy = -y, -vy * restitution
            hits += 1
        b = b._replace(x=b.x + dt * b.vx, y=y, vy=vy)
    return b


@case([0.2, 0.5, 0.9], lambda_=2.0)
def logistic_map(xs: Sequence[float], *, lambda_: float = 3.5, n: int = 10):
    out = []
    for x in xs:
        for _ in range(n):
            x = lambda_ * x * (1.0 - x)
        out.append(x)
    return out


# ---------------- statistics
@case(V, W)
def weighted_stats(x, w):
    mean = np.average(x, weights=w)
    var = np.average((x - mean) ** 2, weights=w)
    med = np.median(x)
    lo, hi = np.percentile(x, 25), np.percentile(x, 75)
    return {"mean": mean, "std": math.sqrt(var), "median": med, "iqr": hi - lo}


@case(V.tolist())
def robust_location(xs):
    m = sorted(xs)[len(xs) // 2]
    for _ in range(20):
        ws = [1.0 if abs(x - m) < 1.345 else 1.345 / abs(x - m) for x in xs]
        m = math.fsum(w * x for w, x in zip(ws, xs)) / math.fsum(ws)
    return m


@case(V, np.array([0.3, 0.7]), np.array([-1.0, 1.0]), np.array([1.0, 0.5]))
def mixture_nll(x, pi, mu, sigma):
    dens = np.zeros(len(x), dtype=float)
    for k in range(len(pi)):
        z = (x - mu[k]) / sigma[k]
        dens = dens + pi[k] * np.exp(-0.5 * z**2) / (sigma[k] * np.sqrt(2 * np.pi))
    return -np.log(dens).sum()


@case({"intercept": 0.1, "coef": np.array([0.5, -0.2, 0.1, 0.3])}, M, (M[:, 0] > 0).astype(float), 0.1)
def logistic_loss(theta, X, y, l2=0.0):
    z = X @ theta["coef"] + theta["intercept"]
    p = 1 / (1 + np.exp(-z))
    eps = 1e-12
    ll = y * np.log(p + eps) + (1 - y) * np.log(1 - p + eps)
    return -ll.mean() + l2 * np.sum(theta["coef"] ** 2)


@case(M)
def covariance(X):
    centered = X - X.mean(axis=0)
    cov = centered.T @ centered / (X.shape[0] - 1)
    d = np.sqrt(np.diag(cov))
    return cov / np.outer(d, d)


@case([2, 5, 1, 0, 3], 2.2)
def poisson_ll(counts: list[int], rate: float) -> float:
    return sum(k * math.log(rate) - rate - math.lgamma(k + 1) for k in counts)


@case(V.tolist(), 0.3)
def kde(xs, h):
    grid = [-1.0, 0.0, 1.0]
    return [sum(math.exp(-0.5 * ((g - x) / h) ** 2) for x in xs) / (len(xs) * h * math.sqrt(2 * math.pi)) for g in grid]


@case([[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.1, 0.9]], [0.5, 0.5], [0, 1, 1, 0, 1])
def hmm(trans, emit, init, obs):
    alpha = [p * emit[s][obs[0]] for s, p in enumerate(init)]
    ll = 0.0
    for o in obs[1:]:
        norm = sum(alpha)
        ll += math.log(norm)
        alpha = [a / norm for a in alpha]
        alpha = [emit[j][o] * sum(alpha[i] * trans[i][j] for i in range(len(alpha))) for j in range(len(init))]
    return ll + math.log(sum(alpha))


# ---------------- finance
@case(100.0, 105.0, 0.03, 0.2, 1.0, "call")
def black_scholes(s: float, k: float, r: float, sigma: float, t: float, option: str = "call") -> float:
    d1 = (math.log(s / k) + (r + sigma**2 / 2) * t) / (sigma * math.sqrt(t))
    d2 = d1 - sigma * math.sqrt(t)
    cdf = lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2)))
    if option == "call":
        return s * cdf(d1) - k * math.exp(-r * t) * cdf(d2)
    return k * math.exp(-r * t) * cdf(-d2) - s * cdf(-d1)


@case(np.array([0.5, 1.0, 2.0, 5.0]), np.array([0.01, 0.012, 0.015, 0.02]), 4.0)
def bond_price(tenors, rates, coupon):
    price = 0.0
    for t in np.arange(0.5, 5.5, 0.5):
        r = np.interp(t, tenors, rates)
        price += coupon / 2 * math.exp(-r * t)
    return round(price + 100 * math.exp(-np.interp(5.0, tenors, rates) * 5.0), 10) + price


@case([-100.0, 30.0, 40.0, 50.0, 20.0], 0.1)
def irr(flows: list[float], guess: float = 0.1) -> float:
    rate = guess
    for it in range(50):
        npv = sum(cf / (1 + rate) ** t for t, cf in enumerate(flows))
        d = sum(-t * cf / (1 + rate) ** (t + 1) for t, cf in enumerate(flows))
        step = npv / d
        rate -= step
        if abs(step) < 1e-12:
            break
    else:
        raise ArithmeticError("no convergence")
    return rate


@case(100.0, 100.0, 0.05, 0.2, 1.0, 64)
def binomial_put(s0, k, r, sigma, t, n):
    dt = t / n
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(r * dt) - d) / (u - d)
    values = [max(k - s0 * u ** (n - j) * d**j, 0.0) for j in range(n + 1)]
    for i in range(n - 1, -1, -1):
        values = [
            max(math.exp(-r * dt) * (p * values[j] + (1 - p) * values[j + 1]), k - s0 * u ** (i - j) * d**j)
            for j in range(i + 1)
        ]
    return values[0]


@case(100.0, 0.2, 0.05, rng.normal(size=(40, 12)))
def asian_mc(s0, sigma, r, z):
    n_paths, n_steps = z.shape
    dt = 1.0 / n_steps
    payoffs = []
    for path in z:
        s, total = s0, 0.0
        for dw in path:
            s *= math.exp((r - 0.5 * sigma**2) * dt + sigma * math.sqrt(dt) * dw)
            total += s
        payoffs.append(max(total / n_steps - 100.0, 0.0))
    return math.exp(-r) * sum(payoffs) / n_paths


@case(rng.normal(size=30) * 0.01, 0.94)
def ewma_var(returns, lam):
    var = returns[0] ** 2
    history = [var]
    for r in returns[1:]:
        var = lam * var + (1 - lam) * r**2
        history.append(var)
    return history


@case(np.array([0.3, 0.5, 0.2]), np.array([0.05, 0.08, 0.03]), np.diag([0.04, 0.09, 0.01]) + 0.005)
def sharpe(w, mu, cov):
    w = w / w.sum()
    return float(w @ mu / np.sqrt(w @ cov @ w))


# ---------------- robotics
@case([0.1, 0.5, -0.3], [1.0, 0.8, 0.5])
def forward_kinematics(angles, lengths):
    x = y = theta = 0.0
    points = [(x, y)]
    for a, l in zip(angles, lengths, strict=True):
        theta += a
        x += l * math.cos(theta)
        y += l * math.sin(theta)
        points.append((x, y))
    return points


def rot(axis, angle):
    c, s = math.cos(angle), math.sin(angle)
    if axis == "x":
        return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    if axis == "y":
        return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


@case((0.1, 0.2, 0.3), np.array([1.0, 2.0, 3.0]))
def euler_rotate(angles: tuple[float, float, float], v: np.ndarray) -> np.ndarray:
    R = np.eye(3)
    for axis, a in zip(("x", "y", "z"), angles):
        R = R @ rot(axis, a)
    return R @ v


@dataclass(frozen=True)
class Gains:
    kp: float
    ki: float = 0.0
    kd: float = 0.0


@case(Gains(2.0, 0.5, 0.1), 1.0)
def pid(g: Gains, target: float, *, dt: float = 0.05, n: int = 80) -> float:
    x = v = integral = 0.0
    prev = None
    cost = 0.0
    for k in range(n):
        e = target - x
        integral += e * dt
        de = 0.0 if k == 0 else (e - prev) / dt
        u = np.clip(g.kp * e + g.ki * integral + g.kd * de, -5.0, 5.0)
        v += (u - 0.5 * v) * dt
        x += v * dt
        prev = e
        cost += e**2 * dt + 0.01 * u**2 * dt
    return cost


@case({"x": np.zeros(2), "P": np.eye(2)}, [1.0, 1.2, 0.9, 1.5], 0.1)
def kalman(state, zs, q):
    x, P = state["x"], state["P"]
    F = np.array([[1.0, 0.1], [0.0, 1.0]])
    H = np.array([1.0, 0.0])
    nll = 0.0
    for z in zs:
        x = F @ x
        P = F @ P @ F.T + q * np.eye(2)
        S = H @ P @ H + 0.5
        K = P @ H / S
        e = z - H @ x
        x = x + K * e
        P = P - np.outer(K, H @ P)
        nll += 0.5 * (math.log(2 * math.pi * S) + e * e / S)
    return nll, {"x": x, "P": P}


@case((1.0, 0.0, 0.0, 0.0), (0.9, 0.1, 0.2, 0.1), (1.0, 2.0, 3.0))
def quat_rotate(q1, q2, v):
    def mul(a, b):
        w1, x1, y1, z1 = a
        w2, x2, y2, z2 = b
        return (
            w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
            w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
            w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
            w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        )

    def conj(a):
        return (a[0], *(-c for c in a[1:]))

    q = mul(q1, q2)
    n = math.sqrt(sum(c * c for c in q))
    q = tuple(c / n for c in q)
    return mul(mul(q, (0.0, *v)), conj(q))[1:]


@case(np.array([0.5, 0.5]), np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0.7, 0.8, 0.7]))
def trilaterate(p, anchors, ranges):
    for _ in range(5):
        diff = p - anchors
        d = np.linalg.norm(diff, axis=1)
        J = diff / d[:, None]
        r = d - ranges
        p = p - np.linalg.solve(J.T @ J, J.T @ r)
    return p


@case([(0.0, 0.0), (1.0, 0.5), (2.0, 0.0)], [(0.5, 0.1), (1.5, 0.4)])
def path_cost(path, obstacles):
    length = sum(math.dist(a, b) for a, b in zip(path, path[1:]))  # noqa: RUF007
    clearance = 0.0
    for px, py in path:
        nearest = min((px - ox) ** 2 + (py - oy) ** 2 for ox, oy in obstacles)
        clearance += math.exp(-nearest)
    return length + 10 * clearance


@case(np.array([0.1, 0.2, 0.3]))
def nonlocal_counter(x):
    total = 0.0

    def add(v):
        nonlocal total
        total += v**2

    for v in x:
        add(v)
    return total


@case(2.0)
def finally_(x):
    log = 0.0
    try:
        if x > 1.0:
            return x * x
        log = 1.0
    finally:
        log += 1.0
    return log * x


@case([0.1, 0.2, 0.3])
def running_total(xs):
    total = 0.0
    n = 0

    def add(v, w=1.0):
        nonlocal total, n
        if v > 0.25:
            return total
        total += v**2 * w
        n += 1
        return total * 2

    s = 0.0
    for v in xs:
        y = add(v) + 3.0 * add(v, w=2.0)
        if add(v) > 0.1:
            s += y
    return total + s * n


@case(2.0)
def doubled(x):
    c = x

    def double():
        nonlocal c
        c = c * 2

    double()
    double()
    return c


@case(2.0)
def cleans_each_step(x):
    log = 0.0
    for i in range(5):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            log += x * i
        finally:
            log += 1.0
    return log


@case(2.0, True)
@case(2.0, False)
def cleans_up(x, flag):
    y = x
    try:
        for i in range(3):
            if i == 1:
                break
            y = y * x
        if flag:
            return y
    except ValueError:
        y = 0.0
    else:
        y += 1.0
    finally:
        y = y + 1.0
    return y


@case(-2.0)
def recovers(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return x * 3
    finally:
        x = 1.0


@case(0.0)
def cleans_and_raises(x):
    n = 0
    try:
        return 1.0 / x
    finally:
        n += 1


@case([0.3, 0.2, 0.5])
def first_best(xs):
    best = None
    for x in xs:
        if best is None or x < best:
            best = x
    return best * 2


@case([0.3, 0.2, 0.5])
def since_last(xs):
    prev = None
    s = 0.0
    for x in xs:
        if prev is not None:
            s += (x - prev) ** 2
        prev = x
    return s + prev


@case([0.3, 0.2, 0.5])
def slopes(xs):
    prev = None
    s = 0.0
    for k, x in enumerate(xs):
        d = 0.0 if prev is None else (x - prev) / 0.1
        prev = x
        s += d * d
    return s


@case([-0.3, 0.2, 0.5])
def last_positive(xs):
    last = None
    for x in xs:
        if x > 0:
            last = x
    if last is None:
        return 0.0
    return last


@case([(1.0, 2.0), (3.0, 4.0)])
def polyline(ps):
    before = None
    total = 0.0
    for p in ps:
        if before is not None:
            total += math.hypot(p[0] - before[0], p[1] - before[1])
        before = p
    return total


@case(4.0)
def newton_root(x):
    old = None
    while old is None or abs(x - old) > 1e-9:
        old = x
        x = 0.5 * (x + 2.0 / x)
    return x


V = np.array([1.0, 5.0, 2.0, 4.5])
M = np.arange(6.0).reshape(2, 3) ** 1.5


@case(V)
def fsum(x):
    return math.fsum(a * 0.1 for a in x)


@case([0.1] * 10)
def fsum2(xs):
    return math.fsum(xs)


@case([1e16, 1.0, -1e16, 1e-30])
def fsum3(xs):
    return math.fsum(xs)


@case(2.665)
def rnd(x):
    return round(x, 2) * x + round(x)


@case(-0.004)
def rnd2(x):
    return round(x, 2)


@case(1.3)
def interp(x):
    return np.interp(x, [0.0, 1.0, 2.0], [1.0, 4.0, 5.0])


@case(V, np.array([0.0, 2.0, 6.0]), np.array([1.0, 3.0, 10.0]))
def interp2(x, xp, fp):
    return np.interp(x, xp, fp, left=-1.0).sum()


@case(2.0, np.array([0.0, 2.0, 6.0]), np.array([1.0, 3.0, 10.0]))
def interp3(x, xp, fp):
    return np.interp(x, xp, fp)


@case(6.0, np.array([0.0, 2.0, 6.0]), np.array([1.0, 3.0, 10.0]))
def interp4(x, xp, fp):
    return np.interp(x, xp, fp)


@case(V)
def pad(x):
    return (np.pad(x, 1) * np.pad(x, (1, 1), mode="edge") * np.pad(x, 1, "reflect")).sum() + np.pad(x, 2, mode="wrap")[
        0
    ]


@case(M)
def pad2(m):
    return np.pad(m, ((1, 0), (0, 2)))


@case(M)
def pad3(m):
    return (np.pad(m, 1, mode="edge") ** 2).sum()


@case(V)
def med(x):
    return np.median(x) + np.median(x[:3])


@case(M)
def med2(x):
    return np.median(x, axis=0).sum() * np.median(x, axis=1)[0] + np.median(x)


@case(V)
def perc(x):
    return np.percentile(x, 30) + np.quantile(x, 0.77) + np.percentile(x, [10, 60]).sum()


@case(V)
def avg(x):
    return np.average(x, weights=x * x) + np.average(x)


@case(V)
def trap(x):
    return np.trapezoid(x * x) + np.trapezoid(x, dx=0.5) + np.trapezoid(x * x, np.cumsum(x))


@case(V, 1.2)
def poly(c, x):
    return np.polyval(c, x)


@case(V)
def crs(x):
    return np.cross(x[:3], x[1:]).sum() * np.cross(x[:3], np.array([1.0, 2.0, 3.0]))[0]


@case(V)
def misc(x):
    return (np.flip(x) * x).sum() + np.ptp(x) + np.tile(x, 2)[5] + np.logspace(0, 1, 3)[1] * x[0]


@case(V, np.array([0, 1, 1, 0]))
def choose(x, i):
    return np.choose(i, [x, 2 * x])


@case(V)
def mesh(x):
    X, Y = np.meshgrid(x, x[:2])
    return (X * Y**2).sum()


@case(1.0, 1.0 + 1e-12)
def close(x, y):
    return x if math.isclose(x, y) else y * y


@case(V)
def strs(x):
    return np.std(x) + np.var(x) + np.argmax(x) * x[np.argmin(x)]


@case(V)
def makes_arrays(x):
    a = np.array([1, 2, 3, 4], dtype=float)
    z = np.zeros(4, dtype=int)
    o = np.ones((2, 2), bool)
    z[1] += 2
    return (a * x * z).sum() + np.array(x, dtype=np.float64)[0] + o.sum() + np.full(3, 2, dtype=float)[0] / 4


@case(V)
def casts(x):
    return (x.astype(int) * x).sum() + x.astype(bool).sum() + x.astype(np.float64)[1]


@case(np.array([1, 2]), 2.0)
def counts_to_floats(n, x):
    return n.astype(float) * x


@case(V)
def grid_of_floats(x):
    return np.arange(4, dtype=float) * x + np.linspace(0, 1, 4)


@case(3)
def ramp(n):
    return np.arange(n) / 2


@case(V)
def ranges(x):
    return np.arange(1, 5) * x + np.arange(0.0, 1.0, 0.25)


@case(V)
def fills_an_empty_array(x):
    e = np.empty(4)
    for i in range(4):
        e[i] = x[i] ** 2
    return e


@case(M)
def shapes_of_others(m):
    return (
        np.zeros(m.shape).sum()
        + np.zeros_like(m)[0, 0]
        + (np.ones(m.shape) * m)[1].sum()
        + m.mean(axis=0)[0]
        + np.full_like(m, 2.0)[0, 0]
    )


SETTINGS = {"lr": 0.5, "w": 2.0}
TABLE = {"a": 1.0, "b": 3.0}


@case({"a": 1.0, "b": 2.0}, 3.0)
def line(p, x):
    return p["a"] * x + p["b"]


@case(2.0)
def record(x):
    p = {"a": x, "b": 2 * x}
    p["a"] *= 3.0
    p["c"] = 1.0
    return p


@case({"a": 1.0, "b": 2.0}, 3.0)
@case({"a": 1.0, "b": 2.0}, 3.0, "b")
def weighted(p, x, mode: Literal["a", "b"] = "a"):
    s = 0.0
    for k, v in p.items():
        if k == "b":
            continue
        s += v * TABLE[mode]
    q = {k: v * x for k, v in p.items()}
    return s + sum(q.values()) + q.get("zz", 1.0) + ("a" in q)


@case(PARAMS, np.array([0.3, 0.4]))
@case(PARAMS, np.array([0.3, 0.4]), "relu")
@case(PARAMS, np.array([0.3, 0.4]), "step")
def layer(params, x: np.ndarray, act: str = "tanh"):
    h = params["w1"] @ x + params["b1"]
    if act == "tanh":
        h = np.tanh(h)
    elif act == "relu":
        h = np.maximum(h, 0.0)
    else:
        raise ValueError(f"unknown {act}")
    return {"y": (params["w2"] * h).sum(), "h": h}


def helper(x, how):
    return math.sin(x) if how == "sin" else math.cos(x)


@case(1.0, "sin")
@case(1.0, "cos")
def by_name(x, how):
    def g(y, m: str):
        return helper(y, m) * SETTINGS["lr"]

    match how:
        case "sin":
            y = 1.0
        case _:
            y = 2.0
    return g(x, how) + y


@case({"a": 1.5, "b": 2.0}, 3)
def descent(p, n: int):
    for i in range(n):
        g = {k: 2 * (v - 1.0) for k, v in p.items()}
        p = {k: p[k] - 0.1 * g[k] for k in p}
    return p


@case((1.0, 2.0, 3.0))
def of_a_tuple(t):
    s = 0.0
    for a in t:
        s += a * a
    return s * t[1:][0] + sum(t) + max(t)


@case({"gain": 2.0, "n": 3}, 2.0)
def spread(cfg: dict, x: float) -> float:
    y = dict(cfg, z=x)
    return {**y, "q": 3.0}["q"] * y["z"] * cfg.get("gain", 1.0)


@case([1.0, 2.0, 3.0])
def squares_of_a_list(xs):
    return [x * x for x in xs]


@case(np.array([1.0, 2.0, 3.0]))
def squares_of_an_array(xs):
    return [x * x for x in xs]


@case(3)
def grid_of_lists(n):
    g = [[0.0] * n for _ in range(n)]
    g[0][1] = 2.0
    return g


@case(np.ones((2, 3)))
def rows_of_an_array(m):
    return [row * 2.0 for row in m], m


@case(np.ones((2, 3)))
def dots(m):
    return m[..., 0].sum() + m[0, ...].sum()


@case([1.0, 2.0, 3.0])
def tuple_of_squares(xs):
    t = tuple(x * x for x in xs)
    return t[0] + sum(t)


@case([1.0, 2.0, 3.0])
def gives_a_tuple(xs):
    return tuple(x * x for x in xs)


@case([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
def strict(xs, ys):
    return sum(a * b for a, b in zip(xs, ys, strict=True))


@case([1.0, 2.0], [1.0, 2.0, 3.0])
def strict_of_other_sizes(xs, ys):
    return sum(a * b for a, b in zip(xs, ys, strict=True))


@case([1.0, 2.0, 4.0])
def differences_of_pairs(xs):
    return sum((b - a) ** 2 for a, b in itertools.pairwise(xs))


@case(1.5, k=2.0)
def by_name_only(x, *, k=1.0):
    return x**k


@case(1.5, "sin")
def chosen_by_text(x, mode):
    if mode == "sin":
        return math.sin(x)
    return math.cos(x)


@case([1.0, 2.0], [3.0, 4.0])
def all_pairs(xs, ys):
    return sum(a * b for a, b in itertools.product(xs, ys))


@case([1.0, 2.0], [3.0, 4.0])
def one_after_another(xs, ys):
    return sum(a * a for a in itertools.chain(xs, ys))


@case([1.0, 2.0, 4.0, 7.0, 3.0])
def pairs_in_order(xs):
    return [a * b - i for i, (a, b) in enumerate(itertools.combinations(xs, 2))], list(
        itertools.combinations(range(3), 2)
    )


@case([1.0, 2.0, 4.0])
def stars(xs):
    t = (xs[0], xs[1])
    return max(*t, 0.5) * math.hypot(*t), [0.0, *xs, 1.0]


@case([1.0, 2.0, 4.0])
def rest(xs):
    first, *others = xs
    return others, first
