"""Resolve: from the highest id down, each backpropagator at most once (DN Fig. 9)."""

from typing import NamedTuple

from .tape import Tape


class Counts(NamedTuple):
    """The numbers of backpropagators called and of contributions that they made."""

    calls: int
    contributions: int


def resolve(tape: Tape, cotangents: list[float], top: int) -> Counts:
    """Add all contributions of the ids from `top` down to the last input, in place.

    When the sweep reaches an id, everything that contributes to it has been added, so one call with the sum suffices:
    linear factoring (DN section 6). A zero cotangent is not passed on, whatever the partials are.
    """
    calls = contributions = 0
    for i in range(top, tape.inputs, -1):
        record = tape[i]
        if cotangents[i] == 0.0 or not record.contributions:
            continue
        for parent, partial in record.contributions:
            cotangents[parent] += cotangents[i] * partial
        calls += 1
        contributions += len(record.contributions)
    return Counts(calls, contributions)
