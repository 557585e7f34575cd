"""Arguments that an annotation, or the call, says are lists are joined, repeated and changed as in Python."""

import itertools
import random

import numpy as np
import pytest
from chad.written_functions import function_of, refused

import tapeengine as te
from tapeengine.errors import StructureError, TapeEngineError

HEADS = {
    "elements": "xs: list[float], ys: list[float], rows: list[list[float]], pair: tuple[list[float], int], n: int",
    "lists": "xs: list, ys: list, rows: list, pair: tuple, n: int",
    "none": "xs, ys, rows, pair, n",
}
#: Parts of arguments that are lists.
PARTS = ("xs", "ys", "xs[1:]", "rows[0]", "rows[-1][:2]", "pair[0]", "sorted(ys)", "[2.0 * v for v in xs]")
COUNTS = ("2", "n", "len(ys)", "(n + 1)", "pair[1]")
STEPS = ("::2", "1::2", "::3", "1:4:2", "n::2")
XS, YS, ROWS, PAIR, N = [0.5, 1.5, -0.7], [1.1, 0.3], [[0.2, 0.4], [1.3, -1.2, 0.9]], ([0.8, 0.6], 2), 1


def joined(draw, depth=2):
    """An expression that gives a list."""
    form = draw.choice(["{} + {}", "{} * {n}", "{n} * {}", "({} + {})[{n}:]"])
    inner = [draw.choice(PARTS) if depth == 0 or draw.random() < 0.4 else f"({joined(draw, depth - 1)})" for _ in "ab"]
    return form.format(*inner, n=draw.choice(COUNTS))


def weighted(values):
    """A number to which each element of a list contributes in its own way."""
    return sum((k + 1.0) * v * v for k, v in enumerate(values))


def differences(f):
    """The slopes of a quadratic function of XS and YS by differences, which are exact up to rounding."""

    def moved(which, k, h):
        both = [list(XS), list(YS)]
        both[which][k] += h
        return weighted(f(*both, ROWS, PAIR, N))

    return [[moved(w, k, 0.5) - moved(w, k, -0.5) for k in range(len(x))] for w, x in enumerate((XS, YS))]


def compare(f):
    program = te.program(f)
    given = list(XS), list(YS), ROWS, PAIR, N
    value, back = te.vjp(program, *given)
    assert value == f(*given)
    assert type(value) is list
    cotangent = [2.0 * (k + 1.0) * v for k, v in enumerate(value)]
    for found, wanted in zip(back(cotangent), differences(f), strict=False):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("head", HEADS)
def test_sums_and_products_of_lists(head, seed):
    compare(function_of(HEADS[head], [f"return {joined(random.Random(seed))}"]))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("head", HEADS)
def test_elements_in_steps(head, seed):
    draw = random.Random(seed)
    part = draw.choice(STEPS)
    lines = [f"a = list({joined(draw, 1)}) + xs", f"a[{part}] = [v * v for v in (ys * 9)[:len(a[{part}])]]", "return a"]
    made = function_of(HEADS[head], lines)
    f = te.program(made)
    value, back = te.vjp(f, XS, YS, ROWS, PAIR, N)
    assert value == made(XS, YS, ROWS, PAIR, N)
    cotangent = [k + 1.0 for k in range(len(value))]

    def summed(ys):
        return sum(c * v for c, v in zip(cotangent, made(XS, ys, ROWS, PAIR, N)))

    slopes = [summed([v + 0.5 * (j == k) for j, v in enumerate(YS)]) for k in range(2)]
    slopes = [s - summed([v - 0.5 * (j == k) for j, v in enumerate(YS)]) for k, s in enumerate(slopes)]
    np.testing.assert_allclose(back(cotangent)[1], slopes, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("value", ["ys", "ys[:1]", "ys + xs", "[]", "xs[:n]", "[v for v in xs]"])
@pytest.mark.parametrize("head", HEADS)
def test_a_part_in_steps_takes_as_many_elements_as_it_has(head, value):
    f = function_of(HEADS[head], ["a = list(xs)", f"a[::2] = {value}", "return sum(a)"])
    args = XS, YS, ROWS, PAIR, N
    try:
        wanted = f(*args)
    except ValueError:
        with pytest.raises((ValueError, TapeEngineError)):
            te.vjp(te.program(f), *args)
        return
    assert te.vjp(te.program(f), *args)[0] == wanted


@pytest.mark.parametrize("text", ["a[::2] = 1.0", "a[::2] = [1.0]", "a[::2] += ys"])
def test_one_value_for_several_elements_of_a_list_is_refused(text):
    with pytest.raises(TapeEngineError):
        refused(te.program(function_of("xs: list[float], ys", ["a = list(xs)", text, "return sum(a)"])), XS, YS)


@pytest.mark.parametrize("operation", ["xs + ys", "ys * 2", "xs * n", "2.5 * xs"])
@pytest.mark.parametrize("head", HEADS)
def test_arrays_give_what_numpy_gives_or_are_refused(operation, head):
    f = function_of(HEADS[head], [f"return {operation}"])
    program, args = te.program(f), (np.array(XS), np.array(XS), ROWS, PAIR, N)
    if head != "elements":  # the call says it, also after a call with lists
        te.vjp(program, XS, YS, ROWS, PAIR, N) if "2.5" not in operation else None
        np.testing.assert_array_equal(te.vjp(program, *args)[0], f(*args))
        return
    try:
        np.testing.assert_array_equal(te.vjp(program, *args)[0], f(*args))
    except StructureError as error:
        assert "is no list" in str(error)


@pytest.mark.parametrize("values", [[0.0, 1.5, 0.0, -2.0], [0.0], [], [1.0]])
@pytest.mark.parametrize("first", ["None", "lambda v: v", "lambda v: int(v)", "lambda v: v > 0"])
def test_elements_that_are_kept_are_true(values, first):
    f = function_of("xs: list[float]", [f"return sum(v * v for v in filter({first}, xs))"])
    value, back = te.vjp(te.program(f), values)
    assert value == f(values)
    assert back(1.0)[0] == [2.0 * v if f([v]) else 0.0 for v in values]


LIST, ARRAY = [1.0, 2.0], np.array([1.0, 2.0])
#: Bodies that use an element of which the text does not say which it is.
UNKNOWN = {
    "loop over items": "s = 0.0\nfor v in t: s += len(v {0}) * v[0]\nreturn s",
    "comprehension": "return [(v {0})[-1] * len(v {0}) for v in t]",
    "index": "return (t[i] {0})[-1] * len(t[i] {0})",
    "indices": "s = 0.0\nfor k in range(len(t)): s += len(t[k] {0}) * t[k][0]\nreturn s",
    "loop over keys": "s = 0.0\nfor k in d: s += len(d[k] {0}) * d[k][0]\nreturn s",
    "display": "s = 0.0\nfor v in (t[0], t[1]): s += len(v {0}) * v[0]\nreturn s",
    "largest": "return len(max(t, key=len) {0}) * t[0][0]",
    "rows of a result": "return [v for v in t]",
}


@pytest.mark.parametrize("operation", ["+ v", "* 2"])
@pytest.mark.parametrize("body", UNKNOWN)
@pytest.mark.parametrize("made", [tuple, list])
def test_an_element_at_an_unknown_place_may_be_any(body, operation, made):
    """What a program does with lists and arrays in any order is what Python does, or is refused; alike ones are not."""
    text = UNKNOWN[body].format(operation)
    if operation == "+ v":
        text = text.replace("t[i] + v", "t[i] + t[i]").replace("t[k] + v", "t[k] + t[k]")
        text = text.replace("d[k] + v", "d[k] + d[k]").replace("key=len) + v", "key=len) + t[0]")
    f = function_of("t, d, i", text.split("\n"))
    program = te.program(f)
    for parts in itertools.product([LIST, ARRAY], repeat=2):
        args = made(list(x) if x is LIST else x.copy() for x in parts), dict(zip("ab", parts, strict=True)), 1
        try:
            value = te.vjp(program, *args)[0]
        except StructureError:
            assert parts[0] is not parts[1]
            continue
        wanted = f(*args)
        np.testing.assert_equal(value, wanted)
        if body == "rows of a result":
            assert list(map(type, value)) == list(map(type, wanted))


@pytest.mark.parametrize("operation", ["p + p", "p * 2", "p[1:] + p[:1]", "p < p"])
@pytest.mark.parametrize("head", ["p: tuple[float, ...]", "p: te.Vec", "p"])
def test_tuples_are_no_whole_arrays(head, operation):
    f = function_of(head, [f"return {operation}"], te=te)
    try:
        assert te.vjp(te.program(f), (1.0, 2.0, 3.0))[0] == f((1.0, 2.0, 3.0))
    except StructureError as error:
        assert "a tuple" in str(error)


@pytest.mark.parametrize("values", [["x", "x", "*"], [1.0, None, 2.0], range(4), [2.0, [3.0]], b"ab", ["x", 2.0]])
def test_arguments_of_other_types_run_on_dual_numbers(values):
    lines = ["s = x", "for v in values:", "    s = s * x if v == 'x' else s + x * len(str(v))", "return s"]
    f = function_of("x, values", lines)
    value, back = te.vjp(te.program(f), 1.5, values)
    h = 1e-6
    assert value == f(1.5, values)
    assert back(1.0)[0] == pytest.approx((f(1.5 + h, values) - f(1.5 - h, values)) / (2.0 * h), rel=1e-8)
