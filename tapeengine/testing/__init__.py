"""Tools for tests of plugins: `check_primitive`, `check_vjp`, `check_monoid`, and the pytest plugin
`tapeengine.testing.pytest`.
"""

from tapeengine.testing.checker import check_primitive, report_primitive
from tapeengine.testing.monoids import check_monoid
from tapeengine.testing.programs import check_vjp, report_vjp
from tapeengine.testing.report import CheckError, Failure, Report

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
