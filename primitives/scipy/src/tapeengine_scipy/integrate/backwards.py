"""The continuous adjoint of a differential equation, backwards over intervals of its solution.

The intervals are groups of the solver's steps. A cotangent is taken through an interval as a whole and through its two
halves; if the results differ by more than the tolerance, the halves are intervals of their own. The cost does not
depend on the number of output times, because the states at all times of an interval are linear in its slopes.

A component that is damped within a short time has a cotangent that changes as fast before each output time. It need not
be resolved: a difference counts as it is after a few intervals before, where it is damped as well.
"""

from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy

from tapeengine.errors import UnsupportedError
from tapeengine_scipy.integrate.collocation import COUNT, Equation, Linear, weights

GROUP = 4  # steps of the solver in an interval
RATIO = 4.0  # the length of an interval over the time before it, since what changes at the start may decay fast
ROUNDING = 1e-14
NEGLIGIBLE = 1e-6  # of the solver's absolute tolerance, so that cotangents that vanish need not be resolved
DAMPING = 4  # intervals


class Adjoint:
    """The transpose of a solution's derivative.

    Parameters
    ----------
    equation : Equation
    ct, times : array
        The cotangents of the states at times in the order of integration, as columns.
    """

    def __init__(self, equation: Equation, ct: Any, times: Any) -> None:
        self.equation, self.ct = equation, ct
        self.sign = 1.0 if times[-1] >= times[0] else -1.0
        self.outputs = self.sign * times

    def run(self) -> tuple[Any, Any]:
        """The cotangents of the first state and of the parameters."""
        size, count = len(self.ct), len(self.equation.params)
        ct, largest, total, along = (numpy.zeros(k) for k in (size, size, count, count))
        accuracy, pending = self.equation.accuracy, self._intervals()
        floor = NEGLIGIBLE * self.equation.smallest * numpy.max(numpy.abs(self.ct), initial=0.0)
        while pending:
            interval = pending.pop()
            first, last = interval.halves()
            middle, later = last.transposed(ct)
            start, earlier = first.transposed(middle)
            found, largest = later + earlier, numpy.maximum(largest, numpy.abs(start))
            moved = along + numpy.abs(later) + numpy.abs(earlier)
            scale = numpy.maximum(numpy.abs(ct), numpy.abs(start)) + interval.size + 1e-3 * largest
            whole, of_params = interval.transposed(ct)
            allowed = floor + _allowed(scale, accuracy), floor + _allowed(moved, accuracy)
            if _vanishes((whole - start, of_params - found), allowed, pending):
                ct, total, along = start, total + found, moved
            else:
                pending += [first, last]
        return ct + self.ct[:, self.outputs == self.outputs[0]].sum(axis=1), total

    def _intervals(self) -> list["Interval"]:
        later = self.outputs[self.outputs > self.outputs[0]]
        if not later.size:
            return []
        steps = self.sign * self.equation.states.ts
        ends = [steps[0]]
        while ends[-1] < steps[-1]:
            reach = ends[-1] + RATIO * (ends[-1] - steps[0]) if len(ends) > 1 else later[0]
            after = steps[numpy.searchsorted(steps, ends[-1], "right") :][:GROUP]
            near = after[after <= reach]
            ends.append(near[-1] if near.size else reach)
        return [Interval(self, *pair) for pair in pairwise(ends)]


def _allowed(scale: Any, accuracy: float) -> Any:
    return accuracy * scale + ROUNDING * numpy.max(scale, initial=0.0)


def _vanishes(error: Any, allowed: Any, before: list["Interval"]) -> bool:
    """Whether an error is small, or soon damped by the intervals before."""
    for interval in [*before[: -DAMPING - 1 : -1], None]:
        if all((numpy.abs(part) <= most).all() for part, most in zip(error, allowed, strict=True)):
            return True
        if interval is not None:
            error = interval.passed(*error)
    return False


class Interval:
    """An interval of times, multiplied by the sign of the direction; the outputs within include those at its end."""

    def __init__(self, adjoint: Adjoint, start: float, end: float) -> None:
        self._adjoint, self._start, self._end = adjoint, start, end
        first, last = numpy.searchsorted(adjoint.outputs, [start, end], "right")
        self._x, self._inner = (adjoint.outputs[first:last] - start) / (end - start), adjoint.ct[:, first:last]

    @cached_property
    def _linear(self) -> Linear:
        sign = self._adjoint.sign
        return Linear(self._adjoint.equation, sign * self._start, sign * self._end)

    @cached_property
    def _shares(self) -> Any:
        """The weights of the slopes in the states within."""
        return weights(self._x) if len(self._x) else numpy.zeros((0, COUNT))

    @property
    def size(self) -> Any:
        """The sum of the cotangents within, without signs."""
        return numpy.abs(self._inner).sum(axis=1)

    def transposed(self, ct: Any) -> tuple[Any, Any]:
        """The cotangents of the state at the start and of the parameters, for one of the state at the end."""
        return self._linear.transposed(ct, self._inner, self._shares)

    def passed(self, ct: Any, of_params: Any) -> tuple[Any, Any]:
        """What remains at the start of errors at the end."""
        start, more = self._linear.transposed(ct, numpy.zeros((len(ct), 0)), numpy.zeros((0, COUNT)))
        return start, of_params + more

    def halves(self) -> list["Interval"]:
        """Two intervals, which meet at the end of a step if there is one inside."""
        steps = self._adjoint.sign * self._adjoint.equation.states.ts
        inside = steps[(steps > self._start) & (steps < self._end)]
        middle = inside[len(inside) // 2] if len(inside) else (self._start + self._end) / 2.0
        if not self._start < middle < self._end:
            raise UnsupportedError("a derivative of a differential equation could not be integrated: it is not finite")
        return [Interval(self._adjoint, self._start, middle), Interval(self._adjoint, middle, self._end)]
