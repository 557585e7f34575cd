"""Robot arm: following a curve with four joints

The hand of an arm with four links follows a circle. Each place is reached by Gauss-Newton steps on the joint angles,
with the Jacobian of the kinematics and a little damping, since four angles move two coordinates.
"""

import numpy as np

import tapeengine as te
import tapeengine.math as tm

LINKS = (1.0, 0.9, 0.7, 0.5)
PRIMALS = ([0.6, 0.5, 0.4, 0.3],)


def joints(angles):
    """The places of all joints."""
    x = y = heading = 0.0
    places = [(x, y)]
    for length, angle in zip(LINKS, angles):
        heading = heading + angle
        x, y = x + length * tm.cos(heading), y + length * tm.sin(heading)
        places.append((x, y))
    return places


def program(angles):
    """The place of the hand."""
    return joints(angles)[-1]


def reach(angles, target):
    """Angles that bring the hand to a place, found from nearby ones."""
    for _ in range(30):
        miss = np.subtract(program(angles), target)
        if np.linalg.norm(miss) < 1e-10:
            break
        j = np.array(te.jacobian(program)(angles))
        step = j.T @ np.linalg.solve(j @ j.T + 1e-6 * np.eye(2), miss)
        angles = list(angles - step)
    return angles, float(np.linalg.norm(miss))


def solve():
    """The arm at places along a circle."""
    angles, postures, misses = PRIMALS[0], [], []
    for turn in np.linspace(0.0, 2 * np.pi, 25):
        target = (1.2 + 0.7 * np.cos(turn), 1.4 + 0.7 * np.sin(turn))
        angles, miss = reach(angles, target)
        postures.append(joints(angles))
        misses.append(miss)
    return {"postures": postures, "miss": max(misses)}


def right(found):
    """Whether the hand is where it should be."""
    return found["miss"] < 1e-8


def draw(found, new_figure, colours):
    """Some postures, and the curve of the hand."""
    figure, axes = new_figure(6.4, 4.2)
    hand = [places[-1] for places in found["postures"]]
    for places in found["postures"][:-1:3]:
        axes.plot(*zip(*places), "-o", color=colours["blue"], linewidth=1.2, markersize=3, alpha=0.55)
    axes.plot(*zip(*hand), color=colours["orange"], linewidth=2.2)
    axes.annotate(
        "path of the hand", hand[6], xytext=(0, 7), textcoords="offset points", color=colours["orange"], ha="center"
    )
    axes.plot(0, 0, "s", color=colours["ink"], markersize=7)
    axes.set(aspect="equal", xlabel="x", ylabel="y")
    return figure
