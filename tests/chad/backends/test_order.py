"""Programs without products give the bits of plain Python by default, with loops and with operations of numpy."""

import math
import random

import numpy as np
import pytest
from chad.written_functions import defined
from plain_sums import in_order

import tapeengine as te
from tapeengine.chad.backends import tiers
from tapeengine.chad.run import execute

pytestmark = pytest.mark.skipif(not tiers.is_installed(), reason="native code needs llvmlite")

Matrix = te.Array[te.Vec]
MANY = 300
HEAD = "import math\nimport numpy as np\nimport tapeengine as te\nMatrix = te.Array[te.Vec]\n"
SIGNATURE = "(x: te.Vec, a: Matrix, w: te.Vec) -> float:\n"
LOOPS = (
    "    return sum({0} for i in range(len(x)))\n",
    "    return sum(sum({1} for j in range(len(w))) * {0} for i in range(len(x)))\n",
    "    total = {2}\n    for i in range(len(x)):\n        total = total + {0}\n    return total\n",
    "    y = [{0} for i in range(len(x))]\n"
    "    return sum(y[i] * max({1} for j in range(len(w))) for i in range(len(y)))\n",
    "    total = 0.0\n    for i in range(len(x)):\n        for j in range(len(w)):\n            total += {1}\n"
    "    return total * {2}\n",
    "    y = [sum({1} for j in range(len(w))) for i in range(len(x))]\n"
    "    return math.log(sum(math.exp(0.01 * v) for v in y)) + sum({0} for i in range(len(y)))\n",
)


def expression(draw, names, depth):
    """Write an expression of numbers of a size near one."""
    if depth == 0 or draw.random() < 0.2:
        return draw.choice([*names, f"{draw.uniform(-2, 2):.3f}"])
    a, b = (expression(draw, names, depth - 1) for _ in range(2))
    return draw.choice(
        [
            f"({a} + {b})",
            f"({a} - {b})",
            f"{a} * {b}",
            f"{a} / (2.0 + {b} * {b})",
            f"math.sin({a})",
            f"math.tanh({a})",
            f"math.exp(-{a} * {a})",
            f"math.sqrt(1.0 + {a} * {a})",
            f"({a} if {b} > 0.1 else {b})",
        ]
    )


def arguments(size=MANY):
    """Return a vector, rows and weights."""
    draws = np.random.default_rng(5)
    return draws.standard_normal(size), draws.standard_normal((size, 7)), draws.standard_normal(7)


def bits(value, cotangents):
    """Return the bits of a value and of cotangents."""
    return np.float64(value).tobytes(), [np.asarray(c).tobytes() for c in cotangents]


@pytest.mark.parametrize("template", range(len(LOOPS)))
def test_a_program_of_loops_gives_the_bits_of_python_and_of_native_code(template):
    draw = random.Random(template)
    given = [expression(draw, names, 3) for names in (["x[i]", "a[i][0]"], ["a[i][j]", "w[j]", "x[i]"], ["w[0]"])]
    function = defined(f"{HEAD}def program{SIGNATURE}{LOOPS[template].format(*given)}", "program")
    program, native = te.program(function), te.program(function, backend="native")
    args = arguments()
    found = []
    for each in (program, native, program):
        value, back = te.vjp(each, *args)
        found.append(bits(value, back(1.0)))
    assert found[0] == found[1] == found[2]
    assert found[0][0] == np.float64(in_order(function, *args)).tobytes()


def of_loops(x: te.Vec, w: te.Vec) -> float:
    return sum(sum(w[j] * x[i] for j in range(len(w))) ** 2 for i in range(len(x)))


def of_numpy(x: te.Vec, w: te.Vec) -> float:
    return np.sum(np.exp(x)) * sum(v * v for v in w)


def of_operators(x: te.Vec, w: te.Vec) -> float:
    return sum(x * x) + sum(w)


def of_methods(x: te.Vec, w: te.Vec) -> float:
    return x.mean() * sum(w[j] for j in range(len(w)))


def of_matrices(a: Matrix, b: Matrix) -> float:
    made = [[sum(a[i][k] * b[k][j] for k in range(len(b))) for j in range(len(b[0]))] for i in range(len(a))]
    return sum(sum(v * v for v in row) for row in made)


inner = te.program(of_numpy)


def of_inner(x: te.Vec, w: te.Vec) -> float:
    return 2.0 * inner(x, w) + sum(v for v in x)


@pytest.mark.parametrize("function", [of_numpy, of_operators, of_methods, of_inner])
def test_native_code_has_the_order_of_numpy_and_of_python_where_they_are_mixed(function):
    program = te.program(function)
    args = arguments()[0], arguments()[2]
    value, _ = te.vjp(program, *args)
    assert program.executable.is_whole and program.ways.native is not None
    assert value == in_order(function, *args)


def test_products_of_matrices_stay_with_blas():
    program = te.program(of_matrices)
    te.vjp(program, arguments()[1], arguments(7)[1])
    assert program.executable.is_whole and program.executable.whole.made.matrix_products
    assert program.executable.entry is None


def test_few_numbers_and_many_have_one_code():
    program = te.program(of_loops)
    few, many = (arguments(size)[0] for size in (20, MANY))
    w = arguments()[2]
    first = te.vjp(program, few, w)
    found = program.ways.native
    assert te.vjp(program, many, w)[0] == of_loops(many, w)
    assert program.ways.native is found is not None
    again = te.vjp(program, few, w)
    assert bits(first[0], first[1](1.0)) == bits(again[0], again[1](1.0))


def test_without_native_code_numpy_runs_many_numbers(monkeypatch):
    monkeypatch.setattr(execute, "is_installed", lambda: False)
    program = te.program(of_loops)
    x, _, w = arguments()
    value, _ = te.vjp(program, x, w)
    assert program.ways.native is None and math.isclose(value, of_loops(x, w), rel_tol=1e-13)
