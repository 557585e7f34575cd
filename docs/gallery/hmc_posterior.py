"""HMC: a posterior by its gradient

Hamiltonian Monte Carlo draws from a posterior by following its gradient. The model has a curved ridge: the data know
the sum of one parameter and the square of another. The log density is written once; its gradient comes from `te.grad`.
"""

import numpy as np

import tapeengine as te

OBSERVED = np.random.default_rng(1).normal(1.0, 0.5, 40)
PRIMALS = (np.array([0.5, 0.5]),)


def program(q):
    """The log density of the posterior, up to a constant."""
    prior = -0.5 * np.sum(q**2)
    return prior - 0.5 * np.sum(((OBSERVED - (q[0] + q[1] ** 2)) / 0.5) ** 2)


fast = te.program(program)  # transformed once: a chain asks for thousands of gradients


def leapfrog(gradient, q, p, size, steps):
    """Follow the Hamiltonian for some steps."""
    p = p + 0.5 * size * gradient(q)
    for _ in range(steps - 1):
        q = q + size * p
        p = p + size * gradient(q)
    q = q + size * p
    return q, p + 0.5 * size * gradient(q)


def solve(draws=300):
    """A chain, and how many of its proposals were taken."""
    random, gradient = np.random.default_rng(7), te.grad(fast)
    q, kept, taken = PRIMALS[0], [], 0
    for _ in range(draws):
        p = random.normal(size=2)
        before = program(q) - 0.5 * p @ p
        proposed, end = leapfrog(gradient, q, p, 0.03, random.integers(20, 50))
        if np.log(random.uniform()) < program(proposed) - 0.5 * end @ end - before:
            q, taken = proposed, taken + 1
        kept.append(q)
    return {"chain": np.array(kept), "taken": taken / draws}


def right(found):
    """Whether the chain moves, and lies on the ridge that the data name."""
    ridge = found["chain"][:, 0] + found["chain"][:, 1] ** 2
    return found["taken"] > 0.8 and abs(ridge.mean() - OBSERVED.mean()) < 0.1


def draw(found, new_figure, colours):
    """The draws over the density's levels."""
    figure, axes = new_figure(6.0, 4.0)
    x, y = np.meshgrid(np.linspace(-2.2, 1.8, 60), np.linspace(-2.2, 2.2, 60))
    levels = [[program(np.array(place)) for place in zip(*row)] for row in zip(x, y)]
    levels = np.array(levels) - np.max(levels)
    axes.contour(x, y, levels, levels=[-8, -4, -2, -0.5], colors=colours["muted"], linewidths=0.8, linestyles="solid")
    axes.plot(*found["chain"].T, "o", color=colours["blue"], markersize=3.5, alpha=0.6, markeredgewidth=0)
    axes.plot(*found["chain"][:25].T, color=colours["orange"], linewidth=0.9)
    line = {"arrowstyle": "-", "color": colours["orange"], "lw": 0.6}
    place = {"xytext": (60, 16), "textcoords": "offset points", "color": colours["orange"]}
    axes.annotate("the first 25 draws", found["chain"][3], arrowprops=line, **place)
    axes.set(xlabel="$q_1$", ylabel="$q_2$")
    return figure
