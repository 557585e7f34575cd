"""The record of one performance target: what is measured, how, and the limit it is held to."""

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Measurement", "Target"]


@dataclass(frozen=True)
class Measurement:
    """A measured figure, and a line of detail to print beside it.

    Attributes
    ----------
    value
        The figure that is held to the limit.
    detail
        What else was seen.
    met_otherwise
        Whether another limit is met, which is enough.
    holds
        Whether a further condition of the target holds.
    """

    value: float
    detail: str = ""
    met_otherwise: bool = False
    holds: bool = True


@dataclass(frozen=True)
class Target:
    """One figure: its name, its limit (at most), the unit, and the function that measures it.

    `needs_peers` says that it is measured against a tool of the peers' environment, which `make peers` makes;
    `needs_module` names what must be importable: a plugin that is a distribution of its own.
    """

    name: str
    what: str
    limit: float
    unit: str
    measure: Callable[[], Measurement]
    needs_peers: bool = False
    needs_module: str = ""

    def met(self, measurement: Measurement) -> bool:
        """Say whether the measured value is within the limit, or another one, and what else is asked for holds."""
        return measurement.holds and (measurement.value <= self.limit or measurement.met_otherwise)
