"""Measurement of times: ratios in one process, candidates interleaved, the minimum of several samples.

A machine's speed drifts from minute to minute by more than the effects of interest, and other processes can only add
time. So candidates take turns, each sample is long enough for the clock, and the smallest sample counts. The clock is
the CPU time of the process with all its threads, which stops while another process has the core.
"""

import gc
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

Thunk = Callable[[], Any]
Clock = Callable[[], float]

#: The environment variable that asks for one round of single calls, which tests a measurement and gives no figures.
QUICK = "TAPEENGINE_BENCH_QUICK"


def quick() -> bool:
    """Say whether measurements only have to show that they work."""
    return bool(os.environ.get(QUICK))


def sample_time(thunk: Thunk, repeats: int, clock: Clock = process_time) -> float:
    """Return the seconds for one call, from `repeats` calls in a row; by default of this process's CPU time."""
    started = clock()
    for _ in range(repeats):
        thunk()
    return (clock() - started) / repeats


def repeats_for(thunk: Thunk, seconds: float, clock: Clock = process_time) -> int:
    """Return the number of calls that fill `seconds`, after a first call for warming up."""
    thunk()
    repeats = 1
    while True:
        taken = sample_time(thunk, repeats, clock) * repeats
        if taken >= seconds:
            return repeats
        repeats = max(2 * repeats, min(100 * repeats, int(1.2 * repeats * seconds / max(taken, 1e-9))))


def interleaved(
    thunks: Mapping[str, Thunk], rounds: int = 9, sample: float = 0.02, clock: Clock = process_time
) -> dict[str, float]:
    """Return the smallest time of a call for each thunk, in seconds.

    Parameters
    ----------
    thunks
        What to time, by name.
    rounds
        The number of samples of each thunk; in each round every thunk has one turn.
    sample
        The shortest sample in seconds; fast thunks are called several times.
    clock
        The clock; one other than CPU time for parallel threads.

    Examples
    --------
    >>> sorted(interleaved({"nothing": lambda: None, "sum": lambda: sum(range(9))}, rounds=2, sample=0.001))
    ['nothing', 'sum']
    """
    if quick():
        rounds, sample = 1, 0.0
    repeats = {name: repeats_for(thunk, sample, clock) for name, thunk in thunks.items()}
    best = dict.fromkeys(thunks, float("inf"))
    for _ in range(rounds):
        for name, thunk in thunks.items():
            gc.collect()
            best[name] = min(best[name], sample_time(thunk, repeats[name], clock))
    return best


def ratio(measured: Thunk, base: Thunk, rounds: int = 9, sample: float = 0.02) -> float:
    """Return the time of `measured` divided by the time of `base`, interleaved."""
    times = interleaved({"base": base, "measured": measured}, rounds, sample)
    return times["measured"] / times["base"]


def adbench_time(thunk: Thunk, samples: int = 10, shortest: float = 0.5, limit: float = 10.0) -> float:
    """Measure like ADBench: the minimum of up to ten samples, each at least `shortest` seconds long.

    Sampling stops early after `limit` seconds.
    """
    repeats = repeats_for(thunk, shortest)
    started, best = perf_counter(), float("inf")
    for _ in range(samples):
        best = min(best, sample_time(thunk, repeats))
        if perf_counter() - started > limit:
            break
    return best


def first_time(thunk: Thunk) -> float:
    """Return the wall-clock seconds of the very first call: tracing, compiling and running."""
    started = perf_counter()
    thunk()
    return perf_counter() - started


def peak_bytes() -> int:
    """Return the largest resident size of this process so far, in bytes.

    On Linux, ``ru_maxrss`` of a new process starts with the peak of its parent, so the kernel's own mark for this
    process is read instead.
    """
    status = Path("/proc/self/status")
    if status.exists():
        (line,) = (line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def in_subprocess(code: str, *arguments: str, python: str = sys.executable) -> str:
    """Run Python code in a new process in which these modules can be imported, and return its output."""
    prelude = f"import sys; sys.path.append({str(Path(__file__).resolve().parents[1])!r})\n"
    done = subprocess.run([python, "-c", prelude + code, *arguments], check=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.strip()


def peers_python() -> str:
    """Return the interpreter of the environment that `make peers` makes."""
    default = Path(__file__).resolve().parents[1] / ".venv-peers"
    return str(Path(os.environ.get("TAPEENGINE_PEERS", default)) / "bin" / "python")
