"""Programs that call functions which yield, and look for numbers and texts in sets."""

import numpy as np
from chad.everyday import EVERYDAY, V
from chad.written_functions import function_of

KEYS, PLACES, EVEN = {"a", "b"}, {1, 3}, frozenset({0, 2})


def steps(n):
    """Multiples."""
    for i in range(n):
        yield i * 1.5


def pairs(xs):
    for i in range(len(xs)):
        for j in range(i):
            yield xs[i], xs[j]


def squares(xs):
    for x in xs:
        yield x * x


def chained(xs):
    yield xs[0]
    yield from xs
    if xs[0] > 5.0:
        return
    yield from steps(2)


def failing(xs):
    yield xs[0]
    yield xs[99]


def halved(x):
    while abs(x) > 0.1:
        yield x
        x = x * 0.5
    yield -x


def until(x):
    n = 0
    while True:
        n += 1
        if n == 3:
            continue
        if n > 6:
            return
        yield x * n


def long(x):
    n = 0
    while n < 1 or x != 0.0:
        n += 1
        yield x * n


def forever(x):
    while True:
        yield x
        x = x * 0.5


def spoiling(xs):
    for i in range(len(xs)):
        xs[i] = 1.0
        yield i


NAMES = {f.__name__: f for f in (steps, pairs, squares, chained, failing, forever, spoiling)}
NAMES |= {f.__name__: f for f in (halved, until, long)}
NAMES |= {"KEYS": KEYS, "PLACES": PLACES, "EVEN": EVEN}
TAKEN = """
t = 0.0|for a in steps(4):|    t += a * x[0]|return t
return sum(a * a for a in steps(3)) * x[0] + sum(steps(3))
return sum(a * b for a, b in pairs(x))
return list(squares(x)), sorted(squares(x))
return sum(chained(x)) + max(squares(x))
t = 0.0|for i, a in enumerate(squares(x)):|    t += a * i|return t
t = 0.0|for b, a in zip(steps(9), squares(x)):|    t += a * b|return t
g = squares(x)|return sum(g)
t = 0.0|for a in failing(x):|    t += a|    break|return t
return sum(failing(x))
return any(a > 0.0 for a in failing(x))
return sum(a for a in squares(x) if a > 0.1)
return np.array([a * b for a, b in pairs(x)])
def own(n):|    for i in range(n):|        yield x[i] * i|return sum(a * b for a in own(3) for b in own(2))
def a(n):|    yield n|    yield 2 * n|def b():|    for y in x:|        yield y * y|return sum(a(x[0])) * sum(b())
return sum(a * a for a in halved(x[0])) + max(halved(x[1])) + sum(until(x[2]))
return list(until(x[0])), [a * b for a, b in zip(halved(x[1]), until(x[2]))]
t = 0.0|for a in long(x[0]):|    t += a|    if abs(a) > 5.0:|        break|return t
def own(k):|    while k > 0.1:|        yield k * x[0]|        k = 0.5 * k|return sum(own(1.0)) * max(own(x[1]))
t = 0.0|for k in ["a", "c"]:|    if k in KEYS:|        t += x[0]|return t
t = 0.0|for k in range(5):|    if k in PLACES:|        t += x[k]|return t
return sum(x[k] for k in range(5) if k not in EVEN)
""".strip().splitlines()
for text in TAKEN:
    EVERYDAY[f"{text} {len(EVERYDAY)}"] = function_of("x", text.split("|"), **NAMES), (np.array(V[:5]),), {}
