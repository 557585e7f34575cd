"""Primals for the programs of the ladder."""

import itertools

from tapeengine.chad.language.values import Tagged


def tree(depth):
    numbers = itertools.count(1)

    def make(level):
        return 1.0 + 0.1 * next(numbers) if level == 0 else (make(level - 1), make(level - 1))

    return make(depth)


def nested(n):
    whole = 1.0
    for k in range(n - 1):
        whole = (2.0 + k, whole)
    return whole


def list_of(*numbers):
    whole = Tagged(0, ())
    for number in reversed(numbers):
        whole = Tagged(1, (number, whole))
    return whole


PARTICLES = ((1.0, 0.5), (2.0, 0.3), (-1.0, 0.2), (0.3, 0.1))
