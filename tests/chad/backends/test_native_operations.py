"""Programs of each function of math and of each operator have native code, with Python's value: none is left out with
a warning that tests of values ignore."""

import math

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te

pytestmark = pytest.mark.filterwarnings("error:.*runs without native code")
OF_ONE = """
sin cos tan asin acos atan sinh cosh tanh asinh atanh exp exp2 expm1 log log2 log10 log1p sqrt cbrt fabs erf erfc gamma
lgamma degrees radians floor ceil trunc isfinite isinf isnan
""".split()
OF_TWO = "atan2 hypot pow fmod copysign log".split()
CALLS = [
    *(f"math.{name}(x)" for name in OF_ONE),
    *(f"math.{name}(x, y)" for name in OF_TWO),
    *(f"x {op} y" for op in "+ - * / // % ** < <= > >= == !=".split()),
    *("abs(x)", "-x", "round(x)", "int(4.0 * x) // 3", "int(4.0 * x) % 3", "max(x, y)", "min(x, y)", "not x > y"),
]


@pytest.mark.parametrize("call", CALLS)
def test_native(call):
    function = function_of("x: float, y: float", [f"return x * y + 2.0 * float({call})"], math=math)
    program = te.program(function, backend="native")
    for args in ((0.7, 0.3), (0.3, 0.9)):
        value, back = te.vjp(program, *args)
        assert value == pytest.approx(function(*args), rel=1e-14)
        h = 1e-6
        up, down = function(args[0] + h, args[1]), function(args[0] - h, args[1])
        np.testing.assert_allclose(back(1.0)[0], (up - down) / (2 * h), rtol=1e-6, atol=1e-8)
