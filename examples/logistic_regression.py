"""Logistic regression over eight shards of data that stay where they are, with L-BFGS.

    python examples/logistic_regression.py [threads|processes|dask] [rows of a shard]

With a million rows in each shard the data are 0.6 GB. Each worker makes its shards itself, in place of reading files;
an iteration sends the weights and brings one loss and one gradient for each shard. The weights are the same bits on
every engine.
"""

from functools import partial
from typing import Any

import numpy as np
import scipy.optimize
from engines import run

import tapeengine as te

SHARDS, COLUMNS = 8, 10
TRUTH = np.linspace(-1.0, 1.0, COLUMNS)


def shard(number: int, rows: int) -> Any:
    """The rows of a shard, each times its label, which is 1 or -1."""
    generator = np.random.default_rng(number)
    x = generator.normal(size=(rows, COLUMNS))
    labels = np.where(generator.random(rows) < 1.0 / (1.0 + np.exp(-x @ TRUTH)), 1.0, -1.0)
    return x * labels[:, None]


def shard_loss(weights: Any, signed: Any) -> Any:
    """The negative log-likelihood of a shard."""
    return np.sum(np.logaddexp(0.0, -(signed @ weights)))


def main(executor: Any, rows: int) -> dict[str, Any]:
    """Fit the weights."""
    shards = [te.Loaded(shard, number, rows) for number in range(SHARDS)]

    def loss(weights: Any) -> Any:
        losses = te.fork_map(partial(shard_loss, weights), shards, executor=executor)
        return sum(losses) / (SHARDS * rows) + 1e-4 * np.sum(weights**2)

    found = scipy.optimize.minimize(te.value_and_grad(loss), np.zeros(COLUMNS), jac=True, method="L-BFGS-B")
    return {
        "loss": float(found.fun),
        "iterations": int(found.nit),
        "largest error of a weight": float(np.abs(found.x - TRUTH).max()),
        "weights": found.x.tolist(),
    }


if __name__ == "__main__":
    run(main, 2000)
