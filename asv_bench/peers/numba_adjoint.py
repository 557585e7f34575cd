"""An adjoint written by hand for one program and compiled by numba: the lower bound."""

from numba import njit

from asv_bench.peers.adjoints_arrays import ARRAYS
from asv_bench.peers.adjoints_loops import LOOPS
from asv_bench.peers.leaves import stacked
from asv_bench.peers.tool import Derivative, Tool
from asv_bench.programs.program import Program

BY_HAND = LOOPS | ARRAYS


def prepare(program: Program, size: int) -> Derivative:
    """Compile the adjoint that was written for this program."""
    arguments = tuple(map(stacked, program.inputs(size)))
    compiled = njit(BY_HAND[program.name])
    return lambda: compiled(*arguments)  # type: ignore[no-any-return]


def not_written(program: Program) -> str | None:
    """Refuse the programs without an adjoint here."""
    return None if program.name in BY_HAND else "no adjoint was written by hand"


TOOLS = (Tool("numba by hand", prepare, not_written),)
