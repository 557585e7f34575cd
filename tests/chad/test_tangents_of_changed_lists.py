"""Programs that change lists by drawn statements: tangents and cotangents against complex steps of plain Python."""

import random

import numpy as np
import pytest
from chad.written_functions import defined

import tapeengine as te

#: What a statement does to a list of at least four numbers, in a loop or not; it leaves at least three.
STATEMENTS = [
    "ys.pop()",
    "t = t * ys.pop() + 1.0",
    "t = t + ys.pop() * ys[0]",
    "ys.append(t * ys[0])",
    "ys.append(2.0)",
    "ys[1] = ys[1] * t",
    "ys[0], ys[2] = ys[2], ys[0]",
    "ys[-1] += ys[0] * t",
    "ys = ys + [t]",
    "ys = [y * y for y in ys]",
    "ys.reverse()",
    "ys.extend([t, ys[1]])",
    "for k in range(2):\n        ys.append(ys[k] * t)\n        t = t + ys.pop() * ys.pop()\n        ys.append(t)",
    "for k in range(2):\n        ys.pop()\n        ys.append(t * ys[k])",
    "if abs(t) < 3.0:\n        ys.pop()\n        ys.append(t)",
]


def drawn(seed: int) -> str:
    """Return a program of a list of six numbers: three statements, and what is left of the list."""
    generator = random.Random(seed)
    lines = ["def program(xs: list[float]) -> list[float]:", "    ys = [x + 0.25 for x in xs]", "    t = 0.5"]
    lines += [f"    {generator.choice(STATEMENTS)}" for _ in range(3)]
    return "\n".join([*lines, "    return [y * t for y in ys]"])


@pytest.mark.parametrize("seed", range(40))
def test_tangents_are_complex_steps(seed: int) -> None:
    plain = defined(drawn(seed), "program")
    program = te.program(plain)
    generator = np.random.default_rng(seed)
    xs, along = generator.uniform(0.5, 1.5, (2, 6)).tolist()
    stepped = plain([x + 1e-30j * d for x, d in zip(xs, along, strict=True)])
    value, tangent = te.jvp(program, (xs,), (along,))
    assert value == plain(xs)
    expected = [y.imag / 1e-30 for y in np.asarray(stepped, complex)]
    np.testing.assert_allclose(tangent, expected, rtol=1e-13, atol=1e-15)
    value, back = te.vjp(program, xs)
    cotangent = generator.uniform(0.5, 1.5, len(value)).tolist()
    assert value == plain(xs)
    np.testing.assert_allclose(np.dot(back(cotangent)[0], along), np.dot(cotangent, expected), rtol=1e-12)
