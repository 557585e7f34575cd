"""Scalar programs."""

from . import derivatives

SCALARS = derivatives.names("scalars")


class ScalarTimes(derivatives.Times):
    params = (SCALARS,)


class ScalarRatios(derivatives.Ratios):
    params = (SCALARS,)


class ScalarCounts(derivatives.Counts):
    params = (SCALARS,)
