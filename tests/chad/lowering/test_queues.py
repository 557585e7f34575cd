"""Lists that lose first elements cost a constant for each change, and mean what they mean in Python."""

import os
import random
import re

import numpy as np
import pytest
from chad.lowering.test_cost_in_place import counted
from chad.lowering.test_stacks import agrees, outcome
from chad.written_functions import defined

import tapeengine as te

COUNT = 600 if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else 40
LOSING = """
y.pop(0)
f += y.pop(0)
f = 0.5 * f + y.pop(0) * y_i
del y[0]
y_i, g = y.pop(0), f|f += g
while len(y) > n:|    f -= {c} * y.pop(0)
if y[0] > 0.4:|    f += y.pop(0)|else:|    y[0] = {c} * f
y.append(f * {c})|f += y.pop(0)
""".strip().splitlines()
CONSTANT = """
y.append(f * {c})
y.append(y[-1] * {c})
f += y.pop()
y[{i}] += {c} * f
y[-1] = {c} * f
y[0], y[-1] = y[-1], y[0]
f += y[{i}] * y[-1]
f = 0.9 * f + y[-2]
f += {c} * len(y)
if y:|    f += y[k % len(y)]
y[k % 2 - 1] += {c}
z.append((k, f))
z.append((k + 1, y.pop(0)))
z.pop(0)
if z:|    e, g = z.pop(0)|    f += e * g
f += y[-1] if y and y[-1] > 0.3 else {c}
if not y:|    break
for e in range(3):|    y.append({c} * e)
""".strip().splitlines()
WHOLE = """
f = 0.5 * f + sum(y)
y = y[1:] + [f]
y.insert(0, f)
y.insert({i}, {c})
f += y.pop(1)
y.reverse()
y.sort()
y[1:2] = [{c}, f]
del y[1:]
d = {{0: f}}|f += d.pop(0)
y += [f]
w = list(y)|w[0] = {c}|f += w[-1]
for v in y:|    f = 0.9 * f + v
f += max((v * {c} for v in y), default=0.5)
f += y.index(y[-1])
if 0.3 in y:|    f += 1.0
y = [v * {c} for v in y]
y = sorted(y)[:4] + y
y = y[2:]
y.clear()
f += total(y)
halve(y)
""".strip().splitlines()
CUTS = """
y = y[1:]
y_i, y = y[0], y[1:]|f += y_i
y = y[2:]
y, f = y[1:], f + {c}
f = f * {c} + y[0]
f += y[-1] * y[-2]
f += {c} * len(y) + y[k % (k + 1)]
if len(y) > 3:|    y = y[1:]
""".strip().splitlines()
LOOPS = ("while y:", "while len(y) > 2:", "for k in range(n):", "while k < n and y:", "while not (k > n or not y):")
FUNCTIONS = """
def total(v):
    return sum(v) * 0.5

def halve(v):
    v[0] = v[0] * 0.5
    v.append(0.1)

def f(x: list[float]):
    n, f, k, z = len(x), 0.7, 0, [(0, 0.3)]
    {first}
    {loop}
        {body}
    for v in y:
        f = 0.9 * f + v
    return f + 0.1 * len(y)
"""


def drawn(seed, first, changes):
    """A function with a loop that changes a list of numbers and one of tuples, in at most 3 n steps."""
    draw = random.Random(seed)
    loop = draw.choice(LOOPS)
    body = ["y_i = y[0]", f"f = {draw.choice(('f', 'f * 0.9', 'f + y[0]'))}"]
    for lines in (draw.choice(first), *(draw.choice(changes) for _ in range(draw.randint(1, 4)))):
        text = lines.format(c=draw.choice(("0.5", "0.9", "-0.3")), i=draw.choice("0 1 k -2 7 k-3".split()))
        body += text.split("|")
    body += [] if loop.startswith("for") else ["k += 1", "if k > 3 * n:", "    break"]
    starts = ["y = [0.5 * v for v in x]", "y = list(x)", "y = []\n    for v in x:\n        y.append(v)", "y = x"]
    start = draw.choice(starts if all(" y = " not in f" {line}" for line in body) else starts[:3])
    text = FUNCTIONS.format(first=start, loop=loop, body="\n        ".join(body))
    if start == starts[3]:
        text = text.replace("    y = x\n", "").replace("x: list", "y: list").replace("(x)", "(y)")
    names = draw.choice(({}, {"y": "i", "k": "start"}, {"y": "n", "n": "m"}))  # names that the rewriting writes
    text = re.sub(r"\b[ykn]\b", lambda name: names.get(name[0], name[0]), text)
    return defined(text), text


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("seed", range(COUNT))
def test_queues_mean_what_they_mean_in_python(seed, backend):
    agrees(*drawn(seed, LOSING, [*LOSING, *CONSTANT, *WHOLE]), backend)


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("seed", range(COUNT // 2))
def test_lists_that_are_cut_mean_what_they_mean_in_python(seed, backend):
    agrees(*drawn(seed, CUTS[:2], [*CUTS, "w = y|f += w[-1]", "f += total(y)", "f = f + sum(y[1:])"]), backend)


@pytest.mark.parametrize(("first", "changes"), [(LOSING, [*LOSING, *CONSTANT]), (CUTS[:2], CUTS)])
@pytest.mark.parametrize("seed", range(COUNT))
def test_the_cost_of_a_change_does_not_depend_on_the_length(seed, first, changes):
    f, text = drawn(seed, first, changes)
    if any(isinstance(outcome(lambda x: te.vjp(f, x), np.linspace(0.2, 0.9, n).tolist())[0], type) for n in (40, 320)):
        return
    small, large = (counted(te.program(f), n) for n in (40, 320))
    assert large <= 12 * small + 500, f"{small} {large}\n{text}"
