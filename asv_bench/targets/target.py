"""The record of one performance target: the measurement and its limit."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Measurement:
    """A measured figure, with a line of detail for printing.

    Attributes
    ----------
    value
        The figure that is compared with the limit.
    detail
        Further observations.
    met_otherwise
        Whether an alternative limit is met, which suffices.
    holds
        Whether an additional condition of the target holds.
    """

    value: float
    detail: str = ""
    met_otherwise: bool = False
    holds: bool = True


@dataclass(frozen=True)
class Target:
    """One figure: its name, its limit (an upper bound), the unit, and the function that measures it.

    `needs_peers` says that it is compared with a tool in the environment that `make peers` makes; `needs_module` names
    a module that must be importable: a plugin in a separate distribution.
    """

    name: str
    what: str
    limit: float
    unit: str
    measure: Callable[[], Measurement]
    needs_peers: bool = False
    needs_module: str = ""

    def met(self, measurement: Measurement) -> bool:
        """Say whether the value is within the limit or an alternative one, and the additional condition holds."""
        return measurement.holds and (measurement.value <= self.limit or measurement.met_otherwise)
