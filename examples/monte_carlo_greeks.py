"""The price of an Asian option and its Greeks by Monte Carlo: lanes of paths in numpy, tasks of lanes on workers.

    python examples/monte_carlo_greeks.py [threads|processes|dask] [tasks] [paths of a task]

Each task draws its paths from a generator of its own, whose seed travels and whose numbers do not. It returns two
numbers, so that their derivatives with respect to the spot, the volatility and the rate come back with them. The
second is the price of a European option on the same paths, for which there is a formula.
"""

import math
from functools import partial
from typing import Any

import numpy as np
from engines import run

import tapeengine as te

STRIKE, YEARS, DAYS = 100.0, 1.0, 16
MARKET = np.array([105.0, 0.2, 0.03])


def payoffs(market: Any, seed: Any, paths: int) -> Any:
    """The mean discounted payoffs, Asian and European, of the paths of one task."""
    spot, volatility, rate = market[0], market[1], market[2]
    step = YEARS / DAYS
    noise = np.random.default_rng(seed).normal(size=(paths // 2, DAYS))
    noise = np.concatenate([noise, -noise])
    drift = (rate - 0.5 * volatility * volatility) * step
    prices = spot * np.exp(np.cumsum(drift + volatility * math.sqrt(step) * noise, axis=1))
    asian = np.maximum(np.mean(prices, axis=1) - STRIKE, 0.0)
    european = np.maximum(prices[:, -1] - STRIKE, 0.0)
    discount = np.exp(-rate * YEARS)
    return np.mean(asian) * discount, np.mean(european) * discount


def formula(market: Any) -> Any:
    """Black and Scholes' price of the European option."""
    spot, volatility, rate = market
    d = (te.math.log(spot / STRIKE) + (rate + 0.5 * volatility**2) * YEARS) / (volatility * math.sqrt(YEARS))
    below = d - volatility * math.sqrt(YEARS)
    normal = [0.5 * te.math.erfc(-x / math.sqrt(2.0)) for x in (d, below)]
    return spot * normal[0] - STRIKE * te.math.exp(-rate * YEARS) * normal[1]


def main(executor: Any, tasks: int, paths: int) -> dict[str, Any]:
    """Price both options, with delta, vega and rho."""
    seeds = [int(one.generate_state(1)[0]) for one in np.random.SeedSequence(1).spawn(tasks)]

    def prices(market: Any) -> Any:
        found = te.fork_map(partial(payoffs, market, paths=paths), seeds, executor=executor)
        return [sum(one[k] for one in found) / tasks for k in range(2)]

    value, backpropagator = te.vjp(prices, MARKET)
    exact = te.grad(formula)(MARKET.tolist())
    european = backpropagator([0.0, 1.0])[0]
    return {
        "Asian price": float(value[0]),
        "Asian delta, vega, rho": backpropagator([1.0, 0.0])[0].tolist(),
        "European price": float(value[1]),
        "European delta, vega, rho": european.tolist(),
        "their largest error, relative": float(np.abs(european / exact - 1.0).max()),
    }


if __name__ == "__main__":
    run(main, 8, 4000)
