"""Memory: the peak of the whole process, and bytes for each operation."""

import tapeengine as te
import tapeengine.math
from asv_bench.programs import particles, scalar_loop
from asv_bench.targets.scalars import memory


class Peak:
    """A whole derivative."""

    def setup(self) -> None:
        self.loop, self.elements = scalar_loop.PROGRAM.problem(300_000, tapeengine.math)

    def peakmem_plain(self) -> None:
        self.loop(*self.elements)

    def peakmem_derivative(self) -> None:
        te.vjp(self.loop, *self.elements)[1](1.0)


class Growth:
    """The growth of the peak by recording and resolving, measured in a separate process."""

    timeout = 120

    def track_bytes_an_operation(self) -> float:
        return memory().value

    track_bytes_an_operation.unit = "B"  # type: ignore[attr-defined]

    def track_tape_bytes(self) -> int:
        program, primals = particles.PROGRAM.problem(100, tapeengine.math)
        return int(te.vjp(program, *primals)[1].tape.nbytes)
