"""Steps of `iterate` that write into what they capture, also what they undo: right or refused, and the data as without.

Each program of steps is drawn: what is written into a captured object in which step, with a period after which it is as
before. The value, the gradient and the captured object afterwards are those of a loop.
"""

from __future__ import annotations

import array
import collections
import itertools
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.errors import TapeEngineError

SEEDS = 4000 if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else 250


class Kept:
    """An object with three attributes that change."""

    def __init__(self) -> None:
        self.a, self.b, self.c = 1.0, 2.0, 3.0


SEQUENCES: dict[str, Callable[[], Any]] = {
    "list": lambda: [1.0, 2.0, 3.0],
    "deque": lambda: collections.deque([1.0, 2.0, 3.0]),
    "bytearray": lambda: bytearray([1, 2, 3]),
    "array.array": lambda: array.array("d", [1.0, 2.0, 3.0]),
    "numpy": lambda: np.array([1.0, 2.0, 3.0]),
    "nested": lambda: [[1.0], [2.0, 3.0]],
    "dict": lambda: {0: 1.0, 1: 2.0, 2: 3.0},
    "set": lambda: {1.0, 2.0, 3.0},
    "object": Kept,
}
#: What a step does to a captured object, if its class can; each with what undoes it.
WRITES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "set": (lambda c, v: c.__setitem__(0, 7), lambda c, v: c.__setitem__(0, 1)),
    "set the value": (lambda c, v: c.__setitem__(0, v), lambda c, v: c.__setitem__(0, 1)),
    "append": (lambda c, v: c.append(4), lambda c, v: c.pop()),
    "append the value": (lambda c, v: c.append(v), lambda c, v: c.pop()),
    "pop": (lambda c, v: c.pop(), lambda c, v: c.append(3)),
    "swap": (lambda c, v: swap(c), lambda c, v: swap(c)),
    "reverse": (lambda c, v: c.reverse(), lambda c, v: c.reverse()),
    "empty": (lambda c, v: empty(c), lambda c, v: c.extend([1, 2, 3])),
    "empty the set": (lambda c, v: c.clear(), lambda c, v: c.update({1.0, 2.0, 3.0})),
    "new key": (lambda c, v: c.update({9: 4.0}), lambda c, v: c.pop(9)),
    "new key with the value": (lambda c, v: c.update({9: v}), lambda c, v: c.pop(9)),
    "new item": (lambda c, v: c.add(9.0), lambda c, v: c.remove(9.0)),
    "attribute": (lambda c, v: setattr(c, "a", 5.0), lambda c, v: setattr(c, "a", 1.0)),
    "attribute with the value": (lambda c, v: setattr(c, "a", v), lambda c, v: setattr(c, "a", 1.0)),
    "inner": (lambda c, v: c[0].append(2.0), lambda c, v: c[0].pop()),
    "in place": (lambda c, v: c.__imul__(2), lambda c, v: c.__itruediv__(2)),
}


def swap(c: Any) -> None:
    c[0], c[1] = c[1], c[0]


def empty(c: Any) -> None:
    del c[:]


def contents(c: Any) -> list[Any]:
    """The numbers in a captured object."""
    if isinstance(c, Kept):
        return [c.a, c.b, c.c]
    if isinstance(c, (dict, set)):
        return sorted(c.values() if isinstance(c, dict) else c)
    return [x for part in c for x in (part if isinstance(part, list) else [part])]


def can(kind: str, write: str) -> bool:
    made = SEQUENCES[kind]()
    try:
        before = repr(contents(made))
        WRITES[write][0](made, 5.0)
        WRITES[write][1](made, 5.0)
    except (TypeError, AttributeError, ValueError, LookupError):
        return False
    return bool(repr(contents(made)) == before)


PAIRS = [(kind, write) for kind in SEQUENCES for write in WRITES if can(kind, write)]


def drawn(seed: int) -> tuple[Callable[[Any, Any], Callable[[Any], Any]], Any, int]:
    """A function that makes a step, for a captured object and a number; the object; and how many steps."""
    rng = random.Random(seed)
    kind, write = rng.choice(PAIRS)
    do, undo = WRITES[write]
    first, period, last = rng.choice([0, 0, 0, 1, 2, 3]), rng.choice([1, 2, 2, 3]), rng.choice([2, 4, 9])
    reads, counts_outside = rng.random() < 0.7, rng.random() < 0.3

    def make(c: Any, x: Any) -> Callable[[Any], Any]:
        counter = [0]

        def step(state: Any) -> Any:
            v, k = state
            now = counter[0] if counts_outside else int(k)
            weight = sum(contents(c)) if reads else 1.0
            after = v * v * 0.1 + weight * v * 0.01
            if first <= now < last:
                (do if (now - first) % period == 0 else undo if (now - first) % period == 1 else nothing)(c, v)
                if period == 1:
                    undo(c, v)
            counter[0] = (counter[0] + 1) % 4
            return after, k + 1.0

        return step

    return make, SEQUENCES[kind], rng.choice([2, 4, 6, 8])


def nothing(c: Any, v: Any) -> None:
    """Leave the object as it is."""


def loop(step: Any, n: int, state: Any) -> Any:
    for _ in range(n):
        state = step(state)
    return state


def outcome(make: Any, captured: Any, n: int, iterate: Any, transform: Any) -> Any:
    """The result of a transform and what is in the captured object afterwards; or the class of the error."""
    try:
        found = transform(lambda x: iterate(make(captured, x), n, (x, 0.0))[0], 0.7)
    except TapeEngineError:
        return "refused"
    except Exception as error:
        return type(error).__name__
    return np.round(np.array(found, float), 9).tolist(), repr([te.value(x) for x in contents(captured)])


TRANSFORMS = {
    "reverse": lambda f, x: te.value_and_grad(f)(x),
    "forward": lambda f, x: te.jvp(f, (x,), (1.0,)),
    "again": lambda f, x: (lambda back: (back(1.0)[0], back(1.0)[0]))(te.vjp(f, x)[1]),
    "second": lambda f, x: (te.hvp(f, (x,), (1.0,)),),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("checkpoints", [1, 3, 100])
def test_writes_are_right_or_refused(transform: str, checkpoints: int) -> None:
    wrong, right = [], 0
    for seed in range(SEEDS):
        make, captured, n = drawn(seed)
        expected = outcome(make, captured(), n, loop, TRANSFORMS[transform])
        found = outcome(
            make, captured(), n, lambda *args: te.iterate(*args, checkpoints=checkpoints), TRANSFORMS[transform]
        )
        right += found == expected
        if found not in (expected, "refused") and expected != "refused":
            wrong.append((seed, expected, found))
    assert wrong == []
    assert right > SEEDS // 4


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("checkpoints", [1, 3, 100])
def test_steps_that_read_what_earlier_ones_wrote_are_right(transform: str, checkpoints: int) -> None:
    right = 0
    for kind, write in PAIRS:
        if "value" in write or "empty" in write:
            continue
        for n, do in itertools.product((1, 2, 3, 5), WRITES[write]):

            def make(c: Any, x: Any, do: Any = do) -> Callable[[Any], Any]:
                def step(state: Any) -> Any:
                    do(c, 1.0)
                    return state[0] ** 2 * 0.1 + sum(contents(c)) * state[0] * 0.01, state[1]

                return step

            expected = outcome(make, SEQUENCES[kind](), n, loop, TRANSFORMS[transform])
            if isinstance(expected, str):  # an error, as of pop from an empty list
                continue
            found = outcome(
                make,
                SEQUENCES[kind](),
                n,
                lambda *args: te.iterate(*args, checkpoints=checkpoints),
                TRANSFORMS[transform],
            )
            assert found == expected, (kind, write, n)
            right += 1
    assert right > 50
