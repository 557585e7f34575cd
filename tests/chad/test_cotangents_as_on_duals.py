"""Programs take and refuse the cotangents that dual numbers take and refuse for the plain function."""

import random
from dataclasses import dataclass, fields

import numpy as np
import pytest
from chad.written_functions import function_of

import tapeengine as te
from tapeengine.errors import CotangentError


@dataclass(frozen=True)
class Pair:
    left: float
    right: list[float]


def number(x: float) -> float:
    return x * x


def with_integer(x: float) -> tuple[float, int]:
    return x * x, 2


def without_annotations(x):
    return [x, 3]


def two(x: float) -> tuple[float, float]:
    return x, 2.0 * x


def listed(x: float) -> list[float]:
    return [x, x * x]


def record(x: float) -> Pair:
    return Pair(x, [x, 3.0 * x])


def array(x: float) -> te.Vec:
    return x * np.ones(2)


def maybe(x: float) -> float | None:
    return None if x > 0.0 else x


def grown(x: float) -> list[float]:
    rows = [x]
    while len(rows) < 3:
        rows.append(rows[-1] * x)
    return rows


SCALARS = [None, True, 1, np.True_, np.float32(0.5), np.int64(2), np.array(1.5), 1j, "a", [1.0], object()]
GIVEN = {
    number: SCALARS,
    with_integer: [*((x, None) for x in SCALARS), None],
    without_annotations: [[1.0, None], [None, None], None],
    two: [(x, 0.5) for x in SCALARS] + [None, (1.0,), 1.0],
    listed: [[x, 0.5] for x in SCALARS] + [None, [1.0], 1.0],
    record: [Pair(1.0, [None, 1.0]), Pair(None, [1.0, 1.0]), Pair(True, [2, np.True_]), Pair(1.0, None), None],
    array: [np.ones(2), np.ones(3), None, np.array([True, False]), np.array([1, 2])],
    maybe: [None],
    grown: [[1.0, None, 1.0], [True, 1, 0.5], None],
}


def outcome(back, cotangent):
    try:
        return back(cotangent)
    except CotangentError:
        return CotangentError


@pytest.mark.parametrize("backend", [None, "machine"])
@pytest.mark.parametrize("function", GIVEN, ids=lambda f: f.__name__)
def test_cotangents(function, backend):
    program = te.program(function, backend=backend)
    _, on_duals = te.vjp(function, 0.75)
    for cotangent in GIVEN[function]:
        _, back = te.vjp(program, 0.75)
        assert outcome(back, cotangent) == outcome(on_duals, cotangent), cotangent


def drawn(draw, depth=3):
    """The text of a value, and a cotangent of its structure."""
    kind = draw.choice(["number", "list", "tuple", "array", "dict", "record"]) if depth else "number"
    if kind == "list":
        text, each = drawn(draw, depth - 1)
        return f"[{text}, {text}]", [each, each]
    if kind in ("tuple", "dict", "record"):
        texts, each = zip(*(drawn(draw, depth - 1) for _ in range(2)), strict=True)
        if kind == "record":
            return f"Open({texts[0]}, {texts[1]})", Open(*each)
        one, two = texts
        return (
            (f"({one}, {two})", each)
            if kind == "tuple"
            else (f"{{'a': {one}, 'b': {two}}}", {"a": each[0], "b": each[1]})
        )
    return ("x * np.ones(2)", np.ones(2)) if kind == "array" else ("x * x", 1.0)


def with_nones(value):
    """A cotangent with None in each of its places, one at a time."""
    yield None
    if isinstance(value, list | tuple):
        for k, part in enumerate(value):
            yield from (type(value)([*value[:k], other, *value[k + 1 :]]) for other in with_nones(part))
    elif isinstance(value, dict):
        yield from ({**value, key: other} for key in value for other in with_nones(value[key]))
    elif isinstance(value, Open):
        each = {f.name: getattr(value, f.name) for f in fields(value)}
        yield from (Open(**{**each, name: other}) for name in each for other in with_nones(each[name]))


@dataclass
class Open:
    one: object
    two: object


@pytest.mark.parametrize("seed", range(30))
def test_none_in_the_place_of_numbers(seed):
    text, cotangent = drawn(random.Random(seed))
    function = function_of("x", [f"return {text}"], Open=Open)
    program = te.program(function)
    for found in with_nones(cotangent):
        for f in (function, program):
            with pytest.raises(CotangentError):
                te.vjp(f, 0.75)[1](found)


HUGE = 10**400


@pytest.mark.parametrize("backend", [None, "machine"])
@pytest.mark.parametrize(
    ("function", "x", "huge"),
    [
        (lambda x: x * x, 1.5, HUGE),
        (lambda x: (x, [x * x]), 1.5, (1.0, [HUGE])),
        (lambda x: {"a": x * x}, 1.5, {"a": HUGE}),
        (lambda x: x * 2.0, np.ones(2), [HUGE, 1.0]),
        (lambda x: x * 2.0, np.ones(2), np.array([1, HUGE], object)),
    ],
    ids=["number", "tuple", "dict", "list", "array"],
)
def test_integers_too_large_for_a_float_are_refused(function, x, huge, backend):
    program = te.program(function, backend=backend)
    with pytest.raises(te.errors.CotangentError, match="integer too large"):
        te.vjp(program, x)[1](huge)
