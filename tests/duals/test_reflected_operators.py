"""Numbers as operands of objects that numpy can read and that have their own operators: Python's rule for floats."""

import operator

import numpy as np
import pytest

import tapeengine as te


class Scaled:
    """A class whose reflected operators differ from numpy's."""

    def __init__(self, value):
        self.value = value

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self.value)

    def __radd__(self, other):
        return self.value + 100.0 * other

    def __rsub__(self, other):
        return self.value - 100.0 * other

    def __rmul__(self, other):
        return self.value * 100.0 * other

    def __rtruediv__(self, other):
        return self.value / (100.0 * other)

    def __rpow__(self, other):
        return (100.0 * other) ** self.value


OPERATORS = [operator.add, operator.sub, operator.mul, operator.truediv, operator.pow]


@pytest.mark.parametrize("operate", OPERATORS)
def test_a_class_with_operators_of_its_own_has_the_last_word(operate):
    for value in (3.0, np.array([1.0, 2.0])):
        wanted = operate(2.0, Scaled(value))
        found, back = te.vjp(lambda x, value=value: operate(x, Scaled(value)), 2.0)
        np.testing.assert_allclose(found, wanted, rtol=1e-15)
        slope = (operate(2.0 + 1e-6, Scaled(value)) - operate(2.0 - 1e-6, Scaled(value))) / 2e-6
        ct = np.ones_like(found) if isinstance(found, np.ndarray) else 1.0
        assert back(ct)[0] == pytest.approx(np.sum(slope), rel=1e-6)


@pytest.mark.parametrize("operate", OPERATORS[:3])
def test_polynomials(operate):
    p = np.poly1d([1.0, 2.0, 3.0])
    for f in (lambda x: operate(x, p)(1.5), lambda x: operate(p, x)(1.5)):
        assert te.vjp(f, 2.0)[0] == f(2.0)
        assert te.grad(f)(2.0) == pytest.approx((f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6, rel=1e-6)


class Unit:
    """As a unit of measurement: ufuncs are its own, and it is no array."""

    __array_priority__ = 17.0

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        return ["by numpy", *inputs[:1]]

    def __rmul__(self, other):
        return [other]

    __mul__ = __radd__ = __rsub__ = __rtruediv__ = __rpow__ = __rmod__ = __rmatmul__ = __rmul__


@pytest.mark.parametrize("operate", [*OPERATORS, operator.mod])
def test_python_asks_a_class_with_ufuncs_of_its_own(operate):
    """Python's number does not ask numpy: the reflected operator gets the traced number."""
    assert operate(3.0, Unit()) == [3.0]
    assert te.grad(lambda x: operate(x, Unit())[0] ** 2)(3.0) == 6.0
    assert te.grad(lambda x: (Unit() * x)[0] ** 2)(3.0) == 6.0
    with pytest.raises(TypeError, match="unsupported operand"):
        te.grad(lambda x: operate(x, type("Other", (), {"__array_ufunc__": Unit.__array_ufunc__})()))(3.0)
