"""Compares ADBench's programs as typed programs in native code with torch's eager mode: value and gradient, one thread.

    python asv_bench/adbench.py [--peers PYTHON]

The environment of ``make peers`` has torch. The tools take turns, and each reports its least CPU time of several.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

import tapeengine as te
from asv_bench.measure import peers_python, repeats_for, sample_time
from asv_bench.native import Peers, check
from asv_bench.programs.native_adbench import ADBENCH
from tapeengine import chad

#: The largest ratio to torch, and the rounds.
LIMIT, ROUNDS = 0.5, 9


def ours(name: str) -> tuple[chad.Program, Callable[[], Any]]:
    """Return a program, and its value and gradient as a thunk."""
    function, inputs, active = ADBENCH[name][:3]
    program, args = chad.Program(function, backend="native"), inputs()

    def thunk() -> Any:
        value, backpropagator = te.vjp(program, *args)
        return value, backpropagator(1.0)[:active]

    return program, thunk


def row(name: str, peers: Peers) -> str:
    """Return the row of a program: milliseconds of both, their ratio, and the milliseconds of the first gradient."""
    program, thunk = ours(name)
    first = sample_time(thunk, 1)
    assert program.ways.native is not None
    program.ways.native.promote()
    value, gradient = thunk()
    found, _ = peers.ask("torch", name, (ADBENCH[name][4],))
    check(name, "torch", (value, gradient), found)
    repeats = repeats_for(thunk, 0.01)
    own = min(sample_time(thunk, repeats) for _ in range(ROUNDS))
    torch = np.inf
    for _ in range(ROUNDS):
        torch = min(torch, peers.ask("torch", name))
        own = min(own, sample_time(thunk, repeats))
    return f"| {name} | {1e3 * own:.2f} | {1e3 * torch:.2f} | {own / torch:.2f} | {1e3 * first:.0f} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*ADBENCH, []])
    parser.add_argument("--peers", default=peers_python(), help="the interpreter that has torch")
    options = parser.parse_args()
    peers = Peers(options.peers)
    print(f"| program | native, ms | torch, ms | ratio (at most {LIMIT}) | first, ms |\n|---|---|---|---|---|")
    for name in options.names or ADBENCH:
        print(row(name, peers), flush=True)


if __name__ == "__main__":
    main()
