"""Methods that change their records and give values: optimisers, filters, generators of random numbers, accounts."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
from chad.written_functions import Cases, agrees_with_differences, refused

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError

COMPILED, REFUSED = Cases(), Cases()


class Account:
    def __init__(self, b):
        self.b = b
        self.n = 0

    def deposit(self, v):
        self.b += v
        self.n += 1

    def take(self, v):
        self.b -= v
        return v * 0.9

    def transfer(self, other, v):
        self.b -= v
        other.b += v
        return self.b


class Momentum:
    def __init__(self, lr, n):
        self.lr = lr
        self.v = np.zeros(n)
        self.t = 0

    def step(self, p, g):
        self.t += 1
        self.v = 0.9 * self.v + g
        return p - self.lr * self.v / self.t


class Cell:
    def __init__(self, n):
        self.h = np.zeros(n)

    def step(self, x):
        self.h = np.tanh(self.h + x)
        return self.h


class Control:
    def __init__(self, kp, ki):
        self.kp, self.ki = kp, ki
        self.total = 0.0
        self.last = None

    def __call__(self, e, dt):
        self.total += e * dt
        d = 0.0 if self.last is None else (e - self.last) / dt
        self.last = e
        return self.kp * e + self.ki * self.total + 0.05 * d


class Numbers:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (1103515245 * self.state + 12345) % 2**31
        return self.state / 2**31

    def uniform(self, a, b):
        return a + (b - a) * self.next()

    def gauss(self):
        u, v = self.next(), self.next()
        return math.sqrt(-2 * math.log(u)) * math.cos(2 * math.pi * v)


@dataclass
class Tank:
    level: float

    def pour(self, q, dt):
        self.level += q * dt
        return self.level > 2.0


@COMPILED(2.0, 0.5)
def arguments_that_read_the_record(x, y):
    a = Account(x)
    a.deposit(a.b * y)
    return a.take(a.b * a.n) + a.b


@COMPILED(2.0, 0.5)
def two_records(x, y):
    a, b = Account(x), Account(1.0)
    r = a.transfer(b, y)
    return r * a.b + b.b


@COMPILED(2.0, 0.3)
def in_a_test(x, y):
    a, k = Account(x), 0.0
    while a.take(y) > 0 and a.b > 0.35:
        k += a.b
    return k


@COMPILED(2.0, 0.3)
def in_a_local_function(x, y):
    a = Account(x)

    def taken(v):
        return a.take(v) + a.b

    return taken(y) * taken(0.1) + a.b


@COMPILED(2.0, 0.3)
def in_steps_of_a_loop(x, y):
    t = 0.0
    for k in range(3):
        a = Account(x * k)
        t += a.take(y) + a.b
    return t


@COMPILED(0.5, 0.1)
def an_optimiser(x, lr):
    p = np.array([x, -2.0])
    opt = Momentum(lr, len(p))
    for _ in range(4):
        p = opt.step(p, 2 * p)
    return np.sum(p * p)


@COMPILED(0.5, 0.1)
def a_cell_that_gives_its_own_array(x, y):
    cell, s = Cell(2), 0.0
    for _ in range(3):
        h = cell.step(np.array([x, y]))
        s += h[0] * cell.h[1]
    return s


@COMPILED(1.0, 0.2)
def an_object_that_is_called(kp, ki):
    control, x = Control(kp, ki), 0.0
    for _ in range(10):
        x += 0.1 * (control(1.0 - x, 0.1) - x)
    return x


@COMPILED(0.5, 1.5)
def methods_that_call_one_another(m, s):
    rng, t = Numbers(42), 0.0
    for _ in range(10):
        t += max(0.0, m + s * rng.uniform(-1.0, 1.0))
    return t + math.exp(m + 0.1 * s * rng.gauss())


@COMPILED(0.61, 0.3)
def a_parameter(x, q):
    def poured(tank, n):
        full = 0
        for _ in range(n):
            if tank.pour(q, 1.0):
                full += 1
        return full

    tank = Tank(x)
    n = poured(tank, 7)
    return tank.level * n


@REFUSED(2.0, 0.5)
def one_record_twice(x, y):
    a = Account(x)
    return a.transfer(a, y) + a.b


@REFUSED(2.0, 0.3)
def in_a_comprehension(x, y):
    a = Account(x)
    return sum([a.take(y * k) for k in range(4)]) + a.b


@REFUSED(2.0, 0.5)
def sometimes(x, y):
    a = Account(x)
    z = a.take(y) if x > 1 else 0.0
    return z + a.b


@REFUSED(2.0, 0.5)
def another_name(x, y):
    a = Account(x)
    b = a
    z = a.take(y)
    return z + b.b


@REFUSED(0.5, 0.1)
def a_change_of_what_the_record_holds(x, y):
    cell = Cell(2)
    h = cell.step(np.array([x, y]))
    h += 1.0
    return np.sum(cell.h * h)


def until_full(tank, q):
    n = 1.0
    while not tank.pour(q, 1.0):
        n += 1.0
    return n


def hidden():
    class Narrow(Tank):
        def pour(self, q, dt):
            self.level += 2.0 * q * dt
            return self.level > 3.0

    def a_method_of_a_class_that_the_callee_does_not_see(x, q):
        tank = Narrow(x)
        return until_full(tank, q) * tank.level

    return a_method_of_a_class_that_the_callee_does_not_see


COMPILED(0.5, 0.3)(hidden())


@pytest.mark.parametrize(("function", "args"), COMPILED, ids=lambda f: getattr(f, "__name__", ""))
def test_methods_that_change_records_have_values(function, args):
    program = te.program(function)
    refused(program, *args)
    agrees_with_differences(program, function, *args, rtol=1e-6)


@pytest.mark.parametrize(("function", "args"), REFUSED, ids=lambda f: getattr(f, "__name__", ""))
def test_changes_that_others_see_run_on_dual_numbers(function, args):
    program = te.program(function)
    with pytest.raises(ProgramError):
        refused(program, *args)
    agrees_with_differences(program, function, *args, rtol=1e-6)
