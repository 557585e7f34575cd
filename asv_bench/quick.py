"""Runs every benchmark once in this process, which shows within a minute or two that all of them still work.

    python asv_bench/quick.py [REGEX]

`asv run --quick` does the same with a process for each benchmark and parameter, which takes many times longer.
"""

import importlib
import itertools
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from time import perf_counter
from types import ModuleType
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from asv_bench import benchmarks
from asv_bench.measure import QUICK

KINDS = ("time_", "track_", "peakmem_")
SLOWEST = 12


def classes(module: ModuleType) -> Iterator[tuple[str, type]]:
    """Return the classes of a module with their names, as asv finds them."""
    for name, value in vars(module).items():
        if isinstance(value, type) and not name.startswith("_"):
            yield name, value


def methods(cls: type) -> list[str]:
    """Return the names of a class's benchmarks, including inherited ones."""
    return [name for name in dir(cls) if name.startswith(KINDS)]


def parameters(cls: type) -> list[tuple[Any, ...]]:
    """Return every combination of a class's parameters."""
    return list(itertools.product(*getattr(cls, "params", ())))


def found(skip_failing: bool = False) -> Iterator[tuple[str, type, str, tuple[Any, ...]]]:
    """Return each benchmark with each of its parameters: its name, its class, its method, and the parameters."""
    for info in pkgutil.iter_modules(benchmarks.__path__):
        try:
            module = importlib.import_module(f"asv_bench.benchmarks.{info.name}")
        except Exception as error:
            if not skip_failing:
                raise
            print(f"{info.name} is left out: {type(error).__name__}: {error}", file=sys.stderr)
            continue
        for class_name, cls in classes(module):
            for values in parameters(cls):
                for name in methods(cls):
                    yield f"{info.name}.{class_name}.{name}{values}", cls, name, values


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Return the name of each benchmark, and a function that sets it up and runs it."""
    for name, *benchmark in found():
        yield name, partial(run, *benchmark)


def run(cls: type, name: str, values: tuple[Any, ...]) -> Any:
    """Set up one benchmark, with the setup of its class or its own, and run it."""
    instance = cls()
    benchmark = getattr(instance, name)
    for source in (instance, benchmark):
        if hasattr(source, "setup"):
            source.setup(*values)
    return benchmark(*values)


def outcome(call: Callable[[], Any]) -> tuple[str, float]:
    """Run a benchmark; return its error, if any, and the seconds. NotImplementedError skips it, as in asv."""
    started, wrong = perf_counter(), ""
    try:
        call()
    except NotImplementedError as error:
        wrong = f"skipped: {error}"
    except Exception as error:
        wrong = f"failed: {type(error).__name__}: {error}"
    return wrong, perf_counter() - started


def main(pattern: str = "") -> int:
    """Run all benchmarks that match; the exit code is 1 if one fails, or none matches."""
    os.environ[QUICK] = "1"
    outcomes = {name: outcome(call) for name, call in cases() if re.search(pattern, name)}
    failed = 0
    for name, (wrong, _) in outcomes.items():
        failed += wrong.startswith("failed")
        print(f"{name}\n    {wrong}\n" if wrong else "", end="")
    for name, (_, seconds) in sorted(outcomes.items(), key=lambda item: -item[1][1])[:SLOWEST]:
        print(f"{seconds:6.1f} s  {name}")
    total = sum(seconds for _, seconds in outcomes.values())
    print(f"{len(outcomes)} benchmarks in {total:.0f} s, {failed} failed")
    return bool(failed or not outcomes)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
