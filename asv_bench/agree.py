"""Checks whether two full runs on one commit agree within the noise that the performance page states.

    python asv_bench/agree.py                  the last two runs in build/asv/runs
    python asv_bench/agree.py FIRST SECOND     two folders of runs
    python asv_bench/agree.py --write          also write the bands to docs/noise.json, which the page states, where
                                               all counts are equal

Counts must be equal. For ratios, times and memory the factor between the runs is computed, the larger over the smaller;
docs/noise.json states the band of each kind. The exit code is 1 if a count differs or a factor is outside its band.
"""

import argparse
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

from asv_bench.commands import BUILD
from asv_bench.gate import Results, factor, results_in

STATED = Path(__file__).resolve().parents[1] / "docs" / "noise.json"

#: The bands used until docs/noise.json states others.
DEFAULT = {"time": 1.5, "ratio": 1.5, "memory": 1.1}

Bands = dict[str, float]


@dataclass(frozen=True)
class Report:
    """The differences between two runs.

    Attributes
    ----------
    counts
        The number of counts compared.
    unequal
        The counts that differ, with both values.
    missing
        Benchmarks that are in only one run.
    factors
        The factors of each kind, by benchmark.
    """

    counts: int
    unequal: dict[str, tuple[float, float]]
    missing: tuple[str, ...]
    factors: dict[str, Results]

    def beyond(self, bands: Bands) -> Results:
        """Return the benchmarks whose factor is outside the band of their kind."""
        kinds = self.factors.items()
        return {name: f for kind, found in kinds for name, f in found.items() if f > bands.get(kind, DEFAULT[kind])}


def kind_of(benchmark: dict[str, Any]) -> str:
    """Return whether a benchmark is a count, ratio, time or memory, from asv's type and unit."""
    if benchmark["type"] == "track":
        unit = benchmark["unit"]
        if unit == "unit":
            return "count"
        return {"B": "memory", "s": "time"}.get(unit, "ratio")
    return "memory" if benchmark["type"] == "peakmemory" else "time"


def kinds_in(folder: Path) -> dict[str, str]:
    """Return the kind of each benchmark of a run."""
    listed = json.loads((folder / "benchmarks.json").read_text())
    return {name: kind_of(row) for name, row in listed.items() if isinstance(row, dict)}


def figures_in(folder: Path) -> Results:
    """Return the targets of a run as ``figures.<name>``."""
    path = folder / "figures.json"
    rows = json.loads(path.read_text()) if path.exists() else []
    return {f"figures.{row['name']}[0]": row["value"] for row in rows if "value" in row}


def compared(one: Results, other: Results, kinds: dict[str, str]) -> Report:
    """Compare two runs; a benchmark without a kind is a ratio."""
    shared = sorted(one.keys() & other.keys())
    of = {name: kinds.get(name.rsplit("[", 1)[0], "ratio") for name in shared}
    counts = [name for name in shared if of[name] == "count"]
    factors: dict[str, Results] = {kind: {} for kind in DEFAULT}
    for name in shared:
        if of[name] != "count":
            factors[of[name]][name] = factor(one[name], other[name])
    unequal = {name: (one[name], other[name]) for name in counts if one[name] != other[name]}
    return Report(len(counts), unequal, tuple(sorted(one.keys() ^ other.keys())), factors)


def quantile(values: list[float], part: float) -> float:
    """Return the given quantile of the values."""
    return sorted(values)[min(len(values) - 1, math.ceil(part * len(values)) - 1)]


def summary(found: Results) -> dict[str, float]:
    """Return number, median, 95 % and largest of the factors of one kind; the band is the largest, rounded up."""
    values = list(found.values())
    told = {"benchmarks": len(values), "median": quantile(values, 0.5), "most": quantile(values, 0.95)}
    return told | {"largest": max(values), "band": math.ceil(20 * max(values)) / 20}


def summaries(report: Report) -> dict[str, dict[str, float]]:
    """Return the summary of each kind that was measured."""
    return {kind: summary(found) for kind, found in report.factors.items() if found}


def told(report: Report, bands: Bands) -> str:
    """Return the report as lines."""
    lines = [f"{report.counts} counts, {len(report.unequal)} of them differ"]
    lines += [f"  {name}: {one:g} and {other:g}" for name, (one, other) in report.unequal.items()]
    lines += [f"  only in one run: {name}" for name in report.missing]
    for kind, s in summaries(report).items():
        spread = f"half within {s['median']:.3f}, 95 % within {s['most']:.3f}, all within {s['largest']:.3f}"
        lines.append(f"{kind:7} {s['benchmarks']:4} benchmarks: {spread}; band {bands.get(kind, DEFAULT[kind]):.2f}")
    outside = sorted(report.beyond(bands).items(), key=lambda item: -item[1])
    lines += [f"  beyond the band: {name} differs {f:.2f} times" for name, f in outside]
    return "\n".join(lines)


def report_of(first: Path, second: Path) -> Report:
    """Compare two folders of runs."""
    one, other = (results_in(folder) | figures_in(folder) for folder in (first, second))
    return compared(one, other, kinds_in(first))


def stated() -> Bands:
    """Return the bands that the page states; none if nothing has been written yet."""
    found = json.loads(STATED.read_text())["kinds"] if STATED.exists() else {}
    return {kind: row["band"] for kind, row in found.items()}


def with_the_run_before(folder: Path) -> None:
    """Print how a run agrees with the previous one of the same commit, if there is one."""
    name, number = folder.name.rsplit("-", 1)
    before = folder.with_name(f"{name}-{int(number) - 1}")
    if (before / "benchmarks.json").exists() and (folder / "benchmarks.json").exists():
        print(f"compared with {before.name}:\n{told(report_of(before, folder), stated())}")


def last_two() -> list[Path]:
    """Return the folders of the last two runs."""
    runs = sorted((BUILD / "runs").glob("*"), key=lambda path: path.stat().st_mtime)
    if len(runs) < 2:
        raise SystemExit("there are no two runs to compare: make bench twice")
    return runs[-2:]


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Compare two full runs on one commit.")
    parser.add_argument("runs", nargs="*", type=Path, help="two folders; the last two runs without")
    parser.add_argument("--write", action="store_true", help="write docs/noise.json")
    options = parser.parse_args(arguments)
    if len(options.runs) not in (0, 2):
        parser.error("name two folders, or none")
    first, second = options.runs or last_two()
    report = report_of(first, second)
    if options.write and not report.unequal:
        commits = sorted({folder.name.rsplit("-", 1)[0] for folder in (first, second)})
        content = {"commits": commits, "counts": report.counts, "kinds": summaries(report)}
        STATED.write_text(json.dumps(content, indent=1) + "\n")
    bands = stated()
    print(told(report, bands))
    return bool(report.unequal or report.missing or report.beyond(bands))


if __name__ == "__main__":
    sys.exit(main())
