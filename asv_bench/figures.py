"""Measure the performance targets and print each with its limit.

python asv_bench/figures.py                 all targets
python asv_bench/figures.py scalars         one group
python asv_bench/figures.py particles dot   single targets
python asv_bench/figures.py --json FILE     also write what was measured
"""

import argparse
import importlib
import json
import math
import sys
import traceback
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from asv_bench.targets.target import Measurement, Target

Row = dict[str, Any]

GROUPS = ("scalars", "arrays", "transforms", "forks", "plugins", "chad")


def all_targets() -> dict[str, dict[str, Target]]:
    """Return the targets by group and name."""
    groups = {}
    for group in GROUPS:
        targets: tuple[Target, ...] = importlib.import_module(f"asv_bench.targets.{group}").TARGETS
        groups[group] = {target.name: target for target in targets}
    return groups


def chosen(groups: dict[str, dict[str, Target]], names: Iterable[str]) -> list[Target]:
    """Return the targets selected by names of groups or targets; all of them if there are no names."""
    known = {name: target for group in groups.values() for name, target in group.items()}
    targets: dict[str, Target] = {}
    for name in names or GROUPS:
        if name not in groups and name not in known:
            raise SystemExit(f"no target or group {name!r}; there are {', '.join([*GROUPS, *known])}")
        targets.update(groups[name] if name in groups else {name: known[name]})
    return list(targets.values())


def report(target: Target, runs: int) -> Row:
    """Measure one target, print its line and return it as a row for the file."""
    row: Row = {"name": target.name, "what": target.what, "limit": target.limit, "unit": target.unit}
    try:
        measured = [target.measure() for _ in range(runs)]
    except Exception as error:
        print(f"{target.name:18} could not be measured\n{traceback.format_exc()}", flush=True)
        return row | {"error": f"{type(error).__name__}: {error}"}
    best, worst = min(measured, key=by_value), max(measured, key=by_value)
    verdict = "met" if target.met(best) else "MISSED"
    limit = f"limit {target.limit:6.3g} {target.unit:16}"
    print(f"{target.name:18} {best.value:8.3g}  {limit} {verdict:6}  {best.detail}", flush=True)
    spread = worst.value / best.value if 0.0 < best.value < math.inf else 1.0
    found = {"value": best.value, "met": target.met(best), "detail": best.detail, "runs": runs, "spread": spread}
    return row | found


def by_value(measurement: Measurement) -> float:
    """Return the figure."""
    return measurement.value


def write(path: Path, rows: list[Row]) -> None:
    """Write the rows, and keep those of targets that were not measured again."""
    old = json.loads(path.read_text()) if path.exists() else []
    fresh = {row["name"]: row for row in rows}
    kept = [fresh.pop(row["name"], row) for row in old]
    path.write_text(json.dumps([*kept, *fresh.values()], indent=1) + "\n")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; with --strict the exit code is the number of targets that were not met."""
    parser = argparse.ArgumentParser(description="Measure the performance targets.")
    parser.add_argument("names", nargs="*", help=f"targets or groups ({', '.join(GROUPS)}); all without names")
    parser.add_argument("--json", type=Path, help="also write the rows to this file")
    parser.add_argument("--runs", type=int, default=1, help="measure each target several times, the smallest counts")
    parser.add_argument("--strict", action="store_true", help="fail where a target is not met")
    options = parser.parse_args(arguments)
    rows = []
    for target in chosen(all_targets(), options.names):
        rows.append(report(target, options.runs))
        if options.json:
            write(options.json, rows)
    return sum(not row.get("met") for row in rows) if options.strict else 0


if __name__ == "__main__":
    sys.exit(main())
