"""Reproducible input data: the same numbers on every machine and for every tool."""

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray


def generator(seed: int) -> np.random.Generator:
    """Return numpy's generator with a fixed seed."""
    return np.random.default_rng(seed)


def scalars(count: int, seed: int, low: float = -1.0, high: float = 1.0) -> list[float]:
    """Draw a list of floats between `low` and `high`."""
    draw = random.Random(seed).uniform
    return [draw(low, high) for _ in range(count)]


def array(seed: int, *shape: int) -> NDArray[Any]:
    """Draw an array of standard normal numbers."""
    return generator(seed).standard_normal(shape)
