"""Results of every function of numpy's namespaces have the memory layout, dtype and class of the plain call's.

The arguments are those that `namespaces` finds, filled with real numbers, complex ones, and matrices whose eigenvalues
are complex: numpy returns many of these results as parts of complex arrays, some as copies of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from namespaces import ARGUMENTS, DATA, LEFT_OUT, functions_of, kinds_of, recipes
from verdicts import quiet

import tapeengine as te
import tapeengine.numpy as tnp
from tapeengine.errors import TapeEngineError

TURNED = np.array([[0.2, -0.9, 0.1], [0.8, 0.3, -0.2], [0.1, 0.2, 0.7]])
PAIRS = np.array([0.3 + 0.2j, 0.3 - 0.2j, 0.5 + 0.1j, 0.5 - 0.1j])
KINDS: dict[str, dict[str, Any]] = {
    "real": DATA,
    "complex": {"S": np.array([0.37 + 0.2j]), "V": PAIRS * (1 + 0.5j), "M": DATA["M"] + 0.5j * TURNED},
    "real eigenvalues in pairs": {"S": DATA["S"], "V": DATA["V"], "M": TURNED},
    "numbers in pairs": {"S": np.array([0.37 + 0j]), "V": PAIRS, "M": TURNED + 0j},
    "float32": {kind: data.astype(np.float32) for kind, data in DATA.items()},
    "Fortran": {"S": DATA["S"], "V": DATA["V"], "M": np.asfortranarray(DATA["M"])},
    "not a number": {kind: data * np.nan for kind, data in DATA.items()},
    "zeros": {kind: data * 0.0 for kind, data in DATA.items()},
    "empty": {"S": DATA["S"], "V": DATA["V"][:0], "M": DATA["M"][:0]},
}
#: Functions whose strides are not those of numpy's, as `docs/exact.md` says.
OTHERS = {"histogram2d", "histogramdd"}
MODULES = {"numpy": (np, tnp), "linalg": (np.linalg, tnp.linalg), "fft": (np.fft, tnp.fft)}


def filled(args: Any, data: dict[str, Any], place: Callable[[Any], Any]) -> Any:
    """The arguments with data in place of the letters of kinds."""
    if isinstance(args, (list, tuple)):
        return type(args)([filled(arg, data, place) for arg in args])
    if not isinstance(args, str) or args not in DATA:
        return args
    return data[args][0] if args == "S" else place(data[args])


def described(result: Any) -> Any:
    """The class, dtype, shape and strides of a result; strides along axes of several elements, which alone matter."""
    if isinstance(result, (list, tuple)):
        return [described(part) for part in result]
    value = te.value(result)
    if not isinstance(value, np.ndarray):
        return np.asarray(value).dtype.name, ()
    pairs = zip(value.shape, result.strides, strict=True)
    return value.dtype.name, value.shape, [s for n, s in pairs if n > 1] if value.size else []


def outcome(function: Any, args: Any) -> Any:
    try:
        with quiet():
            return described(function(*args))
    except TapeEngineError:
        return "refused"
    except Exception as error:
        return type(error).__name__


def called(call: Any, args: Any, found: list[Any], primals: Any) -> float:
    """A program that notes the outcome of a call with its primals."""
    found.append(call(filled(args, primals, lambda x: x)))
    return 0.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("module", MODULES)
def test_layouts_of_every_function(module: str, kind: str) -> None:
    plain, offered = MODULES[module]
    data, wrong, same = KINDS[kind], {}, 0
    for name, function in functions_of(plain).items():
        if name in LEFT_OUT | OTHERS:
            continue
        for args in recipes(function, ARGUMENTS.get(name)):
            if not kinds_of(args):
                continue
            expected, found = outcome(function, filled(args, data, np.copy)), []

            call = partial(outcome, getattr(offered, name))
            te.vjp(partial(called, call, args, found), data)
            same += found == [expected]
            if found[0] not in (expected, "refused"):
                wrong[f"{name}{args}"] = (expected, found[0])
    assert wrong == {}
    assert same > {"numpy": 250, "linalg": 15, "fft": 15}[module]
