"""Read what asv measured, and tell a regression from noise."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

__all__ = ["Results", "bands", "factor", "noise_band", "regressions", "results_in", "results_of"]

Results = dict[str, float]

#: No benchmark is trusted to less than this factor.
NARROWEST = 1.05
#: The part of the benchmarks whose own noise every benchmark is granted.
USUAL = 0.9


def flattened(name: str, values: Any) -> Results:
    """Return one entry for each parameter of a benchmark; failed and skipped ones are left out."""
    numbers = values if isinstance(values, list) else [values]
    return {f"{name}[{i}]": v for i, v in enumerate(numbers) if isinstance(v, (int, float)) and math.isfinite(v)}


def smallest(row: dict[str, Any]) -> Any:
    """Return the smallest sample for each parameter, where samples were kept; other processes only ever add time."""
    result, samples = row.get("result"), row.get("samples")
    if not isinstance(result, list) or not samples:
        return result
    return [min(taken) if taken and value is not None else value for value, taken in zip(result, samples)]


def read(paths: Iterable[Path], kind: str) -> Results:
    """Return the results in asv's files, of the benchmarks whose last name begins with `kind`."""
    found: Results = {}
    for path in sorted(paths):
        data = json.loads(path.read_text())
        for name, row in data.get("results", {}).items():
            values = smallest(dict(zip(data["result_columns"], row)))
            if name.rsplit(".", 1)[-1].startswith(kind) and values is not None:
                found |= flattened(name, values)
    return found


def results_of(folder: Path, commit: str, kind: str = "time_") -> Results:
    """Return the results of one commit, by benchmark and number of the parameter.

    Parameters
    ----------
    folder
        asv's folder of results.
    commit
        The hash, or its beginning.
    kind
        How the last part of the benchmarks' names begins.
    """
    found = read(folder.glob(f"*/{commit[:8]}*.json"), kind)
    if not found:
        raise LookupError(f"no results of commit {commit[:8]} in {folder}")
    return found


def results_in(folder: Path) -> Results:
    """Return all results of a run that was kept in a folder of its own."""
    beside = {"benchmarks.json", "figures.json", "machine.json"}
    return read((path for path in folder.glob("*.json") if path.name not in beside), "")


def factor(one: float, other: float) -> float:
    """Return how many times the larger of two measurements is the smaller."""
    low, high = sorted((abs(one), abs(other)))
    return 1.0 if high == low else high / low if low else math.inf


def noise_band(one: Results, other: Results) -> float:
    """Return the largest factor between two measurements of the same code."""
    return max(factor(one[name], other[name]) for name in one.keys() & other.keys())


def bands(one: Results, other: Results) -> Results:
    """Return the band of each benchmark, from two measurements of the same code.

    A benchmark may differ by the square of its own factor, as one measurement is as likely to be the odd one as the
    other, and by what nine in ten benchmarks stay within.
    """
    found = {name: factor(one[name], other[name]) for name in one.keys() & other.keys()}
    usual = sorted(found.values())[int(USUAL * (len(found) - 1))]
    return {name: max(NARROWEST, usual, own * own) for name, own in found.items()}


def regressions(base: Results, head: Results, band: float | Results) -> Results:
    """Return the benchmarks that are slower than on the base by more than the band, with the factor."""
    found: Results = {}
    for name in sorted(base.keys() & head.keys()):
        limit = band if isinstance(band, float) else band.get(name, NARROWEST)
        if head[name] > limit * base[name]:
            found[name] = head[name] / base[name] if base[name] else math.inf
    return found
