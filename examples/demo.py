"""The main job: fit a Gaussian mixture to the iris data, and differentiate a program that recurses over a tree.

Both gradients are checked against central differences, and their cost is measured against the program itself.
"""

import dataclasses
import math
import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize
import sklearn.datasets

import tapeengine as te

COMPONENTS = 3


# -- a Gaussian mixture on arrays -------------------------------------------------------------------------------------
def unpack(parameters: Any, dimensions: int) -> tuple[Any, Any, Any]:
    """Weights, means and precisions from one vector: logits, means, logarithms of the inverse widths."""
    k, d = COMPONENTS, dimensions
    logits, means, log_inverse = parameters[:k], parameters[k : k + k * d], parameters[k + k * d :]
    return logits, means.reshape(k, d), np.exp(log_inverse).reshape(k, d)


def log_sum_exp(x: Any, axis: int) -> Any:
    """log(sum(exp(x))) along an axis, without overflow."""
    top = np.max(x, axis=axis, keepdims=True)
    return np.squeeze(top, axis=axis) + np.log(np.sum(np.exp(x - top), axis=axis))


def mixture_loss(data: np.ndarray) -> Callable[[Any], Any]:
    """The mean negative log-likelihood of the data, as a function of the mixture's parameters."""
    n, d = data.shape

    def loss(parameters: Any) -> Any:
        logits, means, inverse_widths = unpack(parameters, d)
        log_weights = logits - log_sum_exp(logits, axis=0)
        scaled = (data[:, None, :] - means) * inverse_widths
        log_density = np.sum(np.log(inverse_widths), axis=1) - 0.5 * np.sum(scaled**2, axis=2)
        likelihood = np.sum(log_sum_exp(log_weights + log_density, axis=1))
        penalty = 0.01 * np.sum(inverse_widths**2)  # keeps a component from collapsing onto one point
        return (penalty - likelihood) / n + 0.5 * d * math.log(2 * math.pi)

    return loss


def start(data: np.ndarray, seed: int = 1) -> np.ndarray:
    """Equal weights, means at random points of the data, widths of the data."""
    rng = np.random.default_rng(seed)
    means = data[rng.choice(len(data), COMPONENTS, replace=False)]
    widths = np.tile(-np.log(data.std(axis=0)), COMPONENTS)
    return np.concatenate([np.zeros(COMPONENTS), means.ravel(), widths])


def fit_mixture() -> bool:
    """Fit the mixture by BFGS with the engine's gradient, and report."""
    data, species = sklearn.datasets.load_iris(return_X_y=True)
    loss, x0 = mixture_loss(data), start(data)
    steps = 0

    def progress(x: np.ndarray) -> None:
        nonlocal steps
        steps += 1
        show_progress(f"  iteration {steps:3d}: mean negative log-likelihood {loss(x):.6f}")

    print(f"Gaussian mixture: {COMPONENTS} components, {data.shape[0]} flowers, {x0.size} parameters")
    fit = scipy.optimize.minimize(te.value_and_grad(loss), x0, jac=True, method="BFGS", callback=progress)
    print()
    print(f"  {fit.message} {fit.nfev} evaluations; {agreement(fit.x, data, species):.0%} of the flowers by species")
    return report(loss, x0)


def agreement(parameters: np.ndarray, data: np.ndarray, species: np.ndarray) -> float:
    """The part of the data whose component is the one that most flowers of its species have."""
    logits, means, inverse_widths = unpack(parameters, data.shape[1])
    scaled = (data[:, None, :] - means) * inverse_widths
    score = logits + np.sum(np.log(inverse_widths), axis=1) - 0.5 * np.sum(scaled**2, axis=2)
    table = np.zeros((COMPONENTS, COMPONENTS))
    np.add.at(table, (np.argmax(score, axis=1), species), 1)
    return float(table.max(axis=1).sum() / len(data))


# -- a recursive program on a tree of dataclasses ---------------------------------------------------------------------
@dataclass(frozen=True)
class Resistor:
    """A resistance in ohms."""

    ohms: Any


@dataclass(frozen=True)
class Lamp:
    """A filament, whose resistance grows with the voltage once it glows."""

    cold: Any
    threshold: Any


@dataclass(frozen=True)
class Series:
    """Parts one after the other."""

    parts: list[Any]


@dataclass(frozen=True)
class Parallel:
    """Parts side by side."""

    parts: list[Any]


def conductance(part: Any, volts: Any) -> Any:
    """The current through a part for each volt across it; a lamp decides by its voltage whether it glows."""
    match part:
        case Resistor(ohms):
            return 1.0 / ohms
        case Lamp(cold, threshold) if volts > threshold:
            return threshold / (cold * volts)
        case Lamp(cold, _):
            return 1.0 / cold
        case Parallel(parts):
            return sum(conductance(p, volts) for p in parts)
        case Series(parts):
            share = volts / len(parts)
            return 1.0 / sum(1.0 / conductance(p, share) for p in parts)
    raise TypeError(f"{part!r} is no part of a circuit")


def mean_power(circuit: Any, samples: int = 12) -> Any:
    """The mean power that a circuit takes over a quarter of a period of alternating voltage."""
    total = 0.0
    for k in range(samples):
        volts = 325.0 * math.sin(0.5 * math.pi * (k + 0.5) / samples)
        total = total + conductance(circuit, volts) * volts * volts
    return total / samples


def random_circuit(rng: random.Random, depth: int) -> Any:
    """A circuit with up to 3**depth parts."""
    if depth == 0:
        ohms = rng.uniform(10.0, 100.0)
        return Resistor(ohms) if rng.random() < 0.5 else Lamp(ohms, rng.uniform(1.0, 50.0))
    parts = [random_circuit(rng, depth - 1) for _ in range(rng.randint(2, 3))]
    return (Series if depth % 2 else Parallel)(parts)


def differentiate_circuit() -> bool:
    """Differentiate the power of a circuit with respect to all of its parts, and report."""
    circuit = random_circuit(random.Random(1), 8)
    gradient = te.grad(mean_power)(circuit)
    print(f"Circuit: a tree of {len(leaves(circuit)):,} numbers, {mean_power(circuit):.3f} W")
    print(f"  the first branch's first slope: {leaves(gradient)[0]:.6f}; the gradient is a {type(gradient).__name__}")
    return report(mean_power, circuit)


# -- structures, differences, cost ------------------------------------------------------------------------------------
def leaves(x: Any) -> list[float]:
    """The numbers of a structure."""
    if isinstance(x, float):
        return [x]
    if isinstance(x, np.ndarray):
        return [float(item) for item in x.ravel()]
    parts = x if isinstance(x, list) else [getattr(x, field.name) for field in dataclasses.fields(x)]
    return [leaf for part in parts for leaf in leaves(part)]


def moved(x: Any, by: Callable[[], float]) -> Any:
    """The same structure, each of its numbers moved."""
    if isinstance(x, float):
        return x + by()
    if isinstance(x, np.ndarray):
        return np.array([item + by() for item in x])
    if isinstance(x, list):
        return [moved(part, by) for part in x]
    return type(x)(*[moved(getattr(x, field.name), by) for field in dataclasses.fields(x)])


def slope(program: Callable[[Any], float], x: Any, seed: int, h: float = 1e-5) -> float:
    """The slope of a program along a random direction, by central differences."""

    def along(t: float) -> float:
        rng = random.Random(seed)
        return float(program(moved(x, lambda: t * rng.gauss(0.0, 1.0))))

    return (along(h) - along(-h)) / (2 * h)


def error_against_differences(program: Callable[[Any], float], x: Any, gradient: Any) -> float:
    """The largest relative difference between the gradient and central differences along random directions."""
    errors = []
    for seed in range(5):
        rng = random.Random(seed)
        ours = math.fsum(g * rng.gauss(0.0, 1.0) for g in leaves(gradient))
        theirs = slope(program, x, seed)
        errors.append(abs(ours - theirs) / max(1.0, abs(theirs)))
    return max(errors)


def seconds(run: Callable[[], object], calls: int) -> float:
    """The time of one call."""
    begin = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - begin) / calls


def cost(program: Callable[[Any], object], x: Any, rounds: int = 15) -> tuple[float, float]:
    """Seconds of the program and of its value and gradient: measured in turns, the smallest of several."""
    with_gradient = te.value_and_grad(program)
    calls = max(1, int(0.01 / max(1e-6, seconds(lambda: program(x), 1))))
    pairs = [(seconds(lambda: program(x), calls), seconds(lambda: with_gradient(x), calls)) for _ in range(rounds)]
    return min(plain for plain, _ in pairs), min(both for _, both in pairs)


def report(program: Callable[[Any], float], x: Any) -> bool:
    """Print a gradient's error and cost; return whether it is right."""
    error = error_against_differences(program, x, te.grad(program)(x))
    plain, both = cost(program, x)
    print(f"  gradient against central differences: relative error {error:.1e}")
    print(f"  program {plain * 1e3:.3f} ms, value and gradient {both * 1e3:.3f} ms: {both / plain:.2f} x the program")
    return error < 1e-6


def show_progress(text: str) -> None:
    """One line that is written over, on a terminal."""
    print(f"\r{text}", end="" if sys.stdout.isatty() else "\n", flush=True)


def main() -> int:
    """Both parts; the exit status tells whether both gradients are right."""
    right = [fit_mixture(), differentiate_circuit()]
    print("Both gradients are right." if all(right) else "A gradient is wrong.")
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
