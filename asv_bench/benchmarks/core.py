"""The core: recording, resolving, and how both grow."""

import tapeengine as te
import tapeengine.math
from asv_bench.programs import particles, scalar_loop

SIZES = (100, 10_000, 1_000_000)


class Loop:
    """The scalar loop at growing sizes."""

    params = (SIZES,)
    param_names = ("elements",)
    timeout = 120

    def setup(self, size: int) -> None:
        self.program, self.primals = scalar_loop.PROGRAM.problem(size, tapeengine.math)
        self.value, self.backpropagator = te.vjp(self.program, *self.primals)

    def time_plain(self, size: int) -> None:
        self.program(*self.primals)

    def time_record(self, size: int) -> None:
        te.vjp(self.program, *self.primals)

    def time_resolve(self, size: int) -> None:
        self.backpropagator(1.0)

    def track_records(self, size: int) -> int:
        return len(self.backpropagator.tape)

    def track_bytes_a_record(self, size: int) -> float:
        return float(self.backpropagator.tape.nbytes / len(self.backpropagator.tape))

    track_bytes_a_record.unit = "B"  # type: ignore[attr-defined]


class Sweep:
    """The reverse sweep of the particles, which has few inputs and many records."""

    def setup(self) -> None:
        program, primals = particles.PROGRAM.problem(1000, tapeengine.math)
        _, self.backpropagator = te.vjp(program, *primals)

    def time_resolve(self) -> None:
        self.backpropagator(1.0)

    def track_records(self) -> int:
        return len(self.backpropagator.tape)

    def track_calls(self) -> int:
        return int(self.backpropagator.count(1.0)[0])

    def track_contributions(self) -> int:
        return int(self.backpropagator.count(1.0)[1])
