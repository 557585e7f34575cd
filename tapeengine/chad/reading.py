"""Programs that call each other: the type of what one gives is known when those that it calls have been read.

While a program is being read, its calls give a guess, at first that they raise. The first program of a circle reads all
of it again until each gives what was guessed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .language.types import Type
from .parse.operations.state import Parsed


@dataclass(eq=False)
class Unit:
    """A program that is being read, and the place of the first program that its callees need."""

    program: Any
    first: int
    is_asked: bool = False


class Reading(threading.local):
    """The programs that this thread is reading, those that it has read meanwhile, and how often a guess was wrong."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.read: list[Any] = []
        self.wrong = 0


READING = Reading()


def guess_of(program: Any) -> Type | None:
    """Give the type that a program is guessed to give, if this thread is reading it."""
    place = next((k for k, unit in enumerate(READING.units) if unit.program is program), None)
    if place is None:
        return None
    READING.units[place].is_asked = True
    for unit in READING.units[place + 1 :]:
        unit.first = min(unit.first, place)
    return program.guess  # type: ignore[no-any-return]


def settled(program: Any, parse: Callable[[], Parsed]) -> Parsed:
    """Read a program, and if it is the first of a circle, read the circle until no guess is wrong."""
    own, start, before = Unit(program, len(READING.units)), len(READING.read), READING.wrong
    READING.units.append(own)
    try:
        while True:
            wrong = READING.wrong
            found = parse()
            result = found.definitions[program.symbol].result
            if own.is_asked and result != program.guess:
                program.guess, READING.wrong = result, READING.wrong + 1
            if own.first < len(READING.units) - 1 or wrong == READING.wrong:
                break
            for unit in READING.read[start:]:
                unit.forget(keeps_guess=True)
            del READING.read[start:]
        READING.read.append(program)
        READING.wrong = READING.wrong if own.first < len(READING.units) - 1 else before
    finally:
        READING.units.pop()
        if not READING.units:
            READING.read.clear()
    return found
