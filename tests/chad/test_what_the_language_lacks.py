"""Programs without annotations run on dual numbers where the language lacks something, and say what it is."""

import copy
import dataclasses
import enum
import math
from typing import Any

import numpy as np
import pytest
from chad.written_functions import Cases, defined, function_of, refused

import tapeengine as te

LACKING, COMPILED = Cases(), Cases()


class Sense(enum.Enum):
    UP = 1
    DOWN = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@LACKING({"a": 2.0, "b": 0.5})
def a_test_in_a_dict(d):
    return {k: v * v for k, v in d.items() if v > 1.0}


@LACKING(np.array([1.5, 2.0]))
def bools_alone(xs):
    return xs.sum() * ((xs[0] > 0) + (xs[1] > 0))


@LACKING(2.0)
def a_lambda_of_any_number(x):
    return (lambda *vs: sum(vs))(x, x * x)


@LACKING(np.array([0.3, 0.7]))
def another_class_after_a_test(x):
    if not isinstance(x, np.ndarray):
        x = np.array([x])
    return (x * x).sum()


@LACKING(2.0, Level.LOW)
def a_member_by_identity(x, level):
    return x * x if level is Level.LOW else x


@LACKING({"w": 2.0, "h": 3.0})
def a_pattern_of_a_mapping(d):
    match d:
        case {"r": r}:
            return 3.0 * r * r
        case {"w": w, "h": h}:
            return w * h


@LACKING(np.arange(24.0).reshape(2, 3, 4) / 9.0, np.ones((2, 4, 2)))
def products_of_stacks(a, b):
    return a @ b


@LACKING(np.arange(6.0).reshape(2, 3))
def a_row_inserted(a):
    return np.insert(a, 1, a[0] * 2.0, axis=0)


@LACKING(np.arange(6.0).reshape(2, 3))
def columns_first(a):
    return a.flatten("F") * np.arange(6.0)


@LACKING(2.0)
def rows_in_two_places(x):
    row = [x, x]
    rows = []
    for _ in range(3):
        rows.append(row)
    rows[0][0] = 5.0 * x
    return rows


@LACKING((1.0, 2.0, 3.0), 1)
def a_rotated_tuple(s, n):
    return s[n:] + s[:n]


@LACKING(np.ones(5), 1)
def a_step_of_a_run(z, n):
    z = z * 2.0
    z[:: n + 1] = 0.5
    return z


@LACKING([1.0, 2.0], 2)
@LACKING([1.0, 2.0], 0)
def a_list_for_an_argument(xs, n):
    out = xs
    for _ in range(n):
        given = out
        out = []
        for v in given:
            out.append(v * v)
    return out


@LACKING(np.array([1.0, 2.0]), 2)
def the_best_of_copies(a, n):
    best = a
    for i in range(n):
        candidate = best.copy()
        candidate[i] *= 0.1 * best[0]
        if candidate[0] < 5.0:
            best = candidate
    return best


@LACKING([1.0, 2.0], 2)
@LACKING([1.0, 2.0], 0)
def an_argument_that_grows_at_last(xs, n):
    out = xs
    for _ in range(n):
        out = [v * v for v in out]
    out.append(3.0 * out[0])
    return out


@LACKING([1.0, 2.0], 2)
def another_name_that_grows(xs, n):
    out = xs
    for _ in range(n):
        given = out
        out = []
        for v in given:
            out.append(v * v)
        given.append(1.0)
    return out


@LACKING(np.arange(3, dtype="uint8"), 0.5)
def unsigned_integers(k, x):
    return x * float(k[2])


@COMPILED(3.0, 2.0)
def pairs_of_a_dict(x, y):
    d = dict([("a", x), ["b", y]], c=x * y)
    d.update([("b", 2.0 * y)], a=x - y)
    return dict([("a", d["c"] * d["a"])], b=d["b"])


@COMPILED(0.0, 2.0)
@COMPILED(1.0, 2.0)
def keys_by_path(force, area):
    if force < 0.5:
        return {"force": area * area}
    return {"area": force / 2.0, "unit": "m2"}


@COMPILED(0.0, 2.0)
@COMPILED(1.0, 2.0)
def texts_by_path(force, area):
    return ("area", area * area) if force < 0.5 else ("force", force * 3.0)


@COMPILED([1.0, -2.0, 3.0])
def texts_in_a_list(xs):
    return [{"value": x * x, "sign": "+" if x > 0 else "-"} for x in xs]


@COMPILED(2.0)
@COMPILED(-2.0)
def members_and_texts(x):
    return [x, "a"], (Sense.UP if x > 0 else Sense.DOWN, x * x), "none"


def turn(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


@COMPILED([(0.0, 0.0), (0.5, 0.6), (1.1, 0.1), (0.9, 1.0), (0.1, 0.9)])
def hull(points):
    def is_turned(a, b, c):
        return turn(a, b, c) <= 0

    lower, upper = [], []
    for p in sorted(points):
        while len(lower) >= 2 and turn(lower[-2], lower[-1], p) <= 0:
            lower.pop()
        lower.append(p)
    for p in sorted(points)[::-1]:
        while len(upper) >= 2 and is_turned(upper[-2], upper[-1], p):
            upper.pop()
        upper.append(p)
    return lower[:-1] + upper[:-1]


@COMPILED([(0.0, 0.0), (0.5, 0.6), (1.1, 0.1)])
def length(points):
    path, total = [], 0.0
    for p in points:
        if path:
            total += math.dist(path[-1], p)
        path.append(p)
    return total


@COMPILED(2.0, "aba", 3)
def letters_from_a_number(x, text, n):
    return [x * i * k for (i, a), (k, b) in zip(enumerate(text, 1), enumerate(text, n)) if a == "a" and b == "a"]


@COMPILED(2.0)
def own_name(x):
    own_name = np.zeros((2, 2))
    own_name[0, 1] = x * x
    return own_name


def flat(value):
    """Give the real numbers in a value."""
    if isinstance(value, dict):
        return flat(list(value.values()))
    if isinstance(value, list | tuple):
        return [x for part in value for x in flat(part)]
    if isinstance(value, np.ndarray):
        return flat(value.tolist()) if value.dtype.kind == "f" else []
    return [float(value)] if isinstance(value, float) else []


def moved(value, steps):
    """Give a value with each of its real numbers moved by the next step."""
    if isinstance(value, dict):
        return {k: moved(part, steps) for k, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(moved(part, steps) for part in value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return value + np.array([next(steps) for _ in range(value.size)]).reshape(value.shape)
    return value + float(next(steps)) if isinstance(value, float) else value


def tangents(value, steps):
    """Give the steps in the structure of a value, with None for what has no derivative."""
    if isinstance(value, dict):
        return {k: tangents(part, steps) for k, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(tangents(part, steps) for part in value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return moved(np.zeros(value.shape), steps)
    return float(next(steps)) if isinstance(value, float) else None


def check(function, args):
    """Compare a program's value with the plain function's, and its derivatives with differences."""
    program, steps, h = te.program(function), np.random.default_rng(0).normal(size=200), 1e-6
    expected, (value, back) = function(*copy.deepcopy(args)), te.vjp(program, *args)
    assert repr(value) == repr(expected)
    up, down = (np.array(flat(function(*moved(args, iter(s * h * steps))))) for s in (1.0, -1.0))
    slopes = (up - down) / (2.0 * h)
    value, tangent = te.jvp(program, args, tangents(args, iter(steps)))
    assert repr(value) == repr(expected)
    np.testing.assert_allclose(flat(tangent), slopes, 1e-6, 1e-6)
    weights = np.random.default_rng(1).normal(size=200)
    cotangents = back(tangents(expected, iter(weights)))
    products = np.dot(flat(tangents(args, iter(steps))), flat(list(cotangents)))
    np.testing.assert_allclose(products, weights[: len(slopes)] @ slopes, 1e-6, 1e-6)


@pytest.mark.parametrize(("function", "args"), LACKING)
def test_dual_numbers_run_what_the_language_lacks(function, args):
    with pytest.raises(te.errors.TapeEngineError) as raised:
        refused(te.program(function), *args)
    check(function, args)
    program = te.program(function)
    te.vjp(program, *args)
    assert program.inspect().endswith(f"runs on dual numbers\n{raised.value}\n")


@pytest.mark.parametrize(("function", "args"), COMPILED)
@pytest.mark.parametrize("backend", [None, "machine"])
def test_results_and_lists_that_only_the_paths_tell(function, args, backend):
    refused(te.program(function, backend=backend), *args)
    check(function, args)


def test_annotations_ask_for_compiled_code():
    def stacked(a: te.Array[te.Array[te.Vec]]) -> te.Array[te.Array[te.Vec]]:
        return a @ a

    with pytest.raises(te.errors.UnsupportedError, match="@ on"):
        te.program(stacked)


def test_an_error_is_pythons():
    def absent(d, x):
        return d["b"] + x if x > 1 else d["a"]

    for function in (absent, te.program(absent)):
        assert te.vjp(function, {"a": 1.0}, 0.5)[0] == 1.0
        with pytest.raises(KeyError):
            te.vjp(function, {"a": 1.0}, 1.5)


KEPT, TABLE, MADE = [1.0, 2.0], {"a": 1.0}, np.ones(2)
OF_THE_MODULE = [
    "kept[0] = x; return kept[0] * x",
    "kept.append(x); return len({x}) * x",
    "out = kept; out[1] = x; return len({x}) * x",
    "out = kept if x > 0 else [x]; out[1] = x; return len({x}) * x",
    "for row in [kept]: row[0] = x; return len({x}) * x",
    "table['a'] = x; return len({x}) * x",
    "made[0] = x; return len({x}) * x",
    "change(x); return len({x}) * x",
]


@pytest.mark.parametrize("text", OF_THE_MODULE)
def test_data_of_the_module_keep_plain_numbers(text: str) -> None:
    kept, table, made = list(KEPT), dict(TABLE), MADE.copy()
    names: dict[str, Any] = {"kept": kept, "table": table, "made": made}
    names["change"] = defined("def change(x):\n    kept[0] = x\n", "change", **names)
    program = te.program(function_of("x", text.split("; ") if "for" not in text else [text], **names))
    with pytest.raises(te.errors.UnsupportedError):
        te.grad(program)(2.0)
    assert (kept, table, made.tolist()) == (KEPT, TABLE, MADE.tolist())


def test_data_of_the_program_may_change_on_dual_numbers() -> None:
    kept = [1.0, 2.0]
    program = te.program(
        function_of("x", ["out = list(kept)", "out[1] = x", "return len({x > 0}) * out[1]"], kept=kept)
    )
    assert (te.grad(program)(2.0), kept) == (1.0, [1.0, 2.0])


@dataclasses.dataclass
class Held:
    x: float


CLASSES = {"Held": Held, "float": float}


def test_classes_of_a_table_under_their_names() -> None:
    def program(a, y):  # type: ignore[no-untyped-def]
        return 2.0 * a.x if isinstance(a, CLASSES["Held"]) else y

    assert te.vjp(te.program(program), Held(0.5), 3.0)[0] == 1.0
