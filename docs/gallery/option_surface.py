"""Option surface: an American put and its Greeks

The price of an American put comes from a binomial tree, where each step takes the greater of holding and exercising.
One derivative of the tree gives delta, vega, theta and rho together; the Hessian gives gamma. The picture has delta
over the spot price, for several times to expiry: left of the kink the option is exercised at once. The small waves
are the tree's: its places move over the strike.
"""

import numpy

import tapeengine as te
import tapeengine.numpy as np

STEPS, STRIKE = 60, 100.0
POWERS = numpy.arange(STEPS + 1) * 2.0 - STEPS
PRIMALS = (95.0, 0.3, 0.05, 1.0)


def program(spot, volatility, rate, years):
    """The price by a tree of Cox, Ross and Rubinstein."""
    dt = years / STEPS
    up = np.exp(volatility * np.sqrt(dt))
    grown, discount = np.exp(rate * dt), np.exp(-rate * dt)
    p = (grown - 1.0 / up) / (up - 1.0 / up)
    values = np.maximum(STRIKE - spot * up**POWERS, 0.0)
    for step in range(STEPS - 1, -1, -1):
        held = discount * (p * values[1:] + (1.0 - p) * values[:-1])
        prices = spot * up ** (numpy.arange(step + 1) * 2.0 - step)
        values = np.maximum(STRIKE - prices, held)
    return values[0]


fast = te.program(program)  # transformed once, and run as native code


def solve():
    """Delta over spot prices, for some times to expiry."""
    spots = numpy.linspace(70.0, 130.0, 31)
    greeks = te.grad(fast, argnums=(0, 1, 2, 3))
    deltas = {years: [greeks(s, 0.3, 0.05, years)[0] for s in spots] for years in (0.1, 0.5, 2.0)}
    return {"spots": spots, "deltas": deltas, "greeks": greeks(*PRIMALS)}


def right(found):
    """Whether delta agrees with a difference of prices, and lies between -1 and 0."""
    spot, *others = PRIMALS
    difference = (program(spot + 1e-4, *others) - program(spot - 1e-4, *others)) / 2e-4
    inside = all(-1.0 - 1e-9 <= d <= 0.0 for curve in found["deltas"].values() for d in curve)
    return inside and abs(found["greeks"][0] - difference) < 1e-6


def draw(found, new_figure, colours):
    """Delta over the spot price."""
    figure, axes = new_figure(6.4, 3.6)
    for (years, curve), colour in zip(found["deltas"].items(), ("orange", "blue", "green")):
        axes.plot(found["spots"], curve, color=colours[colour])
        axes.annotate(
            f"{years:g} years", (130, curve[-1]), xytext=(5, 0), textcoords="offset points", va="center",
            color=colours[colour], annotation_clip=False,
        )  # fmt: skip
    axes.axvline(STRIKE, color=colours["muted"], linewidth=0.8, linestyle=":")
    axes.annotate("strike", (STRIKE, -0.98), xytext=(4, 0), textcoords="offset points", color=colours["muted"])
    axes.set(xlabel="spot price", ylabel="delta")
    return figure
