"""The CHAD frontend: typed functional programs and their readable derivatives (CHAD, EC).

Examples
--------
See `tapeengine.chad.program.program`.
"""

from tapeengine.chad.annotations import Array, Vec
from tapeengine.chad.errors import ProgramError
from tapeengine.chad.functions import fold, gather, replicate, scan, scatter
from tapeengine.chad.program import Program, program

__all__ = [
    "Array", "Program", "ProgramError", "Vec", "fold", "gather", "program", "replicate", "scan", "scatter",
]  # fmt: skip
