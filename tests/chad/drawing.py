"""Random choices by the seed of a generator: hypothesis chooses the seed, so that a term of 100 parts is one choice.

The functions have the names and the meaning of hypothesis's strategies of these names.
"""

import functools
from random import Random

from hypothesis import strategies

#: What numbers are often: where functions have poles, kinks and ties.
SPECIAL = (0.0, 1.0, -1.0, 0.5)


class Choice:
    """What a generator of random numbers chooses."""

    def __init__(self, chosen):
        self.chosen = chosen

    def __or__(self, other):
        return one_of(self, other)

    def map(self, f):
        return Choice(lambda random: f(self.chosen(random)))

    def flatmap(self, f):
        return Choice(lambda random: f(self.chosen(random)).chosen(random))


def just(value):
    return Choice(lambda random: value)


def none():
    return just(None)


def integers(least, most):
    return Choice(lambda random: random.randint(least, most))


def booleans():
    return Choice(lambda random: random.random() < 0.5)


def floats(least, most):
    special = [x for x in SPECIAL if least <= x <= most]
    return Choice(
        lambda random: random.choice(special) if random.random() < 0.25 else round(random.uniform(least, most), 3)
    )


def sampled_from(options):
    return Choice(lambda random: random.choice(options))


def one_of(*choices):
    return Choice(lambda random: random.choice(choices).chosen(random))


def tuples(*choices):
    return Choice(lambda random: tuple([c.chosen(random) for c in choices]))


def lists(choice, min_size=0, max_size=3):
    return Choice(lambda random: [choice.chosen(random) for _ in range(random.randint(min_size, max_size))])


def recursive(base, extended, depth=2):
    """What is extended at most so many times."""
    inner = base
    for _ in range(depth):
        inner = one_of(base, base, extended(inner))
    return inner


def composite(function):
    """A function whose first argument makes choices."""

    @functools.wraps(function)
    def made(*args, **named):
        return Choice(lambda random: function(lambda choice: choice.chosen(random), *args, **named))

    return made


def seeded(choice):
    """A strategy for what is chosen by a seed."""
    return strategies.integers(0, 2**32 - 1).map(lambda seed: choice.chosen(Random(seed)))
