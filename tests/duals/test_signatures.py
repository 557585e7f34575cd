"""Rules take the arguments that numpy's functions take: by position, by name, and the required ones."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import numpy
import pytest

import tapeengine as te
import tapeengine.numpy as np

POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
#: The dispatch handles these for all functions.
GENERAL = {"out", "like"}


def rules() -> Iterator[tuple[Any, Any]]:
    for function, rule in te.Engine().rules.table.items():
        if not isinstance(function, (tuple, type, numpy.ufunc)):
            try:
                inspect.signature(function), inspect.signature(rule)
            except (TypeError, ValueError):
                continue
            yield function, rule


RULES = {f"{function.__module__}.{function.__name__}": (function, rule) for function, rule in rules()}


@pytest.mark.parametrize("name", RULES)
def test_a_rule_takes_what_its_function_takes(name: str) -> None:
    of_function, of_rule = (inspect.signature(found).parameters.values() for found in RULES[name])
    kinds = {parameter.kind for parameter in of_rule}
    given = [parameter for parameter in of_rule if parameter.kind in POSITIONAL]
    for place, parameter in enumerate(p for p in of_function if p.kind in POSITIONAL and p.name not in GENERAL):
        if place < len(given):
            assert (parameter.default is parameter.empty) == (given[place].default is parameter.empty), parameter
        else:
            assert parameter.VAR_POSITIONAL in kinds, f"no {parameter} by position"
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        names = {parameter.name for parameter in of_rule} | GENERAL
        by_name = [p for p in of_function if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        missing = {parameter.name for parameter in by_name[1:] if parameter.name not in names}
        assert not missing


#: numpy computes these into another array, and leaves `out` unchanged.
UNWRITTEN = {"hfft", "ifft2", "irfft2"}


def with_out() -> Iterator[Any]:
    """The functions with an argument `out` that may be given by position, and the arguments before it."""
    point = numpy.array([[0.91, 0.13, 0.22], [0.17, 0.84, 0.05], [0.29, 0.11, 0.76]])
    for name, (function, _) in RULES.items():
        parameters = list(inspect.signature(function).parameters.values())
        place = [p.name for p in parameters].index("out") if "out" in (p.name for p in parameters) else 0
        if not place or parameters[place].kind not in POSITIONAL or name.rpartition(".")[2] in UNWRITTEN:
            continue
        for given in ((point,), (point, point), (point, 0.5), (point, 0), ([point, point],)):
            rest = tuple(p.default for p in parameters[len(given) : place])
            if len(given) > place or numpy._NoValue in rest:
                continue
            try:
                value = function(*given, *rest)
            except Exception:
                continue
            if numpy.asarray(value).dtype.kind in "fc":
                yield name, (function, (*given, *rest), value)
                break


WITH_OUT = dict(with_out())


@pytest.mark.parametrize("name", WITH_OUT)
def test_out_by_position(name: str) -> None:
    function, (first, *rest), value = WITH_OUT[name]

    def program(x: Any, by_name: bool) -> Any:
        out = np.zeros(numpy.shape(value), numpy.asarray(value).dtype)
        given = ([x, x] if isinstance(first, list) else x, *rest)
        result = function(*given, out=out) if by_name else function(*given, out)
        assert result is out
        return out * 1.0

    point = first[0] if isinstance(first, list) else first
    (found, back), (wanted, expected) = (te.vjp(lambda x, k=k: program(x, k), point) for k in (False, True))
    assert numpy.array_equal(found, wanted)
    assert numpy.allclose(found, value)
    ct = numpy.ones_like(value)[()]
    assert numpy.array_equal(back(ct)[0], expected(ct)[0])


def first_by_name() -> Iterator[tuple[str, Any]]:
    for name, (function, _) in RULES.items():
        first = next(iter(inspect.signature(function).parameters.values()), None)
        if first is None or first.kind is not first.POSITIONAL_OR_KEYWORD:
            continue
        for point in (numpy.array([0.3, 0.7, 0.2]), numpy.array([[2.0, 0.4], [0.4, 1.5]])):
            try:
                value = function(**{first.name: point})
            except Exception:
                continue
            if isinstance(value, (numpy.ndarray, float)) and numpy.asarray(value).dtype == float:
                yield name, (function, first.name, point)


BY_NAME = dict(first_by_name())


@pytest.mark.parametrize("name", BY_NAME)
def test_the_first_argument_by_name(name: str) -> None:
    function, first, point = BY_NAME[name]
    if name.rpartition(".")[2] in ("empty_like", "put", "copyto"):
        return
    found, back = te.vjp(lambda x: function(**{first: x}) * 1.0, point)
    assert numpy.allclose(found, function(**{first: point}))
    again = te.vjp(lambda x: function(x) * 1.0, point)[1](numpy.ones_like(found)[()])
    assert numpy.array_equal(back(numpy.ones_like(found)[()])[0], again[0])


def test_errors_of_arguments_are_numpys() -> None:
    x = numpy.ones((2, 3))
    for call in (
        lambda np, x: np.reshape(x),
        lambda np, x: np.take_along_axis(x, numpy.array([1]), axis=1),
        lambda np, x: np.linalg.matrix_power(x, 1),
        lambda np, x: np.require(x, None, "Q"),
        lambda np, x: np.require(x, None, ["C", "F"]),
        lambda np, x: np.ediff1d(numpy.arange(3), to_end=x[0, 0]),
    ):
        with pytest.raises(Exception) as plain:
            call(numpy, x)
        with pytest.raises(plain.type):
            te.vjp(lambda x, call=call: call(np, x) * 1.0, x)


def positional(function: Any) -> list[str] | None:
    """The names of the parameters that may be given by position; None if there are any number of them."""
    parameters = inspect.signature(function).parameters.values()
    is_open = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return None if is_open else [p.name for p in parameters if p.kind in POSITIONAL]


def creating() -> Iterator[tuple[Any, Any]]:
    """numpy's functions without a rule, such as those that make arrays, with ours of the same name."""
    for theirs, ours in ((numpy, np), (numpy.linalg, np.linalg), (numpy.fft, np.fft)):
        for name, function in vars(theirs).items():
            if name[0] != "_" and inspect.isfunction(function) and inspect.isfunction(getattr(ours, name)):
                yield function, getattr(ours, name)


@pytest.mark.parametrize(("theirs", "ours"), [pytest.param(*pair, id=pair[0].__name__) for pair in creating()])
def test_a_function_takes_arguments_in_numpys_places(theirs: Any, ours: Any) -> None:
    assert positional(ours) in (None, positional(theirs))
