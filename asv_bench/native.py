"""Compares native code with JAX under jit, adjoints by hand in numba, and gradients by hand: ``make bench-native``.

Value and gradient of realistic programs, on one thread, in CPU time. The other tools run in a separate process, under
the interpreter that ``--peers`` names; all tools take turns, and the smallest time counts. Values and gradients are
compared first.
"""

import argparse
import dataclasses
import json
import math
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")

import numpy as np

import tapeengine as te
from asv_bench.measure import peers_python, repeats_for, sample_time
from asv_bench.peers import native_hand
from asv_bench.programs.native_arrays import ARRAYS
from asv_bench.programs.native_loops import LOOPS, Link, Number
from tapeengine import chad

CASES = MappingProxyType({**ARRAYS, **LOOPS})
BY_NUMBA = ("scalars", "horner", "linear", "asian")
#: The largest ratios to JAX on all programs and on the best so many, to numba, and to numpy by hand.
LIMITS = MappingProxyType({"jax": 1.2, "numba": 1.5, "numpy": 1.0})
ROUNDS, CALLS = 7, 300
HEADER = (
    "| program | native, us | default, us | JAX, us | ratio | numba, us | ratio | numpy, us | ratio "
    "| first, ms | JAX, ms |\n" + "|---" * 11 + "|"
)

Thunk = Callable[[], Any]


class Peers:
    """The other tools, in a separate process."""

    def __init__(self, python: str) -> None:
        root = Path(__file__).resolve().parents[1]
        command = [python, "-m", "asv_bench.peers.native_worker"]
        self.process = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, tool: str, name: str, args: tuple[Any, ...] | None = None) -> Any:
        """Request with arguments: value and gradient, with their time; without arguments: the time of a call."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None
        pickle.dump((tool, name, args), stdin)
        stdin.flush()
        return pickle.load(stdout)


def ours(name: str, backend: str | None, args: tuple[Any, ...]) -> tuple[chad.Program, Thunk]:
    """Return a `te.program`, and its value and gradient as a thunk."""
    program = chad.Program(CASES[name][0], backend=backend)

    def thunk() -> Any:
        value, backpropagator = te.vjp(program, *args)
        return value, backpropagator(1.0)

    return program, thunk


def improve(program: chad.Program) -> None:
    """Improve a program's code now, as happens after a long run."""
    ways, others = program.executable.ways, program.executable.others
    while others is not None and others.left < math.inf:
        others.left = 0.0
        others.ready()
    for native in (ways.native, None if others is None else others.native):
        if native is not None:
            native.promote()


# ------------------------------------------------------------ the same numbers?


def fields(x: Any) -> list[Any]:
    """Return the fields of a record."""
    return [getattr(x, f.name) for f in dataclasses.fields(x)]


def for_others(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments for tools without records: as lists of lists and arrays."""
    if name == "expression":
        return (as_lists(args[0]),)
    return columns(args[0]) if name == "chain" else args


def as_lists(x: Any) -> Any:
    """Return an expression as lists."""
    return x.value if isinstance(x, Number) else [as_lists(part) for part in fields(x)]


def columns(x: Any) -> tuple[Any, ...]:
    """Return the angles and the lengths of a chain."""
    found = []
    while isinstance(x, Link):
        found.append((x.angle, x.length))
        x = x.rest
    return tuple(np.array(found).T)


def numbers(x: Any) -> Iterable[float]:
    """Iterate over the numbers of a gradient."""
    if isinstance(x, tuple | list):
        for part in x:
            yield from numbers(part)
    elif isinstance(x, np.ndarray):
        yield from x.ravel()
    elif dataclasses.is_dataclass(x):
        yield from numbers(fields(x))
    elif x is not None:
        yield float(x)


def check(name: str, tool: str, found: tuple[Any, Any], wanted: tuple[Any, Any]) -> None:
    """Stop if two tools do not give the same numbers."""
    a, b = (np.array([v, *numbers(g)]) for v, g in (found, wanted))
    if not np.allclose(a, b, rtol=1e-9, atol=1e-9 * np.abs(b[1:]).max(initial=1.0)):
        raise AssertionError(f"{name}: tapeengine and {tool} differ by {np.abs(a - b).max():.1e}")


# ------------------------------------------------------------ times


def measured(name: str, peers: Peers | None) -> dict[str, float]:
    """Return the seconds of a call and of the first one, by tool."""
    args = CASES[name][1]()
    programs = {"native": ours(name, "native", args), "default": ours(name, None, args)}
    thunks = {tool: thunk for tool, (_, thunk) in programs.items()}
    times = {f"first_{tool}": sample_time(thunk, 1) for tool, thunk in thunks.items()}
    for _ in range(CALLS):
        thunks["default"]()
    for program, _ in programs.values():
        improve(program)
    if name in native_hand.BY_HAND:
        thunks["numpy"] = partial(native_hand.BY_HAND[name], *args)
    value, gradient = thunks["native"]()
    gradient = columns(gradient[0]) if name == "chain" else gradient
    asked = [] if peers is None else ["jax", *(["numba"] if name in BY_NUMBA else [])]
    for tool in asked:
        assert peers is not None
        found, times[f"first_{tool}"] = peers.ask(tool, name, for_others(name, args))
        check(name, tool, (value, gradient), found)
    if "numpy" in thunks:
        check(name, "numpy", (value, gradient), thunks["numpy"]())
    repeats = {tool: repeats_for(thunk, 0.01) for tool, thunk in thunks.items()}
    for _ in range(ROUNDS):
        for tool, thunk in thunks.items():
            times[tool] = min(times.get(tool, np.inf), sample_time(thunk, repeats[tool]))
        for tool in asked:
            assert peers is not None
            times[tool] = min(times.get(tool, np.inf), peers.ask(tool, name))
    return times


def row(name: str, times: Mapping[str, float]) -> str:
    """Return the row of a program: microseconds, and ratios."""
    best = min(times["native"], times["default"])

    def cell(tool: str) -> str:
        return f"{times[tool] * 1e6:.0f} | {best / times[tool]:.2f}" if tool in times else "|"

    first = [f"{times[f'first_{t}'] * 1e3:.0f}" if f"first_{t}" in times else "" for t in ("native", "jax")]
    own = f"{times['native'] * 1e6:.0f} | {times['default'] * 1e6:.0f}"
    return f"| {name} | {own} | {' | '.join(map(cell, LIMITS))} | {' | '.join(first)} |"


def summary(found: Mapping[str, Mapping[str, float]], tool: str, limit: float) -> str:
    """Name the programs that exceed their limits."""
    ratios = {n: min(t["native"], t["default"]) / t[tool] for n, t in found.items() if tool in t}
    above = ", ".join(f"{n} {r:.2f}" for n, r in ratios.items() if r > limit) or "none"
    return f"\n{tool}: {sum(r <= 1.0 for r in ratios.values())} of {len(ratios)} at 1.0 or less; above {limit}: {above}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", help="all by default")
    parser.add_argument("--peers", default=peers_python(), help="the interpreter that has JAX and numba; '' for none")
    parser.add_argument("--json", type=Path, help="where the times are written")
    options = parser.parse_args()
    peers = Peers(options.peers) if options.peers else None
    measured("newton", peers)  # keeps imports and look-ups that happen once out of the programs' times
    found: dict[str, dict[str, float]] = {}
    print(HEADER)
    for name in options.programs or CASES:
        found[name] = measured(name, peers)
        print(row(name, found[name]), flush=True)
    for tool, limit in LIMITS.items():
        print(summary(found, tool, limit))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
