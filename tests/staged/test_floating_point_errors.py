"""Staged programs that handle floating-point errors: replays give what the program gives, or the program is run.

Programs of elements, arrays and functions run where errors raise, are warnings that raise, are recorded or call a
function, by the program itself, by a function that it calls, or by its caller.
"""

from __future__ import annotations

import contextlib
import itertools
import types
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import tapeengine as te

PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "product": lambda x: x[0] * x[1],
    "power": lambda x: x[0] ** x[1],
    "item": lambda x: x[0].item() * x[1].item(),
    "logarithm": lambda x: np.log(x[1]),
    "root": lambda x: np.sqrt(x[0] - 2.0),
    "exponentials": lambda x: np.exp(x).sum(),
    "quotients": lambda x: (1.0 / x).sum(),
    "dot": lambda x: x @ x,
    "sum": lambda x: (x * 1e8).sum(),
    "products": np.prod,
    "norm": np.linalg.norm,
    "in place": lambda x: x.copy().__imul__(x).sum(),
}
POINTS = [np.array(pair) for pair in ((1.5, 2.5), (1e200, 1e200), (800.0, -3.0), (0.0, 0.0), (2.5, 3.5))]
ORDERS = [*((0, k) for k in (1, 2, 3)), *((k, 0) for k in (1, 2, 3)), (3, 4)]


@contextlib.contextmanager
def errors_raise() -> Iterator[None]:
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        yield


@contextlib.contextmanager
def warnings_raise() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def caught(program: Callable[[Any], Any], errors: Any = errors_raise) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        try:
            with errors():
                return program(x)
        except (FloatingPointError, RuntimeWarning):
            return x[0] * 3.0

    return run


def counted(program: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            value = program(x)
        return value * (1.0 + len(found))

    return run


def called(program: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        found: list[Any] = []
        with np.errstate(all="call", under="ignore", call=lambda *error: found.append(error)):
            value = program(x)
        return value * (1.0 + len(found))

    return run


helpers = types.ModuleType("helpers_of_a_program")
exec(
    "import numpy\ndef guarded(f, x):\n    try:\n        with numpy.errstate(all='raise', under='ignore'):\n"
    "            return f(x)\n    except FloatingPointError:\n        return x[0] * 3.0\n",
    vars(helpers),
)
HANDLED: dict[str, Callable[[Any], Callable[[Any], Any]]] = {
    "caught": caught,
    "caught warnings": lambda program: caught(program, warnings_raise),
    "counted": counted,
    "called": called,
    "decorated": lambda program: caught(np.errstate(all="raise", under="ignore")(program), contextlib.nullcontext),
    "in a module": lambda program: lambda x: helpers.guarded(program, x),
}


def outcome(call: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(call()).tolist()
        except (ArithmeticError, ValueError) as error:
            return type(error).__name__


@pytest.mark.parametrize("handled", HANDLED)
def test_the_program_sees_its_errors(handled: str) -> None:
    wrong = []
    for (name, inner), order in itertools.product(PROGRAMS.items(), ORDERS):
        program = HANDLED[handled](inner)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            staged = te.stage(program)
            for i in (*order, *order):
                found = (
                    outcome(lambda s=staged, i=i: s(POINTS[i])),
                    outcome(lambda s=staged, i=i: te.grad(s)(POINTS[i])),
                )
                wanted = (
                    outcome(lambda p=program, i=i: p(POINTS[i])),
                    outcome(lambda p=program, i=i: te.grad(p)(POINTS[i])),
                )
                if repr(found) != repr(wanted):
                    wrong.append(f"{name} {POINTS[i]}: {found} for {wanted}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("errors", [errors_raise, warnings_raise])
def test_the_caller_sees_errors(errors: Any) -> None:
    for program in PROGRAMS.values():
        staged = te.stage(program)
        for point in (POINTS[0], POINTS[4], *POINTS):
            with np.errstate(all="ignore"):
                te.grad(staged)(point)

            def run(f: Any, point: Any = point) -> Any:
                try:
                    with errors():
                        return repr(te.grad(f)(point))
                except Warning as error:
                    return type(error).__name__

            assert outcome(partial(run, staged)) == outcome(partial(run, program))
        with np.errstate(all="ignore"):
            assert staged.refused is None


def test_programs_without_errors_are_replayed() -> None:
    staged = te.stage(PROGRAMS["quotients"])
    for point in POINTS:
        with np.errstate(all="ignore"):
            te.grad(staged)(point)
    assert staged.refused is None
    assert staged.stats().replays == len(POINTS) - 1


def guarded_elsewhere(x: Any) -> Any:
    with np.errstate(over="raise"):
        return x * x


@pytest.mark.filterwarnings("ignore::tapeengine.errors.StagingWarning")
def test_the_reason_names_the_function() -> None:
    staged = te.stage(lambda x: guarded_elsewhere(x) if x > 10.0 else x * 2.0)
    for x in (20.0, 30.0, 40.0):
        staged(x)
    assert "(in guarded_elsewhere)" in str(staged.refused)
