"""What a program reads from outside is read anew after it has changed."""

import itertools
import types
from dataclasses import dataclass

import numpy as np
import pytest

import tapeengine
from tapeengine import chad as te

ENGINE = tapeengine.Engine()


@dataclass
class Rates:
    own: float


def doubled(x):
    return 2.0 * x


def halved(x):
    return 0.5 * x


number, rows, array, named, pair = 2.0, [[1.0, 2.0]], np.array([1.0, 2.0]), {"k": 3.0}, (2.0, (1, 3.0))
record, space, helper, mode, flag = Rates(2.0), types.SimpleNamespace(w=3.0), doubled, "a", True
NAMES = ("number", "rows", "array", "named", "pair", "record", "space", "helper", "mode", "flag")
FIRST = {name: globals()[name] for name in NAMES}
OTHER = dict(zip(NAMES, (5.0, [[1.0, 7.0]], np.array([1.0, 9.0]), {"k": 11.0}, (2.0, (1, 4.0))), strict=False))
OTHER |= {"record": Rates(13.0), "space": types.SimpleNamespace(w=15.0), "helper": halved, "mode": "b", "flag": False}


def of_number(x):
    return x * number


def of_rows(x):
    return x * rows[0][1]


def of_array(x):
    return x * array[1]


def of_names(x):
    return x * named["k"]


def of_pairs(x):
    return x * pair[1][1]


def of_a_record(x):
    return x * record.own


def of_attributes(x):
    return x * space.w


def of_a_function(x):
    return helper(x)


def of_a_text(x):
    return x if mode == "a" else -x


def of_a_flag(x):
    return x * x if flag else 3.0 * x


def of_another(x):
    return of_number(x) * of_rows(x)


def annotated(x: float) -> float:
    return x * number * x


PROGRAMS = [
    *(of_number, of_rows, of_array, of_names, of_pairs, of_a_record, of_attributes, of_a_function, of_a_text),
    *(of_a_flag, of_another, annotated),
]


def uses(program):
    """Give what each way to use a program says about its value or slope at 3."""
    for _ in range(2):
        yield ENGINE.vjp(program, 3.0)[0]
    yield ENGINE.jvp(program, (3.0,), (1.0,))[0]
    yield ENGINE.value_and_grad(program)(3.0)[0]
    yield program(3.0)


@pytest.mark.parametrize("backend", [None, "machine"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_a_global_value_that_changes(function, backend):
    globals().update(FIRST)
    program = te.program(function, backend=backend)
    for values in (FIRST, OTHER, FIRST):
        globals().update(values)
        assert list(uses(program)) == [function(3.0)] * 5
        slope = (function(3.0 + 1e-6) - function(3.0 - 1e-6)) / 2e-6
        assert ENGINE.grad(program)(3.0) == pytest.approx(slope, rel=1e-8)
        curvature = (function(3.1) - 2.0 * function(3.0) + function(2.9)) / 0.01
        assert ENGINE.hessian(program)(3.0) == pytest.approx(curvature, rel=1e-8, abs=1e-8)


def test_values_that_change_inside():
    globals().update(FIRST)
    programs = [te.program(f) for f in (of_rows, of_array, of_names, of_a_record, of_attributes)]
    before = [ENGINE.grad(p)(3.0) for p in programs]
    kept = rows[0][1], array[1], named["k"], record.own, space.w
    rows[0][1] = array[1] = named["k"] = record.own = space.w = 17.0
    assert [ENGINE.grad(p)(3.0) for p in programs] == [17.0] * 5
    rows[0][1], array[1], named["k"], record.own, space.w = kept
    assert [ENGINE.grad(p)(3.0) for p in programs] == before


def test_a_captured_variable_that_changes():
    rate = 2.0

    def f(x):
        return rate * x

    program = te.program(f)
    assert ENGINE.grad(program)(1.0) == 2.0
    rate = 5.0
    assert ENGINE.grad(program)(1.0) == 5.0


def test_what_has_not_changed_is_read_once():
    globals().update(FIRST)
    program = te.program(of_another)
    ENGINE.grad(program)(3.0)
    (instance,) = program.instances.values()
    read = instance.parsed()
    globals().update(number=float("2.0"), rows=[[1.0, 2.0]])
    assert ENGINE.grad(program)(3.0) == 24.0
    assert instance.parsed() is read


factor = 2


def scaled(x):
    return x * factor


own = te.program(scaled)


def scaled_twice(x):
    return scaled(x)


def callers():
    """Give new functions that call the same helpers."""

    def directly(n, x):
        return scaled(n) * x

    def through_another(n, x):
        return x * scaled_twice(n) if n > 0 else x

    def through_a_program(n, x):
        return own(n) * x

    return directly, through_another, through_a_program


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_program_that_is_new_after_a_change(order):
    programs = []
    for value in (2, 2.5, 7):
        globals().update(factor=value)
        for i in order:
            programs.append(te.program(callers()[i]))
            assert [ENGINE.vjp(p, 3, 2.0)[0] for p in programs] == [6.0 * value] * len(programs)
            assert ENGINE.grad(programs[-1], argnums=1)(3, 2.0) == 3.0 * value


def test_a_local_program_that_calls_itself_is_read_where_it_is_defined() -> None:
    @tapeengine.program
    def power(x: float, n: int) -> float:
        return x if n == 1 else x * power(x, n - 1)

    for _ in range(2):
        assert tapeengine.grad(lambda x: power(x, 3))(2.0) == 12.0
