"""Array programs."""

from asv_bench import derivatives, limits
from asv_bench.targets import arrays

ARRAYS = derivatives.names("arrays")

Figures = limits.figures(arrays.TARGETS)


class ArrayTimes(derivatives.Times):
    params = (ARRAYS,)


class ArrayRatios(derivatives.Ratios):
    params = (derivatives.cases("arrays"),)


class ArrayFirst(derivatives.First):
    params = (ARRAYS,)


class ArrayCounts(derivatives.Counts):
    params = (ARRAYS,)
