"""Records in lists that change: random programs are right; those in which a record has other names right or refused."""

import copy
import itertools
import math
import random
from dataclasses import dataclass, replace

import numpy as np
import pytest
from chad.written_functions import function_of, refused

import tapeengine
from tapeengine.chad.language.errors import ProgramError

ENGINE = tapeengine.Engine()


@dataclass
class Body:
    x: float
    v: float
    m: float = 1.5

    def move(self, dt):
        self.x += self.v * dt

    def kick(self, f):
        self.v = self.v + f / self.m
        self.m *= 1.01

    def energy(self):
        return 0.5 * self.m * self.v * self.v

    def far(self):
        return math.hypot(self.x, self.v)

    @property
    def power(self):
        return self.v * self.m

    @property
    def same(self):
        return self

    def me(self):
        return self

    def meet(self, other):
        other.v += self.v
        self.v = 0.0


class Plain:
    """The same without the methods that dataclasses get."""

    def __init__(self, x, v, m=1.5):
        self.x, self.v = x, v
        self.m = m

    move, kick, energy, far, me, meet = Body.move, Body.kick, Body.energy, Body.far, Body.me, Body.meet
    power, same = Body.power, Body.same


@dataclass
class Checked:
    x: float
    v: float

    def __post_init__(self):
        if self.x < 0.0:
            raise ValueError("negative")


def force(a, b):
    d = b.x - a.x
    return a.m * b.m * d / (d * d + 0.5) ** 1.5


def itself(b):
    return b


def total(bodies):
    return sum(b.energy() for b in bodies)


def heaviest(bodies):
    return max(bodies, key=lambda b: b.m)


def last_moved(bodies):
    bodies[-1].x = 7.0
    return 1.0


def meet(a, b):
    a.v = b.v = 0.5 * (a.v + b.v)


def push(b):
    b.v += 1.0
    return 2.0 * b.x


SHARED = Body(1.0, 2.0)
NAMES = {
    f.__name__: f
    for f in (Body, Checked, force, itself, total, heaviest, last_moved, meet, push, replace, itertools, math)
}
NAMES |= {"copy": copy, "SHARED": SHARED}

MAKERS = """
bodies = [Body(x, 1.0 * x) for x in xs]
bodies = [Body(xs[0], 0.0), Body(x=xs[1], v=1.0, m=2.0), Body(xs[2], xs[0] * xs[1], xs[2] + 3.0)]
bodies = []|for i, x in enumerate(xs):|    bodies.append(Body(x, float(i), x * x + 1.0))
bodies: list[Body] = [Body(x, -x) for x in xs]|bodies.append(Body(0.5, xs[1]))
bodies = [Body(x, 1.0) for x in xs if x > 0.2]
bodies = [Body(x, 1.0) for x in xs]|bodies = [Body(b.v, b.x) for b in bodies]
""".strip().splitlines()
STEPS = """
for b in bodies:|    b.x += b.v * dt
for b in bodies:|    b.v -= b.x * dt|    b.x += b.v * dt
for b in bodies:|    for c in bodies:|        if c is not b:|            b.v += force(b, c) * dt
for b in bodies:|    for c in bodies:|        if b is c:|            continue|        c.x += dt * b.x * c.x
for i in range(len(bodies)):|    for j in range(i):|        f = force(bodies[i], bodies[j])|        bodies[j].v -= f
for b, x in zip(bodies, xs):|    b.v += x * b.x
for i, b in enumerate(bodies):|    b.v = b.v * i + bodies[i - 1].x
for i, b in enumerate(bodies, 1):|    b.m = b.m + i * b.x * b.x
for x, b in zip(xs, bodies):|    b.v += x * b.x * b.power
for a, x, b in zip(bodies, xs, bodies, strict=False):|    a.v += x * b.x
for i, (b, x) in enumerate(zip(bodies, xs)):|    b.v += i * x * b.x
for (i, a), b in zip(enumerate(bodies, 2), reversed(bodies)):|    a.v += i * dt * b.x
for a, b in itertools.product(bodies, bodies):|    if a is not b:|        a.v += b.x * dt * b.power
for b in reversed(bodies):|    b.v += bodies[0].v * dt
p = sum(b.power for b in bodies)|for i, b in enumerate(reversed(bodies)):|    b.v += i * p * dt
for a, b in itertools.combinations(bodies, 2):|    f = force(a, b)|    a.v += f / a.m * dt|    b.v -= f / b.m * dt
for a, b in itertools.pairwise(bodies):|    b.x = a.x * 0.5 + b.x * 0.5
for b in bodies:|    b.move(dt)
for b in bodies:|    b.kick(sum(force(b, c) for c in bodies))
for i in range(len(bodies)):|    bodies[i].kick(bodies[i].x)
for b in bodies:|    b.kick(b.far())
for b in bodies:|    b.v += min(bodies, key=lambda c: c.x).v * dt|bodies[0].x += max(bodies, key=lambda c: c.v).far()
for b in bodies:|    b.x += 0.5|s = sum(b * b for b in xs)|for b in bodies:|    b.v += s * b.x
bodies[0].move(2.0 * dt)|bodies[-1].v = bodies[0].x
a, b = bodies[0], bodies[1]|d = b.x|a.x = 2.0 * a.x|b.x = d * a.x
a = bodies[0]|c = bodies[-1]|a.x += 1.0|c.v = a.x * c.v|a.move(c.v * dt)
first = bodies[0]|for b in bodies:|    if b is first:|        b.x = 3.0 * b.x|    else:|        b.x = first.x * b.x
for k in range(3):|    b = bodies[k % 2]|    b.x = math.sin(b.x + b.v)
k = 0|while bodies[0].x < 4.0 and k < 5:|    bodies[0].x += 1.0 + bodies[1].x * dt|    k += 1
for b in bodies:|    if b.x < 0.0:|        b.x = -b.x|        continue|    b.v *= 0.5|    if b.v > 50.0:|        break
s = 0.0|for b in bodies:|    s += b.energy()|    b.x = b.x + s * dt
e = total(bodies)|for b in bodies:|    b.x = b.x * 0.5 + e * dt
m = len(bodies)|for b in bodies:|    b.x /= m
top = max(b.x for b in bodies)|for b in bodies:|    b.x = b.x - top
""".strip().splitlines()
RESULTS = """
return sum(b.x * b.x + b.v for b in bodies)
return total(bodies) + bodies[0].x
s = 0.0|for b in bodies:|    s += b.x * b.v|return s
return sum([b.x for b in bodies]) * bodies[-1].v
""".strip().splitlines()


def program(rng):
    lines = rng.choice(MAKERS).split("|")
    steps = [step.split("|") for step in rng.sample(STEPS, 3)]
    if rng.random() < 0.5:
        steps = [["for step in range(2):", *("    " + line for step in steps for line in step)]]
    return [*lines, *(line for step in steps for line in step), *rng.choice(RESULTS).split("|")]


def slopes(f, xs, dt):
    for k in range(len(xs)):
        up, down = ([x + (h if i == k else 0.0) for i, x in enumerate(xs)] for h in (1e-6, -1e-6))
        yield (f(up, dt) - f(down, dt)) / 2e-6


def outcome(program, *args):
    try:
        return ENGINE.value_and_grad(program)(*args)
    except ProgramError:
        return None
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    rng = random.Random(seed)
    lines = program(rng)
    f = function_of("xs, dt", lines, **{**NAMES, "Body": (Body, Plain)[seed % 2]})
    xs, dt = [rng.uniform(0.3, 1.5) for _ in range(rng.choice((3, 4)))], 0.1
    for backend in (None, "machine", "native"):
        value, slope = ENGINE.value_and_grad(tapeengine.program(f, backend=backend))(xs, dt)
        assert value == pytest.approx(f(xs, dt), rel=1e-12), lines
        assert slope == pytest.approx(list(slopes(f, xs, dt)), rel=1e-5, abs=1e-6), lines


REMADE = """
bodies = [Body(b.x, 2.0 * b.v) for b in bodies]
bodies = [Body(b.x * i, dt) for i, b in enumerate(bodies, 1)]
bodies.append(Body(dt, xs[0]))
if bodies[0].x > 0.9:|    bodies = [Body(x, b.x) for x, b in zip(xs, bodies)]
if xs[0] > 1.0:|    bodies.append(Body(bodies[-1].v, dt))|else:|    bodies = [Body(xs[1], x) for x in xs]
while len(bodies) < 6:|    for b in bodies:|        b.v += 0.1 * b.x|    bodies.append(Body(bodies[-1].v, dt))
""".strip().splitlines()
IN_FUNCTION = ["def inner(xs, dt):", "return inner(xs, 1.0) + inner([x + dt for x in xs], dt)"]


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_that_make_records_anew(seed):
    rng = random.Random(seed)
    scoped = [step for step in STEPS if not any(name in step for name in ("a = b", "a, b = b", "b = b", "first = "))]
    steps = [
        step.split("|") for step in (rng.choice(REMADE), rng.choice(scoped), rng.choice(REMADE), rng.choice(scoped))
    ]
    if rng.random() < 0.5:
        steps = [["for step in range(2):", *("    " + line for step in steps for line in step)]]
    lines = [*rng.choice(MAKERS).split("|"), *(line for step in steps for line in step), *RESULTS[seed % 4].split("|")]
    if seed % 3 == 0:
        lines = [IN_FUNCTION[0], *("    " + line for line in lines), IN_FUNCTION[1]]
    f = function_of("xs, dt", lines, **{**NAMES, "Body": (Body, Plain)[seed % 2]})
    xs, dt = [rng.uniform(0.3, 1.5) for _ in range(rng.choice((3, 4)))], 0.1
    value, slope = ENGINE.value_and_grad(tapeengine.program(f, backend=(None, "machine", "native")[seed % 3]))(xs, dt)
    assert value == pytest.approx(f(xs, dt), rel=1e-12), lines
    assert slope == pytest.approx(list(slopes(f, xs, dt)), rel=1e-5, abs=1e-6), lines


def test_each_step_is_in_the_language():
    for step in STEPS:
        f = function_of("xs, dt", [*MAKERS[0].split("|"), *step.split("|"), *RESULTS[0].split("|")], **NAMES)
        assert outcome(tapeengine.program(f), [0.5, 0.7, 1.1], 0.1) is not None, step


@pytest.mark.parametrize("text", REMADE)
def test_records_that_are_made_anew_are_in_the_language(text):
    lines = [
        *MAKERS[0].split("|"),
        *STEPS[0].split("|"),
        *text.split("|"),
        *STEPS[1].split("|"),
        *RESULTS[0].split("|"),
    ]
    assert outcome(tapeengine.program(function_of("xs, dt", lines, **NAMES)), [0.5, 0.7, 1.1], 0.1) is not None


SHARED_VARIABLES = """
for b in bodies:|    b.v += b.x|for b in others:|    b.x = b.v * bodies[1].v|for b in bodies:|    b.move(dt)
for b in xs:|    dt = dt * b|for b in bodies:|    b.v += dt * b.x|s = max(xs, key=lambda b: b * b)|bodies[0].x *= s
for b in bodies:|    b.x += others[0].x|for b in others:|    for x in xs:|        b.v = x|for b in bodies:|    b.v *= dt
""".strip().splitlines()


@pytest.mark.parametrize("text", SHARED_VARIABLES)
def test_loops_over_two_lists_may_share_a_variable(text):
    lines = ["bodies = [Body(x, 1.0) for x in xs]", "others = [Body(x * x, 0.5) for x in xs]", *text.split("|")]
    f = function_of("xs, dt", [*lines, "return total(bodies) * others[-1].x * bodies[0].x"], **NAMES)
    xs = [0.5, 0.7, 1.1]
    value, slope = outcome(tapeengine.program(f), xs, 0.1)
    assert value == pytest.approx(f(xs, 0.1), rel=1e-12)
    assert slope == pytest.approx(list(slopes(f, xs, 0.1)), rel=1e-6)


ALIASED = """
b = Body(xs[0], 1.0)|bodies = [b, Body(xs[1], 1.0)]|bodies[0].x = 5.0|return b.x * xs[0]
b = Body(xs[0], 1.0)|bodies = [b, b]|bodies[0].x = 5.0 * xs[0]|return bodies[1].x
bodies = [Body(xs[0], 1.0)] * 2|bodies[0].x = 5.0 * xs[0]|return bodies[1].x
b = Body(xs[0], 1.0)|bodies = [b for _ in range(2)]|bodies[0].x = 5.0 * xs[0]|return bodies[1].x
@|t = bodies[0]|bodies[0].x = 5.0 * xs[0]|return t.x
@|t = bodies[0]|bodies[0] = Body(3.0, 1.0)|t.x = 5.0 * xs[0]|return bodies[0].x + t.x
@|t = bodies[0]|bodies.insert(0, Body(3.0, 1.0))|t.x = 5.0 * xs[0]|return bodies[0].x + t.x
@|t = bodies[0]|bodies.append(Body(3.0, 1.0))|t.x = 5.0 * xs[0]|return bodies[0].x + t.x
@|t = bodies.pop(0)|t.x = 5.0 * xs[0]|return bodies[0].x + t.x
@|t = bodies[-1]|bodies.pop()|t.x = 5.0 * xs[0]|return bodies[0].x + t.x
@|t = heaviest(bodies)|bodies[0].x = 5.0 * xs[0]|return t.x
@|t = itself(bodies[0])|bodies[0].x = 5.0 * xs[0]|return t.x
@|t = bodies[0].same|bodies[0].x = 5.0 * xs[0]|return t.x
@|for a, b in itertools.product(bodies, repeat=2):|    a.x += b.x * dt|return #
@|for b in zip(bodies, xs):|    b[0].x += b[1]|return #
@|for (a, b), x in zip(zip(bodies, bodies), xs):|    a.x += b.x * x|return #
@|for a, b in zip(bodies, bodies[1:]):|    a.x += b.x|return #
@|t = bodies[0].me()|bodies[0].x = 5.0 * xs[0]|return t.x
@|t = bodies|t[0].x = 5.0 * xs[0]|return bodies[0].x
@|t = bodies[:]|bodies[0].x = 5.0 * xs[0]|return t[0].x
@|t = list(bodies)|t[0].x = 5.0 * xs[0]|return bodies[0].x
@|t = sorted(bodies, key=lambda b: b.x)|bodies[0].x = 5.0 * xs[0]|return t[0].x
@|t = [b for b in bodies if b.x > 0.0]|bodies[0].x = 5.0 * xs[0]|return t[0].x
@|t = {"a": bodies[0]}|bodies[0].x = 5.0 * xs[0]|return t["a"].x
@|t = (bodies[0], 1.0)|bodies[0].x = 5.0 * xs[0]|return t[0].x
@|t = bodies[0] if xs[0] > 0.0 else bodies[1]|t.x = 5.0 * xs[0]|return bodies[0].x
@|best = bodies[0]|for b in bodies:|    if b.x > best.x:|        best = b|best.x = 9.0 * xs[1]|return #
@|for b in bodies:|    b.x += 1.0|    bodies[0].x = b.x * 2.0|return #
@|for b in bodies:|    last = b|last.x = 4.0 * xs[1]|return #
@|for b in bodies:|    b.x += 1.0|    bodies = [Body(7.0 * b.x, 1.0)]|    b.x += 1.0|return #
@|for b in bodies:|    b.x += 1.0|bodies = [Body(7.0 * b.x, 1.0)]|b.x += 1.0|return #
@|for b in bodies:|    b.x += 1.0|    if len(bodies) < 5:|        bodies.append(Body(b.x, 1.0))|return #
@|for b in bodies:|    b.x += 1.0|    for c in bodies:|        bodies = [Body(c.x, 1.0)]|    b.v += 2.0|return #
@|def f():|    nonlocal bodies|    bodies = [Body(xs[0], 1.0)]|    for b in bodies:|        b.x += 1.0|f()|return #
@|for b in bodies:|    pass|b.x = 4.0 * xs[1]|return sum(c.x for c in bodies)
@|for k in range(2):|    for b in bodies:|        b.x = 2.0 * b.x|    bodies.append(Body(xs[0], 1.0))|return #
@|for k in range(2):|    bodies = [Body(b.x, 2.0) for b in bodies]|    for b in bodies:|        b.x = 2.0 * b.x|return #
@|def shift(d):|    for b in bodies:|        b.x += d|shift(xs[0])|return #
@|def add():|    bodies.append(Body(xs[0], 1.0))|b = bodies[-1]|add()|b.x = 7.0|return sum(c.x for c in bodies)
@|get = lambda: bodies[0]|get().x = 3.0|return bodies[0].x + xs[0]
@|one = last_moved(bodies)|bodies[0].x += one|return #
@|bodies[0].x = last_moved(bodies) + bodies[0].x|return #
@|other = [Body(x, 2.0) for x in xs]|for a, b in zip(bodies, other):|    a.x, b.x = b.v, a.x|return other[0].x
@|other = [bodies[0], bodies[1]]|other[0].x = 4.0|return bodies[0].x + xs[0]
bodies = [Checked(x, 1.0) for x in xs]|for b in bodies:|    b.x = -b.x|return #
bodies = [SHARED, Body(xs[0], 1.0)]|bodies[0].x = 4.0|return SHARED.x + xs[0]
bodies = [copy.copy(SHARED), Body(xs[0], 1.0)]|bodies[0].x = xs[0]|return SHARED.x + bodies[0].x
@|i = 0|bodies[i].x = bodies[i + 1].x|i = 9|return bodies[i].x
@|b = bodies[9]|bodies[0].x = 1.0|return xs[0]
@|b = bodies[-1]|c = bodies[len(bodies) - 1]|b.x = 3.0|return c.x + (1.0 if b is c else 0.0) + xs[0]
@|b = bodies[-1]|c = bodies[2]|b.x = 3.0|return c.x + (1.0 if b is c else 0.0) + xs[0]
@|g = (b.x for b in bodies)|bodies[0].x = 3.0 * xs[0]|return sum(g)
@|b = bodies[0]|b = Body(3.0, 1.0)|b.x = 4.0|return bodies[0].x + b.x
@|b = bodies[0]|bodies[0].x = 2.0|f = lambda b: b.x * 2.0|return f(bodies[1]) + b.x
@|try:|    bodies[0].x = 2.0 * xs[0]|    bodies[7].x = 3.0|except IndexError as b:|    pass|return bodies[0].x
@|del bodies[0]|for b in bodies:|    b.x *= 2.0|return #
@|for b in bodies:|    b.x *= 2.0|bodies.sort(key=lambda b: -b.x)|return bodies[0].x
@|b = bodies[0]|b.x = 2.0|bodies.reverse()|return b.x + bodies[0].x
@|bodies[0].x = bodies[1].x = 2.0 * xs[2]|return #
@|bodies[0].meet(bodies[1])|return #
@|for b in bodies:|    b.meet(bodies[0])|return #
@|meet(bodies[0], bodies[1])|return bodies[0].v + bodies[1].v * xs[0]
@|d = push(bodies[0])|return bodies[0].v * d
@|bodies[0].v = push(bodies[0]) + bodies[0].v|return bodies[0].v
@|setattr(bodies[0], "x", 2.0)|bodies[1].x = 3.0|return #
@|seen = [bodies[0] == bodies[1]]|bodies[1].x = 3.0|return # + len(seen)
@|a, b = bodies[0], bodies[0]|a.x = 5.0|b.x += a.x|return #
@|for b in bodies:|    s = sum(b.v for b in bodies)|    b.x = s * b.x|return #
@|for b in bodies:|    b.x = 2.0|    b = Body(1.0, 1.0)|    b.x = 3.0|return sum(c.x for c in bodies) * xs[0]
@|n = 0|for b in bodies[:2]:|    b.x = 2.0|return #
@|for b in reversed(bodies):|    b.x = bodies[0].x * b.x|return #
@|a, b = bodies[0], bodies[1]|a, b = b, a|a.x = 5.0|return bodies[0].x + bodies[1].x * xs[0]
@|bodies[0], bodies[1] = bodies[1], bodies[0]|bodies[0].x = 5.0|return bodies[0].x + bodies[1].x * xs[0]
""".strip().splitlines()


@pytest.mark.filterwarnings("ignore:.*runs without native code")
@pytest.mark.parametrize("text", ALIASED)
def test_other_names_of_records(text):
    f = function_of("xs, dt", text.replace("@", MAKERS[0]).replace("#", "sum(b.x for b in bodies)").split("|"), **NAMES)
    xs = [0.5, 0.7, 1.1]
    vars(SHARED).update(x=1.0, v=2.0)
    for backend in (None, "machine", "native"):
        found = outcome(tapeengine.program(f, backend=backend), xs, 0.1)
        vars(SHARED).update(x=1.0, v=2.0)
        try:
            value = f(xs, 0.1)
        except Exception as error:
            assert found in (type(error), None)
            continue
        finally:
            vars(SHARED).update(x=1.0, v=2.0)
        if found is not None:
            assert isinstance(found, tuple), found
            assert found[0] == pytest.approx(value, rel=1e-12)
            assert np.asarray(found[1]) == pytest.approx(list(slopes(f, xs, 0.1)), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    "line",
    [
        "t = [b for b in bodies]",
        "t = bodies[0].me()",
        "bodies.append(Body(b.x, 1.0))",
        "t = bodies[0].same",
    ],
)
def test_the_error_shows_the_statement_that_stands_against_a_change(line):
    f = function_of("xs", ["bodies = [Body(x, 1.0) for x in xs]", "for b in bodies:", "    b.x += 1.0", line], **NAMES)
    with pytest.raises(ProgramError) as raised:
        refused(tapeengine.program(f), [0.5, 0.7])
    assert line in str(raised.value)
    assert "b cannot be changed in place" in str(raised.value)
