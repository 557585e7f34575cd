"""Records whose classes say what `bool`, `len`, `==`, `iter` and `in` of them are: a derivative calls none of these."""

from dataclasses import dataclass

import numpy as np
import pytest

import tapeengine as te


class Odd:
    """Every question raises an error."""

    def asked(self, *args):
        raise RuntimeError("a method of the user's class was called")

    __bool__ = __len__ = __eq__ = __hash__ = __iter__ = __contains__ = asked


@dataclass(eq=False)
class Point(Odd):
    x: float
    y: float


@dataclass(eq=False)
class Holder(Odd):
    point: Point
    k: int
    a: list[float]


@dataclass(eq=False)
class Chain(Odd):
    point: "Point | None"
    xs: np.ndarray


def changed_argument(a, u, p):
    u[1:] *= a
    return a, u, Point(a, p.y), 5


def in_a_tuple(a, u, p):
    return Point(a * p.x, u[0]), p


def in_a_record(a, u, p):
    return Holder(Point(a, p.x), 3, [a, p.y]), p


def optional(a, u, p):
    return Chain(None, u * a * p.x)


def in_a_list(a, u, p):
    return [Point(x * a, p.y) for x in u]


def rows(a, u, p):
    for _ in u:
        a = u.min()
    return a, u, Point(a, p.x), a


def cotangent_of(value):
    if isinstance(value, Odd):
        return type(value)(**{name: cotangent_of(part) for name, part in vars(value).items()})
    if isinstance(value, list | tuple):
        return type(value)(map(cotangent_of, value))
    return None if value is None or isinstance(value, int) else np.add(value, 0.25)[()]


def numbers(value):
    if isinstance(value, Odd):
        return [x for part in vars(value).values() for x in numbers(part)]
    if isinstance(value, list | tuple):
        return [x for part in value for x in numbers(part)]
    return [] if value is None or isinstance(value, int) else np.ravel(value).tolist()


@pytest.mark.filterwarnings("ignore:.*without native code")
@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("f", [changed_argument, in_a_tuple, in_a_record, optional, in_a_list, rows])
def test_methods_of_the_user_are_not_called(f, backend):
    args = lambda: (2.0, np.array([1.0, 3.0]), Point(0.5, 1.5))  # noqa: E731
    expected = f(*args())
    value, backpropagator = te.vjp(te.program(f, backend=backend), *args())
    assert numbers(value) == numbers(expected)
    ct = cotangent_of(expected)
    cotangents = backpropagator(ct)
    tangents = cotangent_of(args())
    along = te.jvp(te.program(f, backend=backend), args(), tangents)[1]
    assert np.dot(numbers(ct), numbers(along)) == pytest.approx(np.dot(numbers(cotangents), numbers(tangents)))
    h = 1e-6
    up, down = (
        [2.0 + s * 2.25, np.array([1.0, 3.0]) + s * np.array([1.25, 3.25]), Point(0.5 + s * 0.75, 1.5 + s * 1.75)]
        for s in (h, -h)
    )
    change = np.subtract(numbers(f(*up)), numbers(f(*down))) / (2 * h)
    np.testing.assert_allclose(numbers(along), change, rtol=1e-6, atol=1e-6)
