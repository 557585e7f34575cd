"""The classes and dtypes of results: those of the plain function, or a refusal."""

import dataclasses
import itertools
import math
import typing

import numpy as np
import pytest
from chad.written_functions import function_of, refused
from leaves import numbers

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.backends.tiers import is_installed
from tapeengine.chad.language.errors import ProgramError
from tapeengine.chad.program import Program
from tapeengine.errors import StructureError

ENGINE = tapeengine.Engine()
BACKENDS = (None, "machine", *(("native",) if is_installed() else ()))


def enlarged(xs, longer):
    if longer:
        xs = np.concatenate((np.zeros(2), xs))
    return xs


OUTSIDE = {"math": math, "enlarged": enlarged}
INTEGERS, BOOLS, FLOATS = np.array([[1], [2]]), np.array([[True], [False]]), np.array([[1.5], [2.5]])
JOINED = """
np.concatenate((a, b), axis=1)
np.concatenate((a, b))
np.hstack((a, b))
np.vstack((a, b))
np.stack((a, b))
np.stack((a, b), axis=1)
np.column_stack((a, b))
np.tile(a, 2)
np.append(a, b, axis=1)
np.flip(a)
np.transpose(a)
np.roll(a, 1, axis=0)
np.repeat(a, 2, axis=0)
""".strip().splitlines()
NUMBERS = """
math.fabs({})
math.pow({}, 2)
math.pow({}, 3)
math.sqrt(abs({}))
math.hypot({}, 2)
math.copysign({}, -1)
math.fmod({}, 2)
math.floor({})
np.fabs({})
np.float_power({}, 2)
np.abs({})
abs({})
pow({}, 2)
sum([{}, 1])
math.prod([{}, 2])
math.fsum([{}, 1])
""".strip().splitlines()
ROUNDED = """
round(n, -1)
round(n, -2)
round(n, k)
round(n, 1)
round(n * x, -1)
round(x, -1)
math.gcd(n, 4)
""".strip().splitlines()
LINALG = ("qr(a)", "slogdet(a)", "eigh(a + a.T)", "eig(a + a.T)", "svd(a)")
CHOICES = """
return x if c else c
return x if c else False
return n if c else c
y = x|if c:|    y = False|return y
if c:|    return x|return c
return xs if c else tuple(xs)
return tuple(xs) if c else list(xs)
return enlarged(xs, True), enlarged(xs, False)
return enlarged(xs, c)
return np.ones((2, 2))[tuple(map(lambda v: 1, (x, x)))]
return np.ones((2, 2))[tuple([n for _ in range(2)])]
return x if c else n
""".strip().splitlines()


def kind(value):
    """The class of a value, those of its parts, and the dtype of an array; a number of numpy's is one of Python's."""
    if isinstance(value, list | tuple):
        return type(value), [kind(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return type(value), getattr(value, "dtype", None)


def numbers_of(value):
    """The numbers of arrays, lists and tuples, as lists."""
    if isinstance(value, list | tuple):
        return list(map(numbers_of, value))
    return np.asarray(value).tolist()


def agrees(function, *primals, backend=None):
    """Compare the value of a program and its classes; tell whether it is taken."""
    program = te.program(function, backend=backend)
    try:
        value, _ = ENGINE.vjp(program, *primals)
    except (ProgramError, StructureError):
        return False
    expected = function(*primals)
    assert kind(value) == kind(expected)
    assert repr(numbers_of(value)) == repr(numbers_of(expected))
    return True


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # what runs without native code
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("text", JOINED)
def test_kinds_of_arrays_that_are_put_together(text, backend):
    function = function_of("a, b", [f"return {text}"])
    for a, b in ((INTEGERS, INTEGERS), (BOOLS, BOOLS), (FLOATS, INTEGERS)):
        assert agrees(function, a, b, backend=backend)


@pytest.mark.parametrize("text", NUMBERS)
def test_kinds_of_numbers(text):
    for argument, primal in itertools.product(("n", "n > 0", "-3", "n * 1.5"), (3, -3)):
        agrees(function_of("n", [f"return {text.format(argument)}"], **OUTSIDE), primal)
    assert agrees(function_of("n", [f"return {text.format('n')}"], **OUTSIDE), 3)


@pytest.mark.parametrize("text", ROUNDED)
def test_kinds_of_rounded_numbers(text):
    function = function_of("n, k, x", [f"return {text}"], **OUTSIDE)
    for n, k in itertools.product((0, 15, 25, -15, 2**60 + 50, 10**20 + 5), (-1, 2)):
        assert agrees(function, n, k, 1.75)


def test_integers_are_asked_for_where_python_takes_nothing_else():
    with pytest.raises((ProgramError, TypeError)):
        ENGINE.vjp(te.program(function_of("x", ["return math.gcd(x, 4) * x"], **OUTSIDE)), 6.0)


@pytest.mark.parametrize("call", LINALG)
def test_results_of_linear_algebra_are_of_numpys_classes(call):
    a = np.random.default_rng(1).normal(size=(3, 3)) + 3.0 * np.eye(3)
    fields = {"a": a, "np": np}
    lines = ["found = np.linalg." + call]
    plain = eval("np.linalg." + call, fields)
    if any(map(np.iscomplexobj, plain)):  # eig, from numpy 2.5 on; the language has no complex numbers
        with pytest.raises(ProgramError, match="complex128 has no type in the language"):
            refused(te.program(function_of("a", [*lines, "return found"])), a)
        return
    names = plain._fields
    numbers = [f"np.sum(abs(np.ones(3) * found.{name}) ** 2.5)" for name in names]
    shapes = ["return found", "return found, 1.0", "return " + ", ".join(f"found.{n}" for n in reversed(names))]
    for shape in (*shapes, f"{', '.join(names)} = found|return " + ", ".join(names)):
        assert agrees(function_of("a", [*lines, *shape.split("|")]), a)
    function, h = function_of("a", [*lines, f"return {' + '.join(numbers)}"]), 1e-6
    direction = np.random.default_rng(2).normal(size=(3, 3))
    slope = np.sum(ENGINE.vjp(te.program(function), a)[1](1.0)[0] * direction)
    assert slope == pytest.approx((function(a + h * direction) - function(a - h * direction)) / (2.0 * h), rel=1e-7)


@pytest.mark.parametrize("text", CHOICES)
def test_kinds_of_choices(text):
    function = function_of("c, n, x, xs", text.split("|"), **OUTSIDE)
    for c in (True, False):
        if "else n" not in text:  # where an integer and a float meet, the value is a float
            agrees(function, c, 1, 1.5, [1.0, 2.0])


ROWS = ((1.0, 2.0), (3.0, 4.0))
#: An argument of rows, of all kinds.
GIVEN = (np.array(ROWS), [np.array(row) for row in ROWS], list(ROWS), ROWS, list(map(list, ROWS)))
#: Other rows for it, and where it gets them.
ROW = ("(a + 1.0, b)", "[a + 1.0, b]", "np.array([a + 1.0, b])")
PLACES = (
    "if n:|    rows = {}",
    "for _ in range(n):|    rows = {}",
    "while n > 0:|    rows, n = {}, n - 1",
    "rows = {} if n else rows",
    "others = rows|if n:|    others = {}|rows = others",
)
PARTS = ("rows", "rows[0]", "(rows[:1], [row for row in rows])")


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("row", ROW)
def test_rows_of_the_program_s_own_in_place_of_an_argument(row, place):
    lines = place.format(f"[{row} for a, b in rows]").split("|")
    taken = [
        agrees(function_of("rows, n", [*lines, f"return {part}"], **OUTSIDE), rows, n)
        for part, rows, n in itertools.product(PARTS, GIVEN, (0, 1))
    ]
    assert all(taken)


@pytest.mark.parametrize(
    "part", ("b", "b[::-1]", "b[1:]", "[c for c in [b, b[::-1]]]", "b[:1] + b[1:]", "sorted(b, key=sum)")
)
def test_parts_of_a_list_of_rows_of_several_classes(part):
    rows = [[1.0, 2.0], (3.0, 4.0), np.array([0.5, 1.0])]
    function = function_of("b", [f"return {part}"])
    for each in itertools.permutations(rows):
        assert agrees(function, list(each))


@pytest.mark.parametrize("part", ("rows[0][::-1]", "rows[0][:1]", "rows[0][-2:]", "rows[0][1:] + rows[0][:1]"))
def test_slices_of_tuples_beside_arrays(part):
    function = function_of("b", ["rows = [(q[0], q[1]) for q in b]", f"return [b[1], {part}], {part}"])
    assert agrees(function, [np.array([1.0, 2.0]), np.array([3.0, 4.0])])


@dataclasses.dataclass
class Node:
    """A tree, whose functions call themselves."""

    v: float
    left: "Node | None" = None


def weight(t: "Node | None") -> float:
    """Add up a tree."""
    return 0.5 if t is None else t.v * weight(t.left)


RECURSIVE = (
    "[x * weight(a), x]",
    "(x, [x * weight(a), x])",
    "{'k': [weight(a)], 'n': Node(x)}",
    "[[x, weight(a)], [x, x]]",
    "np.array([weight(a), x])",
    "(weight(a), [n.v for n in [a, Node(x)]])",
)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("result", RECURSIVE)
def test_results_of_recursive_programs_have_pythons_classes_in_each_call(result, backend):
    f = function_of("x, a", [f"return {result}"], Node=Node, weight=weight)
    program, args = tapeengine.program(f, backend=backend), (2.0, Node(3.0, Node(0.5)))
    for _ in range(3):
        assert repr(ENGINE.vjp(program, *args)[0]) == repr(f(*args))
        assert repr(program.value(*args)) == repr(f(*args))
        assert repr(ENGINE.jvp(program, args, args)[0]) == repr(f(*args))


@pytest.mark.parametrize(
    ("result", "xs", "runs"),
    [
        ("sum(x / 2.0 for x in xs)", [1.0, 1.0], 0),
        ("sum(x / 2.0 for x in xs)", [1.0, -1.0], 1),
        ("math.prod([x * 2.0 for x in xs])", [0.0, 1.0], 0),
        ("math.prod([x * 2.0 for x in xs])", [0.5, 0.5], 1),
        ("(sum(x * 2.0 for x in xs), xs[0])", [0.5, 0.0], 0),
    ],
)
def test_the_plain_function_runs_only_where_a_sum_or_a_product_may_be_an_integer(monkeypatch, result, xs, runs):
    seen, plain = [], Program._as_python
    monkeypatch.setattr(Program, "_as_python", lambda program, *args: (seen.append(0), plain(program, *args))[1])
    f = function_of("xs", [f"return {result}"], math=math)
    program = tapeengine.program(f)
    for count in range(1, 4):
        assert repr(ENGINE.vjp(program, xs)[0]) == repr(f(xs))
        assert len(seen) == runs * count


ANNOTATED = {
    "tuple[float, ...]": ("(x, 2.0 * x)", "tuple([x, x])", "(x, x) if x > 1.0 else (x, 2.0 * x, x)", "(x,) + (x, x)"),
    "list[float]": ("(x, 2.0 * x)", "[x, x * x]"),
    "typing.Sequence[float]": ("(x, 2.0 * x)", "[x, x * x]", "np.array([x, x * x])"),
    "tuple[tuple[float, float], ...]": ("((x, 2.0), (x, x))",),
    "tuple[tuple[float, ...], ...]": ("((x, 2.0), (x, x))",),
    "tuple[list[float], ...]": ("([x, 2.0], [x, x])",),
    "list[tuple[float, ...]]": ("[(x, 2.0), (x, x)]", "((x, 2.0), (x, x))"),
}


@pytest.mark.parametrize("used", ["f(x)", "[f(x), f(x)]", "(f(x), x)", "f(x)[:1]"])
@pytest.mark.parametrize(("of", "result"), [(of, result) for of in ANNOTATED for result in ANNOTATED[of]])
def test_an_annotation_of_a_result_leaves_its_class(of, result, used):
    inner = function_of(f"x: float) -> ({of}", [f"return {result}"], typing=typing)
    outer = function_of("x", [f"return {used.replace('f(', 'inner(')}"], inner=inner)
    for f in (inner, outer):
        value, tangent = ENGINE.jvp(tapeengine.program(f), (1.5,), (1.0,))
        assert repr(value) == repr(f(1.5)) == repr(ENGINE.vjp(tapeengine.program(f), 1.5)[0])
        differences = np.subtract(numbers(f(1.5 + 1e-6)), numbers(f(1.5 - 1e-6)))
        np.testing.assert_allclose(numbers(tangent), differences / 2e-6, rtol=1e-8, atol=1e-8)
