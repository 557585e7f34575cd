"""The counts of all programs, compared exactly with the committed file counts.json.

    python asv_bench/counts.py             compare; the exit code is 1 where a count has changed
    python asv_bench/counts.py --update    write the file again, after a change that is meant

Counts have no noise: a record more for a program, or a call or a contribution more in its reverse sweep, shows at once.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

import tapeengine as te
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
    """Count every program; one that cannot be traced counts as the name of its error."""
    found: Counts = {}
    for name, program in PROGRAMS.items():
        try:
            found[name] = count(program)
        except Exception as error:
            found[name] = {"error": type(error).__name__}
    return found


def differences(committed: Counts, found: Counts) -> list[str]:
    """Return a line for each count that is not the committed one."""
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
    print("\n".join(changed) or f"the counts of {len(found)} programs are the committed ones")
    return bool(changed)


if __name__ == "__main__":
    sys.exit(main())
