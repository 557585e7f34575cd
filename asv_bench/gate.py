"""Read what asv measured for two commits, and tell a regression from noise."""

import json
import math
from pathlib import Path
from typing import Any

__all__ = ["noise_band", "regressions", "results_of"]

Results = dict[str, float]


def flattened(name: str, values: Any) -> Results:
    """Return one entry for each parameter of a benchmark; failed and skipped ones are left out."""
    numbers = values if isinstance(values, list) else [values]
    return {f"{name}[{i}]": v for i, v in enumerate(numbers) if isinstance(v, (int, float)) and math.isfinite(v)}


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
    found: Results = {}
    for path in sorted(folder.glob(f"*/{commit[:8]}*.json")):
        data = json.loads(path.read_text())
        for name, row in data["results"].items():
            values = dict(zip(data["result_columns"], row)).get("result")
            if name.rsplit(".", 1)[-1].startswith(kind) and values is not None:
                found |= flattened(name, values)
    if not found:
        raise LookupError(f"no results of commit {commit[:8]} in {folder}")
    return found


def noise_band(one: Results, other: Results) -> float:
    """Return the largest factor between two measurements of the same code."""
    shared = sorted(one.keys() & other.keys())
    return max(max(one[name] / other[name], other[name] / one[name]) for name in shared)


def regressions(base: Results, head: Results, band: float) -> dict[str, float]:
    """Return the benchmarks that are slower than on the base by more than the band, with the factor."""
    factors = {name: head[name] / base[name] for name in sorted(base.keys() & head.keys())}
    return {name: factor for name, factor in factors.items() if factor > band}
