"""Run every benchmark once, in this process: shows within a minute or two that all of them still work.

    python asv_bench/quick.py [REGEX]

`asv run --quick` does the same with a process for each benchmark and parameter, which takes many times as long.
"""

import importlib
import itertools
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

KINDS = ("time_", "track_", "peakmem_")


def classes(module: ModuleType) -> Iterator[type]:
    """Return the classes that a module defines itself."""
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield value


def methods(cls: type) -> list[str]:
    """Return the names of a class's benchmarks, inherited ones too."""
    return [name for name in dir(cls) if name.startswith(KINDS)]


def parameters(cls: type) -> list[tuple[Any, ...]]:
    """Return every combination of a class's parameters."""
    return list(itertools.product(*getattr(cls, "params", ())))


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Return the name of each benchmark, and a call that sets it up and runs it."""
    for info in pkgutil.iter_modules(benchmarks.__path__):
        module = importlib.import_module(f"asv_bench.benchmarks.{info.name}")
        for cls in classes(module):
            if info.name != "derivatives":
                for values in parameters(cls):
                    for name in methods(cls):
                        yield f"{info.name}.{cls.__name__}.{name}{values}", partial(run, cls, name, values)


def run(cls: type, name: str, values: tuple[Any, ...]) -> Any:
    """Set one benchmark up and run it."""
    instance = cls()
    if hasattr(instance, "setup"):
        instance.setup(*values)
    return getattr(instance, name)(*values)


def failure(call: Callable[[], Any]) -> str | None:
    """Run a benchmark and return what went wrong."""
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def main(pattern: str = "") -> int:
    """Run all benchmarks that match; the exit code is 1 where one fails."""
    started, failed, count = perf_counter(), [], 0
    for name, call in cases():
        if re.search(pattern, name):
            count += 1
            wrong = failure(call)
            failed += [f"{name}\n    {wrong}"] if wrong else []
    print("\n".join([*failed, f"{count} benchmarks in {perf_counter() - started:.0f} s, {len(failed)} failed"]))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
