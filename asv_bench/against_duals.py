"""Times derivatives of typed programs relative to the same functions on dual numbers, and to code by hand.

Of every program it times value and gradient, of small ones Jacobians and second derivatives as well.

``python asv_bench/against_duals.py [programs]`` prints a row for each program; the targets use the largest figures.
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import process_time
from types import MappingProxyType
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")

import numpy as np

import tapeengine as te
from asv_bench.measure import interleaved
from asv_bench.native import CASES as USERS
from asv_bench.native import numbers
from asv_bench.peers.native_hand import BY_HAND
from asv_bench.programs.catalogue import PROGRAMS
from asv_bench.programs.records import RECORDS
from asv_bench.programs.small_calls import SMALL
from asv_bench.programs.typed_twins import TWINS
from asv_bench.targets.ratios import ones_like
from tapeengine import chad

Inputs = Callable[[], tuple[Any, ...]]

#: The CPU seconds that a derivative runs before it is timed: native code takes over after as much work as it costs.
WARM = 0.4

#: The programs that are compared with gradients written by hand in numpy.
FACTORS = ("k_means", "mixture", "factors")
#: Sizes for the benchmark programs that take more than some milliseconds on dual numbers even in their smallest size.
SIZES: Mapping[str, int] = MappingProxyType({"matmul": 100, "gmm": 100, "particles": 100, "tree": 100, "lstm": 16})


def twin_inputs(name: str) -> tuple[Any, ...]:
    """Return the arguments of a typed twin."""
    program = PROGRAMS[name]
    return TWINS[name].arguments(program.inputs(SIZES.get(name, program.sizes[0])))


def cases() -> Iterator[tuple[str, Any, Inputs]]:
    """Go through all typed programs with their arguments."""
    for name, (function, inputs) in {**USERS, **RECORDS, **SMALL}.items():
        yield name, chad.Program(function), inputs
    for name, twin in TWINS.items():
        yield f"{name} (twin)", twin.program, lambda name=name: twin_inputs(name)  # type: ignore[misc]


CASES: Mapping[str, tuple[Any, Inputs]] = MappingProxyType({name: (p, inputs) for name, p, inputs in cases()})


def gradient(program: Any, primals: tuple[Any, ...]) -> Callable[[], Any]:
    """Return value and cotangents as a thunk."""
    ones = ones_like(te.vjp(program, *primals)[0])
    return lambda: te.vjp(program, *primals)[1](ones)


def jacobian(program: Any, primals: tuple[Any, ...]) -> Callable[[], Any]:
    """Return the Jacobian by all arguments as a thunk."""
    found = te.jacobian(program, tuple(range(len(primals))))
    return lambda: [found(*primals)]


def hessian(program: Any, primals: tuple[Any, ...]) -> Callable[[], Any]:
    """Return the Hessian as a thunk."""
    found = te.hessian(program)
    return lambda: [found(*primals)]


def product(program: Any, primals: tuple[Any, ...]) -> Callable[[], Any]:
    """Return the Hessian's product with the primals as a thunk."""
    return lambda: [te.hvp(program, primals, primals)]


#: For each transform of small programs their names.
SMALL_TRANSFORMS: Mapping[Callable[..., Any], tuple[str, ...]] = MappingProxyType(
    {
        jacobian: ("lists of arguments", "numpy's floats", "dicts"),
        hessian: ("numpy's floats", "dicts"),
        product: ("numpy's floats", "dicts"),
    }
)
#: What is timed: for each name a derivative and the program's name.
DERIVATIVES: Mapping[str, tuple[Callable[..., Any], str]] = MappingProxyType(
    {
        **{name: (gradient, name) for name in CASES},
        **{f"{of.__name__}, {name}": (of, name) for of, names in SMALL_TRANSFORMS.items() for name in names},
    }
)


def warmed(thunk: Callable[[], Any]) -> Callable[[], Any]:
    """Run a thunk for some time, and return it."""
    start = process_time()
    while process_time() - start < WARM:
        thunk()
    return thunk


def duals(name: str) -> tuple[Callable[[], Any], Callable[[], Any]]:
    """Return the derivative of a program and of the same function on dual numbers, as thunks."""
    derivative, of = DERIVATIVES[name]
    program, inputs = CASES[of]
    primals = inputs()
    return warmed(derivative(program, primals)), warmed(derivative(program.python, primals))


def over_duals(name: str, rounds: int = 5) -> tuple[float, dict[str, float]]:
    """Return the time of a program's derivative divided by that on dual numbers, and both times."""
    typed, plain = duals(name)
    times = interleaved({"typed": typed, "duals": plain}, rounds)
    return times["typed"] / times["duals"], times


def by_hand(name: str, rounds: int = 9) -> tuple[float, dict[str, float]]:
    """Return the time of a program's derivative over that of a gradient by hand in numpy, after comparing them."""
    program, inputs = CASES[name]
    primals = inputs()
    typed = warmed(gradient(program, primals))
    _, expected = BY_HAND[name](*primals)
    np.testing.assert_allclose([*numbers(typed())], [*numbers(expected)], rtol=1e-9, atol=1e-9)
    times = interleaved({"typed": typed, "hand": lambda: BY_HAND[name](*primals)}, rounds)
    return times["typed"] / times["hand"], times


def main(*names: str) -> None:
    """Print the figures of some programs, or of all."""
    for name in names or DERIVATIVES:
        figure, times = over_duals(name)
        hand = f"{by_hand(name)[0]:8.2f} x by hand" if name in FACTORS else ""
        print(f"{name:28}{figure:8.3f} x duals{1e3 * times['typed']:10.3f} ms{hand}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
