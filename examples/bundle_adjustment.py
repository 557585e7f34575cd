"""Cameras and points from their images, by least squares with a sparse Jacobian.

    python examples/bundle_adjustment.py [cameras] [points]

Each error depends on one camera and one point. The program gathers both for all observations at once; its Jacobian
takes two sweeps over the tape, as many as an observation has errors, whatever the numbers of cameras and points are.
"""

import sys
from typing import Any

import numpy as np
from scipy.optimize import least_squares

import tapeengine as te


def turned(angles: Any, x: Any) -> Any:
    """Rows turned by small angles about three axes, to second order."""
    first = np.cross(angles, x)
    return x + first + 0.5 * np.cross(angles, first)


def errors(cameras: Any, points: Any, seen_by: Any, seen: Any, images: Any) -> Any:
    """What is missing between images and projections; cameras (n, 7): angles, places and a focal length each."""
    camera, point = cameras[seen_by], points[seen]
    moved = turned(camera[:, :3], point - camera[:, 3:6])
    return camera[:, 6:] * moved[:, :2] / moved[:, 2:] - images


def scene(n: int, m: int, generator: np.random.Generator) -> tuple[Any, ...]:
    """Cameras near the origin, points in front of them, and who sees what."""
    angles, places = generator.normal(0.0, 0.05, (n, 3)), generator.normal(0.0, 0.3, (n, 3))
    cameras = np.concatenate([angles, places, np.ones((n, 1))], axis=1)
    points = generator.uniform([-2.0, -2.0, 4.0], [2.0, 2.0, 8.0], (m, 3))
    pairs = np.argwhere(generator.random((n, m)) < 0.5)
    return cameras, points, pairs[:, 0], pairs[:, 1]


def main(n: int = 8, m: int = 200) -> None:
    """Disturb a scene and find it again."""
    generator = np.random.default_rng(0)
    cameras, points, seen_by, seen = scene(n, m, generator)
    images = errors(cameras, points, seen_by, seen, 0.0)

    def residuals(x: Any) -> Any:
        return errors(x[: 7 * n].reshape(n, 7), x[7 * n :].reshape(m, 3), seen_by, seen, images).reshape(-1)

    jacobian = te.sparse_jacobian(residuals)
    start = np.concatenate([cameras.ravel(), points.ravel()]) + generator.normal(0.0, 0.01, 7 * n + 3 * m)
    found = least_squares(residuals, start, jac=jacobian, tr_solver="lsmr", x_scale="jac", max_nfev=30)
    entries = jacobian(start)
    print(f"Jacobian {entries.shape[0]} x {entries.shape[1]} with {entries.nnz} entries")
    print(f"error {np.abs(residuals(start)).max():.1e} -> {np.abs(found.fun).max():.1e} in {found.nfev} evaluations")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
