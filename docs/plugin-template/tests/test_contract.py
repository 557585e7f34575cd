"""The whole contract of every primitive of this distribution; and one program that uses it."""

from tapeengine_example import pseudo_huber

import tapeengine as te


def test_contract(primitive_contract):
    """Two lines for all primitives: the fixture comes from tapeengine.testing.pytest."""
    primitive_contract()


def test_in_a_program():
    """The derivative of a program, against the one by hand."""
    value, backpropagator = te.vjp(lambda x, y: pseudo_huber(x * y), 1.5, 2.0)
    assert value == pseudo_huber(3.0)
    [dx, dy] = backpropagator(1.0)
    slope = 3.0 / 10.0**0.5
    assert abs(dx - 2.0 * slope) < 1e-15
    assert abs(dy - 1.5 * slope) < 1e-15
