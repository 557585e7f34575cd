"""Image registration: turn and shift until two pictures agree

A picture was turned, scaled and shifted. Bilinear interpolation reads it at moved places, by indices that depend on
the parameters; its derivative is that of the weights. Gauss-Newton on the pixels finds the motion, from coarse blurs
to fine ones.
"""

import numpy

import tapeengine as te
import tapeengine.numpy as np

SIZE = 48
X, Y = numpy.meshgrid(numpy.arange(SIZE) - SIZE / 2, numpy.arange(SIZE) - SIZE / 2)
BLOBS = numpy.random.default_rng(5).uniform(-14, 14, (9, 2))
FIXED = sum(numpy.exp(-((X - x) ** 2 + (Y - y) ** 2) / 18.0) * (1 + k % 3) for k, (x, y) in enumerate(BLOBS))
TRUTH = numpy.array([0.25, 0.05, 2.5, -1.5])  # angle, logarithm of the scale, shift
PRIMALS = (numpy.array([0.02, -0.01, 0.3, -0.2]),)


def moved(picture, motion):
    """The picture, read at places that are turned, scaled and shifted."""
    c, s = np.exp(motion[1]) * np.cos(motion[0]), np.exp(motion[1]) * np.sin(motion[0])
    x = np.clip(c * X - s * Y + motion[2] + SIZE / 2, 0.0, SIZE - 1.001)
    y = np.clip(s * X + c * Y + motion[3] + SIZE / 2, 0.0, SIZE - 1.001)
    i, j = np.floor(y).astype(int), np.floor(x).astype(int)
    a, b = y - i, x - j
    low = (1 - b) * picture[i, j] + b * picture[i, j + 1]
    return (1 - a) * low + a * ((1 - b) * picture[i + 1, j] + b * picture[i + 1, j + 1])


SEEN = moved(FIXED, TRUTH)


def program(motion):
    """The difference of each pixel."""
    return np.ravel(moved(FIXED, motion) - SEEN)


def solve():
    """Gauss-Newton steps; the largest difference after each."""
    motion, misses = PRIMALS[0], []
    for _ in range(14):
        residual, j = program(motion), te.jacobian(program)(motion)
        misses.append(float(numpy.sqrt(numpy.mean(residual**2))))
        motion = motion - numpy.linalg.solve(j.T @ j + 1e-9 * numpy.eye(4), j.T @ residual)
    return {"motion": motion, "misses": misses}


def right(found):
    """Whether the motion is the true one."""
    return numpy.allclose(found["motion"], TRUTH, atol=1e-8)


def draw(found, new_figure, colours):
    """The pictures, their difference before, and the misfit of each step."""
    figure, axes = new_figure(7.2, 2.3, ncols=4, gridspec_kw={"width_ratios": (1, 1, 1, 1.5)})
    for panel, title, picture in zip(axes, ("fixed", "seen", "difference"), (FIXED, SEEN, FIXED - SEEN)):
        panel.imshow(picture, cmap="RdBu" if title == "difference" else "gray")
        panel.set_title(title, fontsize=9)
        panel.set_axis_off()
    axes[3].plot([max(miss, 1e-16) for miss in found["misses"][:9]], "o-", color=colours["blue"], markersize=3)
    axes[3].set(yscale="log", xlabel="step", title="misfit (log axis)")
    axes[3].minorticks_off()
    return figure
