"""Numbers of Python and of numpy divided by zero: Python's error, or numpy's infinity, as in the plain function."""

import itertools
import math

import numpy as np
import pytest
from chad.source_programs import Source, function_of

import tapeengine as te

BODIES = [
    "return x / y", "return 1.0 / (x / y)", "return min(x / y, 3.0)", "return x if x / y > 1.0 else y",
    "return math.atan(x / y)", "return x / (x / y + 1.0)", "return x * y / y", "return sum(a / y for a in (x, 2.0))",
    "return [a / y for a in (x, 2.0)]", "return x // y", "return x % y", "return divmod(x, y)[0]",
    "return x ** -1.0 + y ** -1", "return y ** -0.5", "return float(x) / y", "return x / float(y)", "return 1 / y",
    "return x / (y - y)", "return math.sqrt(x / y)", "return x / max(y, 0.0)", "return x / int(y)",
    "return math.log(y)",
    "return np.exp(x) / y", "return x / np.sin(y)", "return np.sum([x, y]) / y",
    "t = (x, y)\n    return t[0] / t[1]", "ys = [x, y]\n    return min(ys[0] / ys[1], 2.0)",
    "ys = np.array([x, y])\n    return ys[0] / ys[1]", "f = lambda a, b: a / b\n    return min(f(x, y), 2.0)",
    "s = 0.0\n    for _ in range(3):\n        s += x / y\n    return s",
    "s = x\n    while s / y < 10.0 and s < 5.0:\n        s += 1.0\n    return s",
]  # fmt: skip
KINDS = list(itertools.product((float, np.float64), (float, np.float64), (0.0, -0.0, 0.5)))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("body", BODIES)
def test_divisions_by_zero(body):
    plain = function_of(Source(hash(body), f"def program(x, y):\n    {body}\n", ()))
    plain.__globals__["math"] = math
    program = te.program(plain)
    for of_x, of_y, y in KINDS:
        args = of_x(1.5), of_y(y)
        runs = (lambda args=args: te.vjp(program, *args)[0], lambda args=args: te.jvp(program, args, (1.0, 0.5))[0])
        try:
            wanted = plain(*args)
        except (ArithmeticError, ValueError) as error:
            for run in runs:
                with pytest.raises(type(error)) as caught:
                    run()
                assert str(caught.value) == str(error)
            continue
        for run in runs:
            np.testing.assert_allclose(run(), wanted, rtol=1e-15)
