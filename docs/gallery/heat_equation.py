"""Heat equation: how a rod conducts, from what a few sensors saw

A rod of two materials is heated at one end. Ten sensors measure its temperature. The program steps the heat equation
with explicit Euler steps on arrays; its gradient by the conductivity of each of thirty cells drives L-BFGS, with a
little smoothing.
"""

import numpy
import scipy.optimize

import tapeengine as te
import tapeengine.numpy as np

CELLS, STEPS, DT = 30, 500, 0.2
TRUTH = numpy.where(numpy.arange(CELLS) < 12, 0.8, 2.2)
SENSORS = numpy.arange(1, CELLS, 3)
PRIMALS = (numpy.zeros(CELLS),)


def history(log_conductivity):
    """The temperatures at the sensors, every tenth step."""
    k = np.exp(log_conductivity)
    between = 2.0 * k[1:] * k[:-1] / (k[1:] + k[:-1])
    u = np.zeros(CELLS)
    u[0] = 1.0
    seen = []
    for step in range(STEPS):
        flow = between * (u[1:] - u[:-1])
        u[1:-1] += DT * (flow[1:] - flow[:-1])
        u[-1] -= DT * flow[-1]
        if step % 10 == 9:
            seen.append(u[SENSORS])
    return np.stack(seen)


SEEN = history(numpy.log(TRUTH)) + numpy.random.default_rng(3).normal(0.0, 2e-4, (STEPS // 10, len(SENSORS)))


def program(log_conductivity):
    """Misfit and smoothness."""
    misfit = np.sum((history(log_conductivity) - SEEN) ** 2)
    jumps = np.sum(np.sqrt(np.diff(log_conductivity) ** 2 + 1e-6))
    return misfit + 2e-4 * jumps


fast = te.stage(program)  # recorded once, evaluated again in each iteration


def solve():
    """The conductivity of each cell."""
    found = scipy.optimize.minimize(
        te.value_and_grad(fast), PRIMALS[0], jac=True, method="L-BFGS-B", options={"maxiter": 150}
    )
    return {"conductivity": numpy.exp(found.x)}


def right(found):
    """Whether the conductivity is known to a tenth."""
    return numpy.median(numpy.abs(found["conductivity"] / TRUTH - 1.0)) < 0.1


def draw(found, new_figure, colours):
    """What was found beside the truth."""
    figure, axes = new_figure(6.4, 3.4)
    axes.step(range(CELLS), TRUTH, where="mid", color=colours["muted"])
    axes.step(range(CELLS), found["conductivity"], where="mid", color=colours["blue"])
    axes.plot(SENSORS, 0.06 + 0 * SENSORS, "^", color=colours["orange"], markersize=5)
    axes.annotate("sensors", (SENSORS[-1], 0.06), xytext=(6, -3), textcoords="offset points", color=colours["orange"])
    axes.annotate("truth", (22, TRUTH[22]), xytext=(0, -13), textcoords="offset points", color=colours["muted"])
    axes.annotate(
        "found", (5, found["conductivity"][5]), xytext=(0, 8), textcoords="offset points", color=colours["blue"]
    )
    axes.set(xlabel="cell", ylabel="conductivity", ylim=(0, 3))
    return figure
