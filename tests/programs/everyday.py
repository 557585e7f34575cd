"""Programs in ordinary Python style: classes with state, generators, memoised helpers, sorting, operators."""

import functools
import heapq
import itertools
import math
from collections.abc import Iterator
from typing import Any

from programs.program import Program


class Account:
    """An object with state that methods change."""

    def __init__(self, balance: Any, rate: Any) -> None:
        self.balance = balance
        self.rate = rate

    def year(self, paid_in: Any) -> "Account":
        self.balance = self.balance * (1.0 + self.rate) + paid_in
        return self


def stateful_object(m: Any, balance: Any, rate: Any, paid_in: Any) -> Any:
    account = Account(balance, rate)
    for _ in range(3):
        account.year(paid_in)
    return account.balance


def stateful_by_hand(balance: float, rate: float, paid_in: float) -> list[list[float]]:
    q = 1 + rate
    return [[q**3, 3 * q * q * balance + paid_in * (1 + 2 * q), 1 + q + q * q]]


class Polynomial:
    """A callable object."""

    def __init__(self, coefficients: list[Any]) -> None:
        self.coefficients = coefficients

    def __call__(self, x: Any) -> Any:
        result = 0.0
        for c in reversed(self.coefficients):
            result = result * x + c
        return result


def callable_object(m: Any, coefficients: list[Any], x: Any) -> Any:
    return Polynomial(coefficients)(x)


def horner_by_hand(coefficients: list[float], x: float) -> list[list[float]]:
    slope = sum(k * c * x ** (k - 1) for k, c in enumerate(coefficients) if k)
    return [[*(x**k for k in range(len(coefficients))), slope]]


def generator(m: Any, x: Any) -> Any:
    def powers() -> Iterator[Any]:
        y = x
        while True:
            yield y
            y = y * x

    return list(itertools.islice(powers(), 4))


def memoised(m: Any, x: Any, y: Any) -> Any:
    @functools.cache
    def binomial(n: int, k: int) -> Any:
        if k in (0, n):
            return x if k else y
        return binomial(n - 1, k - 1) * 0.5 + binomial(n - 1, k) * 0.5

    return binomial(12, 5)


def sorted_by_value(m: Any, xs: list[Any]) -> Any:
    return [x * k for k, x in enumerate(sorted(xs))]


def sorted_by_hand(xs: list[float]) -> list[list[float]]:
    order = sorted(range(len(xs)), key=lambda i: xs[i])
    return [[float(k * (j == i)) for j in range(len(xs))] for k, i in enumerate(order)]


def median_and_extremes(m: Any, xs: list[Any]) -> Any:
    return sorted(xs)[len(xs) // 2], max(xs), min(xs), heapq.nlargest(2, xs)


def found_by_value(m: Any, x: Any, y: Any) -> Any:
    """Lists find numbers by comparison: the position found is discrete."""
    keys, values = [x, y], [y * 2.0, x * 3.0]
    return values[keys.index(x)] * values[keys.index(y)] if x in keys and 7.0 not in keys else x


def all_operators(m: Any, x: Any, y: Any) -> Any:
    x = x + 2
    y = 3 - y
    z = x * y - y / x + 2 * x - 5 / y
    z += x**2 + y**1.5 + 2.0**x + x**y
    z -= abs(-x) + (-y) + (+x)
    z *= x % y + 7.5 % x + y % 1
    quotient, remainder = divmod(x, y)
    return z + quotient * remainder + x // y


def augmented_in_list(m: Any, xs: list[Any]) -> list[Any]:
    ys = list(xs)
    for i in range(len(ys)):
        ys[i] += ys[i - 1] * 0.5
        ys[i] **= 2
    return ys


def sum_and_zip(m: Any, xs: list[Any], ys: list[Any]) -> Any:
    return sum(x * y for x, y in zip(xs, ys, strict=True))


def statistics(m: Any, xs: list[Any]) -> Any:
    mean = m.fsum(xs) / len(xs)
    variance = m.fsum((x - mean) ** 2 for x in xs) / (len(xs) - 1)
    return {"mean": mean, "deviation": m.sqrt(variance)}


def statistics_by_hand(xs: list[float]) -> list[list[float]]:
    n, mean = len(xs), sum(xs) / len(xs)
    deviation = math.sqrt(sum((x - mean) ** 2 for x in xs) / (n - 1))
    return [[1 / n] * n, [(x - mean) / (n - 1) / deviation for x in xs]]


def rounded(m: Any, x: Any) -> Any:
    """Discrete results carry no derivative; numbers multiplied with them do."""
    return x * round(x) + m.floor(x) * x + int(x) + m.ceil(x) * 2.0 * x + round(x, 1) * x


XS = [0.5, -1.5, 2.25, 0.75, -0.25]

PROGRAMS = (
    Program("object with state", stateful_object, (100.0, 0.05, 7.0), stateful_by_hand),
    Program("callable object", callable_object, ([1.0, -2.0, 0.5, 3.0], 0.7), horner_by_hand),
    Program("generator", generator, (1.3,), lambda x: [[1], [2 * x], [3 * x * x], [4 * x**3]]),
    Program("memoised helper", memoised, (0.6, 1.7)),
    Program("sorted by value", sorted_by_value, (XS,), sorted_by_hand),
    Program("median and extremes", median_and_extremes, (XS,)),
    Program("found by value", found_by_value, (0.3, 0.8), lambda x, y: [[6 * y, 6 * x]]),
    Program("all operators", all_operators, (1.3, 0.45)),
    Program("augmented assignment", augmented_in_list, (XS,)),
    Program("sum and zip", sum_and_zip, (XS, XS[::-1]), lambda xs, ys: [[*ys, *xs]]),
    Program("mean and deviation", statistics, (XS,), statistics_by_hand),
    Program("rounded", rounded, (2.3,), lambda x: [[2.0 + 2.0 + 6.0 + 2.3]]),
)
