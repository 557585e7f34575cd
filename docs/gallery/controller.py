"""Controller: swinging a pendulum up

A motor that is too weak to lift a pendulum has to swing it. The program simulates the pendulum under 120 torques and
adds up what is bad: distance from the top at the end, speed there, and effort. The gradient through the simulation
gives the torques.
"""

import numpy
import scipy.optimize

import tapeengine as te
import tapeengine.math as tm

STEPS, DT, MOST = 120, 0.1, 0.4
PRIMALS = ([0.5 * numpy.cos(0.1 * k).item() for k in range(STEPS)],)


def swing(torques):
    """The angles from hanging down, and the last speed."""
    angle, speed = 0.0, 0.0
    angles = [angle]
    for torque in torques:
        speed = speed + DT * (MOST * tm.tanh(torque) - tm.sin(angle) - 0.05 * speed)
        angle = angle + DT * speed
        angles.append(angle)
    return angles, speed


def program(torques):
    """The cost of a plan."""
    angles, speed = swing(torques)
    effort = sum(tm.tanh(torque) ** 2 for torque in torques)
    return 10.0 * (1.0 + tm.cos(angles[-1])) + speed * speed + 2e-3 * effort


fast = te.stage(program)  # the cost takes no branch, so one recording serves all plans


def flat(torques):
    """Value and gradient of numpy arrays, as optimisers have them."""
    value, (gradient,) = te.value_and_grad(fast, argnums=(0,))(torques.tolist())
    return value, numpy.array(gradient)


def solve():
    """The torques that swing the pendulum up."""
    found = scipy.optimize.minimize(flat, PRIMALS[0], jac=True, method="L-BFGS-B", options={"maxiter": 200})
    angles, speed = swing(list(found.x))
    return {"torques": MOST * numpy.tanh(found.x), "angles": angles, "speed": speed}


def right(found):
    """Whether the pendulum stands."""
    return numpy.cos(found["angles"][-1]) < -0.98 and abs(found["speed"]) < 0.2


def draw(found, new_figure, colours):
    """Angle and torque over time."""
    figure, (above, below) = new_figure(6.4, 3.8, nrows=2, sharex=True)
    time = DT * numpy.arange(STEPS + 1)
    above.plot(time, numpy.degrees(found["angles"]), color=colours["blue"])
    for height in (-180, 180):
        above.axhline(height, color=colours["muted"], linewidth=0.8, linestyle=":")
    above.set(ylabel="angle, degrees\n(dotted: upright)", yticks=(-180, 0, 180))
    below.step(time[:-1], found["torques"], where="post", color=colours["orange"])
    below.axhline(1.0, color=colours["muted"], linewidth=0.8, linestyle=":")
    below.set(xlabel="time", ylabel="torque\n(dotted: to hold it level)", ylim=(-0.8, 1.1))
    return figure
