"""Large local functions that are called more than once: values are Python's, derivatives those of differences.

They become functions of the program, which take what they capture as arguments; others are written out at their calls.
"""

import itertools
import math

import pytest
from chad.written_functions import agrees_with_differences, defined

import tapeengine as te

#: Bodies of a function of a and b, which may capture y.
BODIES = {
    "large": [
        *(f"{new} = math.sin({old} * b) + math.exp(-{old} * {old}) * a - {old} / (1.0 + b * b)" for old, new in
          itertools.pairwise("atuvwpq")),
        "return q * a + w * b",
    ],
    "large and capturing": [
        *(f"{new} = math.cos({old} * y) + math.log(1.0 + {old} * {old}) * x - {old} / (1.0 + b * y)" for old, new in
          itertools.pairwise("atuvwpq")),
        "return q * a + w * b",
    ],
}  # fmt: skip
CALLS = {
    "in two places": "g(x, y) * g(y, x)",
    "in a loop": "sum([g(x * i, y) for i in range(3)]) + g(y, x)",
    "through another": "h(x, y) + h(y, 0.25) + g(x, x)",
}


@pytest.mark.parametrize("calls", CALLS)
@pytest.mark.parametrize("body", BODIES)
def test_values_and_differences(body: str, calls: str) -> None:
    lines = "".join(f"        {line}\n" for line in BODIES[body])
    source = (
        f"def f(x: float, y: float) -> float:\n    def g(a: float, b: float) -> float:\n{lines}"
        f"    def h(a: float, b: float) -> float:\n        return g(a, b) * g(b, x)\n    return {CALLS[calls]}\n"
    )
    plain = defined(source, math=math)
    program = te.program(plain)
    agrees_with_differences(program, plain, 0.7, 0.4)
    assert program.for_values((0.7, 0.4)).is_read
