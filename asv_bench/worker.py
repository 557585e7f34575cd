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

from asv_bench.measure import repeats_for, sample_time
from asv_bench.quick import found

#: The shortest sample in seconds.
SAMPLE = 0.01


def timed(name: str, cls: type, method: str, values: tuple[Any, ...]) -> tuple[Callable[[], Any], Any, int]:
    """Return a call of a benchmark, its clock, and the number of calls in a sample; 0 until that is determined."""
    instance: Any = cls()
    benchmark = getattr(instance, method)
    return (lambda: benchmark(*values)), instance.timer, int(getattr(instance, "number", 0))


def answer(known: dict[str, tuple[Any, ...]], name: str, calls: int) -> Any:
    """Time a benchmark."""
    if name not in known:
        return "it does not exist there"
    try:
        call, clock, number = timed(*known[name])
        calls = calls or number or repeats_for(call, SAMPLE, clock)
        gc.collect()
        return [sample_time(call, calls, clock), calls]
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
