"""Variables that exchange their arrays, ``old, new = new, old``, and are changed in place before and after."""

import random

import numpy as np
import pytest
from chad.lowering.test_cost_in_place import counted
from chad.written_functions import function_of

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.backends.tiers import is_installed
from tapeengine.chad.language.errors import ProgramError

ENGINE = tapeengine.Engine()
BACKENDS = (None, *(("native",) if is_installed() else ()))
Matrix = te.Array[te.Vec]

VECTORS = """
{x}[{i}] = 0.5 * {y}[{j}] * {z}[{k}]
{x}[{i}] += 0.5 * {y}[{j}]
{x}[1:] = 0.5 * {y}[:-1]
{x}, {y} = {y}, {x}
t = {x}|{x} = {y}|{y} = t
u, v, w = v, w, u
if {x}[0] > {y}[{i}]:|    {x}, {y} = {y}, {x}
if {x}[0] > {y}[{i}]:|    {x}[{j}] = 1.5 * {z}[{k}]
for j in range(len({x})):|    {x}[j] = 0.9 * {x}[j] + 0.2 * {y}[j - 1]
for j in range(2):|    {x}[j] = 0.3 * {y}[j]|    {y}, {z} = {z}, {y}
s = s + {x}[{i}]
t = {x}
s = s + t[{i}]
{x} = 0.5 * {y}
{x} = {y}.copy()
kept.append({x}.copy())
kept.append({x})
""".strip().splitlines()

MATRICES = """
{x}[{i}, {j}] = 0.5 * {y}[{j}, {k}]
{x}[{i}, 1:] += 0.5 * {y}[{j}, :-1]
{x}[1:-1, 1:-1] = 0.2 * ({y}[2:, 1:-1] + {z}[:-2, 1:-1])
{x}[:, {i}] = {y}[{j}]
{x}, {y} = {y}, {x}
r = {x}|{x} = {y}|{y} = r
u, v, w = v, w, u
if {x}[0, {j}] > {y}[{i}, 0]:|    {x}, {y} = {y}, {x}
for j in range(len({x})):|    for k in range(1, len({x})):|        {x}[j, k] = 0.9 * {x}[j, k] + 0.2 * {y}[j, k - 1]
s = s + {x}[{i}, {j}]
t = {x}[{i}]
s = s + t[{j}]
{x} = 0.5 * {y}
{x} = {y}.copy()
""".strip().splitlines()


def written(seed, templates, first, result):
    """Draw a function with a loop around random statements, and some before and after it."""
    draw = random.Random(seed)

    def some(count, indent):
        lines = []
        for _ in range(count):
            x, y, z = draw.sample("uvw", 3)
            i, j, k = (draw.randrange(3) for _ in range(3))
            text = draw.choice(templates).format(x=x, y=y, z=z, i=i, j=j, k=k)
            lines += [indent + line for line in text.split("|")]
        return lines

    swap = draw.choice(("u, v = v, u", "v, w = w, v", "u, v, w = w, u, v"))
    return [
        *first,
        *some(draw.randrange(3), ""),
        "for _ in range(n):",
        *some(draw.randrange(1, 4), "    "),
        f"    {swap}",
        *some(draw.randrange(2), "    "),
        *some(draw.randrange(3), ""),
        f"return s + {result}",
    ]


def checks(lines, backend):
    """Compare a program with the plain function and with dual numbers; return whether the language has it."""
    function = function_of("a: Matrix, n: int", lines, Matrix=Matrix)
    try:
        program = te.program(function, backend=backend)
    except ProgramError as error:
        assert "changed in place" in str(error) or "list" in str(error), error
        return False
    for n in (0, 1, 2, 5):
        a = np.abs(np.random.default_rng(n).normal(size=(4, 4))) + 0.1
        given = a.copy()
        for _ in range(2):
            value, back = ENGINE.vjp(program, given, n)
            gradient = back(1.0)[0]
            expected, plain = ENGINE.vjp(program.python, given, n)
            assert value == pytest.approx(function(a, n), rel=1e-13)
            assert expected == pytest.approx(value, rel=1e-13)
            np.testing.assert_allclose(gradient, plain(1.0)[0], rtol=1e-11, atol=1e-13)
        slope = ENGINE.jvp(program, (given, n), (np.ones_like(a), 0))[1]
        assert slope == pytest.approx(np.sum(gradient), rel=1e-12, abs=1e-13)
        np.testing.assert_array_equal(given, a)
    return True


VECTOR = (
    VECTORS,
    ("u = a[0].copy()", "v = a[1] * 1.0", "w = a[2].copy()", "s = 0.0", "kept = [0.5 * u]", "t = 2.0 * w"),
    "np.sum(u * u) + 2.0 * np.sum(v) + 3.0 * np.sum(w * v) + sum(np.sum(k) for k in kept) + t[0]",
)
MATRIX = (
    MATRICES,
    ("u = a.copy()", "v = np.zeros((4, 4))", "w = 0.5 * a", "s = 0.0", "t = 2.0 * a[0]"),
    "np.sum(u * u) + 2.0 * np.sum(v) + np.sum(w * v) + t[0]",
)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("chunk", range(3))
@pytest.mark.parametrize("kind", [VECTOR, MATRIX], ids=["vectors", "matrices"])
def test_random_programs(kind, chunk, backend):
    assert sum(checks(written(8 * chunk + k, *kind), backend) for k in range(8)) > 2


#: Steps that change an array, or a copy of it, while a variable that exchanges arrays has the other one.
COPIES = [
    ("u[k % 4] += 0.5 * v[3]", "v = u.copy()", "u, v = v, u", "v[0] += 0.5 * u[0]"),
    ("w[3] = 1.5 * u[3] + a[0, 3]", "u = w.copy()", "u[k % 4] = 1.5 * w[0] + a[0, k % 4]", "v, w = w, v"),
]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("steps", COPIES)
def test_a_copy_is_another_array(steps, backend):
    first = ["u = np.sin(a[0])", "v = a[0].copy()", "w = a[0].copy()", "for k in range(n):"]
    result = "return np.sum(u) + 2.0 * np.sum(v) + 3.0 * np.sum(w)"
    assert checks([*first, *(f"    {step}" for step in steps), result], backend)


@pytest.mark.parametrize("swap", ["u, v = v, u", "if v[0] > 0.1:\n    u, v = v, u", "u, v, w = v, w, u"])
def test_a_step_copies_arrays_once(swap):
    lines = [
        *("u = x.copy()", "v = 0.5 * x", "w = 2.0 * x", "for k in range(4):"),
        *("    for j in range(1, len(x)):", "        v[j] = 0.9 * v[j] + 0.2 * u[j - 1]"),
        *(f"    {line}" for line in swap.splitlines()),
        "return np.sum(u * v * w)",
    ]
    program = te.program(function_of("x: te.Vec", lines, te=te))
    small, large = counted(program, 20), counted(program, 420)
    assert large - small <= 400 * 4 * 60
