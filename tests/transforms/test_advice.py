"""A refusal says what to write instead: what it says is written, and then works."""

from __future__ import annotations

import asyncio
import json
import operator
import random
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as tnp


class Gain:
    factor = 3.0

    def times(self, x: float) -> float:
        return self.factor * x


async def squared(x: float) -> float:
    return x * x


VECTOR = numpy.array([1.0, 2.0])
#: What is refused, the words of the advice, and the program as the advice says.
ADVICE: list[tuple[Callable[[], Any], str, Callable[[], Any]]] = [
    (
        lambda: te.vjp(lambda x: (k * x for k in (1.0, 2.0)), 3.0),
        "make a list of it",
        lambda: te.vjp(lambda x: [k * x for k in (1.0, 2.0)], 3.0)[1]([1.0, 1.0]) == (3.0,),
    ),
    (
        lambda: te.grad(Refused(squared))(3.0),
        r"run it inside the program, asyncio.run\(...\)",
        lambda: te.grad(lambda x: asyncio.run(squared(x)))(3.0) == 6.0,
    ),
    (
        lambda: te.grad(Gain.times)(Gain(), 2.0),
        "choose other arguments by argnums",
        lambda: te.grad(Gain.times, argnums=1)(Gain(), 2.0) == 3.0,
    ),
    (
        lambda: te.vmap(lambda x, k: k * x)(VECTOR, 2.0),
        r"give it None, as in te.vmap\(f, in_axes=\(0, None\)\)",
        lambda: all(te.vmap(lambda x, k: k * x, in_axes=(0, None))(VECTOR, 2.0) == 2.0 * VECTOR),
    ),
    (
        lambda: te.stage(lambda x, k: k * x).batch(VECTOR, 2.0),
        "or pass an array of the lanes' values",
        lambda: all(te.stage(lambda x, k: k * x).batch(VECTOR, numpy.full(2, 2.0)) == 2.0 * VECTOR),
    ),
    (
        lambda: te.grad(lambda x: x * x, has_aux=True)(3.0),
        r"must return a tuple \(value, aux\), not tapeengine.Dual",
        lambda: te.grad(lambda x: (x * x, None), has_aux=True)(3.0) == (6.0, None),
    ),
    (
        lambda: te.grad(lambda x: float(x) * x)(3.0),
        r"Leave float\(\) out\.",
        lambda: te.grad(lambda x: x * x)(3.0) == 6.0,
    ),
    (
        lambda: te.grad(te.program(squared_of))(VECTOR),
        "float is wanted: convert it, or change the annotation",
        lambda: te.grad(te.program(squared_of))(float(VECTOR[1])) == 4.0,
    ),
]


class Refused:
    """A call of an asynchronous function, whose coroutine is closed, so that Python does not warn of it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, x: Any) -> Any:
        self.coroutine = self.function(x)
        return self.coroutine

    def __del__(self) -> None:
        self.coroutine.close()


def squared_of(x: float) -> float:
    return x * x


@pytest.mark.parametrize("refused, advice, as_said", ADVICE, ids=[advice for _, advice, _ in ADVICE])
def test_advice_works(refused: Callable[[], Any], advice: str, as_said: Callable[[], Any]) -> None:
    with pytest.raises(te.errors.TapeEngineError, match=advice):
        refused()
    assert as_said()


@pytest.mark.parametrize("module", ["numpy", "tapeengine.numpy"])
@pytest.mark.parametrize("name", ["float64", "float32", "complex128", "complex64"])
def test_the_class_of_a_number_is_left_out(module: str, name: str, tmp_path: Path) -> None:
    """`tapeengine.numpy` has numpy's classes, which are dtypes as well: to import it would be no advice."""
    (tmp_path / "model.py").write_text(f"import {module} as np\nprogram = lambda x: np.{name}(x)\n")
    program = runpy.run_path(str(tmp_path / "model.py"))["program"]
    with pytest.raises(te.errors.DroppedDerivativeError, match=rf"Leave np.{name}\(\) out; np.asarray\(x, dtype\)"):
        te.vjp(program, 1.5)
    value, backpropagator = te.vjp(lambda x: tnp.asarray(x, getattr(numpy, name)) * 2, 1.5)
    assert (value, backpropagator(1.0)) == (3.0, (2.0,))


@pytest.mark.parametrize("primal", [1.5, numpy.float32(1.5), numpy.float64(1.5), 1j, numpy.complex64(1j), VECTOR])
def test_errors_of_others_name_the_class_that_type_shows(primal: Any) -> None:
    """Other libraries show the name of `__class__`, and of `type`: a reader finds the one name in these pages."""

    def program(x: Any) -> Any:
        assert x.__class__.__name__ == type(x).__name__ in ("Dual", "ComplexDual", "Array")
        with pytest.raises(TypeError, match=rf"type {type(x).__name__} is not JSON"):
            json.dumps(x)
        return x

    te.vjp(program, primal)


def test_a_name_alone_is_one_name() -> None:
    """Where a sequence of names is taken, a single text is no sequence of letters."""

    class Part:
        def __init__(self) -> None:
            self.alpha, self.a = 2.0, 3.0

    engine = te.Engine()
    engine.register_container(Part, static="alpha")
    slope = engine.grad(lambda part: part.alpha * part.a)(Part())
    assert (slope.alpha, slope.a) == (2.0, 2.0)  # alpha is copied, and was not differentiated
    with te.lifted("colorsys", also="statistics"):
        import statistics
    assert statistics.__name__.startswith("tapeengine.lift.twins")


def test_a_module_that_is_missing_has_the_name_that_was_given() -> None:
    with pytest.raises(ModuleNotFoundError, match="'nothing_of_this_name'"), te.lifted("nothing_of_this_name"):
        pass


@pytest.mark.parametrize("transform", [te.jvp, te.hvp, te.linearize, te.dependencies, te.vjp])
def test_a_value_is_no_program(transform: Any) -> None:
    primals = ((1.0,), (1.0,)) if transform in (te.jvp, te.hvp) else (1.0,)
    with pytest.raises(
        te.errors.StructureError, match=r"the program must be a function, not 3\.0: write f and its primals"
    ):
        transform(3.0, *primals)


def test_a_check_of_nothing_does_not_pass() -> None:
    square = te.primitive(lambda x: x * x, name="advice.square")
    with pytest.raises(te.errors.StructureError, match="so there is nothing to check"):
        te.testing.check_vjp(lambda x: x * x, 3)
    with pytest.raises(te.errors.PrimitiveError, match=r"check functions by check_vjp\(f, x\)"):
        te.testing.check_primitive(square)
    assert te.testing.check_vjp(lambda x: x * x, 3.0).runs["differences"] == 1


SHUFFLES = {
    "Generator": lambda np, x: np.random.default_rng(2).shuffle(x),
    "RandomState": lambda np, x: np.random.RandomState(2).shuffle(x),
    "shuffle": lambda np, x: (np.random.seed(2), np.random.shuffle(x)),
    "permutation": lambda np, x: x.__setitem__(slice(None), x[numpy.random.default_rng(2).permutation(len(x))]),
    "swaps": lambda np, x: (operator.setitem(x, 0, x[1]), operator.setitem(x, 2, x[0])),
    "random": lambda np, x: random.Random(2).shuffle(x),
}


@pytest.mark.filterwarnings("ignore:you are shuffling")
@pytest.mark.parametrize("shape", [(5,), (4, 2), (3, 2, 2)])
@pytest.mark.parametrize("np", [numpy, tnp], ids=["numpy", "tapeengine.numpy"])
@pytest.mark.parametrize("name", SHUFFLES)
def test_shuffled_rows_are_numpys_or_refused(name: str, np: Any, shape: tuple[int, ...]) -> None:
    """numpy's generators swap the rows of what is no ndarray as those of a list: rows are views, and one is lost."""
    start = numpy.arange(float(numpy.prod(shape))).reshape(shape)

    def program(x: Any, module: Any = np) -> Any:
        SHUFFLES[name](module, x)
        return x

    wanted = program(start.copy(), numpy)
    if np is numpy and len(shape) > 1 and name in ("Generator", "RandomState", "shuffle"):
        with pytest.raises(te.errors.UnsupportedError, match=r"shuffle\(x\) would copy rows .*test_advice.py:\d+ in"):
            te.vjp(program, start.copy())
        return
    value, backpropagator = te.vjp(program, start.copy())
    assert numpy.array_equal(value, wanted)
    (found,) = backpropagator(start + 1.0)
    places = wanted.ravel().astype(int)
    assert numpy.array_equal(found.ravel(), numpy.bincount(places, (start + 1.0).ravel(), start.size))
