"""The ladder's interpretation of the opcode table, compared with the core."""

import pytest

import tapeengine as te
import tapeengine.math as math
from tapeengine.ladder.operations import partial, value


@pytest.mark.parametrize("name", ["sin", "cos", "exp", "log", "sqrt", "tan", "sinh", "cosh", "exp2", "expm1", "log1p"])
@pytest.mark.parametrize("x", [0.3, 1.7])
def test_values_and_partials_have_the_bits_of_the_core(name, x):
    expected, backpropagator = te.vjp(getattr(math, name), x)
    assert value(name, x) == expected
    assert (partial(name, 0, (x,)),) == backpropagator(1.0)


def test_base_functions_that_are_written_here():
    assert [partial("abs", 0, (x,)) for x in (-2.0, 0.0, 3.0)] == [-1.0, 0.0, 1.0]


def test_an_unknown_operation_is_refused():
    with pytest.raises(ValueError, match="no operation of the opcode table"):
        value("frobnicate", 1.0)
