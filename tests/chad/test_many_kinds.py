"""Programs for types of arguments: how many are kept, and how the one for a call is found."""

import gc
import math
import random
import sys
import weakref
from collections import defaultdict
from enum import IntEnum

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine._core.programs.native import class_of
from tapeengine.chad.infer import annotation_of, key_of, kind_of
from tapeengine.chad.parse.names.sizes import Sizes
from tapeengine.errors import TapeEngineError, UnsupportedError

Two = IntEnum("Two", "one two")


def square(x: float) -> float:
    return x * x


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(sys.modules[te.program(square).__class__.__module__], "MOST_KINDS", 4)
    f = te.program(function_of("x, label", ["return x * x if label.startswith('a') else -x"]))
    made = []
    for k in range(12):
        assert te.grad(f)(1.5, f"a{k}") == 3.0
        assert te.grad(f)(1.5, f"b{k}") == -1.0
        assert len(f.by_kinds) <= 4
        made.append(weakref.ref([*f.by_kinds.values()][-1]))
    gc.collect()
    assert sum(ref() is not None for ref in made) <= 4
    assert te.grad(f)(1.5, "a0") == 3.0


NUMBERS = (1.5, -0.0, 3, True, np.float64(2.0), np.int64(3), None, "a", 2j)
ARRAYS = (
    *(
        np.zeros(3),
        np.zeros(1),
        np.zeros(0),
        np.zeros((2, 3)),
        np.zeros((3, 2), order="F"),
        np.zeros((1, 3)),
        np.zeros(()),
    ),
    *(
        np.zeros((30, 30)),
        np.zeros((2, 2, 2)),
        np.zeros(3, int),
        np.zeros(3, "f4"),
        np.zeros(3, ">f8"),
        np.zeros(3, bool),
    ),
)


def drawn(generator, depth):
    """A value of numbers, arrays, lists, tuples and dicts."""
    kind = generator.choice("nnalltd" if depth else "na")
    if kind in "na":
        return generator.choice(NUMBERS if kind == "n" else ARRAYS)
    parts = [drawn(generator, depth - 1) for _ in range(generator.randrange(4))]
    if kind == "l" and parts and generator.random() < 0.7:
        parts = parts[:1] * 3
    return parts if kind == "l" else tuple(parts) if kind == "t" else dict(zip("abc", parts, strict=False))


def annotated(value):
    try:
        return key_of(annotation_of(value, "x")), Sizes.of({"x": value})
    except UnsupportedError as refusal:
        return type(refusal)


def test_equal_kinds_have_equal_annotations_and_sizes():
    generator = random.Random(5)
    values = [drawn(generator, 3) for _ in range(3000)]
    known = defaultdict(list)
    for value in values:
        known[kind_of(value)].append(annotated(value))
    assert sum(class_of(value) is not None for value in values) > 600
    assert len(known) > 100
    for kind, found in known.items():
        assert all(each == found[0] for each in found), kind


def test_members_of_enumerations_are_no_other_kinds():
    found = [kind_of(x) for x in [*Two, np.ones(2), np.ones((2, 2)), 1, True, None]]
    assert len(set(found)) == len(found)


def test_a_list_that_contains_itself_has_no_class():
    endless = [1.0]
    endless.append(endless)
    assert class_of(endless) is None


ARGUMENTS = [
    *[(1.5, 2), (1.5, 2.5), ([1.0, 2.0], 2.0), ([[1.0, 2.0], [3.0]], 2.0), (((1.0, 2.0), [3.0]), 2.0)],
    *[(np.arange(3.0), 2.0), (np.ones((2, 3)), 2.0), (np.ones((1, 3)), 2.0), (np.ones(3, ">f8"), 2.0)],
]


def is_known(arguments):
    return None not in map(class_of, arguments)


def total(x, scale):
    if isinstance(x, list | tuple):
        return sum([total(part, scale) for part in x], 0.0)
    return np.sum(x * x) * scale if isinstance(x, np.ndarray) else x * x * scale


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_programs_for_known_classes_are_found_at_once(arguments, monkeypatch):
    def double(x, scale):
        return x * scale if isinstance(scale, float) else x * x * scale

    f = te.program(double if isinstance(arguments[0], float) else total)
    plain = f.python
    wanted = te.vjp(plain, *arguments)
    for transform in (te.grad, te.value_and_grad):
        transform(f)(*arguments)
    if is_known(arguments) and f.for_values(arguments).is_read:
        monkeypatch.setattr(type(f), "__tapeengine_vjp__", None)
    value, gradient = te.value_and_grad(f)(*arguments)
    assert value == pytest.approx(wanted[0])
    assert str(gradient) == str(wanted[1](1.0)[0])


@pytest.mark.parametrize("arguments", [x for x in ARGUMENTS if isinstance(x[1], float)], ids=str)
def test_tangents_of_programs_for_known_classes_are_found_at_once(arguments, monkeypatch):
    def double(x, scale):
        return x * scale * scale

    f = te.program(double if isinstance(arguments[0], float) else total)
    wanted = te.jvp(f.python, arguments, arguments)
    te.jvp(f, arguments, arguments)
    if is_known(arguments) and f.for_values(arguments).tangent is not None:
        monkeypatch.setattr(type(f), "__tapeengine_jvp__", refuse)
    else:
        assert not is_known(arguments) or not f.for_values(arguments).is_read
    assert te.jvp(f, arguments, arguments) == (pytest.approx(wanted[0]), pytest.approx(wanted[1]))


def refuse(*args):
    raise AssertionError("the program ran in Python")


def test_tangents_that_do_not_fit_are_refused_after_those_that_do():
    def scaled(x, scale):
        return x * scale

    f = te.program(scaled)
    assert [te.jvp(f, (2.0, 3.0), (1.0, 1.0)) for _ in range(2)] == [(6.0, 5.0)] * 2
    for tangents in [(1.0,), (1.0, [1.0]), (np.ones(2), 1.0)]:
        with pytest.raises(TapeEngineError):
            te.jvp(f, (2.0, 3.0), tangents)
    for g in (f, f.python):
        with pytest.raises(TapeEngineError, match="discrete"):
            te.jvp(g, (2.0, 3), (1.0, 1.0))
    assert te.jvp(f, (2.0, 3), (1.0, None)) == te.jvp(f.python, (2.0, 3), (1.0, None))
    assert te.jvp(f, (2.0, math.inf), (1.0, 0.0)) == te.jvp(f.python, (2.0, math.inf), (1.0, 0.0))


BODIES = {
    "rows and parts": ["return [row[:] for row in rows], rows[0], scale"],
    "a slice": ["if scale > 1.0:", "    return rows", "return rows[1:]"],
    "a choice": ["return rows if scale > 1.0 else [row for row in rows]"],
    "a part of a pair": ["return (rows, scale)[0], len(rows) * scale"],
    "numbers": ["return sum(rows) * scale, rows"],
    "parts of a dict": ["both = {'rows': rows, 'scale': scale}", "return both['rows'], both"],
}
ANNOTATIONS = ("rows, scale", *(f"rows: {of}, scale: float" for of in ("list[float]", "list[list[float]]", "te.Vec")))


ROWS = (
    *([1.0, 2.0], [1.0, 2], [np.float64(1.0), 2.0], np.arange(2.0), np.ones(1), (1.0, 2.0), ([1.0, 2.0], np.ones(2))),
    *([[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0], [3.0]], [np.ones(2), np.ones(2)], [np.ones(2), [3.0, 4.0]]),
    *([(1.0, 2.0), (3.0, 4.0)], np.ones((2, 2)), [[np.ones(2)], [np.ones(2)]], [[[1.0], [2.0]], [[3.0], [4.0]]]),
)


def shape(value):
    """The classes of a value, of numpy's numbers those of Python's."""
    if isinstance(value, list | tuple):
        return type(value), *map(shape, value)
    if isinstance(value, dict):
        return tuple(value), *map(shape, value.values())
    return (np.ndarray, value.shape) if isinstance(value, np.ndarray) else float if isinstance(value, float) else int


def numbers(value):
    value = [*value.values()] if isinstance(value, dict) else value
    return [x for part in value for x in numbers(part)] if isinstance(value, list | tuple | np.ndarray) else [value]


READ = [(body, parameters) for body in BODIES for parameters in ANNOTATIONS]
READ = [pair for pair in READ if pair[0] != "rows and parts" or pair[1] in (ANNOTATIONS[0], ANNOTATIONS[2])]


@pytest.mark.parametrize(("body", "parameters"), READ)
def test_results_have_the_lists_of_the_plain_program_for_arguments_in_any_order(body, parameters):
    f = te.program(function_of(parameters, BODIES[body], te=te))
    taken = 0
    for rows, scale in random.Random(body).sample(
        [(rows, scale) for rows in ROWS for scale in (0.5, 1.5)], 2 * len(ROWS)
    ):
        found = [attempt(g, rows, scale) for g in (f, f.python, f)]
        if parameters == ANNOTATIONS[0] or TapeEngineError not in found:
            assert found[0] == found[1] == found[2], (rows, scale)
            taken += not isinstance(found[0], type)
    assert taken >= 4


def attempt(f, rows, scale):
    try:
        value = te.vjp(f, rows, scale)[0]
    except Exception as error:
        return TapeEngineError if isinstance(error, TapeEngineError) else type(error)
    return shape(value), numbers(value)


@pytest.mark.parametrize("body", ["rows and parts", "a slice", "a part of a pair"])
@pytest.mark.parametrize("parameters", [ANNOTATIONS[0], ANNOTATIONS[2]])
@pytest.mark.parametrize("rows", [[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0]] * 4], ids=str)
def test_results_whose_lists_are_those_of_arguments_are_built_by_the_core(body, parameters, rows, monkeypatch):
    f = te.program(function := function_of(parameters, BODIES[body]))
    te.vjp(f, rows, 0.5)
    monkeypatch.setattr(type(f), "__tapeengine_vjp__", refuse)
    assert shape(te.vjp(f, rows, 0.5)[0]) == shape(function(rows, 0.5))


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
def test_parts_of_dicts_tell_lists_in_results(order):
    def parts(x):
        return x["a"], x["b"][0], x["b"]

    f = te.program(parts)
    values = {"a": [[1.0], [2.0]], "b": np.ones(2)}, {"a": np.ones(2), "b": [[1.0], [2.0]]}, {"a": [1.0], "b": (2.0, 3)}
    for value in [{key: value[key] for key in order} for value in values] * 2:
        assert attempt_one(f, value) == attempt_one(f.python, value) == shape(parts(value))


def attempt_one(f, value):
    return shape(te.vjp(f, value)[0])
