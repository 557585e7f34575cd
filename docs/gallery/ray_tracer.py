"""Ray tracer: from a picture back to the scene

A sphere above a floor is lit from one side, and each pixel follows one ray. The derivative of the picture by the
scene shows what each parameter changes. Descent on the difference of two pictures finds the sphere and the light
again.
"""

import numpy
import scipy.optimize

import tapeengine as te
import tapeengine.numpy as np

SIZE = 48
U, V = numpy.meshgrid(numpy.linspace(-1, 1, SIZE), numpy.linspace(1, -1, SIZE))
TRUTH = numpy.array([0.15, 0.1, 0.55, 0.6])  # place of the sphere, its radius, angle of the light
PRIMALS = (numpy.array([-0.1, 0.0, 0.45, 0.2]),)


def image(scene):
    """The brightness of each pixel: rays run along z, and edges are as soft as a pixel is wide."""
    x, y, radius, light = scene[0], scene[1], scene[2], scene[3]
    dx, dy = U - x, V - y
    inside = radius**2 - dx**2 - dy**2
    depth = np.sqrt(np.where(inside > 1e-6, inside, 1e-6))
    lit = (dx * np.sin(light) + dy * 0.5 + depth * np.cos(light)) / (radius * 1.2)
    cover = 1.0 / (1.0 + np.exp(-inside * SIZE * 0.4))
    floor = 0.35 + 0.2 * V
    return cover * np.maximum(lit, 0.05) + (1.0 - cover) * floor


SEEN = image(TRUTH)


def program(scene):
    """The mean squared difference from the picture that was seen."""
    return np.mean((image(scene) - SEEN) ** 2)


def solve():
    """The scene that gives the picture."""
    found = scipy.optimize.minimize(te.value_and_grad(program), PRIMALS[0], jac=True, method="BFGS", tol=1e-12)
    by_x = te.jvp(image, (TRUTH,), (numpy.array([1.0, 0, 0, 0]),))[1]
    by_light = te.jvp(image, (TRUTH,), (numpy.array([0, 0, 0, 1.0]),))[1]
    return {"scene": found.x, "start": image(PRIMALS[0]), "by_x": by_x, "by_light": by_light}


def right(found):
    """Whether the scene is the true one."""
    return numpy.allclose(found["scene"], TRUTH, atol=1e-4)


def draw(found, new_figure, colours):
    """The pictures and two derivatives."""
    figure, axes = new_figure(7.2, 2.1, ncols=4)
    shown = {
        "first guess": found["start"], "found = seen": image(found["scene"]),
        "by the place x": found["by_x"], "by the light's angle": found["by_light"],
    }  # fmt: skip
    for panel, (title, pixels) in zip(axes, shown.items()):
        signed = title.startswith("by")
        most = numpy.quantile(abs(pixels), 0.98)
        panel.imshow(pixels, cmap="RdBu" if signed else "gray", vmin=-most if signed else 0, vmax=most)
        panel.set_title(title, fontsize=9)
        panel.set_axis_off()
    return figure
