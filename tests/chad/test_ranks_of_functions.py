"""numpy's functions on numbers, arrays of one to three axes and lists: numpy's value or error, or refused.

Calls are made of each function's name and of all arguments in all forms. Many are mistakes, which numpy tells by an
error; then a program raises one as well.
"""

from __future__ import annotations

import copy
import importlib.util
import os
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from outcomes import outcome

import tapeengine as te
from tapeengine.chad.language import in_language
from tapeengine.chad.parse.library import table as library
from tapeengine.errors import TapeEngineError

COUNT = None if os.environ.get("TAPEENGINE_NIGHTLY") == "1" else 16
RANDOM = np.random.default_rng(2)
VALUES: dict[str, Any] = {
    "s": 1.5,
    "k": 2,
    "v": np.array([0.5, 1.5, -2.0, 0.25]),
    "w": np.array([1.0, -0.5, 0.75, 2.0]),
    "q": np.array([3.0]),
    "M": RANDOM.normal(size=(3, 4)).round(2),
    "N": RANDOM.normal(size=(3, 4)).round(2),
    "S": RANDOM.normal(size=(4, 4)).round(2),
    "T": RANDOM.normal(size=(2, 3, 4)).round(2),
    "U": RANDOM.normal(size=(2, 3, 4)).round(2),
    "I": np.array([3, 1, 2, 0]),
    "J": np.arange(12).reshape(3, 4),
    "b": np.array([True, False, True, True]),
    "B": np.arange(12).reshape(3, 4) % 3 == 0,
}
#: Lists, of one size and of several.
LISTED = [
    "[x for x in v]",
    "[r for r in M]",
    "[2.0 * r for r in M]",
    "[v[: k + j] for j in range(3)]",
    "[m for m in T]",
]
ONE = "{a}", "{a}, axis=0", "{a}, axis=-1", "{a}, axis=1", "{a}, 0", "{a}, 1", "{a}, -1", "{a}, 2", "{a}, axis=None"
ONE = (*ONE, "{a}, axis=2", "{a}, keepdims=True", "{a}, axis=0, keepdims=True", "{a}, (1, 0)", "{a}, [1, 2]")
TWO = "{a}, {b}", "({a}, {b})", "[{a}, {b}]", "({a}, {b}), axis=1", "({a}, {b}), axis=-1", "({a}, {b}), 1"
TWO = (*TWO, "{a}, {b}, axis=0", "{a}, {b}, 1", "({a}, {b}, {a})")
PAIRS = "vw MN vM Mv TU sv vs MT vI MJ II JJ bb BB SM MS vk Mk qv ss sM Iv bv BM".split()
#: Functions without a value to compare, of whole numbers' own arithmetic, or that look at a tuple as numpy does not.
LEFT_OUT = {"empty", "empty_like", "ndim", "power", "logspace", "choose", "float64", "polyval"}
NAMES = {n[6:] for n in (*library.SPECIAL, *library.FUNCTIONS, *in_language.FUNCTIONS) if n.startswith("numpy.")}
NAMES -= LEFT_OUT
#: What a program does with an array of one and of two axes: its text is then one of numbers, not of whole arrays.
LOOPS = {
    1: "    total = 0.0\n    for i in range(len(y)):\n        total = 0.5 * total + y[i]\n    return total\n",
    2: "    total = 0.0\n    for i in range(len(y)):\n        for j in range(len(y[i])):\n"
    "            total = 0.5 * total + y[i, j]\n    return total\n",
}


def calls(name: str) -> list[str]:
    """The arguments of some calls of a function."""
    found = [form.format(a=a) for form in ONE for a in (*VALUES, *LISTED)]
    found += [form.format(a=a, b=b) for form in TWO for a, b in PAIRS]
    return found if COUNT is None else random.Random(name).sample(found, COUNT)


def written(name: str, arguments: str, number: int) -> str:
    """The text of a function that returns what a call gives, and of those that loop over it."""
    used = [x for x in VALUES if re.search(rf"\b{x}\b", re.sub(r"for (\w+) in", "", arguments))]
    kinds = {float: "float", int: "int"}
    given = ", ".join(f"{x}: {kinds.get(type(VALUES[x]), 'np.ndarray')}" for x in used)
    whole = "np.linalg.norm" if name == "norm" else f"np.{name}"
    texts = [f"def call_{number}_0({given}):\n    return {whole}({arguments})\n"]
    texts += [f"def call_{number}_{n}({given}):\n    y = {whole}({arguments})\n{loop}" for n, loop in LOOPS.items()]
    return "\n\n".join(texts)


def module_of(text: str, path: Path) -> ModuleType:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, tuple | list):
        return isinstance(found, tuple | list) and len(found) == len(wanted) and all(map(same, found, wanted))
    found, wanted = np.asarray(found), np.asarray(wanted)
    return found.shape == wanted.shape and np.allclose(found, wanted, rtol=1e-12, atol=1e-14, equal_nan=True)


def functions(module: ModuleType, number: int, value: Any) -> Iterator[Any]:
    """The functions of one call: those that loop, if its value is an array."""
    yield getattr(module, f"call_{number}_0")
    if isinstance(value, np.ndarray) and value.ndim in LOOPS:
        yield getattr(module, f"call_{number}_{value.ndim}")


def has_derivative(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype == float and value.size > 0)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(NAMES))
def test_value_and_derivative(name: str, tmp_path: Path) -> None:
    given = calls(name)
    text = "import numpy as np\n\n\n" + "\n\n".join(written(name, each, k) for k, each in enumerate(given))
    module = module_of(text, tmp_path / f"calls_of_{name}.py")
    for k, each in enumerate(given):
        first = getattr(module, f"call_{k}_0")
        names = list(first.__annotations__)
        for function in functions(module, k, outcome(lambda f=first, names=names: f(*values(names)))):
            check(function, names, f"{name}({each})")


def values(names: list[str]) -> list[Any]:
    """New values: a function may take one of them for its place to write to."""
    return [copy.copy(VALUES[x]) for x in names]


def check(function: Any, names: list[str], what: str) -> None:
    args, wanted = values(names), outcome(lambda: function(*values(names)))
    program = outcome(lambda: te.program(function, backend="machine"))
    found = outcome(lambda: te.vjp(program, *args)) if not isinstance(program, Exception) else program
    if isinstance(found, TapeEngineError):
        return
    if isinstance(wanted, Exception):
        assert isinstance(found, Exception), (what, found)
        return
    assert isinstance(found, tuple), (what, found)
    assert same(found[0], wanted), (what, found[0], wanted)
    if has_derivative(wanted):
        cotangent = np.reshape(np.linspace(0.5, 1.5, np.size(wanted)), np.shape(wanted))[()]
        duals = te.vjp(program.python, *args)[1](cotangent)
        for mine, theirs in zip(found[1](cotangent), duals, strict=True):
            np.testing.assert_allclose(*[np.asarray(d, float) for d in (mine, theirs)], 1e-9, 1e-12, err_msg=what)
