"""Functions that run again and read from what they capture: a later run must not use what is left of it.

The wanted derivative is that of the same program without the transform; a `RepeatError` may take its place. The
value of half of the steps does not depend on what they read, so that comparing values does not find the difference.
"""

import io
import itertools
import random
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import RepeatError

ITEMS = [1.0, 2.0, 3.0, 1.5]
Read = Callable[[], float]


def generated() -> Iterator[float]:
    yield from ITEMS


def from_iterator(make: Callable[[], Any], item: Callable[[Any], float] = float) -> Callable[[Path], Read]:
    return lambda _: (lambda it: lambda: item(next(it)))(make())


def opened(path: Path, mode: str = "r") -> Any:
    file = path / "numbers"
    file.write_text("".join(f"{x}\n" for x in ITEMS))
    return file.open(mode)


class Holder:
    """Holds an iterator."""

    def __init__(self) -> None:
        self.rest = iter(ITEMS)

    def read(self) -> float:
        return next(self.rest)


#: What is read: a maker of a function that reads the next number.
READ: dict[str, Callable[[Path], Read]] = {
    "list": from_iterator(lambda: iter(ITEMS)),
    "tuple": from_iterator(lambda: iter(tuple(ITEMS))),
    "range": from_iterator(lambda: iter(range(1, 5))),
    "dict": from_iterator(lambda: iter(dict.fromkeys(ITEMS))),
    "values": from_iterator(lambda: iter(dict(enumerate(ITEMS)).values())),
    "set": from_iterator(lambda: iter(set(ITEMS))),
    "deque iterator": from_iterator(lambda: iter(deque(ITEMS))),
    "text": from_iterator(lambda: iter("1234")),
    "array": from_iterator(lambda: iter(np.array(ITEMS))),
    "flat array": from_iterator(lambda: np.array(ITEMS).flat),
    "reversed": from_iterator(lambda: reversed(ITEMS)),
    "generator": from_iterator(generated),
    "generator expression": from_iterator(lambda: (x for x in ITEMS)),
    "zip": from_iterator(lambda: zip(ITEMS, ITEMS, strict=True), lambda pair: pair[1]),
    "enumerate": from_iterator(lambda: enumerate(ITEMS), lambda pair: pair[1]),
    "map": from_iterator(lambda: map(float, ITEMS)),
    "filter": from_iterator(lambda: filter(None, ITEMS)),
    "until": from_iterator(lambda: iter([*ITEMS].pop, None)),
    "chain": from_iterator(lambda: itertools.chain(ITEMS, ITEMS)),
    "islice": from_iterator(lambda: itertools.islice(ITEMS, 4)),
    "cycle": from_iterator(lambda: itertools.cycle(ITEMS)),
    "accumulate": from_iterator(lambda: itertools.accumulate(ITEMS)),
    "lines": lambda path: (lambda file: lambda: float(next(file)))(opened(path)),
    "readline": lambda path: (lambda file: lambda: float(file.readline()))(opened(path)),
    "lines until": lambda path: (lambda it: lambda: float(next(it)))(iter(opened(path).readline, "")),
    "a file to read and write": lambda path: (lambda file: lambda: float(file.readline()))(opened(path, "r+")),
    "bytes of a file": lambda path: (lambda file: lambda: float(file.readline()))(opened(path, "rb")),
    "StringIO": lambda _: (lambda file: lambda: float(file.readline()))(io.StringIO("1\n2\n3\n1.5\n")),
    "BytesIO": lambda _: (lambda file: lambda: float(file.read(1)))(io.BytesIO(b"1234")),
    "bound method": lambda _: iter(ITEMS).__next__,
    "bound send": lambda _: partial(generated().send, None),
    "attribute": lambda _: Holder().read,
    "in a list": lambda _: (lambda held: lambda: next(held[0]))([iter(ITEMS)]),
    "deque": lambda _: (lambda items: lambda: items.popleft())(deque(ITEMS)),
    "list to pop": lambda _: (lambda items: lambda: items.pop())([*ITEMS]),
    "set to pop": lambda _: (lambda items: lambda: items.pop())(set(ITEMS)),
    "Random": lambda _: random.Random(1).random,
    "Generator": lambda _: np.random.default_rng(1).random,
    "RandomState": lambda _: (lambda rng: lambda: rng.random_sample())(np.random.RandomState(1)),
}
STEPS: dict[str, Callable[[Read], Callable[[Any], Any]]] = {
    "value": lambda read: lambda x: x * read(),
    "derivative only": lambda read: lambda x: x ** read(),
}
#: The transforms, each with the same program without it.
RUNS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "checkpoint": (lambda f, x: te.checkpoint(lambda y: f(f(y)))(x), lambda f, x: f(f(x))),
    "iterate": (lambda f, x: te.iterate(f, 4, x, checkpoints=1), lambda f, x: f(f(f(f(x))))),
    "iterate that keeps all": (lambda f, x: te.iterate(f, 4, x, checkpoints=9), lambda f, x: f(f(f(f(x))))),
    "fork": (lambda f, x: te.fork(lambda: f(x))[0] * x, lambda f, x: f(x) * x),
    "fork_map": (lambda f, x: te.fork_map(f, [x])[0] * x, lambda f, x: f(x) * x),
}
ORDERS: list[Callable[[Callable[[Any], Any]], Any]] = [
    lambda f: te.grad(f)(1.0),
    lambda f: te.jvp(f, (1.0,), (1.0,))[1],
    lambda f: te.grad(te.grad(f))(1.0),
]
EXACT = ("deque", "list to pop", "set to pop", "Random", "Generator", "RandomState")


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("name", READ)
def test_the_derivative_is_right_or_refused(name: str, step: str, tmp_path: Path) -> None:
    for run, (transformed, plain) in RUNS.items():
        for order in ORDERS:
            f, g = (STEPS[step](READ[name](tmp_path)) for _ in range(2))
            try:
                found = order(partial(transformed, f))
            except RepeatError as error:
                assert "list" in str(error) and "items as arguments" in str(error)
                assert "iterate" in run or name not in EXACT
                continue
            assert found == pytest.approx(order(partial(plain, g)), rel=1e-12), run


def test_what_is_held_and_not_read_and_what_is_written_are_no_obstacle() -> None:
    rest, log = iter(ITEMS), io.StringIO()

    def f(x: Any) -> Any:
        print("f", file=log)
        return x * x * (rest is not None)

    def program(x: Any) -> Any:
        y = te.checkpoint(f)(x)
        return y * next(rest)

    assert te.grad(program)(3.0) == 6.0
    assert te.grad(lambda x: te.iterate(f, 2, x))(3.0) == 4.0 * 27.0


def test_an_error_that_only_a_later_run_raises_is_told(tmp_path: Path) -> None:
    (tmp_path / "once").touch()

    def f(x: Any) -> Any:
        (tmp_path / "once").unlink()
        return x * x

    def g(x: Any) -> Any:
        return x * x if type(x) is float else {}["only of traced numbers"]

    with pytest.raises(RepeatError, match="a later run raises FileNotFoundError"):
        te.grad(te.checkpoint(f))(3.0)
    with pytest.raises(KeyError, match="only of traced"):
        te.grad(te.checkpoint(g))(3.0)
