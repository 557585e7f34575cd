"""Hidden Markov model: the posterior of the states is a gradient

The forward algorithm gives the log likelihood of what was observed. Its derivative by the log probability of an
observation in a state is the posterior probability of that state: the backward algorithm, which nobody has to write.
The derivative by the log transition probabilities counts expected transitions.
"""

import numpy as np

import tapeengine as te

LENGTH = 120
STAY = 0.95
TRANSITION = np.log(np.array([[STAY, 1 - STAY], [1 - STAY, STAY]]))
MEANS = np.array([-1.0, 1.0])


def observed():
    """States that change now and then, and what is seen of them with much noise."""
    random = np.random.default_rng(4)
    states = np.cumsum(random.uniform(size=LENGTH) > STAY) % 2
    return states, MEANS[states] + random.normal(0.0, 1.2, LENGTH)


STATES, SEEN = observed()
PRIMALS = (-0.5 * ((SEEN[:, None] - MEANS) / 1.2) ** 2, TRANSITION)


def program(emission, transition):
    """The log likelihood, by the forward algorithm."""
    alpha = np.log(0.5) + emission[0]
    for t in range(1, LENGTH):
        alpha = np.logaddexp(alpha[0] + transition[0], alpha[1] + transition[1]) + emission[t]
    return np.logaddexp(alpha[0], alpha[1])


fast = te.program(program)  # transformed once, and run as native code


def solve():
    """The posterior of the states, and the expected transitions."""
    posterior, transitions = te.grad(fast, argnums=(0, 1))(*PRIMALS)
    return {"posterior": posterior, "transitions": transitions}


def right(found):
    """Whether probabilities add to one, transitions are counted, and most states are found."""
    sums = np.allclose(found["posterior"].sum(axis=1), 1.0) and np.isclose(found["transitions"].sum(), LENGTH - 1)
    return sums and np.mean((found["posterior"][:, 1] > 0.5) == STATES) > 0.85


def draw(found, new_figure, colours):
    """What was seen, and the posterior beside the states."""
    figure, (above, below) = new_figure(6.8, 3.6, nrows=2, sharex=True)
    above.plot(SEEN, "o", color=colours["muted"], markersize=3)
    above.set(ylabel="observed")
    below.fill_between(range(LENGTH), 0, STATES, step="mid", color=colours["grid"], linewidth=0)
    below.plot(found["posterior"][:, 1], color=colours["blue"])
    below.set(xlabel="time", ylabel="probability of state 1\n(grey: the truth)", ylim=(-0.03, 1.03))
    return figure
