"""Tools for tests of plugins: `check_primitive`, `check_vjp`, `check_monoid`, and the pytest plugin
`tapeengine.testing.pytest`.
"""

from .checker import check_primitive, report_primitive
from .monoids import check_monoid
from .programs import check_vjp, report_vjp
from .report import CheckError, Failure, Report

__all__ = [
    "CheckError",
    "Failure",
    "Report",
    "check_monoid",
    "check_primitive",
    "check_vjp",
    "report_primitive",
    "report_vjp",
]
