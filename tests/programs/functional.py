"""Small functional programs: sharing, closures, functions as values (DN sections 2, 5 and 6)."""

import functools
import math
from collections.abc import Callable
from typing import Any

from programs.program import Program


def identity(m: Any, x: Any) -> Any:
    return x


def duplicate(m: Any, x: Any) -> Any:
    return x, x


def swapped_and_kept(m: Any, pair: Any) -> Any:
    x, y = pair
    return y, (x, pair)


def constant_beside(m: Any, x: Any) -> Any:
    return 2.0, x * 3.0, 4.0


def unused_input(m: Any, x: Any, y: Any) -> Any:
    return x * x


def let_chain(m: Any, x: Any, y: Any) -> Any:
    a = x * y
    b = a + x
    c = b * a
    d = c - y
    return d * b


def let_chain_by_hand(x: float, y: float) -> list[list[float]]:
    a, b = x * y, x * y + x
    d = a * b - y
    dx = (y * b + a * (y + 1)) * b + d * (y + 1)
    dy = (x * b + a * x - 1) * b + d * x
    return [[dx, dy]]


def dn_example(m: Any, pair: Any) -> Any:
    """The running example of DN section 6: let y = fst x in let z = x + y in x * z, with its shared z."""
    x, y = pair
    z = x + y
    return x * z


def closure_twice(m: Any, x: Any, y: Any) -> Any:
    def scaled(z: Any) -> Any:
        return x * z + y

    return scaled(scaled(y))


def function_argument(m: Any, x: Any, y: Any) -> Any:
    def twice(f: Callable[[Any], Any], z: Any) -> Any:
        return f(f(z))

    return twice(lambda z: m.sin(z) * x, y)


def partial_application(m: Any, x: Any, y: Any) -> Any:
    def affine(a: Any, b: Any, z: Any) -> Any:
        return a * z + b

    first = functools.partial(affine, x)
    second = functools.partial(first, m.exp(y))
    return second(y), second(2.0)


def partial_application_by_hand(x: float, y: float) -> list[list[float]]:
    return [[y, x + math.exp(y)], [2.0, math.exp(y)]]


def composition(m: Any, x: Any) -> Any:
    return functools.reduce(lambda f, g: lambda z: g(f(z)), [m.sin, m.exp, m.tanh, lambda z: z * z])(x)


def composition_by_hand(x: float) -> list[list[float]]:
    e = math.exp(math.sin(x))
    t = math.tanh(e)
    return [[2 * t * (1 - t * t) * e * math.cos(x)]]


def church_numeral(m: Any, x: Any) -> Any:
    def successor(n: Any) -> Any:
        return lambda f: lambda z: f(n(f)(z))

    three = successor(successor(successor(lambda f: lambda z: z)))
    return three(lambda z: z * x + 1.0)(x)


def shared_ten_levels(m: Any, x: Any) -> Any:
    """Ten levels of eightfold sharing: without linear factoring 8**10 calls (DN section 6)."""
    y = x
    for _ in range(10):
        y = (y + y + y + y + y + y + y + y) * 0.125 + 0.01
    return y


def shared_by_duplication(m: Any, x: Any) -> Any:
    """f(x) = x + x, thirty times over: two to the thirty paths from the result to the input."""
    for _ in range(30):
        x = x + x
    return x


def captured_by_many(m: Any, x: Any, y: Any) -> Any:
    functions = [lambda z, k=k: x * z + y * k for k in range(20)]
    total = 1.0
    for f in functions:
        total = f(total) * 0.3
    return total


def curried_pairs(m: Any, pairs: Any) -> Any:
    def both(a: Any) -> Callable[[Any], Any]:
        return lambda b: (a * b, a / b)

    return [both(a)(b) for a, b in pairs]


def currying_by_hand(pairs: Any) -> list[list[float]]:
    rows = []
    for i, (a, b) in enumerate(pairs):
        left, right = [0.0] * 2 * i, [0.0] * 2 * (len(pairs) - i - 1)
        rows += [[*left, b, a, *right], [*left, 1 / b, -a / b**2, *right]]
    return rows


PROGRAMS = (
    Program("identity", identity, (3.0,), lambda x: [[1.0]]),
    Program("duplicate", duplicate, (3.0,), lambda x: [[1.0], [1.0]]),
    Program("swapped and kept", swapped_and_kept, ((1.0, 2.0),), lambda p: [[0, 1], [1, 0], [1, 0], [0, 1]]),
    Program("constant beside", constant_beside, (0.5,), lambda x: [[0.0], [3.0], [0.0]]),
    Program("unused input", unused_input, (1.5, 2.5), lambda x, y: [[2 * x, 0.0]]),
    Program("let chain", let_chain, (0.7, -1.3), let_chain_by_hand),
    Program("DN's example", dn_example, ((2.0, 5.0),), lambda p: [[2 * p[0] + p[1], p[0]]]),
    Program("closure applied twice", closure_twice, (0.3, 1.7), lambda x, y: [[2 * x * y + y, x * x + x + 1]]),
    Program("function argument", function_argument, (0.9, 0.4)),
    Program("partial application", partial_application, (1.1, 0.2), partial_application_by_hand),
    Program("composition", composition, (0.6,), composition_by_hand),
    Program("Church numeral", church_numeral, (0.8,), lambda x: [[4 * x**3 + 2 * x + 1]]),
    Program("ten levels of eightfold sharing", shared_ten_levels, (0.6,), lambda x: [[1.0]]),
    Program("thirty duplications", shared_by_duplication, (0.5,), lambda x: [[2.0**30]]),
    Program("captured by many", captured_by_many, (0.4, 1.2)),
    Program("curried pairs", curried_pairs, ([(1.0, 2.0), (3.0, -4.0)],), currying_by_hand),
)
