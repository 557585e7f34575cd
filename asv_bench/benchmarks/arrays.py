"""Array programs."""

from . import derivatives

ARRAYS = derivatives.names("arrays")


class ArrayTimes(derivatives.Times):
    params = (ARRAYS,)


class ArrayRatios(derivatives.Ratios):
    params = (ARRAYS,)


class ArrayCounts(derivatives.Counts):
    params = (ARRAYS,)
