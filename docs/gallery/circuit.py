"""Circuit: choosing the parts of a filter

A ladder of inductors and capacitors between two resistors is a low-pass filter. The program multiplies complex chain
matrices, two by two, at each frequency. The gradient by the logarithms of the parts makes the filter flat below its
corner and steep above.
"""

import numpy
import scipy.optimize

import tapeengine as te
import tapeengine.numpy as np

FREQUENCIES = numpy.geomspace(0.2, 5.0, 60)
WANTED = numpy.where(FREQUENCIES < 0.9, 1.0, 0.0)
WEIGHT = numpy.where((FREQUENCIES > 0.9) & (FREQUENCIES < 1.5), 0.0, 1.0)
PRIMALS = (numpy.zeros(5),)


def response(log_parts):
    """The gain at each frequency: series inductors and shunt capacitors in turns, both ends with one ohm."""
    parts = np.exp(log_parts)
    s = 1j * FREQUENCIES
    voltage = np.ones(len(s)) + 0j  # at the load, with its current
    current = np.ones(len(s)) + 0j
    for k in range(4, -1, -1):
        if k % 2 == 0:
            voltage = voltage + s * parts[k] * current
        else:
            current = current + s * parts[k] * voltage
    return 2.0 / np.abs(voltage + current)


def program(log_parts):
    """The weighted squared difference from the gain that is wanted."""
    return np.sum(WEIGHT * (response(log_parts) - WANTED) ** 2)


fast = te.stage(program)  # recorded once, evaluated again in each iteration


def solve():
    """The parts of the filter."""
    found = scipy.optimize.minimize(te.value_and_grad(fast), PRIMALS[0], jac=True, method="BFGS")
    return {"parts": numpy.exp(found.x), "gain": response(found.x), "before": response(PRIMALS[0]), "loss": found.fun}


def right(found):
    """Whether the filter is much better than the first guess."""
    return found["loss"] < 0.2 * program(PRIMALS[0]) and found["gain"].max() < 1.001


def draw(found, new_figure, colours):
    """The gain over the frequency."""
    figure, axes = new_figure(6.4, 3.4)
    for name, gain, colour in (("all parts 1", found["before"], "muted"), ("chosen", found["gain"], "blue")):
        axes.plot(FREQUENCIES, 20 * numpy.log10(gain), color=colours[colour])
        axes.annotate(
            name, (FREQUENCIES[-1], 20 * numpy.log10(gain[-1])), xytext=(5, 0), textcoords="offset points", va="center",
            color=colours[colour], annotation_clip=False,
        )  # fmt: skip
    axes.axvspan(0.9, 1.5, color=colours["grid"], linewidth=0)
    axes.annotate("free", (1.16, -75), ha="center", color=colours["muted"])
    axes.set(xscale="log", xlabel="angular frequency (log axis)", ylabel="gain, dB")
    axes.set_xticks([0.2, 0.5, 1, 2, 5], ["0.2", "0.5", "1", "2", "5"])
    axes.minorticks_off()
    return figure
