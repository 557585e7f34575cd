"""Adjoints of loops, written by hand and compiled by numba."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numba import njit


def scalars(x: float, n: int) -> Any:
    """Keep the running values, then walk back."""
    kept = np.empty(n)
    acc, gradient, ct = 0.0, 0.0, 1.0
    for i in range(n):
        kept[i] = acc
        acc = acc * np.sin(x) + x if acc < 1.0 else acc * 0.5
    for i in range(n - 1, -1, -1):
        if kept[i] < 1.0:
            gradient += ct * (kept[i] * np.cos(x) + 1.0)
            ct *= np.sin(x)
        else:
            ct *= 0.5
    return acc, (gradient,)


def horner(x: float, coefficients: Any) -> Any:
    """Keep the totals, then walk back."""
    kept, to_c = np.empty(len(coefficients)), np.empty(len(coefficients))
    total, gradient, ct = 0.0, 0.0, 1.0
    for i in range(len(coefficients)):
        kept[i] = total
        total = total * x + coefficients[i]
    for i in range(len(coefficients) - 1, -1, -1):
        to_c[i] = ct
        gradient += ct * kept[i]
        ct *= x
    return total, (gradient, to_c)


def linear(x: float, a: Any, b: Any) -> Any:
    """Keep the numbers, then walk back."""
    kept, to_a, to_b = np.empty(len(a)), np.empty(len(a)), np.empty(len(a))
    for i in range(len(a)):
        kept[i] = x
        x = a[i] * x + b[i]
    ct = 1.0
    for i in range(len(a) - 1, -1, -1):
        to_a[i] = ct * kept[i]
        to_b[i] = ct
        ct *= a[i]
    return x, (ct, to_a, to_b)


def asian(start: float, rate: float, volatility: float, strike: float, normals: Any) -> Any:
    """Keep the prices of a single path, and walk back through it at once."""
    paths, steps = normals.shape
    dt = 1.0 / steps
    drift, size = (rate - 0.5 * volatility * volatility) * dt, volatility * np.sqrt(dt)
    discount = np.exp(-rate)
    total, to_start, to_drift, to_size, to_strike = 0.0, 0.0, 0.0, 0.0, 0.0
    kept, to_normals = np.empty(steps), np.zeros_like(normals)
    for i in range(paths):
        price, mean = start, 0.0
        for t in range(steps):
            price *= np.exp(drift + size * normals[i, t])
            kept[t] = price
            mean += price
        mean /= steps
        if mean > strike:
            total += mean - strike
            share, ct = discount / paths, 0.0
            to_strike -= share
            for t in range(steps - 1, -1, -1):
                ct += share / steps * kept[t]
                to_drift += ct
                to_size += ct * normals[i, t]
                to_normals[i, t] = ct * size
            to_start += ct / start
    value = discount * total / paths
    to_volatility = -volatility * dt * to_drift + np.sqrt(dt) * to_size
    return value, (to_start, to_drift * dt - value, to_volatility, to_strike, to_normals)


BY_HAND: Mapping[str, Callable[..., Any]] = MappingProxyType({f.__name__: f for f in (scalars, horner, linear, asian)})


def prepare(name: str, args: tuple[Any, ...]) -> Callable[[], Any]:
    """Compile the adjoint of a program."""
    compiled = njit(BY_HAND[name])
    return lambda: compiled(*args)
