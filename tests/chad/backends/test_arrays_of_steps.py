"""Arrays that the steps of a loop make use the same memory on the register machine, and change no bit."""

import json
import math
import os
import random
import subprocess
import sys

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.chad.backends import tiers

SEEDS = range(400 if os.environ.get("TAPEENGINE_NIGHTLY") else 24)
HEAD = "x: te.Vec, m: te.Array[te.Vec], n: int"
#: Parts of a step, which assign the vectors y and w and the number t; z has another length.
PARTS = [
    ["y = [v * 0.5 + 0.1 * i for v in y]"],
    ["y, w = w, y"],
    ["y, w = [a * 0.7 + b * 0.2 for a, b in zip(y, w)], y"],
    ["w = y"],
    ["y = [a * b for a, b in zip(y, w)]"],
    ["y = m[i % len(m)]"],
    ["if i % 3 == 1:", "    y = w"],
    ["if i % 2 == 1:", "    w = [v * t for v in y]", "else:", "    w = m[0]"],
    ["for j in range(2):", "    y = [v * 0.9 + 0.01 * j for v in w]", "    w = [math.sin(v * v) for v in y]"],
    ["for j in range(i % 3):", "    w, y = y, m[j]"],
    ["z = [v for v in y if v > 0.2]", "t = t + 0.1 * sum(z)"],
    ["t = math.tanh(t + sum(y))"],
    ["t = t + w[i % len(w)] * m[i % len(m)][1]"],
    ["w = [math.sin(v) for v in np.linalg.solve(m, y)]"],
    ["r = m[i % len(m)]", "t = t + 0.1 * sum([a * b for a, b in zip(r, y)])"],
]
LOOPS = [(["for i in range(n):"], []), (["i = 0", "while i < n:"], ["i = i + 1"])]
END = "return t + sum([a + 3.0 * b for a, b in zip(y, w)])"


def drawn(seed):
    """Return a function of a vector, a matrix and a number of steps, whose loop makes arrays."""
    draw = random.Random(seed)
    head, tail = draw.choice(LOOPS)
    step = [line for _ in range(draw.randint(2, 5)) for line in draw.choice(PARTS)]
    lines = ["y, w, t = x, [v * 0.5 for v in x], 0.3", *head, *(f"    {line}" for line in (*step, *tail)), END]
    return function_of(HEAD, lines, math=math, te=te)


def bits(x):
    """Return numbers as bytes."""
    return [bits(y) for y in x] if isinstance(x, tuple | list) else None if x is None else np.asarray(x).tobytes()


@pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite")
@pytest.mark.parametrize("seed", SEEDS)
def test_arrays_of_steps_have_the_bits_of_native_code_and_the_values_of_python(seed):
    f, draw = drawn(seed), np.random.default_rng(seed)
    machine, native = (te.program(f, backend=b) for b in ("machine", "native"))
    for n in (0, 1, 2, 7):
        x, m = draw.uniform(0.1, 1.0, 4), draw.uniform(0.1, 1.0, (4, 4)) + np.eye(4)
        found = [te.vjp(p, x, m, n) for p in (machine, native)]
        assert math.isclose(found[0][0], f(x, m, n), rel_tol=1e-12)
        first, again, other = found[0][1](1.0), found[0][1](1.0), found[1][1](1.0)
        assert found[0][0] == found[1][0] and bits(first) == bits(again) == bits(other)
        dx, dm = draw.standard_normal(4), draw.standard_normal((4, 4))
        ahead = [f(x + s * 1e-6 * dx, m + s * 1e-6 * dm, n) for s in (1, -1)]
        assert math.isclose(
            (ahead[0] - ahead[1]) / 2e-6, dx @ first[0] + np.sum(dm * first[1]), rel_tol=1e-5, abs_tol=1e-7
        )


#: A loop's step, and the bytes that its frame needs.
STEPS = {
    "row": (["r = m[i % len(m)]", "t += sum([v * v for v in r])"], 200),
    "array": (["y = [v * t for v in x]", "t = math.tanh(sum(y) + 0.1 * i)"], 200),
    "carried": (["y = [v * 0.5 + 1.0 for v in y]"], 60),
    "swapped": (["y, w = [u * 0.5 + v * 0.25 for u, v in zip(y, w)], y"], 60),
    "filtered": (["z = [v for v in x if v > t % 1.0]", "t += sum(z)"], 60),
    "rows": (["y = m[i % len(m)]"], 60),
}
MEASURE = """
import json, math, os, resource, sys
import numpy as np, tapeengine as te
from chad.written_functions import function_of
N = 60_000
STEPS, HEAD, END = json.loads(sys.argv[1])

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / N

for name, (step, most) in STEPS.items():
    if os.fork():
        assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
        continue
    lines = ["y, w, t = x, x, 0.3", "for i in range(n):", *(f"    {line}" for line in step), END]
    program = te.program(function_of(HEAD, lines, math=math, te=te), backend="machine")
    m = np.random.default_rng(0).uniform(0.1, 1.0, (5, 5))
    te.vjp(program, m[0], m, 500)[1](1.0)
    sizes = [peak()]
    value, back = te.vjp(program, m[0], m, N)
    sizes.append(peak())
    back(1.0)
    sizes.append(peak())
    ahead, behind = (b - a for a, b in zip(sizes, sizes[1:]))
    assert ahead < most and behind < 20, (name, ahead, behind)
    os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="getrusage counts kilobytes, and forks")
def test_a_step_keeps_no_memory_but_its_frame():
    paths = os.pathsep.join(filter(None, sys.path))
    command = [sys.executable, "-c", MEASURE, json.dumps([STEPS, HEAD, END])]
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": paths})
