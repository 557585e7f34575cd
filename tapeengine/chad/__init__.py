"""The CHAD frontend: typed functional programs and their readable derivatives (CHAD, EC).

Examples
--------
See `tapeengine.chad.program.program`.
"""

from .language.annotations import Array, Vec
from .language.errors import ProgramError
from .language.functions import fold, gather, replicate, scan, scatter
from .program import Program, program

__all__ = [
    "Array", "Program", "ProgramError", "Vec", "fold", "gather", "program", "replicate", "scan", "scatter",
]  # fmt: skip
