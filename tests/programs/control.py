"""Programs whose control flow depends on their data: conditionals, recursion, loops, exceptions."""

import math
from typing import Any

from programs.program import Program


def conditional(m: Any, x: Any, y: Any) -> Any:
    if x > y:
        return x * y
    return m.sin(x) - y


def nested_conditionals(m: Any, xs: Any) -> Any:
    out = []
    for x in xs:
        if x < 0:
            out.append(-x if x > -1 else x * x)
        elif x == 0:
            out.append(x)
        else:
            out.append(m.log(x) if x >= 1.0 else m.sqrt(x))
    return out


def nested_conditionals_by_hand(xs: list[float]) -> list[list[float]]:
    def slope(x: float) -> float:
        if x < 0:
            return -1.0 if x > -1 else 2 * x
        return 1.0 if x == 0 else 1 / x if x >= 1 else 0.5 / x**0.5

    slopes = [slope(x) for x in xs]
    return [[slope * (i == j) for j in range(len(xs))] for i, slope in enumerate(slopes)]


def scalar_loop(m: Any, xs: Any) -> Any:
    acc = 0.0
    for x in xs:
        acc = acc * m.sin(x) + x if acc > 0 else acc * x - m.sin(x)
    return acc


def power_by_recursion(m: Any, x: Any, n: int = 13) -> Any:
    if n == 0:
        return 1.0
    half = power_by_recursion(m, x, n // 2)
    return half * half * x if n % 2 else half * half


def ackermann_like(m: Any, x: Any, y: Any) -> Any:
    def go(depth: int, z: Any) -> Any:
        if depth == 0:
            return z * y
        return go(depth - 1, go(depth - 1, z) + x)

    return go(4, x)


def even_odd(m: Any, x: Any) -> Any:
    def even(n: int, z: Any) -> Any:
        return z if n == 0 else odd(n - 1, z * x)

    def odd(n: int, z: Any) -> Any:
        return 1.0 if n == 0 else even(n - 1, z + x)

    return even(6, x)


def even_odd_by_hand(x: float) -> list[list[float]]:
    z, dz = x, 1.0
    for step in range(6):
        z, dz = (z + x, dz + 1.0) if step % 2 else (z * x, dz * x + z)
    return [[dz]]


def newton(m: Any, a: Any) -> Any:
    """The square root by Newton's method, until the residual is small."""
    x = a * 0.5 + 0.5
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def collatz_like(m: Any, x: Any) -> Any:
    steps = 0
    while x > 1.5 and steps < 50:
        x = x / 2.0 if steps % 3 else x * 0.9 + 0.1
        steps += 1
    return x * steps


def bisection(m: Any, low: Any, high: Any, a: Any) -> Any:
    """It ends depending on values only: the derivative is that of the remaining bounds."""
    while high - low > 1e-3:
        middle = (low + high) * 0.5
        if middle * middle * middle < a:
            low = middle
        else:
            high = middle
    return low + high


def caught_exception(m: Any, xs: Any) -> Any:
    total = 0.0
    for x in xs:
        try:
            total = total + 1.0 / x + m.log(x)
        except (ZeroDivisionError, ValueError):
            total = total - 3.0 * x
    return total


def caught_by_hand(xs: list[float]) -> list[list[float]]:
    return [[1 / x - 1 / x**2 if x > 0 else -3.0 for x in xs]]


def early_return(m: Any, xs: Any) -> Any:
    for i, x in enumerate(xs):
        if x * x > 4.0:
            return {"found": x * i, "before": xs[:i]}
    return {"found": 0.0, "before": xs}


def fibonacci(m: Any, x: Any, y: Any) -> Any:
    def fib(n: int) -> Any:
        return (x, y)[n] if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(12)


def root(a: float) -> list[list[float]]:
    return [[0.5 / math.sqrt(a)]]


PROGRAMS = (
    Program("conditional, one side", conditional, (2.0, 1.0), lambda x, y: [[y, x]]),
    Program("conditional, other side", conditional, (0.5, 1.0), lambda x, y: [[math.cos(x), -1.0]]),
    Program(
        "nested conditionals", nested_conditionals, ([-2.0, -0.5, 0.0, 0.25, 3.0],), nested_conditionals_by_hand, 0.0
    ),
    Program("scalar loop", scalar_loop, ([math.sin(0.7 * i) + 0.2 for i in range(30)],)),
    Program("power by recursion", power_by_recursion, (1.1,), lambda x: [[13 * x**12]]),
    Program("doubly recursive", ackermann_like, (0.7, 0.9)),
    Program("mutual recursion", even_odd, (0.9,), even_odd_by_hand),
    Program("Newton's method", newton, (7.3,), root),
    Program("while loop", collatz_like, (33.0,)),
    Program("bisection", bisection, (1.0, 3.0, 9.0), step=0.0),
    Program("caught exception", caught_exception, ([2.0, -1.5, 0.5, 3.0],), caught_by_hand),
    Program("early return", early_return, ([1.0, -0.5, 3.0, 7.0],)),
    Program("Fibonacci", fibonacci, (0.3, 0.4), lambda x, y: [[89.0, 144.0]]),
)
