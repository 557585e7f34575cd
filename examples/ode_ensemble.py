"""The rates of a predator-prey system from an ensemble of noisy trajectories, by Gauss-Newton.

    python examples/ode_ensemble.py [threads|processes|dask] [members] [steps]

Each member starts elsewhere; a task integrates one in plain Python and returns its residuals. So a task has many
numbers as its value: the Jacobian's columns are forward passes over all members, side by side.
"""

from functools import partial
from typing import Any

import numpy as np
from engines import run

import tapeengine as te
import tapeengine.numpy as tnp

RATES = np.array([1.1, 0.4, 0.4, 0.1])
STEP = 0.05


def rates_of_change(rates: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """Lotka and Volterra's equations."""
    return rates[0] * x - rates[1] * x * y, rates[3] * x * y - rates[2] * y


def trajectory(rates: Any, start: tuple[float, float], steps: int) -> list[Any]:
    """Prey and predators after every fifth of `steps` steps of Runge and Kutta's method."""
    (x, y), seen = start, []
    for k in range(steps):
        a, b = rates_of_change(rates, x, y)
        c, d = rates_of_change(rates, x + 0.5 * STEP * a, y + 0.5 * STEP * b)
        e, f = rates_of_change(rates, x + 0.5 * STEP * c, y + 0.5 * STEP * d)
        g, h = rates_of_change(rates, x + STEP * e, y + STEP * f)
        x, y = x + STEP / 6.0 * (a + 2.0 * c + 2.0 * e + g), y + STEP / 6.0 * (b + 2.0 * d + 2.0 * f + h)
        if k % 5 == 4:
            seen += [x, y]
    return seen


def residuals(rates: Any, member: tuple[tuple[float, float], Any], steps: int) -> Any:
    """What is left of the observations of one member."""
    start, observed = member
    return tnp.asarray(trajectory(rates, start, steps)) - observed


def members(count: int, steps: int) -> list[Any]:
    """Starts, and observations with noise."""
    generator = np.random.default_rng(5)
    starts = [(float(x), float(y)) for x, y in generator.uniform(2.0, 8.0, size=(count, 2))]
    noise = 0.01 * generator.normal(size=(count, 2 * (steps // 5)))
    return [
        (start, np.array(trajectory(RATES, start, steps)) + part) for start, part in zip(starts, noise, strict=True)
    ]


def main(executor: Any, count: int, steps: int) -> dict[str, Any]:
    """Fit the rates."""
    data = [te.Shared(member) for member in members(count, steps)]

    def all_residuals(rates: Any) -> Any:
        return tnp.concatenate(te.fork_map(partial(residuals, rates, steps=steps), data, executor=executor))

    rates = 0.9 * RATES
    for _ in range(4):
        value, m = te.linearize(all_residuals, rates)
        jacobian = np.stack([m(column) for column in np.eye(rates.size)], axis=1)
        rates = rates - np.linalg.lstsq(jacobian, value, rcond=None)[0]
    return {
        "root mean square of the residuals": float(np.sqrt(np.mean(all_residuals(rates) ** 2))),
        "largest error of a rate": float(np.abs(rates - RATES).max()),
        "rates": rates.tolist(),
    }


if __name__ == "__main__":
    run(main, 6, 100)
