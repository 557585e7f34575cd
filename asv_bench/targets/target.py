"""The record of one performance target: what is measured, how, and the limit it is held to."""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Measurement", "Target"]


@dataclass(frozen=True)
class Measurement:
    """A measured figure, and a line of detail to print beside it."""

    value: float
    detail: str = ""
    met_otherwise: bool = False


@dataclass(frozen=True)
class Target:
    """One figure: its name, its limit (at most), the unit, and the function that measures it."""

    name: str
    what: str
    limit: float
    unit: str
    measure: Callable[[], Measurement]

    def met(self, measurement: Measurement) -> bool:
        """Say whether the measured value is within the limit, or within the other limit that the target allows."""
        return measurement.value <= self.limit or measurement.met_otherwise
