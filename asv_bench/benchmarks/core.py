"""The core: recording and resolving, and their growth."""

from typing import Any

import tapeengine as te
import tapeengine.math
from asv_bench import derivatives
from asv_bench.measure import interleaved
from asv_bench.programs.catalogue import PROGRAMS
from asv_bench.targets.ratios import thunks

SIZES = (100, 10_000, 1_000_000)


@derivatives.preparation
def recorded(name: str, size: int) -> tuple[Any, Any, Any]:
    """Return a program, its primals and the backpropagator of one run."""
    run, primals = PROGRAMS[name].problem(size, tapeengine.math)
    return run, primals, te.vjp(run, *primals)[1]


class Loop(derivatives.Timed):
    """The scalar loop at growing sizes."""

    params = (SIZES,)
    param_names = ("elements",)

    def time_plain(self, size: int) -> None:
        program, primals, _ = recorded("scalar_loop", size)
        program(*primals)

    def time_record(self, size: int) -> None:
        program, primals, _ = recorded("scalar_loop", size)
        te.vjp(program, *primals)

    def time_resolve(self, size: int) -> None:
        recorded("scalar_loop", size)[2](1.0)

    def track_records(self, size: int) -> int:
        return len(recorded("scalar_loop", size)[2].tape)

    def track_bytes_a_record(self, size: int) -> float:
        tape = recorded("scalar_loop", size)[2].tape
        return float(tape.nbytes / len(tape))

    track_bytes_a_record.unit = "B"  # type: ignore[attr-defined]


class Growth:
    """The main figure: the cost of a gradient relative to its program, constant from 10^2 to 10^7 operations."""

    params = (tuple(10**exponent for exponent in range(2, 8)),)
    param_names = ("operations",)
    timeout = 300

    def track_gradient_over_program(self, operations: int) -> float:
        rounds = 5 if operations > 10**5 else 15
        times = interleaved(thunks(PROGRAMS["scalar_loop"], operations // 3), rounds)
        return times["derivative"] / times["plain"]

    track_gradient_over_program.unit = "x plain"  # type: ignore[attr-defined]


class Sweep(derivatives.Timed):
    """The reverse sweep of the particles, which has few inputs and many records."""

    def time_resolve(self) -> None:
        recorded("particles", 1000)[2](1.0)

    def track_records(self) -> int:
        return len(recorded("particles", 1000)[2].tape)

    def track_calls(self) -> int:
        return int(recorded("particles", 1000)[2].count(1.0)[0])

    def track_contributions(self) -> int:
        return int(recorded("particles", 1000)[2].count(1.0)[1])
