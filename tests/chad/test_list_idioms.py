"""Lists as Python's users change them: copies by slices, joined lists, stacks, sorting, rows that are swapped."""

import copy
import math
import random

import numpy as np
import pytest
from chad.written_functions import defined, function_of
from outcomes import outcome

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError
from tapeengine.errors import StructureError

VECTOR = [1.25, -0.5, 3.0, 0.75]
MATRIX = [[4.0, 2.0, 1.0], [1.0, 3.0, 0.5], [0.25, 1.0, 5.0]]

#: Statements that give a list from a list {a}, that change a list {a} which is the program's own, and that read one.
MAKING = [
    "{a} = {b}[:]",
    "{a} = {b}[1:] + [{x}]",
    "{a} = [{x}] + {b}[:-1]",
    "{a} = [*{b}, {x}]",
    "{a} = {b}[::-1]",
    "{a} = list({b}) + [{x}, {x} * 2.0]",
    "{a} = sorted({b}, key=lambda v: abs(v - 0.3))",
    "{a} = [v * {x} for v in {b}]",
    "{a} = [p[0] * p[1] for p in sorted(zip({b}, x), key=lambda p: p[1])]",
]
CHANGING = [
    "{a}[0] = {x}",
    "{a}.append({x})",
    "{a}.sort()",
    "{a}.sort(key=lambda v: v * v, reverse=True)",
    "{a}.reverse()",
    "{a}[0], {a}[-1] = {a}[-1], {a}[0]",
    "if len({a}) > 2:\n        total += {a}.pop()",
    "if len({a}) > 2:\n        del {a}[1]",
    "while len({a}) > 3:\n        total = 0.5 * total + {a}.pop()",
    "if {a}:\n        total += {a}[-1] ** 2",
    "total += 0.0 if not {a} else {a}[0] * {x}",
]
ROWS = [
    "m[{i}] = [v * {x} for v in m[{j}]]",
    "m[{i}] = [u - {x} * v for u, v in zip(m[{i}], m[{j}])]",
    "m[{i}], m[{j}] = m[{j}], m[{i}]",
    "m[0], m[1], m[2] = m[{i}], m[{j}], m[{k}]",
    "m[{i}] = [{x}] + x[2:]",
    "m[{i}][{j}] *= {x}",
    "m[{i}][{j}] = m[{j}][{i}] + {x}",
    "for k in range(3):\n        m[k][{j}] -= {x} * m[{i}][k]",
    "total += sum(m[{i}]) * m[{j}][-1]",
]
FRESH = ["[row[:] for row in z]", "[list(row) for row in z]", "[[v for v in row] for row in z]", "[r + [] for r in z]"]


def vectors(seed):
    """A program on lists of numbers."""
    draw = random.Random(seed)
    body, names = ["a = x[:]", "b = x[1:] + [2.5]"], ["a", "b"]
    for _ in range(draw.randint(3, 8)):
        a = draw.choice(names)
        b = draw.choice([n for n in names if n != a])
        value = draw.choice(["x[1]", "0.25", f"{b}[0]", f"len({a}) * 0.5", "math.sin(x[2])"])
        form = draw.choice(CHANGING if draw.random() < 0.65 else MAKING)
        body.append(form.format(a=a, b=b, x=value))
    return ["total = 0.0", *body, "return total + sum(a) - 2.0 * sum(v * v for v in b) + x[0]"]


def matrices(seed):
    """A program on the rows of a matrix."""
    draw = random.Random(seed)
    body = [f"m = {draw.choice(FRESH)}", "m[0][0] += x[0]"]
    for _ in range(draw.randint(2, 6)):
        i, j, k = draw.sample(range(3), 3)
        value = draw.choice(["x[1]", "0.25", f"m[{j}][{i - 3}]", "math.cos(x[2])"])
        row = draw.choice(ROWS)
        body.append(row.format(i=i if "m[0]" in row else draw.choice([i, i - 3]), j=j, k=k, x=value))
    return [
        "total = 0.0",
        *body,
        "return total + sum(m[i][j] * (1.0 + i + 2.0 * j) for i in range(3) for j in range(3))",
    ]


def made(lines, name):
    """The function of some lines."""
    text = f"def {name}(x: list[float], z: list[list[float]]) -> float:\n    " + "\n    ".join(lines) + "\n"
    return defined(text, name, math=math), text


def by_differences(f, x, z, step=1e-6):
    """The gradient in x by central differences."""
    found = []
    for i in range(len(x)):
        up, down = list(x), list(x)
        up[i], down[i] = x[i] + step, x[i] - step
        found.append((f(up, copy.deepcopy(z)) - f(down, copy.deepcopy(z))) / (2 * step))
    return found


@pytest.mark.parametrize("seed", range(120))
@pytest.mark.parametrize("kind", [vectors, matrices])
def test_a_program_on_lists_is_pythons(kind, seed):
    f, text = made(kind(seed), f"{kind.__name__}_{seed}")
    x, z = list(VECTOR), copy.deepcopy(MATRIX)
    try:
        expected = f(list(x), copy.deepcopy(z))
    except IndexError as error:
        with pytest.raises(IndexError, match=str(error)):
            te.vjp(te.program(f), x, z)
        return
    value, backpropagator = te.vjp(te.program(f), x, z)
    np.testing.assert_allclose(value, expected, rtol=1e-13, err_msg=text)
    assert type(value) is type(expected), text
    assert (x, z) == (VECTOR, MATRIX), text
    np.testing.assert_allclose(backpropagator(1.0)[0], by_differences(f, x, z), rtol=1e-6, atol=1e-6, err_msg=text)


@pytest.mark.parametrize("seed", range(0, 120, 4))
@pytest.mark.parametrize("kind", [vectors, matrices])
def test_arrays_in_the_place_of_lists_are_refused_or_pythons(kind, seed):
    f, text = made(kind(seed), f"{kind.__name__}_of_arrays_{seed}")
    try:
        value = te.vjp(te.program(f), np.array(VECTOR), np.array(MATRIX))[0]
    except StructureError:
        return
    except IndexError:
        with pytest.raises(IndexError):
            f(np.array(VECTOR), np.array(MATRIX))
        return
    assert value == f(np.array(VECTOR), np.array(MATRIX)), text


def test_what_is_refused_says_which_argument_is_to_be_a_list():
    f, _ = made(["y = x[1:] + [1.0]", "return sum(y)"], "joined")
    with pytest.raises(StructureError, match=r"x is no list, and line 2 uses it as one: give it as a list"):
        te.vjp(te.program(f), np.array(VECTOR), MATRIX)


def test_rows_of_other_sizes_run_as_python_does():
    f, _ = made(["m = [list(r) for r in z]", "m[0][0] = 2.0", "m[1] = [x[0]]", "return m[0][0] * m[1][-1]"], "uneven")
    value, backpropagator = te.vjp(te.program(f), VECTOR, MATRIX)
    assert (value, backpropagator(1.0)[0]) == (2.5, [2.0, 0.0, 0.0, 0.0])


def test_an_empty_list_is_one_of_anything():
    @te.program
    def widened(z: list[list[float]], s: float) -> float:
        return s + sum(sum(row + [1.0]) for row in z)  # noqa: RUF005

    assert te.vjp(widened, [], 2.0)[0] == 2.0
    assert te.vjp(widened, [[3.0]], 2.0)[0] == 6.0


def test_a_called_program_wants_lists_of_its_caller():
    @te.program
    def joined(y: list[float]) -> float:
        z = y + [2.0]  # noqa: RUF005
        return z[-1] * z[0]

    @te.program
    def caller(x: list[float]) -> float:
        return joined(x) + joined([x[0]])

    assert te.vjp(caller, [3.0, 1.0])[0] == 12.0
    with pytest.raises(StructureError, match="x is no list"):
        te.vjp(caller, np.array([3.0, 1.0]))
    with pytest.raises(StructureError, match="is no list"):
        te.jvp(caller, (np.array([3.0, 1.0]),), (np.ones(2),))


def test_what_may_be_an_array_on_one_path_is_not_taken_for_a_list():
    f, _ = made(["y = x", "if x[0] > 1.0:\n        y = np.sin(x)", "return sum(y + [1.0])"], "on_a_path")
    f.__globals__["np"] = np
    with pytest.raises(ProgramError, match=r"\+ of a list written out is ambiguous"):
        te.program(f)


def test_a_called_program_does_not_take_an_array_of_its_callers_for_a_list():
    f, _ = made(["return g(np.sin(x), z) + g([y for y in x], z)"], "calling")
    g, _ = made(["return sum(x + [1.0])"], "called")
    g.__globals__["np"] = f.__globals__["np"] = np
    f.__globals__["g"] = te.program(g)
    with pytest.raises(StructureError, match="an operand is no list, and line 2 uses it as one"):
        te.vjp(te.program(f), VECTOR, MATRIX)


def eliminated(a: list[list[float]], b: list[float]) -> list[float]:
    """The solution of linear equations, by Gaussian elimination with pivots as it is written in Python."""
    n = len(b)
    m = [row[:] + [y] for row, y in zip(a, b)]  # noqa: RUF005
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        m[i], m[p] = m[p], m[i]
        m[i] = [v / m[i][i] for v in m[i]]
        for j in range(i + 1, n):
            f = m[j][i]
            for k in range(i, n + 1):
                m[j][k] -= f * m[i][k]
    x = b[:]
    for i in range(n - 1, -1, -1):
        x[i] = m[i][n] - sum(m[i][k] * x[k] for k in range(i + 1, n))
    return x


@pytest.mark.parametrize("backend", [None, "machine", "native"])
def test_elimination_with_pivots_is_solve(backend):
    draw = np.random.default_rng(3)
    for n in (1, 2, 5, 9):
        a, b, w = draw.normal(size=(n, n)), draw.normal(size=n), draw.normal(size=n)
        value, backpropagator = te.vjp(te.program(eliminated, backend=backend), a.tolist(), b.tolist())
        solution, adjoint = np.linalg.solve(a, b), np.linalg.solve(a.T, w)
        np.testing.assert_allclose(value, solution, rtol=1e-9, atol=1e-9)
        of_matrix, of_vector = backpropagator(w.tolist())
        np.testing.assert_allclose(of_vector, adjoint, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(of_matrix, -np.outer(adjoint, solution), rtol=1e-9, atol=1e-9)


def test_what_local_functions_return_says_nothing_about_the_function_around():
    def around(x: list[float]) -> list[float]:
        a = [2.0 * v for v in x]

        def doubled(v: float) -> float:
            return 2.0 * v

        a[0] = doubled(a[1])
        return a

    assert te.vjp(te.program(around), list(VECTOR))[0] == around(list(VECTOR))


@pytest.mark.parametrize("backend", [None, "machine", "native"])
@pytest.mark.parametrize("tangents", [([1.0, 2.0, 3.0], 0.5), ([1, 2, 3], 1)])
def test_second_derivatives_of_called_programs_that_return_lists(tangents, backend):
    def mirrored(y: list[float]) -> tuple[list[float], float]:
        z = y[::-1]
        z[0] = z[0] * 2.0
        return z, z[-1]

    called = te.program(mirrored, backend=backend)

    def outer(x: list[float], w: float) -> float:
        mirror, last = called([t * t * w for t in x])
        return mirror[1] * last * last

    def plain(x, w):
        mirror, last = mirrored([t * t * w for t in x])
        return mirror[1] * last * last

    def along(f):
        return te.jvp(lambda x, w: te.vjp(f, x, w)[1](1.0), ([1.25, -0.5, 0.9], 0.65), tangents)[1]

    found, expected = along(te.program(outer, backend=backend)), along(plain)
    np.testing.assert_allclose([*found[0], found[1]], [*expected[0], expected[1]], rtol=1e-12)


@pytest.mark.parametrize("backend", [None, "native"])
@pytest.mark.parametrize("w", [0.05, 0.65, 2.0])
def test_what_one_branch_computes_of_an_array_another_does_not_have(w, backend):
    def chosen(x: list[float], w: float, n: int) -> list[float]:
        a = [t * w for t in x]
        k = sorted(x, key=lambda t: -t)
        if w > 0.1:  # noqa: SIM102
            if n > 1:
                a = a[::-1]
        if a[2] > 0.5:
            k.reverse()
        return [u * v for u, v in zip(a, k)]

    x = [1.25, -0.5, 0.9, 0.35]
    for n in (1, 2):
        value, backpropagator = te.vjp(te.program(chosen, backend=backend), x, w, n)
        np.testing.assert_allclose(value, chosen(x, w, n), rtol=1e-13)
        by_duals = te.vjp(chosen, x, w, n)[1]([1.0] * len(x))
        np.testing.assert_allclose(backpropagator([1.0] * len(x))[0], by_duals[0], rtol=1e-12)


#: Lists of rows, what replaces, exchanges and changes rows of them, and what a program gives of them.
TABLES = [
    *("[[x, 1.0], [2.0, x * x], [y, 0.5]]", "[[0.0] * 2 for _ in range(3)]", "[[1, 2], [3, 4], [5, 6]]"),
    *("[[x], [y], [2.0]]", "[row[:] for row in z]", "np.zeros((3, 2))"),
]
OF_TABLES = [
    *("m[0][0] = x", "m[k][0] += y", "m[1] = [x, y]", "m[1] = [1, 2]", "m[2] = [True, False]", "m[2] = [x]"),
    *("m[2] = [x, y, x]", "m[5] = [x, x]", "m[-1] = [y, y]", "m[1] = [x] * 2", "m[1] = m[0][:]", "m[0] = m[1]"),
    *("m[k] = [v * 2.0 for v in m[k]]", "m[1] = [m[0][0], m[2][0]]", "r = [x, y]\n    m[1] = r\n    r[0] = 7.0"),
    *("m[0], m[k] = m[k], m[0]", "m[-1], m[0] = m[0], m[-1]", "m[0], m[1], m[2] = m[2], m[0], m[1]"),
]
GIVEN = ["return m", "return m[0][0] * m[1][0] + m[2][0]", "return sum(m[k])"]


@pytest.mark.parametrize("seed", range(12))
def test_rows_that_are_replaced_and_exchanged_give_what_they_give_in_python(seed):
    draw = random.Random(seed)
    for _ in range(6):
        lines = [f"m = {draw.choice(TABLES)}", *draw.sample(OF_TABLES, draw.randint(2, 4)), draw.choice(GIVEN)]
        f, args = function_of("x, y, k, z", lines), (1.5, -0.5, draw.randrange(3), [[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
        wanted, found = outcome(lambda: f(*args)), outcome(lambda: te.vjp(te.program(f), *args)[0])  # noqa: B023
        found, wanted = (x.item() if isinstance(x, np.generic) else x for x in (found, wanted))
        assert repr(found) == repr(wanted), lines
