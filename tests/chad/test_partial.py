"""Partial applications keep what they leave out: defaults, arguments by name that a call may replace, order."""

import functools

import pytest

import tapeengine as te


def two(a, b=2.0):
    return a * b


def four(a, b, c=2.0, *, d=3.0):
    return a * b - c / d


def default_left(x: float):
    return functools.partial(two, x)()


def default_replaced(x: float):
    g = functools.partial(two, x)
    return g(x) + g(b=3.0)


def name_replaced(x: float):
    g = functools.partial(four, x, d=x)
    return g(2.0) + g(2.0, 5.0) + g(b=x, c=x) + g(2.0, d=7.0)


def name_given_first(x: float):
    g = functools.partial(four, b=x)
    return g(2.0) + g(a=3.0, c=x)


def of_a_lambda(x: float):
    g = functools.partial(lambda a, b=4.0: a - b / a, x)
    return g() + g(1.0)


def of_a_result(x: float):
    def scaled(k):
        return lambda a, b: k * a - b

    return functools.partial(scaled(x), 2.0)(x)


def of_a_partial(x: float):
    return functools.partial(functools.partial(four, x), x)(d=x)


def captured(x: float):
    g = functools.partial(two, x)
    x = x + 1.0
    return g() * x


def in_a_map(x: float):
    return sum(map(functools.partial(four, x, d=2.0), [x, 1.0], [2.0, x]))


PROGRAMS = [
    default_left, default_replaced, name_replaced, name_given_first, of_a_lambda, of_a_result, of_a_partial, captured,
    in_a_map,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_partial_applications(function):
    program = te.program(function)
    value, backpropagator = te.vjp(program, 1.5)
    plain, by_duals = te.vjp(function, 1.5)
    assert value == plain == function(1.5)
    assert backpropagator(1.0)[0] == pytest.approx(by_duals(1.0)[0], rel=1e-13)


@pytest.mark.parametrize("text", ["partial(two, b=1.0)(x, 2.0)", "partial(two, x)(1.0, 2.0)", "partial(two, a=x)(x)"])
def test_arguments_given_twice_are_refused(text, tmp_path, monkeypatch):
    (tmp_path / "given_twice.py").write_text(
        f"from functools import partial\ndef two(a, b=2.0):\n    return a * b\ndef f(x: float):\n    return {text}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "given_twice", raising=False)
    function = __import__("given_twice").f
    with pytest.raises(TypeError):
        function(1.5)
    with pytest.raises(te.errors.TapeEngineError):
        te.program(function)(1.5)
