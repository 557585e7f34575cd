"""Compares the counts of programs, transforms and typed programs exactly with the committed file counts.json.

    python asv_bench/counts.py             compare; the exit code is 1 if a count has changed
    python asv_bench/counts.py --update    write the file again, after an intended change

Counts have no noise: one more record of a program, or call or contribution in its reverse sweep, shows at once. So does
one more call of a rule in a transform, and one more line or step of a generated derivative.
"""

import argparse
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

import tapeengine as te
from asv_bench import transformed, typed_cases
from asv_bench.programs.catalogue import PROGRAMS
from asv_bench.programs.program import Program
from asv_bench.targets.ratios import engine_module, ones_like

COMMITTED = Path(__file__).with_name("counts.json")

Counts = dict[str, dict[str, Any]]


def count(program: Program) -> dict[str, int]:
    """Count one program in its smallest size."""
    run, primals = program.problem(program.sizes[0], engine_module(program))
    value, backpropagator = te.vjp(run, *primals)
    calls, contributions = backpropagator.count(ones_like(value))
    return {"records": len(backpropagator.tape), "calls": calls, "contributions": contributions}


def all_counts() -> Counts:
    """Count everything; if counting fails, the name of the error counts."""
    counters: dict[str, Callable[[], Any]] = {name: partial(count, program) for name, program in PROGRAMS.items()}
    counters |= {f"transforms.{name}": partial(transformed.probed, name) for name in transformed.PROBED}
    counters |= {f"chad.{name}": partial(typed_cases.counts, case) for name, case in typed_cases.CASES.items()}
    counters |= {f"theorem.{name}": partial(typed_cases.theorem, *case) for name, case in typed_cases.SCALARS.items()}
    return {name: outcome(counter) for name, counter in counters.items()}


def outcome(counter: Callable[[], Any]) -> dict[str, Any]:
    """Return the result of a counter, or the name of its error."""
    try:
        found: dict[str, Any] = counter()
    except Exception as error:
        return {"error": type(error).__name__}
    return found


def differences(committed: Counts, found: Counts) -> list[str]:
    """Return a line for each count that differs from the committed one."""
    names = sorted({*committed, *found})
    changed = [name for name in names if committed.get(name) != found.get(name)]
    return [f"{name}: {committed.get(name)} has become {found.get(name)}" for name in changed]


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Compare the counts of all programs with the committed ones.")
    parser.add_argument("--update", action="store_true", help="write the committed file again")
    found = all_counts()
    if parser.parse_args(arguments).update:
        COMMITTED.write_text(json.dumps(found, indent=1) + "\n")
        return 0
    changed = differences(json.loads(COMMITTED.read_text()), found)
    print("\n".join(changed) or f"{len(found)} rows of counts equal the committed ones")
    return bool(changed)


if __name__ == "__main__":
    sys.exit(main())
