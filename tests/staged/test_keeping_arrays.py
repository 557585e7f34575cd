"""Recordings of arrays and forks in files: the bits of the program in another process, at the first call and in replays.

`TAPEENGINE_PROGRAMS=first:last` keeps the random programs of some seeds.
"""

from __future__ import annotations

import math
import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy
import numpy_calls
import pytest
from arrays.test_random_arrays import programs
from staged.test_array_programs import LOOKS, POINTS, both, moved
from staged.test_keeping import altered, altered_numbers

import tapeengine as te
import tapeengine.numpy as np
from tapeengine.errors import StagingError
from tapeengine.staged import keeping

FIRST, LAST = map(int, os.environ.get("TAPEENGINE_PROGRAMS", "0:150").split(":"))
Programs = dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]]


def random_programs() -> Programs:
    found: Programs = {}
    for k, program in enumerate(programs(FIRST, LAST)):
        function = program.function()
        steps = ([numpy.zeros_like(t) for t in program.tangents], [0.1 * t for t in program.tangents], program.others)
        points = [tuple(program.primals(step)) for step in steps]
        found[str(k)] = (lambda *primals, function=function: function(np, lambda **live: None, *primals)), points
    return found


def called_functions() -> Programs:
    return {
        call.name: (
            lambda *primals, call=call: call.program(np, *primals),
            [call.primals, tuple(moved(primal) for primal in call.primals)],
        )
        for call in numpy_calls.calls()
    }


def looking_programs() -> Programs:
    return {name: (look, [(numpy.array(point),) for point in POINTS]) for name, look in LOOKS.items()}


def branches(x: Any, y: Any) -> Any:
    def one() -> Any:
        total = x
        for _ in range(5):
            total = total * y if total < 3.0 else te.math.sin(total)
        return total

    a, b = te.fork(one, lambda: [x + 1.0, y * x])
    return a * b[0] + b[1]


def mapped(xs: Any) -> Any:
    return te.math.fsum(te.fork_map(lambda x: x * x if x > 0.0 else -x, list(xs), chunksize=2))


def nested(x: float) -> Any:
    return te.fork(lambda: te.fork(lambda: x * x, lambda: te.math.exp(x))[1] * 2.0)[0] + x


FORKS: Programs = {
    "branches": (branches, [(0.5, 2.0), (1.5, 1.2), (2.0, -1.0)]),
    "nested": (nested, [(0.5,), (1.5,)]),
    "mapped": (mapped, [([0.5, 2.0, -1.0],), ([0.5, -2.0, 3.0],)]),
}


def inner(x: Any) -> Any:
    return te.grad(lambda z: np.sum(np.sin(z) * z) if z[0] > 0.0 else np.sum(z * z))(x) * x


CALLS: Programs = {
    name: (lambda x, y, function=function: function(x, y) * x, [(1.5, 2.5), (3.25, 0.75)])
    for name, function in {
        "gamma": lambda x, y: te.math.gamma(x) + te.math.lgamma(y),
        "hypot": lambda x, y: te.math.hypot(x, y, x * y),
        "log": lambda x, y: te.math.log(x, 3.0),
        "dist": lambda x, y: te.math.dist([x, y], [y, 1.0]),
        "fsum": lambda x, y: te.math.fsum([x, y, x / 3.0]),
        "sumprod": lambda x, y: te.math.sumprod([x, y], [y, y]),
        "fma": lambda x, y: te.math.fma(x, y, 1.0),
        "frexp": lambda x, y: te.math.frexp(x)[0],
        "round": lambda x, y: round(x / y, 2),
        "numpy": lambda x, y: numpy.exp(x) * numpy.arctan2(x, y),
    }.items()
}


SOURCES: dict[str, Callable[[], Programs]] = {
    "random programs": random_programs,
    "numpy's functions": called_functions,
    "what programs look at": looking_programs,
    "forks": lambda: FORKS,
    "calls of functions": lambda: CALLS,
    "inner derivatives": lambda: {"inner": (inner, [(numpy.array([s, 2.0]),) for s in (0.5, 1.5, -1.0)])},
}

CHILD = """
import pickle, sys, warnings
import numpy
import tapeengine as te
from staged.test_array_programs import both

warnings.simplefilter("ignore")
found = {}
with open(sys.argv[1], "rb") as file:
    cases = pickle.load(file)
with numpy.errstate(all="ignore"):
    for name, (path, points) in cases.items():
        loaded = te.load_staged(path)
        found[name] = [[both(loaded, point) for point in points] for _ in range(2)], loaded.stats().replays
with open(sys.argv[2], "wb") as file:
    pickle.dump(found, file)
"""


def in_another_process(cases: Any, folder: Path) -> Any:
    """The bits of saved programs at points, of the first calls and of later ones, and the numbers of replays."""
    (folder / "cases").write_bytes(pickle.dumps(cases))
    paths = os.pathsep.join(path for path in sys.path if path)
    subprocess.run(
        [sys.executable, "-c", CHILD, str(folder / "cases"), str(folder / "found")],
        check=True,
        env={**os.environ, "PYTHONPATH": paths},
    )
    return pickle.loads((folder / "found").read_bytes())  # noqa: S301  # written by this test


def saved(name: str, program: Callable[..., Any], points: list[Any], folder: Path) -> tuple[Any, Any]:
    """(path and points, expected bits) of a program that was recorded and saved; None if it is not replayed."""
    staged = te.stage(program)
    wanted = [both(program, point) for point in points]
    assert [both(staged, point) for point in points] == wanted
    given = [(point, bits) for point, bits in zip(points, wanted, strict=True) if not isinstance(bits, str)]
    if staged.refused is not None or not given:
        return None, None
    path = folder / f"{len(list(folder.iterdir()))}.staged"
    staged.save(path)
    return (str(path), [point for point, _ in given]), [bits for _, bits in given]


@pytest.mark.parametrize("source", SOURCES)
def test_a_program_of_arrays_has_its_bits_in_another_process(source: str, tmp_path: Path) -> None:
    wanted, cases, refused = {}, {}, []
    found = SOURCES[source]()
    with warnings.catch_warnings(), numpy.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for name, (program, points) in found.items():
            try:
                case, bits = saved(name, program, points, tmp_path)
            except StagingError as error:
                refused.append(f"{name}: {error}")
                continue
            if case is not None:
                cases[name], wanted[name] = case, bits
    assert not refused
    assert len(cases) >= 0.9 * len(found)
    for name, (runs, replays) in in_another_process(cases, tmp_path).items():
        assert runs == [wanted[name]] * 2, name
        assert replays >= len(wanted[name]), name
