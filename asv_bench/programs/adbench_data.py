"""Data for the four ADBench objectives: the public files if a folder is given, otherwise similar generated data.

The environment variable TAPEENGINE_TEST_DATA names a folder with ``adbench/loaders.py``, which reads the files.
"""

import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from asv_bench.programs import draws

Data = dict[str, Any]


@cache
def loaders() -> Any:
    """Return the module that reads the public files; None if their folder is not given."""
    folder = os.environ.get("TAPEENGINE_TEST_DATA")
    path = Path(folder or "") / "adbench" / "loaders.py"
    if not folder or not path.is_file():
        return None
    spec = importlib.util.spec_from_file_location("adbench_loaders", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def gmm(d: int = 10, k: int = 10, n: int = 1000) -> Data:
    """Return the data of a Gaussian mixture: alphas, means, icf, x, gamma and m."""
    if loaders() and (d, k, n) == (10, 10, 1000):
        return loaders().load_gmm("gmm_d10_K10")  # type: ignore[no-any-return]
    draw = draws.generator(41).random
    return {
        "alphas": draw(k),
        "means": draw((k, d)),
        "icf": draw((k, d * (d + 1) // 2)),
        "x": draw((n, d)),
        "gamma": 1.0,
        "m": 0,
    }


def lstm(layers: int = 2, chars: int = 1024, bits: int = 14) -> Data:
    """Return the data of an LSTM: main, extra, state and seq."""
    if loaders() and (layers, chars, bits) == (2, 1024, 14):
        return loaders().load_lstm()  # type: ignore[no-any-return]
    draw = draws.generator(42)
    return {
        "main": draw.random((2 * layers, 4 * bits)),
        "extra": draw.random((3, bits)),
        "state": draw.random((2 * layers, bits)),
        "seq": draw.integers(0, 2, (chars, bits)).astype(float),
    }


def ba(cameras: int = 49, points: int = 7776, observations: int = 31843) -> Data:
    """Return the data of a bundle adjustment: cams, X, w, obs and feats."""
    if loaders() and (cameras, points, observations) == (49, 7776, 31843):
        return loaders().load_ba()  # type: ignore[no-any-return]
    draw = draws.generator(43).random
    index = np.arange(observations)
    return {
        "cams": draw((cameras, 11)),
        "X": draw((points, 3)) + 2.0,
        "w": draw(observations),
        "obs": np.stack([index % cameras, index % points], axis=1),
        "feats": draw((observations, 2)),
    }


def hand(points: int = 100, complicated: bool = False) -> Data:
    """Return the data of the hand model: its bones, vertices and weights, and the points to reach.

    In the complicated form `corr` numbers triangles, and `us` (points, 2) weighs their corners.
    """
    if loaders() and points == 100:
        return loaders().load_hand(complicated)  # type: ignore[no-any-return]
    generator, vertices = draws.generator(44), 544
    positions = np.ones((vertices, 4))
    positions[:, :3] = generator.standard_normal((vertices, 3))
    weights = generator.random((vertices, 22))
    rotations, _ = np.linalg.qr(generator.standard_normal((22, 3, 3)))
    relatives = np.tile(np.eye(4), (22, 1, 1))
    relatives[:, :3, :3], relatives[:, :3, 3] = rotations, generator.standard_normal((22, 3))
    return {
        "parents": np.array([-1, 0] + [parent for f in range(5) for parent in (1, 4 * f + 2, 4 * f + 3, 4 * f + 4)]),
        "base_relatives": relatives,
        "inverse_base_absolutes": np.linalg.inv(relatives),
        "base_positions": positions,
        "weights": weights / weights.sum(axis=1, keepdims=True),
        "triangles": generator.integers(0, vertices, (points, 3)),
        "corr": generator.integers(0, points if complicated else vertices, points),
        "points": generator.standard_normal((points, 3)),
        "us": generator.random((points, 2)) / 2.0 if complicated else None,
        "theta": 0.2 * generator.standard_normal(26),
    }
