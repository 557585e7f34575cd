"""Reads asv's measurements."""

import json
import math
from pathlib import Path
from typing import Any

Results = dict[str, float]


def flattened(name: str, values: Any) -> Results:
    """Return one entry for each parameter of a benchmark, without failed and skipped ones."""
    numbers = values if isinstance(values, list) else [values]
    return {f"{name}[{i}]": v for i, v in enumerate(numbers) if isinstance(v, (int, float)) and math.isfinite(v)}


def smallest(row: dict[str, Any]) -> Any:
    """Return the smallest sample for each parameter, if samples were kept; other processes can only add time."""
    result, samples = row.get("result"), row.get("samples")
    if not isinstance(result, list) or not samples:
        return result
    return [min(taken) if taken and value is not None else value for value, taken in zip(result, samples)]


def results_of_file(path: Path) -> Results:
    """Return the results in one of asv's files, by benchmark and index of the parameter."""
    data, found = json.loads(path.read_text()), {}
    for name, row in data.get("results", {}).items():
        values = smallest(dict(zip(data["result_columns"], row)))
        if values is not None:
            found |= flattened(name, values)
    return found


def results_in(folder: Path) -> Results:
    """Return all results of a kept run."""
    beside = {"benchmarks.json", "figures.json", "machine.json"}
    found: Results = {}
    for path in sorted(folder.glob("*.json")):
        if path.name not in beside:
            found |= results_of_file(path)
    return found


def factor(one: float, other: float) -> float:
    """Return the ratio of the larger of two measurements to the smaller."""
    low, high = sorted((abs(one), abs(other)))
    return 1.0 if high == low else high / low if low else math.inf
