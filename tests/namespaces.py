"""Calls of every function in a namespace, with arguments found by search, on traced values in each position."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NamedTuple

import numpy
from verdicts import Verdict, attempted, verdict

#: Data by kind: a number, a vector, a matrix.
DATA: dict[str, numpy.ndarray] = {
    "S": numpy.array([0.37]),
    "V": numpy.array([0.31, 0.72, 0.55, 0.18]),
    "M": numpy.array([[0.91, 0.13, 0.22], [0.17, 0.84, 0.05], [0.29, 0.11, 0.76]]),
}
#: Arguments to try, in this order; for each length, the first that works is used.
TRIED: tuple[tuple[Any, ...], ...] = (
    *(("V",), ("M",), ("S",), (["V", "V"],), (["M", "M"],)),
    *(("V", "V"), ("M", "V"), ("M", "M"), ("V", "S"), ("S", "V"), ("S", "S"), ("V", 1), ("M", 1), ("S", 1), (2, "V")),
    *((2, "S"), ("V", (4,)), ("M", (1, 0)), ("V", [1, 0, 2, 3])),
    *(("V", "V", "V"), ("M", "M", "M"), ("S", "S", "S"), ("V", 1, "V"), ("V", "V", 1), ("M", 0, 1), (1, "V", "V")),
    *(("S", "S", "S", "S"), ("V", "V", "V", "V"), ("S", "S", "S", "S", "S")),
)

#: Functions that are not called, by the reason.
REASONS: dict[str, str] = {
    "whole numbers": "binary_repr bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or "
    "bitwise_right_shift bitwise_xor gcd lcm left_shift right_shift invert bincount packbits unpackbits base_repr "
    "ravel_multi_index unravel_index indices eye broadcast_shapes mask_indices tri identity",
    "dates": "datetime_as_string datetime_data isnat busday_count busday_offset is_busday",
    "files and text": "fromregex fromstring genfromtxt load loadtxt fromfile save savetxt savez savez_compressed",
    "settings and types": "get_include show_config show_runtime info test get_printoptions set_printoptions "
    "printoptions geterr geterrcall seterr seterrcall setbufsize getbufsize isdtype typename mintypecode issubdtype "
    "require",
    "functions of functions": "fromfunction frompyfunc apply_along_axis apply_over_axes nested_iters",
    "memory, which a trace does not offer": "frombuffer from_dlpack",
    "values that are not set": "empty empty_like",
    "it returns None for what is no numpy.ndarray, which `docs/exact.md` says": "bmat",
}
LEFT_OUT = {name for names in REASONS.values() for name in names.split()}
CHOSEN = numpy.array([True, False, True, False])
PLACES = numpy.array([[0], [1], [2]])
#: Arguments for functions where the search finds none, or finds meaningless ones.
ARGUMENTS: dict[str, tuple[tuple[Any, ...], ...]] = {
    **dict.fromkeys(["convolve", "correlate"], (("V", "V"), ("V", "V", "same"))),
    "gradient": (("V",), ("M", 0.5), ("V", "V")),
    "interp": (("V", [0.1, 0.4, 0.9], [1.0, 3.0, 2.0]), ("S", [0.1, 0.4, 0.9, 1.0], "V")),
    "dsplit": ((numpy.ones((2, 2, 2)), 2),),
    "select": (([CHOSEN], ["V"]), ([CHOSEN], ["V"], "S")),
    "take_along_axis": (("M", PLACES, 1), ("V", numpy.array([2, 0]), None)),
    "put_along_axis": (("M", PLACES, "S", 1), ("M", PLACES, 2.0, 1)),
    "histogram": (("V", 3), ("V", "V"), ("V", [0.0, 0.5, 1.0, 2.0])),
    "polyint": (("V",), ("V", 2)),
    "polydiv": (("V", [2.0, 1.0]),),  # equal polynomials give a zero remainder, with one coefficient
    "polyder": (("V",), ("V", 2)),
}


class Case(NamedTuple):
    """One call: the arguments, the traced position, and whether it is an array or numbers."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    place: int
    numbers: bool

    def program(self, x: Any) -> Any:
        """The call, as a function of the data at the traced position."""
        counter = itertools.count()
        return self.function(*(self.filled(arg, counter, x) for arg in self.args))

    def filled(self, arg: Any, counter: Iterator[int], x: Any) -> Any:
        if isinstance(arg, list) and not all(isinstance(item, int) for item in arg):
            return [self.filled(item, counter, x) for item in arg]
        if not isinstance(arg, str) or arg not in DATA:
            return arg
        place = next(counter)
        if place != self.place:
            other = DATA[arg] * (1.0 + 0.13 * (place + 1))
            return other[0] if arg == "S" else other
        return self.form(arg, x)

    def form(self, kind: str, x: Any) -> Any:
        """The traced data: a number, an array, or (nested) lists of numbers."""
        if kind == "S":
            return x[0] * 1.0
        if not self.numbers:
            return x * 1.0
        return [x[i] for i in range(4)] if kind == "V" else [[x[i, j] for j in range(3)] for i in range(3)]

    def verdict(self) -> Verdict:
        return verdict(self.program, DATA[self.kinds()[self.place]] * (1.0 + 0.13 * (self.place + 1)))

    def kinds(self) -> list[str]:
        """The kinds of the data among the arguments, in order."""
        return kinds_of(self.args)

    def __str__(self) -> str:
        name = getattr(self.function, "__name__", repr(self.function))
        return f"{name}{self.args} at {self.place}" + " of numbers" * self.numbers


def kinds_of(args: Any) -> list[str]:
    """The kinds of the data among arguments, and in lists of them."""
    found: list[str] = []
    for arg in args:
        if isinstance(arg, list):
            found += kinds_of(arg)
        elif isinstance(arg, str) and arg in DATA:
            found.append(arg)
    return found


def functions_of(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """The public functions of a namespace, not its classes and modules."""
    names = getattr(module, "__all__", None) or dir(module)
    found = {name: getattr(module, name, None) for name in names if not name.startswith("_")}
    return {
        n: f for n, f in sorted(found.items()) if callable(f) and not inspect.isclass(f) and not inspect.ismodule(f)
    }


def recipes(function: Callable[..., Any], given: tuple[tuple[Any, ...], ...] | None = None) -> list[tuple[Any, ...]]:
    """The arguments that a function accepts: the given ones, or for each length the first that works."""
    if given is not None:
        return list(given)
    found: dict[int, tuple[Any, ...]] = {}
    for args in TRIED:
        if len(args) not in found and works(Case(function, args, 0, False)):
            found[len(args)] = args
    return list(found.values())


def works(case: Case) -> bool:
    result, error = attempted(case.program, DATA[case.kinds()[0]])
    return error is None and result is not NotImplemented


def cases(function: Callable[..., Any], args: tuple[Any, ...]) -> Iterator[Case]:
    """A call with each position traced, as an array and as numbers."""
    for place, kind in enumerate(kinds_of(args)):
        for numbers in (False, True) if kind != "S" else (False,):
            yield Case(function, args, place, numbers)
