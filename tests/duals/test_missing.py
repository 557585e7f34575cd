"""The error for a function without a rule: the names in it, and its lines, which must work as printed."""

import numpy
import pytest
from scipy import special

import tapeengine as te
from tapeengine.errors import UnsupportedError


def told(program: object) -> str:
    with pytest.raises(UnsupportedError) as caught:
        te.Engine(plugins=["core"]).grad(program)(numpy.array([0.5]))
    return str(caught.value)


@pytest.mark.parametrize(
    ("function", "place"), [(numpy.packbits, "numpy.packbits"), (special.wrightomega, "scipy.special.wrightomega")]
)
def test_it_names_the_function_where_it_is_called_from(function, place):
    assert told(lambda x: function(x)[0]).startswith(f"{place} has no derivative rule")


def test_its_lines_work_once_the_partial_is_there():
    text = told(lambda x: special.wrightomega(x)[0])
    code = "\n".join(line[4:] for line in text.splitlines() if line.startswith("    "))
    names = {"tapeengine": te, "scipy": __import__("scipy.special")}
    exec(code.replace("ct * ...)", "ct * (1 - 1 / (1 + wrightomega(x))))"), names)
    slope = te.grad(lambda x: names["wrightomega"](x)[0])(numpy.array([0.5]))[0]
    step = 1e-6
    expected = (special.wrightomega(0.5 + step) - special.wrightomega(0.5 - step)) / (2 * step)
    assert slope == pytest.approx(expected, rel=1e-8)
