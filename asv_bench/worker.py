"""A process that times benchmarks on request; `compare` has one for each commit, which take turns.

It reads lines ``["name", calls]`` and answers with ``[seconds of a call, calls]`` or the text of an error. With 0 calls
it prepares the benchmark and determines the number of calls in a sample.
"""

import gc
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from asv_bench.quick import found

#: The shortest sample in seconds.
SAMPLE = 0.01
MOST_CALLS = 10_000


def timed(name: str, cls: type, method: str, values: tuple[Any, ...]) -> tuple[Callable[[], Any], Any, int]:
    """Return a call of a benchmark, its clock, and the number of calls in a sample; 0 until that is determined."""
    instance: Any = cls()
    benchmark = getattr(instance, method)
    return (lambda: benchmark(*values)), instance.timer, int(getattr(instance, "number", 0))


def sample(call: Callable[[], Any], clock: Callable[[], float], calls: int) -> float:
    """Return the seconds of one call, from several in a row."""
    gc.collect()
    started = clock()
    for _ in range(calls):
        call()
    return (clock() - started) / calls


def calls_for(call: Callable[[], Any], clock: Callable[[], float]) -> int:
    """Return the number of calls in a sample."""
    call()
    calls = 1
    while (seconds := sample(call, clock, calls) * calls) < SAMPLE and calls < MOST_CALLS:
        calls = min(MOST_CALLS, max(2 * calls, int(1.2 * calls * SAMPLE / max(seconds, 1e-9))))
    return calls


def answer(known: dict[str, tuple[Any, ...]], name: str, calls: int) -> Any:
    """Time a benchmark."""
    if name not in known:
        return "it does not exist there"
    try:
        call, clock, number = timed(*known[name])
        calls = calls or number or calls_for(call, clock)
        return [sample(call, clock, calls), calls]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def main() -> None:
    """Answer until the input ends; output of benchmarks goes to stderr."""
    replies, sys.stdout = sys.stdout, sys.stderr
    known = {row[0]: row for row in found(skip_failing=True) if row[2].startswith("time_")}
    for line in sys.stdin:
        print(json.dumps(answer(known, *json.loads(line))), file=replies, flush=True)


if __name__ == "__main__":
    main()
