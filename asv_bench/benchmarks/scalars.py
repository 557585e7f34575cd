"""Scalar programs."""

from asv_bench import derivatives, limits
from asv_bench.targets import scalars

SCALARS = derivatives.names("scalars")

Figures = limits.figures(scalars.TARGETS)


class ScalarTimes(derivatives.Times):
    params = (SCALARS,)


class ScalarRatios(derivatives.Ratios):
    params = (derivatives.cases("scalars"),)


class ScalarFirst(derivatives.First):
    params = (SCALARS,)


class ScalarCounts(derivatives.Counts):
    params = (SCALARS,)
