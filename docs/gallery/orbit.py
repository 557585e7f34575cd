"""Orbit: the launch that arrives

A probe leaves a planet's orbit and has to be at a given place after a given time, past a second planet that bends its
path. The path is a loop over scalars (leapfrog steps). `te.jacobian` gives the derivative of the place of arrival by
the velocity of launch, and Newton's method solves for the velocity.
"""

import numpy as np

import tapeengine as te
import tapeengine.math as tm

STEPS, DT = 400, 0.01
TARGET = (-1.6, 0.9)
PRIMALS = ([0.25, 0.95],)


def pull(x, y, px, py, mass):
    """The acceleration towards a body."""
    dx, dy = px - x, py - y
    cubed = (dx * dx + dy * dy + 1e-4) ** 1.5
    return mass * dx / cubed, mass * dy / cubed


def path(velocity):
    """The places of the probe."""
    x, y = 1.0, 0.0
    vx, vy = velocity
    places = [(x, y)]
    for step in range(STEPS):
        t = step * DT
        ax, ay = pull(x, y, 0.0, 0.0, 1.0)
        bx, by = pull(x, y, 1.5 * tm.cos(0.5 * t + 1.2), 1.5 * tm.sin(0.5 * t + 1.2), 0.05)
        vx, vy = vx + DT * (ax + bx), vy + DT * (ay + by)
        x, y = x + DT * vx, y + DT * vy
        places.append((x, y))
    return places


def program(velocity):
    """Where the probe arrives."""
    return path(velocity)[-1]


fast = te.stage(program)  # the path takes no branch, so one recording serves all velocities


def solve():
    """Newton's method on the velocity; the paths of its steps."""
    velocity, tried = list(PRIMALS[0]), []
    for _ in range(12):
        tried.append(path(velocity))
        miss = np.subtract(tried[-1][-1], TARGET)
        jacobian = te.jacobian(fast)(velocity)
        step = np.linalg.solve(np.array(jacobian), miss)
        velocity = list(velocity - step * min(1.0, 0.12 / np.linalg.norm(step)))
    return {"paths": tried, "miss": float(np.linalg.norm(miss))}


def right(found):
    """Whether the probe arrives."""
    return found["miss"] < 1e-9


def draw(found, new_figure, colours):
    """The paths that were tried."""
    figure, axes = new_figure(6.4, 4.2)
    for k, tried in enumerate(found["paths"][:-1]):
        axes.plot(*zip(*tried), color=colours["muted"], linewidth=0.9, alpha=min(1.0, 0.5 + 0.1 * k))
    axes.plot(*zip(*found["paths"][-1]), color=colours["blue"], linewidth=2)
    axes.plot(0, 0, "o", color=colours["amber"], markersize=11)
    axes.plot(*TARGET, "x", color=colours["orange"], markersize=9, markeredgewidth=2)
    axes.annotate("target", TARGET, xytext=(10, -12), textcoords="offset points", color=colours["orange"])
    axes.annotate("launch", (1, 0), xytext=(6, -4), textcoords="offset points")
    axes.set(aspect="equal", xlabel="x", ylabel="y")
    return figure
