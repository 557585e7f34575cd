"""Programs for types of arguments: how many are kept, and how the one for a call is found."""

import gc
import itertools
import math
import random
import sys
import weakref

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine._core.programs.native import classes_of
from tapeengine.chad.infer import kind_of
from tapeengine.errors import TapeEngineError


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


def test_equal_classes_are_equal_kinds():
    generator = random.Random(5)
    values = [drawn(generator, 3) for _ in range(3000)]
    known = [(classes_of((value,)), kind_of(value)) for value in values]
    found = [pair for pair in known if pair[0] is not None]
    assert len(found) > 600
    assert len({classes for classes, _ in found}) > 40
    for classes, pairs in itertools.groupby(sorted(found, key=lambda pair: str(pair[0])), key=lambda pair: pair[0]):
        assert len({kind for _, kind in pairs}) == 1, classes


def test_a_list_that_contains_itself_has_no_class():
    endless = [1.0]
    endless.append(endless)
    assert classes_of((endless,)) is None


ARGUMENTS = [
    *[(1.5, 2), (1.5, 2.5), ([1.0, 2.0], 2.0), ([[1.0, 2.0], [3.0]], 2.0), (((1.0, 2.0), [3.0]), 2.0)],
    *[(np.arange(3.0), 2.0), (np.ones((2, 3)), 2.0), (np.ones((1, 3)), 2.0), (np.ones(3, ">f8"), 2.0)],
]


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
    if classes_of(arguments) is not None and f.for_values(arguments).is_read:
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
    if classes_of(arguments) is not None and f.for_values(arguments).tangent is not None:
        monkeypatch.setattr(type(f), "__tapeengine_jvp__", refuse)
    else:
        assert classes_of(arguments) is None or not f.for_values(arguments).is_read
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
