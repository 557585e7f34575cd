"""numpy's reductions with each combination of axis, keepdims, where and initial: numpy's value, duals' derivative."""

import itertools

import numpy as np
import pytest
from chad.written_functions import function_of, refused

import tapeengine as te
from tapeengine.chad.language.errors import ProgramError

DRAWN = np.random.default_rng(5)
ARRAYS = {1: DRAWN.normal(size=4), 2: DRAWN.normal(size=(3, 4)), 3: DRAWN.normal(size=(2, 3, 4))}
MASKS = {n: DRAWN.random(size=x.shape) > 0.3 for n, x in ARRAYS.items()}
AXES = {
    1: (None, 0, -1, (0,)),
    2: (None, 0, 1, -2, (0, 1), (-1, 0)),
    3: (None, 0, 1, 2, -1, (0, 2), (1, 2), (0, 1, 2)),
}
WHERE = ("", ", where=mask", ", where=x > 0", ", where=True")
INITIAL = ("", ", initial=0.25")


def written(text):
    """The function of a text."""
    return function_of("x, mask", [f"return {text}"])


def calls(name, rank):
    """All calls of a reduction."""
    initials = INITIAL if name != "mean" else ("",)
    for axis, keeps, where, initial in itertools.product(AXES[rank], ("", ", keepdims=True"), WHERE, initials):
        if name in ("max", "min") and "where" in where and "True" not in where and not initial:
            continue  # numpy's error
        yield f"np.{name}(x, axis={axis}{keeps}{where}{initial})"
        if not keeps:
            yield f"x.{name}(axis={axis}{where}{initial})"


@pytest.mark.parametrize("rank", ARRAYS)
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max", "min"])
def test_a_reduction_of_floats(name, rank):
    x, mask = ARRAYS[rank], MASKS[rank]
    for text in list(calls(name, rank))[:: (1, 3, 7)[rank - 1]]:
        function = written(text)
        wanted = function(x, mask)
        program = te.program(function)
        value, backpropagator = te.vjp(program, x, mask)
        assert np.shape(value) == np.shape(wanted), text
        np.testing.assert_allclose(value, wanted, rtol=1e-14, err_msg=text)
        cotangent = np.cos(wanted) if np.ndim(wanted) else float(np.cos(wanted))
        expected = te.vjp(program.python, x, mask)[1](cotangent)[0]
        np.testing.assert_allclose(backpropagator(cotangent)[0], expected, rtol=1e-12, atol=1e-14, err_msg=text)


@pytest.mark.parametrize("kind", [int, bool])
def test_a_reduction_of_integers_and_bools(kind):
    mask = MASKS[2]
    x = np.array(ARRAYS[2] * 3, dtype=kind)
    for name, initial in itertools.product(("sum", "prod", "max", "min"), ("", ", initial=1")):
        initial = initial.replace("1", "True") if kind is bool and name in ("max", "min") else initial
        wheres = ("",) if name in ("max", "min") and not initial else ("", ", where=mask")
        for axis, where in itertools.product((None, 0, 1), wheres):
            function = written(f"np.{name}(x, axis={axis}{where}{initial})")
            value, wanted = te.vjp(te.program(function), x, mask)[0], function(x, mask)
            assert np.asarray(value).dtype == np.asarray(wanted).dtype
            np.testing.assert_array_equal(value, wanted)


def test_a_vector_without_elements_has_the_initial_value():
    program = te.program(written("np.max(x, initial=2.5) + np.sum(x, initial=1.5)"))
    assert te.vjp(program, np.ones(0), np.ones(0, bool))[0] == 4.0


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("np.max(x, where=mask)", "write initial="),
        ("np.sum(x, where=x)", "give an array of conditions"),
        ("np.sum(mask, initial=0.5)", "give one of its numbers"),
        ("np.sum(x, axis=(0, 0))", "name each axis once"),
    ],
)
def test_a_refusal_says_what_to_write(text, advice):
    with pytest.raises(ProgramError, match=advice):
        refused(te.program(written(text)), ARRAYS[2], MASKS[2])


def test_a_mean_has_no_initial_value():
    with pytest.raises(TypeError, match="initial"):
        te.vjp(te.program(written("np.mean(x, initial=1.0)")), ARRAYS[2], MASKS[2])
