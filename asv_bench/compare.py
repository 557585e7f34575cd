"""Compares the times of this commit with those of another: `make bench-compare BASE=...`.

    python asv_bench/compare.py BASE [--bench REGEX]

Both commits are built once for all comparisons. A process for BASE and two for HEAD run the benchmarks of this checkout
in turns of about ten milliseconds, and the smallest sample of each counts. The difference between the two processes of
HEAD is a benchmark's noise. A benchmark that seems slower is measured again for a longer time in new processes; it is a
regression if it is slower again, and then the exit code is 1. Only every twelfth single primitive is measured;
`--bench time_` measures all.
"""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

import tapeengine as te
from asv_bench.commands import BUILD, HERE, commit_of, git, notes, single_threads
from asv_bench.gate import factor
from asv_bench.quick import found

#: By default one in so many single primitives is compared: they share their machinery, and are most of the benchmarks.
STEP = 12
#: Differences up to the first factor are always noise; a slow-down by more than the second is never noise.
SURE, PLAIN = 1.1, 1.25
#: The seconds for each benchmark, and for one that seems slower.
FIRST, AGAIN = 1.0, 3.0
FEWEST, MOST = 3, 100

Times = dict[str, list[float]]
Ask = Any


# -- commits ----------------------------------------------------------------------------------------------------------
def commits(base: str) -> tuple[str, str]:
    """Return the hashes of HEAD and of the commit to compare with."""
    head, other = commit_of(), commit_of(base)
    if head is None:
        raise SystemExit("there is no commit to compare: this needs git, and the project's repository")
    if other is None:
        raise SystemExit(f"{base} is no commit here; in a shallow clone fetch more: git fetch --deepen=100")
    if other == head:
        raise SystemExit(f"{base} is HEAD itself: name another commit with BASE=...")
    return head, other


def built(commit: str, folder: Path = BUILD / "commits") -> Path:
    """Return the folder with a commit's installed packages, which is made once."""
    site = folder / commit[:12]
    if not site.exists():
        source, fresh = folder / "source", folder / "fresh"
        for path in (source, fresh):
            shutil.rmtree(path, ignore_errors=True)
        source.mkdir(parents=True)
        archive = folder / "source.tar"
        git("archive", "--output", str(archive), commit, folder=HERE.parent)
        shutil.unpack_archive(archive, source)
        install = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation")
        packages = (str(source), str(source / "primitives" / "scipy"))
        subprocess.run([*install, "--target", str(fresh), *packages], check=True)
        fresh.rename(site)
    return site


# -- times ------------------------------------------------------------------------------------------------------------
@contextmanager
def worker(*paths: Path) -> Iterator[Ask]:
    """Start a process with the packages in some folders; return the function that requests a sample from it."""
    environment = single_threads() | {"PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONHASHSEED": "0"}
    command = [sys.executable, str(HERE / "worker.py")]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:

        def ask(name: str, calls: int = 0) -> Any:
            assert process.stdin is not None and process.stdout is not None
            print(json.dumps([name, calls]), file=process.stdin, flush=True)
            return json.loads(process.stdout.readline())

        try:
            yield ask
        finally:
            process.kill()


def turns(ask: Sequence[Ask], name: str, seconds: float) -> list[float] | str:
    """Return the smallest sample of each process, with the processes in turns; or the reason why there is none."""
    least, calls = [math.inf for _ in ask], []
    for one in ask:
        prepared = one(name)
        if isinstance(prepared, str):
            return prepared
        calls.append(prepared[1])
    started, rounds = perf_counter(), 0
    while rounds < FEWEST or (rounds < MOST and perf_counter() - started < seconds):
        for k in sorted(range(len(ask)), key=lambda k: (k + rounds) % len(ask)):
            least[k] = min(least[k], one_sample(ask[k], name, max(calls)))
        rounds += 1
    return least


def one_sample(ask: Ask, name: str, calls: int) -> float:
    """Return the seconds of one call; a benchmark that has run once runs again."""
    return float(ask(name, calls)[0])


def measured(names: Iterable[str], sites: Sequence[Sequence[Path]], seconds: float) -> Times:
    """Return the times of benchmarks in processes of each of the sites."""
    times: Times = {}
    with ExitStack() as stack:
        ask = [stack.enter_context(worker(*paths)) for paths in sites]
        for name in names:
            found = turns(ask, name, seconds)
            if isinstance(found, str):
                print(f"{name} is not compared: {found}", flush=True)
            else:
                times[name] = found
    return times


# -- verdicts ---------------------------------------------------------------------------------------------------------
def limit(times: Sequence[float]) -> float:
    """Return the factor by which a benchmark may differ: the square of its noise, since both sides are noisy."""
    _, head, twin = times
    return max(SURE, min(PLAIN, factor(head, twin) ** 2))


def slow_down(times: Sequence[float]) -> float:
    """Return the time of HEAD divided by that of BASE."""
    base, head, twin = times
    return min(head, twin) / base


def slower(times: Times) -> list[str]:
    """Return the benchmarks that are slower than their noise explains."""
    return [name for name, row in times.items() if slow_down(row) > limit(row)]


def regressions(names: Iterable[str], sites: Sequence[Sequence[Path]]) -> dict[str, float]:
    """Return the slow-downs of the benchmarks that are slower in two measurements."""
    first = measured(names, sites, FIRST)
    if not first:
        raise SystemExit("no benchmark runs on both commits")
    suspects = [name for name, row in first.items() if slow_down(row) > SURE]
    print(f"{len(first)} benchmarks, {len(suspects)} of them again", flush=True)
    again = measured(suspects, sites, AGAIN) if suspects else {}
    return {name: min(slow_down(first[name]), slow_down(again[name])) for name in slower(again)}


def usual(names: Iterable[str]) -> str:
    """Return the regular expression for the default comparison: every STEP-th single primitive, and all others."""
    sampled = "|".join(re.escape(repr(name)) for name in sorted(names)[::STEP])
    return rf"(?<!\.Primitives)\.time_|\.Primitives\.time_derivative\(({sampled}),"


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Compare the times of HEAD with another commit's.")
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument(
        "--bench", help="which benchmarks, as a regular expression; by default all but most single primitives"
    )
    options = parser.parse_args(arguments)
    head, base = commits(options.base)
    pattern = options.bench or usual(te.default_engine().registry)
    print("\n".join(notes()), flush=True)
    names = [row[0] for row in found() if row[2].startswith("time_") and re.search(pattern, row[0])]
    ours, theirs = (built(head),), (built(base),)
    worse = regressions(names, [theirs, ours, ours])
    print("\n".join(f"{name} takes {times:.2f} times as long" for name, times in worse.items()) or "nothing is slower")
    return bool(worse)


if __name__ == "__main__":
    sys.exit(main())
