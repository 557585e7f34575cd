"""The states of the global random generators are read once, and again after every draw."""

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tapeengine.transforms.captures.generators import generator_states, same_states, set_generators

DRAWS: dict[str, Callable[[], Any]] = {
    "random": random.random,
    "bits": lambda: random.getrandbits(1),
    "gauss": lambda: random.gauss(0.0, 1.0),
    "shuffle": lambda: random.shuffle([1, 2, 3]),
    "seed": lambda: random.seed(5),
    "numpy rand": lambda: np.random.rand(),
    "numpy bytes": lambda: np.random.bytes(1),
    "numpy normal": lambda: np.random.normal(),
    "numpy binomial": lambda: np.random.binomial(3, 0.5),
    "numpy permutation": lambda: np.random.permutation(3),
    "numpy seed": lambda: np.random.seed(5),
}


@pytest.fixture(autouse=True)
def _kept() -> Iterator[None]:
    states = random.getstate(), np.random.get_state(legacy=False)
    yield
    set_generators(states)


@pytest.mark.parametrize("name", DRAWS)
def test_every_draw_is_seen(name: str) -> None:
    for _ in range(4):  # every second normal number comes from the generator's cache
        before = generator_states()
        assert generator_states() is before
        full = random.getstate(), np.random.get_state(legacy=False)
        DRAWS[name]()
        after = random.getstate(), np.random.get_state(legacy=False)
        assert same_states(before, generator_states()) == same_states(full, after)
        assert same_states(generator_states(), after)


def test_states_that_are_put_back_are_the_same() -> None:
    for stored in range(2):
        np.random.seed(3)
        random.seed(3)
        for _ in range(stored):
            np.random.normal()
            random.gauss(0.0, 1.0)
        before = generator_states()
        drawn = [random.gauss(0.0, 1.0), np.random.normal(), random.random(), np.random.rand()]
        set_generators(before)
        assert same_states(before, generator_states())
        assert [random.gauss(0.0, 1.0), np.random.normal(), random.random(), np.random.rand()] == drawn


def test_another_bit_generator_is_read_anew() -> None:
    kept = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(np.random.PCG64(4))
        before = generator_states()
        np.random.rand()
        assert not same_states(before, generator_states())
    finally:
        np.random.set_bit_generator(kept)


def test_a_generator_that_a_program_puts_in_place_of_the_usual_one_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    generator_states()
    own = random.Random(7)
    monkeypatch.setattr(random, "getstate", own.getstate)
    before = generator_states()
    own.random()
    assert not same_states(before, generator_states())
    monkeypatch.setattr(random, "getstate", lambda: own.getstate())
    before = generator_states()
    own.random()
    assert not same_states(before, generator_states())


def test_states_differ_in_either_order() -> None:
    states = [generator_states()]
    for draw in (np.random.random, random.random, np.random.random):
        draw()
        states.append(generator_states())
    assert [[same_states(a, b) for a in states] for b in states] == np.eye(4, dtype=bool).tolist()
