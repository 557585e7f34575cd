"""Molecular dynamics: forces, a cluster at rest, and how it vibrates

Seven atoms attract and repel each other (Lennard-Jones). The forces are the gradient of the energy. Velocity Verlet
steps with friction let the cluster fall into a minimum; the eigenvalues of the Hessian there are the squares of its
frequencies, and six of them are zero: three shifts and three rotations.
"""

import numpy

import tapeengine as te
import tapeengine.numpy as np

ATOMS = 7
FIRST, SECOND = numpy.triu_indices(ATOMS, 1)
START = numpy.random.default_rng(2).uniform(-1.1, 1.1, (ATOMS, 3))
PRIMALS = (numpy.array([(k % 2, k // 2 % 2, k // 4) for k in range(ATOMS)]) * 1.1,)


def program(places):
    """The potential energy of the cluster."""
    apart = places[FIRST] - places[SECOND]
    sixth = 1.0 / np.sum(apart**2, axis=1) ** 3
    return np.sum(4.0 * (sixth**2 - sixth))


def solve():
    """The energies on the way down, and the frequencies at rest."""
    force = te.value_and_grad(program)
    places, speeds = PRIMALS[0] + 0.05 * START, numpy.zeros((ATOMS, 3))
    energy, slope = force(places)
    energies, traces, dt = [], [], 0.012
    for step in range(2500):
        speeds = 0.997 * (speeds - 0.5 * dt * slope)
        places = places + dt * speeds
        energy, slope = force(places)
        speeds = speeds - 0.5 * dt * slope
        energies.append((float(energy), 0.5 * float(numpy.sum(speeds**2))))
        if step % 10 == 0:
            traces.append(places.copy())
    for _ in range(5):  # Newton steps to the bottom; shifts and rotations cost nothing
        hessian = te.hessian(program)(places).reshape(3 * ATOMS, 3 * ATOMS)
        places = places - (numpy.linalg.pinv(hessian, rcond=1e-6) @ te.grad(program)(places).ravel()).reshape(ATOMS, 3)
    squares = numpy.linalg.eigvalsh(te.hessian(program)(places).reshape(3 * ATOMS, 3 * ATOMS))
    return {"energies": numpy.array(energies), "squares": squares, "least": program(places), "traces": traces}


def right(found):
    """Whether the cluster is at rest: six free motions, all others bound."""
    return abs(found["squares"][:6]).max() < 1e-6 and found["squares"][6] > 1.0 and found["least"] < -15.5


def draw(found, new_figure, colours):
    """Energies over time, and the frequencies."""
    figure, (left, right) = new_figure(7.2, 3.2, ncols=2)
    total = found["energies"].sum(axis=1)[::10]
    for name, line, colour in (("potential", found["energies"][::10, 0], "muted"), ("total", total, "blue")):
        left.plot(range(0, 2500, 10), line, color=colours[colour], linewidth=1.2)
        left.annotate(name, (500, line[40]) if name == "total" else (100, -15.9), color=colours[colour])
    left.set(xlabel="step", ylabel="energy", ylim=(-16.1, -10.9))
    right.plot(numpy.sqrt(numpy.maximum(found["squares"], 0.0)), "o", color=colours["orange"], markersize=4)
    right.annotate("shifts and rotations", (6.5, 0.0), va="center", color=colours["muted"])
    right.set(xlabel="mode", ylabel="frequency")
    return figure
