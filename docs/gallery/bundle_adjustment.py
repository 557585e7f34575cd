"""Bundle adjustment: cameras and points from pictures

Four cameras see thirty points. Both are known roughly. The program projects each point into each picture by rotation
vectors, and least squares moves cameras and points until the projections are what was seen. The Jacobian, 240 by 114,
comes from one call.
"""

import numpy
import scipy.optimize

import tapeengine as te
import tapeengine.numpy as np

CAMERAS, POINTS = 4, 30
RANDOM = numpy.random.default_rng(8)
TRUE_POINTS = RANDOM.uniform(-1, 1, (POINTS, 3))
TRUE_CAMERAS = numpy.array([[0.1 * k, 0.35 * k - 0.5, 0.0, 0.2 * k, -0.1 * k, 4.0 + 0.2 * k] for k in range(CAMERAS)])


def rotated(axis, points):
    """The points, turned about a vector by its length (Rodrigues)."""
    angle = np.sqrt(np.sum(axis**2) + 1e-16)
    unit = axis / angle
    along = np.outer(points @ unit, unit)
    return along + np.cos(angle) * (points - along) + np.sin(angle) * np.cross(unit, points)


def projected(cameras, points):
    """Where each camera sees each point."""
    seen = []
    for k in range(CAMERAS):
        placed = rotated(cameras[k, :3], points) + cameras[k, 3:]
        seen.append(placed[:, :2] / placed[:, 2:])
    return np.stack(seen)


SEEN = projected(TRUE_CAMERAS, TRUE_POINTS) + RANDOM.normal(0, 5e-4, (CAMERAS, POINTS, 2))
START = numpy.concatenate([
    (TRUE_CAMERAS + RANDOM.normal(0, 0.05, TRUE_CAMERAS.shape)).ravel(),
    (TRUE_POINTS + RANDOM.normal(0, 0.1, TRUE_POINTS.shape)).ravel(),
])  # fmt: skip
PRIMALS = (START,)


def program(parameters):
    """The difference of each projection from what was seen."""
    cameras = parameters[: 6 * CAMERAS].reshape(CAMERAS, 6)
    points = parameters[6 * CAMERAS :].reshape(POINTS, 3)
    return np.ravel(projected(cameras, points) - SEEN)


fast = te.stage(program)  # recorded once, evaluated again in each iteration


def solve():
    """Levenberg-Marquardt with the exact Jacobian."""
    found = scipy.optimize.least_squares(program, START, te.jacobian(fast), method="lm", max_nfev=60)
    return {"parameters": found.x, "calls": found.nfev, "rms": float(numpy.sqrt(numpy.mean(found.fun**2)))}


def right(found):
    """Whether what is left is the noise."""
    return found["rms"] < 6e-4


def draw(found, new_figure, colours):
    """What the first camera sees, before and after."""
    figure, both = new_figure(7.2, 3.4, ncols=2, sharey=True)
    for axes, parameters, title in zip(both, (START, found["parameters"]), ("first guess", "adjusted")):
        there = program(parameters).reshape(SEEN.shape)[0] + SEEN[0]
        axes.plot(*SEEN[0].T, "o", color=colours["muted"], markersize=6, markerfacecolor="none")
        axes.plot(*there.T, ".", color=colours["blue"], markersize=5)
        axes.plot(*numpy.stack([SEEN[0], there]).transpose(2, 0, 1), color=colours["orange"], linewidth=0.9)
        axes.set(title=f"{title}: seen (circles), projected (dots)", xlabel="x in the picture")
    both[0].set_ylabel("y in the picture")
    return figure
