"""What the benchmarks of scalar and of array programs have in common."""

from typing import Any

import tapeengine as te
from asv_bench.measure import ratio
from asv_bench.programs.catalogue import PROGRAMS
from asv_bench.targets.ratios import engine_module, ones_like, thunks

__all__ = ["Counts", "Ratios", "Times", "names"]


def names(flavour: str) -> list[str]:
    """Return the names of the programs on scalars or on arrays."""
    return [name for name, program in PROGRAMS.items() if program.flavour == flavour]


class Times:
    """Time value and cotangents of a program in its smallest size."""

    param_names = ("program",)

    def setup(self, name: str) -> None:
        """Prepare the thunks."""
        program = PROGRAMS[name]
        self.thunks = thunks(program, program.sizes[0])
        self.thunks["derivative"]()

    def time_derivative(self, name: str) -> None:
        """Run the program on dual numbers and resolve the tape."""
        self.thunks["derivative"]()


class Ratios:
    """Take the ratio of value and cotangents to the plain program."""

    param_names = ("program",)
    unit = "x plain"

    def track_ratio(self, name: str) -> float:
        """Interleave both and divide the smallest times."""
        program = PROGRAMS[name]
        both = thunks(program, program.sizes[0])
        return ratio(both["derivative"], both["plain"])


class Counts:
    """Count what a derivative records and how often the reverse sweep calls and adds."""

    param_names = ("program",)

    def setup(self, name: str) -> None:
        """Record the program once."""
        program = PROGRAMS[name]
        run, primals = program.problem(program.sizes[0], engine_module(program))
        value, self.backpropagator = te.vjp(run, *primals)
        self.cotangent: Any = ones_like(value)

    def track_records(self, name: str) -> int:
        """Count the records of the tape."""
        return len(self.backpropagator.tape)

    def track_calls(self, name: str) -> int:
        """Count the backpropagators that the reverse sweep calls."""
        calls, _ = self.backpropagator.count(self.cotangent)
        return int(calls)

    def track_contributions(self, name: str) -> int:
        """Count the contributions that the reverse sweep adds."""
        _, contributions = self.backpropagator.count(self.cotangent)
        return int(contributions)
