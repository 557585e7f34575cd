"""What lies outside the language is refused where the program is defined; the edges of what lies inside."""

# ruff: noqa: F841

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import tapeengine
from tapeengine import chad as te
from tapeengine.chad.language.errors import ProgramError
from tapeengine.errors import CotangentError, StructureError, TapeEngineError, UnsupportedError

ENGINE = tapeengine.Engine()


def has_delete(x: float) -> float:
    if x < 0:
        del x
    return 1.0


def assigns_items(xs: te.Vec) -> te.Vec:
    ys = xs
    ys[0] = 1.0
    return xs


def adds_to_items(xs: te.Vec, i: int, x: float) -> te.Vec:
    ys = xs
    ys[i] += x * 2
    return xs


def subtracts_from_rows(m: te.Array[te.Vec], x: te.Vec) -> te.Array[te.Vec]:
    n = m
    n[1] -= x
    return m


def changes_fields(p: "Point") -> float:
    p.x = 1.0
    return p.x


def steps_by_a_variable(xs: te.Vec, k: int) -> te.Vec:
    return xs[::k]


def step_zero(xs: te.Vec) -> te.Vec:
    return xs[::0]


def repeats_lists(xs: te.Vec) -> te.Vec:
    return [x * 2 for x in xs] * 2.0


def adds_lists(xs: te.Vec) -> te.Vec:
    ys = np.abs(xs) if xs[0] > 0.0 else xs
    return ys + [1.0]  # noqa: RUF005


def maximum_by_pairs(xs: te.Vec) -> float:
    return max(xs, key=lambda x: [x, x])


def keeps_dimensions(m: te.Array[te.Vec], k: bool) -> float:
    return np.sum(m, axis=0, keepdims=k)


def strict_zip(xs: te.Vec, strict: bool) -> float:
    return sum(a * b for a, b in zip(xs, xs, strict=strict))


def unknown_argument(x: float) -> float:
    def f(y: float, z: float = 1.0) -> float:
        return y * z

    return f(x, w=2.0)


def argument_twice(x: float) -> float:
    def f(y: float, z: float = 1.0) -> float:
        return y * z

    return f(x, y=x)


def argument_missing(x: float) -> float:
    def f(y: float, z: float = 1.0) -> float:
        return y * z

    return f(z=x)


def default_of_another_type(x: float, y: te.Vec = 1.0) -> float:
    return x


def too_few(xs: te.Vec) -> te.Vec:
    return np.where(xs > 0, xs)


def too_few_for_a_loop(xs: te.Vec) -> float:
    return te.fold(lambda a, b: a + b)


def odd_type(x: complex) -> float:
    return 1.0


def type_without_items(x: "float | map[float]") -> float:
    return x


def result_without_items(x: float) -> "map[float]":
    return x


def type_that_a_module_lacks(x: "te.nothing") -> float:
    return x


def unknown_name_in_branch(x: float) -> float:
    if x > 0:
        y = x
    return y


def two_types(x: float) -> float:
    y = x if x > 0 else (x, x)
    return y


def wrong_result(x: float) -> te.Vec:
    return x * 2


def read_before_it_is_local(x: float, y: float) -> float:
    def f(z: float) -> float:
        a = y * z  # noqa: F823
        y = 2.0
        return a * y

    return f(x)


def kept_and_bound_again(x: float, y: float) -> float:
    def f(z: float) -> float:
        return y * z

    pair = (f, 1.0)
    y = y * 2.0
    return pair[0](x)


def returned_and_bound_again(x: float, y: float) -> float:
    def make(a: float) -> Callable[[float], float]:
        return lambda z: a * y * z

    g = make(x)
    if x > 1.0:
        y = 10.0
    return g(x)


def mutual(x: float, n: int) -> float:
    def even(m: int) -> float:
        return x if m == 0 else odd(m - 1)

    def odd(m: int) -> float:
        return 0.0 if m == 0 else even(m - 1)

    return even(n)


def two_names_for_one_array(x: float) -> float:
    a = [x, x]
    b = a
    b[0] = 2.0
    return a[0]


def changed_while_it_is_run_over(x: float) -> float:
    a = [x, x]
    for v in a:
        a.append(v)
    return a[0]


def changed_by_a_local_function(x: float) -> float:
    a = [x]

    def push(v: float) -> float:
        a.append(v)
        return v

    return a[0] + push(x)


def calls_unknown(x: float) -> float:
    return math.nextafter(x, 1.0)


def has_keywords(x: float) -> float:
    return math.sin(x=x)


def no_return(x: float) -> float:
    y = x


def prints(x: float) -> float:
    print(x)
    return x


def string(x: float) -> float:
    y = "text"
    return y * x


def formats(x: float) -> float:
    y = f"{x}"
    return x


def narrow_numbers(xs: te.Vec) -> te.Vec:
    return xs + np.zeros(len(xs), dtype=np.float32)


def changes_a_dict(x: float) -> float:
    d = {"a": x}
    e = d
    e["a"] = 2.0
    return d["a"]


def counts_sometimes(x: float) -> float:
    count = 0

    def add() -> int:
        nonlocal count
        count += 1
        return count

    return x if x > 0 and add() > 1 else 2.0 * x


def spreads_an_array(xs: te.Vec) -> float:
    return max(*xs)


def gives_a_function(x: float):
    return lambda y: y * x


def sees_the_last_one(xs: te.Vec) -> float:
    fs = [lambda y: y * x for x in xs]  # noqa: B023
    return fs[0](1.0)


def sees_the_last_one_of_a_loop(xs: te.Vec) -> float:
    fs = []
    for x in xs:
        fs.append(lambda y, z=1.0: y * x * z)  # noqa: B023
    return fs[0](1.0)


def fractions_in_whole_numbers(n: int, x: float):
    ys = np.zeros(n, dtype=int)
    ys[0] = x
    return ys * x


def whole_numbers_become_fractions(n: int, x: float):
    ys = np.arange(n)
    ys += x
    return ys


def binds_in_a_test(xs: te.Vec) -> float:
    return y if any((y := x) > 0 for x in xs) else 0.0


def needs_a_result_type(x: float):
    return needs_a_result_type(x * 2)


REFUSED = {
    has_delete: ("delete is not in the language", "leave"),
    assigns_items: ("cannot be changed in place", "te.scatter"),
    adds_to_items: ("cannot be changed in place", "ys = te.scatter(ys, [i], [x * 2])"),
    subtracts_from_rows: ("cannot be changed in place", "n = te.scatter(n, [1], [-x])"),
    changes_fields: ("cannot be changed in place", "a new p"),
    steps_by_a_variable: ("number written out", "range"),
    step_zero: ("not 0", "range"),
    repeats_lists: ("an operation on lists", "np.array"),
    adds_lists: ("ambiguous", "np.concatenate"),
    maximum_by_pairs: ("an order of Array[float]", "numbers"),
    keeps_dimensions: ("keepdims is True or False", "keepdims=True"),
    strict_zip: ("strict=True or strict=False", "strict=True"),
    unknown_argument: ("w is not one", "y, z"),
    argument_twice: ("y is given twice", "y, z"),
    argument_missing: ("y is missing", "match"),
    default_of_another_type: ("of type float where Array[float] is wanted", "give"),
    too_few: ("too few arguments", "parameters"),
    too_few_for_a_loop: ("too few arguments", "parameters"),
    odd_type: ("outside the language", "float"),
    type_without_items: ("x has a type outside the language", "'map' is not subscriptable"),
    result_without_items: ("the result has a type outside the language", "'map' is not subscriptable"),
    type_that_a_module_lacks: ("x has a type outside the language", "no attribute 'nothing'"),
    unknown_name_in_branch: ("no value on every path", "before"),
    two_types: ("float in one case", "one type"),
    wrong_result: ("of type float where Array[float] is wanted", "give"),
    read_before_it_is_local: ("y has no value on every path", "before"),
    kept_and_bound_again: ("captured y, which has been given another value", "as an argument"),
    returned_and_bound_again: ("g has captured y", "pass y as an argument"),
    mutual: ("calls itself through another local function", "te.program"),
    two_names_for_one_array: ("a is the same array", "te.scatter"),
    changed_while_it_is_run_over: ("the loop around runs over it", "start with a copy"),
    changed_by_a_local_function: (
        "push changes a variable, and is not always called here, or after a use",
        "statement",
    ),
    calls_unknown: ("nextafter is not a function", "te.program"),
    has_keywords: ("by name", "position"),
    no_return: ("not every path", "return"),
    prints: ("the value of this call is not used", "assign or return"),
    string: ("arithmetic on 'text'", "numbers"),
    gives_a_function: ("as a result", "outside"),
    sees_the_last_one: ("these functions capture x", "x=x"),
    sees_the_last_one_of_a_loop: ("another function after each step", "captures"),
    fractions_in_whole_numbers: ("float in an array of int", "dtype=float"),
    whole_numbers_become_fractions: ("float in an array of int", "dtype=float"),
    binds_in_a_test: ("not always computed", "before"),
    formats: ("a text that is known only in a run", "texts and constants"),
    narrow_numbers: ("a dtype other than", "dtype=float"),
    changes_a_dict: ("d is the same array", "e = {**e, 'a': ...}"),
    counts_sometimes: ("add changes a variable", "a statement of its own"),
    spreads_an_array: ("* of Array[float]", "a tuple"),
    needs_a_result_type: ("type of its result", "->"),
}


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_refused_with_place_and_advice(function):
    message, advice = REFUSED[function]
    with pytest.raises(ProgramError) as caught:
        te.program(function)
    text = str(caught.value)
    first = function.__code__.co_firstlineno
    assert message in text and advice in caught.value.advice
    assert f'File "{__file__}", line ' in text
    assert first <= caught.value.lineno <= first + 8
    lines = text.splitlines()
    caret = next(i for i, line in enumerate(lines) if line.strip() == "^")
    source = lines[caret - 1]
    assert len(lines[caret]) <= len(source) and source[len(lines[caret]) - 1] != " "
    assert isinstance(caught.value, TapeEngineError)


def test_a_statement_is_pointed_at():
    with pytest.raises(ProgramError) as caught:
        te.program(has_delete)
    lines = str(caught.value).splitlines()
    assert lines[2].strip() == "del x" and lines[3].index("^") == lines[2].index("del")
    assert caught.value.lineno == has_delete.__code__.co_firstlineno + 2


def test_defaults_may_be_left_out():
    @te.program
    def cubic(x: float, a: float = 3.0, n: int = 2) -> float:
        return a * x**3 + n

    assert cubic(2.0, n=1) == 25.0
    value, back = ENGINE.vjp(cubic, 2.0)
    assert (value, back(1.0)) == (26.0, (36.0,))
    value, back = ENGINE.vjp(cubic, 2.0, 1.0)
    assert (value, back(1.0)) == (10.0, (12.0, 8.0))
    assert ENGINE.jvp(cubic, (2.0,), (1.0,)) == (26.0, 36.0)


@te.program
def takes_function(f: Callable[[float], float], x: float) -> float:
    return f(x)


def test_a_program_of_functions_is_differentiated_only_as_a_part():
    with pytest.raises(UnsupportedError, match="whole programs"):
        ENGINE.vjp(takes_function, math.sin, 1.0)


@te.program
def mean_square(xs: te.Vec) -> float:
    return sum(x * x for x in xs) / max(len(xs), 1)


@te.program
def second(xs: te.Vec) -> float:
    return xs[1] * xs[-1]


@te.program
def loop(x: float, n: int) -> float:
    y = x
    for i in range(n):
        y = y * x + i
    return y


@te.program
def rows(xs: te.Array[te.Vec]) -> te.Array[te.Vec]:
    return [[x * 2 for x in row] for row in xs]


def test_empty_arrays_and_loops_without_steps():
    value, back = ENGINE.vjp(mean_square, np.zeros(0))
    assert value == 0 and back(1.0)[0].shape == (0,)
    value, back = ENGINE.vjp(loop, 1.5, 0)
    assert (value, back(2.0)) == (1.5, (2.0, None))
    value, back = ENGINE.vjp(rows, np.zeros((0, 3)))
    assert back([])[0].shape == (0, 3)
    value, back = ENGINE.vjp(rows, np.ones((2, 0)))
    assert back(np.zeros((2, 0)))[0].shape == (2, 0)


def test_out_of_range_raises_as_python():
    for xs in (np.ones(1), np.zeros(0)):
        with pytest.raises(IndexError):
            second(xs)
        with pytest.raises(IndexError):
            ENGINE.vjp(second, xs)
    value, back = ENGINE.vjp(second, np.array([1.0, 2.0, 3.0]))
    assert value == 6 and back(1.0)[0].tolist() == [0, 3, 2]


def test_lists_come_back_as_lists():
    _, back = ENGINE.vjp(mean_square, [1.0, 2.0])
    assert back(1.0) == ([1.0, 2.0],)


@pytest.mark.parametrize("bad", [np.zeros(3), "text", (1.0,)])
def test_cotangents_that_do_not_fit_are_refused(bad):
    _, back = ENGINE.vjp(mean_square, np.ones(3))
    with pytest.raises(CotangentError, match="value"):
        back(bad)


@pytest.mark.parametrize("bad", [1.0, "text", np.ones((2, 2)), np.ones(2) * 1j, [[1.0]]])
def test_arguments_of_the_wrong_type_are_refused(bad):
    with pytest.raises(StructureError, match="argument xs"):
        ENGINE.vjp(mean_square, bad)


def test_the_number_of_arguments_is_checked():
    with pytest.raises(TypeError, match="takes 1 positional argument but 2 were given"):
        ENGINE.vjp(mean_square, np.ones(2), 1.0)


def test_a_backpropagator_may_be_called_again():
    _, back = ENGINE.vjp(loop, 1.5, 3)
    once = back(1.0)[0]
    assert back(2.0)[0] == 2 * once and back(1.0)[0] == once


def test_arguments_are_not_changed():
    xs = np.ones(3)
    _, back = ENGINE.vjp(mean_square, xs)
    got = back(1.0)[0]
    got[:] = 7
    assert xs.tolist() == [1, 1, 1] and back(1.0)[0].tolist() == pytest.approx([2 / 3] * 3)


@dataclass(frozen=True)
class Point:
    x: float
    tag: int
    y: float


@te.program
def norm(p: Point) -> Point:
    r = math.sqrt(p.x**2 + p.y**2)
    return Point(p.x / r, p.tag + 1, y=p.y / r)


def test_cotangents_of_dataclasses_are_dataclasses():
    value, back = ENGINE.vjp(norm, Point(3.0, 1, 4.0))
    assert value == Point(0.6, 2, 0.8)
    (d,) = back(Point(1.0, None, 0.0))
    assert d.tag is None and d.x == pytest.approx(16 / 125) and d.y == pytest.approx(-12 / 125)


@te.program
def later(x: float) -> float:
    return defined_below(x) * 2


@te.program
def defined_below(x: float) -> float:
    return x * x


def test_programs_may_use_programs_defined_below():
    assert ENGINE.vjp(later, 3.0)[1](1.0) == (12.0,)


def test_names_that_are_never_defined_are_named():
    @te.program
    def lost(x: float) -> float:
        return nowhere_to_be_found(x)  # noqa: F821

    with pytest.raises(UnsupportedError, match="nowhere_to_be_found"):
        ENGINE.vjp(lost, 1.0)
    with pytest.raises(UnsupportedError, match="nowhere_to_be_found"):
        ENGINE.jvp(lost, (1.0,), (1.0,))


def test_deep_recursion():
    @te.program
    def power(x: float, n: int) -> float:
        return 1.0 if n == 0 else x * power(x, n - 1)

    assert ENGINE.vjp(power, 1.0, 2000)[1](1.0)[0] == 2000


@te.program
def solves(a: te.Array[te.Vec], b: te.Vec) -> float:
    x = np.linalg.solve(a, b)
    _, logdet = np.linalg.slogdet(a)
    return np.linalg.det(a) + sum(v * v for v in x) * logdet


def test_registry_primitives():
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(3, 3)), rng.normal(size=3)
    value, back = ENGINE.vjp(solves, a, b)
    dual_value, dual = ENGINE.vjp(solves.python, a, b)
    assert value == pytest.approx(dual_value, rel=1e-13)
    for mine, theirs in zip(back(1.0), dual(1.0), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)
    t = (rng.normal(size=(3, 3)), rng.normal(size=3))
    _, tangent = solves.__tapeengine_jvp__(ENGINE, (a, b), t)
    assert tangent == pytest.approx(sum(np.sum(x * y) for x, y in zip(back(1.0), t, strict=True)), rel=1e-11)


def test_primitives_of_plugins():
    special = pytest.importorskip("scipy.special")
    pytest.importorskip("tapeengine_scipy")

    @te.program
    def quantile(x: float, ys: te.Vec) -> float:
        return special.erfinv(x) * sum(special.j1(ys))

    args = (0.4, np.array([0.5, 1.5]))
    value, back = ENGINE.vjp(quantile, *args)
    dual_value, dual = ENGINE.vjp(quantile.python, *args)
    assert value == pytest.approx(dual_value, rel=1e-13)
    for mine, theirs in zip(back(1.0), dual(1.0), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
