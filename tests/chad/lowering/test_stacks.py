"""Lists that get longer and shorter at their end cost a constant for each change, and mean what they mean in Python."""

import os
import random

import numpy as np
import pytest
from chad.lowering.test_cost_in_place import counted
from chad.written_functions import function_of

import tapeengine as te

COUNT = 600 if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else 30
CHANGES = """
y.pop()
f += y.pop()
f = 0.5 * f + y.pop() * y_i
del y[-1]
g = y.pop(-1)|f = f * g
y.append(f * {c})
y.append(y[-1] * {c})
y.extend([{c}, f])
y[-1] *= {c}
y[{i}] += {c} * f
f += y[{i}] * y[-1]
f += {c} * len(y)
z.append((k, y.pop()))
z.append((k + 1, f))
if z:|    e, g = z.pop()|    f += e * g
if z and z[-1][0] > 1:|    y.append(z.pop()[1])
if y[-1] > 0.4:|    f += y.pop()|else:|    y[-1] = {c} * f
if f < 0.5:|    y.append(y.pop() * y_i)|    y.append({c})
while len(y) > n:|    f -= {c} * y.pop()
for e in range(3):|    y.append({c} * e)
if not y:|    break
""".strip().splitlines()
LOOPS = ("while y:", "while len(y) > 2:", "for k in range(n):", "while k < n and y:")


def drawn(seed):
    """A function with a loop that changes a list of numbers and one of tuples, in at most 3 n steps."""
    draw = random.Random(seed)
    body = ["y_i = y[0]"]
    for _ in range(draw.randint(2, 5)):
        text = draw.choice(CHANGES).format(c=draw.choice(("0.5", "0.9", "-0.3")), i=draw.choice("0 1 k -2 7".split()))
        body += text.split("|")
    loop = draw.choice(LOOPS)
    body += [] if loop.startswith("for") else ["k += 1", "if k > 3 * n:", "    break"]
    lines = ["n = len(x)", "y = [0.5 * v for v in x]", "z = [(0, 0.3)]", "f, k = 0.7, 0", loop]
    lines += [*(f"    {line}" for line in body), "for v in y:", "    f = 0.9 * f + v", "return f + 0.1 * len(y)"]
    return function_of("x: list[float]", lines), "\n".join(lines)


def outcome(run, x):
    try:
        value, backpropagator = run(x)
    except (IndexError, OverflowError) as error:
        return type(error), str(error)
    return value, backpropagator(1.0)[0]


def agrees(f, text, backend):
    """Compare value, gradient and errors of a program of a list with those of dual numbers."""
    made = te.program(f, backend=backend)
    for n in (1, 2, 5, 9):
        x = np.linspace(0.2, 0.9, n).tolist()
        found, expected = (outcome(lambda x, run=run: te.vjp(run, x), x) for run in (made, f))
        if isinstance(expected[0], type):
            assert found == expected, text
        else:
            np.testing.assert_allclose(found[0], expected[0], rtol=1e-12, err_msg=text)
            np.testing.assert_allclose(found[1], expected[1], rtol=1e-10, atol=1e-12, err_msg=text)


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("seed", range(COUNT))
def test_stacks_mean_what_they_mean_in_python(seed, backend):
    agrees(*drawn(seed), backend)


@pytest.mark.parametrize("seed", range(COUNT))
def test_changes_at_the_end_of_a_list_do_not_depend_on_its_length(seed):
    f, text = drawn(seed)
    if any(isinstance(outcome(lambda x: te.vjp(f, x), np.linspace(0.2, 0.9, n).tolist())[0], type) for n in (40, 320)):
        return
    small, large = (counted(te.program(f), n) for n in (40, 320))
    assert large <= 12 * small + 500, f"{small} {large}\n{text}"
