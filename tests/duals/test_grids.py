"""`numpy.mgrid`, `ogrid` and `r_` of slices with traced ends and steps: values of numpy, derivatives by differences."""

import itertools

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

#: Slices that are traced in one place or more; the starts are 0 at the point where they are differentiated.
TRACED = {
    "start": lambda a: slice(a - 0.3, 1.2, 0.5),
    "stop": lambda a: slice(0, a, 0.25),
    "no start": lambda a: slice(None, a),
    "step": lambda a: slice(0, 1.1, a),
    "start of points": lambda a: slice(a - 0.3, 1, 3j),
    "stop of points": lambda a: slice(0.5, a, 4j),
    "one point": lambda a: slice(a, 2, 1j),
    "points of numpy": lambda a: slice(a, 2 * a, numpy.complex128(3j)),
}
#: The other axes of a grid.
OTHERS = {"no axis": (), "integers": (slice(0, 2),), "points": (slice(0, 1, 2j),), "floats": (slice(0, 1, 0.5),)}
CASES = [
    *((kind, traced, other) for kind, traced, other in itertools.product(("mgrid", "ogrid"), TRACED, OTHERS)),
    *(("r_", traced, "no axis") for traced in TRACED),
]


def flat(found):
    return numpy.concatenate([numpy.ravel(part) for part in (found if isinstance(found, tuple) else (found,))])


def shapes(found):
    return [part.shape for part in found] if isinstance(found, tuple) else found.shape


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize(("kind", "traced", "other"), CASES)
def test_values_and_tangents(kind, traced, other, is_first):
    def grid(module, a):
        axes = (TRACED[traced](a), *OTHERS[other])
        return getattr(module, kind)[axes if is_first else axes[0] if len(axes) == 1 else axes[::-1]]

    value, tangent = te.jvp(lambda a: grid(np, a), (0.3,), (1.0,))
    plain = grid(numpy, 0.3)
    assert shapes(value) == shapes(plain)
    numpy.testing.assert_array_equal(flat(value), flat(plain))
    expected = (flat(grid(numpy, 0.3 + 1e-6)) - flat(grid(numpy, 0.3 - 1e-6))) / 2e-6
    numpy.testing.assert_allclose(flat(tangent), expected, atol=1e-8)


@pytest.mark.parametrize("kind", ["mgrid", "ogrid"])
def test_plain_slices_are_numpys(kind):
    ours, theirs = getattr(np, kind), getattr(numpy, kind)
    numpy.testing.assert_array_equal(flat(ours[0:2, 1:3:2j]), flat(theirs[0:2, 1:3:2j]))
    with pytest.raises(ZeroDivisionError):
        ours[0:1:0, 0:1]
