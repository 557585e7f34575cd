"""Random programs of what users write, staged and called with whatever comes: the result is the program's."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from leaves import bits

import tapeengine as te
import tapeengine.numpy as tnp

Statement = tuple[Any, ...]


class State:
    """What a program reads and writes while it runs."""

    def __init__(self, given: dict[str, Any], shared: dict[str, Any]) -> None:
        self.numbers = [*given["xs"], given["scale"]]
        self.arrays = [given["a"], given["b"]]
        self.count, self.mode = given["n"], given["mode"]
        self.shared = shared


INNER = te.stage(lambda x, y: x * y + 1.0 if x > y else te.math.sin(x) - y)
ONE: dict[str, Callable[[Any], Any]] = {
    "sin": te.math.sin,
    "exp": te.math.exp,
    "tanh": np.tanh,
    "square": lambda x: x * x,
    "abs": abs,
    "log": te.math.log,
    "sqrt": te.math.sqrt,
    "gamma": lambda x: te.math.lgamma(x + 3.0),
    "value": lambda x: x * te.value(x),
    "checkpoint": lambda x: te.checkpoint(lambda y: y * te.math.cos(y))(x),
    "gradient": lambda x: te.grad(lambda y: y * y * x)(x),
    "copied": lambda x: float(te.value(x)) + x,
    "numpy": lambda x: np.exp(-x * x),
    "forked": lambda x: sum(te.fork(lambda: x * 2.0 if x > 0.5 else x, lambda: te.math.cos(x))),
}
TWO: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "max": max,
    "maximum": te.math.maximum,
    "where": lambda x, y: np.where(x > 0.5, x, y)[()],
    "inner": lambda x, y: INNER(x, y),
    "pow": lambda x, y: abs(x) ** 1.5 + y,
    "mod": lambda x, y: x % 0.75 + y // 1.0,
}
ARRAYS: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda a, s: np.sin(a) * s,
    "scaled": lambda a, s: a * 2.0 + s,
    "view": lambda a, s: a[1:],
    "reversed": lambda a, s: a[::-1],
    "stacked": lambda a, s: tnp.stack([s, *a[:2]]),
    "outer": lambda a, s: (np.outer(a, a) @ a) * s,
    "sorted": lambda a, s: np.sort(a),
    "masked": lambda a, s: a[te.value(a) > 0.2] if len(a) else a,
    "zeros": lambda a, s: tnp.zeros(len(a)) + s,
    "chosen": lambda a, s: np.where(a > s, a, -a),
    "whole": lambda a, s: a.copy(),
    "dead": lambda a, s: (np.exp(a), np.cumsum(a * s), a)[-1],
}
SUMS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda a: a.sum(),
    "mean": lambda a: a.mean() if len(a) else 0.0,
    "max": lambda a: a.max() if len(a) else 1.0,
    "first": lambda a: a[0] if len(a) else 0.5,
    "dot": lambda a: a @ a,
    "loop": lambda a: sum((x * x for x in a), 0.0),
    "norm": lambda a: np.linalg.norm(a) if len(a) else 0.0,
}


def block(rng: random.Random, depth: int, most: int = 5) -> list[Statement]:
    return [statement(rng, depth) for _ in range(rng.randint(1, most))]


def statement(rng: random.Random, depth: int) -> Statement:
    i, j = rng.randint(0, 9), rng.randint(0, 9)
    kinds = ["one", "two", "two", "array", "sum", "element", "write", "in place", "shared", "dead"]
    kind = rng.choice(kinds + ["if", "if", "if", "for", "while", "try", "raise", "mode"] * (depth > 0))
    if kind == "one":
        # what is never replayed is rare, since nothing else of its program would be tested
        rare = rng.random() < 0.9
        return kind, rng.choice([name for name in sorted(ONE) if not rare or name not in ("gradient", "checkpoint")]), i
    if kind in ("two", "dead"):
        return kind, rng.choice(sorted(TWO)), i, j
    if kind == "array":
        return kind, rng.choice(sorted(ARRAYS)), i, j
    if kind == "sum":
        return kind, rng.choice(sorted(SUMS)), i
    if kind in ("element", "write", "in place", "shared"):
        return kind, i, j, rng.choice(["=", "*", "+"])
    if kind in ("raise", "mode"):
        return kind, i, block(rng, depth - 1, 2)
    return kind, i, rng.choice([0.0, 0.3, 1.0]), block(rng, depth - 1, 3), block(rng, depth - 1, 2)


def run(s: State, body: list[Statement]) -> None:
    for each in body:
        STATEMENTS[each[0]](s, *each[1:])


def number(s: State, i: int) -> Any:
    return s.numbers[-1 - i % len(s.numbers)]


def array(s: State, i: int) -> Any:
    return s.arrays[-1 - i % len(s.arrays)]


def write(s: State, i: int, j: int, how: str) -> None:
    a = array(s, i)
    if len(a) and a.dtype == float:
        k = j % len(a)
        a[k] = number(s, j) if how == "=" else a[k] * 0.5 if how == "*" else a[k] + 1.0


def in_place(s: State, i: int, j: int, how: str) -> None:
    a = array(s, i)
    if how == "=":
        a[1:] = a[:-1] if j % 2 else number(s, j)
    elif how == "*":
        a *= 0.5 if j % 2 else number(s, j)
    else:
        a += 1.0


def element(s: State, i: int, j: int, how: str) -> None:
    a = array(s, i)
    s.numbers.append(a[j % len(a)] if len(a) else 0.25)


def shared(s: State, i: int, j: int, how: str) -> None:
    factors = s.shared["factors"]
    s.numbers.append(number(s, i) * factors[j % len(factors)] + s.shared["table"][j % 2])


def branch(s: State, i: int, limit: float, yes: list[Statement], no: list[Statement]) -> None:
    x = number(s, i)
    taken = x > limit if i % 3 else int(x * 2.0) % 2 == 0 if abs(x) < 1e6 else False
    run(s, yes if taken else no)


def loop(s: State, i: int, limit: float, body: list[Statement], after: list[Statement]) -> None:
    for _ in range(s.count if i % 2 else i % 3):
        run(s, body)
    run(s, after)


def bounded(s: State, i: int, limit: float, body: list[Statement], after: list[Statement]) -> None:
    for _ in range(4):
        if not number(s, i) < limit:
            break
        run(s, body)
        s.numbers.append(number(s, i) * 2.0 + 0.3)
    run(s, after)


def attempt(s: State, i: int, limit: float, body: list[Statement], after: list[Statement]) -> None:
    try:
        run(s, body)
    except (ValueError, ZeroDivisionError, OverflowError):
        s.numbers.append(limit * number(s, i))
        run(s, after)


def mode(s: State, i: int, body: list[Statement]) -> None:
    if s.mode == "long":
        run(s, body)


def fail(s: State, i: int, body: list[Statement]) -> None:
    if number(s, i) > 2.5:
        raise ValueError(f"statement {i}")
    run(s, body)


def two(s: State, name: str, i: int, j: int) -> None:
    s.numbers.append(TWO[name](number(s, i), number(s, j)))


def dead(s: State, name: str, i: int, j: int) -> None:
    TWO[name](number(s, i), number(s, j))


STATEMENTS: dict[str, Callable[..., None]] = {
    "one": lambda s, name, i: s.numbers.append(ONE[name](number(s, i))),
    "two": two,
    "dead": dead,
    "array": lambda s, name, i, j: s.arrays.append(ARRAYS[name](array(s, i), number(s, j))),
    "sum": lambda s, name, i: s.numbers.append(SUMS[name](array(s, i))),
    "write": write,
    "in place": in_place,
    "element": element,
    "shared": shared,
    "if": branch,
    "for": loop,
    "while": bounded,
    "try": attempt,
    "raise": fail,
    "mode": mode,
}


def made(seed: int) -> tuple[Callable[..., Any], dict[str, Any], random.Random]:
    """A program, what it captures, and the generator of its arguments."""
    rng = random.Random(seed)
    body, scalars_only, nested = block(rng, 3, 8), rng.random() < 0.3, rng.random() < 0.5
    captured: dict[str, Any] = {"factors": [0.5, 2.0], "table": np.array([0.25, -1.0])}

    def program(xs: Any, a: Any, b: Any, n: int, mode: str, *, scale: float = 1.0) -> Any:
        s = State({"xs": xs, "a": a, "b": b, "n": n, "mode": mode, "scale": scale}, captured)
        run(s, body)
        if scalars_only:
            return s.numbers[-1] * 1.0
        return {"x": s.numbers[-2:], "a": s.arrays[-1]} if nested else (s.numbers[-1] * s.arrays[-1]).sum()

    return program, captured, rng


def arguments(rng: random.Random) -> tuple[tuple[Any, ...], dict[str, Any]]:
    xs = [rng.choice([0.0, -0.0, 0.5, 1.0, rng.uniform(-3.0, 3.0), rng.uniform(0.0, 1.0)]) for _ in range(3)]
    if rng.random() < 0.1:
        xs[rng.randrange(3)] = rng.choice([1e300, 1e-300, float("inf"), float("nan"), np.float64(0.7)])
    a, b = (np.array([rng.uniform(-2.0, 2.0) for _ in range(4)]) for _ in range(2))
    keywords = {"scale": rng.choice([1.0, 2.0])} if rng.random() < 0.2 else {}
    return (xs, a, b, rng.choice([2, 2, 2, 3]), rng.choice(["long", "long", "short"])), keywords


def outcome(call: Callable[..., Any], *args: Any, **keywords: Any) -> Any:
    try:
        return bits(call(*args, **keywords))
    except Exception as error:
        return type(error).__name__, str(error)


def both_passes(program: Any, *args: Any, **keywords: Any) -> Any:
    value, back = te.vjp(program, *args, **keywords)
    ones = [1.5 if isinstance(x, float) else x * 0.0 + 0.5 for x in leaves(value)]
    return value, back(rebuilt(value, iter(ones)))


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [*value["x"], value["a"]]
    return [value]


def rebuilt(value: Any, found: Any) -> Any:
    if isinstance(value, dict):
        return {"x": [next(found) for _ in value["x"]], "a": next(found)}
    return next(found)


CALLS: dict[str, Callable[..., Any]] = {
    "value": lambda f, *args, **keywords: (
        f(*args, **keywords) if hasattr(f, "stats") else te.vjp(f, *args, **keywords)[0]
    ),
    "vjp": both_passes,
    "jvp": lambda f, *args: te.jvp(
        lambda xs, a: f(xs, a, *args[2:]), args[:2], ([1.0, 0.5, -1.0], np.ones_like(args[1]))
    ),
    "nested": lambda f, *args: te.vjp(lambda t: te.vjp(f, [t * x for x in args[0]], *args[1:])[0], 1.25)[0],
    "hessian product": lambda f, *args: te.hvp(lambda xs: total(f(xs, *args[1:])), (args[0],), ([1.0, 0.5, -1.0],)),
    "lanes": lambda f, *args: te.vjp(
        te.vmap(f, (0, *(None,) * (len(args) - 1))), [np.array([x, 0.5 * x, x + 1.0]) for x in args[0]], *args[1:]
    )[0],
}


def total(value: Any) -> Any:
    """One number of a value."""
    return value["x"][-1] + value["a"].sum() if isinstance(value, dict) else value


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, 400, 25))
def test_the_result_is_the_programs(first: int) -> None:
    for seed in range(first, first + 25):
        program, captured, rng = made(seed)
        staged = te.stage(program, paths=rng.choice([2, 64]), optimise=rng.choice([True, False, "native"]))
        earlier = []
        for _ in range(12):
            if rng.random() < 0.15:
                captured["factors"][rng.randrange(2)] = rng.choice([0.5, 1.5])
            if rng.random() < 0.05:
                captured["table"][0] *= 0.5
            args, keywords = rng.choice(earlier) if earlier and rng.random() < 0.4 else arguments(rng)
            earlier.append((args, keywords))
            name = rng.choice(["value", "vjp", "vjp", "vjp", *([] if keywords else sorted(CALLS))])
            wanted = outcome(CALLS[name], program, *copied(args), **keywords)
            assert outcome(CALLS[name], staged, *copied(args), **keywords) == wanted, (seed, name, args, keywords)


def copied(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(x.copy() if isinstance(x, (np.ndarray, list)) else x for x in args)
