"""What plugin authors test with: `check_primitive`, `check_vjp`, and the pytest plugin `tapeengine.testing.pytest`."""

from tapeengine.testing.checker import check_primitive, report_primitive
from tapeengine.testing.programs import check_vjp, report_vjp
from tapeengine.testing.report import CheckError, Failure, Report

__all__ = ["CheckError", "Failure", "Report", "check_primitive", "check_vjp", "report_primitive", "report_vjp"]
