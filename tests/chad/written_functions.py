"""Functions that tests write as text, with their source where `inspect` finds it; lists of functions with arguments."""

import copy
import itertools
import linecache
from collections.abc import Iterable
from typing import Any

import numpy as np

import tapeengine as te

PLACES = itertools.count()


class Cases(list):
    """Functions with the arguments of their calls: ``@cases(2.0)`` appends one."""

    def __call__(self, *args):
        def add(function):
            self.append((function, args))
            return function

        return add


def run_in(scope: dict[str, Any], source: str) -> None:
    """Run a text whose functions have their source where `inspect` finds it."""
    place = f"<written {next(PLACES)}>"
    linecache.cache[place] = (len(source), None, source.splitlines(keepends=True), place)
    exec(compile(source, place, "exec"), scope)


def defined(source: str, name: str = "f", /, **names: Any) -> Any:
    """The function that a text defines under a name; the text sees further names."""
    scope = {"__name__": f"<written {next(PLACES)}>", **names}
    run_in(scope, source)
    return scope[name]


def function_of(head: str, lines: Iterable[str], /, **names: Any) -> Any:
    """The function ``def f`` with a head, such as ``x, y``, and lines; it sees numpy as np, and further names."""
    return defined(f"def f({head}):\n" + "".join(f"    {line}\n" for line in lines), **{"np": np, **names})


def refused(program: Any, *args: Any) -> None:
    """Raise what the language lacks where a program runs on dual numbers; nothing where it has the program."""
    if not (found := program.for_values(args)).is_read:
        raise copy.copy(found.refusal)


def agrees_with_differences(run: Any, function: Any, *args: float, rtol: float = 1e-8, h: float = 1e-5) -> Any:
    """Assert that a program has a function's value, and the slopes of its differences; give the gradient."""
    value, back = te.vjp(run, *args)
    assert value == function(*args)
    moved = [[[x + d * (k == i) for i, x in enumerate(args)] for d in (h, -h)] for k in range(len(args))]
    slopes = [(function(*up) - function(*down)) / (2 * h) for up, down in moved]
    gradient = back(1.0)
    np.testing.assert_allclose(gradient, slopes, rtol=rtol, atol=1e-9)
    return gradient
