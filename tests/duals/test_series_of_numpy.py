"""Functions of numpy.polynomial itself, which ask whether a point is a `numpy.ndarray`: right, or refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy
import pytest
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial
from verdicts import attempted, verdict

MODULES = {polynomial: "poly", chebyshev: "cheb", legendre: "leg", hermite: "herm", hermite_e: "herme", laguerre: "lag"}
CALLS = {
    f"{start}{name}": getattr(module, f"{start}{name}")
    for module, start in MODULES.items()
    for name in ("val", "valfromroots", "val2d", "val3d", "grid2d", "grid3d")
    if hasattr(module, f"{start}{name}")
}
POINTS = [(), (1,), (3,), (2, 3)]
SERIES = [(1,), (3,), (3, 3), (4, 1), (2, 3, 4), (2, 1, 1, 1)]


def points_of(name: str) -> int:
    return int(name[-2]) if name.endswith("d") else 1


@pytest.mark.parametrize("tensor", [True, False])
@pytest.mark.parametrize("name", CALLS)
def test_the_plain_value_and_its_derivative_or_a_refusal(name: str, tensor: bool) -> None:
    options = {} if points_of(name) > 1 else {"tensor": tensor}
    for shape, series in product(POINTS, SERIES):
        c = numpy.arange(1.0, 1.0 + numpy.prod(series)).reshape(series) / 7.0

        def program(x: Any, c: Any = c) -> Any:
            return CALLS[name](*[x] * points_of(name), c, **options)

        point = numpy.linspace(0.3, 0.8, int(numpy.prod(shape))).reshape(shape)
        if attempted(program, point)[1] is None:
            found = verdict(program, point)
            raises = found.word == "raw" and name == "polyvalfromroots"  # shapes that do not fit
            assert found.right or raises, (shape, series, found)


@pytest.mark.parametrize("name", [name for name in CALLS if name.endswith("val")])
def test_one_series_at_many_points_is_computed(name: str) -> None:
    for shape in POINTS:
        found = verdict(lambda x: CALLS[name](x, [0.5, 2.0, 3.0]), numpy.full(shape, 0.3))
        assert found.word == "traced"
