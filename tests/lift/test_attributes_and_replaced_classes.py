"""Lifted code sees the attributes of values, and the classes of objects that it replaces, as the plain code does."""

import importlib
import statistics
from typing import Any

import numpy as np
import pytest

import tapeengine as te
from tapeengine.lift.compilers import COMPILERS
from tapeengine.lift.modules import SOURCES

VALUES = {
    "float": 1.5,
    "float64": np.float64(1.5),
    "float32": np.float32(1.5),
    "complex": 1.5 + 0.5j,
    "complex128": np.complex128(1.5 + 0.5j),
    "vector": np.array([0.5, 1.5]),
    "matrix": np.ones((2, 2), np.float32),
}
NAMES = sorted({name for x in (*VALUES.values(), "", [], {}, len, type) for name in dir(x)} - {"mT"})


def which_has(x: Any) -> list[str]:
    return [name for name in NAMES if hasattr(x, name)]


def which_gives(x: Any) -> list[str]:
    found = []
    for name in ("shape", "ndim", "dtype", "size", "T", "sum", "mean", "item", "tolist", "real", "copy"):
        try:
            getattr(x, name)
        except AttributeError:
            continue
        found.append(name)
    return found


@pytest.mark.parametrize("ask", [te.lift(which_has), te.lift(which_gives), which_gives])
@pytest.mark.parametrize("kind", VALUES)
def test_attributes_are_those_of_the_plain_value(kind: str, ask: Any) -> None:
    seen: list[list[str]] = []
    te.vjp(lambda x: (seen.append(ask(x)), x)[1], VALUES[kind])
    plain = which_gives if ask is which_gives or ask.__name__ == "which_gives" else which_has
    assert seen == [plain(VALUES[kind])]


OBJECTS = [
    *(np.sin, np.matmul, np.add, np.sum, np.dot, np.max, np.linalg.norm, np.fft.fft, 1.5, np.ones(2), [1.0], None),
    *(np.random.default_rng(0), np.random.RandomState(0), np.random.PCG64(), np.vectorize(abs), np.ndenumerate([1.0])),
    *(np.polynomial.Polynomial([1.0, 2.0]), np.polynomial.Chebyshev([1.0]), np.poly1d([1.0])),
    *(
        statistics.NormalDist(),
        statistics.StatisticsError(),
        np.float64(1.0),
        np.dtype(float),
        np.random.SeedSequence(),
    ),
]
MODULES = [name for name in SOURCES if name not in COMPILERS]  # the others may not be installed
CLASSES = sorted(
    {
        f"{module}.{name}"
        for module in MODULES
        for name, x in vars(importlib.import_module(module)).items()
        if isinstance(x, type) and not name.startswith("_") and name != "ABCPolyBase"  # numpy does not export it
    }
)
ASKED = "\n".join(
    [
        *(f"import {name}" for name in MODULES),
        "def asked(o, maker):",
        "    found = {}",
        *(
            f"    found[{c!r}] = isinstance(o, {c}), isinstance(o, ({c}, str))\n"
            f"    found[{c!r}] += (isinstance({c}, type) and issubclass(type(o), {c}),)"
            for c in CLASSES
        ),
        "    return found, type(o) is type(maker)",
        "def of_type(o):",
        *(f"    if type(o) is {c} or o.__class__ is {c}: return {c!r}" for c in CLASSES),
    ]
)


@pytest.mark.filterwarnings("ignore")
def test_objects_are_instances_of_the_same_classes(package: Any) -> None:
    package({"classes_asked": ASKED})
    import classes_asked  # type: ignore[import-not-found]

    lifted = te.lift(classes_asked)
    for o in OBJECTS:
        (found, same), (wanted, _) = lifted.asked(o, o), classes_asked.asked(o, o)
        assert same and {c: (x, wanted[c]) for c, x in found.items() if x != wanted[c]} == {}, o
        assert lifted.of_type(o) == classes_asked.of_type(o), o


def test_a_function_of_numpy_is_a_ufunc_where_the_plain_one_is() -> None:
    def kinds(names: list[str]) -> list[Any]:
        found = [getattr(np, name) for name in names]
        return [(isinstance(f, np.ufunc), type(f) is np.ufunc, f.__class__ is np.ufunc) for f in found]

    names = [name for name in dir(np) if not name.startswith("_") and callable(getattr(np, name)) and name != "matmul"]
    assert te.lift(kinds)(names) == kinds(names)
    assert te.lift(lambda: isinstance(np.matmul, np.ufunc))()
    assert te.lift(lambda o: isinstance(o, int | np.random.Generator))(np.random.default_rng(0))
