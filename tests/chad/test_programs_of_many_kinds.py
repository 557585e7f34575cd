"""Programs as users write them: recipes of numerical analysis, filters, trees, parsers, state machines, objects.

Value, gradient and error are those of dual numbers on the same text. Programs in `READ` are read; those in `OBJECTS`
use objects that the language does not follow, and run on dual numbers.
"""

import linecache
import math
import sys
from typing import Any

import pytest

import tapeengine as te

PREAMBLE = """\
import collections, dataclasses, enum, functools, heapq, math, typing
from dataclasses import dataclass
import numpy as np


"""

READ: dict[str, tuple[str, float]] = {
    "alias2": (
        """\
@dataclass
class R:
    x: float
    y: float
def f(x):
    rs = [R(x, 1.0), R(2*x, 3.0)]
    r = rs[0]
    r.x = 5.0*x
    return rs[0].x + rs[1].x
""",
        1.5,
    ),
    "chg": (
        """\
@dataclass
class R:
    x: float
    y: float
def f(x):
    r = R(x, x)
    for i in range(4):
        if i % 2:
            r.x, r.y = r.y*x, r.x
            continue
        if r.x > 5:
            break
        r.y += 1
    else:
        r.x = 0.5*x
    return r.x*r.y
""",
        1.5,
    ),
    "chg2": (
        """\
@dataclass
class R:
    x: float
    n: int = 0
def f(x):
    r = R(1)
    while r.n < 5:
        r.n += 1
        if r.n == 2:
            r.x = x
        elif r.n == 4:
            r = R(r.x*r.n, r.n)
    return r.x*r.n
""",
        1.5,
    ),
    "chg3": (
        """\
@dataclass
class R:
    x: float
    y: object = None
def f(x):
    r = R(x)
    if x > 1:
        r.y = x*x
    if r.y is not None:
        r.x *= r.y
    return r.x
""",
        1.5,
    ),
    "chg4": (
        """\
@dataclass
class R:
    a: float
    xs: list
def f(x):
    r = R(x, [x, 2*x])
    for i in range(2):
        r.xs[i] *= r.a
        r.a += r.xs[i]
    r.xs.append(r.a)
    return sum(r.xs)*r.a
""",
        1.5,
    ),
    "chg6": (
        """\
@dataclass
class In:
    v: float
@dataclass
class R:
    i: In
    w: float
def f(x):
    r = R(In(x), 2.0)
    if x > 1:
        r = dataclasses.replace(r, i=dataclasses.replace(r.i, v=3*x))
    for k in range(3):
        r = dataclasses.replace(r, i=In(r.i.v+1), w=r.w*x)
    return r.i.v*r.w
""",
        1.5,
    ),
    "inner": (
        """\
@dataclass
class R:
    a: float
    b: float
def f(x):
    r = R(x, 1.0)
    def bump(k):
        r.a += k
        return r.a
    s = bump(1.0)
    if x > 0:
        s += bump(x)
    return s*r.a*r.b
""",
        1.5,
    ),
    "comp": (
        """\
@dataclass
class R:
    a: float
    b: float
def f(x):
    r = R(x, 1.0)
    ys = []
    for k in range(3):
        r.a *= x
        ys.append(r)
        r = dataclasses.replace(r, b=r.b+k)
    return sum(y.a*y.b for y in ys)
""",
        1.5,
    ),
    "named": (
        """\
class R(typing.NamedTuple):
    a: float
    b: float
def f(x):
    r = R(x, 1.0)
    for k in range(3):
        r = r._replace(a=r.a*r.b)
        if k:
            r = r._replace(b=r.b + r.a)
    a, b = r
    return a*b + r[0]
""",
        1.5,
    ),
    "post": (
        """\
@dataclass
class R:
    a: float
    b: float
    def __post_init__(self):
        if self.a > 100:
            raise ValueError("big")
def f(x):
    r = R(x, 1.0)
    for k in range(9):
        r = dataclasses.replace(r, a=r.a*3)
    return r.a
""",
        1.5,
    ),
    "post2": (
        """\
@dataclass
class R:
    a: float
    b: float
    def __post_init__(self):
        if self.a > 100:
            raise ValueError("big")
def f(x):
    r = R(x, 1.0)
    if x > 1:
        r = dataclasses.replace(r, b=3.0)
        r.a = 500.0*x
    if x > 1.2:
        r = dataclasses.replace(r, b=4.0)
    return r.a
""",
        1.5,
    ),
    "unreach2": (
        """\
@dataclass
class R:
    a: float
    b: float
def f(x):
    r = R(x, [x][0])
    r.b = [x, 2.0][3]
    return r.a
""",
        1.5,
    ),
    "order": (
        """\
@dataclass
class R:
    a: float
    b: float
def f(x):
    r = R(math.log(x), [1.0][int(x)])
    return r.a
""",
        -1.5,
    ),
    "unionloop": (
        """\
@dataclass
class Lo:
    v: float
@dataclass
class Hi:
    v: float
    n: int
def f(x):
    s = Lo(x)
    for k in range(6):
        if isinstance(s, Lo):
            s = Hi(s.v*2, k) if s.v > 2 else Lo(s.v+x)
        else:
            s = Lo(s.v/3) if s.n > 2 else Hi(s.v+1, s.n+1)
    return s.v
""",
        1.5,
    ),
    "unionnone": (
        """\
@dataclass
class A:
    v: float
@dataclass
class B:
    v: float
def pick(k, x):
    if k == 0:
        return None
    if k == 1:
        return A(x)
    return B(2*x)
def f(x):
    t = 0.0
    for k in range(3):
        p = pick(k, x)
        if p is not None:
            t += p.v*(1 if isinstance(p, A) else x)
    return t
""",
        1.5,
    ),
    "sub2": (
        """\
class Shape:
    def area(self): raise NotImplementedError
class Sq(Shape):
    def __init__(self, s): self.s = s
    def area(self): return self.s**2
class Ci(Shape):
    def __init__(self, r): self.r = r
    def area(self): return 3.0*self.r**2
def f(x):
    shapes = [Sq(x), Ci(2*x), Sq(1.0)]
    return sum(s.area() for s in shapes)
""",
        1.5,
    ),
    "newton_poly": (
        """\
def f(x):
    def p(t): return t**3 - 2*t - x
    def dp(t): return 3*t*t - 2
    t = 2.0
    for _ in range(50):
        step = p(t)/dp(t)
        t -= step
        if abs(step) < 1e-12:
            break
    else:
        raise RuntimeError("no convergence")
    return t
""",
        5.0,
    ),
    "rk45": (
        """\
def rk4(rhs, y, t, h):
    k1 = rhs(t, y)
    k2 = rhs(t+h/2, [a+h/2*b for a, b in zip(y, k1)])
    k3 = rhs(t+h/2, [a+h/2*b for a, b in zip(y, k2)])
    k4 = rhs(t+h, [a+h*b for a, b in zip(y, k3)])
    return [a+h/6*(p+2*q+2*r+s) for a,p,q,r,s in zip(y,k1,k2,k3,k4)]
def f(x):
    def rhs(t, y):
        return [y[1], -x*y[0] + math.cos(t)]
    y, t, h = [1.0, 0.0], 0.0, 0.1
    while t < 1.0:
        y = rk4(rhs, y, t, h)
        t += h
    return y[0]**2 + y[1]**2
""",
        2.5,
    ),
    "adaptive": (
        """\
def f(x):
    t, y, h, steps = 0.0, x, 0.5, 0
    while t < 2.0:
        if t + h > 2.0:
            h = 2.0 - t
        big = y + h*(-y*y)
        half = y + h/2*(-y*y)
        small = half + h/2*(-half*half)
        err = abs(big-small)
        if err < 1e-3:
            t += h
            y = small
            h *= 1.5
        else:
            h *= 0.5
        steps += 1
        if steps > 1000:
            raise RuntimeError("too many")
    return y
""",
        1.7,
    ),
    "kalman": (
        """\
@dataclass
class State:
    m: float
    p: float
    def predict(self, q):
        return State(self.m, self.p + q)
    def update(self, z, r):
        k = self.p/(self.p + r)
        return State(self.m + k*(z-self.m), (1-k)*self.p)
def f(x):
    s = State(0.0, 1.0)
    ll = 0.0
    for z in [1.0, 1.2, 0.9, x]:
        s = s.predict(0.1)
        ll -= 0.5*(math.log(s.p + 0.5) + (z - s.m)**2/(s.p+0.5))
        s = s.update(z, 0.5)
    return ll + s.m
""",
        1.3,
    ),
    "lu": (
        """\
def det(a):
    a = [row[:] for row in a]
    n = len(a)
    d = 1.0
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(a[i][k]))
        if p != k:
            a[k], a[p] = a[p], a[k]
            d = -d
        d *= a[k][k]
        for i in range(k+1, n):
            m = a[i][k]/a[k][k]
            for j in range(k, n):
                a[i][j] -= m*a[k][j]
    return d
def f(x):
    return det([[x, 2.0, 1.0], [3.0, x*x, 0.5], [1.0, 1.0, x]])
""",
        1.7,
    ),
    "cholesky": (
        """\
def f(x):
    a = [[4.0, x, 0.5], [x, 3.0, 1.0], [0.5, 1.0, 2.0+x]]
    n = len(a)
    l = [[0.0]*n for _ in range(n)]
    for i in range(n):
        for j in range(i+1):
            s = sum(l[i][k]*l[j][k] for k in range(j))
            if i == j:
                l[i][j] = math.sqrt(a[i][i]-s)
            else:
                l[i][j] = (a[i][j]-s)/l[j][j]
    return sum(math.log(l[i][i]) for i in range(n))
""",
        0.9,
    ),
    "parser": (
        """\
def f(x):
    text = "3*x+2*x*x-1"
    total = 0.0
    term = 1.0
    sign = 1.0
    for ch in text:
        if ch == '+':
            total += sign*term
            term, sign = 1.0, 1.0
        elif ch == '-':
            total += sign*term
            term, sign = 1.0, -1.0
        elif ch == '*':
            pass
        elif ch == 'x':
            term *= x
        else:
            term *= float(int(ch))
    return total + sign*term
""",
        1.5,
    ),
    "stackvm": (
        """\
def f(x):
    code = [("push", 2.0), ("x", 0.0), ("mul", 0.0), ("x", 0.0), ("add", 0.0), ("dup", 0.0), ("mul", 0.0)]
    stack = []
    for op, arg in code:
        if op == "push":
            stack.append(arg)
        elif op == "x":
            stack.append(x)
        elif op == "dup":
            stack.append(stack[-1])
        elif op == "add":
            b = stack.pop()
            a = stack.pop()
            stack.append(a+b)
        else:
            b = stack.pop()
            a = stack.pop()
            stack.append(a*b)
    return stack[-1]
""",
        1.5,
    ),
    "fsm": (
        """\
class Mode(enum.Enum):
    HEAT = 1
    COOL = 2
    OFF = 3
def f(x):
    mode = Mode.OFF
    temp = 20.0
    used = 0.0
    for k in range(30):
        if mode is Mode.HEAT:
            temp += x
            used += x*x
            if temp > 22:
                mode = Mode.OFF
        elif mode is Mode.COOL:
            temp -= x
            if temp < 18:
                mode = Mode.OFF
        else:
            temp -= 0.3
            if temp < 19:
                mode = Mode.HEAT
    return temp + used
""",
        0.5,
    ),
    "tree": (
        """\
@dataclass
class Leaf:
    v: float
@dataclass
class Node:
    left: 'Leaf | Node'
    right: 'Leaf | Node'
    w: float
def total(t):
    if isinstance(t, Leaf):
        return t.v
    return t.w*(total(t.left) + total(t.right))
def build(n, x):
    if n == 0:
        return Leaf(x)
    return Node(build(n-1, x), build(n-1, 2*x), x)
def f(x):
    return total(build(3, x))
""",
        0.8,
    ),
    "ema": (
        """\
def smooth(xs, a):
    m = xs[0]
    for v in xs:
        m = a*v + (1-a)*m
        yield m
def f(x):
    return sum(w*v for w, v in zip(smooth([1.0, 2.0, x, 3.0], x/4), [1, -1, 2, 3]))
""",
        1.2,
    ),
    "gen": (
        """\
def primes(n):
    for k in range(2, n):
        if all(k % j for j in range(2, k)):
            yield k
def f(x):
    return sum(x**p/p for p in primes(15))
""",
        0.7,
    ),
    "closure": (
        """\
def f(x):
    count = 0
    acc = 0.0
    def visit(d, w):
        nonlocal count, acc
        count += 1
        acc += w*x
        if d > 0:
            visit(d-1, w*0.5)
            visit(d-1, w*x)
    visit(3, 1.0)
    return acc/count
""",
        1.1,
    ),
    "compose": (
        """\
def f(x):
    fs = [math.sin, lambda t: t*t, math.exp]
    return functools.reduce(lambda acc, g: g(acc), fs, x)
""",
        0.6,
    ),
    "simpson": (
        """\
def simpson(g, a, b, fa, fm, fb, depth):
    m = (a+b)/2
    lm, rm = (a+m)/2, (m+b)/2
    flm, frm = g(lm), g(rm)
    whole = (b-a)/6*(fa+4*fm+fb)
    left = (m-a)/6*(fa+4*flm+fm)
    right = (b-m)/6*(fm+4*frm+fb)
    if depth == 0 or abs(left+right-whole) < 1e-6:
        return left+right
    return simpson(g, a, m, fa, flm, fm, depth-1) + simpson(g, m, b, fm, frm, fb, depth-1)
def f(x):
    g = lambda t: math.exp(-x*t*t)
    return simpson(g, 0.0, 2.0, g(0.0), g(1.0), g(2.0), 8)
""",
        1.3,
    ),
    "viterbi": (
        """\
def f(x):
    trans = [[x, 1-x], [0.4, 0.6]]
    emit = [[0.5, 0.5], [0.1, 0.9]]
    obs = [0, 1, 1, 0]
    v = [0.6*emit[0][0], 0.4*emit[1][0]]
    for o in obs[1:]:
        v = [max(v[j]*trans[j][k] for j in range(2))*emit[k][o] for k in range(2)]
    return math.log(max(v))
""",
        0.7,
    ),
    "pagerank": (
        """\
def f(x):
    links = {0: [1, 2], 1: [2], 2: [0]}
    r = [1/3]*3
    for _ in range(10):
        new = [(1-x)/3]*3
        for i in links:
            for j in links[i]:
                new[j] += x*r[i]/len(links[i])
        r = new
    return r[0]*r[1] + r[2]
""",
        0.85,
    ),
    "bank_err": (
        """\
class Account:
    def __init__(self, balance):
        self.balance = balance
    def deposit(self, v):
        if v < 0:
            raise ValueError("negative")
        self.balance += v
def f(x):
    a = Account(100.0)
    a.deposit(x)
    a.deposit(-x)
    return a.balance
""",
        2.0,
    ),
    "dp": (
        """\
def f(x):
    a, b = [1.0, 2.0, x], [2.0, x, 1.5, 1.0]
    n, m = len(a), len(b)
    inf = float("inf")
    d = [[inf]*(m+1) for _ in range(n+1)]
    d[0][0] = 0.0
    for i in range(1, n+1):
        for j in range(1, m+1):
            d[i][j] = (a[i-1]-b[j-1])**2 + min(d[i-1][j], d[i][j-1], d[i-1][j-1])
    return d[n][m]
""",
        1.8,
    ),
    "qr": (
        """\
def f(x):
    a = np.array([[1.0, x], [x, 2.0], [0.5, x*x]])
    q = np.zeros((3, 2)); r = np.zeros((2, 2))
    for j in range(2):
        v = a[:, j].copy()
        for i in range(j):
            r[i, j] = q[:, i] @ a[:, j]
            v -= r[i, j]*q[:, i]
        r[j, j] = np.sqrt(v @ v)
        q[:, j] = v/r[j, j]
    return r[0, 0]*r[1, 1] + r[0, 1]
""",
        0.8,
    ),
    "power": (
        """\
def f(x):
    a = np.array([[2.0, x], [x, 1.0]])
    v = np.ones(2)
    for _ in range(30):
        w = a @ v
        v = w/np.linalg.norm(w)
    return v @ a @ v
""",
        0.8,
    ),
    "nbody": (
        """\
@dataclass
class Body:
    x: float
    v: float
    m: float
def energy(bodies):
    e = 0.0
    for i, b in enumerate(bodies):
        e += 0.5*b.m*b.v**2
        for c in bodies[i+1:]:
            e -= b.m*c.m/abs(b.x-c.x)
    return e
def f(x):
    bodies = [Body(0.0, 0.0, 10.0), Body(x, 1.0, 1.0), Body(2*x+1, -0.5, 0.5)]
    for _ in range(5):
        for b in bodies:
            acc = 0.0
            for c in bodies:
                if c is not b:
                    d = c.x - b.x
                    acc += c.m*d/abs(d)**3
            b.v += 0.01*acc
        for b in bodies:
            b.x += 0.01*b.v
    return energy(bodies)
""",
        1.4,
    ),
    "lsearch": (
        """\
def f(x):
    def obj(w): return (w-x)**2 + 0.1*w**4
    def grad(w): return 2*(w-x) + 0.4*w**3
    w = 0.0
    for it in range(20):
        g = grad(w)
        t = 1.0
        while obj(w - t*g) > obj(w) - 0.5*t*g*g:
            t /= 2
            if t < 1e-8: break
        w = w - t*g
    return w
""",
        1.4,
    ),
    "tryexc": (
        """\
def safe(a, b):
    try:
        return a/b
    except ZeroDivisionError:
        return 0.0
def f(x):
    return safe(x, 2.0) + safe(x, 0.0)
""",
        1.4,
    ),
    "zero": (
        """\
def f(x):
    s = 0.0
    for k in range(3):
        s += x/(k-1)
    return s
""",
        1.4,
    ),
    "horner": (
        """\
def f(x, cs=(1.0, -2.0, 0.5)):
    acc = 0
    for c in reversed(cs):
        acc = acc*x + c
    return acc
""",
        1.4,
    ),
    "chg5": (
        """\
@dataclass
class In:
    v: float
@dataclass
class R:
    i: In
    w: float
def f(x):
    r = R(In(x), 2.0)
    r.i.v = x*x
    r.i = In(r.i.v*r.w)
    r.w += r.i.v
    return r.i.v*r.w
""",
        1.5,
    ),
    "iir": (
        """\
class Biquad:
    def __init__(self, b0, a1):
        self.b0 = b0
        self.a1 = a1
        self.z = 0.0
    def step(self, u):
        y = self.b0*u + self.z
        self.z = -self.a1*y
        return y
def f(x):
    q = Biquad(x, 0.3)
    out = []
    for k in range(6):
        out.append(q.step(math.sin(k*0.5)))
    return sum(v*v for v in out)
""",
        0.7,
    ),
}
OBJECTS: dict[str, tuple[str, float]] = {
    "gauss": (
        """\
def solve(a, b):
    n = len(b)
    for k in range(n):
        for i in range(k+1, n):
            m = a[i, k]/a[k, k]
            a[i, k:] -= m*a[k, k:]
            b[i] -= m*b[k]
    x = np.zeros(n)
    for i in range(n-1, -1, -1):
        x[i] = (b[i] - a[i, i+1:] @ x[i+1:])/a[i, i]
    return x
def f(x):
    a = np.array([[4.0, x, 1.0], [1.0, 5.0, x], [x, 1.0, 6.0]])
    return np.sum(solve(a, np.array([1.0, x, 2.0])))
""",
        0.7,
    ),
    "tree2": (
        """\
@dataclass
class Node:
    v: float
    kids: list
def total(t):
    return t.v + sum(total(k) for k in t.kids)
def f(x):
    t = Node(x, [Node(x*x, []), Node(3.0, [Node(x, [])])])
    return total(t)
""",
        0.8,
    ),
    "linked": (
        """\
def f(x):
    head = None
    for i in range(4):
        head = (x*i, head)
    s = 0.0
    while head is not None:
        v, head = head
        s += v*v
    return s
""",
        0.8,
    ),
    "matchp": (
        """\
@dataclass
class Num:
    v: float
@dataclass
class Bin:
    op: str
    a: object
    b: object
def ev(e):
    match e:
        case Num(v):
            return v
        case Bin("+", a, b):
            return ev(a) + ev(b)
        case Bin("*", a, b):
            return ev(a) * ev(b)
        case _:
            raise TypeError("what")
def f(x):
    return ev(Bin("+", Num(x), Bin("*", Num(2.0), Num(x*x))))
""",
        1.4,
    ),
    "bank": (
        """\
class Account:
    def __init__(self, balance):
        self.balance = balance
        self.log = []
    def deposit(self, v):
        if v < 0:
            raise ValueError("negative")
        self.balance += v
        self.log.append(v)
    def interest(self, rate):
        self.balance *= 1 + rate
def f(x):
    a = Account(100.0)
    for k in range(3):
        a.deposit(x*k)
        a.interest(0.01*x)
    return a.balance + sum(a.log)
""",
        2.0,
    ),
    "deque": (
        """\
def f(x):
    q = collections.deque([x, 2*x, 3.0], maxlen=3)
    total = 0.0
    for k in range(5):
        q.append(x*k)
        total += sum(q)/len(q)
    return total
""",
        2.0,
    ),
    "defaultd": (
        """\
def f(x):
    d = collections.defaultdict(float)
    for k, v in [("a", x), ("b", 2.0), ("a", x*x)]:
        d[k] += v
    return d["a"]*d["b"]
""",
        2.0,
    ),
    "memo": (
        """\
def f(x):
    memo = {}
    def fib(n):
        if n < 2:
            return x if n == 1 else 1.0
        if n in memo:
            return memo[n]
        memo[n] = fib(n-1) + x*fib(n-2)
        return memo[n]
    return fib(8)
""",
        0.6,
    ),
    "huff": (
        """\
def f(x):
    h = [x, 2.0, 0.5, x*x]
    heapq.heapify(h)
    cost = 0.0
    while len(h) > 1:
        a = heapq.heappop(h)
        b = heapq.heappop(h)
        cost += a+b
        heapq.heappush(h, a+b)
    return cost
""",
        1.4,
    ),
    "sets": (
        """\
def f(x):
    seen = set()
    s = 0.0
    for k in [1, 2, 1, 3, 2]:
        if k not in seen:
            seen.add(k)
            s += x**k
    return s
""",
        1.4,
    ),
}


def defined(text: str) -> Any:
    """The function f of a program's text."""
    name, text = f"of_many_kinds_{len(linecache.cache)}", PREAMBLE + text
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    module = sys.modules[name] = type(sys)(name)
    exec(compile(text, name, "exec"), module.__dict__)
    return module.f  # type: ignore[attr-defined]


def result(function: Any, x: float) -> Any:
    """Value and gradient, or the class and the text of the error."""
    try:
        value, back = te.vjp(function, x)
        return float(value), *back(1.0)
    except (ArithmeticError, LookupError, ValueError, RuntimeError) as error:
        return type(error).__name__, str(error)


@pytest.mark.parametrize("name", [*READ, *OBJECTS])
def test_programs_agree_with_dual_numbers(name: str) -> None:
    text, x = {**READ, **OBJECTS}[name]
    program = te.program(defined(text))
    assert program.for_values((x,)).is_read == (name in READ)
    found, expected = result(program, x), result(program.python, x)
    if isinstance(expected[0], str):
        assert found == expected
    else:
        assert all(map(math.isclose, found, expected)), (found, expected)
        assert found[0] == pytest.approx(float(program(x)), rel=1e-14)
