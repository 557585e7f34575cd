"""Records made of others with ``dataclasses.replace``, under the same name or another one, in branches and loops."""

import dataclasses
import itertools

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te


@dataclasses.dataclass(frozen=True)
class Point:
    """Two numbers."""

    u: float
    v: float


AROUND = {
    "alone": ["{}"],
    "branch": ["if x > y:", "    {}"],
    "other branch": ["if x > y:", "    p = dataclasses.replace(p, u=y)", "else:", "    {}"],
    "for": ["for k in range(3):", "    {}"],
    "while": ["n = 0", "while n < 3:", "    n += 1", "    {}"],
}


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("names", list(itertools.product("pq", repeat=4)), ids="".join)
def test_a_record_made_of_another(names, around):
    a, b, c, d = names
    inner = f"{a} = dataclasses.replace({b}, u={c}.u + x * {d}.v)"
    lines = ["p, q = Point(x, y), Point(y * y, x * y + 1.0)", *(line.format(inner) for line in AROUND[around])]
    result = "return p.u + 3.0 * p.v + 5.0 * q.u * q.v"
    function = function_of("x, y", [*lines, result], dataclasses=dataclasses, Point=Point)
    for args in ((1.5, 0.5), (0.5, 1.5)):
        value, back = te.vjp(te.program(function), *args)
        np.testing.assert_allclose(value, function(*args), rtol=1e-14)
        steps = [[sum(z) for z in zip(args, s, strict=True)] for s in ((1e-6, 0), (-1e-6, 0), (0, 1e-6), (0, -1e-6))]
        up, down, right, left = (function(*at) for at in steps)
        np.testing.assert_allclose(back(1.0), [(up - down) / 2e-6, (right - left) / 2e-6], rtol=1e-6)
