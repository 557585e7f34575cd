"""Programs on which every part of the engine is tested, with inputs and, for some, a Jacobian by hand."""

from programs import control, data, everyday, functional, geometry, numeric
from programs.program import Program

__all__ = ["PROGRAMS", "Program"]

PROGRAMS: tuple[Program, ...] = (
    *functional.PROGRAMS,
    *control.PROGRAMS,
    *data.PROGRAMS,
    *everyday.PROGRAMS,
    *geometry.PROGRAMS,
    *numeric.PROGRAMS,
)
